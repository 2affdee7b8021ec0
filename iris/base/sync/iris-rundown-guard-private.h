/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The rundown guard: knows when the last user of something that was withdrawn is gone, without an
 * atomic read-modify-write for each use.
 *
 * How to use it
 * -------------
 * An owner publishes a pointer to a rundown guard, whose `subject` is the thing in use. Users call
 * iris_rundown_guard_enter() on the published pointer, and iris_rundown_guard_leave() when they are
 * done, maybe on another thread. To withdraw the thing the owner stops publishing the rundown guard
 * (stores NULL or another one) and calls iris_rundown_guard_close(); when no thread is inside any
 * more, `done` is called with the subject, once, on the thread that left last or on the closing
 * one.
 *
 * How it works
 * ------------
 * Each thread has a stripe of its own (iris-thread-slot-private.h) with two counters, entered and
 * left, that only grow. Inside are as many as the sums differ.
 *
 * enter: load the published pointer; entered + 1; light fence; load the published pointer again.
 * If it has changed, leave, and start again. So a rundown guard is touched by threads that read the
 * pointer a moment too late; for that reason its memory is never given back, only used for another
 * rundown guard, and its counters are never reset. A late visitor enters and leaves and means no
 * harm.
 *
 * Why no thread inside is overlooked: the closer has withdrawn the pointer, and runs a heavy fence.
 * The thread that found the pointer unchanged after its light fence has its entry visible to the
 * closer from then on. The closer sums `left` before `entered`; each departure that it counts has
 * its entry counted too (entering happens before leaving, and `left` is read with acquire). So the
 * difference is at least the number of threads inside, and 0 means none.
 *
 * Why the last one is not overlooked either: leaving is left + 1; light fence; look at `closing`;
 * closing is `closing` = true; heavy fence; sum. One of the two sees the other. Threads that see
 * `closing` sum under a lock, so the last of them sees all others. Setting it is a release and the
 * look under the lock an acquire: `done` follows all that the owner did with the subject, whichever
 * thread calls it. The fences order the two, but are no edge between other accesses.
 *
 * A thread that is inside may bring in another, with iris_rundown_guard_reenter(): the pointer need
 * not be looked at again, because the rundown guard cannot be settled meanwhile. The second entry
 * is released before whatever hands the first one on, so a closer that counts the departure of
 * either has both.
 *
 * Source: the two-counter idea of sleepable RCU (P. McKenney, "Sleepable RCU", LWN 2006), with
 * revalidation instead of banks, and hazard-pointer-like publication on type-stable memory.
 */
#pragma once

#include "iris/base/sync/iris-thread-slot-private.h"

#include <pthread.h>

typedef struct IrisRundownGuard IrisRundownGuard;
typedef struct IrisRundownGuardStripe IrisRundownGuardStripe;

struct IrisRundownGuardStripe
{
  alignas (IRIS_CACHE_LINE) _Atomic uint64_t entered;
  _Atomic uint64_t left;
};

struct IrisRundownGuard
{
  IrisRundownGuardStripe stripes[IRIS_THREAD_SLOTS + 1];
  _Atomic bool closing;
  void *subject;
  void (*done) (void *subject); /* under the lock: NULL once it was called */
  pthread_mutex_t lock;
  IrisRundownGuard *next_idle;
};

IrisRundownGuard *iris_rundown_guard_new (void *subject, void (*done) (void *subject));
void iris_rundown_guard_close (IrisRundownGuard *self);
void iris_rundown_guard_settle (IrisRundownGuard *self);

static inline void
iris_rundown_guard_count (IrisRundownGuardStripe *stripes, bool entering)
{
  unsigned slot = iris_thread_slot ();
  _Atomic uint64_t *counter = entering ? &stripes[slot].entered : &stripes[slot].left;

  if (iris_likely (slot < IRIS_THREAD_SLOTS))
    atomic_store_explicit (counter, atomic_load_explicit (counter, memory_order_relaxed) + 1,
                           memory_order_release);
  else
    atomic_fetch_add_explicit (counter, 1, memory_order_release);
}

/* Any thread that was let in: enters once more, to be left as well, by any thread. */
static inline void
iris_rundown_guard_reenter (IrisRundownGuard *self)
{
  iris_rundown_guard_count (self->stripes, true);
}

/* Any thread that was let in. */
static inline void
iris_rundown_guard_leave (IrisRundownGuard *self)
{
  iris_rundown_guard_count (self->stripes, false);
  iris_fence_light ();
  if (iris_unlikely (atomic_load_explicit (&self->closing, memory_order_relaxed)))
    iris_rundown_guard_settle (self);
}

/* Any thread. The rundown guard that is published at @published, entered; NULL when none is. */
static inline IrisRundownGuard *
iris_rundown_guard_enter (_Atomic (IrisRundownGuard *) *published)
{
  for (;;)
    {
      IrisRundownGuard *self = atomic_load_explicit (published, memory_order_acquire);

      if (iris_unlikely (self == NULL))
        return NULL;
      iris_rundown_guard_count (self->stripes, true);
      iris_fence_light ();
      if (iris_likely (atomic_load_explicit (published, memory_order_acquire) == self))
        return self;
      iris_rundown_guard_leave (self);
    }
}
