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
START_TEST (those_who_await_are_called_in_their_context_and_the_task_is_freed_there)
{
  for (guint i = 0; i < N_TASKS; i++)
    {
      IrisTask *task = iris_task_new (return_seven, g_thread_self (), count_freed);

      iris_task_await (task, NULL, awaited, NULL);
      iris_task_run (task);
    }
  while (n_called < N_TASKS)
    g_main_context_iteration (context, TRUE);
  ck_assert_uint_eq (n_freed, N_TASKS);
}
END_TEST

START_TEST (a_task_that_is_over_is_awaited_all_the_same_but_not_at_once)
{
  g_autoptr (IrisTask) task = g_object_ref_sink (iris_task_new (return_seven, NULL, NULL));

  iris_task_run (task);
  ck_assert (iris_task_wait (task, -1, NULL));
  iris_task_await (task, context, awaited, NULL);
  ck_assert_uint_eq (n_called, 0);
  g_main_context_iteration (context, FALSE);
  ck_assert_uint_eq (n_called, 1);
}
END_TEST

static void
awaited_inside (GObject *source, GAsyncResult *result, gpointer data)
{
  n_called++;
  if (data != NULL)
    while (n_called < 3)
      g_main_context_iteration (context, TRUE);
}

START_TEST (a_callback_may_iterate_its_context)
{
  for (guint i = 0; i < 3; i++)
    {
      IrisTask *task = iris_task_new (return_seven, NULL, NULL);

      iris_task_await (task, NULL, awaited_inside, i == 0 ? context : NULL);
      iris_task_run (task);
    }
  while (n_called < 3)
    g_main_context_iteration (context, TRUE);
}
END_TEST

static void
count_one (gpointer gate)
{
  core_test_gate_add (gate, 1);
}

START_TEST (a_context_that_goes_takes_what_was_delivered_with_it)
{
  static CoreTestGate gate = CORE_TEST_GATE_INIT;
  g_autoptr (GMainContext) other = g_main_context_new ();
  IrisTask *task = g_object_ref_sink (iris_task_new (return_seven, &gate, count_one));

  iris_task_await (task, other, awaited, NULL);
  iris_task_run (task);
  ck_assert (iris_task_wait (task, -1, NULL));
  g_object_unref (task);
  g_clear_pointer (&other, g_main_context_unref);
  core_test_gate_wait (&gate, 1);
  ck_assert_uint_eq (n_called, 0);
}
END_TEST

START_TEST (a_thread_may_wait)
{
  g_autoptr (IrisTask) bad = g_object_ref_sink (iris_task_new (throw, NULL, NULL));
  g_autoptr (IrisTask) idle = g_object_ref_sink (iris_task_new (throw, NULL, NULL));
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
END_TEST

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

START_TEST (a_function_is_called_at_every_kind_of_end)
{
  static CoreTestGate gate = CORE_TEST_GATE_INIT;
  IrisTask *good = iris_task_new (return_seven, NULL, NULL);
  IrisTask *bad = iris_task_new (throw, NULL, NULL);
  IrisTask *gone = iris_task_new (throw, NULL, NULL);
  IrisTask *dropped = iris_task_new (throw, NULL, NULL);

  iris_task_when_over (good, count_over, &gate, count_gone);
  iris_task_when_over (bad, count_over, &gate, count_gone);
  iris_task_when_over (gone, count_over, &gate, count_gone);
  iris_task_when_over (dropped, count_over, &gate, count_gone);
  iris_task_run (good);
  iris_task_run (bad);
  iris_task_cancel (gone);
  iris_task_run (gone);
  g_object_ref_sink (dropped);
  g_object_unref (dropped);
  core_test_gate_wait (&gate, 403);
}
END_TEST

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

START_TEST (a_task_is_a_gasyncresult)
{
  g_autoptr (GObject) source = g_object_new (G_TYPE_OBJECT, NULL);
  IrisTask *task = iris_task_new (return_seven, NULL, NULL);

  iris_task_set_source (task, source, &tag);
  iris_task_run_with_async_result (task, answered, source);
  while (n_called == 0)
    g_main_context_iteration (context, TRUE);
}
END_TEST

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
  IrisTask *task = iris_task_new_for_gio (NULL, begin, end, GINT_TO_POINTER (what), NULL);

  return g_object_ref_sink (task);
}

static void
iterate_until_over (IrisTask *task)
{
  while (!iris_task_state_is_over (iris_task_get_state (task)))
    g_main_context_iteration (context, TRUE);
}

START_TEST (functions_of_gio_become_tasks)
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
END_TEST

START_TEST (cancelling_the_task_cancels_the_function)
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
END_TEST

START_TEST (cancelling_the_cancellable_cancels_the_task)
{
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (IrisTask) early = g_object_ref_sink (iris_task_new (throw, NULL, NULL));
  g_autoptr (IrisTask) late = g_object_ref_sink (iris_task_new (throw, NULL, NULL));
  IrisTask *freed = g_object_ref_sink (iris_task_new (throw, NULL, NULL));

  iris_task_set_cancellable (early, cancellable);
  iris_task_set_cancellable (freed, cancellable);
  g_object_unref (freed);
  g_cancellable_cancel (cancellable);
  ck_assert (iris_task_is_cancelled (early));
  iris_task_set_cancellable (late, cancellable);
  ck_assert (iris_task_is_cancelled (late));
}
END_TEST

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

START_TEST (a_gtask_returns_what_a_task_ends_with)
{
  static const int errors[] = { 0, G_IO_ERROR_BUSY, G_IO_ERROR_CANCELLED };

  for (guint i = 0; i < G_N_ELEMENTS (errors); i++)
    {
      g_autoptr (GCancellable) cancellable = g_cancellable_new ();
      g_autoptr (GTask)
          gtask = g_task_new (NULL, cancellable, gtask_answered, GINT_TO_POINTER (errors[i]));
      IrisTask *task = iris_task_new (i == 0 ? return_seven : throw, NULL, NULL);

      iris_task_return_to_gtask (task, gtask);
      if (errors[i] == G_IO_ERROR_CANCELLED)
        g_cancellable_cancel (cancellable);
      iris_task_run (task);
    }
  while (n_called < G_N_ELEMENTS (errors))
    g_main_context_iteration (context, TRUE);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("task-await");
  TCase *tcase = tcase_create ("task-await");

  tcase_set_timeout (tcase, 0);
  tcase_add_checked_fixture (tcase, setup, teardown);
  tcase_add_test (tcase, those_who_await_are_called_in_their_context_and_the_task_is_freed_there);
  tcase_add_test (tcase, a_task_that_is_over_is_awaited_all_the_same_but_not_at_once);
  tcase_add_test (tcase, a_callback_may_iterate_its_context);
  tcase_add_test (tcase, a_context_that_goes_takes_what_was_delivered_with_it);
  tcase_add_test (tcase, a_thread_may_wait);
  tcase_add_test (tcase, a_function_is_called_at_every_kind_of_end);
  tcase_add_test (tcase, a_task_is_a_gasyncresult);
  tcase_add_test (tcase, functions_of_gio_become_tasks);
  tcase_add_test (tcase, cancelling_the_task_cancels_the_function);
  tcase_add_test (tcase, cancelling_the_cancellable_cancels_the_task);
  tcase_add_test (tcase, a_gtask_returns_what_a_task_ends_with);
  suite_add_tcase (suite, tcase);

  return core_test_run (suite);
}
