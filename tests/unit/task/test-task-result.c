/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a task ended with: its result by type, no result, its error, and all that in the manner of
 * GIO.
 */
#include "core-test-util.h"

static guint n_called;

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
return_value (IrisTask *task, gpointer value)
{
  iris_task_set_result (task, value);
}

/* A task that is over with a result, which is taken; or with none. */
static IrisTask *
task_with (GValue *value)
{
  IrisTask *task = iris_task_new (value != NULL ? return_value : NULL, value, NULL);

  iris_task_run (task);
  ck_assert (iris_task_wait (task, -1, NULL));
  if (value != NULL)
    g_value_unset (value);

  return task;
}

static void
check_refused (GError **error)
{
  ck_assert (g_error_matches (*error, IRIS_TASK_ERROR, IRIS_TASK_ERROR_RESULT));
  g_clear_error (error);
}

TEST (a_result_can_be_had_by_its_type)
{
  GValue value = G_VALUE_INIT;
  g_autoptr (GError) error = NULL;
  g_autoptr (IrisTask) number = NULL, text = NULL, truth = NULL, object = NULL, variant = NULL;
  g_autoptr (IrisTask) got = NULL;
  g_autoptr (GVariant) got_variant = NULL;
  g_autofree char *got_text = NULL;

  g_value_init (&value, G_TYPE_UINT);
  g_value_set_uint (&value, G_MAXUINT);
  number = task_with (&value);
  ck_assert_int_eq (iris_task_propagate_int64 (number, &error), G_MAXUINT);
  ck_assert (iris_task_propagate_double (number, &error) == G_MAXUINT);
  ck_assert_ptr_null (error);
  ck_assert_ptr_null (iris_task_propagate_string (number, &error));
  check_refused (&error);
  ck_assert (!iris_task_propagate_boolean (number, &error));
  check_refused (&error);

  g_value_init (&value, G_TYPE_STRING);
  g_value_set_static_string (&value, "7");
  text = task_with (&value);
  got_text = iris_task_propagate_string (text, &error);
  ck_assert_str_eq (got_text, "7");
  ck_assert_int_eq (iris_task_propagate_int64 (text, &error), 0);
  check_refused (&error);

  g_value_init (&value, G_TYPE_BOOLEAN);
  g_value_set_boolean (&value, TRUE);
  truth = task_with (&value);
  ck_assert (iris_task_propagate_boolean (truth, &error));

  g_value_init (&value, IRIS_TYPE_TASK);
  g_value_set_object (&value, text);
  object = task_with (&value);
  got = iris_task_propagate_object (object, &error);
  ck_assert_ptr_eq (got, text);
  ck_assert_ptr_null (iris_task_propagate_variant (object, &error));
  check_refused (&error);

  g_value_init (&value, G_TYPE_VARIANT);
  g_value_set_variant (&value, g_variant_new_int32 (7));
  variant = task_with (&value);
  got_variant = iris_task_propagate_variant (variant, &error);
  ck_assert_int_eq (g_variant_get_int32 (got_variant), 7);
  ck_assert_ptr_null (error);
}

TEST (a_number_that_does_not_fit_is_refused)
{
  GValue value = G_VALUE_INIT;
  g_autoptr (GError) error = NULL;
  g_autoptr (IrisTask) large = NULL, real = NULL;

  g_value_init (&value, G_TYPE_UINT64);
  g_value_set_uint64 (&value, (guint64) G_MAXINT64 + 1);
  large = task_with (&value);
  ck_assert_int_eq (iris_task_propagate_int64 (large, &error), 0);
  check_refused (&error);

  g_value_init (&value, G_TYPE_FLOAT);
  g_value_set_float (&value, 1.5F);
  real = task_with (&value);
  ck_assert (iris_task_propagate_double (real, &error) == 1.5);
  ck_assert_ptr_null (error);
  ck_assert_int_eq (iris_task_propagate_int64 (real, &error), 0);
  check_refused (&error);
}

TEST (a_task_without_a_result_ends_well_all_the_same)
{
  g_autoptr (IrisTask) task = task_with (NULL);
  g_auto (GValue) none = G_VALUE_INIT, null = G_VALUE_INIT, also_null = G_VALUE_INIT;
  g_autoptr (GError) error = NULL;

  ck_assert (iris_task_propagate (task, &none, &error));
  ck_assert (!G_IS_VALUE (&none));
  ck_assert (iris_task_propagate_or_null (task, &null, &error));
  ck_assert (G_VALUE_HOLDS_OBJECT (&null) && g_value_get_object (&null) == NULL);
  iris_task_get_result_or_null (task, &also_null);
  ck_assert (G_VALUE_HOLDS_OBJECT (&also_null));
  ck_assert_ptr_null (error);
  ck_assert_int_eq (iris_task_propagate_int64 (task, &error), 0);
  check_refused (&error);
}

TEST (the_error_of_a_task_comes_before_the_type_of_its_result)
{
  g_autoptr (IrisTask) bad = iris_task_new (throw, NULL, NULL);
  g_autoptr (GError) error = NULL, copy = NULL;

  iris_task_run (bad);
  ck_assert (!iris_task_wait (bad, -1, NULL));
  copy = iris_task_dup_fatal_error (bad);
  ck_assert_int_eq (iris_task_propagate_int64 (bad, &error), 0);
  ck_assert (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_BUSY));
  ck_assert (g_error_matches (copy, G_IO_ERROR, G_IO_ERROR_BUSY));
}

static void
finished (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GObject) from_result = g_async_result_get_source_object (result);

  /* No source was set, so the task is its own, as bindings want it. */
  ck_assert_ptr_eq (source, result);
  ck_assert_ptr_eq (from_result, result);
  if (iris_task_run_finish (IRIS_TASK (source), result, &error))
    ck_assert_ptr_null (data);
  else
    ck_assert (g_error_matches (error, G_IO_ERROR, GPOINTER_TO_INT (data)));
  n_called++;
}

TEST (a_task_runs_in_the_manner_of_gio)
{
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (IrisTask) good = iris_task_new (return_seven, NULL, NULL);
  g_autoptr (IrisTask) bad = iris_task_new (throw, NULL, NULL);
  g_autoptr (IrisTask) cancelled = iris_task_new (return_seven, NULL, NULL);

  g_cancellable_cancel (cancellable);
  iris_task_run_async (good, NULL, finished, NULL);
  iris_task_run_async (bad, NULL, finished, GINT_TO_POINTER (G_IO_ERROR_BUSY));
  iris_task_run_async (cancelled, cancellable, finished, GINT_TO_POINTER (G_IO_ERROR_CANCELLED));
  while (n_called < 3)
    g_main_context_iteration (NULL, TRUE);
}

TEST_MAIN ("task-result", NULL, NULL)
