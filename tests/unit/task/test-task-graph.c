/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Tasks that depend on tasks: order, outcomes that spread, cycles, and references.
 */
#include "core-test-util.h"
#include "step-scheduler.h"

/* A sanitizer's frames are larger, so a shorter chain would already overflow the stack. */
#define LONG_CHAIN (200000 / CORE_TEST_FACTOR)

static IrisScheduler *scheduler;
static GString *story;
static CoreTestGate freed = CORE_TEST_GATE_INIT; /* tasks that core_test_gate_watch() was told of */

static void
setup (void)
{
  scheduler = step_scheduler_new ();
  story = g_string_new (NULL);
  core_test_gate_close (&freed);
}

static void
teardown (void)
{
  g_clear_object (&scheduler);
  g_string_free (g_steal_pointer (&story), TRUE);
}

static void
tell (IrisTask *task, gpointer name)
{
  g_string_append (story, name);
}

static void throw (IrisTask * task, gpointer name)
{
  IRIS_TASK_THROW_NEW (task, G_IO_ERROR, G_IO_ERROR_BUSY, "%s", (char *) name);
}

static void
return_int (IrisTask *task, gpointer number)
{
  IRIS_TASK_RETURN_VALUE (task, G_TYPE_INT, GPOINTER_TO_INT (number));
}

static IrisTask *
task_new (IrisTaskFunc func, gpointer data)
{
  return iris_task_new_full (func, data, NULL, FALSE, NULL, scheduler, NULL);
}

static int
int_of (IrisTask *task)
{
  GValue value = G_VALUE_INIT;

  iris_task_get_result (task, &value);

  return g_value_get_int (&value);
}

START_TEST (a_task_runs_when_all_its_dependencies_are_over)
{
  g_autoptr (IrisTask) last = task_new (tell, "last");
  g_autoptr (IrisTask) a = task_new (tell, "a ");
  g_autoptr (IrisTask) b = task_new (tell, "b ");

  iris_task_run (a);
  step_scheduler_run (scheduler);
  ck_assert (iris_task_add_dependency (last, a)); /* over already */
  ck_assert (iris_task_add_dependency (last, b));
  iris_task_run (last);
  step_scheduler_run (scheduler);
  ck_assert_str_eq (story->str, "a ");
  iris_task_run (b);
  step_scheduler_run (scheduler);
  ck_assert_str_eq (story->str, "a b last");
}
END_TEST

static void
check_failed (IrisTask *task, const char *message)
{
  g_autoptr (GError) error = NULL;

  ck_assert (iris_task_has_failed (task));
  ck_assert (iris_task_get_fatal_error (task, &error));
  ck_assert_str_eq (error->message, message);
}

START_TEST (a_failed_dependency_fails_its_dependents)
{
  g_autoptr (IrisTask) bad = task_new (throw, "bad");
  g_autoptr (IrisTask) waits = task_new (tell, "never");
  g_autoptr (IrisTask) later = task_new (tell, "never");
  g_autoptr (IrisTask) latest = task_new (tell, "never");

  iris_task_add_dependency (waits, bad);
  iris_task_add_errback (waits, tell, "errback", NULL);
  iris_task_add_dependency (later, bad);
  iris_task_run (waits);
  iris_task_run (bad);
  step_scheduler_run (scheduler);
  iris_task_add_dependency (latest, bad);
  iris_task_run (later);
  iris_task_run (latest);
  step_scheduler_run (scheduler);
  check_failed (waits, "bad");
  check_failed (later, "bad");
  check_failed (latest, "bad");
  ck_assert_str_eq (story->str, "errback");
}
END_TEST

START_TEST (a_cancelled_dependency_cancels_its_dependents)
{
  g_autoptr (IrisTask) gone = task_new (tell, "never");
  g_autoptr (IrisTask) waits = task_new (tell, "never");
  g_autoptr (IrisTask) later = task_new (tell, "never");

  iris_task_add_dependency (waits, gone);
  iris_task_add_dependency (later, waits);
  iris_task_run (waits);
  iris_task_cancel (gone);
  ck_assert (iris_task_is_cancelled (waits) && iris_task_is_cancelled (later));
  iris_task_run (later);
  step_scheduler_run (scheduler);
  ck_assert_str_eq (story->str, "");
}
END_TEST

START_TEST (a_dependency_that_is_dropped_without_having_run_fails_its_dependents)
{
  IrisTask *dropped = task_new (tell, "never");
  g_autoptr (IrisTask) waits = task_new (tell, "never");
  g_autoptr (GError) error = NULL;

  iris_task_add_dependency (waits, dropped);
  iris_task_run (waits);
  g_object_unref (dropped);
  step_scheduler_run (scheduler);
  ck_assert (iris_task_get_fatal_error (waits, &error));
  ck_assert (g_error_matches (error, IRIS_TASK_ERROR, IRIS_TASK_ERROR_ABANDONED));
}
END_TEST

START_TEST (what_can_never_end_is_refused)
{
  g_autoptr (IrisTask) a = task_new (tell, "a");
  g_autoptr (IrisTask) b = task_new (tell, "b");
  g_autoptr (IrisTask) c = task_new (tell, "c");
  g_autoptr (GError) itself = NULL, round = NULL, late = NULL;

  ck_assert (!iris_task_try_add_dependency (a, a, &itself));
  ck_assert (g_error_matches (itself, IRIS_TASK_ERROR, IRIS_TASK_ERROR_CYCLE));
  ck_assert (iris_task_add_dependency (b, a) && iris_task_add_dependency (c, b));
  ck_assert (!iris_task_try_add_dependency (a, c, &round));
  ck_assert (g_error_matches (round, IRIS_TASK_ERROR, IRIS_TASK_ERROR_CYCLE));

  iris_task_run (c);
  iris_task_run (b);
  iris_task_run (a);
  ck_assert (!iris_task_try_add_dependency (b, c, &late));
  ck_assert (g_error_matches (late, IRIS_TASK_ERROR, IRIS_TASK_ERROR_LATE));
  step_scheduler_run (scheduler);
  ck_assert_str_eq (story->str, "abc");
}
END_TEST

START_TEST (edges_hold_only_the_waiting_task)
{
  IrisTask *dependency = task_new (tell, "a"), *dependent = task_new (tell, "b");

  core_test_gate_watch (&freed, dependent);
  core_test_gate_watch (&freed, dependency);
  iris_task_add_dependency (dependent, dependency);
  g_object_unref (dependent);
  ck_assert_uint_eq (core_test_gate_get (&freed), 0);
  g_object_unref (dependency);
  ck_assert_uint_eq (core_test_gate_get (&freed), 2);
}
END_TEST

START_TEST (a_cancelled_dependent_is_let_go)
{
  g_autoptr (IrisTask) dependency = task_new (tell, "a");
  IrisTask *dependent = task_new (tell, "b");

  core_test_gate_watch (&freed, dependent);
  iris_task_add_dependency (dependent, dependency);
  iris_task_run (dependent);
  iris_task_cancel (dependent);
  g_object_unref (dependent);
  ck_assert_uint_eq (core_test_gate_get (&freed), 1);
}
END_TEST

/* An outcome spreads without recursion. */
START_TEST (a_long_chain_is_no_deep_stack)
{
  static const gboolean cancels[] = { TRUE, FALSE };

  for (guint i = 0; i < G_N_ELEMENTS (cancels); i++)
    {
      g_autoptr (IrisTask) first = task_new (throw, "bad");
      g_autoptr (IrisTask) last = g_object_ref (first);

      for (guint n = 0; n < LONG_CHAIN; n++)
        {
          IrisTask *next = task_new (NULL, NULL);

          iris_task_add_dependency (next, last);
          iris_task_run (next);
          g_set_object (&last, next);
          g_object_unref (next);
        }
      if (cancels[i])
        iris_task_cancel (first);
      else
        iris_task_run (first);
      step_scheduler_run (scheduler);
      ck_assert (cancels[i] ? iris_task_is_cancelled (last) : iris_task_has_failed (last));
    }
}
END_TEST

/* --- all of, any of ----------------------------------------------------------------------------
 */

START_TEST (all_of_waits_for_all)
{
  g_autoptr (IrisTask) a = task_new (return_int, GINT_TO_POINTER (1));
  g_autoptr (IrisTask) b = task_new (return_int, GINT_TO_POINTER (2));
  g_autoptr (IrisTask) all = iris_task_vall_of (a, b, NULL);
  g_autoptr (IrisTask) none = iris_task_all_of (NULL);
  GList *list = g_list_append (NULL, a);
  g_autoptr (IrisTask) of_list = iris_task_all_of (list);

  g_list_free (list);
  iris_task_run (all);
  iris_task_run (of_list);
  iris_task_run (none);
  iris_task_run (a);
  step_scheduler_run (scheduler);
  ck_assert (!iris_task_is_finished (all));
  iris_task_run (b);
  step_scheduler_run (scheduler);
  ck_assert (iris_task_has_succeeded (all));
  ck_assert (iris_task_has_succeeded (of_list));
  ck_assert (iris_task_has_succeeded (none));
}
END_TEST

static void
finish_story (IrisTask *task, gpointer name)
{
  ck_assert_ptr_nonnull (iris_worker_current ());
  tell (task, name);
}

/* A group has no work of its own, so it needs no worker, and no default scheduler is made for it.
 * It is over with its members; one whose members are over is over as soon as it runs. */
START_TEST (a_group_that_runs_nothing_starts_no_threads)
{
  guint64 n_threads = core_test_count_base_threads ();
  g_autoptr (IrisTask) a = task_new (return_int, GINT_TO_POINTER (1));
  g_autoptr (IrisTask) b = task_new (return_int, GINT_TO_POINTER (2));
  g_autoptr (IrisTask) bad = task_new (throw, "bad");
  g_autoptr (IrisTask) all = iris_task_vall_of (a, b, NULL);
  g_autoptr (IrisTask) of_all = iris_task_vall_of (all, NULL);
  g_autoptr (IrisTask) any = iris_task_vany_of (bad, a, NULL);
  g_autoptr (IrisTask) fails = iris_task_vall_of (a, bad, NULL);
  g_autoptr (IrisTask) none = iris_task_all_of (NULL);
  IrisTask *groups[] = { all, of_all, any, fails };
  IrisTask *members[] = { a, b, bad };

  for (guint i = 0; i < G_N_ELEMENTS (groups); i++)
    iris_task_run (groups[i]);
  for (guint i = 0; i < G_N_ELEMENTS (members); i++)
    iris_task_run (members[i]);
  iris_task_run (none);
  ck_assert (iris_task_has_succeeded (none));
  step_scheduler_run (scheduler);
  ck_assert (iris_task_has_succeeded (all) && iris_task_has_succeeded (of_all));
  ck_assert_int_eq (int_of (any), 1);
  check_failed (fails, "bad");
  ck_assert_uint_eq (core_test_proc_status ("Threads:"), n_threads);
}
END_TEST

START_TEST (the_handlers_of_a_group_run_where_it_was_told_to_work)
{
  g_autoptr (IrisScheduler) workers = iris_scheduler_new_full (1, 1);
  g_autoptr (IrisTask) group = iris_task_all_of (NULL);

  iris_task_set_work_scheduler (group, workers);
  iris_task_add_callback (group, finish_story, "c", NULL);
  iris_task_run (group);
  ck_assert (iris_task_wait (group, -1, NULL));
  ck_assert_str_eq (story->str, "c");
}
END_TEST

START_TEST (all_of_fails_with_the_first_and_is_cancelled_with_one)
{
  g_autoptr (IrisTask) bad = task_new (throw, "bad");
  g_autoptr (IrisTask) idle = task_new (tell, "never");
  g_autoptr (IrisTask) fails = iris_task_vall_of (idle, bad, NULL);
  g_autoptr (IrisTask) cancelled = iris_task_vall_of (idle, NULL);

  iris_task_run (fails);
  iris_task_run (cancelled);
  iris_task_run (bad);
  step_scheduler_run (scheduler);
  ck_assert (!iris_task_wait (fails, -1, NULL));
  check_failed (fails, "bad");
  iris_task_cancel (idle);
  ck_assert (iris_task_is_cancelled (cancelled));
}
END_TEST

START_TEST (any_of_has_the_result_of_the_first_that_ends_well)
{
  g_autoptr (IrisTask) bad = task_new (throw, "bad");
  g_autoptr (IrisTask) good = task_new (return_int, GINT_TO_POINTER (2));
  g_autoptr (IrisTask) better = task_new (return_int, GINT_TO_POINTER (3));
  IrisTask *any = iris_task_vany_of (bad, good, better, NULL);

  core_test_gate_watch (&freed, any);
  iris_task_run (bad);
  step_scheduler_run (scheduler);
  iris_task_run (good);
  step_scheduler_run (scheduler);
  iris_task_run (any); /* decided already */
  ck_assert (iris_task_wait (any, -1, NULL));
  ck_assert_int_eq (int_of (any), 2);
  /* A member that was not run holds the group until it is told that the group is over; the last
   * reference may be that of the worker that ended the group. */
  g_object_unref (any);
  core_test_gate_wait (&freed, 1);
  iris_task_run (better);
  step_scheduler_run (scheduler);
}
END_TEST

START_TEST (any_of_fails_when_none_ends_well)
{
  g_autoptr (IrisTask) bad = task_new (throw, "bad");
  g_autoptr (IrisTask) gone = task_new (tell, "never");
  g_autoptr (IrisTask) fails = iris_task_vany_of (bad, gone, NULL);
  g_autoptr (IrisTask) cancelled = iris_task_vany_of (gone, NULL);

  iris_task_run (fails);
  iris_task_run (cancelled);
  iris_task_run (bad);
  step_scheduler_run (scheduler);
  ck_assert_uint_eq (iris_task_get_state (fails), IRIS_TASK_STATE_WAITING);
  iris_task_cancel (gone);
  ck_assert (iris_task_is_cancelled (cancelled));
  ck_assert (!iris_task_wait (fails, -1, NULL));
  check_failed (fails, "bad");
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("task-graph");
  TCase *tcase = tcase_create ("task-graph");

  tcase_set_timeout (tcase, 0);
  tcase_add_checked_fixture (tcase, setup, teardown);
  /* The first, so that no default scheduler is there yet. */
  tcase_add_test (tcase, a_group_that_runs_nothing_starts_no_threads);
  tcase_add_test (tcase, the_handlers_of_a_group_run_where_it_was_told_to_work);
  tcase_add_test (tcase, a_task_runs_when_all_its_dependencies_are_over);
  tcase_add_test (tcase, a_failed_dependency_fails_its_dependents);
  tcase_add_test (tcase, a_cancelled_dependency_cancels_its_dependents);
  tcase_add_test (tcase, a_dependency_that_is_dropped_without_having_run_fails_its_dependents);
  tcase_add_test (tcase, what_can_never_end_is_refused);
  tcase_add_test (tcase, edges_hold_only_the_waiting_task);
  tcase_add_test (tcase, a_cancelled_dependent_is_let_go);
  tcase_add_test (tcase, a_long_chain_is_no_deep_stack);
  tcase_add_test (tcase, all_of_waits_for_all);
  tcase_add_test (tcase, all_of_fails_with_the_first_and_is_cancelled_with_one);
  tcase_add_test (tcase, any_of_has_the_result_of_the_first_that_ends_well);
  tcase_add_test (tcase, any_of_fails_when_none_ends_well);
  suite_add_tcase (suite, tcase);

  return core_test_run (suite);
}
