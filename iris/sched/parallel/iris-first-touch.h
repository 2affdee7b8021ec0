/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * First touch: putting memory where it will be used, by having the workers there touch it first.
 */
#pragma once

#include <gio/gio.h>
#include <iris/sched/iris-scheduler.h>

G_BEGIN_DECLS

/**
 * IRIS_FIRST_TOUCH_CHUNK:
 *
 * What one item of iris_scheduler_first_touch() touches at most, in bytes.
 */
#define IRIS_FIRST_TOUCH_CHUNK (4 * 1024 * 1024)

IRIS_AVAILABLE_IN_ALL gboolean iris_scheduler_first_touch (IrisScheduler *self,
                                                           gint place,
                                                           gpointer memory,
                                                           gconstpointer from,
                                                           gsize size,
                                                           GError **error);
IRIS_AVAILABLE_IN_ALL void iris_scheduler_first_touch_async (IrisScheduler *self,
                                                             gint place,
                                                             gpointer memory,
                                                             gconstpointer from,
                                                             gsize size,
                                                             GCancellable *cancellable,
                                                             GAsyncReadyCallback callback,
                                                             gpointer user_data);
IRIS_AVAILABLE_IN_ALL gboolean iris_scheduler_first_touch_finish (IrisScheduler *self,
                                                                  GAsyncResult *result,
                                                                  GError **error);

G_END_DECLS
