/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The life of a pool at its edges: made by g_object_new() alone, ended by several at once, dropped
 * by each other.
 */
#include "core-test-util.h"

#include <iris/sched/pool/iris-item-private.h>
#include <iris/sched/iris-scheduler-private.h>

#include <sched.h>
#include <string.h>
#include <unistd.h>

static CoreTestGate ran = CORE_TEST_GATE_INIT;
static CoreTestGate settling = CORE_TEST_GATE_INIT;
static CoreTestGate let_go = CORE_TEST_GATE_INIT;
static _Atomic bool is_settled, second_returned;
static _Atomic int second_tid;

static void
run (gpointer data)
{
  core_test_gate_add (&ran, 1);
}

LOOP_TEST (a_scheduler_made_by_its_type_alone_works, 0, 5)
{
  const char *names[] = { "IrisGAsyncQueueScheduler", "IrisLFScheduler", "IrisWSScheduler",
                          "IrisPlaceScheduler", "IrisGMainScheduler" };
  G_GNUC_UNUSED g_autoptr (IrisScheduler) first = iris_scheduler_new ();
  g_autoptr (IrisScheduler) scheduler = NULL;

  /* So that all types are there. */
  g_assert_true (G_TYPE_IS_OBJECT (IRIS_TYPE_LFSCHEDULER)
                 && G_TYPE_IS_OBJECT (IRIS_TYPE_WSSCHEDULER)
                 && G_TYPE_IS_OBJECT (IRIS_TYPE_PLACE_SCHEDULER)
                 && G_TYPE_IS_OBJECT (IRIS_TYPE_GMAINSCHEDULER));
  scheduler = g_object_new (g_type_from_name (names[_i]), NULL);
  ck_assert_uint_gt (iris_scheduler_get_n_workers (scheduler), 0);
  core_test_gate_close (&ran);
  iris_scheduler_queue (scheduler, run, NULL, NULL);
  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_DRAIN);
  core_test_gate_wait (&ran, 1);
}

static void
settle_slowly (gpointer data)
{
  core_test_gate_add (&settling, 1);
  core_test_gate_wait (&let_go, 1);
  atomic_store (&is_settled, true);
}

static gpointer
shut_down (gpointer data)
{
  iris_scheduler_shutdown (data, IRIS_SHUTDOWN_DRAIN);

  return NULL;
}

static gpointer
shut_down_too (gpointer data)
{
  atomic_store (&second_tid, (int) gettid ());
  iris_scheduler_shutdown (data, IRIS_SHUTDOWN_DRAIN);
  ck_assert (atomic_load (&is_settled));
  atomic_store (&second_returned, true);

  return NULL;
}

static bool
second_sleeps (void)
{
  g_autofree char *path = g_strdup_printf ("/proc/self/task/%d/status", atomic_load (&second_tid));
  g_autofree char *text = NULL;

  return g_file_get_contents (path, &text, NULL, NULL) && strstr (text, "\nState:\tS") != NULL;
}

TEST (every_shutdown_returns_after_the_last_notify)
{
  g_autoptr (IrisScheduler) scheduler = iris_lfscheduler_new_full (1, 1);
  IrisWorkerPool *pool = iris_scheduler_get_pool (scheduler);
  GThread *first, *second;

  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_DRAIN);
  /* As a thread does that found the pool open and was then overtaken. */
  pool->ops->push (pool, NULL, iris_item_new (run, NULL, settle_slowly, IRIS_PLACE_ANY, 0));

  first = g_thread_new ("first", shut_down, scheduler);
  core_test_gate_wait (&settling, 1);
  second = g_thread_new ("second", shut_down_too, scheduler);
  while (!atomic_load (&second_returned) && (atomic_load (&second_tid) == 0 || !second_sleeps ()))
    sched_yield ();
  ck_assert (!atomic_load (&second_returned));
  core_test_gate_add (&let_go, 1);
  g_thread_join (first);
  g_thread_join (second);
}

static void
shut_down_from_notify (gpointer data)
{
  iris_scheduler_shutdown (data, IRIS_SHUTDOWN_CANCEL);
  atomic_store (&is_settled, true);
}

TEST (a_notify_of_the_sweep_may_shut_down_again)
{
  g_autoptr (IrisScheduler) scheduler = iris_wsscheduler_new_full (1, 1);
  IrisWorkerPool *pool = iris_scheduler_get_pool (scheduler);

  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_DRAIN);
  pool->ops->push (pool, NULL,
                   iris_item_new (run, scheduler, shut_down_from_notify, IRIS_PLACE_ANY, 0));
  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_DRAIN);
  ck_assert (atomic_load (&is_settled));
}

static CoreTestGate both = CORE_TEST_GATE_INIT;

static void
drop_the_other (gpointer data)
{
  core_test_gate_add (&both, 1);
  core_test_gate_wait (&both, 3);
  g_object_unref (data);
  core_test_gate_add (&ran, 1);
}

LOOP_TEST (schedulers_that_drop_each_other_both_end, 0, core_test_n_kinds)
{
  guint64 n_threads = core_test_count_base_threads ();
  IrisScheduler *a = core_test_make (&core_test_kinds[_i]);
  IrisScheduler *b = core_test_make (&core_test_kinds[_i]);

  core_test_gate_close (&ran);
  core_test_gate_close (&both);
  iris_scheduler_queue (a, drop_the_other, g_object_ref (b), NULL);
  iris_scheduler_queue (b, drop_the_other, g_object_ref (a), NULL);
  core_test_gate_wait (&both, 2);
  g_object_unref (a);
  g_object_unref (b);
  /* Theirs are the last references. */
  core_test_gate_add (&both, 1);
  core_test_gate_wait (&ran, 2);
  core_test_wait_for_threads (n_threads);
}

TEST_MAIN ("worker-pool-end", NULL, NULL)
