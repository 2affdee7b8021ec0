/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The parking lot. The protocol and why it is correct are in iris-parking-lot-private.h.
 */
#include "iris/base/sync/iris-parking-lot-private.h"

#include <limits.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static void
futex_wait (_Atomic uint32_t *word, uint32_t expected)
{
  syscall (SYS_futex, word, FUTEX_WAIT_PRIVATE, expected, NULL, NULL, 0);
}

/* At most @ns. */
static void
futex_wait_for (_Atomic uint32_t *word, uint32_t expected, uint64_t ns)
{
  struct timespec time = { .tv_sec = (time_t) (ns / 1000000000),
                           .tv_nsec = (long) (ns % 1000000000) };

  syscall (SYS_futex, word, FUTEX_WAIT_PRIVATE, expected, &time, NULL, 0);
}

static void
futex_wake (_Atomic uint32_t *word)
{
  syscall (SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* All workers are in. False when there is no memory. */
bool
iris_parking_lot_init (IrisParkingLot *self, unsigned n_places, const unsigned *workers_per_place)
{
  size_t size = n_places * sizeof *self->places;
  unsigned n_workers = 0;

  iris_fence_init ();
  memset (self, 0, sizeof *self);
  self->places = aligned_alloc (IRIS_CACHE_PAIR, size);
  if (self->places == NULL)
    return false;
  memset (self->places, 0, size);
  pthread_mutex_init (&self->lock, NULL);
  self->n_places = n_places;
  for (unsigned i = 0; i < n_places; i++)
    {
      self->places[i].n_in = self->places[i].quota = workers_per_place[i];
      n_workers += workers_per_place[i];
    }
  atomic_init (&self->n_in, n_workers);

  return true;
}

void
iris_parking_lot_clear (IrisParkingLot *self)
{
  pthread_mutex_destroy (&self->lock);
  free (self->places);
  self->places = NULL;
}

void
iris_parker_init (IrisParker *self, unsigned place)
{
  memset (self, 0, sizeof *self);
  self->place = place;
}

/* Adds to the parking lot's word and to the place's. The two are read by different publishers, none
 * of which needs them to agree. */
static uint64_t
parking_lot_add (IrisParkingLot *self, unsigned place, uint64_t delta, uint64_t *place_before)
{
  uint64_t before;

  *place_before = atomic_fetch_add_explicit (&self->places[place].word, delta,
                                             memory_order_seq_cst);
  before = atomic_fetch_add_explicit (&self->word, delta, memory_order_seq_cst);

  return before;
}

/* Whether the caller may search. At most half of the workers do at once, so that a burst of small
 * items does not keep every processor spinning. Who may not search goes to sleep directly. */
bool
iris_parking_lot_begin_search (IrisParkingLot *self, IrisParker *me)
{
  uint64_t word = atomic_load_explicit (&self->word, memory_order_relaxed);
  uint64_t ignored;

  if (me->searching)
    return true;
  if (2 * iris_parking_lot_n_searching (word)
      >= atomic_load_explicit (&self->n_in, memory_order_relaxed))
    return false;
  parking_lot_add (self, me->place, IRIS_PARKING_LOT_SEARCHING, &ignored);
  me->searching = true;

  return true;
}

/* The caller found work. Returns whether it must look at every source once more, and wake another
 * worker if there is more work (iris_parking_lot_wake()); the full fence is behind it then. */
bool
iris_parking_lot_end_search (IrisParkingLot *self, IrisParker *me)
{
  uint64_t before, place_before;

  if (!me->searching)
    return false;
  me->searching = false;
  before = parking_lot_add (self, me->place, -IRIS_PARKING_LOT_SEARCHING, &place_before);
  if (iris_parking_lot_n_sleeping (before) == 0)
    return false;
  if (iris_parking_lot_n_searching (before) > 1 && iris_parking_lot_n_searching (place_before) > 1)
    return false;
  iris_fence_full ();

  return true;
}

static void
parking_lot_link (IrisParkingLot *self, IrisParker *parker)
{
  IrisParkingLotPlace *place = &self->places[parker->place];

  parker->prev = NULL;
  parker->next = place->sleepers;
  if (place->sleepers != NULL)
    place->sleepers->prev = parker;
  place->sleepers = parker;
  parker->linked = true;
}

static void
parking_lot_unlink (IrisParkingLot *self, IrisParker *parker)
{
  if (parker->prev != NULL)
    parker->prev->next = parker->next;
  else
    self->places[parker->place].sleepers = parker->next;
  if (parker->next != NULL)
    parker->next->prev = parker->prev;
  parker->linked = false;
  if (parker->confirmed)
    self->n_confirmed--;
  parker->confirmed = false;
  if (parker->backing_off)
    atomic_fetch_sub_explicit (&self->n_backing_off, 1, memory_order_relaxed);
  parker->backing_off = false;
}

/* Makes a linked sleeper a searcher, on its behalf. Under the lock. */
static void
parking_lot_release (IrisParkingLot *self, IrisParker *parker)
{
  uint64_t ignored;

  parking_lot_unlink (self, parker);
  parking_lot_add (self, parker->place, IRIS_PARKING_LOT_SEARCHING - IRIS_PARKING_LOT_SLEEPING,
                   &ignored);
  parker->searching = true;
}

/* Under the lock. */
static void
parking_lot_rouse (IrisParker *parker)
{
  atomic_store_explicit (&parker->token, 1, memory_order_release);
  futex_wake (&parker->token);
}

/* Under the lock, as are all up to iris_parking_lot_prepare(). */
static void
parking_lot_change_n_in (IrisParkingLot *self, IrisParkingLotPlace *place, unsigned delta)
{
  place->n_in += delta;
  atomic_store_explicit (&self->n_in,
                         atomic_load_explicit (&self->n_in, memory_order_relaxed) + delta,
                         memory_order_relaxed);
}

static bool
parking_lot_has_too_many (const IrisParkingLot *self, const IrisParkingLotPlace *place)
{
  return !self->closing && place->n_in > place->quota;
}

static void
parking_lot_update_surplus (IrisParkingLot *self, IrisParkingLotPlace *place)
{
  unsigned surplus = parking_lot_has_too_many (self, place) ? place->n_in - place->quota : 0;
  unsigned n = atomic_load_explicit (&self->n_surplus, memory_order_relaxed);

  n += surplus - atomic_load_explicit (&place->surplus, memory_order_relaxed);
  atomic_store_explicit (&self->n_surplus, n, memory_order_relaxed);
  atomic_store_explicit (&place->surplus, surplus, memory_order_relaxed);
}

/* A worker that runs no item and is not linked. */
static void
parking_lot_put_out (IrisParkingLot *self, IrisParker *parker)
{
  IrisParkingLotPlace *place = &self->places[parker->place];

  parker->out = true;
  parker->next = place->out;
  place->out = parker;
  self->n_went_out++;
  parking_lot_change_n_in (self, place, -1u);
}

/* A confirmed sleeper: it stays asleep. */
static void
parking_lot_put_sleeper_out (IrisParkingLot *self, IrisParker *parker)
{
  uint64_t ignored;

  parking_lot_unlink (self, parker);
  parking_lot_add (self, parker->place, -IRIS_PARKING_LOT_SLEEPING, &ignored);
  parking_lot_put_out (self, parker);
}

static void
parking_lot_bring_back (IrisParkingLot *self, IrisParkingLotPlace *place)
{
  IrisParker *parker = place->out;
  uint64_t ignored;

  place->out = parker->next;
  parker->out = false;
  parking_lot_change_n_in (self, place, 1);
  parking_lot_add (self, parker->place, IRIS_PARKING_LOT_SEARCHING, &ignored);
  parker->searching = true;
  parking_lot_rouse (parker);
}

/* First half of falling asleep: from here on the caller can be woken. It must look at every source
 * again and then call iris_parking_lot_cancel() or iris_parking_lot_sleep(). */
void
iris_parking_lot_prepare (IrisParkingLot *self, IrisParker *me)
{
  uint64_t ignored;

  pthread_mutex_lock (&self->lock);
  atomic_store_explicit (&me->token, 0, memory_order_relaxed);
  parking_lot_link (self, me);
  parking_lot_add (self, me->place,
                   IRIS_PARKING_LOT_SLEEPING - (me->searching ? IRIS_PARKING_LOT_SEARCHING : 0),
                   &ignored);
  me->searching = false;
  pthread_mutex_unlock (&self->lock);
  iris_fence_heavy ();
}

/* The caller saw work after all: it is a searcher again, by its own hand or by a waker's. */
void
iris_parking_lot_cancel (IrisParkingLot *self, IrisParker *me)
{
  pthread_mutex_lock (&self->lock);
  if (me->linked)
    parking_lot_release (self, me);
  pthread_mutex_unlock (&self->lock);
}

/* Under the lock. */
static void
parking_lot_wake_all (IrisParkingLot *self)
{
  for (unsigned i = 0; i < self->n_places; i++)
    while (self->places[i].sleepers != NULL)
      {
        IrisParker *parker = self->places[i].sleepers;

        parking_lot_release (self, parker);
        parking_lot_rouse (parker);
      }
}

/* Workers that are out are to end. Under the lock. */
static void
parking_lot_end_out (IrisParkingLot *self)
{
  atomic_store_explicit (&self->finished, true, memory_order_release);
  for (unsigned i = 0; i < self->n_places; i++)
    while (self->places[i].out != NULL)
      {
        IrisParker *parker = self->places[i].out;

        self->places[i].out = parker->next;
        parker->out = false;
        parking_lot_rouse (parker);
      }
}

/* Ends it for all if nothing is left. Under the lock. */
static void
parking_lot_finish (IrisParkingLot *self)
{
  if (!self->closing
      || self->n_confirmed != atomic_load_explicit (&self->n_in, memory_order_relaxed))
    return;
  parking_lot_end_out (self);
  parking_lot_wake_all (self);
}

/* Returns whether the parking lot goes on. The time limit of a sleep is tidy's alone: when it is
 * over the caller is as asleep as before, and looks at no source. */
static bool
parking_lot_wait (IrisParkingLot *self, IrisParker *me)
{
  while (atomic_load_explicit (&me->token, memory_order_acquire) == 0)
    {
      uint64_t ns = self->tidy != NULL ? self->tidy (&me->token) : 0;

      if (ns != 0)
        futex_wait_for (&me->token, 0, ns);
      else
        futex_wait (&me->token, 0);
    }

  return !atomic_load_explicit (&self->finished, memory_order_acquire);
}

/* Second half of falling asleep: the caller saw every source empty. Returns false when it is to
 * end, because the parking lot is closed and no work is left anywhere. */
bool
iris_parking_lot_sleep (IrisParkingLot *self, IrisParker *me)
{
  IrisParkingLotPlace *place = &self->places[me->place];

  pthread_mutex_lock (&self->lock);
  if (me->linked)
    {
      me->confirmed = true;
      self->n_confirmed++;
      if (parking_lot_has_too_many (self, place))
        {
          parking_lot_put_sleeper_out (self, me);
          parking_lot_update_surplus (self, place);
        }
    }
  parking_lot_finish (self);
  pthread_mutex_unlock (&self->lock);

  return parking_lot_wait (self, me);
}

/* For a worker that runs no item, is not searching, and has nothing in private: if its place has
 * too many, waits until it is needed again. Returns false when it is to end. */
bool
iris_parking_lot_leave (IrisParkingLot *self, IrisParker *me)
{
  IrisParkingLotPlace *place = &self->places[me->place];
  bool leaves;

  pthread_mutex_lock (&self->lock);
  leaves = parking_lot_has_too_many (self, place) && !me->searching;
  if (leaves)
    {
      atomic_store_explicit (&me->token, 0, memory_order_relaxed);
      parking_lot_put_out (self, me);
      parking_lot_update_surplus (self, place);
    }
  pthread_mutex_unlock (&self->lock);

  return !leaves || parking_lot_wait (self, me);
}

/* From now on @quota of the place's workers, at least 1, are to be in. Says how many came back, and
 * returns how many the caller must make or give up: they count as in already. It may let the
 * parking lot grow only if that is not finished and cannot be meanwhile. */
unsigned
iris_parking_lot_set_quota (IrisParkingLot *self,
                            unsigned at,
                            unsigned quota,
                            bool may_grow,
                            unsigned *n_back)
{
  IrisParkingLotPlace *place = &self->places[at];
  unsigned n_missing = 0;

  *n_back = 0;
  pthread_mutex_lock (&self->lock);
  place->quota = quota;
  for (IrisParker *parker = place->sleepers, *next; parker != NULL; parker = next)
    {
      next = parker->next;
      if (parker->confirmed && parking_lot_has_too_many (self, place))
        parking_lot_put_sleeper_out (self, parker);
    }
  for (; place->n_in < quota && place->out != NULL; (*n_back)++)
    parking_lot_bring_back (self, place);
  if (may_grow && place->n_in < quota)
    n_missing = quota - place->n_in;
  parking_lot_change_n_in (self, place, n_missing);
  parking_lot_update_surplus (self, place);
  pthread_mutex_unlock (&self->lock);

  return n_missing;
}

/* One that was missing could not be made. */
void
iris_parking_lot_give_up (IrisParkingLot *self, unsigned place)
{
  pthread_mutex_lock (&self->lock);
  parking_lot_change_n_in (self, &self->places[place], -1u);
  parking_lot_update_surplus (self, &self->places[place]);
  parking_lot_finish (self);
  pthread_mutex_unlock (&self->lock);
}

/* Instead of iris_parking_lot_sleep(), for a caller that saw work, but none that it takes now:
 * sleeps for at most @ns, unless it is woken before. Then it is a searcher again. */
void
iris_parking_lot_back_off (IrisParkingLot *self, IrisParker *me, uint64_t ns)
{
  pthread_mutex_lock (&self->lock);
  if (me->linked)
    {
      me->backing_off = true;
      atomic_fetch_add_explicit (&self->n_backing_off, 1, memory_order_relaxed);
    }
  pthread_mutex_unlock (&self->lock);

  if (atomic_load_explicit (&me->token, memory_order_acquire) == 0)
    futex_wait_for (&me->token, 0, ns);
  iris_parking_lot_cancel (self, me);
}

/* Whether there are none to wake for work at @place but workers in back-off of other places. A
 * worker that goes to sleep meanwhile looks at every source before it does. */
static bool
parking_lot_has_only_backoffs (IrisParkingLot *self, unsigned place)
{
  uint32_t n_backing_off = atomic_load_explicit (&self->n_backing_off, memory_order_relaxed);
  uint64_t word = atomic_load_explicit (&self->word, memory_order_relaxed);
  uint64_t here = atomic_load_explicit (&self->places[place].word, memory_order_relaxed);

  return n_backing_off != 0 && n_backing_off == iris_parking_lot_n_sleeping (word)
         && iris_parking_lot_n_sleeping (here) == 0;
}

static IrisParker *
parking_lot_find_sound_sleeper (IrisParker *parker)
{
  while (parker != NULL && parker->backing_off)
    parker = parker->next;

  return parker;
}

/* A sleeper at @place, or, unless it must be there, one that does not back off at the place next in
 * number. */
static IrisParker *
parking_lot_choose (IrisParkingLot *self, unsigned place, bool strict)
{
  unsigned n = strict ? 1 : self->n_places;

  for (unsigned i = 0; i < n; i++)
    {
      unsigned at = place + i < self->n_places ? place + i : place + i - self->n_places;
      IrisParker *first = self->places[at].sleepers;
      IrisParker *chosen = i == 0 ? first : parking_lot_find_sound_sleeper (first);

      if (chosen != NULL)
        return chosen;
    }

  return NULL;
}

/* Wakes one worker for work at @place, if one sleeps and no worker searches. */
void
iris_parking_lot_wake (IrisParkingLot *self, unsigned place, bool strict)
{
  _Atomic uint64_t *word = strict ? &self->places[place].word : &self->word;
  IrisParker *chosen = NULL;
  uint64_t now;

  /* Before a searcher is relied upon. */
  iris_fence_full ();
  now = atomic_load_explicit (word, memory_order_relaxed);
  if (iris_parking_lot_n_sleeping (now) == 0 || iris_parking_lot_n_searching (now) != 0)
    return;
  if (!strict && iris_unlikely (parking_lot_has_only_backoffs (self, place)))
    return;

  pthread_mutex_lock (&self->lock);
  if (iris_parking_lot_n_searching (atomic_load_explicit (word, memory_order_seq_cst)) == 0)
    chosen = parking_lot_choose (self, place, strict);
  if (chosen != NULL)
    {
      parking_lot_release (self, chosen);
      atomic_store_explicit (&chosen->token, 1, memory_order_release);
    }
  pthread_mutex_unlock (&self->lock);

  /* Behind the lock, so that the woken worker does not run into it. Parkers live as long as the
   * parking lot, and a token that was set meanwhile makes this wake-up an idle one. */
  if (chosen != NULL)
    futex_wake (&chosen->token);
}

/* From now on, when all workers are without work at once, they end. Everyone asleep is woken to
 * take part in finding that out. */
void
iris_parking_lot_close (IrisParkingLot *self)
{
  pthread_mutex_lock (&self->lock);
  self->closing = true;
  for (unsigned i = 0; i < self->n_places; i++)
    parking_lot_update_surplus (self, &self->places[i]);
  parking_lot_wake_all (self);
  pthread_mutex_unlock (&self->lock);
}

/* For workers that wait elsewhere than in the parking lot: @n_idle of them wait, and nothing is
 * left that they could take. If the parking lot is closed and these are all that are in, it is
 * finished: those that are out end, and the caller ends the others. Returns whether that is so;
 * once. */
bool
iris_parking_lot_end_if_idle (IrisParkingLot *self, unsigned n_idle)
{
  bool ends;

  pthread_mutex_lock (&self->lock);
  /* Relaxed: both are written under the lock. */
  ends = self->closing && !atomic_load_explicit (&self->finished, memory_order_relaxed)
         && n_idle == atomic_load_explicit (&self->n_in, memory_order_relaxed);
  if (ends)
    parking_lot_end_out (self);
  pthread_mutex_unlock (&self->lock);

  return ends;
}
