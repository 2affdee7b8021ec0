/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The parking lot: how workers without work sleep, and how new work wakes them.
 *
 * What it promises
 * ----------------
 * 1. No lost wake-up: when every worker that may run an item sleeps for good, that item is not in
 *    any source that these workers look at.
 * 2. An idle parking lot costs nothing: a sleeper waits on a futex without a timeout, once its
 *    `tidy`, if it has one, says that it has no more to do.
 * 3. New work wakes one worker at a time, and only when no worker is searching already; a worker
 *    that finds work and leaves no worker searching wakes the next one (a chain).
 *
 * Who may call what
 * -----------------
 * publish and wake: any thread. begin_search, end_search, prepare, cancel, sleep, back off, leave:
 * the worker that owns the parker. close, end_if_idle, set_quota, give_up: any thread.
 *
 * The protocol
 * ------------
 * The words count sleeping and searching workers; one for the whole parking lot (work that any
 * worker may run) and one for each place (work that must stay there).
 *
 *   Publish   put the item into a source; light fence; read the word. No worker sleeps: done.
 *             Otherwise: full fence; read the word again. A worker searches: done. Else wake one.
 *   Park      prepare: change the word (searching - 1, sleeping + 1); heavy fence; look at every
 *             source again. Work: cancel, and search on. None: sleep.
 *   Found     end_search: change the word (searching - 1). If no worker searches any more and
 *             a worker sleeps: full fence; look at every source; if there is work, wake one.
 *
 * Why no wake-up is lost: take an item X that was published. (a) The publisher read a word in
 * which no worker slept. Every worker was then running or searching. Each of them, before it
 * sleeps, changes the word after the publisher's read (the read saw the value from before that
 * change), so by the pair of fences it sees X in its last look, unless a worker took X. (b) The
 * publisher saw a searcher S, behind a full fence. S leaves searching by changing the word after
 * the publisher's read, and then looks at every source behind a full or heavy fence, either before
 * it sleeps or, having found other work, as the last searcher; so it sees X, and runs it or wakes a
 * worker that searches in turn. If S was not the last, the argument goes on with those that were
 * still searching when S left; if no worker slept when it left, with the worker that falls asleep
 * first, as in (a). (c) The publisher woke a sleeper: that worker is a searcher from that moment;
 * see (b). For work bound to a place the same holds with the place's word and the place's workers.
 *
 * Who pays: falling asleep is cold, so the sleeper pays for the publishers, which have a light
 * fence while no worker sleeps. Being woken is not cold: its time is the latency of a first item.
 * So there the publisher that relies on a searcher, which costs it a full fence, spares the
 * searcher a heavy one.
 *
 * Backing off: a worker that sees nothing but work that it leaves to others for now backs off: it
 * sleeps for a bounded time, and then searches again by itself. It counts as a sleeper, but is
 * never confirmed, so it does not end the parking lot. Work that its place publishes in its own
 * sources wakes it. Any other publisher passes it over, because it would refuse the same work
 * again, as quickly as it is woken; for the same reason a publisher that finds none but workers in
 * back-off elsewhere does not even take the lock. What the argument above asks of a worker before
 * it sleeps for good, it does at the end of each back-off. So an item that meets only workers in
 * back-off waits for one back-off at most; whether it waits for another one is the affair of
 * the refusing worker, which must bound that (iris-place-queues-refuse-private.h).
 *
 * Out and in
 * ----------
 * Each place has a quota, at least 1: so many of its workers are in. A worker that is out waits on
 * the same futex, in a list that no publisher looks at and no word counts, so new work does not
 * wake it.
 *
 *   Lower     set_quota: takes confirmed sleepers out where they lie. If that is not enough,
 *             n_surplus says so, and a worker that has ended its item leaves. One that is about to
 *             sleep, and is surplus, goes out instead.
 *   Raise     set_quota: a worker that is out becomes a searcher, as if it had been woken for work.
 * The missing ones are then counted as in, for a worker that the caller makes (or give_up).
 *
 * Why still no wake-up is lost. At every moment each place has a worker that is in, and a worker
 * that is in behaves as above. A worker leaves in one of two states. (d) It was running, and
 * nothing is private to it any more. A publisher that relied on it read a word in which no worker
 * slept, so all workers that were in were awake then; those that are left look at every source
 * before they sleep. A searcher does not leave from searching: a publisher may rely on it alone.
 * (e) It was linked and confirmed, and is still: no worker relied on it since it was linked. A
 * publisher that saw it sleep, and comes to wake it, finds under the lock that it is gone. If no
 * sleeper is left that it could wake, then all workers that are in are awake behind the publishing,
 * as in (d). One that is linked but has not looked yet is not taken: it may see work, and then it
 * must be in.
 *
 * Closing: a closed parking lot is finished when all workers that are in are confirmed at once,
 * that is, each is linked and saw every source empty after it was linked. Then nothing is left: an
 * item that a worker published when its future runner was linked unlinked that runner; one
 * published earlier was seen in the runner's last look; and no worker runs, so nothing can come. A
 * worker that is out has nothing in private and cannot publish, so it need not be asked; it is
 * woken to end. In a closed parking lot no worker goes out any more, so the number that must be
 * reached only grows, by workers that are not confirmed. Workers that wait elsewhere (the
 * GAsyncQueue scheduler's) are counted there, and the parking lot is asked whether they are all
 * that are in (end_if_idle); the argument is the same, with idle for confirmed. No worker that is
 * in ends before the parking lot is finished, so a worker that begins to block in a closed parking
 * lot has its stand-in as in an open one: n_in counts those that can take work.
 *
 * Waking takes a lock: it is about to make a system call anyway, and a list under a lock can wake
 * the worker that went to sleep last, whose cache is warmest, at the place that is asked for.
 *
 * Source: the spinning-worker protocol of the Go scheduler (D. Vyukov, "Scalable Go Scheduler
 * Design Doc", 2012), with named sleepers and with the fence moved to the sleeping side.
 */
#pragma once

#include "iris/base/iris-atomic-private.h"

#include <pthread.h>

typedef struct IrisParker IrisParker;
typedef struct IrisParkingLot IrisParkingLot;
typedef struct IrisParkingLotPlace IrisParkingLotPlace;

/* One per worker. */
struct IrisParker
{
  alignas (IRIS_CACHE_LINE) _Atomic uint32_t token; /* the futex: 1 once woken */
  unsigned place;
  bool searching;   /* the worker's alone, except while it sleeps: the waker's */
  bool linked;      /* under the parking lot's lock: may be woken */
  bool confirmed;   /* under the parking lot's lock: linked, and saw every source empty since */
  bool backing_off; /* under the parking lot's lock: linked, and comes back by itself */
  bool out;         /* under the parking lot's lock: in the place's list of those */
  IrisParker *prev, *next; /* under the parking lot's lock */
};

struct IrisParkingLotPlace
{
  alignas (IRIS_CACHE_PAIR) _Atomic uint64_t word;
  IrisParker *sleepers; /* newest first; under the parking lot's lock, like the rest */
  IrisParker *out;      /* newest first */
  unsigned n_in;
  unsigned quota;           /* how many should be in */
  _Atomic unsigned surplus; /* how many have to leave by themselves */
};

struct IrisParkingLot
{
  /* All that a waker changes here, in one line: it was changed last by the worker that fell asleep,
   * and will be next by the woken one. Publishers read the word, which changes when the lock is
   * taken, but for searchers. */
  alignas (IRIS_CACHE_PAIR) _Atomic uint64_t word; /* searching << 32 | sleeping */
  _Atomic uint32_t n_backing_off;                  /* of the sleeping; written under the lock */
  unsigned n_confirmed;                            /* under the lock */
  pthread_mutex_t lock;
  IrisParkingLotPlace *places;

  /* Read at each sleep or wake-up, and seldom changed. */
  alignas (IRIS_CACHE_PAIR) unsigned n_places;
  _Atomic unsigned n_in; /* changed under the lock */
  /* What a worker that sleeps for good does first, and after so many nanoseconds as it returns
   * again, unless that is 0; or when it is woken in its futex. Set before a worker starts; or NULL.
   */
  uint64_t (*tidy) (_Atomic uint32_t *futex);
  uint64_t n_went_out;   /* under the lock: times */
  bool closing;          /* under the lock: the last one to confirm ends it for all */
  _Atomic bool finished; /* no work is left and none will come */

  /* Read by every worker between two items, so it shares its line with nothing that changes. */
  alignas (IRIS_CACHE_PAIR) _Atomic unsigned n_surplus; /* changed under the lock */
};

#define IRIS_PARKING_LOT_SLEEPING  ((uint64_t) 1)
#define IRIS_PARKING_LOT_SEARCHING ((uint64_t) 1 << 32)

static inline uint32_t
iris_parking_lot_n_sleeping (uint64_t word)
{
  return (uint32_t) word;
}

static inline uint32_t
iris_parking_lot_n_searching (uint64_t word)
{
  return (uint32_t) (word >> 32);
}

bool
iris_parking_lot_init (IrisParkingLot *self, unsigned n_places, const unsigned *workers_per_place);
void iris_parking_lot_clear (IrisParkingLot *self);
void iris_parker_init (IrisParker *self, unsigned place);

bool iris_parking_lot_begin_search (IrisParkingLot *self, IrisParker *me);
bool iris_parking_lot_end_search (IrisParkingLot *self, IrisParker *me);
void iris_parking_lot_prepare (IrisParkingLot *self, IrisParker *me);
void iris_parking_lot_cancel (IrisParkingLot *self, IrisParker *me);
bool iris_parking_lot_sleep (IrisParkingLot *self, IrisParker *me);
void iris_parking_lot_back_off (IrisParkingLot *self, IrisParker *me, uint64_t ns);
void iris_parking_lot_wake (IrisParkingLot *self, unsigned place, bool strict);
void iris_parking_lot_close (IrisParkingLot *self);
bool iris_parking_lot_end_if_idle (IrisParkingLot *self, unsigned n_idle);
bool iris_parking_lot_leave (IrisParkingLot *self, IrisParker *me);
unsigned iris_parking_lot_set_quota (IrisParkingLot *self,
                                     unsigned place,
                                     unsigned quota,
                                     bool may_grow,
                                     unsigned *n_back);
void iris_parking_lot_give_up (IrisParkingLot *self, unsigned place);

/* Whether some place has more workers than it should; a worker asks between two items. */
static inline bool
iris_parking_lot_has_surplus (IrisParkingLot *self)
{
  return atomic_load_explicit (&self->n_surplus, memory_order_relaxed) != 0;
}

/* Whether a worker sleeps; a publisher asks behind a light fence. */
static inline bool
iris_parking_lot_has_sleeper (IrisParkingLot *self)
{
  return iris_parking_lot_n_sleeping (atomic_load_explicit (&self->word, memory_order_relaxed))
         != 0;
}

/* Whether a worker sleeps and no worker searches; a publisher that saw a sleeper asks behind a full
 * fence. */
static inline bool
iris_parking_lot_wants_work (IrisParkingLot *self)
{
  uint64_t word = atomic_load_explicit (&self->word, memory_order_relaxed);

  return iris_parking_lot_n_sleeping (word) != 0 && iris_parking_lot_n_searching (word) == 0;
}

/* The same of one place. */
static inline unsigned
iris_parking_lot_get_surplus (IrisParkingLot *self, unsigned place)
{
  return atomic_load_explicit (&self->places[place].surplus, memory_order_relaxed);
}

/* To be called after an item was put where the workers of @place look first; @strict says that no
 * other place may run it. */
static inline void
iris_parking_lot_publish (IrisParkingLot *self, unsigned place, bool strict)
{
  uint64_t word;

  iris_fence_light ();
  word = atomic_load_explicit (strict ? &self->places[place].word : &self->word,
                               memory_order_relaxed);
  if (iris_unlikely (iris_parking_lot_n_sleeping (word) != 0))
    iris_parking_lot_wake (self, place, strict);
}
