/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The schedulers that are used where a program names none: work-stealing places of this machine,
 * or what the program has set instead.
 */
#include "iris/sched/schedulers/iris-place-scheduler-private.h"

#include "iris/sched/schedulers/iris-default-scheduler.h"

#include <pthread.h>

static gsize default_scheduler;

static pthread_mutex_t chosen_lock = PTHREAD_MUTEX_INITIALIZER;
static IrisScheduler *chosen[IRIS_N_DEFAULTS];   /* a reference each, or NULL; under the lock */
static _Atomic bool was_chosen[IRIS_N_DEFAULTS]; /* most programs never do, and pay for no lock */

/* The parent's is of no use to a child, once it was started; the next call makes another. */
static void
forget_default (void)
{
  default_scheduler = 0;
}

static void
forget_default_in_children (void)
{
  if (pthread_atfork (NULL, NULL, forget_default) != 0)
    g_error ("iris: out of memory for the handlers of fork()");
}

static IrisScheduler *
make_default (void)
{
  static pthread_once_t fork_once = PTHREAD_ONCE_INIT;

  pthread_once (&fork_once, forget_default_in_children);

  return iris_place_scheduler_new (NULL);
}

/**
 * iris_scheduler_get_default:
 *
 * The process-wide scheduler, which is used where none is named and no other was set; see
 * iris_set_default_control_scheduler() and iris_set_default_work_scheduler(). It is made at the
 * first call, uses the places of this machine, and stays until the process ends; a child process
 * has one of its own. May be called from any thread.
 *
 * Returns: (transfer none): a scheduler
 */
IrisScheduler *
iris_scheduler_get_default (void)
{
  if (g_once_init_enter (&default_scheduler))
    g_once_init_leave (&default_scheduler, (gsize) make_default ());

  return (IrisScheduler *) default_scheduler;
}

static void
guard_chosen (void)
{
  iris_fork_guard (&chosen_lock);
}

/* What the program has set, with a reference, or NULL. Of the parent's, a child can use only what
 * was not started. */
static IrisScheduler *
dup_chosen (IrisDefault which)
{
  IrisScheduler *scheduler;
  IrisWorkerPool *pool;

  if (!atomic_load_explicit (&was_chosen[which], memory_order_acquire))
    return NULL;
  pthread_mutex_lock (&chosen_lock);
  scheduler = chosen[which] != NULL ? g_object_ref (chosen[which]) : NULL;
  pthread_mutex_unlock (&chosen_lock);
  pool = scheduler != NULL ? iris_scheduler_get_pool (scheduler) : NULL;
  if (pool != NULL && iris_worker_pool_is_foreign (pool))
    g_clear_object (&scheduler);

  return scheduler;
}

/* @scheduler, or in place of %NULL a default one; with a reference that keeps it whatever the
 * program sets meanwhile. */
IrisScheduler *
iris_scheduler_dup_or_default (IrisScheduler *scheduler, IrisDefault which)
{
  if (scheduler != NULL)
    return g_object_ref (scheduler);
  scheduler = dup_chosen (which);

  return scheduler != NULL ? scheduler : g_object_ref (iris_scheduler_get_default ());
}

static IrisScheduler *
get_chosen (IrisDefault which)
{
  g_autoptr (IrisScheduler) scheduler = iris_scheduler_dup_or_default (NULL, which);

  return scheduler;
}

static void
choose (IrisDefault which, IrisScheduler *scheduler)
{
  static pthread_once_t guard_once = PTHREAD_ONCE_INIT;
  IrisScheduler *old;

  pthread_once (&guard_once, guard_chosen);
  g_object_ref (scheduler);
  pthread_mutex_lock (&chosen_lock);
  old = chosen[which];
  chosen[which] = scheduler;
  atomic_store_explicit (&was_chosen[which], true, memory_order_release);
  pthread_mutex_unlock (&chosen_lock);
  g_clear_object (&old);
}

/**
 * iris_get_default_control_scheduler:
 *
 * Gets the scheduler that receivers, actors and services use if they are given none. It is that of
 * iris_scheduler_get_default() unless the program has set another. May be called from any thread.
 *
 * Returns: (transfer none): a scheduler, valid until another one is set
 */
IrisScheduler *
iris_get_default_control_scheduler (void)
{
  return get_chosen (IRIS_DEFAULT_CONTROL);
}

/**
 * iris_get_default_work_scheduler:
 *
 * Gets the scheduler that tasks and processes use if they are given none. It is that of
 * iris_scheduler_get_default() unless the program has set another. May be called from any thread.
 *
 * Returns: (transfer none): a scheduler, valid until another one is set
 */
IrisScheduler *
iris_get_default_work_scheduler (void)
{
  return get_chosen (IRIS_DEFAULT_WORK);
}

/**
 * iris_set_default_control_scheduler:
 *
 * Sets what receivers, actors and services use that are made from now on and are given no
 * scheduler. It is kept until another one is set. May be called from any thread.
 */
void
iris_set_default_control_scheduler (IrisScheduler *scheduler)
{
  g_return_if_fail (IRIS_IS_SCHEDULER (scheduler));

  choose (IRIS_DEFAULT_CONTROL, scheduler);
}

/**
 * iris_set_default_work_scheduler:
 *
 * Sets what tasks and processes use from now on that are given no scheduler, those included that
 * were made before. It is kept until another one is set. May be called from any thread.
 */
void
iris_set_default_work_scheduler (IrisScheduler *scheduler)
{
  g_return_if_fail (IRIS_IS_SCHEDULER (scheduler));

  choose (IRIS_DEFAULT_WORK, scheduler);
}
