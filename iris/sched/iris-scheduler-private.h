/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a scheduler of iris is to the abstract class.
 */
#pragma once

#include "iris/sched/pool/iris-worker-pool-private.h"
#include "iris/sched/iris-scheduler.h"

/* Which of the schedulers that are used where a program names none. */
typedef enum
{
  IRIS_DEFAULT_CONTROL,
  IRIS_DEFAULT_WORK,
  IRIS_N_DEFAULTS,
} IrisDefault;

IrisScheduler *iris_scheduler_dup_or_default (IrisScheduler *scheduler, IrisDefault which);
void iris_scheduler_set_pool (IrisScheduler *self, IrisWorkerPool *pool);
IrisWorkerPool *iris_scheduler_get_pool (IrisScheduler *self);
void iris_scheduler_tell_end (const char *name, const IrisStats *stats);
guint iris_scheduler_choose_n_workers (guint min_threads, guint max_threads);
