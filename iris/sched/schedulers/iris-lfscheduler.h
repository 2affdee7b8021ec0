/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The lock-free scheduler, for many items that come from outside.
 */
#pragma once

#include <iris/sched/iris-scheduler.h>

G_BEGIN_DECLS

/**
 * IrisLFScheduler:
 *
 * A scheduler that takes no lock, whichever thread queues: for many items that come from outside.
 */
#define IRIS_TYPE_LFSCHEDULER (iris_lfscheduler_get_type ())
IRIS_AVAILABLE_IN_ALL
G_DECLARE_FINAL_TYPE (IrisLFScheduler, iris_lfscheduler, IRIS, LFSCHEDULER, IrisScheduler)

IRIS_AVAILABLE_IN_ALL IrisScheduler *iris_lfscheduler_new (void);
IRIS_AVAILABLE_IN_ALL IrisScheduler *
iris_lfscheduler_new_full (guint min_threads, guint max_threads);

G_END_DECLS
