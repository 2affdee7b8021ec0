/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Tasks that wait for others: for all of them, or for the first.
 */
#include "iris/task/iris-task-private.h"

static IrisTask *
group_new (IrisTaskNeed need)
{
  IrisTask *self = iris_task_new (NULL, NULL, NULL);
  IrisTaskPrivate *priv = iris_task_get_private (self);

  priv->need = need;
  priv->only_waits = true;

  return self;
}

static IrisTask *
group_of_list (IrisTaskNeed need, GList *tasks)
{
  IrisTask *self = group_new (need);

  for (GList *link = tasks; link != NULL; link = link->next)
    iris_task_add_dependency (self, link->data);

  return self;
}

static IrisTask *
group_of_args (IrisTaskNeed need, IrisTask *first, va_list args)
{
  IrisTask *self = group_new (need);

  for (IrisTask *task = first; task != NULL; task = va_arg (args, IrisTask *))
    iris_task_add_dependency (self, task);

  return self;
}

/**
 * iris_task_all_of:
 * @tasks: (element-type IrisTask): tasks
 *
 * Makes a task that, when it is run, waits for all of @tasks. It fails with the error of the first
 * that fails, and is cancelled with the first that is cancelled. It has no result of its own.
 * It does not run @tasks. It needs no worker: without handlers it is over as soon as it is decided,
 * on the thread on which the last of @tasks ended.
 *
 * It has no work, so no thread on which that ends: without a main context and a control scheduler
 * of its own its handlers run on its work scheduler, which is the default one.
 *
 * Returns: (transfer full): a task
 */
IrisTask *
iris_task_all_of (GList *tasks)
{
  return group_of_list (IRIS_TASK_NEEDS_ALL, tasks);
}

/**
 * iris_task_any_of:
 * @tasks: (element-type IrisTask): tasks; at least one
 *
 * Makes a task that, when it is run, waits for the first of @tasks that ends well, and has the
 * result of that. It fails when none did, with the error of the last that failed, and is cancelled
 * when all were. It does not run @tasks, and the others go on.
 *
 * Returns: (transfer full): a task
 */
IrisTask *
iris_task_any_of (GList *tasks)
{
  g_return_val_if_fail (tasks != NULL, NULL);

  return group_of_list (IRIS_TASK_NEEDS_ANY, tasks);
}

/**
 * iris_task_vall_of: (skip)
 * @first_task: (nullable): a task, or %NULL for none
 * @...: tasks, and %NULL behind the last
 *
 * As iris_task_all_of().
 *
 * Returns: (transfer full): a task
 */
IrisTask *
iris_task_vall_of (IrisTask *first_task, ...)
{
  IrisTask *self;
  va_list args;

  va_start (args, first_task);
  self = group_of_args (IRIS_TASK_NEEDS_ALL, first_task, args);
  va_end (args);

  return self;
}

/**
 * iris_task_vany_of: (skip)
 * @...: tasks, and %NULL behind the last
 *
 * As iris_task_any_of().
 *
 * Returns: (transfer full): a task
 */
IrisTask *
iris_task_vany_of (IrisTask *first_task, ...)
{
  IrisTask *self;
  va_list args;

  g_return_val_if_fail (first_task != NULL, NULL);

  va_start (args, first_task);
  self = group_of_args (IRIS_TASK_NEEDS_ANY, first_task, args);
  va_end (args);

  return self;
}
