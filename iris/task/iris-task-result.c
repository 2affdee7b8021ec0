/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The result and the error of a task.
 */
#include "iris/task/iris-task-private.h"

#include <gobject/gvaluecollector.h>

/**
 * iris_task_error_quark:
 *
 * Returns: the domain of the errors of tasks, whose codes are those of [error@TaskError]
 */
/* The formatter would put spaces into the name. */
/* clang-format off */
G_DEFINE_QUARK (iris-task-error-quark, iris_task_error)
/* clang-format on */

/* Without a type of its own the codes would not be known to belong to the domain. */
G_DEFINE_ENUM_TYPE (IrisTaskError,
                    iris_task_error,
                    G_DEFINE_ENUM_VALUE (IRIS_TASK_ERROR_CYCLE, "cycle"),
                    G_DEFINE_ENUM_VALUE (IRIS_TASK_ERROR_LATE, "late"),
                    G_DEFINE_ENUM_VALUE (IRIS_TASK_ERROR_ABANDONED, "abandoned"),
                    G_DEFINE_ENUM_VALUE (IRIS_TASK_ERROR_RESULT, "result"))

void
iris_task_discard (GValue *value, GError *error)
{
  if (G_VALUE_TYPE (value) != G_TYPE_INVALID)
    g_value_unset (value);
  g_clear_error (&error);
}

/* Fills @to, whether or not it has a type already. */
static void
copy_value (const GValue *from, GValue *to)
{
  if (G_VALUE_TYPE (from) == G_TYPE_INVALID)
    return;
  if (G_VALUE_TYPE (to) == G_TYPE_INVALID)
    g_value_init (to, G_VALUE_TYPE (from));
  if (!g_value_transform (from, to))
    g_critical ("iris: a result of type %s does not fit into a value of type %s",
                G_VALUE_TYPE_NAME (from), G_VALUE_TYPE_NAME (to));
}

void
iris_task_copy_outcome (IrisTask *self, GValue *value, GError **error)
{
  IrisTaskPrivate *priv = iris_task_get_private (self);

  if (priv->error != NULL)
    *error = g_error_copy (priv->error);
  else
    copy_value (&priv->result, value);
}

static bool
may_change (IrisTaskPrivate *priv)
{
  if (!iris_task_is_over (priv))
    return true;
  g_critical ("iris: a task that is over keeps its outcome");

  return false;
}

/**
 * iris_task_get_fatal_error: (skip)
 * @error: (out) (optional) (nullable): where to put a copy of its error
 *
 * Returns: whether the task has an error
 */
gboolean
iris_task_get_fatal_error (IrisTask *self, GError **error)
{
  IrisTaskPrivate *priv;

  g_return_val_if_fail (IRIS_IS_TASK (self), FALSE);

  priv = iris_task_get_private (self);
  if (priv->error != NULL && error != NULL)
    *error = g_error_copy (priv->error);

  return priv->error != NULL;
}

/**
 * iris_task_dup_fatal_error: (rename-to iris_task_get_fatal_error)
 *
 * Gets the error of the task, if it has one. Languages that throw a #GError use this in place of
 * iris_task_get_fatal_error(), which they would take for a function that fails.
 *
 * Returns: (transfer full) (nullable): a copy of the error, or %NULL
 */
GError *
iris_task_dup_fatal_error (IrisTask *self)
{
  GError *error = NULL;

  iris_task_get_fatal_error (self, &error);

  return error;
}

/**
 * iris_task_set_fatal_error:
 * @self: a task, in its function or a handler of it
 * @error: (nullable): an error, which is copied, or %NULL for none
 *
 * Sets the error of the task, in place of the one that it had.
 */
void
iris_task_set_fatal_error (IrisTask *self, const GError *error)
{
  iris_task_take_fatal_error (self, error != NULL ? g_error_copy (error) : NULL);
}

/**
 * iris_task_take_fatal_error: (skip)
 * @self: a task, in its function or a handler of it
 * @error: (transfer full) (nullable): an error, or %NULL for none
 *
 * Sets the error of the task, in place of the one that it had.
 */
void
iris_task_take_fatal_error (IrisTask *self, GError *error)
{
  IrisTaskPrivate *priv;

  g_return_if_fail (IRIS_IS_TASK (self));

  priv = iris_task_get_private (self);
  if (may_change (priv))
    g_clear_error (&priv->error), priv->error = error;
  else
    g_clear_error (&error);
}

/**
 * iris_task_catch_fatal_error: (skip)
 * @self: a task, in an errback of it
 * @error: (out) (optional) (nullable): where to put its error
 *
 * Takes the error away from the task, so that the next handler is a callback.
 *
 * Returns: whether it had one
 */
gboolean
iris_task_catch_fatal_error (IrisTask *self, GError **error)
{
  IrisTaskPrivate *priv;
  GError *caught;

  g_return_val_if_fail (IRIS_IS_TASK (self), FALSE);

  priv = iris_task_get_private (self);
  if (!may_change (priv))
    return FALSE;
  caught = g_steal_pointer (&priv->error);
  if (caught == NULL)
    return FALSE;
  if (error != NULL)
    *error = caught;
  else
    g_error_free (caught);

  return TRUE;
}

/**
 * iris_task_steal_fatal_error: (rename-to iris_task_catch_fatal_error)
 * @self: a task, in an errback of it
 *
 * Takes the error away from the task, so that the next handler is a callback, and returns it. For
 * languages that throw a #GError, as iris_task_dup_fatal_error().
 *
 * Returns: (transfer full) (nullable): the error, or %NULL if it had none
 */
GError *
iris_task_steal_fatal_error (IrisTask *self)
{
  GError *error = NULL;

  iris_task_catch_fatal_error (self, &error);

  return error;
}

/**
 * iris_task_has_result:
 * @self: a task, in a handler of it or when it is over
 *
 * Tells whether a result was set.
 */
gboolean
iris_task_has_result (IrisTask *self)
{
  g_return_val_if_fail (IRIS_IS_TASK (self), FALSE);

  return G_VALUE_TYPE (&iris_task_get_private (self)->result) != G_TYPE_INVALID;
}

/**
 * iris_task_get_result: (skip)
 * @self: a task, in a handler of it or when it is over
 * @value: (out caller-allocates): a value of the type of the result, or one that is all zero, which
 *   gets that type
 *
 * Copies the result. A task without a result leaves @value as it is.
 */
void
iris_task_get_result (IrisTask *self, GValue *value)
{
  g_return_if_fail (IRIS_IS_TASK (self));
  g_return_if_fail (value != NULL);

  copy_value (&iris_task_get_private (self)->result, value);
}

/**
 * iris_task_get_result_or_null: (rename-to iris_task_get_result)
 * @self: a task, in a handler of it or when it is over
 * @value: (out caller-allocates): a value that is all zero
 *
 * Copies the result; if there is none, @value becomes an object that is %NULL. For languages that
 * have no value without a type.
 */
void
iris_task_get_result_or_null (IrisTask *self, GValue *value)
{
  g_return_if_fail (IRIS_IS_TASK (self));
  g_return_if_fail (value != NULL);

  iris_task_get_result (self, value);
  iris_task_fill_empty (value);
}

/**
 * iris_task_set_result:
 * @self: a task, in its function or a handler of it
 * @value: (nullable): the result, which is copied, or %NULL for none
 *
 * Sets the result of the task, in place of the one that it had.
 */
void
iris_task_set_result (IrisTask *self, const GValue *value)
{
  IrisTaskPrivate *priv;

  g_return_if_fail (IRIS_IS_TASK (self));
  g_return_if_fail (value == NULL || G_IS_VALUE (value));

  priv = iris_task_get_private (self);
  if (!may_change (priv))
    return;
  iris_task_discard (&priv->result, NULL);
  priv->result = (GValue) G_VALUE_INIT;
  if (value != NULL)
    copy_value (value, &priv->result);
}

/**
 * iris_task_set_result_gtype: (skip)
 * @self: a task, in its function or a handler of it
 * @type: the type of the result
 * @...: the result, as g_object_set() would take it
 *
 * Sets the result of the task, in place of the one that it had.
 */
void
iris_task_set_result_gtype (IrisTask *self, GType type, ...)
{
  IrisTaskPrivate *priv;
  g_autofree char *error = NULL;
  GValue value = G_VALUE_INIT;
  va_list args;

  g_return_if_fail (IRIS_IS_TASK (self));

  va_start (args, type);
  G_VALUE_COLLECT_INIT (&value, type, args, 0, &error);
  va_end (args);
  if (error != NULL)
    {
      /* As the collector demands: a value that failed to collect must not be unset. */
      g_critical ("iris: no value of type %s: %s", g_type_name (type), error);
      return;
    }
  priv = iris_task_get_private (self);
  if (may_change (priv))
    {
      iris_task_discard (&priv->result, NULL);
      priv->result = value;
    }
  else
    g_value_unset (&value);
}

/**
 * iris_task_return_task:
 * @self: a task, in its function or a handler of it
 * @other: a task; it is run if it was not
 *
 * Makes the outcome of @other that of @self: once the calling function has returned, @self waits
 * for @other, takes its result or error, and goes on with the next handler. If @other is cancelled
 * so is @self; if @other cannot end before @self, that is an error of @self.
 */
void
iris_task_return_task (IrisTask *self, IrisTask *other)
{
  IrisTaskPrivate *priv;
  IrisTask *former;

  g_return_if_fail (IRIS_IS_TASK (self));
  g_return_if_fail (IRIS_IS_TASK (other));

  priv = iris_task_get_private (self);
  g_return_if_fail (iris_task_state (priv) == IRIS_TASK_STATE_RUNNING
                    || iris_task_state (priv) == IRIS_TASK_STATE_CALLBACKS);

  g_object_ref (other);
  g_mutex_lock (&priv->lock);
  former = g_steal_pointer (&priv->returned);
  priv->returned = other;
  g_mutex_unlock (&priv->lock);
  g_clear_object (&former);
}

/**
 * iris_task_return_task_new:
 * @self: a task, in its function or a handler of it
 * @func: (scope notified) (closure user_data) (destroy notify): the work of the new task
 * @user_data: (nullable): for @func
 * @notify: (nullable): called with @user_data when the new task is freed
 *
 * Makes a task of @func and returns it, as iris_task_return_task() does with a task that is there.
 */
void
iris_task_return_task_new (IrisTask *self,
                           IrisTaskFunc func,
                           gpointer user_data,
                           GDestroyNotify notify)
{
  g_autoptr (IrisTask) other = iris_task_new (func, user_data, notify);

  iris_task_return_task (self, other);
}

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

/* --- results of a known type --- */

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
