/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What can be asked of a task, and set before it runs.
 */
#include "iris/task/iris-task-private.h"

#include "iris/sched/iris-scheduler-private.h"

#define IRIS_INSIDE
#include "iris/sched/schedulers/iris-default-scheduler.h"
#undef IRIS_INSIDE

/**
 * iris_task_get_state:
 *
 * Tells where the task is on its way.
 *
 * Returns: where it is
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
