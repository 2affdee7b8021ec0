/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Blocking sections while a scheduler shuts down: a stand-in runs what the item waits for, workers
 * that are out stand in before one is made, and no more are made than allowed.
 */
#include "core-test-util.h"

#include <iris/sched/pool/iris-active-workers-private.h>
#include <iris/sched/iris-scheduler-private.h>

#include <sched.h>
#include <stdlib.h>

#define N_SECTIONS 20

static IrisScheduler *scheduler;
static CoreTestGate inside = CORE_TEST_GATE_INIT;
static CoreTestGate let_go = CORE_TEST_GATE_INIT;
static CoreTestGate left = CORE_TEST_GATE_INIT;
static CoreTestGate settled = CORE_TEST_GATE_INIT;

static void
setup (void)
{
  core_test_gate_close (&inside);
  core_test_gate_close (&let_go);
  core_test_gate_close (&left);
  core_test_gate_close (&settled);
}

static void
teardown (void)
{
  g_clear_object (&scheduler);
}

static IrisActiveWorkers
get_active_workers (void)
{
  g_autoptr (IrisStats) stats = iris_scheduler_get_stats (scheduler);

  return stats->active_workers;
}

static void
wait_until_closed (void)
{
  IrisWorkerPool *pool = iris_scheduler_get_pool (scheduler);

  while (!atomic_load (&pool->closed))
    sched_yield ();
}

static bool
is_out (IrisWorkerPool *pool, IrisWorker *worker)
{
  bool is;

  pthread_mutex_lock (&pool->parking_lot.lock);
  is = worker->parker.out;
  pthread_mutex_unlock (&pool->parking_lot.lock);

  return is;
}

/* Whether each worker but the calling one waits for work, is out, or has ended. */
static bool
others_rest (void)
{
  IrisWorkerPool *pool = iris_scheduler_get_pool (scheduler);
  guint n = iris_worker_pool_count_workers (pool);

  for (guint i = 0; i < n; i++)
    {
      IrisWorker *worker = iris_worker_pool_get_worker (pool, i);

      if (worker != iris_worker_current () && iris_stopwatch_runs (&worker->counters.alive_ns)
          && !iris_stopwatch_runs (&worker->counters.parked_ns) && !is_out (pool, worker))
        return false;
    }

  return true;
}

static void
run_nothing (gpointer data)
{
}

/* Also of an item that is cancelled. */
static void
settle (gpointer data)
{
  core_test_gate_add (&settled, 1);
}

static void
block_again_and_again (gpointer data)
{
  core_test_gate_add (&inside, 1);
  wait_until_closed ();
  for (guint64 i = 1; i <= N_SECTIONS; i++)
    {
      iris_scheduler_queue (scheduler, run_nothing, NULL, settle);
      iris_worker_begin_blocking ();
      core_test_gate_wait (&settled, i);
      iris_worker_end_blocking ();
      while (!others_rest ())
        sched_yield ();
    }
}

/* In one section after the other, with the stand-in at rest in between. */
static void
check_sections_during_shutdown (IrisShutdown how)
{
  guint64 n_before = get_active_workers ().blocking_sections;

  iris_scheduler_queue (scheduler, block_again_and_again, NULL, NULL);
  core_test_gate_wait (&inside, 1);
  iris_scheduler_shutdown (scheduler, how);
  core_test_gate_wait (&settled, N_SECTIONS);
  ck_assert_uint_eq (get_active_workers ().blocking_sections, n_before + N_SECTIONS);
  ck_assert_uint_eq (get_active_workers ().spares_refused, 0);
  core_test_check_stats (scheduler);
}

LOOP_TEST (each_section_during_a_shutdown_has_a_stand_in, 0, 2 * core_test_n_kinds)
{
  scheduler = core_test_make (&core_test_kinds[_i / 2]);
  check_sections_during_shutdown (_i % 2 == 0 ? IRIS_SHUTDOWN_DRAIN : IRIS_SHUTDOWN_CANCEL);
}

LOOP_TEST (each_section_of_a_lone_worker_during_a_drain_has_a_stand_in, 0, 3)
{
  scheduler = _i == 0   ? iris_scheduler_new_full (1, 1)
              : _i == 1 ? iris_lfscheduler_new_full (1, 1)
                        : iris_wsscheduler_new_full (1, 1);
  check_sections_during_shutdown (IRIS_SHUTDOWN_DRAIN);
}

LOOP_TEST (each_section_during_a_drain_has_a_stand_in_on_every_layout_and_deque, 0, 20)
{
  static const IrisDequeKind kinds[] = { IRIS_DEQUE_CHASE_LEV, IRIS_DEQUE_SPLIT, IRIS_DEQUE_ABP,
                                         IRIS_DEQUE_STEAL_HALF, IRIS_DEQUE_LOCKED };
  static const IrisLayout layouts[] = { IRIS_LAYOUT_WORKERS, IRIS_LAYOUT_AFFINITY,
                                        IRIS_LAYOUT_SHARED, IRIS_LAYOUT_MAILBOXES };
  g_autoptr (IrisPlaces) places = iris_places_new_unbound (1 + _i % 2, 1);

  scheduler = g_object_new (IRIS_TYPE_PLACE_SCHEDULER, "places", places, "deque", kinds[_i % 5],
                            "layout", layouts[_i / 5], NULL);
  check_sections_during_shutdown (IRIS_SHUTDOWN_DRAIN);
}

static void
block_until_let_go (gpointer data)
{
  iris_worker_begin_blocking ();
  core_test_gate_add (&inside, 1);
  core_test_gate_wait (&let_go, 1);
  iris_worker_end_blocking ();
  core_test_gate_add (&left, 1);
}

/* All that may be made were, and are out. */
static void
make_spares (guint n_spares, guint n_workers)
{
  for (guint i = 0; i < n_spares; i++)
    iris_scheduler_queue (scheduler, block_until_let_go, NULL, NULL);
  core_test_gate_wait (&inside, n_spares);
  core_test_gate_add (&let_go, 1);
  core_test_gate_wait (&left, n_spares);
  while (get_active_workers ().n_active != n_workers)
    sched_yield ();
  core_test_gate_close (&inside);
}

LOOP_TEST (spares_that_are_out_stand_in_during_a_drain, 0, 3 * core_test_n_kinds)
{
  guint max_spares = 1 + (guint) _i % 3;
  g_autofree char *text = g_strdup_printf ("%u", max_spares);
  guint n_places, n_spares;

  setenv ("IRIS_MAX_SPARES", text, 1);
  scheduler = core_test_make (&core_test_kinds[_i / 3]);
  unsetenv ("IRIS_MAX_SPARES");
  make_spares (max_spares, iris_scheduler_get_n_workers (scheduler));
  n_places = iris_scheduler_get_n_places (scheduler);
  n_spares = get_active_workers ().n_spares;

  check_sections_during_shutdown (IRIS_SHUTDOWN_DRAIN);
  ck_assert_uint_le (get_active_workers ().n_spares, max_spares * n_places);
  /* At another place there may have been none. */
  if (n_places == 1)
    ck_assert_uint_eq (get_active_workers ().n_spares, n_spares);
}

LOOP_TEST (workers_that_are_out_stand_in_during_a_drain, 0, 3)
{
  scheduler = _i == 0   ? iris_scheduler_new_full (3, 3)
              : _i == 1 ? iris_lfscheduler_new_full (3, 3)
                        : iris_wsscheduler_new_full (3, 3);
  iris_scheduler_queue (scheduler, run_nothing, NULL, NULL);
  iris_scheduler_set_n_active (scheduler, 1);
  while (get_active_workers ().n_active != 1)
    sched_yield ();
  check_sections_during_shutdown (IRIS_SHUTDOWN_DRAIN);
  ck_assert_uint_eq (get_active_workers ().n_spares, 0);
}

/* Waits for the next one, which it queues; the last one waits for none. */
static void
nest (gpointer data)
{
  guint n_left = GPOINTER_TO_UINT (data);

  core_test_gate_add (&inside, 1);
  wait_until_closed ();
  if (n_left > 0)
    {
      iris_worker_begin_blocking ();
      iris_scheduler_queue (scheduler, nest, GUINT_TO_POINTER (n_left - 1), settle);
      core_test_gate_wait (&settled, n_left);
      iris_worker_end_blocking ();
    }
}

LOOP_TEST (as_many_sections_nest_during_a_drain_as_spares_are_allowed, 0, 3)
{
  setenv ("IRIS_MAX_SPARES", "3", 1);
  scheduler = _i == 0   ? iris_scheduler_new_full (1, 1)
              : _i == 1 ? iris_lfscheduler_new_full (1, 1)
                        : iris_wsscheduler_new_full (1, 1);
  unsetenv ("IRIS_MAX_SPARES");
  make_spares (3, 1);
  iris_scheduler_queue (scheduler, nest, GUINT_TO_POINTER (3), settle);
  core_test_gate_wait (&inside, 1);
  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_DRAIN);
  core_test_gate_wait (&settled, 4);
  ck_assert_uint_eq (get_active_workers ().n_spares, 3);
  ck_assert_uint_eq (get_active_workers ().spares_refused, 0);
}

TEST_MAIN ("blocking-end", setup, teardown)
