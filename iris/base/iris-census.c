/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The census: making, closing and settling. The argument is in iris-census-private.h.
 */
#include "iris/base/iris-census-private.h"

#include "iris/base/iris-fork-private.h"

#include <stdlib.h>
#include <string.h>

static pthread_mutex_t idle_lock = PTHREAD_MUTEX_INITIALIZER;
static IrisCensus *idle_censuses; /* memory that is only ever a census again */
static pthread_once_t guard_once = PTHREAD_ONCE_INIT;

static void
guard (void)
{
  iris_fork_guard (&idle_lock);
}

static IrisCensus *
census_take_idle (void)
{
  IrisCensus *self;

  pthread_mutex_lock (&idle_lock);
  self = idle_censuses;
  if (self != NULL)
    idle_censuses = self->next_idle;
  pthread_mutex_unlock (&idle_lock);

  return self;
}

static void
census_put_idle (IrisCensus *self)
{
  pthread_mutex_lock (&idle_lock);
  self->next_idle = idle_censuses;
  idle_censuses = self;
  pthread_mutex_unlock (&idle_lock);
}

/* NULL when there is no memory. */
IrisCensus *
iris_census_new (void *subject, void (*done) (void *subject))
{
  IrisCensus *self;

  iris_fence_init ();
  pthread_once (&guard_once, guard);
  self = census_take_idle ();
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
census_is_empty (IrisCensus *self)
{
  uint64_t inside = 0;

  for (unsigned i = 0; i <= IRIS_THREAD_SLOTS; i++)
    inside -= atomic_load_explicit (&self->stripes[i].left, memory_order_acquire);
  for (unsigned i = 0; i <= IRIS_THREAD_SLOTS; i++)
    inside += atomic_load_explicit (&self->stripes[i].entered, memory_order_acquire);

  return inside == 0;
}

/* Calls `done` if the census is closed and empty and nobody did so before. */
void
iris_census_settle (IrisCensus *self)
{
  void (*done) (void *) = NULL;
  void *subject = NULL;

  pthread_mutex_lock (&self->lock);
  /* Acquire: `done` is called here with what the owner has done to the subject, who may not have
   * had the lock since. */
  if (self->done != NULL && atomic_load_explicit (&self->closing, memory_order_acquire)
      && census_is_empty (self))
    {
      done = self->done;
      subject = self->subject;
      self->done = NULL;
      self->subject = NULL;
    }
  pthread_mutex_unlock (&self->lock);

  if (done != NULL)
    {
      census_put_idle (self);
      done (subject);
    }
}

/* The owner, once, after it stopped publishing the census. */
void
iris_census_close (IrisCensus *self)
{
  iris_fence_heavy ();
  /* Release: see iris_census_settle(). */
  atomic_store_explicit (&self->closing, true, memory_order_release);
  iris_fence_heavy ();
  iris_census_settle (self);
}
