/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The eventcount: lets a thread sleep until a lock-free structure has something for it.
 *
 * How to use it
 * -------------
 * Waiter:    loop { look; found: done.
 *                   prepare; look again; found: cancel, done.
 *                   wait }
 * Notifier:  change the structure; notify_one or notify_all.
 *
 * notify_one says that there is something that any waiter can use, no matter which: an item in a
 * queue. notify_all says that something has become so for good, for every thread: the queue is
 * closed. For anything else (a change that is meant for a certain waiter, or that may be undone)
 * the eventcount is the wrong tool: a thread that comes later can take the call of one that sleeps.
 *
 * Who may call what: everything any thread; init while no other thread looks, and only after
 * iris_fence_init(), which init calls.
 *
 * How it works
 * ------------
 * The word counts two kinds of waiters: those that wait, and those that were called (a token
 * each). Waiting = present and not called. prepare: waiting + 1. notify: waiting - 1, called + 1,
 * and a futex wake-up of one. wait: sleep while called is 0, then called - 1. cancel, and a wait
 * that ran out of time: waiting - 1, or, when all are called, called - 1. So the sum is always the
 * number of threads between prepare and the end of cancel or wait; a token is never left behind;
 * and however fast the notifiers are, each sleeper costs them one system call.
 *
 * Why no wake-up is lost: take a notifier that changed the structure and then read a word in which
 * no thread waited. Each waiter whose prepare comes after that read looks again behind a heavy
 * fence and, by the pair of fences (iris-atomic-private.h), sees the change. Each whose prepare
 * came before it had been called or had left by then; so it is awake or about to be, and looks
 * behind another prepare before it sleeps again. If the notifier read a word in which a thread
 * waited, it calls one, or reads on until no thread waits. The called one need not be the one that
 * the kernel wakes: tokens have no names. A newcomer that takes the token in front of the woken
 * thread looks in its place, and the woken one goes on waiting in the newcomer's.
 *
 * One that cancels takes a token only when every thread present has been called, so it takes none
 * away from a sleeper that no other thread will call.
 *
 * Orders: the fences order the structure against the word. The word itself needs none for that;
 * its swaps are a release and an acquire, so that what precedes a call is visible to the called.
 *
 * Source: the eventcount of D. Reed and R. Kanodia, "Synchronization with Eventcounts and
 * Sequencers" (CACM 1979), with a semaphore's tokens in place of the count.
 */
#pragma once

#include "iris/base/iris-atomic-private.h"

#define IRIS_EVENTCOUNT_CALLED  ((uint64_t) 1)
#define IRIS_EVENTCOUNT_WAITING ((uint64_t) 1 << 32)

/* A deadline that never comes. */
#define IRIS_EVENTCOUNT_FOREVER INT64_MAX

typedef struct
{
  alignas (IRIS_CACHE_PAIR) _Atomic uint64_t word; /* waiting << 32 | called */
} IrisEventcount;

void iris_eventcount_wake (IrisEventcount *self, bool all);
bool iris_eventcount_wait (IrisEventcount *self, int64_t deadline);

static inline uint32_t
iris_eventcount_n_called (uint64_t word)
{
  return (uint32_t) word;
}

static inline uint32_t
iris_eventcount_n_waiting (uint64_t word)
{
  return (uint32_t) (word >> 32);
}

static inline void
iris_eventcount_init (IrisEventcount *self)
{
  iris_fence_init ();
  atomic_init (&self->word, 0);
}

/* The caller counts as a waiter from here on. It must look once more, and then cancel or wait. */
static inline void
iris_eventcount_prepare (IrisEventcount *self)
{
  atomic_fetch_add_explicit (&self->word, IRIS_EVENTCOUNT_WAITING, memory_order_acq_rel);
  iris_fence_heavy ();
}

/* The caller waits no more. */
static inline void
iris_eventcount_cancel (IrisEventcount *self)
{
  uint64_t word = atomic_load_explicit (&self->word, memory_order_relaxed);
  uint64_t less;

  do
    less = iris_eventcount_n_waiting (word) != 0 ? IRIS_EVENTCOUNT_WAITING : IRIS_EVENTCOUNT_CALLED;
  while (!atomic_compare_exchange_strong_explicit (&self->word, &word, word - less,
                                                   memory_order_acq_rel, memory_order_relaxed));
}

/* Takes the caller out if a thread was called; false, and nothing changed, if not. */
static inline bool
iris_eventcount_answer (IrisEventcount *self)
{
  uint64_t word = atomic_load_explicit (&self->word, memory_order_relaxed);

  do
    if (iris_eventcount_n_called (word) == 0)
      return false;
  while (!atomic_compare_exchange_strong_explicit (&self->word, &word,
                                                   word - IRIS_EVENTCOUNT_CALLED,
                                                   memory_order_acq_rel, memory_order_relaxed));

  return true;
}

/* Calls one of those that wait, or all; the number of those called. */
static inline uint32_t
iris_eventcount_call (IrisEventcount *self, bool all)
{
  uint64_t word = atomic_load_explicit (&self->word, memory_order_relaxed);
  uint32_t n;

  do
    {
      n = iris_eventcount_n_waiting (word);
      if (n == 0)
        return 0;
      n = all ? n : 1;
    }
  while (!atomic_compare_exchange_strong_explicit (
      &self->word, &word, word - n * IRIS_EVENTCOUNT_WAITING + n * IRIS_EVENTCOUNT_CALLED,
      memory_order_acq_rel, memory_order_relaxed));

  return n;
}

static inline bool
iris_eventcount_has_waiters (IrisEventcount *self)
{
  iris_fence_light ();

  return iris_eventcount_n_waiting (atomic_load_explicit (&self->word, memory_order_relaxed)) != 0;
}

static inline void
iris_eventcount_notify_one (IrisEventcount *self)
{
  if (iris_unlikely (iris_eventcount_has_waiters (self)))
    iris_eventcount_wake (self, false);
}

static inline void
iris_eventcount_notify_all (IrisEventcount *self)
{
  if (iris_unlikely (iris_eventcount_has_waiters (self)))
    iris_eventcount_wake (self, true);
}
