/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A time line of what a scheduler's workers do, for Perfetto.
 */
#pragma once

#include <iris/sched/iris-scheduler.h>
#include <gio/gio.h>

G_BEGIN_DECLS

IRIS_AVAILABLE_IN_ALL gboolean iris_scheduler_trace_start (IrisScheduler *self,
                                                           guint n_events,
                                                           GError **error);
IRIS_AVAILABLE_IN_ALL void iris_scheduler_trace_stop (IrisScheduler *self);
IRIS_AVAILABLE_IN_ALL gboolean iris_scheduler_trace_write (IrisScheduler *self,
                                                           GOutputStream *stream,
                                                           GCancellable *cancellable,
                                                           GError **error);

G_END_DECLS
