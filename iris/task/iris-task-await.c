/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Waiting for the end of a task: from a main context, by a function, or blocking.
 */
#include "iris/task/iris-task-private.h"

#define IRIS_INSIDE
#include "iris/sched/pool/iris-worker.h"
#undef IRIS_INSIDE

struct _IrisTaskWaiter
{
  IrisItem item;
  IrisTaskWaiter *next;
  IrisTask *task;        /* from the end on */
  GMainContext *context; /* until the end; or NULL: on a scheduler */
  GAsyncReadyCallback callback;
  IrisTaskFunc func;
  gpointer data;
  GDestroyNotify notify;
};

static void
waiter_free (IrisTaskWaiter *self)
{
  if (self->notify != NULL)
    self->notify (self->data);
  g_clear_pointer (&self->context, g_main_context_unref);
  g_free (self);
}

static void
waiter_drop (gpointer data)
{
  IrisTaskWaiter *self = data;
  IrisTask *task = self->task;

  waiter_free (self);
  g_object_unref (task);
}

static void
waiter_call (gpointer data)
{
  IrisTaskWaiter *self = data;

  if (self->callback != NULL)
    self->callback (iris_task_get_source (self->task), G_ASYNC_RESULT (self->task), self->data);
  if (self->func != NULL)
    self->func (self->task, self->data);
  waiter_drop (self);
}

/* The task is over. Takes the reference. */
static void
waiter_tell (IrisTaskWaiter *self, IrisTask *task)
{
  self->task = task;
  iris_item_init (&self->item, waiter_call, self, waiter_drop);
  if (self->context != NULL)
    {
      /* What lies in the context must not hold it. */
      g_autoptr (GMainContext) context = g_steal_pointer (&self->context);

      iris_context_queue_push (iris_context_queue_of (context), &self->item);
    }
  else
    {
      g_autoptr (IrisScheduler) keep = iris_task_dup_work_scheduler (task);

      iris_scheduler_queue_item (keep, &self->item);
    }
}

/* The list does not change any more: add_waiter() looks at the state under the lock. */
void
iris_task_tell_waiters (IrisTask *self)
{
  IrisTaskPrivate *priv = iris_task_get_private (self);
  IrisTaskWaiter *waiter, *next;

  /* Who added one before the end did so under the lock. */
  g_mutex_lock (&priv->lock);
  waiter = g_steal_pointer (&priv->waiters);
  priv->last_waiter = NULL;
  g_mutex_unlock (&priv->lock);
  if (waiter == NULL)
    {
      g_object_unref (self);
      return;
    }
  for (; waiter != NULL; waiter = next)
    {
      next = waiter->next;
      waiter_tell (waiter, next != NULL ? g_object_ref (self) : self);
    }
}

void
iris_task_drop_waiters (IrisTask *self)
{
  IrisTaskPrivate *priv = iris_task_get_private (self);
  IrisTaskWaiter *waiter;

  while ((waiter = priv->waiters) != NULL)
    {
      priv->waiters = waiter->next;
      waiter_free (waiter);
    }
}

static void
add_waiter (IrisTask *self, IrisTaskWaiter *waiter)
{
  IrisTaskPrivate *priv = iris_task_get_private (self);
  bool is_over;

  g_mutex_lock (&priv->lock);
  is_over = iris_task_is_over (priv);
  if (!is_over)
    {
      if (priv->last_waiter != NULL)
        priv->last_waiter->next = waiter;
      else
        priv->waiters = waiter;
      priv->last_waiter = waiter;
    }
  g_mutex_unlock (&priv->lock);
  if (is_over)
    waiter_tell (waiter, g_object_ref (self));
}

/**
 * iris_task_await:
 * @context: (nullable): a main context, or %NULL for the thread-default one of the caller
 * @callback: (scope async) (closure user_data): called when the task is over
 * @user_data: (nullable): for @callback
 *
 * Waits for the end of the task without blocking: when it is over, in whichever way, @callback is
 * called in @context, with the task as its #GAsyncResult. See iris_task_await_finish() and
 * iris_task_propagate().
 *
 * Tasks that end shortly after one another wake the context once. A callback that is added when
 * the task is over is called all the same, and never before this function returns. If the task is
 * freed without having been run, @callback is not called.
 */
void
iris_task_await (IrisTask *self,
                 GMainContext *context,
                 GAsyncReadyCallback callback,
                 gpointer user_data)
{
  IrisTaskWaiter *waiter;

  g_return_if_fail (IRIS_IS_TASK (self));
  g_return_if_fail (callback != NULL);

  waiter = g_new0 (IrisTaskWaiter, 1);
  waiter->callback = callback;
  waiter->data = user_data;
  waiter->context = context != NULL ? g_main_context_ref (context)
                                    : g_main_context_ref_thread_default ();
  add_waiter (self, waiter);
}

/**
 * iris_task_await_finish:
 * @self: a task that was awaited
 * @result: what the callback was given
 * @error: return location for the error of the task
 *
 * Ends what iris_task_await() or iris_task_run_with_async_result() began. The result can be had of
 * the task, see iris_task_propagate().
 *
 * Returns: whether the task ended well
 */
gboolean
iris_task_await_finish (IrisTask *self, GAsyncResult *result, GError **error)
{
  g_return_val_if_fail (IRIS_IS_TASK (self), FALSE);
  g_return_val_if_fail (result == G_ASYNC_RESULT (self), FALSE);

  return iris_task_propagate (self, NULL, error);
}

/**
 * iris_task_run_async:
 * @self: a task that was not run yet
 * @cancellable: (nullable): what cancels the task, or %NULL; see iris_task_set_cancellable()
 * @callback: (nullable) (scope async) (closure user_data): called when the task is over
 * @user_data: (nullable): for @callback
 *
 * Runs the task and awaits it in the thread-default main context of the caller, in the manner of
 * GIO: `yield task.run_async (null)` in Vala, and in JavaScript with `Gio._promisify()`.
 */
void
iris_task_run_async (IrisTask *self,
                     GCancellable *cancellable,
                     GAsyncReadyCallback callback,
                     gpointer user_data)
{
  g_return_if_fail (IRIS_IS_TASK (self));
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  if (cancellable != NULL)
    iris_task_set_cancellable (self, cancellable);
  iris_task_run_with_async_result (self, callback, user_data);
}

/**
 * iris_task_run_finish:
 * @self: a task that was run
 * @result: what the callback was given
 * @error: return location for the error of the task
 *
 * Ends what iris_task_run_async() began. The result can be had of the task, see
 * iris_task_propagate().
 *
 * Returns: whether the task ended well
 */
gboolean
iris_task_run_finish (IrisTask *self, GAsyncResult *result, GError **error)
{
  return iris_task_await_finish (self, result, error);
}

/**
 * iris_task_run_with_async_result:
 * @self: a task that was not run yet
 * @callback: (nullable) (scope async) (closure user_data): called when the task is over
 * @user_data: (nullable): for @callback
 *
 * Runs the task and awaits it in the thread-default main context of the caller, as
 * iris_task_run_async() does. iris_task_await_finish() ends it.
 */
void
iris_task_run_with_async_result (IrisTask *self, GAsyncReadyCallback callback, gpointer user_data)
{
  g_return_if_fail (IRIS_IS_TASK (self));

  iris_task_get_private (self)->async_data = user_data;
  if (callback != NULL)
    iris_task_await (self, NULL, callback, user_data);
  iris_task_run (self);
}

/**
 * iris_task_when_over:
 * @func: (scope notified) (closure user_data) (destroy notify): called when the task is over
 * @user_data: (nullable): for @func
 * @notify: (nullable): called with @user_data when @func was called, or will not be
 *
 * Calls @func on a worker when the task is over: finished, failed or cancelled. For callers that
 * have no main context, such as the event loops of other languages.
 */
void
iris_task_when_over (IrisTask *self, IrisTaskFunc func, gpointer user_data, GDestroyNotify notify)
{
  IrisTaskWaiter *waiter;

  g_return_if_fail (IRIS_IS_TASK (self));
  g_return_if_fail (func != NULL);

  waiter = g_new0 (IrisTaskWaiter, 1);
  waiter->func = func;
  waiter->data = user_data;
  waiter->notify = notify;
  add_waiter (self, waiter);
}

/**
 * iris_task_wait:
 * @self: a task that was run
 * @timeout: how many microseconds to wait at most; less than 0 sets no limit
 *
 * Blocks the calling thread until the task is over. A worker must not block like that: it may be
 * the one that the task needs. Use callbacks, dependencies or iris_task_return_task() there. Nor
 * must the thread that iterates the main context of the task, in which its handlers would run: use
 * iris_task_await().
 *
 * Returns: whether the task ended well; if it is not over yet, %FALSE with %G_IO_ERROR_TIMED_OUT
 */
gboolean
iris_task_wait (IrisTask *self, gint64 timeout, GError **error)
{
  IrisTaskPrivate *priv;
  gint64 end;
  bool in_time = true;

  g_return_val_if_fail (IRIS_IS_TASK (self), FALSE);
  g_return_val_if_fail (iris_worker_current () == NULL, FALSE);

  priv = iris_task_get_private (self);
  end = timeout < 0 ? G_MAXINT64 : g_get_monotonic_time () + MIN (timeout, G_MAXINT64 / 2);
  g_mutex_lock (&priv->lock);
  priv->n_blocked++;
  while (!iris_task_is_over (priv) && in_time)
    if (timeout < 0)
      g_cond_wait (&priv->over, &priv->lock);
    else
      in_time = g_cond_wait_until (&priv->over, &priv->lock, end);
  priv->n_blocked--;
  in_time = iris_task_is_over (priv);
  g_mutex_unlock (&priv->lock);
  if (in_time)
    return iris_task_propagate (self, NULL, error);
  g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_TIMED_OUT,
                       "The task is not over yet; wait for its end first");

  return FALSE;
}
