/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The task: how it is made, runs, is cancelled and ends. See iris-task-private.h for the threads
 * that may touch each field, and for the references.
 */
#include "iris/task/iris-task-private.h"

#include "iris/sched/iris-scheduler-private.h"
#include "iris/sched/schedulers/iris-default-scheduler.h"

/**
 * IrisTask:
 *
 * Work that is done once, on a worker, and what becomes of it.
 *
 * A task is made, gets callbacks, errbacks and dependencies, and is run. It then goes through the
 * states of #IrisTaskState, and ends in one of three: with a result, with an error, or cancelled.
 *
 * Callbacks and errbacks are one chain, in the order in which they were added. While the task has
 * no error, the next callback is called, otherwise the next errback. Each may set the result, set
 * an error (%IRIS_TASK_THROW_NEW), take it away (%IRIS_TASK_CATCH), or return a task whose outcome
 * takes the place of this one's (%IRIS_TASK_RETURN_TASK). They run one after the other, and a
 * cancelled task calls none of them. Where they run is the first of these:
 *
 * 1. the main context of the task, if iris_task_set_main_context() or iris_task_new_full() set one;
 * 2. its control scheduler, if one was set;
 * 3. the thread on which the work of the task ended: a worker of its work scheduler, the thread
 *    that calls iris_task_work_finished(), or the main context of iris_task_new_for_gio(). If no
 *    work ends in front of them, they run where that work would have begun. That is so for the
 *    handlers of a group, of a task whose dependency failed, behind a task that was returned, and
 *    for those that were added when the task was over.
 *
 * So the callbacks of a task of iris_task_new() run on a worker, and must not touch what belongs to
 * the thread of a main loop, such as widgets. `iris_task_set_main_context (task, NULL)` moves them
 * to the main context of the calling thread. What iris_task_await() and
 * iris_task_run_with_async_result() call is always called in a main context.
 *
 * The functions that control a task may be called from any thread. The result and the error may be
 * read and set by the function and the handlers of the task while they run, and be read by any
 * thread when it is over.
 *
 * A task that was run keeps itself until it is over, so its maker may unref it as soon as it runs.
 */

G_DEFINE_TYPE_WITH_CODE (IrisTask,
                         iris_task,
                         G_TYPE_OBJECT,
                         G_ADD_PRIVATE (IrisTask)
                             G_IMPLEMENT_INTERFACE (G_TYPE_ASYNC_RESULT,
                                                    iris_task_async_result_init))

IrisTaskPrivate *
iris_task_get_private (IrisTask *self)
{
  return iris_task_get_instance_private (self);
}

/* --- the object --- */

static void
task_execute (IrisTask *self)
{
  IrisTaskPrivate *priv = iris_task_get_private (self);

  if (priv->func != NULL || priv->closure != NULL)
    iris_task_invoke (self, priv->func, priv->data, priv->closure);
}

static void
task_nothing (IrisTask *self)
{
}

static void
iris_task_finalize (GObject *object)
{
  IrisTask *self = IRIS_TASK (object);
  IrisTaskPrivate *priv = iris_task_get_private (self);

  /* Never run: dependents learn that it will not be. */
  if (!iris_task_is_over (priv))
    {
      GQueue over = G_QUEUE_INIT;
      IrisTask *next;

      iris_task_graph_leave (self, &over);
      while ((next = g_queue_pop_head (&over)) != NULL)
        {
          iris_task_tell (next);
          g_object_unref (next);
        }
      iris_task_drop_waiters (self);
    }
  iris_task_unlink_cancellable (self);
  iris_task_free_handlers (priv->handlers);
  g_clear_object (&priv->returned);
  if (priv->notify != NULL)
    priv->notify (priv->data);
  g_clear_pointer (&priv->closure, g_closure_unref);
  iris_task_discard (&priv->result, priv->error);
  g_clear_object (&priv->source_object);
  g_clear_object (&priv->own_cancellable);
  g_clear_object (&priv->work_scheduler);
  g_clear_object (&priv->control_scheduler);
  g_clear_pointer (&priv->context, g_main_context_unref);
  g_clear_pointer (&priv->work_context, g_main_context_unref);
  g_mutex_clear (&priv->lock);
  g_cond_clear (&priv->over);

  G_OBJECT_CLASS (iris_task_parent_class)->finalize (object);
}

enum
{
  PROP_0,
  PROP_CONTROL_SCHEDULER,
  PROP_WORK_SCHEDULER,
  N_PROPERTIES,
};

static void
iris_task_get_property (GObject *object, guint id, GValue *value, GParamSpec *spec)
{
  if (id == PROP_CONTROL_SCHEDULER)
    g_value_set_object (value, iris_task_get_control_scheduler (IRIS_TASK (object)));
  else
    g_value_set_object (value, iris_task_get_work_scheduler (IRIS_TASK (object)));
}

static void
iris_task_set_property (GObject *object, guint id, const GValue *value, GParamSpec *spec)
{
  if (id == PROP_CONTROL_SCHEDULER)
    iris_task_set_control_scheduler (IRIS_TASK (object), g_value_get_object (value));
  else
    iris_task_set_work_scheduler (IRIS_TASK (object), g_value_get_object (value));
}

static void
iris_task_class_init (IrisTaskClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GParamSpec *specs[N_PROPERTIES];
  GParamFlags flags = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS;

  klass->execute = task_execute;
  klass->ended = task_nothing;
  klass->cancelled = task_nothing;
  object_class->finalize = iris_task_finalize;
  object_class->get_property = iris_task_get_property;
  object_class->set_property = iris_task_set_property;

  /* Not of the construction, which would make every task pay for them. */
  specs[PROP_0] = NULL;
  /**
   * IrisTask:control-scheduler:
   *
   * Where the handlers run, if it is set, and otherwise where the work ends. Not to be changed once
   * the task was run.
   */
  specs[PROP_CONTROL_SCHEDULER] = g_param_spec_object ("control-scheduler", NULL, NULL,
                                                       IRIS_TYPE_SCHEDULER, flags);
  /**
   * IrisTask:work-scheduler:
   *
   * Where the function runs. Not to be changed once the task was run.
   */
  specs[PROP_WORK_SCHEDULER] = g_param_spec_object ("work-scheduler", NULL, NULL,
                                                    IRIS_TYPE_SCHEDULER, flags);
  g_object_class_install_properties (object_class, N_PROPERTIES, specs);
}

static void
iris_task_init (IrisTask *self)
{
  IrisTaskPrivate *priv = iris_task_get_private (self);

  g_mutex_init (&priv->lock);
  g_cond_init (&priv->over);
  atomic_init (&priv->state, IRIS_TASK_STATE_CONSTRUCTED);
}

/**
 * iris_task_new:
 * @func: (nullable) (scope notified) (closure user_data) (destroy notify): the work, or %NULL
 * @user_data: (nullable): for @func
 * @notify: (nullable): called with @user_data when the task is freed
 *
 * Returns: (transfer full): a task
 */
IrisTask *
iris_task_new (IrisTaskFunc func, gpointer user_data, GDestroyNotify notify)
{
  IrisTask *self = g_object_new (IRIS_TYPE_TASK, NULL);
  IrisTaskPrivate *priv = iris_task_get_private (self);

  priv->func = func;
  priv->data = user_data;
  priv->notify = notify;

  return self;
}

/**
 * iris_task_new_with_func: (skip)
 * @func: (nullable) (scope notified) (closure user_data) (destroy notify): the work, or %NULL
 * @user_data: (nullable): for @func
 * @notify: (nullable): called with @user_data when the task is freed
 *
 * Another name of iris_task_new().
 *
 * Returns: (transfer full): a task
 */
IrisTask *
iris_task_new_with_func (IrisTaskFunc func, gpointer user_data, GDestroyNotify notify)
{
  return iris_task_new (func, user_data, notify);
}

/**
 * iris_task_new_with_closure:
 * @closure: the work; it is called with the task
 *
 * Returns: (transfer full): a task
 */
IrisTask *
iris_task_new_with_closure (GClosure *closure)
{
  return iris_task_new_with_closure_full (closure, FALSE, NULL, NULL, NULL);
}

static void
task_set_where (IrisTask *self,
                gboolean async,
                IrisScheduler *control,
                IrisScheduler *work,
                GMainContext *context)
{
  IrisTaskPrivate *priv = iris_task_get_private (self);

  priv->is_async = async;
  g_set_object (&priv->control_scheduler, control);
  g_set_object (&priv->work_scheduler, work);
  priv->context = context != NULL ? g_main_context_ref (context) : NULL;
}

/**
 * iris_task_new_full:
 * @func: (nullable) (scope notified) (closure user_data) (destroy notify): the work, or %NULL
 * @user_data: (nullable): for @func
 * @notify: (nullable): called with @user_data when the task is freed
 * @async: whether the work goes on when @func has returned, until iris_task_work_finished()
 * @control_scheduler: (nullable): where the handlers run, or %NULL: where the work ends
 * @work_scheduler: (nullable): where @func runs, or %NULL for the default scheduler
 * @context: (nullable): a main context for the handlers, in place of @control_scheduler
 *
 * Makes a task, with all that can be chosen.
 *
 * Returns: (transfer full): a task
 */
IrisTask *
iris_task_new_full (IrisTaskFunc func,
                    gpointer user_data,
                    GDestroyNotify notify,
                    gboolean async,
                    IrisScheduler *control_scheduler,
                    IrisScheduler *work_scheduler,
                    GMainContext *context)
{
  IrisTask *self;

  g_return_val_if_fail (control_scheduler == NULL || IRIS_IS_SCHEDULER (control_scheduler), NULL);
  g_return_val_if_fail (work_scheduler == NULL || IRIS_IS_SCHEDULER (work_scheduler), NULL);

  self = iris_task_new (func, user_data, notify);
  task_set_where (self, async, control_scheduler, work_scheduler, context);

  return self;
}

/**
 * iris_task_new_with_closure_full:
 * @closure: the work; it is called with the task
 * @async: whether the work goes on when @closure has returned
 * @control_scheduler: (nullable): where the handlers run, or %NULL: where the work ends
 * @work_scheduler: (nullable): where @closure runs, or %NULL for the default scheduler
 * @context: (nullable): a main context for the handlers, in place of @control_scheduler
 *
 * Makes a task of a closure; see iris_task_new_full().
 *
 * Returns: (transfer full): a task
 */
IrisTask *
iris_task_new_with_closure_full (GClosure *closure,
                                 gboolean async,
                                 IrisScheduler *control_scheduler,
                                 IrisScheduler *work_scheduler,
                                 GMainContext *context)
{
  IrisTask *self;

  g_return_val_if_fail (closure != NULL, NULL);
  g_return_val_if_fail (control_scheduler == NULL || IRIS_IS_SCHEDULER (control_scheduler), NULL);
  g_return_val_if_fail (work_scheduler == NULL || IRIS_IS_SCHEDULER (work_scheduler), NULL);

  self = g_object_new (IRIS_TYPE_TASK, NULL);
  iris_task_get_private (self)->closure = iris_task_take_closure (closure);
  task_set_where (self, async, control_scheduler, work_scheduler, context);

  return self;
}

/* --- its course --- */

/* Tells all that wait about one task after the other: an end may end others, and a chain of a
 * million must not be a stack of a million. */
void
iris_task_tell (IrisTask *first)
{
  GQueue over = G_QUEUE_INIT;
  IrisTask *self = first;

  if (!iris_task_get_private (first)->has_run)
    g_object_ref (first);
  do
    {
      IrisTaskPrivate *priv = iris_task_get_private (self);

      /* Those from the queue come with a reference of their edge, besides that of their run. */
      if (self != first && priv->has_run)
        g_object_unref (self);
      iris_task_unlink_cancellable (self);
      if (iris_task_state (priv) == IRIS_TASK_STATE_CANCELLED)
        iris_task_cancel_own_cancellable (self);
      IRIS_TASK_GET_CLASS (self)->ended (self);
      if (atomic_load_explicit (&priv->linked, memory_order_seq_cst))
        iris_task_graph_leave (self, &over);
      iris_task_tell_waiters (self);
    }
  while ((self = g_queue_pop_head (&over)) != NULL);
}

void
iris_task_end_cancelled (IrisTask *self)
{
  IrisTaskPrivate *priv = iris_task_get_private (self);
  IrisTaskHandler *handlers;

  iris_task_enter (priv, IRIS_TASK_STATE_CANCELLED);
  handlers = iris_task_steal_handlers (priv);
  if (priv->n_blocked > 0)
    g_cond_broadcast (&priv->over);
  g_mutex_unlock (&priv->lock);
  iris_task_free_handlers (handlers);
  iris_task_tell (self);
}

/* The work has ended, in RUNNING; the lock is held, and released. */
static void
task_end_work (IrisTask *self)
{
  IrisTaskPrivate *priv = iris_task_get_private (self);

  if (atomic_load_explicit (&priv->cancel_wanted, memory_order_relaxed))
    iris_task_end_cancelled (self);
  else if (priv->returned != NULL)
    iris_task_wait_for_returned (self);
  else
    {
      iris_task_enter (priv, IRIS_TASK_STATE_CALLBACKS);
      g_mutex_unlock (&priv->lock);
      iris_task_begin_handlers (self, true);
    }
}

/* On a worker, or in the context for work. The item holds the run's reference, and if the task was
 * cancelled meanwhile that is all there is left to drop. */
static void
task_work (gpointer data)
{
  IrisTask *self = data;
  IrisTaskPrivate *priv = iris_task_get_private (self);

  g_mutex_lock (&priv->lock);
  if (iris_task_state (priv) != IRIS_TASK_STATE_QUEUED)
    {
      g_mutex_unlock (&priv->lock);
      g_object_unref (self);
      return;
    }
  iris_task_enter (priv, IRIS_TASK_STATE_RUNNING);
  priv->in_func = true;
  g_mutex_unlock (&priv->lock);

  IRIS_TASK_GET_CLASS (self)->execute (self);

  g_mutex_lock (&priv->lock);
  priv->in_func = false;
  if (!priv->is_async || priv->work_is_over)
    task_end_work (self);
  else
    g_mutex_unlock (&priv->lock); /* from here on another thread may end it */
}

static void
task_work_dropped (gpointer data)
{
  IrisTask *self = data;
  IrisTaskPrivate *priv = iris_task_get_private (self);

  g_mutex_lock (&priv->lock);
  if (iris_task_state (priv) == IRIS_TASK_STATE_QUEUED)
    {
      iris_task_end_cancelled (self);
      return;
    }
  g_mutex_unlock (&priv->lock);
  g_object_unref (self);
}

void
iris_task_queue_work (IrisTask *self)
{
  IrisTaskPrivate *priv = iris_task_get_private (self);

  iris_item_init (&priv->item, task_work, self, task_work_dropped);
  if (priv->work_context != NULL)
    {
      g_autoptr (GMainContext) keep = g_main_context_ref (priv->work_context);

      iris_context_queue_push (iris_context_queue_of (keep), &priv->item);
    }
  else
    {
      g_autoptr (IrisScheduler) keep = iris_task_dup_work_scheduler (self);

      iris_scheduler_queue_item (keep, &priv->item);
    }
}

/* From CONSTRUCTED, with the lock held. */
static IrisTaskState
task_first_state (IrisTaskPrivate *priv)
{
  if (priv->settled)
    return IRIS_TASK_STATE_CALLBACKS;
  if (priv->n_missing > 0)
    return IRIS_TASK_STATE_WAITING;

  return priv->only_waits ? IRIS_TASK_STATE_CALLBACKS : IRIS_TASK_STATE_QUEUED;
}

/**
 * iris_task_run:
 * @self: a task that was not run yet
 *
 * Runs the task, as soon as its dependencies are over. The task holds a reference to itself until
 * it is over, and leaves that of the caller alone: a caller that needs the task no more unrefs it,
 * at once if it likes (`g_autoptr`). A task that was cancelled before stays so.
 */
void
iris_task_run (IrisTask *self)
{
  IrisTaskPrivate *priv;
  IrisTaskState state;

  g_return_if_fail (IRIS_IS_TASK (self));

  priv = iris_task_get_private (self);
  g_object_ref (self); /* the run's, until the task is over */
  g_mutex_lock (&priv->lock);
  state = iris_task_state (priv);
  if (state != IRIS_TASK_STATE_CONSTRUCTED)
    {
      g_mutex_unlock (&priv->lock);
      if (state != IRIS_TASK_STATE_CANCELLED)
        g_critical ("iris: a task is run once, and this one is %s",
                    iris_task_state_get_name (state));
      g_object_unref (self);
      return;
    }
  priv->has_run = true;
  state = task_first_state (priv);
  iris_task_enter (priv, state);
  g_mutex_unlock (&priv->lock);
  if (state == IRIS_TASK_STATE_QUEUED)
    iris_task_queue_work (self);
  else if (state == IRIS_TASK_STATE_CALLBACKS)
    iris_task_begin_handlers (self, false);
}

/**
 * iris_task_cancel:
 *
 * Cancels the task. Before its function has begun, and while it waits for other tasks, it is
 * cancelled at once. While its function runs, iris_task_is_cancelled() tells the function so, what
 * iris_task_get_cancellable() returned is cancelled, and the task is cancelled when its function
 * ends. Later it has no effect. A task that waits for one that it returned cancels that one too.
 * A #GCancellable that was given to iris_task_set_cancellable() is not cancelled.
 *
 * Handlers of a cancelled task are not called, and its dependents are cancelled with it.
 */
void
iris_task_cancel (IrisTask *self)
{
  IrisTaskPrivate *priv;
  g_autoptr (IrisTask) keep = NULL;
  g_autoptr (IrisTask) returned = NULL;
  IrisTaskState state;

  g_return_if_fail (IRIS_IS_TASK (self));

  priv = iris_task_get_private (self);
  if (iris_task_state (priv) >= IRIS_TASK_STATE_CALLBACKS)
    return;
  keep = g_object_ref (self);
  g_mutex_lock (&priv->lock);
  state = iris_task_state (priv);
  if (state >= IRIS_TASK_STATE_CALLBACKS
      || atomic_exchange_explicit (&priv->cancel_wanted, true, memory_order_relaxed))
    {
      g_mutex_unlock (&priv->lock);
      return;
    }
  if (state == IRIS_TASK_STATE_RUNNING)
    {
      g_mutex_unlock (&priv->lock);
      iris_task_cancel_own_cancellable (self);
      IRIS_TASK_GET_CLASS (self)->cancelled (self);
    }
  else
    {
      /* The item has the run's reference, and drops it when its turn comes. */
      if (state == IRIS_TASK_STATE_QUEUED)
        priv->has_run = false;
      returned = g_steal_pointer (&priv->returned);
      iris_task_end_cancelled (self);
    }
  if (returned != NULL)
    iris_task_cancel (returned);
}

/**
 * iris_task_work_finished:
 * @self: an asynchronous task whose function was called
 *
 * Says that the work of an asynchronous task has ended. If its function is still running, the
 * handlers begin when that has returned. May be called from any thread.
 */
void
iris_task_work_finished (IrisTask *self)
{
  IrisTaskPrivate *priv;
  bool good;

  g_return_if_fail (IRIS_IS_TASK (self));

  priv = iris_task_get_private (self);
  g_return_if_fail (priv->is_async);

  g_mutex_lock (&priv->lock);
  good = iris_task_state (priv) == IRIS_TASK_STATE_RUNNING && !priv->work_is_over;
  priv->work_is_over |= good;
  if (good && !priv->in_func)
    {
      task_end_work (self);
      return;
    }
  g_mutex_unlock (&priv->lock);
  if (!good)
    g_critical ("iris: the work of a task ends once, while it runs");
}

/* --- what can be asked, and set before it runs --- */

/**
 * iris_task_get_state:
 *
 * Returns: where the task is on its way
 */
IrisTaskState
iris_task_get_state (IrisTask *self)
{
  g_return_val_if_fail (IRIS_IS_TASK (self), IRIS_TASK_STATE_CONSTRUCTED);

  return iris_task_state (iris_task_get_private (self));
}

/**
 * iris_task_is_async:
 *
 * Tells whether its work ends with iris_task_work_finished().
 */
gboolean
iris_task_is_async (IrisTask *self)
{
  g_return_val_if_fail (IRIS_IS_TASK (self), FALSE);

  return iris_task_get_private (self)->is_async;
}

/**
 * iris_task_is_executing:
 *
 * Tells whether it was run and is not over.
 */
gboolean
iris_task_is_executing (IrisTask *self)
{
  IrisTaskState state = iris_task_get_state (self);

  return state != IRIS_TASK_STATE_CONSTRUCTED && !iris_task_state_is_over (state);
}

/**
 * iris_task_is_finished:
 *
 * Tells whether it is over, well or not, and was not cancelled.
 */
gboolean
iris_task_is_finished (IrisTask *self)
{
  IrisTaskState state = iris_task_get_state (self);

  return state == IRIS_TASK_STATE_FINISHED || state == IRIS_TASK_STATE_FAILED;
}

/**
 * iris_task_is_cancelled:
 *
 * For functions that take long: they should look now and then, and return when it is %TRUE.
 *
 * Returns: whether it was cancelled, or will be when its function ends
 */
gboolean
iris_task_is_cancelled (IrisTask *self)
{
  IrisTaskPrivate *priv;
  IrisTaskState state;

  g_return_val_if_fail (IRIS_IS_TASK (self), FALSE);

  priv = iris_task_get_private (self);
  state = iris_task_state (priv);

  return state == IRIS_TASK_STATE_CANCELLED
         || (state == IRIS_TASK_STATE_RUNNING
             && atomic_load_explicit (&priv->cancel_wanted, memory_order_relaxed));
}

/**
 * iris_task_has_succeeded:
 *
 * Tells whether it is over, without an error.
 */
gboolean
iris_task_has_succeeded (IrisTask *self)
{
  return iris_task_get_state (self) == IRIS_TASK_STATE_FINISHED;
}

/**
 * iris_task_has_failed:
 *
 * Tells whether it is over, with an error.
 */
gboolean
iris_task_has_failed (IrisTask *self)
{
  return iris_task_get_state (self) == IRIS_TASK_STATE_FAILED;
}

/**
 * iris_task_get_progress_mode:
 *
 * Tells how its progress is best shown.
 */
IrisProgressMode
iris_task_get_progress_mode (IrisTask *self)
{
  g_return_val_if_fail (IRIS_IS_TASK (self), IRIS_PROGRESS_ACTIVITY_ONLY);

  return iris_task_get_private (self)->progress_mode;
}

/**
 * iris_task_set_progress_mode:
 * @self: a task that was not run yet
 * @mode: how its progress is best shown
 *
 * Says how the progress of the task is best shown.
 */
void
iris_task_set_progress_mode (IrisTask *self, IrisProgressMode mode)
{
  g_return_if_fail (IRIS_IS_TASK (self));

  iris_task_get_private (self)->progress_mode = mode;
}

/**
 * iris_task_get_main_context:
 *
 * Returns: (transfer none) (nullable): the main context in which its handlers run, or %NULL
 */
GMainContext *
iris_task_get_main_context (IrisTask *self)
{
  g_return_val_if_fail (IRIS_IS_TASK (self), NULL);

  return iris_task_get_private (self)->context;
}

/**
 * iris_task_set_main_context:
 * @self: a task that was not run yet
 * @context: (nullable): a main context, or %NULL for the thread-default one of the caller
 *
 * Sets the main context in which the handlers of the task run, on the thread that iterates it. The
 * task is not over before they have run, so something must iterate it.
 */
void
iris_task_set_main_context (IrisTask *self, GMainContext *context)
{
  IrisTaskPrivate *priv;

  g_return_if_fail (IRIS_IS_TASK (self));

  priv = iris_task_get_private (self);
  g_return_if_fail (iris_task_state (priv) == IRIS_TASK_STATE_CONSTRUCTED);

  g_clear_pointer (&priv->context, g_main_context_unref);
  priv->context = context != NULL ? g_main_context_ref (context)
                                  : g_main_context_ref_thread_default ();
}

/**
 * iris_task_get_work_scheduler:
 *
 * Returns: (transfer none): the scheduler on which its function runs
 */
IrisScheduler *
iris_task_get_work_scheduler (IrisTask *self)
{
  IrisTaskPrivate *priv;

  g_return_val_if_fail (IRIS_IS_TASK (self), NULL);

  priv = iris_task_get_private (self);

  return priv->work_scheduler != NULL ? priv->work_scheduler : iris_get_default_work_scheduler ();
}

IrisScheduler *
iris_task_dup_work_scheduler (IrisTask *self)
{
  return iris_scheduler_dup_or_default (iris_task_get_private (self)->work_scheduler,
                                        IRIS_DEFAULT_WORK);
}

IrisScheduler *
iris_task_dup_control_scheduler (IrisTask *self)
{
  IrisTaskPrivate *priv = iris_task_get_private (self);

  return priv->control_scheduler != NULL ? g_object_ref (priv->control_scheduler)
                                         : iris_task_dup_work_scheduler (self);
}

/**
 * iris_task_get_control_scheduler:
 *
 * Returns: (transfer none): the scheduler on which its handlers run if they do not run where the
 *   work ends
 */
IrisScheduler *
iris_task_get_control_scheduler (IrisTask *self)
{
  IrisTaskPrivate *priv;

  g_return_val_if_fail (IRIS_IS_TASK (self), NULL);

  priv = iris_task_get_private (self);

  return priv->control_scheduler != NULL ? priv->control_scheduler
                                         : iris_task_get_work_scheduler (self);
}

static void
set_scheduler (IrisTask *self, IrisScheduler **where, IrisScheduler *scheduler)
{
  g_return_if_fail (scheduler == NULL || IRIS_IS_SCHEDULER (scheduler));
  g_return_if_fail (iris_task_get_state (self) == IRIS_TASK_STATE_CONSTRUCTED);

  g_set_object (where, scheduler);
}

/**
 * iris_task_set_work_scheduler:
 * @self: a task that was not run yet
 * @scheduler: (nullable): where its function runs, or %NULL for the default scheduler
 *
 * Says where the work of the task runs.
 */
void
iris_task_set_work_scheduler (IrisTask *self, IrisScheduler *scheduler)
{
  g_return_if_fail (IRIS_IS_TASK (self));

  set_scheduler (self, &iris_task_get_private (self)->work_scheduler, scheduler);
}

/**
 * iris_task_set_control_scheduler:
 * @self: a task that was not run yet
 * @scheduler: (nullable): where its handlers run, or %NULL: where the work ends
 *
 * Says where the handlers of the task run.
 */
void
iris_task_set_control_scheduler (IrisTask *self, IrisScheduler *scheduler)
{
  g_return_if_fail (IRIS_IS_TASK (self));

  set_scheduler (self, &iris_task_get_private (self)->control_scheduler, scheduler);
}
