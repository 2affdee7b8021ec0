/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Work that can be taken back: what a scheduler has queued and not begun.
 */
#pragma once

#include <iris/sched/iris-scheduler.h>

G_BEGIN_DECLS

#define IRIS_TYPE_WORK_HANDLE (iris_work_handle_get_type ())

/**
 * IrisWorkHandle:
 *
 * Work that was queued with iris_scheduler_queue_work(), as the thread that queued it sees it.
 */
typedef struct _IrisWorkHandle IrisWorkHandle;

/**
 * IrisSchedulerForeachFunc: (skip)
 * @scheduler: a scheduler
 * @work: (transfer none): work that has not begun, at the moment of the call
 * @callback: (scope call): its function
 * @data: what was queued with @callback
 * @user_data: what was given with this function
 *
 * Looks at work. It may take it back with iris_scheduler_unqueue(), and queue more.
 *
 * Returns: whether to go on
 */
typedef gboolean (*IrisSchedulerForeachFunc) (IrisScheduler *scheduler,
                                              IrisWorkHandle *work,
                                              IrisCallback callback,
                                              gpointer data,
                                              gpointer user_data);

IRIS_AVAILABLE_IN_ALL GType iris_work_handle_get_type (void);
IRIS_AVAILABLE_IN_ALL IrisWorkHandle *iris_work_handle_ref (IrisWorkHandle *self);
IRIS_AVAILABLE_IN_ALL void iris_work_handle_unref (IrisWorkHandle *self);
IRIS_AVAILABLE_IN_ALL IrisWorkHandle *iris_scheduler_queue_work (IrisScheduler *self,
                                                                 IrisCallback func,
                                                                 gpointer data,
                                                                 GDestroyNotify notify);
IRIS_AVAILABLE_IN_ALL gboolean iris_scheduler_unqueue (IrisScheduler *self, IrisWorkHandle *work);
IRIS_AVAILABLE_IN_ALL void
iris_scheduler_foreach (IrisScheduler *self, IrisSchedulerForeachFunc func, gpointer user_data);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (IrisWorkHandle, iris_work_handle_unref)

G_END_DECLS
