/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Workers that go out and come back while a scheduler goes on: a worker that is out runs nothing,
 * leaves no item behind, and the scheduler ends in every state.
 */
#include "core-test-util.h"

#include <iris/sched/iris-scheduler-private.h>

#include <sched.h>

#define N_ITEMS 1000

static CoreTestGate ran = CORE_TEST_GATE_INIT;
static CoreTestGate inside = CORE_TEST_GATE_INIT;
static CoreTestGate release_first = CORE_TEST_GATE_INIT;
static CoreTestGate release_second = CORE_TEST_GATE_INIT;
static _Atomic guint64 ran_by; /* a bit for each worker */
static _Atomic int n_notified;

static void
setup (void)
{
  core_test_gate_close (&ran);
  core_test_gate_close (&inside);
  core_test_gate_close (&release_first);
  core_test_gate_close (&release_second);
  atomic_store (&ran_by, 0);
  atomic_store (&n_notified, 0);
}

static void
run (gpointer data)
{
  atomic_fetch_or (&ran_by, G_GUINT64_CONSTANT (1)
                                << iris_worker_get_index (iris_worker_current ()));
  core_test_gate_add (&ran, 1);
}

static void
notify (gpointer data)
{
  atomic_fetch_add (&n_notified, 1);
}

static IrisActiveWorkers
get_active_workers (IrisScheduler *scheduler)
{
  g_autoptr (IrisStats) stats = iris_scheduler_get_stats (scheduler);

  return stats->active_workers;
}

static void
wait_for_n_active (IrisScheduler *scheduler, guint n)
{
  while (get_active_workers (scheduler).n_active != n)
    sched_yield ();
}

static guint
count_bits (guint64 bits)
{
  guint n = 0;

  for (; bits != 0; bits &= bits - 1)
    n++;

  return n;
}

static void
queue_some (IrisScheduler *scheduler, guint64 n_before)
{
  for (int i = 0; i < N_ITEMS; i++)
    iris_scheduler_queue (scheduler, run, NULL, notify);
  core_test_gate_wait (&ran, n_before + N_ITEMS);
}

LOOP_TEST (a_worker_that_is_out_runs_nothing_and_comes_back, 0, core_test_n_kinds)
{
  g_autoptr (IrisScheduler) scheduler = core_test_make (&core_test_kinds[_i]);
  guint n_workers = iris_scheduler_get_n_workers (scheduler);
  guint n_places = iris_scheduler_get_n_places (scheduler);
  IrisActiveWorkers active_workers;

  ck_assert_uint_eq (iris_scheduler_get_n_active (scheduler), n_workers);
  queue_some (scheduler, 0);
  iris_scheduler_set_n_active (scheduler, 1);
  /* The least is one at each place. */
  ck_assert_uint_eq (iris_scheduler_get_n_active (scheduler), n_places);
  wait_for_n_active (scheduler, n_places);

  atomic_store (&ran_by, 0);
  queue_some (scheduler, N_ITEMS);
  ck_assert_uint_le (count_bits (atomic_load (&ran_by)), n_places);
  active_workers = get_active_workers (scheduler);
  ck_assert_uint_eq (active_workers.n_active, n_places);
  ck_assert_uint_eq (active_workers.n_out, n_workers - n_places);
  ck_assert_uint_eq (active_workers.went_out, n_workers - n_places);
  ck_assert_uint_eq (active_workers.came_back, 0);

  iris_scheduler_set_n_active (scheduler, G_MAXUINT);
  ck_assert_uint_eq (iris_scheduler_get_n_active (scheduler), n_workers);
  wait_for_n_active (scheduler, n_workers);
  queue_some (scheduler, 2 * N_ITEMS);
  ck_assert_uint_eq (get_active_workers (scheduler).came_back, n_workers - n_places);
  ck_assert_uint_eq (get_active_workers (scheduler).n_spares, 0);

  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_DRAIN);
  core_test_check_stats (scheduler);
}

TEST (a_place_keeps_one_worker_for_its_strict_items)
{
  g_autoptr (IrisPlaces) places = iris_places_new_unbound (2, 3);
  g_autoptr (IrisScheduler) scheduler = iris_place_scheduler_new (places);

  iris_scheduler_set_n_active_at (scheduler, 1, 0);
  ck_assert_uint_eq (iris_scheduler_get_n_active (scheduler), 4);
  for (int i = 0; i < N_ITEMS; i++)
    iris_scheduler_queue_at (scheduler, i % 2, IRIS_ITEM_STRICT, run, NULL, NULL);
  core_test_gate_wait (&ran, N_ITEMS);
  wait_for_n_active (scheduler, 4);
  iris_scheduler_set_n_active (scheduler, 5);
  ck_assert_uint_eq (iris_scheduler_get_n_active (scheduler), 5);
  wait_for_n_active (scheduler, 5);
}

static void
run_and_queue (gpointer data)
{
  iris_scheduler_queue (data, run, NULL, notify);
  run (NULL);
}

LOOP_TEST (a_scheduler_ends_with_workers_out, 0, 4 * core_test_n_kinds)
{
  const CoreTestKind *kind = &core_test_kinds[_i / 4];
  g_autoptr (IrisScheduler) scheduler = core_test_make (kind);
  IrisShutdown how = _i % 2 == 0 ? IRIS_SHUTDOWN_DRAIN : IRIS_SHUTDOWN_CANCEL;
  g_autoptr (IrisStats) stats = NULL;

  iris_scheduler_set_n_active (scheduler, 1);
  if (_i % 4 >= 2)
    {
      iris_scheduler_queue (scheduler, run, NULL, NULL);
      wait_for_n_active (scheduler, iris_scheduler_get_n_places (scheduler));
    }
  for (int i = 0; i < N_ITEMS; i++)
    iris_scheduler_queue (scheduler, run_and_queue, scheduler, notify);
  iris_scheduler_shutdown (scheduler, how);
  if (how == IRIS_SHUTDOWN_DRAIN)
    ck_assert_int_eq (atomic_load (&n_notified), 2 * N_ITEMS);
  else
    ck_assert_int_ge (atomic_load (&n_notified), N_ITEMS);
  core_test_check_stats (scheduler);

  /* Of no consequence any more. */
  iris_scheduler_set_n_active (scheduler, 1);
  iris_scheduler_set_n_active (scheduler, G_MAXUINT);
  stats = iris_scheduler_get_stats (scheduler);
  ck_assert_uint_eq (stats->active_workers.n_spares, 0);
}

static void
be_first (gpointer data)
{
  for (int i = 0; i < N_ITEMS; i++)
    iris_scheduler_queue (data, run, NULL, notify);
  core_test_gate_add (&inside, 1);
  core_test_gate_wait (&release_first, 1);
}

static void
be_second (gpointer data)
{
  core_test_gate_add (&inside, 1);
  core_test_gate_wait (&release_second, 1);
}

LOOP_TEST (what_a_leaving_worker_had_is_run_by_the_others, 0, 5)
{
  static const IrisDequeKind kinds[] = { IRIS_DEQUE_CHASE_LEV, IRIS_DEQUE_SPLIT, IRIS_DEQUE_ABP,
                                         IRIS_DEQUE_STEAL_HALF, IRIS_DEQUE_LOCKED };
  g_autoptr (IrisPlaces) places = iris_places_new_unbound (1, 2);
  g_autoptr (IrisScheduler) scheduler = g_object_new (IRIS_TYPE_PLACE_SCHEDULER, "places", places,
                                                      "deque", kinds[_i], NULL);

  /* Both workers are inside; the first has all items, in private as far as its deque allows. */
  iris_scheduler_queue (scheduler, be_second, NULL, NULL);
  core_test_gate_wait (&inside, 1);
  iris_scheduler_queue (scheduler, be_first, scheduler, NULL);
  core_test_gate_wait (&inside, 2);

  iris_scheduler_set_n_active (scheduler, 1);
  core_test_gate_add (&release_first, 1);
  wait_for_n_active (scheduler, 1);
  ck_assert_uint_eq (atomic_load (&ran_by), 0);
  core_test_gate_add (&release_second, 1);
  core_test_gate_wait (&ran, N_ITEMS);
  ck_assert_uint_eq (count_bits (atomic_load (&ran_by)), 1);
  ck_assert_uint_eq (get_active_workers (scheduler).n_out, 1);
}

/* Each queues the next. */
static void
run_next (gpointer data)
{
  IrisScheduler *scheduler = data;

  atomic_fetch_add (&n_notified, 1);
  if (atomic_load (&n_notified) < N_ITEMS)
    iris_scheduler_queue (scheduler, run_next, scheduler, NULL);
}

/* The first one begins when the scheduler is being shut down. */
static void
run_first (gpointer data)
{
  IrisWorkerPool *pool = iris_scheduler_get_pool (data);

  core_test_gate_add (&inside, 1);
  while (!atomic_load (&pool->closed))
    sched_yield ();
  run_next (data);
}

LOOP_TEST (what_the_last_items_queue_is_run_although_workers_are_out, 0, core_test_n_kinds)
{
  g_autoptr (IrisScheduler) scheduler = core_test_make (&core_test_kinds[_i]);

  iris_scheduler_set_n_active (scheduler, 1);
  iris_scheduler_queue (scheduler, run_first, scheduler, NULL);
  core_test_gate_wait (&inside, 1);
  wait_for_n_active (scheduler, MAX (core_test_kinds[_i].n_places, 1));
  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_DRAIN);
  ck_assert_int_eq (atomic_load (&n_notified), N_ITEMS);
  core_test_check_stats (scheduler);
}

TEST_MAIN ("active-workers", setup, NULL)
