/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The task: its states, its chain of handlers, what it returns, and its end.
 */
#include "core-test-util.h"
#include "step-scheduler.h"

static IrisScheduler *scheduler;
static GString *story;
static guint n_notified;

static void
setup (void)
{
  scheduler = step_scheduler_new ();
  story = g_string_new (NULL);
  n_notified = 0;
}

static void
teardown (void)
{
  step_scheduler_run (scheduler);
  g_clear_object (&scheduler);
  g_string_free (g_steal_pointer (&story), TRUE);
}

static void
count_notified (gpointer data)
{
  n_notified++;
}

/* Tells the story: what runs appends its name. */
static void
tell (IrisTask *task, gpointer name)
{
  g_string_append (story, name);
}

static void
tell_and_throw (IrisTask *task, gpointer name)
{
  g_string_append (story, name);
  IRIS_TASK_THROW_NEW (task, G_IO_ERROR, G_IO_ERROR_BUSY, "%s", (char *) name);
}

static void
tell_and_catch (IrisTask *task, gpointer name)
{
  g_autoptr (GError) error = NULL;

  IRIS_TASK_CATCH (task, &error);
  g_string_append_printf (story, "%s(%s)", (char *) name, error->message);
}

static void
return_seven (IrisTask *task, gpointer name)
{
  if (name != NULL)
    g_string_append (story, name);
  IRIS_TASK_RETURN_VALUE (task, G_TYPE_INT, 7);
}

static IrisTask *
task_new (IrisTaskFunc func, const char *name)
{
  return iris_task_new_full (func, (gpointer) name, count_notified, FALSE, NULL, scheduler, NULL);
}

static int
int_of (IrisTask *task)
{
  GValue value = G_VALUE_INIT;

  iris_task_get_result (task, &value);

  return g_value_get_int (&value);
}

/* --- states ------------------------------------------------------------------------------------
 */

TEST (every_pair_of_states_is_allowed_or_not_as_documented)
{
  /* Rows: from; columns: to. In the order of the enumeration. */
  static const char *const table[] = {
    ".xx.x..x", /* constructed */
    "..x.x..x", /* waiting */
    "...x...x", /* queued */
    ".x..x..x", /* running */
    ".x...xxx", /* callbacks */
    "........", /* finished */
    "........", /* failed */
    "........", /* cancelled */
  };

  for (guint from = 0; from < G_N_ELEMENTS (table); from++)
    for (guint to = 0; to < G_N_ELEMENTS (table); to++)
      ck_assert_msg (iris_task_state_can_follow (from, to) == (table[from][to] == 'x'), "%s, %s",
                     iris_task_state_get_name (from), iris_task_state_get_name (to));
  for (guint state = 0; state < G_N_ELEMENTS (table); state++)
    ck_assert (iris_task_state_is_over (state) == (state >= IRIS_TASK_STATE_FINISHED));
}

static void
note_running (IrisTask *task, gpointer data)
{
  ck_assert_uint_eq (iris_task_get_state (task), IRIS_TASK_STATE_RUNNING);
  ck_assert (iris_task_is_executing (task));
}

static void
note_callbacks (IrisTask *task, gpointer data)
{
  ck_assert_uint_eq (iris_task_get_state (task), IRIS_TASK_STATE_CALLBACKS);
}

TEST (a_task_goes_through_its_states)
{
  g_autoptr (IrisTask) task = task_new (note_running, NULL);
  g_autoptr (IrisTask) first = task_new (tell, "first");

  iris_task_add_callback (task, note_callbacks, NULL, NULL);
  iris_task_add_dependency (task, first);
  ck_assert_uint_eq (iris_task_get_state (task), IRIS_TASK_STATE_CONSTRUCTED);
  iris_task_run (task);
  ck_assert_uint_eq (iris_task_get_state (task), IRIS_TASK_STATE_WAITING);
  iris_task_run (first);
  ck_assert (step_scheduler_step (scheduler));
  ck_assert_uint_eq (iris_task_get_state (task), IRIS_TASK_STATE_QUEUED);
  ck_assert (step_scheduler_step (scheduler));
  ck_assert_uint_eq (iris_task_get_state (task), IRIS_TASK_STATE_FINISHED);
  ck_assert (iris_task_has_succeeded (task) && iris_task_is_finished (task));
  ck_assert (!iris_task_has_failed (task) && !iris_task_is_cancelled (task));
  ck_assert (!iris_task_is_executing (task));
}

/* --- the chain ---------------------------------------------------------------------------------
 */

TEST (callbacks_run_in_order_and_errbacks_are_passed_over)
{
  g_autoptr (IrisTask) task = task_new (return_seven, "work ");

  iris_task_add_callback (task, tell, "a ", count_notified);
  iris_task_add_errback (task, tell, "never ", count_notified);
  iris_task_add_both (task, tell, tell_and_catch, "b ", count_notified);
  iris_task_run (task);
  step_scheduler_run (scheduler);
  ck_assert_str_eq (story->str, "work a b ");
  ck_assert_uint_eq (n_notified, 3);
  ck_assert_int_eq (int_of (task), 7);
  g_clear_object (&task);
  ck_assert_uint_eq (n_notified, 4);
}

TEST (an_errback_that_handles_leads_back_to_the_callbacks)
{
  g_autoptr (IrisTask) task = task_new (tell_and_throw, "w");

  iris_task_add_callback (task, tell, " never", NULL);
  iris_task_add_errback (task, tell, " e1", NULL);
  iris_task_add_errback (task, tell_and_catch, " e2", NULL);
  iris_task_add_errback (task, tell, " never", NULL);
  iris_task_add_callback (task, tell_and_throw, " c", NULL);
  iris_task_add_callback (task, tell, " never", NULL);
  iris_task_add_both (task, tell, tell_and_catch, " b", NULL);
  iris_task_run (task);
  step_scheduler_run (scheduler);
  ck_assert_str_eq (story->str, "w e1 e2(w) c b( c)");
  ck_assert (iris_task_has_succeeded (task));
}

TEST (an_unhandled_error_is_the_tasks)
{
  g_autoptr (IrisTask) task = task_new (tell_and_throw, "w");
  g_autoptr (GError) error = NULL;

  iris_task_run (task);
  step_scheduler_run (scheduler);
  ck_assert (iris_task_has_failed (task) && iris_task_is_finished (task));
  ck_assert (iris_task_get_fatal_error (task, &error));
  ck_assert (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_BUSY));
}

TEST (closures_are_handlers_and_work)
{
  GClosure *work = g_cclosure_new (G_CALLBACK (tell_and_throw), "w", NULL);
  g_autoptr (IrisTask) task = NULL;

  task = iris_task_new_with_closure_full (work, FALSE, NULL, scheduler, NULL);
  iris_task_add_callback_closure (task, g_cclosure_new (G_CALLBACK (tell), " never", NULL));
  iris_task_add_errback_closure (task, g_cclosure_new (G_CALLBACK (tell_and_catch), " e", NULL));
  iris_task_add_both_closure (task, g_cclosure_new (G_CALLBACK (tell), " c", NULL),
                              g_cclosure_new (G_CALLBACK (tell), " never", NULL));
  iris_task_run (task);
  step_scheduler_run (scheduler);
  ck_assert_str_eq (story->str, "w e(w) c");
}

TEST (a_handler_that_comes_late_is_called_with_the_outcome)
{
  g_autoptr (IrisTask) task = task_new (return_seven, NULL);
  g_autoptr (IrisTask) cancelled = task_new (return_seven, NULL);

  iris_task_run (task);
  step_scheduler_run (scheduler);
  iris_task_add_callback (task, tell, "a", count_notified);
  iris_task_add_errback (task, tell, "never", count_notified);
  iris_task_add_callback (task, tell, "b", count_notified);
  ck_assert_str_eq (story->str, "");
  step_scheduler_run (scheduler);
  ck_assert_str_eq (story->str, "ab");
  ck_assert_uint_eq (n_notified, 3);

  iris_task_cancel (cancelled);
  iris_task_add_callback (cancelled, tell, "never", count_notified);
  ck_assert_uint_eq (n_notified, 4);
}

TEST (handlers_run_in_the_main_context_of_the_task)
{
  g_autoptr (GMainContext) context = g_main_context_new ();
  g_autoptr (IrisTask) task = iris_task_new_full (tell, "w", NULL, FALSE, NULL, scheduler, context);

  ck_assert_ptr_eq (iris_task_get_main_context (task), context);
  iris_task_add_callback (task, tell, "c", NULL);
  iris_task_run (task);
  step_scheduler_run (scheduler);
  ck_assert_str_eq (story->str, "w");
  while (g_main_context_iteration (context, FALSE))
    ;
  ck_assert_str_eq (story->str, "wc");
}

/* --- asynchronous ------------------------------------------------------------------------------
 */

static void
finish_at_once (IrisTask *task, gpointer data)
{
  iris_task_work_finished (task);
  g_string_append (story, "w");
}

TEST (asynchronous_work_ends_when_it_is_said)
{
  g_autoptr (IrisTask) later = iris_task_new_full (tell, "w", NULL, TRUE, NULL, scheduler, NULL);
  g_autoptr (IrisTask)
      at_once = iris_task_new_full (finish_at_once, NULL, NULL, TRUE, NULL, scheduler, NULL);

  ck_assert (iris_task_is_async (later));
  iris_task_add_callback (later, tell, "c", NULL);
  iris_task_run (later);
  step_scheduler_run (scheduler);
  ck_assert_uint_eq (iris_task_get_state (later), IRIS_TASK_STATE_RUNNING);
  iris_task_work_finished (later);
  ck_assert_str_eq (story->str, "wc");

  /* Not before the function has returned. */
  g_string_truncate (story, 0);
  iris_task_add_callback (at_once, tell, "c", NULL);
  iris_task_run (at_once);
  step_scheduler_run (scheduler);
  ck_assert_str_eq (story->str, "wc");
}

/* --- returning tasks ---------------------------------------------------------------------------
 */

static void
return_task (IrisTask *task, gpointer other)
{
  IRIS_TASK_RETURN_TASK (task, IRIS_TASK (other));
}

static void
gate_freed (gpointer gate)
{
  core_test_gate_add (gate, 1);
}

static void
throw_only (IrisTask *task, gpointer data)
{
  IRIS_TASK_THROW_NEW (task, G_IO_ERROR, G_IO_ERROR_BUSY, "busy");
}

static void
return_new_task (IrisTask *task, gpointer gate)
{
  IRIS_TASK_RETURN_TASK_NEW (task, throw_only, gate, gate_freed);
}

TEST (a_returned_task_gives_its_outcome)
{
  IrisTask *inner = task_new (return_seven, "inner ");
  g_autoptr (IrisTask)
      outer = iris_task_new_full (return_task, inner, NULL, FALSE, NULL, scheduler, NULL);

  iris_task_add_callback (outer, tell, "c ", NULL);
  iris_task_run (outer);
  ck_assert (step_scheduler_step (scheduler));
  ck_assert_uint_eq (iris_task_get_state (outer), IRIS_TASK_STATE_WAITING);
  ck_assert_str_eq (story->str, "");
  step_scheduler_run (scheduler);
  ck_assert_str_eq (story->str, "inner c ");
  ck_assert_int_eq (int_of (outer), 7);
  g_object_unref (inner);
}

TEST (a_returned_task_may_be_over_fail_or_be_cancelled)
{
  IrisTask *over = task_new (return_seven, NULL);
  IrisTask *bad = task_new (tell_and_throw, "bad ");
  IrisTask *gone = task_new (tell, "never");
  g_autoptr (IrisTask)
      of_over = iris_task_new_full (return_task, over, NULL, FALSE, NULL, scheduler, NULL);
  g_autoptr (IrisTask)
      of_bad = iris_task_new_full (return_task, bad, NULL, FALSE, NULL, scheduler, NULL);
  g_autoptr (IrisTask)
      of_gone = iris_task_new_full (return_task, gone, NULL, FALSE, NULL, scheduler, NULL);

  iris_task_run (over);
  step_scheduler_run (scheduler);
  iris_task_run (of_over);
  iris_task_add_errback (of_bad, tell_and_catch, "e", NULL);
  iris_task_run (of_bad);
  iris_task_run (of_gone);
  iris_task_cancel (gone);
  step_scheduler_run (scheduler);
  ck_assert_int_eq (int_of (of_over), 7);
  ck_assert_str_eq (story->str, "bad e(bad )");
  ck_assert (iris_task_has_succeeded (of_bad));
  ck_assert (iris_task_is_cancelled (of_gone));
  g_object_unref (over);
  g_object_unref (bad);
  g_object_unref (gone);
}

TEST (a_callback_may_return_a_task)
{
  g_autoptr (IrisTask) task = task_new (tell, "work ");
  IrisTask *inner = task_new (return_seven, "inner ");

  iris_task_add_callback (task, return_task, inner, NULL);
  iris_task_add_callback (task, tell, "c ", NULL);
  iris_task_run (task);
  step_scheduler_run (scheduler);
  ck_assert_str_eq (story->str, "work inner c ");
  ck_assert_int_eq (int_of (task), 7);
  g_object_unref (inner);
}

TEST (a_new_task_may_be_returned)
{
  static CoreTestGate freed = CORE_TEST_GATE_INIT;
  IrisTask *task = iris_task_new (return_new_task, &freed, NULL);
  g_autoptr (GError) error = NULL;

  iris_task_run (task);
  ck_assert (!iris_task_wait (task, -1, &error));
  ck_assert (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_BUSY));
  g_object_unref (task);
  core_test_gate_wait (&freed, 1);
}

TEST (cancelling_a_task_cancels_the_one_that_it_returned)
{
  IrisTask *inner = task_new (tell, "never");
  g_autoptr (IrisTask)
      outer = iris_task_new_full (return_task, inner, NULL, FALSE, NULL, scheduler, NULL);

  iris_task_run (outer);
  ck_assert (step_scheduler_step (scheduler));
  iris_task_cancel (outer);
  ck_assert (iris_task_is_cancelled (outer) && iris_task_is_cancelled (inner));
  step_scheduler_run (scheduler);
  ck_assert_str_eq (story->str, "");
  g_object_unref (inner);
}

static void
return_self (IrisTask *task, gpointer data)
{
  IRIS_TASK_RETURN_TASK (task, task);
}

TEST (a_task_that_returns_itself_fails)
{
  g_autoptr (IrisTask) task = task_new (return_self, NULL);
  g_autoptr (GError) error = NULL;

  iris_task_run (task);
  step_scheduler_run (scheduler);
  ck_assert (iris_task_get_fatal_error (task, &error));
  ck_assert (g_error_matches (error, IRIS_TASK_ERROR, IRIS_TASK_ERROR_CYCLE));
}

/* --- cancelled
 * ------------------------------------------------------------------------------------ */

static void
notice_cancel (IrisTask *task, gpointer data)
{
  iris_task_cancel (task);
  ck_assert (iris_task_is_cancelled (task));
  ck_assert_uint_eq (iris_task_get_state (task), IRIS_TASK_STATE_RUNNING);
}

TEST (a_running_task_learns_that_it_was_cancelled_and_ends_when_it_likes)
{
  g_autoptr (IrisTask) task = task_new (notice_cancel, NULL);

  iris_task_add_both (task, tell, tell, "never", count_notified);
  iris_task_run (task);
  step_scheduler_run (scheduler);
  ck_assert (iris_task_is_cancelled (task) && !iris_task_is_finished (task));
  ck_assert_str_eq (story->str, "");
  ck_assert_uint_eq (n_notified, 1);
}

TEST (a_cancelled_task_that_is_run_is_freed_and_does_nothing)
{
  IrisTask *task = task_new (tell, "never");

  iris_task_cancel (task);
  iris_task_run (task);
  ck_assert_uint_eq (n_notified, 0);
  g_object_unref (task);
  ck_assert_uint_eq (n_notified, 1);
  ck_assert_uint_eq (step_scheduler_get_length (scheduler), 0);
}

/* Who makes a task owns a reference, and running does not take it. */
TEST (a_task_keeps_itself_until_it_is_over)
{
  {
    g_autoptr (IrisTask) task = task_new (tell, "w");

    ck_assert (!g_object_is_floating (task));
    iris_task_run (task);
  }
  ck_assert_uint_eq (n_notified, 0);
  step_scheduler_run (scheduler);
  ck_assert_uint_eq (n_notified, 1);
}

TEST_MAIN ("task", setup, teardown)
