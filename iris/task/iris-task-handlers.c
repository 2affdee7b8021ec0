/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The chain of callbacks and errbacks.
 *
 * As in Twisted's Deferred: one chain, two lines. A link with no function for the line that the
 * task is on is passed over.
 */
#include "iris/task/iris-task-private.h"

struct _IrisTaskHandler
{
  IrisTaskHandler *next;
  IrisTaskFunc func[2]; /* without an error, with one */
  GClosure *closure[2];
  gpointer data;
  GDestroyNotify notify;
};

static void
handler_free (IrisTaskHandler *self)
{
  if (self->notify != NULL)
    self->notify (self->data);
  for (guint i = 0; i < 2; i++)
    g_clear_pointer (&self->closure[i], g_closure_unref);
  g_free (self);
}

void
iris_task_free_handlers (IrisTaskHandler *handlers)
{
  while (handlers != NULL)
    {
      IrisTaskHandler *next = handlers->next;

      handler_free (handlers);
      handlers = next;
    }
}

IrisTaskHandler *
iris_task_steal_handlers (IrisTaskPrivate *priv)
{
  priv->last_handler = NULL;

  return g_steal_pointer (&priv->handlers);
}

void
iris_task_invoke (IrisTask *self, IrisTaskFunc func, gpointer data, GClosure *closure)
{
  GValue value = G_VALUE_INIT;

  if (func != NULL)
    {
      func (self, data);
      return;
    }
  g_value_init (&value, IRIS_TYPE_TASK);
  g_value_set_object (&value, self);
  g_closure_invoke (closure, NULL, 1, &value, NULL);
  g_value_unset (&value);
}

/* Under the lock. */
static IrisTaskHandler *
next_handler (IrisTaskPrivate *priv)
{
  IrisTaskHandler *handler = priv->handlers;

  if (handler != NULL)
    {
      priv->handlers = handler->next;
      if (priv->handlers == NULL)
        priv->last_handler = NULL;
    }

  return handler;
}

static void
call_handler (IrisTask *self, IrisTaskHandler *handler)
{
  guint line = iris_task_get_private (self)->error != NULL;

  if (handler->func[line] != NULL || handler->closure[line] != NULL)
    iris_task_invoke (self, handler->func[line], handler->data, handler->closure[line]);
  handler_free (handler);
}

/* Under the lock. */
static void
end (IrisTaskPrivate *priv)
{
  iris_task_enter (priv, priv->error != NULL ? IRIS_TASK_STATE_FAILED : IRIS_TASK_STATE_FINISHED);
  if (priv->n_blocked > 0)
    g_cond_broadcast (&priv->over);
}

/* Runs the chain until it ends or waits for a task that was returned. */
static void
run_handlers (IrisTask *self)
{
  IrisTaskPrivate *priv = iris_task_get_private (self);

  for (;;)
    {
      IrisTaskHandler *handler;

      g_mutex_lock (&priv->lock);
      if (priv->returned != NULL)
        {
          iris_task_wait_for_returned (self);
          return;
        }
      handler = next_handler (priv);
      if (handler == NULL)
        break;
      g_mutex_unlock (&priv->lock);
      call_handler (self, handler);
    }

  end (priv);
  g_mutex_unlock (&priv->lock);
  iris_task_tell (self);
}

static void
handlers_run (gpointer data)
{
  run_handlers (data);
}

/* Their scheduler was shut down: they cannot run, and the task cannot end as it should. */
static void
handlers_dropped (gpointer data)
{
  IrisTask *self = data;

  g_mutex_lock (&iris_task_get_private (self)->lock);
  iris_task_end_cancelled (self);
}

/* To the context, or the control scheduler, or where the work would have begun. */
static void
queue_item (IrisTask *self, IrisItem *item)
{
  IrisTaskPrivate *priv = iris_task_get_private (self);
  GMainContext *context = priv->context;

  if (context == NULL && priv->control_scheduler == NULL)
    context = priv->work_context;
  if (context != NULL)
    {
      g_autoptr (GMainContext) keep = g_main_context_ref (context);

      iris_context_queue_push (iris_context_queue_of (keep), item);
    }
  else
    {
      g_autoptr (IrisScheduler) keep = iris_task_dup_control_scheduler (self);

      iris_scheduler_queue_item (keep, item);
    }
}

bool
iris_task_end_without_handlers (IrisTaskPrivate *priv)
{
  if (priv->handlers != NULL || priv->returned != NULL)
    return false;
  end (priv);

  return true;
}

void
iris_task_begin_handlers (IrisTask *self, bool here)
{
  IrisTaskPrivate *priv = iris_task_get_private (self);
  bool is_over;

  if (here && priv->context == NULL && priv->control_scheduler == NULL)
    {
      run_handlers (self);
      return;
    }
  g_mutex_lock (&priv->lock);
  is_over = iris_task_end_without_handlers (priv);
  g_mutex_unlock (&priv->lock);
  if (is_over)
    {
      iris_task_tell (self);
      return;
    }
  iris_item_init (&priv->item, handlers_run, self, handlers_dropped);
  queue_item (self, &priv->item);
}

/* --- after the end --- */

static void
late_dropped (gpointer data)
{
  IrisTask *self = data;
  IrisTaskPrivate *priv = iris_task_get_private (self);
  IrisTaskHandler *handlers;

  g_mutex_lock (&priv->lock);
  priv->late_is_queued = false;
  handlers = iris_task_steal_handlers (priv);
  g_mutex_unlock (&priv->lock);
  iris_task_free_handlers (handlers);
  g_object_unref (self);
}

/* Handlers that were added when the task was over see its outcome; it stays what it is. */
static void
late_run (gpointer data)
{
  IrisTask *self = data;
  IrisTaskPrivate *priv = iris_task_get_private (self);
  IrisTaskHandler *handler;

  for (;;)
    {
      g_mutex_lock (&priv->lock);
      handler = next_handler (priv);
      priv->late_is_queued = handler != NULL;
      g_mutex_unlock (&priv->lock);
      if (handler == NULL)
        break;
      call_handler (self, handler);
    }
  g_object_unref (self);
}

static void
add_handler (IrisTask *self, IrisTaskHandler *handler)
{
  IrisTaskPrivate *priv = iris_task_get_private (self);
  IrisTaskState state;
  bool queue;

  g_mutex_lock (&priv->lock);
  state = iris_task_state (priv);
  if (state == IRIS_TASK_STATE_CANCELLED)
    {
      g_mutex_unlock (&priv->lock);
      handler_free (handler);
      return;
    }
  if (priv->last_handler != NULL)
    priv->last_handler->next = handler;
  else
    priv->handlers = handler;
  priv->last_handler = handler;
  queue = iris_task_state_is_over (state) && !priv->late_is_queued;
  if (queue)
    priv->late_is_queued = true;
  g_mutex_unlock (&priv->lock);
  if (queue)
    {
      iris_item_init (&priv->item, late_run, g_object_ref (self), late_dropped);
      queue_item (self, &priv->item);
    }
}

static void
add_funcs (IrisTask *self,
           IrisTaskFunc callback,
           IrisTaskFunc errback,
           gpointer user_data,
           GDestroyNotify notify)
{
  IrisTaskHandler *handler = g_new (IrisTaskHandler, 1);

  *handler = (IrisTaskHandler){ .func = { callback, errback },
                                .data = user_data,
                                .notify = notify };
  add_handler (self, handler);
}

GClosure *
iris_task_take_closure (GClosure *closure)
{
  if (closure == NULL)
    return NULL;
  g_closure_ref (closure);
  g_closure_sink (closure);
  if (G_CLOSURE_NEEDS_MARSHAL (closure))
    g_closure_set_marshal (closure, g_cclosure_marshal_VOID__VOID);

  return closure;
}

static void
add_closures (IrisTask *self, GClosure *callback, GClosure *errback)
{
  IrisTaskHandler *handler = g_new (IrisTaskHandler, 1);

  *handler = (IrisTaskHandler){ .closure = { iris_task_take_closure (callback),
                                             iris_task_take_closure (errback) } };
  add_handler (self, handler);
}

/**
 * iris_task_add_callback:
 * @callback: (scope notified) (closure user_data) (destroy notify): called when all went well
 * @user_data: (nullable): for @callback
 * @notify: (nullable): called with @user_data once @callback was called or passed over
 *
 * Adds a callback to the end of the chain. One that is added when the task is over is called with
 * the outcome, which it cannot change any more; of a cancelled task it is dropped.
 */
void
iris_task_add_callback (IrisTask *self,
                        IrisTaskFunc callback,
                        gpointer user_data,
                        GDestroyNotify notify)
{
  g_return_if_fail (IRIS_IS_TASK (self));
  g_return_if_fail (callback != NULL);

  add_funcs (self, callback, NULL, user_data, notify);
}

/**
 * iris_task_add_errback:
 * @errback: (scope notified) (closure user_data) (destroy notify): called when there is an error
 * @user_data: (nullable): for @errback
 * @notify: (nullable): called with @user_data once @errback was called or passed over
 *
 * Adds an errback to the end of the chain; see iris_task_add_callback().
 */
void
iris_task_add_errback (IrisTask *self,
                       IrisTaskFunc errback,
                       gpointer user_data,
                       GDestroyNotify notify)
{
  g_return_if_fail (IRIS_IS_TASK (self));
  g_return_if_fail (errback != NULL);

  add_funcs (self, NULL, errback, user_data, notify);
}

/**
 * iris_task_add_both: (skip)
 * @callback: (scope notified) (closure user_data): called when all went well
 * @errback: (scope notified) (closure user_data): called when there is an error
 * @user_data: (nullable): for both
 * @notify: (nullable): called with @user_data, once, when one of them was called
 *
 * Adds a callback and an errback at the same place of the chain: one of the two is called.
 */
void
iris_task_add_both (IrisTask *self,
                    IrisTaskFunc callback,
                    IrisTaskFunc errback,
                    gpointer user_data,
                    GDestroyNotify notify)
{
  g_return_if_fail (IRIS_IS_TASK (self));
  g_return_if_fail (callback != NULL && errback != NULL);

  add_funcs (self, callback, errback, user_data, notify);
}

/**
 * iris_task_add_callback_closure:
 * @callback: called with the task when all went well
 *
 * Adds a callback; see iris_task_add_callback().
 */
void
iris_task_add_callback_closure (IrisTask *self, GClosure *callback)
{
  g_return_if_fail (IRIS_IS_TASK (self));
  g_return_if_fail (callback != NULL);

  add_closures (self, callback, NULL);
}

/**
 * iris_task_add_errback_closure:
 * @errback: called with the task when there is an error
 *
 * Adds an errback; see iris_task_add_errback().
 */
void
iris_task_add_errback_closure (IrisTask *self, GClosure *errback)
{
  g_return_if_fail (IRIS_IS_TASK (self));
  g_return_if_fail (errback != NULL);

  add_closures (self, NULL, errback);
}

/**
 * iris_task_add_both_closure:
 * @callback: called with the task when all went well
 * @errback: called with the task when there is an error
 *
 * Adds both at the same place of the chain; see iris_task_add_both().
 */
void
iris_task_add_both_closure (IrisTask *self, GClosure *callback, GClosure *errback)
{
  g_return_if_fail (IRIS_IS_TASK (self));
  g_return_if_fail (callback != NULL && errback != NULL);

  add_closures (self, callback, errback);
}
