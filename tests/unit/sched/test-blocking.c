/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Blocking sections: another worker stands in, so items may wait for items.
 */
#include "core-test-util.h"

#include <sched.h>
#include <stdlib.h>

#define N_ROUNDS 20

/* An item that waits for another one that it has queued itself. */
typedef struct
{
  IrisScheduler *scheduler;
  bool says_first; /* that it blocks, and then queues */
  bool is_strict;
  CoreTestGate child;
} Parent;

static CoreTestGate done = CORE_TEST_GATE_INIT;
static CoreTestGate inside = CORE_TEST_GATE_INIT;
static CoreTestGate let_go = CORE_TEST_GATE_INIT;

static void
setup (void)
{
  core_test_gate_close (&done);
  core_test_gate_close (&inside);
  core_test_gate_close (&let_go);
}

static IrisActiveWorkers
get_active_workers (IrisScheduler *scheduler)
{
  g_autoptr (IrisStats) stats = iris_scheduler_get_stats (scheduler);

  return stats->active_workers;
}

static void
run_child (gpointer data)
{
  Parent *parent = data;

  core_test_gate_add (&parent->child, 1);
}

static void
queue_child (Parent *parent)
{
  gint place = iris_worker_get_place (iris_worker_current ());

  if (parent->is_strict)
    iris_scheduler_queue_at (parent->scheduler, place, IRIS_ITEM_STRICT, run_child, parent, NULL);
  else
    iris_scheduler_queue (parent->scheduler, run_child, parent, NULL);
}

static void
run_parent (gpointer data)
{
  Parent *parent = data;

  if (!parent->says_first)
    queue_child (parent);
  iris_worker_begin_blocking ();
  if (parent->says_first)
    queue_child (parent);
  core_test_gate_wait (&parent->child, 1);
  iris_worker_end_blocking ();
  core_test_gate_add (&done, 1);
}

static Parent *
make_parents (IrisScheduler *scheduler, guint n)
{
  static const CoreTestGate gate = CORE_TEST_GATE_INIT;
  Parent *parents = g_new0 (Parent, n);

  for (guint i = 0; i < n; i++)
    {
      parents[i].scheduler = scheduler;
      parents[i].says_first = i % 2 == 0;
      parents[i].is_strict = i % 3 == 0;
      parents[i].child = gate;
    }

  return parents;
}

LOOP_TEST (workers_that_all_wait_for_their_own_items_go_on, 0, core_test_n_kinds)
{
  g_autoptr (IrisScheduler) scheduler = core_test_make (&core_test_kinds[_i]);
  guint n_workers = iris_scheduler_get_n_workers (scheduler);
  IrisActiveWorkers active_workers;

  for (int round = 0; round < N_ROUNDS; round++)
    {
      g_autofree Parent *parents = make_parents (scheduler, n_workers);

      core_test_gate_close (&done);
      for (guint i = 0; i < n_workers; i++)
        iris_scheduler_queue (scheduler, run_parent, &parents[i], NULL);
      core_test_gate_wait (&done, n_workers);
    }
  active_workers = get_active_workers (scheduler);
  ck_assert_uint_eq (active_workers.blocking_sections, (guint64) N_ROUNDS * n_workers);
  ck_assert_uint_eq (active_workers.n_blocking, 0);
  ck_assert_uint_eq (active_workers.spares_refused, 0);
  ck_assert_uint_gt (active_workers.spares_started, 0);
  ck_assert_uint_eq (active_workers.spares_started, active_workers.n_spares);
  ck_assert_uint_gt (active_workers.blocking_ns, 0);
  /* They are reused: a place never has more than wait at once. */
  ck_assert_uint_le (active_workers.n_spares, n_workers * iris_scheduler_get_n_places (scheduler));

  /* And go out. */
  while (get_active_workers (scheduler).n_active != n_workers)
    sched_yield ();
  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_DRAIN);
}

LOOP_TEST (a_scheduler_drains_while_all_its_workers_wait, 0, core_test_n_kinds)
{
  g_autoptr (IrisScheduler) scheduler = core_test_make (&core_test_kinds[_i]);
  /* All may wait at one place. */
  guint n = IRIS_DEFAULT_MAX_SPARES;
  g_autofree Parent *parents = make_parents (scheduler, n);

  for (guint i = 0; i < n; i++)
    iris_scheduler_queue (scheduler, run_parent, &parents[i], NULL);
  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_DRAIN);
  core_test_gate_wait (&done, n);
}

LOOP_TEST (what_each_deque_holds_is_open_while_its_owner_waits, 0, 20)
{
  static const IrisDequeKind kinds[] = { IRIS_DEQUE_CHASE_LEV, IRIS_DEQUE_SPLIT, IRIS_DEQUE_ABP,
                                         IRIS_DEQUE_STEAL_HALF, IRIS_DEQUE_LOCKED };
  static const IrisLayout layouts[] = { IRIS_LAYOUT_WORKERS, IRIS_LAYOUT_AFFINITY,
                                        IRIS_LAYOUT_SHARED, IRIS_LAYOUT_MAILBOXES };
  g_autoptr (IrisPlaces) places = iris_places_new_unbound (1 + _i % 2, 1);
  g_autoptr (IrisScheduler)
      scheduler = g_object_new (IRIS_TYPE_PLACE_SCHEDULER, "places", places, "deque", kinds[_i % 5],
                                "layout", layouts[_i / 5], NULL);
  g_autofree Parent *parents = make_parents (scheduler, 8);

  for (guint i = 0; i < 8; i++)
    iris_scheduler_queue (scheduler, run_parent, &parents[i], NULL);
  core_test_gate_wait (&done, 8);
}

static void
wait_inside (gpointer data)
{
  iris_worker_begin_blocking ();
  iris_worker_begin_blocking ();
  core_test_gate_add (&inside, 1);
  core_test_gate_wait (&let_go, 1);
  iris_worker_end_blocking ();
  iris_worker_end_blocking ();
  core_test_gate_add (&done, 1);
}

LOOP_TEST (no_more_spares_are_made_than_allowed, 0, 4)
{
  g_autoptr (IrisPlaces) places = iris_places_new_unbound (1, 2);
  g_autoptr (IrisScheduler) scheduler = g_object_new (IRIS_TYPE_PLACE_SCHEDULER, "places", places,
                                                      "max-spares", _i, NULL);
  IrisActiveWorkers active_workers;

  /* As many at once as there are workers of both sorts. */
  for (int i = 0; i < 2 + _i; i++)
    iris_scheduler_queue (scheduler, wait_inside, NULL, NULL);
  core_test_gate_wait (&inside, 2 + (guint64) _i);
  active_workers = get_active_workers (scheduler);
  ck_assert_uint_eq (active_workers.n_blocking, 2 + _i);
  ck_assert_uint_eq (active_workers.blocking_sections, 2 + _i);
  ck_assert_uint_eq (active_workers.n_spares, _i);
  ck_assert_uint_eq (active_workers.spares_started, _i);
  ck_assert_uint_eq (active_workers.spares_refused, 2);
  core_test_gate_add (&let_go, 1);
  core_test_gate_wait (&done, 2 + (guint64) _i);
}

TEST (the_environment_switches_spares_off)
{
  g_autoptr (IrisScheduler) scheduler = NULL;
  guint max_spares;

  setenv ("IRIS_MAX_SPARES", "0", 1);
  scheduler = iris_wsscheduler_new_full (2, 2);
  unsetenv ("IRIS_MAX_SPARES");
  g_object_get (scheduler, "max-spares", &max_spares, NULL);
  ck_assert_uint_eq (max_spares, 0);
  iris_scheduler_queue (scheduler, wait_inside, NULL, NULL);
  core_test_gate_wait (&inside, 1);
  ck_assert_uint_eq (get_active_workers (scheduler).n_spares, 0);
  ck_assert_uint_eq (get_active_workers (scheduler).spares_refused, 1);
  core_test_gate_add (&let_go, 1);
}

TEST (a_worker_that_is_out_stands_in_before_one_is_made)
{
  g_autoptr (IrisScheduler) scheduler = iris_wsscheduler_new_full (3, 3);

  iris_scheduler_set_n_active (scheduler, 1);
  for (int i = 0; i < 3; i++)
    iris_scheduler_queue (scheduler, wait_inside, NULL, NULL);
  core_test_gate_wait (&inside, 3);
  /* Three stand in for three, and one that is wanted makes four: one more than were made. */
  ck_assert_uint_eq (get_active_workers (scheduler).n_spares, 1);
  core_test_gate_add (&let_go, 1);
  core_test_gate_wait (&done, 3);
  while (get_active_workers (scheduler).n_active != 1)
    sched_yield ();
}

TEST (outside_a_worker_it_means_nothing)
{
  iris_worker_begin_blocking ();
  iris_worker_end_blocking ();
  iris_worker_end_blocking ();
}

TEST_MAIN ("blocking", setup, NULL)
