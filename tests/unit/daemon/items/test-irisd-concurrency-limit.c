/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Limits on how many items of one client or service run at once, and the order of their waiters,
 * with a clock of our own.
 */
#include "core-test-run.h"
#include "daemon/exec/item/irisd-concurrency-limit.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#define AGING_US 1000

#define ONE   GSIZE_TO_POINTER (1)
#define TWO   GSIZE_TO_POINTER (3)
#define THREE GSIZE_TO_POINTER (5)

static IrisdConcurrencyLimit room;
static GHashTable *services;
static IrisdConcurrencyWaiter waiters[64];
static guint n_waiters;

static void
set_up (guint64 of_client, guint64 of_slow)
{
  static IrisdFairRule slow;
  slow = (IrisdFairRule){ .concurrency = of_slow };
  services = g_hash_table_new (g_str_hash, g_str_equal);
  g_hash_table_insert (services, (gpointer) "slow", &slow);
  irisd_concurrency_limit_init (&room, &(IrisdFairRule){ .concurrency = of_client }, services,
                                AGING_US);
  memset (waiters, 0, sizeof waiters);
  n_waiters = 0;
}

static void
tear_down (void)
{
  ck_assert_uint_eq (irisd_concurrency_limit_get_n_waiting (&room), 0);
  ck_assert_uint_eq (g_hash_table_size (room.clients), 0);
  ck_assert_uint_eq (g_hash_table_size (room.by_name), 0);
  irisd_concurrency_limit_clear (&room);
  g_hash_table_unref (services);
}

static IrisdConcurrencyWaiter *
come (gconstpointer client, const char *service, guint priority, gboolean wanted)
{
  IrisdConcurrencyWaiter *waiter = &waiters[n_waiters++];
  gboolean inside = irisd_concurrency_limit_enter (&room, waiter, client, service, priority,
                                                   n_waiters);
  ck_assert_int_eq (inside, wanted);
  return waiter;
}

/* Leaves, and demands that this waiter gets the permit, or none. */
static void
leave (IrisdConcurrencyWaiter *waiter, IrisdConcurrencyWaiter *wanted)
{
  IrisdConcurrencyWaiter *next = irisd_concurrency_limit_leave (&room, waiter);
  ck_assert_ptr_eq (next, wanted);
  if (next != NULL)
    ck_assert_ptr_null (next->next);
}

TEST (a_full_service_holds_up_no_other)
{
  set_up (0, 2);
  IrisdConcurrencyWaiter *a = come (ONE, "slow", 5, TRUE), *b = come (TWO, "slow", 5, TRUE);
  IrisdConcurrencyWaiter *c = come (ONE, "slow", 5, FALSE);
  IrisdConcurrencyWaiter *d = come (ONE, "quick", 5, TRUE);
  ck_assert_uint_eq (irisd_concurrency_limit_get_n_waiting (&room), 1);
  leave (d, NULL); /* was not counted */
  leave (b, c);
  leave (a, NULL);
  leave (c, NULL);
  leave (c, NULL); /* an item that has left may leave again */
  tear_down ();
}

TEST (a_full_client_holds_up_no_other)
{
  set_up (2, 0);
  IrisdConcurrencyWaiter *a = come (ONE, "x", 5, TRUE), *b = come (ONE, "y", 5, TRUE);
  IrisdConcurrencyWaiter *c = come (ONE, "x", 5, FALSE), *d = come (ONE, "z", 5, FALSE);
  IrisdConcurrencyWaiter *e = come (TWO, "x", 5, TRUE);
  leave (e, NULL);
  leave (a, d); /* neither x nor z runs, and z has not had a turn yet */
  leave (b, c);
  leave (c, NULL);
  leave (d, NULL);
  tear_down ();
}

TEST (an_item_that_needs_both_permits_takes_both_or_none)
{
  set_up (1, 1);
  IrisdConcurrencyWaiter *a = come (ONE, "slow", 5, TRUE);
  IrisdConcurrencyWaiter *b = come (TWO, "slow", 5, FALSE); /* takes no permit of its client */
  IrisdConcurrencyWaiter *c = come (TWO, "quick", 5, TRUE);
  IrisdConcurrencyWaiter *d = come (ONE, "quick", 5, FALSE);
  /* TWO could run an item at the service, but has no permit left; so only ONE's other item runs. */
  leave (a, d);
  leave (c, b);
  leave (b, NULL);
  leave (d, NULL);
  tear_down ();
}

TEST (one_end_can_make_room_for_two)
{
  set_up (1, 1);
  IrisdConcurrencyWaiter *a = come (ONE, "slow", 5, TRUE);
  IrisdConcurrencyWaiter *b = come (TWO, "slow", 5, FALSE), *c = come (ONE, "quick", 5, FALSE);
  IrisdConcurrencyWaiter *next = irisd_concurrency_limit_leave (&room, a);
  ck_assert_ptr_eq (next, b);
  ck_assert_ptr_eq (next->next, c);
  ck_assert_ptr_null (c->next);
  leave (b, NULL);
  leave (c, NULL);
  tear_down ();
}

TEST (priority_counts_and_waiting_raises_it)
{
  set_up (0, 1);
  IrisdConcurrencyWaiter *a = come (ONE, "slow", 5, TRUE);
  IrisdConcurrencyWaiter *low = come (ONE, "slow", 1, FALSE), *usual = come (TWO, "slow", 5, FALSE),
                         *high = come (ONE, "slow", 9, FALSE);
  leave (a, high);
  leave (high, usual);
  /* So late that the waiter of low priority has risen above it. */
  IrisdConcurrencyWaiter *late = &waiters[n_waiters++];
  ck_assert (!irisd_concurrency_limit_enter (&room, late, THREE, "slow", 9, 10 * AGING_US));
  leave (usual, low);
  leave (low, late);
  leave (late, NULL);
  tear_down ();
}

TEST (clients_of_a_full_service_get_equal_shares)
{
  set_up (0, 2);
  IrisdConcurrencyWaiter *running[2] = { come (ONE, "slow", 5, TRUE), come (ONE, "slow", 5, TRUE) };
  guint n[2] = { 0 };
  /* One client was there first, with many. */
  for (guint i = 0; i < 20; i++)
    come (ONE, "slow", 5, FALSE);
  for (guint i = 0; i < 8; i++)
    come (TWO, "slow", 5, FALSE);
  for (guint i = 0; i < 16; i++)
    {
      IrisdConcurrencyWaiter *next = irisd_concurrency_limit_leave (&room, running[i % 2]);
      ck_assert_ptr_nonnull (next);
      n[next - waiters >= 22]++;
      running[i % 2] = next;
      ck_assert_uint_le (n[1], n[0] + 2);
      ck_assert_uint_le (n[0], n[1] + 2);
    }
  ck_assert_uint_eq (n[1], 8);
  while (irisd_concurrency_limit_get_n_waiting (&room) > 0)
    running[0] = irisd_concurrency_limit_leave (&room, running[0]);
  leave (running[0], NULL);
  leave (running[1], NULL);
  tear_down ();
}

TEST (a_waiter_can_withdraw)
{
  set_up (1, 0);
  IrisdConcurrencyWaiter *a = come (ONE, "x", 5, TRUE);
  IrisdConcurrencyWaiter *b = come (ONE, "x", 5, FALSE), *c = come (ONE, "y", 5, FALSE);
  ck_assert (!irisd_concurrency_limit_withdraw (&room, a));
  ck_assert (irisd_concurrency_limit_withdraw (&room, b));
  ck_assert (!irisd_concurrency_limit_withdraw (&room, b));
  leave (b, NULL);
  leave (a, c);
  ck_assert (!irisd_concurrency_limit_withdraw (&room, c));
  leave (c, NULL);
  tear_down ();
}

/* Many threads enter and leave. The thread whose item leaves runs the waiter that gets its permit,
 * as a gateway's message would have it; meanwhile no more items than allowed have a permit. */
#define N_THREADS 4
#define N_ROUNDS  3000
#define N_CLIENTS 3
#define MOST      2

typedef struct
{
  IrisdConcurrencyWaiter waiter;
  guint client;
  gboolean slow;
} Item;

static _Atomic int inside_client[N_CLIENTS], inside_slow, n_run, n_over, n_withdrawn;

static void
run_item (Item *item)
{
  GQueue ready = G_QUEUE_INIT;
  g_queue_push_tail (&ready, item);
  while ((item = g_queue_pop_head (&ready)) != NULL)
    {
      int of_client = atomic_fetch_add (&inside_client[item->client], 1) + 1;
      int of_slow = item->slow ? atomic_fetch_add (&inside_slow, 1) + 1 : 0;
      if (of_client > MOST || of_slow > MOST)
        atomic_fetch_add (&n_over, 1);
      atomic_fetch_add (&n_run, 1);
      g_thread_yield ();
      atomic_fetch_sub (&inside_client[item->client], 1);
      if (item->slow)
        atomic_fetch_sub (&inside_slow, 1);
      IrisdConcurrencyWaiter *next = irisd_concurrency_limit_leave (&room, &item->waiter);
      for (; next != NULL; next = next->next)
        g_queue_push_tail (&ready, next);
    }
}

static gpointer
come_and_go (gpointer data)
{
  Item *items = data;
  GRand *rand = g_rand_new_with_seed ((guint32) (gsize) data);
  for (guint i = 0; i < N_ROUNDS; i++)
    {
      Item *item = &items[i];
      item->client = (guint) g_rand_int_range (rand, 0, N_CLIENTS);
      item->slow = g_rand_boolean (rand);
      if (irisd_concurrency_limit_enter (&room, &item->waiter, GUINT_TO_POINTER (item->client + 1),
                                         item->slow ? "slow" : "quick",
                                         (guint) g_rand_int_range (rand, 0, 10),
                                         g_get_monotonic_time ()))
        run_item (item);
      else if (g_rand_int_range (rand, 0, 8) == 0
               && irisd_concurrency_limit_withdraw (&room, &item->waiter))
        atomic_fetch_add (&n_withdrawn, 1);
    }
  g_rand_free (rand);
  return NULL;
}

TEST (a_greater_limit_gives_permits_at_once_and_a_lesser_one_takes_none)
{
  IrisdFairRule slow = { .concurrency = 3 };
  g_autoptr (GHashTable) others = g_hash_table_new (g_str_hash, g_str_equal);
  set_up (0, 1);
  IrisdConcurrencyWaiter *a = come (ONE, "slow", 5, TRUE), *b = come (TWO, "slow", 5, FALSE);
  IrisdConcurrencyWaiter *c = come (THREE, "slow", 5, FALSE), *d = come (ONE, "slow", 5, FALSE);
  g_hash_table_insert (others, (gpointer) "slow", &slow);
  IrisdConcurrencyWaiter *next = irisd_concurrency_limit_change (
      &room, &(IrisdFairRule){ .concurrency = 0 }, others);
  ck_assert_ptr_eq (next, b);
  ck_assert_ptr_eq (next->next, c);
  ck_assert_ptr_null (c->next);
  slow.concurrency = 1;
  ck_assert_ptr_null (
      irisd_concurrency_limit_change (&room, &(IrisdFairRule){ .concurrency = 0 }, others));
  leave (a, NULL);
  leave (b, NULL);
  leave (c, d);
  leave (d, NULL);
  tear_down ();
}

TEST (under_load_no_item_is_lost_and_no_limit_is_passed)
{
  GThread *threads[N_THREADS];
  Item *items[N_THREADS];
  set_up (MOST, MOST);
  for (guint i = 0; i < N_THREADS; i++)
    {
      items[i] = g_new0 (Item, N_ROUNDS);
      threads[i] = g_thread_new ("room", come_and_go, items[i]);
    }
  for (guint i = 0; i < N_THREADS; i++)
    g_thread_join (threads[i]);
  ck_assert_int_eq (n_over, 0);
  ck_assert_int_eq (n_run + n_withdrawn, N_THREADS * N_ROUNDS);
  tear_down ();
  for (guint i = 0; i < N_THREADS; i++)
    g_free (items[i]);
}

TEST_MAIN ("irisd-concurrency-limit", NULL, NULL)
