/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a task that is over ended with: a result of any type, or of the one that is asked for.
 */
#include "iris/task/iris-task-private.h"

/**
 * iris_task_propagate: (skip)
 * @self: a task that is over
 * @value: (out caller-allocates) (optional): where to put a copy of the result
 *
 * Says how the task ended. One that was cancelled gives %G_IO_ERROR_CANCELLED. May be called
 * several times.
 *
 * Returns: whether it ended well
 */
gboolean
iris_task_propagate (IrisTask *self, GValue *value, GError **error)
{
  IrisTaskPrivate *priv;
  IrisTaskState state;

  g_return_val_if_fail (IRIS_IS_TASK (self), FALSE);

  priv = iris_task_get_private (self);
  state = iris_task_state (priv);
  g_return_val_if_fail (iris_task_state_is_over (state), FALSE);

  if (state == IRIS_TASK_STATE_FINISHED)
    {
      if (value != NULL)
        {
          *value = (GValue) G_VALUE_INIT;
          iris_task_get_result (self, value);
        }
      return TRUE;
    }
  if (state == IRIS_TASK_STATE_CANCELLED)
    g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_CANCELLED, "The task was cancelled");
  else
    iris_task_get_fatal_error (self, error);

  return FALSE;
}

void
iris_task_fill_empty (GValue *value)
{
  if (G_VALUE_TYPE (value) == G_TYPE_INVALID)
    g_value_init (value, G_TYPE_OBJECT);
}

/**
 * iris_task_propagate_or_null: (rename-to iris_task_propagate)
 * @self: a task that is over
 * @value: (out caller-allocates): where to put a copy of the result
 *
 * As iris_task_propagate(), but if there is no result, @value becomes an object that is %NULL. For
 * languages that have no value without a type.
 *
 * Returns: whether it ended well
 */
gboolean
iris_task_propagate_or_null (IrisTask *self, GValue *value, GError **error)
{
  gboolean good;

  g_return_val_if_fail (value != NULL, FALSE);

  good = iris_task_propagate (self, value, error);
  iris_task_fill_empty (value);

  return good;
}

/* --- results of a known type -------------------------------------------------------------------
 */

static bool
is_integer (GType type)
{
  switch (G_TYPE_FUNDAMENTAL (type))
    {
    case G_TYPE_CHAR:
    case G_TYPE_UCHAR:
    case G_TYPE_INT:
    case G_TYPE_UINT:
    case G_TYPE_LONG:
    case G_TYPE_ULONG:
    case G_TYPE_INT64:
    case G_TYPE_UINT64:
      return true;
    default:
      return false;
    }
}

/* Without loss: a number may be smaller than what holds it, and text is not a number. */
static bool
result_fits (const GValue *result, GType wanted)
{
  GType type = G_VALUE_TYPE (result);

  if (type == G_TYPE_INVALID)
    return false;
  if (wanted == G_TYPE_INT64 && G_VALUE_HOLDS_UINT64 (result))
    return g_value_get_uint64 (result) <= G_MAXINT64;
  if (wanted == G_TYPE_INT64 && G_VALUE_HOLDS_ULONG (result))
    return g_value_get_ulong (result) <= G_MAXINT64;
  if (wanted == G_TYPE_INT64)
    return is_integer (type);
  if (wanted == G_TYPE_DOUBLE)
    return is_integer (type) || g_type_is_a (type, G_TYPE_DOUBLE)
           || g_type_is_a (type, G_TYPE_FLOAT);

  return g_type_is_a (type, wanted);
}

/* A result of the wanted type goes into @value, which gets that type; else there is an error. */
static gboolean
propagate_as (IrisTask *self, GType wanted, GValue *value, GError **error)
{
  g_auto (GValue) result = G_VALUE_INIT;

  if (!iris_task_propagate (self, &result, error))
    return FALSE;
  if (result_fits (&result, wanted))
    {
      g_value_init (value, wanted);
      return g_value_transform (&result, value);
    }
  if (G_VALUE_TYPE (&result) == G_TYPE_INVALID)
    g_set_error (error, IRIS_TASK_ERROR, IRIS_TASK_ERROR_RESULT,
                 "no %s can be had of the task: it ended well without a result; set one with "
                 "iris_task_set_result()",
                 g_type_name (wanted));
  else
    g_set_error (error, IRIS_TASK_ERROR, IRIS_TASK_ERROR_RESULT,
                 "no %s can be had of the task: its result is a %s; ask for that, or use "
                 "iris_task_propagate()",
                 g_type_name (wanted), G_VALUE_TYPE_NAME (&result));

  return FALSE;
}

/**
 * iris_task_propagate_boolean:
 * @self: a task that is over
 *
 * As iris_task_propagate(), for a result that is a boolean; with another, or none, it fails with
 * %IRIS_TASK_ERROR_RESULT.
 *
 * Returns: the result, or %FALSE with @error set
 */
gboolean
iris_task_propagate_boolean (IrisTask *self, GError **error)
{
  g_auto (GValue) value = G_VALUE_INIT;

  return propagate_as (self, G_TYPE_BOOLEAN, &value, error) && g_value_get_boolean (&value);
}

/**
 * iris_task_propagate_int64:
 * @self: a task that is over
 *
 * As iris_task_propagate(), for a result that is an integer of any size; with another, or none, it
 * fails with %IRIS_TASK_ERROR_RESULT.
 *
 * Returns: the result, or 0 with @error set
 */
gint64
iris_task_propagate_int64 (IrisTask *self, GError **error)
{
  g_auto (GValue) value = G_VALUE_INIT;

  return propagate_as (self, G_TYPE_INT64, &value, error) ? g_value_get_int64 (&value) : 0;
}

/**
 * iris_task_propagate_double:
 * @self: a task that is over
 *
 * As iris_task_propagate(), for a result that is a number; with another, or none, it fails with
 * %IRIS_TASK_ERROR_RESULT.
 *
 * Returns: the result, or 0 with @error set
 */
gdouble
iris_task_propagate_double (IrisTask *self, GError **error)
{
  g_auto (GValue) value = G_VALUE_INIT;

  return propagate_as (self, G_TYPE_DOUBLE, &value, error) ? g_value_get_double (&value) : 0;
}

/**
 * iris_task_propagate_string:
 * @self: a task that is over
 *
 * As iris_task_propagate(), for a result that is a string; with another, or none, it fails with
 * %IRIS_TASK_ERROR_RESULT.
 *
 * Returns: (transfer full) (nullable): a copy of the result, or %NULL with @error set
 */
char *
iris_task_propagate_string (IrisTask *self, GError **error)
{
  g_auto (GValue) value = G_VALUE_INIT;

  return propagate_as (self, G_TYPE_STRING, &value, error) ? g_value_dup_string (&value) : NULL;
}

/**
 * iris_task_propagate_object:
 * @self: a task that is over
 *
 * As iris_task_propagate(), for a result that is an object; with another, or none, it fails with
 * %IRIS_TASK_ERROR_RESULT.
 *
 * Returns: (transfer full) (nullable) (type GObject): the result, or %NULL with @error set
 */
gpointer
iris_task_propagate_object (IrisTask *self, GError **error)
{
  g_auto (GValue) value = G_VALUE_INIT;

  return propagate_as (self, G_TYPE_OBJECT, &value, error) ? g_value_dup_object (&value) : NULL;
}

/**
 * iris_task_propagate_variant:
 * @self: a task that is over
 *
 * As iris_task_propagate(), for a result that is a variant; with another, or none, it fails with
 * %IRIS_TASK_ERROR_RESULT.
 *
 * Returns: (transfer full) (nullable): the result, or %NULL with @error set
 */
GVariant *
iris_task_propagate_variant (IrisTask *self, GError **error)
{
  g_auto (GValue) value = G_VALUE_INIT;

  return propagate_as (self, G_TYPE_VARIANT, &value, error) ? g_value_dup_variant (&value) : NULL;
}
