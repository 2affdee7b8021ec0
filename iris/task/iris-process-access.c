/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The process: making one, and what can be asked of it.
 */
#include "iris/task/iris-process-private.h"

void
iris_process_release_func (IrisProcess *self)
{
  IrisProcessPrivate *priv = iris_process_get_private (self);

  if (priv->notify != NULL)
    priv->notify (priv->data);
  priv->func = NULL;
  priv->notify = NULL;
  g_clear_pointer (&priv->closure, g_closure_unref);
}

/**
 * iris_process_new:
 * @func: (nullable) (scope notified) (closure user_data) (destroy notify): the work on an item
 * @user_data: (nullable): for @func
 * @notify: (nullable): called with @user_data when the process is freed
 *
 * Makes a process.
 *
 * Returns: (transfer full): a process
 *
 * Since: 0.1
 */
IrisProcess *
iris_process_new (IrisProcessFunc func, gpointer user_data, GDestroyNotify notify)
{
  IrisProcess *self = g_object_new (IRIS_TYPE_PROCESS, NULL);

  iris_process_set_func (self, func, user_data, notify);

  return self;
}

/**
 * iris_process_new_with_func: (skip)
 * @func: (nullable) (scope notified) (closure user_data) (destroy notify): the work on an item
 * @user_data: (nullable): for @func
 * @notify: (nullable): called with @user_data when the process is freed
 *
 * Another name of iris_process_new().
 *
 * Returns: (transfer full): a process
 *
 * Since: 0.1
 */
IrisProcess *
iris_process_new_with_func (IrisProcessFunc func, gpointer user_data, GDestroyNotify notify)
{
  return iris_process_new (func, user_data, notify);
}

/**
 * iris_process_new_with_closure:
 * @closure: the work on an item; it is called with the process and the message
 *
 * Makes a process.
 *
 * Returns: (transfer full): a process
 *
 * Since: 0.1
 */
IrisProcess *
iris_process_new_with_closure (GClosure *closure)
{
  IrisProcess *self = g_object_new (IRIS_TYPE_PROCESS, NULL);

  iris_process_set_closure (self, closure);

  return self;
}

/**
 * iris_process_set_func:
 * @self: a process that was not run yet
 * @func: (nullable) (scope notified) (closure user_data) (destroy notify): the work on an item
 * @user_data: (nullable): for @func
 * @notify: (nullable): called with @user_data when the process is freed
 *
 * Sets the work, in place of what it was.
 *
 * Since: 0.1
 */
void
iris_process_set_func (IrisProcess *self,
                       IrisProcessFunc func,
                       gpointer user_data,
                       GDestroyNotify notify)
{
  IrisProcessPrivate *priv;

  g_return_if_fail (IRIS_IS_PROCESS (self));
  g_return_if_fail (iris_task_get_state (IRIS_TASK (self)) == IRIS_TASK_STATE_CONSTRUCTED);

  priv = iris_process_get_private (self);
  iris_process_release_func (self);
  priv->func = func;
  priv->data = user_data;
  priv->notify = notify;
}

/**
 * iris_process_set_closure:
 * @self: a process that was not run yet
 * @closure: the work on an item; it is called with the process and the message
 *
 * Sets the work, in place of what it was.
 *
 * Since: 0.1
 */
void
iris_process_set_closure (IrisProcess *self, GClosure *closure)
{
  g_return_if_fail (IRIS_IS_PROCESS (self));
  g_return_if_fail (closure != NULL);
  g_return_if_fail (iris_task_get_state (IRIS_TASK (self)) == IRIS_TASK_STATE_CONSTRUCTED);

  iris_process_release_func (self);
  iris_process_get_private (self)->closure = g_closure_ref (closure);
  g_closure_sink (closure);
  if (G_CLOSURE_NEEDS_MARSHAL (closure))
    g_closure_set_marshal (closure, g_cclosure_marshal_VOID__BOXED);
}

/**
 * iris_process_set_queue_limit:
 * @self: a process that was not run yet
 * @limit: how many work items may wait, at least 1
 *
 * Sets how many items may wait before the process that feeds this one pauses, and before
 * iris_process_try_enqueue() refuses; %IRIS_PROCESS_QUEUE_LIMIT if it is not set. What one item
 * makes its function forward is never refused, so a few more may wait than that.
 *
 * Since: 0.1
 */
void
iris_process_set_queue_limit (IrisProcess *self, guint limit)
{
  g_return_if_fail (IRIS_IS_PROCESS (self));
  g_return_if_fail (limit > 0);
  g_return_if_fail (iris_task_get_state (IRIS_TASK (self)) == IRIS_TASK_STATE_CONSTRUCTED);

  iris_process_get_private (self)->limit = limit;
}

/**
 * iris_process_is_open:
 * @self: a process
 *
 * Tells whether it takes more work.
 *
 * Returns: whether it takes more work
 *
 * Since: 0.1
 */
gboolean
iris_process_is_open (IrisProcess *self)
{
  IrisProcessPrivate *priv;
  gboolean open;

  g_return_val_if_fail (IRIS_IS_PROCESS (self), FALSE);

  priv = iris_process_get_private (self);
  g_mutex_lock (&priv->lock);
  open = !priv->closed;
  g_mutex_unlock (&priv->lock);

  return open;
}

/**
 * iris_process_is_executing:
 * @self: a process
 *
 * Tells whether it was run and is not over.
 *
 * Returns: whether it was run and is not over
 *
 * Since: 0.1
 */
gboolean
iris_process_is_executing (IrisProcess *self)
{
  return iris_task_is_executing (IRIS_TASK (self));
}

/**
 * iris_process_is_finished:
 * @self: a process
 *
 * Tells whether it is over, well or not, and was not cancelled.
 *
 * Returns: whether it is over, well or not, and was not cancelled
 *
 * Since: 0.1
 */
gboolean
iris_process_is_finished (IrisProcess *self)
{
  return iris_task_is_finished (IRIS_TASK (self));
}

/**
 * iris_process_is_cancelled:
 * @self: a process
 *
 * Tells whether it was cancelled.
 *
 * Returns: whether it was cancelled
 *
 * Since: 0.1
 */
gboolean
iris_process_is_cancelled (IrisProcess *self)
{
  return iris_task_is_cancelled (IRIS_TASK (self));
}

/**
 * iris_process_has_succeeded:
 * @self: a process
 *
 * Tells whether it is over, without an error.
 *
 * Returns: whether it is over, without an error
 *
 * Since: 0.1
 */
gboolean
iris_process_has_succeeded (IrisProcess *self)
{
  return iris_task_has_succeeded (IRIS_TASK (self));
}

/**
 * iris_process_has_failed:
 * @self: a process
 *
 * Tells whether it is over, with an error.
 *
 * Returns: whether it is over, with an error
 *
 * Since: 0.1
 */
gboolean
iris_process_has_failed (IrisProcess *self)
{
  return iris_task_has_failed (IRIS_TASK (self));
}

/**
 * iris_process_has_source:
 * @self: a process
 *
 * Tells whether a process that is still there feeds this one.
 *
 * Returns: whether a process that is still there feeds this one
 *
 * Since: 0.1
 */
gboolean
iris_process_has_source (IrisProcess *self)
{
  return iris_process_get_source (self) != NULL;
}

/**
 * iris_process_has_sink:
 * @self: a process
 *
 * Tells whether it feeds another.
 *
 * Returns: whether it feeds another
 *
 * Since: 0.1
 */
gboolean
iris_process_has_sink (IrisProcess *self)
{
  return iris_process_get_sink (self) != NULL;
}

/**
 * iris_process_get_source:
 * @self: a process
 *
 * Gets the process that feeds this one, or %NULL.
 *
 * Returns: (transfer none) (nullable): the process that feeds this one, or %NULL; who uses it must
 *   know that it stays, since this one does not hold it
 *
 * Since: 0.1
 */
IrisProcess *
iris_process_get_source (IrisProcess *self)
{
  g_autoptr (IrisProcess) source = NULL;

  g_return_val_if_fail (IRIS_IS_PROCESS (self), NULL);

  source = g_weak_ref_get (&iris_process_get_private (self)->source);

  return source;
}

/**
 * iris_process_get_sink:
 * @self: a process
 *
 * Gets the process that this one feeds, or %NULL.
 *
 * Returns: (transfer none) (nullable): the process that this one feeds, or %NULL
 *
 * Since: 0.1
 */
IrisProcess *
iris_process_get_sink (IrisProcess *self)
{
  g_return_val_if_fail (IRIS_IS_PROCESS (self), NULL);

  return iris_process_get_private (self)->sink;
}

/**
 * iris_process_get_queue_length:
 * @self: a process
 *
 * Tells how many work items wait in it.
 *
 * Returns: how many work items wait in it
 *
 * Since: 0.1
 */
guint
iris_process_get_queue_length (IrisProcess *self)
{
  IrisProcessPrivate *priv;
  guint length;

  g_return_val_if_fail (IRIS_IS_PROCESS (self), 0);

  priv = iris_process_get_private (self);
  g_mutex_lock (&priv->lock);
  length = priv->queue.length;
  g_mutex_unlock (&priv->lock);

  return length;
}

static void
process_count (IrisProcess *self, guint *processed, guint *total)
{
  IrisProcessPrivate *priv = iris_process_get_private (self);

  g_mutex_lock (&priv->lock);
  *processed = priv->processed;
  *total = priv->total;
  g_mutex_unlock (&priv->lock);
}

/**
 * iris_process_get_status:
 * @self: a process
 * @processed_items: (out) (optional): how many items it has worked on
 * @total_items: (out) (optional): how many there are, as far as is known
 *
 * Says how far the process has come. The total includes an estimate of what the processes before
 * it will still hand on; see iris_process_set_output_estimation().
 *
 * Since: 0.1
 */
void
iris_process_get_status (IrisProcess *self, int *processed_items, int *total_items)
{
  g_autoptr (IrisProcess) source = NULL;
  guint processed, total;
  double estimate = 0, factor = 1;

  g_return_if_fail (IRIS_IS_PROCESS (self));

  process_count (self, &processed, &total);
  source = g_weak_ref_get (&iris_process_get_private (self)->source);
  while (source != NULL)
    {
      IrisProcess *before = g_weak_ref_get (&iris_process_get_private (source)->source);
      guint source_processed, source_total;

      process_count (source, &source_processed, &source_total);
      factor *= iris_process_get_private (source)->factor;
      estimate += factor * (source_total - source_processed);
      g_object_unref (source);
      source = before;
    }
  if (processed_items != NULL)
    *processed_items = (int) MIN (processed, G_MAXINT);
  if (total_items != NULL)
    *total_items = (int) MIN (total + estimate, G_MAXINT);
}

/**
 * iris_process_get_title:
 * @self: a process
 *
 * Tells what the process is called, or %NULL.
 *
 * Returns: (transfer none) (nullable): what the process is called, or %NULL
 *
 * Since: 0.1
 */
const char *
iris_process_get_title (IrisProcess *self)
{
  IrisProcessPrivate *priv;
  const char *title;

  g_return_val_if_fail (IRIS_IS_PROCESS (self), NULL);

  priv = iris_process_get_private (self);
  g_mutex_lock (&priv->lock);
  title = priv->title;
  g_mutex_unlock (&priv->lock);

  return title;
}

/**
 * iris_process_set_output_estimation:
 * @self: a process that was not run yet
 * @factor: how many items it hands on for each that it works on, about; 1 if it is not set
 *
 * Helps to say how far those that follow in the chain have come.
 *
 * Since: 0.1
 */
void
iris_process_set_output_estimation (IrisProcess *self, float factor)
{
  g_return_if_fail (IRIS_IS_PROCESS (self));
  g_return_if_fail (factor >= 0);

  iris_process_get_private (self)->factor = factor;
}
