/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The number of threads, as iris 0.3 asked for it. A scheduler has one number of workers, so its
 * least and its greatest number are the same.
 */
#define IRIS_INSIDE
#include "iris/sched/iris-scheduler-threads.h"
#undef IRIS_INSIDE

/**
 * iris_scheduler_get_min_threads:
 *
 * Tells how many threads the scheduler has at least: its workers, all of which exist from its first
 * item on and sleep while there is nothing to do. See iris_scheduler_get_n_workers().
 *
 * Returns: a number of threads
 */
gint
iris_scheduler_get_min_threads (IrisScheduler *self)
{
  return (gint) iris_scheduler_get_n_workers (self);
}

/**
 * iris_scheduler_get_max_threads:
 *
 * Tells how many threads the scheduler has at most, not counting those that stand in for workers
 * that block. See iris_scheduler_get_n_workers().
 *
 * Returns: a number of threads
 */
gint
iris_scheduler_get_max_threads (IrisScheduler *self)
{
  return (gint) iris_scheduler_get_n_workers (self);
}

/**
 * iris_scheduler_get_n_cpu:
 *
 * Tells how many processors this process may use, which is the number of workers of a scheduler
 * that is made without one.
 *
 * Returns: a number of processors, at least 1
 */
guint
iris_scheduler_get_n_cpu (void)
{
  return g_get_num_processors ();
}
