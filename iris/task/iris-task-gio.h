/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Tasks for asynchronous functions in the manner of GIO, and outcomes for a GTask.
 */
#pragma once

#include <iris/task/iris-task.h>

G_BEGIN_DECLS

/**
 * IrisTaskBegin:
 * @task: the task
 * @cancellable: for the function that is begun
 * @callback: (scope async): for the function that is begun
 * @callback_data: (closure): for the function that is begun, with @callback
 * @user_data: what was given with the function
 *
 * Begins an asynchronous function in the manner of GIO. It must hand on @cancellable, @callback
 * and @callback_data.
 */
typedef void (*IrisTaskBegin) (IrisTask *task,
                               GCancellable *cancellable,
                               GAsyncReadyCallback callback,
                               gpointer callback_data,
                               gpointer user_data);

/**
 * IrisTaskEnd:
 * @task: the task, which may be given its result
 * @source: (nullable): the object whose function it was
 * @result: what the function ended with
 * @user_data: what was given with the function
 * @error: return location for an error
 *
 * Ends an asynchronous function in the manner of GIO.
 *
 * Returns: whether it ended well
 */
typedef gboolean (*IrisTaskEnd) (IrisTask *task,
                                 GObject *source,
                                 GAsyncResult *result,
                                 gpointer user_data,
                                 GError **error);

IRIS_AVAILABLE_IN_ALL IrisTask *iris_task_new_for_gio (GMainContext *context,
                                                       IrisTaskBegin begin,
                                                       IrisTaskEnd end,
                                                       gpointer user_data,
                                                       GDestroyNotify notify);
IRIS_AVAILABLE_IN_ALL void iris_task_return_to_gtask (IrisTask *self, GTask *gtask);

G_END_DECLS
