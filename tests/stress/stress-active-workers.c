/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Workers come and go all the time, and items block now and then, while many items run: each
 * runs once, with every deque and every layout, and the scheduler ends in the midst of it.
 */
#include "core-test-util.h"

#include <sched.h>

#define N_ITEMS   (CORE_TEST_FACTOR > 1 ? 50000 : 250000)
#define N_ROOTS   64
#define N_PER_RUN 4 /* what an item queues */

typedef struct
{
  IrisScheduler *scheduler;
  _Atomic guint64 n_left; /* to be made */
  _Atomic guint64 n_made;
  _Atomic guint64 n_run;
  _Atomic guint64 n_notified;
  _Atomic bool ends;
} Load;

static void
notify (gpointer data)
{
  Load *load = data;

  atomic_fetch_add_explicit (&load->n_notified, 1, memory_order_relaxed);
}

/* Whether there is another one to make. */
static bool
take_one (Load *load)
{
  guint64 n = atomic_load_explicit (&load->n_left, memory_order_relaxed);

  while (n > 0)
    if (atomic_compare_exchange_weak_explicit (&load->n_left, &n, n - 1, memory_order_relaxed,
                                               memory_order_relaxed))
      {
        atomic_fetch_add_explicit (&load->n_made, 1, memory_order_relaxed);
        return true;
      }

  return false;
}

static void
run (gpointer data)
{
  Load *load = data;
  guint64 n = atomic_fetch_add_explicit (&load->n_run, 1, memory_order_relaxed);
  bool blocks = n % 1024 == 0;

  if (blocks)
    iris_worker_begin_blocking ();
  for (int i = 0; i < N_PER_RUN && take_one (load); i++)
    if (n % 8 == 0)
      iris_scheduler_queue_at (load->scheduler,
                               (gint) (n / 8 % iris_scheduler_get_n_places (load->scheduler)),
                               n % 16 == 0 ? IRIS_ITEM_STRICT : IRIS_ITEM_NONE, run, load, notify);
    else
      iris_scheduler_queue (load->scheduler, run, load, notify);
  if (blocks)
    {
      sched_yield ();
      iris_worker_end_blocking ();
    }
}

/* Other numbers all the time. */
static gpointer
change (gpointer data)
{
  Load *load = data;
  guint n_workers = iris_scheduler_get_n_workers (load->scheduler);
  guint n_places = iris_scheduler_get_n_places (load->scheduler);

  for (guint i = 0; !atomic_load_explicit (&load->ends, memory_order_relaxed); i++)
    {
      if (i % 3 == 0)
        iris_scheduler_set_n_active_at (load->scheduler, (gint) (i % n_places), i % 5);
      else
        iris_scheduler_set_n_active (load->scheduler, i % (n_workers + 1));
      sched_yield ();
    }

  return NULL;
}

static void
run_load (IrisScheduler *scheduler, guint64 n_items, IrisShutdown how)
{
  Load load = { .scheduler = scheduler, .n_left = n_items };
  GThread *changer = g_thread_new ("change", change, &load);

  for (int i = 0; i < N_ROOTS && take_one (&load); i++)
    iris_scheduler_queue (scheduler, run, &load, notify);
  iris_scheduler_shutdown (scheduler, how);
  atomic_store (&load.ends, true);
  g_thread_join (changer);

  if (how == IRIS_SHUTDOWN_DRAIN)
    {
      ck_assert_uint_eq (atomic_load (&load.n_made), n_items);
      ck_assert_uint_eq (atomic_load (&load.n_run), n_items);
    }
  ck_assert_uint_eq (atomic_load (&load.n_notified), atomic_load (&load.n_made));
  core_test_check_stats (scheduler);
}

LOOP_TEST (nothing_is_lost_while_workers_come_and_go, 0, core_test_n_kinds)
{
  g_autoptr (IrisScheduler) scheduler = core_test_make (&core_test_kinds[_i]);

  run_load (scheduler, N_ITEMS / 10, IRIS_SHUTDOWN_DRAIN);
}

static IrisScheduler *
make_places (IrisDequeKind deque, IrisLayout layout)
{
  g_autoptr (IrisPlaces) places = iris_places_new_unbound (2, 3);

  return g_object_new (IRIS_TYPE_PLACE_SCHEDULER, "places", places, "deque", deque, "layout",
                       layout, NULL);
}

LOOP_TEST (many_items_with_each_deque, 0, 5)
{
  static const IrisDequeKind kinds[] = { IRIS_DEQUE_CHASE_LEV, IRIS_DEQUE_SPLIT, IRIS_DEQUE_ABP,
                                         IRIS_DEQUE_STEAL_HALF, IRIS_DEQUE_LOCKED };
  g_autoptr (IrisScheduler) scheduler = make_places (kinds[_i], IRIS_LAYOUT_WORKERS);

  run_load (scheduler, N_ITEMS, IRIS_SHUTDOWN_DRAIN);
}

LOOP_TEST (affinity_queues_mailboxes_and_shared_deques, 0, 3)
{
  static const IrisLayout layouts[] = { IRIS_LAYOUT_AFFINITY, IRIS_LAYOUT_MAILBOXES,
                                        IRIS_LAYOUT_SHARED };
  g_autoptr (IrisScheduler) scheduler = make_places (IRIS_DEQUE_SPLIT, layouts[_i]);

  run_load (scheduler, N_ITEMS / 10, IRIS_SHUTDOWN_DRAIN);
}

LOOP_TEST (cancelling_in_the_midst_of_it, 0, 5 * core_test_n_kinds)
{
  g_autoptr (IrisScheduler) scheduler = core_test_make (&core_test_kinds[_i % core_test_n_kinds]);

  run_load (scheduler, N_ITEMS, IRIS_SHUTDOWN_CANCEL);
}

TEST_MAIN ("stress-active-workers", NULL, NULL)
