/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Tasks and GIO: GAsyncResult, GTask, GCancellable, in both directions.
 *
 * The handler of a GCancellable knows its task weakly, and is taken off by its id and not by
 * g_cancellable_disconnect(), which waits for handlers that run and so would wait for itself when
 * a cancellation ends the task.
 */
#include "iris/task/iris-task-private.h"

#include "iris/task/iris-task-gio.h"
#include "iris/sched/pool/iris-worker.h"

/* --- GAsyncResult --- */

static gpointer
async_result_get_user_data (GAsyncResult *result)
{
  return iris_task_get_private (IRIS_TASK (result))->async_data;
}

GObject *
iris_task_get_source (IrisTask *self)
{
  IrisTaskPrivate *priv = iris_task_get_private (self);

  return priv->has_source ? priv->source_object : G_OBJECT (self);
}

static GObject *
async_result_get_source_object (GAsyncResult *result)
{
  GObject *source = iris_task_get_source (IRIS_TASK (result));

  return source != NULL ? g_object_ref (source) : NULL;
}

static gboolean
async_result_is_tagged (GAsyncResult *result, gpointer tag)
{
  return iris_task_get_private (IRIS_TASK (result))->source_tag == tag;
}

void
iris_task_async_result_init (GAsyncResultIface *iface)
{
  iface->get_user_data = async_result_get_user_data;
  iface->get_source_object = async_result_get_source_object;
  iface->is_tagged = async_result_is_tagged;
}

/**
 * iris_task_set_source:
 * @self: a task that was not run yet
 * @source_object: (type GObject) (nullable): the object whose function it serves
 * @source_tag: (nullable): which function that is; see g_async_result_is_tagged()
 *
 * Sets the source that the callbacks of iris_task_await() get, so that a function with a
 * `_finish()` in the manner of GIO can be made of it. Without it the task itself is the source.
 */
void
iris_task_set_source (IrisTask *self, gpointer source_object, gpointer source_tag)
{
  IrisTaskPrivate *priv;

  g_return_if_fail (IRIS_IS_TASK (self));
  g_return_if_fail (source_object == NULL || G_IS_OBJECT (source_object));

  priv = iris_task_get_private (self);
  priv->has_source = true;
  g_set_object (&priv->source_object, source_object);
  priv->source_tag = source_tag;
}

/* --- GCancellable --- */

static void
weak_free (gpointer data, GClosure *closure)
{
  GWeakRef *weak = data;

  g_weak_ref_clear (weak);
  g_free (weak);
}

static void
cancellable_cancelled (GCancellable *cancellable, gpointer data)
{
  g_autoptr (IrisTask) task = g_weak_ref_get (data);

  if (task == NULL)
    return;
  iris_task_cancel (task);
  /* A task whose handlers run is cancelled no more, but what a handler began is. */
  iris_task_cancel_own_cancellable (task);
}

static gulong
connect_weakly (IrisTask *self, GCancellable *cancellable)
{
  GWeakRef *weak = g_new0 (GWeakRef, 1);

  g_weak_ref_init (weak, self);

  return g_signal_connect_data (cancellable, "cancelled", G_CALLBACK (cancellable_cancelled), weak,
                                weak_free, 0);
}

void
iris_task_cancel_own_cancellable (IrisTask *self)
{
  IrisTaskPrivate *priv = iris_task_get_private (self);
  g_autoptr (GCancellable) cancellable = NULL;

  g_mutex_lock (&priv->lock);
  g_set_object (&cancellable, priv->own_cancellable);
  g_mutex_unlock (&priv->lock);
  if (cancellable != NULL)
    g_cancellable_cancel (cancellable);
}

/* Taken out under the lock, taken off outside. */
void
iris_task_unlink_cancellable (IrisTask *self)
{
  IrisTaskPrivate *priv = iris_task_get_private (self);
  g_autoptr (GCancellable) cancellable = NULL;
  gulong id;

  g_mutex_lock (&priv->lock);
  cancellable = g_steal_pointer (&priv->cancellable);
  id = priv->cancellable_id;
  priv->cancellable_id = 0;
  g_mutex_unlock (&priv->lock);
  if (id != 0)
    g_signal_handler_disconnect (cancellable, id);
}

/**
 * iris_task_set_cancellable:
 * @self: a task that is not over
 * @cancellable: (nullable): a cancellable, or %NULL for none
 *
 * Cancels the task when @cancellable is cancelled, or at once if it was, until the task is over.
 * Cancelling the task does not cancel @cancellable, which other tasks and functions may share. May
 * be called from any thread.
 */
void
iris_task_set_cancellable (IrisTask *self, GCancellable *cancellable)
{
  IrisTaskPrivate *priv;
  gulong id;
  bool is_linked;

  g_return_if_fail (IRIS_IS_TASK (self));
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  priv = iris_task_get_private (self);
  iris_task_unlink_cancellable (self);
  if (cancellable == NULL)
    return;
  id = connect_weakly (self, cancellable);
  g_mutex_lock (&priv->lock);
  is_linked = priv->cancellable == NULL && !iris_task_is_over (priv);
  if (is_linked)
    {
      priv->cancellable = g_object_ref (cancellable);
      priv->cancellable_id = id;
    }
  g_mutex_unlock (&priv->lock);
  if (!is_linked)
    g_signal_handler_disconnect (cancellable, id);
  else if (g_cancellable_is_cancelled (cancellable))
    iris_task_cancel (self); /* before the handler was there */
}

/**
 * iris_task_get_cancellable:
 *
 * The task's own cancellable, for its function to hand on: it is cancelled with the task, and
 * cancelling it cancels the task. It is not the one of iris_task_set_cancellable(), but cancelled
 * with that one too.
 *
 * Returns: (transfer full): a cancellable
 */
GCancellable *
iris_task_get_cancellable (IrisTask *self)
{
  IrisTaskPrivate *priv;
  g_autoptr (GCancellable) tied = NULL, made = NULL;
  GCancellable *cancellable = NULL;
  bool is_cancelled;

  g_return_val_if_fail (IRIS_IS_TASK (self), NULL);

  priv = iris_task_get_private (self);
  g_mutex_lock (&priv->lock);
  g_set_object (&cancellable, priv->own_cancellable);
  g_mutex_unlock (&priv->lock);
  if (cancellable != NULL)
    return cancellable;
  made = g_cancellable_new ();
  connect_weakly (self, made);
  g_mutex_lock (&priv->lock);
  if (priv->own_cancellable == NULL)
    priv->own_cancellable = g_object_ref (made);
  g_set_object (&cancellable, priv->own_cancellable);
  g_set_object (&tied, priv->cancellable);
  is_cancelled = iris_task_state (priv) == IRIS_TASK_STATE_CANCELLED
                 || atomic_load_explicit (&priv->cancel_wanted, memory_order_relaxed);
  g_mutex_unlock (&priv->lock);
  /* What cancelled before did not see the new one. */
  if (is_cancelled || (tied != NULL && g_cancellable_is_cancelled (tied)))
    g_cancellable_cancel (cancellable);

  return cancellable;
}

/* --- functions in the manner of GIO --- */

typedef struct
{
  IrisTaskBegin begin;
  IrisTaskEnd end;
  gpointer data;
  GDestroyNotify notify;
} Pair;

static void
pair_free (gpointer data)
{
  Pair *self = data;

  if (self->notify != NULL)
    self->notify (self->data);
  g_free (self);
}

static void
pair_ended (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (IrisTask) task = data;
  Pair *self = iris_task_get_private (task)->data;
  GError *error = NULL;

  if (!self->end (task, source, result, self->data, &error))
    {
      if (error == NULL)
        error = g_error_new_literal (G_IO_ERROR, G_IO_ERROR_FAILED, "The function failed");
      /* The thread that cancelled is told that it was; a task that no thread cancelled has an
       * error. */
      iris_task_take_fatal_error (task, error);
    }
  iris_task_work_finished (task);
}

static void
pair_begin (IrisTask *task, gpointer data)
{
  Pair *self = data;
  g_autoptr (GCancellable) cancellable = iris_task_get_cancellable (task);
  GMainContext *context = iris_task_get_private (task)->work_context;

  g_main_context_push_thread_default (context);
  self->begin (task, cancellable, pair_ended, g_object_ref (task), self->data);
  g_main_context_pop_thread_default (context);
}

/**
 * iris_task_new_for_gio: (skip)
 * @context: (nullable): the main context for both functions, or %NULL for the caller's
 *   thread-default one
 * @begin: (scope notified): calls the asynchronous function
 * @end: (scope notified): calls its finishing one
 * @user_data: (nullable): for both
 * @notify: (nullable): called with @user_data when the task is freed
 *
 * Makes a task of a pair of functions in the manner of GIO, such as g_file_load_contents_async()
 * and its `_finish()`, or anything that ends in a #GAsyncResult, a #GTask among them.
 *
 * When the task is run and its dependencies are over, @begin is called in @context. @end is called
 * when the function has ended; it may set the task's result. Cancelling the task cancels the
 * #GCancellable that @begin is given.
 *
 * Returns: (transfer full): a task
 */
IrisTask *
iris_task_new_for_gio (GMainContext *context,
                       IrisTaskBegin begin,
                       IrisTaskEnd end,
                       gpointer user_data,
                       GDestroyNotify notify)
{
  IrisTask *self;
  Pair *pair;

  g_return_val_if_fail (begin != NULL && end != NULL, NULL);

  pair = g_new (Pair, 1);
  *pair = (Pair){ begin, end, user_data, notify };
  self = iris_task_new_full (pair_begin, pair, pair_free, TRUE, NULL, NULL, NULL);
  iris_task_get_private (self)->work_context = context != NULL
                                                   ? g_main_context_ref (context)
                                                   : g_main_context_ref_thread_default ();

  return self;
}

static void
gtask_return (IrisTask *self, gpointer data)
{
  GTask *gtask = data;
  GValue value = G_VALUE_INIT;
  GError *error = NULL;

  if (iris_task_propagate (self, &value, &error))
    g_task_return_value (gtask, G_VALUE_TYPE (&value) != G_TYPE_INVALID ? &value : NULL);
  else
    g_task_return_error (gtask, error);
  iris_task_discard (&value, NULL);
}

/**
 * iris_task_return_to_gtask:
 * @gtask: a task of GIO that has not returned
 *
 * Lets @gtask return what @self ends with: a value for g_task_propagate_value(), or its error, or
 * %G_IO_ERROR_CANCELLED. If @gtask has a #GCancellable, @self is tied to it.
 */
void
iris_task_return_to_gtask (IrisTask *self, GTask *gtask)
{
  GCancellable *cancellable;

  g_return_if_fail (IRIS_IS_TASK (self));
  g_return_if_fail (G_IS_TASK (gtask));

  cancellable = g_task_get_cancellable (gtask);
  iris_task_when_over (self, gtask_return, g_object_ref (gtask), g_object_unref);
  if (cancellable != NULL)
    iris_task_set_cancellable (self, cancellable);
}

/* --- waiting for the end --- */

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
  g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_TIMED_OUT, "The task is not over yet");

  return FALSE;
}
