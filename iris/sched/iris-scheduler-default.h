/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The scheduler that is used where a program names none.
 */
#pragma once

#include <iris/sched/iris-scheduler.h>

G_BEGIN_DECLS

IRIS_AVAILABLE_IN_ALL
IrisScheduler *iris_scheduler_get_default (void);

G_END_DECLS
