/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The scheduler that is used where a program names none: work-stealing places of this machine.
 */
#define IRIS_INSIDE
#include "iris/sched/iris-place-scheduler.h"
#include "iris/sched/iris-scheduler-default.h"
#undef IRIS_INSIDE

#include <pthread.h>

static gsize default_scheduler;

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
 * The process-wide scheduler. It is made at the first call, uses the places of this machine, and
 * stays until the process ends; a child process has one of its own. May be called from any thread.
 *
 * Returns: (transfer none): a scheduler
 *
 * Since: 0.1
 */
IrisScheduler *
iris_scheduler_get_default (void)
{
  if (g_once_init_enter (&default_scheduler))
    g_once_init_leave (&default_scheduler, (gsize) make_default ());

  return (IrisScheduler *) default_scheduler;
}
