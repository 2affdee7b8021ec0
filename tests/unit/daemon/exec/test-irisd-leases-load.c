/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The table of leases loses nothing, whatever happens in whatever order.
 */
#include "core-test-run.h"
#include "leases-fixture.h"

/* Everything at random, with a list of unacknowledged completions: each item ends once, no worker
 * has more than it may, and no item waits that an idle worker could do. */
#define N_WORKERS 6
#define N_ITEMS   200
#define N_STEPS   20000

typedef struct
{
  Worker workers[N_WORKERS];
  gboolean there[N_WORKERS];
  Item items[N_ITEMS];
  gboolean used[N_ITEMS];
  guint n_ended;
} Fair;

static void
random_worker_step (Fair *self, GRand *rand, guint at)
{
  static const char *const sets[] = { "a", "b", "a b", "b c" };
  Worker *worker = &self->workers[at];
  if (self->there[at] && g_rand_int_range (rand, 0, 3) == 0)
    leave (worker);
  else
    {
      if (!self->there[at])
        worker_init (worker);
      enroll (worker, g_rand_int_range (rand, -1, N_PLACES), g_rand_int_range (rand, 0, 4),
              sets[g_rand_int_range (rand, 0, 4)]);
      self->there[at] = TRUE;
      return;
    }
  self->there[at] = FALSE;
}

static void
random_item_step (Fair *self, GRand *rand, guint at)
{
  static const char *const names[] = { "a", "b", "c" };
  Item *item = &self->items[at];
  IrisdLeaseEntry *entry = NULL;
  if (!self->used[at])
    {
      item_init (item, at);
      item->entry.place = g_rand_int_range (rand, -1, N_PLACES);
      item->entry.strict = item->entry.place >= 0 && g_rand_boolean (rand);
      self->used[at] = irisd_leases_add (leases, &item->entry, names[g_rand_int_range (rand, 0, 3)],
                                         now);
      return;
    }
  if (item->n_ends == 0 && g_rand_int_range (rand, 0, 8) == 0)
    {
      if (irisd_leases_withdraw (leases, &item->entry, now) != IRISD_LEASE_ENTRY_GONE)
        item->n_ends++;
    }
  else if (item->n_ends == 0 && item->worker != NULL)
    {
      /* Perhaps it is no longer there, or has no such lease. */
      guint who = (guint) (item->worker - self->workers);
      gboolean fails = g_rand_int_range (rand, 0, 4) == 0;
      IrisdWorker *worker = &self->workers[who].base;
      IrisdLeaseEnd end = fails ? irisd_leases_give_back (leases, worker, item->lease,
                                                          g_rand_boolean (rand), now, &entry)
                                : irisd_leases_done (leases, worker, item->lease, now, &entry);
      if (end == IRISD_LEASE_ENDED)
        {
          ck_assert_ptr_eq (entry, &item->entry);
          item->n_ends++;
        }
    }
  if (item->n_ends > 0)
    {
      ck_assert_uint_eq (item->n_ends, 1);
      self->used[at] = FALSE;
      self->n_ended++;
    }
}

TEST (nothing_is_lost_whatever_happens)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (7);
  g_autofree Fair *fair = g_new0 (Fair, 1);
  for (guint i = 0; i < N_STEPS; i++)
    {
      now += g_rand_int_range (rand, 0, 30);
      irisd_leases_expire (leases, now);
      ck_assert_int_gt (irisd_leases_next (leases), now);
      if (g_rand_int_range (rand, 0, 10) == 0)
        random_worker_step (fair, rand, (guint) g_rand_int_range (rand, 0, N_WORKERS));
      else
        random_item_step (fair, rand, (guint) g_rand_int_range (rand, 0, N_ITEMS));
    }
  for (guint i = 0; i < N_WORKERS; i++)
    if (fair->there[i])
      leave (&fair->workers[i]);
  irisd_leases_expire (leases, G_MAXINT64 - 1);
  for (guint i = 0; i < N_ITEMS; i++)
    if (fair->used[i])
      ck_assert_uint_eq (fair->items[i].n_ends, 1);
  ck_assert_uint_gt (fair->n_ended, N_STEPS / 20);
}

TEST_MAIN ("irisd-leases-load", set_up, tear_down)
