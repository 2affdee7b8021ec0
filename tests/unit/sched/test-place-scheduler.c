/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Work-stealing places with their threads: hints, theft, strictness, and what the statistics say
 * of them. Nothing here depends on time: items hold workers until what is expected has happened.
 */
#include "core-test-util.h"

#include <iris/sched/iris-scheduler-private.h>

#include <sched.h>

#define N_ITEMS 1000

/* Two places of one worker each. */
static IrisScheduler *scheduler;
static CoreTestGate holding = CORE_TEST_GATE_INIT, release = CORE_TEST_GATE_INIT;
static CoreTestGate ran[2] = { CORE_TEST_GATE_INIT, CORE_TEST_GATE_INIT };

static void
setup (void)
{
  g_autoptr (IrisPlaces) places = iris_places_new_unbound (2, 1);

  core_test_gate_close (&holding);
  core_test_gate_close (&release);
  core_test_gate_close (&ran[0]);
  core_test_gate_close (&ran[1]);
  scheduler = iris_place_scheduler_new (places);
}

static void
teardown (void)
{
  g_clear_object (&scheduler);
}

/* Holds the worker that runs it. */
static void
hold (gpointer data)
{
  core_test_gate_add (&holding, 1);
  core_test_gate_wait (&release, 1);
}

static void
hold_place (gint place)
{
  iris_scheduler_queue_at (scheduler, place, IRIS_ITEM_STRICT, hold, NULL, NULL);
  core_test_gate_wait (&holding, 1);
}

static void
run (gpointer data)
{
  core_test_gate_add (&ran[iris_worker_get_place (iris_worker_current ())], 1);
}

static guint64
n_ran (int place)
{
  guint64 n;

  pthread_mutex_lock (&ran[place].lock);
  n = ran[place].count;
  pthread_mutex_unlock (&ran[place].lock);

  return n;
}

static IrisStats *
finish (void)
{
  core_test_gate_add (&release, 1);
  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_DRAIN);
  core_test_check_stats (scheduler);

  return iris_scheduler_get_stats (scheduler);
}

static void
wait_until_parked (gint place)
{
  bool parked = false;

  while (!parked)
    {
      g_autoptr (IrisStats) stats = iris_scheduler_get_stats (scheduler);

      parked = stats->places[place].parks > stats->places[place].wakes;
      sched_yield ();
    }
}

LOOP_TEST (an_idle_place_steals_what_another_cannot_run, 0, 2)
{
  gint busy = _i, idle = 1 - _i;
  g_autoptr (IrisStats) stats = NULL;

  hold_place (busy);
  for (int i = 0; i < N_ITEMS; i++)
    iris_scheduler_queue_at (scheduler, busy, IRIS_ITEM_NONE, run, NULL, NULL);
  core_test_gate_wait (&ran[idle], N_ITEMS);

  stats = finish ();
  ck_assert_uint_eq (n_ran (busy), 0);
  ck_assert_uint_eq (stats->places[idle].executed, N_ITEMS);
  ck_assert_uint_eq (stats->places[idle].stolen_in, N_ITEMS);
  ck_assert_uint_eq (stats->places[busy].stolen_out, N_ITEMS);
  ck_assert_uint_eq (stats->places[busy].stolen_in, 0);
  ck_assert_uint_eq (stats->places[idle].stolen_out, 0);
  ck_assert_uint_eq (iris_stats_get_steals (stats, (guint) idle, (guint) busy)->items, N_ITEMS);
  ck_assert_uint_eq (iris_stats_get_steals (stats, (guint) idle, (guint) busy)->steals,
                     stats->places[idle].steals);
  ck_assert_uint_eq (iris_stats_get_steals (stats, (guint) busy, (guint) idle)->items, 0);
  ck_assert_uint_eq (iris_stats_get_steals (stats, (guint) idle, (guint) idle)->items, 0);
  ck_assert_uint_eq (stats->places[busy].hinted, N_ITEMS + 1);
  ck_assert_uint_eq (stats->places[idle].hinted, 0);
}

/* The same load, but strict. The other place has its chance: it runs an item of its own after all
 * of them were queued, looks everywhere, and goes to sleep. */
LOOP_TEST (a_strict_item_is_not_stolen, 0, 2)
{
  gint busy = _i, idle = 1 - _i;
  g_autoptr (IrisStats) stats = NULL;

  hold_place (busy);
  for (int i = 0; i < N_ITEMS; i++)
    iris_scheduler_queue_at (scheduler, busy, IRIS_ITEM_STRICT, run, NULL, NULL);
  iris_scheduler_queue_at (scheduler, idle, IRIS_ITEM_NONE, run, NULL, NULL);
  core_test_gate_wait (&ran[idle], 1);
  wait_until_parked (idle);
  ck_assert_uint_eq (n_ran (busy), 0);

  stats = finish ();
  ck_assert_uint_eq (n_ran (busy), N_ITEMS);
  ck_assert_uint_eq (n_ran (idle), 1);
  ck_assert_uint_eq (stats->total.stolen_in, 0);
  ck_assert_uint_eq (stats->total.stolen_out, 0);
  ck_assert_uint_eq (stats->places[busy].executed, N_ITEMS + 1);
  ck_assert_uint_eq (stats->places[busy].hinted, N_ITEMS + 1);
}

static void
make_strict_and_hold (gpointer data)
{
  IrisWorker *worker = iris_worker_current ();

  for (int i = 0; i < N_ITEMS; i++)
    iris_scheduler_queue_at (scheduler, iris_worker_get_place (worker), IRIS_ITEM_STRICT, run, NULL,
                             NULL);
  hold (NULL);
}

/* The same of strict items that a worker makes for its own place, and holds. */
LOOP_TEST (strict_items_of_a_held_worker_are_not_stolen_by_another_place, 0, 2)
{
  gint busy = _i, idle = 1 - _i;
  g_autoptr (IrisStats) stats = NULL;

  iris_scheduler_queue_at (scheduler, busy, IRIS_ITEM_STRICT, make_strict_and_hold, NULL, NULL);
  core_test_gate_wait (&holding, 1);
  iris_scheduler_queue_at (scheduler, idle, IRIS_ITEM_NONE, run, NULL, NULL);
  core_test_gate_wait (&ran[idle], 1);
  wait_until_parked (idle);
  ck_assert_uint_eq (n_ran (busy), 0);

  stats = finish ();
  ck_assert_uint_eq (n_ran (busy), N_ITEMS);
  ck_assert_uint_eq (stats->total.stolen_in, 0);
}

/* Nor does the place let them lie: a worker of it that sleeps is woken, and has them from the
 * worker that is held. */
TEST (strict_items_of_a_held_worker_are_run_by_its_siblings)
{
  g_autoptr (IrisPlaces) places = iris_places_new_unbound (2, 2);
  g_autoptr (IrisStats) stats = NULL;

  g_object_unref (scheduler);
  scheduler = g_object_new (IRIS_TYPE_PLACE_SCHEDULER, "places", places, NULL);
  iris_scheduler_queue_at (scheduler, 0, IRIS_ITEM_STRICT, make_strict_and_hold, NULL, NULL);
  core_test_gate_wait (&ran[0], N_ITEMS);
  stats = finish ();
  ck_assert_uint_eq (n_ran (0), N_ITEMS);
  ck_assert_uint_eq (n_ran (1), 0);
  ck_assert_uint_eq (stats->total.stolen_inside, N_ITEMS);
  ck_assert_uint_eq (stats->total.stolen_in, 0);
}

static void
make_and_hold (gpointer data)
{
  for (int i = 0; i < N_ITEMS; i++)
    iris_scheduler_queue (scheduler, run, NULL, NULL);
  hold (NULL);
}

/* With every deque that gives each item once: also what its owner alone could reach is had. */
LOOP_TEST (what_lies_on_a_held_workers_deque_is_stolen_too,
           IRIS_DEQUE_CHASE_LEV,
           IRIS_DEQUE_LOCKED + 1)
{
  g_autoptr (IrisPlaces) places = iris_places_new_unbound (2, 1);
  g_autoptr (IrisStats) stats = NULL;

  g_object_unref (scheduler);
  scheduler = g_object_new (IRIS_TYPE_PLACE_SCHEDULER, "places", places, "deque", _i, NULL);
  iris_scheduler_queue_at (scheduler, 0, IRIS_ITEM_STRICT, make_and_hold, NULL, NULL);
  core_test_gate_wait (&ran[1], N_ITEMS);
  stats = finish ();
  ck_assert_uint_eq (stats->places[1].stolen_in, stats->places[0].stolen_out);
  ck_assert_uint_eq (stats->places[1].executed, N_ITEMS);
  /* Several at a time. */
  ck_assert_uint_gt (stats->places[1].stolen_in, stats->places[1].steals);
}

static void
wait_for_the_other (gpointer data)
{
  core_test_gate_wait (&ran[1], 1);
}

/* An item at place 0 can only end when one that was hinted to place 0 ran at place 1. */
TEST (an_item_may_wait_for_one_that_only_a_thief_can_run)
{
  g_autoptr (IrisStats) stats = NULL;

  iris_scheduler_queue_at (scheduler, 0, IRIS_ITEM_STRICT, wait_for_the_other, NULL, NULL);
  iris_scheduler_queue_at (scheduler, 0, IRIS_ITEM_NONE, run, NULL, NULL);
  /* Unless place 0 took that one first; then it is idle, and the next ones will do. */
  while (n_ran (1) == 0)
    iris_scheduler_queue_at (scheduler, 0, IRIS_ITEM_NONE, run, NULL, NULL);
  stats = finish ();
  ck_assert_uint_ge (stats->places[1].stolen_in, 1);
  ck_assert_uint_ge (stats->places[0].stolen_out, 1);
}

TEST (items_from_outside_are_dealt_to_all_places)
{
  g_autoptr (IrisStats) stats = NULL;

  /* Place 0 is held, so what is dealt to it is stolen: half of all. */
  hold_place (0);
  for (int i = 0; i < N_ITEMS; i++)
    iris_scheduler_queue (scheduler, run, NULL, NULL);
  core_test_gate_wait (&ran[1], N_ITEMS);
  stats = finish ();
  ck_assert_uint_eq (stats->places[0].stolen_out, N_ITEMS / 2);
  ck_assert_uint_eq (stats->total.hinted, 1);
}

TEST (strict_items_of_a_cancelled_scheduler_are_cancelled)
{
  IrisWorkerPool *pool = iris_scheduler_get_pool (scheduler);
  g_autoptr (IrisStats) stats = NULL;

  hold_place (0);
  for (int i = 0; i < N_ITEMS; i++)
    iris_scheduler_queue_at (scheduler, 0, IRIS_ITEM_STRICT, run, NULL, NULL);
  atomic_store (&pool->cancelling, true);
  stats = finish ();
  ck_assert_uint_eq (n_ran (0), 0);
  ck_assert_uint_eq (stats->places[0].cancelled, N_ITEMS);
}

TEST (a_scheduler_of_this_machines_places_works)
{
  g_autoptr (IrisScheduler) machine = iris_place_scheduler_new (NULL);
  IrisPlaces *places = iris_place_scheduler_get_places (IRIS_PLACE_SCHEDULER (machine));
  g_autoptr (IrisPlaces) same = NULL;
  IrisDeal deal;
  g_autoptr (IrisStats) stats = NULL;

  ck_assert_ptr_nonnull (places);
  g_object_get (machine, "places", &same, "deal", &deal, NULL);
  ck_assert_ptr_eq (same, places);
  ck_assert_int_eq (deal, IRIS_DEAL_OWN);
  ck_assert_uint_eq (iris_scheduler_get_n_places (machine), iris_places_get_n_places (places));
  ck_assert_uint_eq (iris_scheduler_get_n_workers (machine), iris_places_get_n_workers (places));
  for (guint i = 0; i < iris_places_get_n_places (places); i++)
    iris_scheduler_queue_at (machine, (gint) i, IRIS_ITEM_STRICT, hold, NULL, NULL);
  core_test_gate_wait (&holding, iris_places_get_n_places (places));
  core_test_gate_add (&release, 1);
  iris_scheduler_shutdown (machine, IRIS_SHUTDOWN_DRAIN);
  stats = iris_scheduler_get_stats (machine);
  for (guint i = 0; i < stats->n_places; i++)
    ck_assert_uint_eq (stats->places[i].executed, 1);
}

TEST_MAIN ("place-scheduler", setup, teardown)
