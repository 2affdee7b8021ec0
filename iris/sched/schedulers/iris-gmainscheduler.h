/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The main context scheduler: items run where a main loop runs.
 */
#pragma once

#include <iris/sched/iris-scheduler.h>

G_BEGIN_DECLS

/**
 * IrisGMainScheduler:
 *
 * Runs items where a main context is iterated, so that they may touch what belongs to that thread.
 */
#define IRIS_TYPE_GMAINSCHEDULER (iris_gmainscheduler_get_type ())
IRIS_AVAILABLE_IN_ALL
G_DECLARE_FINAL_TYPE (IrisGMainScheduler, iris_gmainscheduler, IRIS, GMAINSCHEDULER, IrisScheduler)

IRIS_AVAILABLE_IN_ALL IrisScheduler *iris_gmainscheduler_new (GMainContext *context);
IRIS_AVAILABLE_IN_ALL GMainContext *iris_gmainscheduler_get_context (IrisGMainScheduler *self);

G_END_DECLS
