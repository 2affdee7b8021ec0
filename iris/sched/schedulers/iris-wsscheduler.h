/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The work-stealing scheduler: a deque for each worker, and no places.
 */
#pragma once

#include <iris/sched/schedulers/iris-place-scheduler.h>

G_BEGIN_DECLS

/**
 * IrisWSScheduler:
 *
 * The work-stealing scheduler: a deque for each worker, for items that queue more items.
 */
#define IRIS_TYPE_WSSCHEDULER (iris_wsscheduler_get_type ())
IRIS_AVAILABLE_IN_ALL
G_DECLARE_FINAL_TYPE (IrisWSScheduler, iris_wsscheduler, IRIS, WSSCHEDULER, IrisPlaceScheduler)

IRIS_AVAILABLE_IN_ALL IrisScheduler *iris_wsscheduler_new (void);
IRIS_AVAILABLE_IN_ALL IrisScheduler *
iris_wsscheduler_new_full (guint min_threads, guint max_threads);

G_END_DECLS
