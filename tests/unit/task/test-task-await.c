/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Tasks and GLib: main contexts, GAsyncResult, GTask and GCancellable, in both directions.
 */
#include "core-test-util.h"
#include "step-scheduler.h"

#define N_TASKS 1000

static GMainContext *context;
static guint n_called;
static guint n_freed;

static void
setup (void)
{
  context = g_main_context_new ();
  g_main_context_push_thread_default (context);
  n_called = n_freed = 0;
}

static void
teardown (void)
{
  g_main_context_pop_thread_default (context);
  g_clear_pointer (&context, g_main_context_unref);
}

static void
return_seven (IrisTask *task, gpointer data)
{
  IRIS_TASK_RETURN_VALUE (task, G_TYPE_INT, 7);
}

static void throw (IrisTask * task, gpointer data)
{
  IRIS_TASK_THROW_NEW (task, G_IO_ERROR, G_IO_ERROR_BUSY, "busy");
}

static void
count_freed (gpointer data)
{
  ck_assert_ptr_eq (data, g_thread_self ());
  n_freed++;
}

static void
awaited (GObject *source, GAsyncResult *result, gpointer data)
{
  g_auto (GValue) value = G_VALUE_INIT;
  g_autoptr (GError) error = NULL;

  ck_assert (g_main_context_is_owner (context));
  ck_assert (iris_task_propagate (IRIS_TASK (result), &value, &error));
  ck_assert_int_eq (g_value_get_int (&value), 7);
  n_called++;
}

/* What GTask users complain about: data that is freed on the worker. */
TEST (callbacks_and_the_free_run_in_the_context_that_awaits)
{
  for (guint i = 0; i < N_TASKS; i++)
    {
      g_autoptr (IrisTask) task = iris_task_new (return_seven, g_thread_self (), count_freed);

      iris_task_await (task, NULL, awaited, NULL);
      iris_task_run (task);
    }
  while (n_called < N_TASKS)
    g_main_context_iteration (context, TRUE);
  ck_assert_uint_eq (n_freed, N_TASKS);
}

TEST (a_task_that_is_over_is_awaited_all_the_same_but_not_at_once)
{
  g_autoptr (IrisTask) task = iris_task_new (return_seven, NULL, NULL);

  iris_task_run (task);
  ck_assert (iris_task_wait (task, -1, NULL));
  iris_task_await (task, context, awaited, NULL);
  ck_assert_uint_eq (n_called, 0);
  g_main_context_iteration (context, FALSE);
  ck_assert_uint_eq (n_called, 1);
}

static void
awaited_inside (GObject *source, GAsyncResult *result, gpointer data)
{
  n_called++;
  if (data != NULL)
    while (n_called < 3)
      g_main_context_iteration (context, TRUE);
}

TEST (a_callback_may_iterate_its_context)
{
  for (guint i = 0; i < 3; i++)
    {
      g_autoptr (IrisTask) task = iris_task_new (return_seven, NULL, NULL);

      iris_task_await (task, NULL, awaited_inside, i == 0 ? context : NULL);
      iris_task_run (task);
    }
  while (n_called < 3)
    g_main_context_iteration (context, TRUE);
}

static void
count_one (gpointer gate)
{
  core_test_gate_add (gate, 1);
}

TEST (a_context_that_goes_takes_what_was_delivered_with_it)
{
  static CoreTestGate gate = CORE_TEST_GATE_INIT;
  g_autoptr (GMainContext) other = g_main_context_new ();
  IrisTask *task = iris_task_new (return_seven, &gate, count_one);

  iris_task_await (task, other, awaited, NULL);
  iris_task_run (task);
  ck_assert (iris_task_wait (task, -1, NULL));
  g_object_unref (task);
  g_clear_pointer (&other, g_main_context_unref);
  core_test_gate_wait (&gate, 1);
  ck_assert_uint_eq (n_called, 0);
}

TEST (a_thread_may_wait)
{
  g_autoptr (IrisTask) bad = iris_task_new (throw, NULL, NULL);
  g_autoptr (IrisTask) idle = iris_task_new (throw, NULL, NULL);
  g_autoptr (GError) error = NULL, timed_out = NULL, cancelled = NULL;

  iris_task_run (bad);
  ck_assert (!iris_task_wait (bad, -1, &error));
  ck_assert (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_BUSY));
  ck_assert (!iris_task_wait (idle, 0, &timed_out));
  ck_assert (g_error_matches (timed_out, G_IO_ERROR, G_IO_ERROR_TIMED_OUT));
  iris_task_cancel (idle);
  ck_assert (!iris_task_wait (idle, -1, &cancelled));
  ck_assert (g_error_matches (cancelled, G_IO_ERROR, G_IO_ERROR_CANCELLED));
}

static void
count_over (IrisTask *task, gpointer gate)
{
  ck_assert (iris_task_state_is_over (iris_task_get_state (task)));
  core_test_gate_add (gate, 1);
}

static void
count_gone (gpointer gate)
{
  core_test_gate_add (gate, 100);
}

TEST (a_function_is_called_at_every_kind_of_end)
{
  static CoreTestGate gate = CORE_TEST_GATE_INIT;
  g_autoptr (IrisTask) good = iris_task_new (return_seven, NULL, NULL);
  g_autoptr (IrisTask) bad = iris_task_new (throw, NULL, NULL);
  g_autoptr (IrisTask) gone = iris_task_new (throw, NULL, NULL);
  IrisTask *dropped = iris_task_new (throw, NULL, NULL);

  iris_task_when_over (good, count_over, &gate, count_gone);
  iris_task_when_over (bad, count_over, &gate, count_gone);
  iris_task_when_over (gone, count_over, &gate, count_gone);
  iris_task_when_over (dropped, count_over, &gate, count_gone);
  iris_task_run (good);
  iris_task_run (bad);
  iris_task_cancel (gone);
  iris_task_run (gone);
  g_object_unref (dropped);
  core_test_gate_wait (&gate, 403);
}

static char tag;

static void
answered (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (GObject) from_result = g_async_result_get_source_object (result);

  ck_assert_ptr_eq (source, data);
  ck_assert_ptr_eq (from_result, data);
  ck_assert_ptr_eq (g_async_result_get_user_data (result), data);
  ck_assert (g_async_result_is_tagged (result, &tag));
  n_called++;
}

TEST (a_task_is_a_gasyncresult)
{
  g_autoptr (GObject) source = g_object_new (G_TYPE_OBJECT, NULL);
  g_autoptr (IrisTask) task = iris_task_new (return_seven, NULL, NULL);

  iris_task_set_source (task, source, &tag);
  iris_task_run_with_async_result (task, answered, source);
  while (n_called == 0)
    g_main_context_iteration (context, TRUE);
}

/* --- functions in the manner of GIO ------------------------------------------------------------
 */

static GTask *pending; /* of a function that waits to be cancelled */

static void
gtask_cancelled (GCancellable *cancellable, gpointer data)
{
  g_task_return_error_if_cancelled (pending);
}

static void
begin (IrisTask *task,
       GCancellable *cancellable,
       GAsyncReadyCallback callback,
       gpointer callback_data,
       gpointer user_data)
{
  GTask *gtask = g_task_new (NULL, cancellable, callback, callback_data);

  switch (GPOINTER_TO_INT (user_data))
    {
    case 0:
      g_task_return_int (gtask, 7);
      break;
    case 1:
      g_task_return_new_error (gtask, G_IO_ERROR, G_IO_ERROR_BUSY, "busy");
      break;
    default:
      pending = g_object_ref (gtask);
      g_cancellable_connect (cancellable, G_CALLBACK (gtask_cancelled), NULL, NULL);
    }
  g_object_unref (gtask);
}

static gboolean
end (IrisTask *task, GObject *source, GAsyncResult *result, gpointer user_data, GError **error)
{
  GError *inner = NULL;
  gssize number = g_task_propagate_int (G_TASK (result), &inner);

  if (inner == NULL)
    IRIS_TASK_RETURN_VALUE (task, G_TYPE_INT, (int) number);
  else
    g_propagate_error (error, inner);

  return inner == NULL;
}

static IrisTask *
gio_task (int what)
{
  return iris_task_new_for_gio (NULL, begin, end, GINT_TO_POINTER (what), NULL);
}

static void
iterate_until_over (IrisTask *task)
{
  while (!iris_task_state_is_over (iris_task_get_state (task)))
    g_main_context_iteration (context, TRUE);
}

TEST (functions_of_gio_become_tasks)
{
  g_autoptr (IrisTask) good = gio_task (0);
  g_autoptr (IrisTask) bad = gio_task (1);
  g_autoptr (GError) error = NULL;

  iris_task_await (good, NULL, awaited, NULL);
  iris_task_run (good);
  iris_task_run (bad);
  iterate_until_over (bad);
  while (n_called == 0)
    g_main_context_iteration (context, TRUE);
  ck_assert (!iris_task_propagate (bad, NULL, &error));
  ck_assert (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_BUSY));
}

TEST (cancelling_the_task_cancels_the_function)
{
  g_autoptr (IrisTask) task = gio_task (2);

  iris_task_run (task);
  while (pending == NULL)
    g_main_context_iteration (context, TRUE);
  iris_task_cancel (task);
  iterate_until_over (task);
  ck_assert (iris_task_is_cancelled (task));
  g_clear_object (&pending);
}

TEST (cancelling_the_cancellable_cancels_the_task)
{
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (IrisTask) early = iris_task_new (throw, NULL, NULL);
  g_autoptr (IrisTask) late = iris_task_new (throw, NULL, NULL);
  IrisTask *freed = iris_task_new (throw, NULL, NULL);

  iris_task_set_cancellable (early, cancellable);
  iris_task_set_cancellable (freed, cancellable);
  g_object_unref (freed);
  g_cancellable_cancel (cancellable);
  ck_assert (iris_task_is_cancelled (early));
  iris_task_set_cancellable (late, cancellable);
  ck_assert (iris_task_is_cancelled (late));
}

TEST (cancelling_one_of_two_tasks_that_share_a_cancellable_leaves_the_other)
{
  g_autoptr (GCancellable) shared = g_cancellable_new ();
  g_autoptr (IrisTask) cancelled = gio_task (2);
  g_autoptr (IrisTask) other = gio_task (0);

  iris_task_set_cancellable (cancelled, shared);
  iris_task_set_cancellable (other, shared);
  iris_task_run (cancelled);
  while (pending == NULL)
    g_main_context_iteration (context, TRUE);
  iris_task_cancel (cancelled);
  iterate_until_over (cancelled);
  g_clear_object (&pending);
  ck_assert (iris_task_is_cancelled (cancelled));
  ck_assert (!g_cancellable_is_cancelled (shared));
  iris_task_run (other);
  iterate_until_over (other);
  ck_assert (iris_task_has_succeeded (other));
}

/* The ways to cancel a task; whether its own cancellable was asked for before that, or after. */
TEST (the_own_cancellable_of_a_task_goes_with_it)
{
  for (guint i = 0; i < 6; i++)
    {
      g_autoptr (GCancellable) shared = g_cancellable_new (), own = NULL;
      g_autoptr (IrisTask) first = iris_task_new (throw, NULL, NULL);
      g_autoptr (IrisTask) task = iris_task_new (throw, NULL, NULL);

      iris_task_set_cancellable (task, shared);
      iris_task_add_dependency (task, first);
      iris_task_run (task);
      if (i % 2 == 0)
        own = iris_task_get_cancellable (task);
      if (i / 2 == 0)
        iris_task_cancel (task);
      else if (i / 2 == 1)
        g_cancellable_cancel (shared);
      else
        iris_task_cancel (first);
      if (own == NULL)
        own = iris_task_get_cancellable (task);
      ck_assert_ptr_ne (own, shared);
      ck_assert (g_cancellable_is_cancelled (own) && iris_task_is_cancelled (task));
      ck_assert (g_cancellable_is_cancelled (shared) == (i / 2 == 1));
    }
}

TEST (cancelling_the_own_cancellable_of_a_task_cancels_it)
{
  g_autoptr (IrisTask) task = iris_task_new (throw, NULL, NULL);
  g_autoptr (GCancellable) own = iris_task_get_cancellable (task);
  g_autoptr (GCancellable) again = iris_task_get_cancellable (task);

  ck_assert_ptr_eq (own, again);
  ck_assert (!g_cancellable_is_cancelled (own));
  g_cancellable_cancel (own);
  ck_assert (iris_task_is_cancelled (task));
  /* It may outlive the task. */
  g_clear_object (&task);
  g_clear_object (&again);
}

static void
cancel_the_shared_one (IrisTask *task, gpointer shared)
{
  g_autoptr (GCancellable) own = iris_task_get_cancellable (task);

  g_cancellable_cancel (shared);
  ck_assert (g_cancellable_is_cancelled (own));
  n_called++;
}

/* The task is cancelled no more then, but what the handler began with it is. */
TEST (a_handler_sees_that_the_cancellable_is_cancelled)
{
  g_autoptr (GCancellable) shared = g_cancellable_new ();
  g_autoptr (IrisTask) task = iris_task_new (return_seven, NULL, NULL);

  iris_task_set_main_context (task, NULL);
  iris_task_set_cancellable (task, shared);
  iris_task_add_callback (task, cancel_the_shared_one, shared, NULL);
  iris_task_run (task);
  iterate_until_over (task);
  ck_assert_uint_eq (n_called, 1);
  ck_assert (iris_task_has_succeeded (task));
}

/* --- where handlers run ------------------------------------------------------------------------
 */

typedef enum
{
  ON_A_WORKER,
  IN_THE_CONTEXT,
} Where;

static IrisWorker *expected; /* or NULL: any */

static void
note_worker (gpointer gate)
{
  expected = iris_worker_current ();
  core_test_gate_add (gate, 1);
}

/* The only worker of a scheduler. */
static void
expect_worker_of (IrisScheduler *scheduler)
{
  static CoreTestGate gate = CORE_TEST_GATE_INIT;

  core_test_gate_close (&gate);
  iris_scheduler_queue (scheduler, note_worker, &gate, NULL);
  core_test_gate_wait (&gate, 1);
}

static void
count_and_check_where (IrisTask *task, gpointer where)
{
  if (GPOINTER_TO_INT (where) == IN_THE_CONTEXT)
    ck_assert (g_main_context_is_owner (context) && iris_worker_current () == NULL);
  else
    {
      ck_assert_ptr_nonnull (iris_worker_current ());
      ck_assert (expected == NULL || iris_worker_current () == expected);
    }
  g_atomic_int_inc (&n_called);
}

/* Runs a task with a handler for each outcome, and adds one when it is over. */
static void
run_and_check_where (IrisTask *task, Where where)
{
  gpointer data = GINT_TO_POINTER (where);

  n_called = 0;
  iris_task_add_both (task, count_and_check_where, count_and_check_where, data, NULL);
  iris_task_run (task);
  while (!iris_task_state_is_over (iris_task_get_state (task)))
    g_main_context_iteration (context, where == IN_THE_CONTEXT);
  iris_task_add_both (task, count_and_check_where, count_and_check_where, data, NULL);
  while (g_atomic_int_get (&n_called) < 2)
    g_main_context_iteration (context, where == IN_THE_CONTEXT);
}

static IrisTask *
failed_dependency (void)
{
  IrisTask *task = iris_task_new (throw, NULL, NULL);

  iris_task_run (task);
  ck_assert (!iris_task_wait (task, -1, NULL));

  return task;
}

TEST (handlers_run_where_the_documentation_says)
{
  /* Without a dependency, and with one that has failed, so that no work ends in front of them. */
  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (IrisScheduler) control = iris_scheduler_new_full (1, 1);
      g_autoptr (IrisScheduler) work = iris_scheduler_new_full (1, 1);
      g_autoptr (IrisTask) bad = failed_dependency ();
      g_autoptr (IrisTask) plain = iris_task_new (return_seven, NULL, NULL);
      g_autoptr (IrisTask) here = iris_task_new (return_seven, NULL, NULL);
      g_autoptr (IrisTask)
          there = iris_task_new_full (return_seven, NULL, NULL, FALSE, NULL, work, NULL);
      g_autoptr (IrisTask)
          controlled = iris_task_new_full (return_seven, NULL, NULL, FALSE, control, work, NULL);
      g_autoptr (IrisTask)
          both = iris_task_new_full (return_seven, NULL, NULL, FALSE, control, work, context);
      g_autoptr (IrisTask) gio = gio_task (0);
      IrisTask *tasks[] = { plain, here, there, controlled, both, gio };

      for (guint j = 0; i == 1 && j < G_N_ELEMENTS (tasks); j++)
        iris_task_add_dependency (tasks[j], bad);
      expected = NULL;
      run_and_check_where (plain, ON_A_WORKER);
      iris_task_set_main_context (here, NULL);
      ck_assert_ptr_eq (iris_task_get_main_context (here), context);
      run_and_check_where (here, IN_THE_CONTEXT);
      expect_worker_of (work);
      run_and_check_where (there, ON_A_WORKER);
      expect_worker_of (control);
      run_and_check_where (controlled, ON_A_WORKER);
      run_and_check_where (both, IN_THE_CONTEXT);
      run_and_check_where (gio, IN_THE_CONTEXT);
    }
}

static void
gtask_answered (GObject *source, GAsyncResult *result, gpointer data)
{
  g_auto (GValue) value = G_VALUE_INIT;
  g_autoptr (GError) error = NULL;
  gboolean good = g_task_propagate_value (G_TASK (result), &value, &error);

  ck_assert (good == (data == NULL));
  if (good)
    ck_assert_int_eq (g_value_get_int (&value), 7);
  else
    ck_assert (g_error_matches (error, G_IO_ERROR, GPOINTER_TO_INT (data)));
  n_called++;
}

TEST (a_gtask_returns_what_a_task_ends_with)
{
  static const int errors[] = { 0, G_IO_ERROR_BUSY, G_IO_ERROR_CANCELLED };

  for (guint i = 0; i < G_N_ELEMENTS (errors); i++)
    {
      g_autoptr (GCancellable) cancellable = g_cancellable_new ();
      g_autoptr (GTask)
          gtask = g_task_new (NULL, cancellable, gtask_answered, GINT_TO_POINTER (errors[i]));
      g_autoptr (IrisTask) task = iris_task_new (i == 0 ? return_seven : throw, NULL, NULL);

      iris_task_return_to_gtask (task, gtask);
      if (errors[i] == G_IO_ERROR_CANCELLED)
        g_cancellable_cancel (cancellable);
      iris_task_run (task);
    }
  while (n_called < G_N_ELEMENTS (errors))
    g_main_context_iteration (context, TRUE);
}

TEST_MAIN ("task-await", setup, teardown)
