/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The number of threads, as iris 0.3 asked for it.
 */
#pragma once

#include <iris/sched/iris-scheduler.h>

G_BEGIN_DECLS

IRIS_AVAILABLE_IN_ALL
gint iris_scheduler_get_min_threads (IrisScheduler *self);
IRIS_AVAILABLE_IN_ALL
gint iris_scheduler_get_max_threads (IrisScheduler *self);
IRIS_AVAILABLE_IN_ALL
guint iris_scheduler_get_n_cpu (void);

G_END_DECLS
