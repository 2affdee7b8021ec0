/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The main context scheduler: order, threads, fairness to other sources, and its end.
 */
#include "core-test-util.h"

#include <iris/iris.h>
#include <stdatomic.h>

#define N_ITEMS 10000

static GMainContext *context;
static IrisScheduler *scheduler;
static guint n_run;
static _Atomic guint n_notified;

static void
setup (void)
{
  context = g_main_context_new ();
  scheduler = iris_gmainscheduler_new (context);
  n_run = 0;
  atomic_store (&n_notified, 0);
}

static void
teardown (void)
{
  g_clear_object (&scheduler);
  g_main_context_unref (context);
}

static void
notified (gpointer data)
{
  atomic_fetch_add (&n_notified, 1);
}

static void
run_in_order (gpointer data)
{
  ck_assert_uint_eq (GPOINTER_TO_UINT (data), n_run);
  n_run++;
}

TEST (items_run_in_order_when_the_context_is_iterated)
{
  for (guint i = 0; i < 1000; i++)
    iris_scheduler_queue (scheduler, run_in_order, GUINT_TO_POINTER (i), notified);
  ck_assert_uint_eq (n_run, 0);
  while (g_main_context_iteration (context, FALSE))
    ;
  ck_assert_uint_eq (n_run, 1000);
  ck_assert_uint_eq (atomic_load (&n_notified), 1000);
}

static gboolean
note_turn (gpointer data)
{
  *(guint *) data = n_run;
  return G_SOURCE_REMOVE;
}

TEST (a_flood_leaves_other_sources_their_turn)
{
  GSource *idle = g_idle_source_new ();
  guint run_before = G_MAXUINT;

  g_source_set_priority (idle, G_PRIORITY_DEFAULT);
  g_source_set_callback (idle, note_turn, &run_before, NULL);
  for (guint i = 0; i < 1000; i++)
    iris_scheduler_queue (scheduler, run_in_order, GUINT_TO_POINTER (i), NULL);
  g_source_attach (idle, context);
  g_source_unref (idle);
  while (g_main_context_iteration (context, FALSE))
    ;
  ck_assert_uint_lt (run_before, 200);
  ck_assert_uint_eq (n_run, 1000);
}

TEST (shutting_down_drains_on_the_callers_thread)
{
  for (guint i = 0; i < 100; i++)
    iris_scheduler_queue (scheduler, run_in_order, GUINT_TO_POINTER (i), notified);
  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_DRAIN);
  ck_assert_uint_eq (n_run, 100);
  ck_assert_uint_eq (atomic_load (&n_notified), 100);
  iris_scheduler_queue (scheduler, run_in_order, GUINT_TO_POINTER (100), notified);
  ck_assert_uint_eq (n_run, 100);
  ck_assert_uint_eq (atomic_load (&n_notified), 101);
}

TEST (cancelling_runs_the_notifies_alone)
{
  g_autoptr (IrisStats) stats = NULL;

  for (guint i = 0; i < 100; i++)
    iris_scheduler_queue (scheduler, run_in_order, GUINT_TO_POINTER (i), notified);
  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_CANCEL);
  ck_assert_uint_eq (n_run, 0);
  ck_assert_uint_eq (atomic_load (&n_notified), 100);
  stats = iris_scheduler_get_stats (scheduler);
  ck_assert_uint_eq (stats->total.cancelled, 100);
  ck_assert_uint_eq (stats->total.queued, 100);
}

static void
count_run (gpointer data)
{
  n_run++;
}

static gpointer
queue_many (gpointer data)
{
  for (guint i = 0; i < N_ITEMS; i++)
    iris_scheduler_queue (scheduler, count_run, NULL, notified);
  return NULL;
}

static gpointer
iterate (gpointer data)
{
  g_main_loop_run (data);
  return NULL;
}

static GMutex lock;
static GCond changed;
static gboolean loop_runs, is_open;

static gboolean
note_loop_runs (gpointer data)
{
  g_mutex_lock (&lock);
  loop_runs = TRUE;
  g_cond_broadcast (&changed);
  g_mutex_unlock (&lock);
  return G_SOURCE_REMOVE;
}

/* Returns when the loop runs: to quit one that is about to run would be without effect. */
static GThread *
start_loop (GMainLoop *loop)
{
  GSource *idle = g_idle_source_new ();
  GThread *runner;

  loop_runs = FALSE;
  g_source_set_callback (idle, note_loop_runs, NULL, NULL);
  g_source_attach (idle, context);
  g_source_unref (idle);
  runner = g_thread_new ("runner", iterate, loop);
  g_mutex_lock (&lock);
  while (!loop_runs)
    g_cond_wait (&changed, &lock);
  g_mutex_unlock (&lock);
  return runner;
}

TEST (items_from_other_threads_wake_the_loop_and_none_is_lost)
{
  GMainLoop *loop = g_main_loop_new (context, FALSE);
  GThread *runner = start_loop (loop);
  GThread *queuers[4];

  for (guint i = 0; i < G_N_ELEMENTS (queuers); i++)
    queuers[i] = g_thread_new ("queuer", queue_many, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (queuers); i++)
    g_thread_join (queuers[i]);
  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_DRAIN);
  ck_assert_uint_eq (atomic_load (&n_notified), G_N_ELEMENTS (queuers) * N_ITEMS);
  g_main_loop_quit (loop);
  g_thread_join (runner);
  ck_assert_uint_eq (n_run, G_N_ELEMENTS (queuers) * N_ITEMS);
  g_main_loop_unref (loop);
}

TEST (the_context_may_outlive_the_scheduler)
{
  iris_scheduler_queue (scheduler, count_run, NULL, notified);
  g_clear_object (&scheduler);
  ck_assert_uint_eq (n_run, 1);
  ck_assert (!g_main_context_iteration (context, FALSE));
}

/* The scheduler's is the first source of its context. */
static gboolean
source_is_there (void)
{
  return g_main_context_find_source_by_id (context, 1) != NULL;
}

static void
drop_scheduler (gpointer data)
{
  g_object_unref (data);
}

TEST (an_item_may_drop_the_last_reference)
{
  IrisScheduler *mine = g_steal_pointer (&scheduler);

  ck_assert (source_is_there ());
  iris_scheduler_queue (mine, drop_scheduler, mine, notified);
  for (guint i = 0; i < 1000; i++)
    iris_scheduler_queue (mine, run_in_order, GUINT_TO_POINTER (i), notified);
  while (g_main_context_iteration (context, FALSE))
    ;
  ck_assert_uint_eq (n_run, 1000);
  ck_assert_uint_eq (atomic_load (&n_notified), 1001);
  ck_assert (!source_is_there ());
}

TEST (a_context_that_goes_cancels_what_a_dropped_scheduler_left)
{
  IrisScheduler *mine = g_steal_pointer (&scheduler);

  iris_scheduler_queue (mine, drop_scheduler, mine, notified);
  for (guint i = 0; i < 1000; i++)
    iris_scheduler_queue (mine, run_in_order, GUINT_TO_POINTER (i), notified);
  g_main_context_iteration (context, FALSE);
  ck_assert (n_run > 0 && n_run < 1000);
  g_main_context_unref (g_steal_pointer (&context));
  ck_assert_uint_eq (atomic_load (&n_notified), 1001);
  ck_assert_uint_lt (n_run, 1000);
  context = g_main_context_new ();
}

TEST (a_worker_that_drops_the_last_reference_does_not_wait_for_the_loop)
{
  g_autoptr (IrisScheduler) workers = iris_wsscheduler_new_full (1, 1);

  ck_assert (g_main_context_acquire (context));
  iris_scheduler_queue (scheduler, run_in_order, NULL, notified);
  iris_scheduler_queue (workers, drop_scheduler, g_steal_pointer (&scheduler), NULL);
  /* The loop waits for the worker. */
  iris_scheduler_shutdown (workers, IRIS_SHUTDOWN_DRAIN);
  ck_assert_uint_eq (n_run, 0);
  g_main_context_release (context);
  while (g_main_context_iteration (context, FALSE))
    ;
  ck_assert_uint_eq (n_run, 1);
  ck_assert_uint_eq (atomic_load (&n_notified), 1);
  ck_assert (!source_is_there ());
}

static void
wait_for_gate (gpointer data)
{
  g_mutex_lock (&lock);
  while (!is_open)
    g_cond_wait (&changed, &lock);
  g_mutex_unlock (&lock);
}

static void
open_gate (gpointer data)
{
  g_mutex_lock (&lock);
  is_open = TRUE;
  g_cond_broadcast (&changed);
  g_mutex_unlock (&lock);
}

TEST (an_item_that_drops_the_last_reference_to_workers_does_not_wait_for_them)
{
  IrisScheduler *workers = iris_wsscheduler_new_full (1, 1);

  is_open = FALSE;
  iris_scheduler_queue (workers, wait_for_gate, NULL, notified);
  iris_scheduler_queue (scheduler, drop_scheduler, workers, NULL);
  iris_scheduler_queue (scheduler, open_gate, NULL, NULL);
  while (g_main_context_iteration (context, FALSE))
    ;
  while (atomic_load (&n_notified) == 0)
    g_thread_yield ();
}

static void
shut_down (gpointer data)
{
  iris_scheduler_shutdown (data, IRIS_SHUTDOWN_DRAIN);
}

TEST (shutting_down_in_an_item_of_its_own_is_refused)
{
  g_test_expect_message ("iris", G_LOG_LEVEL_CRITICAL, "*source_runs_here*");
  iris_scheduler_queue (scheduler, shut_down, scheduler, notified);
  iris_scheduler_queue (scheduler, run_in_order, NULL, notified);
  while (g_main_context_iteration (context, FALSE))
    ;
  g_test_assert_expected_messages ();
  ck_assert_uint_eq (n_run, 1);
  ck_assert_uint_eq (atomic_load (&n_notified), 2);
}

TEST (what_the_owner_of_the_context_queues_after_a_shutdown_is_cancelled)
{
  ck_assert (g_main_context_acquire (context));
  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_DRAIN);
  iris_scheduler_queue (scheduler, count_run, NULL, notified);
  ck_assert_uint_eq (atomic_load (&n_notified), 1);
  g_main_context_release (context);
  while (g_main_context_iteration (context, FALSE))
    ;
  ck_assert_uint_eq (n_run, 0);
}

static void
queue_another (gpointer data)
{
  n_run++;
  iris_scheduler_queue (scheduler, count_run, NULL, notified);
}

TEST (what_an_item_queues_while_it_is_shut_down_runs)
{
  iris_scheduler_queue (scheduler, queue_another, NULL, notified);
  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_DRAIN);
  ck_assert_uint_eq (n_run, 2);
  ck_assert_uint_eq (atomic_load (&n_notified), 2);
}

/* Two threads that go on together, without a system call in between. */
static _Atomic guint n_arrived;

static void
meet (guint round)
{
  atomic_fetch_add (&n_arrived, 1);
  for (guint i = 0; atomic_load (&n_arrived) < 2 * round; i++)
    if (i % 100 == 99)
      g_thread_yield ();
}

#define N_ROUNDS CORE_TEST_LOAD (2000)

static gpointer
queue_in_each_round (gpointer data)
{
  for (guint i = 0; i < N_ROUNDS; i++)
    {
      meet (2 * i + 1);
      for (guint k = i % 37; k > 0; k--)
        iris_cpu_relax ();
      iris_scheduler_queue (scheduler, count_run, NULL, notified);
      meet (2 * i + 2);
    }

  return NULL;
}

/* explore-gmain shows the orders of memory in which it could go wrong. */
TEST (when_queueing_and_shutting_down_have_returned_the_item_is_settled)
{
  GThread *queuer;

  atomic_store (&n_arrived, 0);
  queuer = g_thread_new ("queuer", queue_in_each_round, NULL);
  for (guint i = 0; i < N_ROUNDS; i++)
    {
      meet (2 * i + 1);
      for (guint k = i % 41; k > 0; k--)
        iris_cpu_relax ();
      iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_DRAIN);
      meet (2 * i + 2);
      ck_assert_uint_eq (atomic_load (&n_notified), i + 1);
      g_object_unref (scheduler);
      scheduler = iris_gmainscheduler_new (context);
    }
  g_thread_join (queuer);
}

TEST_MAIN ("gmainscheduler", setup, teardown)
