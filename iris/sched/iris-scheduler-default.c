/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The scheduler that is used where a program names none: work-stealing places of this machine.
 */
#define IRIS_INSIDE
#include "iris/sched/iris-place-scheduler.h"
#include "iris/sched/iris-scheduler-default.h"
#undef IRIS_INSIDE

/**
 * iris_scheduler_get_default:
 *
 * The process-wide scheduler. It is made at the first call, uses the places of this machine, and
 * stays until the process ends. May be called from any thread.
 *
 * Returns: (transfer none): a scheduler
 *
 * Since: 0.1
 */
IrisScheduler *
iris_scheduler_get_default (void)
{
  static gsize scheduler;

  if (g_once_init_enter (&scheduler))
    g_once_init_leave (&scheduler, (gsize) iris_place_scheduler_new (NULL));

  return (IrisScheduler *) scheduler;
}
