/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The schedulers that are used where a program names none.
 */
#pragma once

#include <iris/sched/iris-scheduler.h>

G_BEGIN_DECLS

IRIS_AVAILABLE_IN_ALL IrisScheduler *iris_scheduler_get_default (void);
IRIS_AVAILABLE_IN_ALL IrisScheduler *iris_get_default_control_scheduler (void);
IRIS_AVAILABLE_IN_ALL IrisScheduler *iris_get_default_work_scheduler (void);
IRIS_AVAILABLE_IN_ALL void iris_set_default_control_scheduler (IrisScheduler *scheduler);
IRIS_AVAILABLE_IN_ALL void iris_set_default_work_scheduler (IrisScheduler *scheduler);

G_END_DECLS
