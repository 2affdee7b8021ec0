/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Fork: the handlers. What they are for is in iris-fork-private.h.
 */
#include "iris/base/iris-fork-private.h"

#include <stdio.h>
#include <stdlib.h>

unsigned iris_fork_generation = 1;

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t *guarded[IRIS_FORK_MAX_GUARDED]; /* under list_lock */
static unsigned n_guarded;
static pthread_once_t handlers_once = PTHREAD_ONCE_INIT;

static void
fork_prepare (void)
{
  pthread_mutex_lock (&list_lock);
  for (unsigned i = 0; i < n_guarded; i++)
    pthread_mutex_lock (guarded[i]);
}

static void
fork_release (void)
{
  for (unsigned i = n_guarded; i > 0; i--)
    pthread_mutex_unlock (guarded[i - 1]);
  pthread_mutex_unlock (&list_lock);
}

static void
fork_in_child (void)
{
  fork_release ();
  iris_fork_generation++;
  /* The kernel need not have copied the consent to membarrier with the address space. */
  iris_fence_register ();
}

static void
handlers_register (void)
{
  if (pthread_atfork (fork_prepare, fork_release, fork_in_child) != 0)
    {
      fputs ("iris: out of memory for the handlers of fork()\n", stderr);
      abort ();
    }
}

/* To be called once for each lock. */
void
iris_fork_guard (pthread_mutex_t *lock)
{
  pthread_once (&handlers_once, handlers_register);
  pthread_mutex_lock (&list_lock);
  if (n_guarded == IRIS_FORK_MAX_GUARDED)
    {
      fputs ("iris: raise IRIS_FORK_MAX_GUARDED\n", stderr);
      abort ();
    }
  guarded[n_guarded++] = lock;
  pthread_mutex_unlock (&list_lock);
}
