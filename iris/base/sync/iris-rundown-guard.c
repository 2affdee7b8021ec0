/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The rundown guard: making, closing and settling. The argument is in iris-rundown-guard-private.h.
 */
#include "iris/base/sync/iris-rundown-guard-private.h"

#include "iris/base/iris-fork-private.h"

#include <stdlib.h>
#include <string.h>

static pthread_mutex_t idle_lock = PTHREAD_MUTEX_INITIALIZER;
static IrisRundownGuard *idle_guards; /* memory that is only ever a rundown guard again */
static pthread_once_t guard_once = PTHREAD_ONCE_INIT;

static void
guard (void)
{
  iris_fork_guard (&idle_lock);
}

static IrisRundownGuard *
guard_take_idle (void)
{
  IrisRundownGuard *self;

  pthread_mutex_lock (&idle_lock);
  self = idle_guards;
  if (self != NULL)
    idle_guards = self->next_idle;
  pthread_mutex_unlock (&idle_lock);

  return self;
}

static void
guard_put_idle (IrisRundownGuard *self)
{
  pthread_mutex_lock (&idle_lock);
  self->next_idle = idle_guards;
  idle_guards = self;
  pthread_mutex_unlock (&idle_lock);
}

/* NULL when there is no memory. */
IrisRundownGuard *
iris_rundown_guard_new (void *subject, void (*done) (void *subject))
{
  IrisRundownGuard *self;

  iris_fence_init ();
  pthread_once (&guard_once, guard);
  self = guard_take_idle ();
  if (self == NULL)
    {
      self = aligned_alloc (IRIS_CACHE_LINE, sizeof *self);
      if (self == NULL)
        return NULL;
      memset (self, 0, sizeof *self);
      pthread_mutex_init (&self->lock, NULL);
    }

  /* The lock, because a late visitor of the last life may be settling. */
  pthread_mutex_lock (&self->lock);
  self->subject = subject;
  self->done = done;
  atomic_store_explicit (&self->closing, false, memory_order_relaxed);
  pthread_mutex_unlock (&self->lock);

  return self;
}

static bool
guard_is_empty (IrisRundownGuard *self)
{
  uint64_t inside = 0;

  for (unsigned i = 0; i <= IRIS_THREAD_SLOTS; i++)
    inside -= atomic_load_explicit (&self->stripes[i].left, memory_order_acquire);
  for (unsigned i = 0; i <= IRIS_THREAD_SLOTS; i++)
    inside += atomic_load_explicit (&self->stripes[i].entered, memory_order_acquire);

  return inside == 0;
}

/* Calls `done` if the rundown guard is closed and empty and no thread did so before. */
void
iris_rundown_guard_settle (IrisRundownGuard *self)
{
  void (*done) (void *) = NULL;
  void *subject = NULL;

  pthread_mutex_lock (&self->lock);
  /* Acquire: `done` is called here with what the owner has done to the subject; it may not have
   * had the lock since. */
  if (self->done != NULL && atomic_load_explicit (&self->closing, memory_order_acquire)
      && guard_is_empty (self))
    {
      done = self->done;
      subject = self->subject;
      self->done = NULL;
      self->subject = NULL;
    }
  pthread_mutex_unlock (&self->lock);

  if (done != NULL)
    {
      guard_put_idle (self);
      done (subject);
    }
}

/* The owner, once, after it stopped publishing the rundown guard. */
void
iris_rundown_guard_close (IrisRundownGuard *self)
{
  iris_fence_heavy ();
  /* Release: see iris_rundown_guard_settle(). */
  atomic_store_explicit (&self->closing, true, memory_order_release);
  iris_fence_heavy ();
  iris_rundown_guard_settle (self);
}
