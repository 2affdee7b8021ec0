/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The split deque: a private part that the owner uses with plain loads and stores, and a public
 * part from which thieves steal, divided by a point that the owner moves.
 *
 *        oldest                                        newest
 *          | top           | split                  | bottom
 *          v               v                        v
 *     -----[  public ......)[  private .............)------>  positions
 *
 * Use: the owner pushes and takes at the bottom. That is a load and a store of its own words, no
 * read-modify-write and no fence. A thief that finds nothing public sets `want`; the owner looks
 * at it in every push and take, and then exposes half of its private part. When its private part
 * is used up, the owner takes back (reclaims) half of what is still public, with one
 * compare-and-swap: emptying n public items alone costs it about log2 n of them.
 *
 * Who may call what: push, take, take_oldest, poll, expose, expose_half, offer, collect_exposed and
 * has_private the owner alone; steal, ask, get_length and get_public_length any thread; init and
 * clear while nobody else looks. Items are pointers other than NULL.
 *
 * Invariants
 * ----------
 * (1) top <= split <= bottom, and bottom - top < capacity. Position p has slot p mod capacity.
 * (2) top only grows. A thief claims [t, t + k) with one compare-and-swap of top from t to t + k.
 * (3) Between two renumberings (within a lap) split only grows.
 * (4) A position that was public once and taken back is never public again. A reclaim moves all
 *     positions on by the capacity: the items keep their slots and get new numbers. It does so
 *     with the swap of top from t to t + capacity, and stores split and bottom afterwards. So
 *     does the owner when it replaces the array, by the larger of the two capacities.
 *
 * Why a steal of several items is safe. A thief reads top = t, then split = s, then the slots of
 * [t, t + k) with t + k <= s, and swaps top from t to t + k. Let the swap succeed. By (2) top was
 * t all the time, so no reclaim has ended since t was written. Where may s come from?
 *  - From the lap of t: by (3) split is at least s now. The claimed positions are public.
 *  - From an older lap: there every position was below t_old + capacity <= t, so s - t <= 0 and
 *    the thief did not try.
 *  - From a later lap: that split was stored (release) after the swap that ended the lap of t,
 *    and read with acquire, so that swap happens before the thief's, which would have failed.
 * So the claimed positions are public when the swap takes effect, and the swap gives each of them
 * to one thread only. Because of (4) there is no ABA: without the renumbering, the owner could
 * take back what a thief has read, replace it, and expose the same positions again.
 *
 * Why the values are right: the owner stores a slot before the split that exposes it (release);
 * the thief reads the slots after that split (acquire). The owner writes a slot again only after
 * it has read a top that passed it, or has reclaimed it. In both cases it read top with acquire,
 * and a successful thief has swapped top with release after reading the slots: what the owner
 * writes comes later.
 *
 * No fence, hence no Dekker pattern: unlike in Chase-Lev's deque the owner never takes what a
 * thief could claim at that moment, it first makes it private, and that is decided by the word
 * top alone. Exposing is a release store.
 *
 * While the owner is between the swap and the stores of a reclaim, split is below top and thieves
 * find nothing (LOST). Only an owner that is preempted there delays them, as one that has not
 * exposed anything would.
 *
 * Why a wish is never lost: the owner clears want before it stores split. A thief that finds
 * everything stolen up to a split s has acquired s, so it does not see a want from before: it
 * sees 0 and sets it again. One whose store is overwritten by the clearing is served by the split
 * that follows. want stays set while there is nothing private, and the next push serves it.
 *
 * The array: the owner stores the new one (release) before it swaps top to its new number. Both
 * arrays hold every live position under either number. A thief that read top before the swap
 * fails, whatever it has read in the old array, even after that serves another deque. One that
 * steals in the new lap has acquired a split that was stored after the swap, and reads the array
 * after split, so it reads the new array.
 *
 * Width: positions are 64 bits and compared by difference. A lap takes one reclaim, which costs
 * a compare-and-swap (5 ns at best), so they come round after 2^64 / capacity reclaims: 11 years
 * at 256 slots, 1 day without a pause at 2^20. It would matter only to a thief that stood still
 * between two of its instructions for the whole time, to the nanosecond.
 *
 * Sources: the split and the flag are after T. van Dijk, J. van de Pol, "Lace: non-blocking
 * split deque for work-stealing" (Euro-Par 2014 workshops), and J. Dinan et al., "Scalable work
 * stealing" (SC 2009). Chase and Lev (SPAA 2005) move top on by the array's size to make a shrunk
 * array reusable; that this also makes a steal of several safe, and reclaiming possible without a
 * fence, is argued above and not taken from anywhere. Moving the point only on demand is the idea
 * of V. Kumar et al., "Friendly Barriers: Efficient Work-Stealing With Return Barriers" (VEE 2014).
 */
#pragma once

#include "iris/base/iris-atomic-private.h"
#include "iris/queue/iris-array-pool-private.h"
#include "iris/queue/iris-steal-private.h"

#define IRIS_SPLITQUEUE_MIN_CAPACITY 256

typedef struct IrisSplitQueue IrisSplitQueue;

struct IrisSplitQueue
{
  /* The owner's. Others look at bottom alone, and seldom. */
  alignas (IRIS_CACHE_PAIR) _Atomic uint64_t bottom;
  uint64_t own_split; /* what split says */
  uint64_t limit;     /* bottom must stay below or at it; top may have passed on since */
  IrisArray *own_array;
  uint64_t n_exposed;  /* since collect_exposed */
  IrisArrayPool *pool; /* NULL: old arrays are kept on the list, and it does not shrink */
  IrisArray *retired;
  uint64_t min_capacity;
  uint64_t shrink_below;

  /* What a thief needs. */
  alignas (IRIS_CACHE_PAIR) _Atomic uint64_t top; /* thieves swap it; the owner, to renumber */
  _Atomic uint64_t split;                         /* the owner stores it */
  _Atomic (IrisArray *) array;                    /* the owner replaces it */

  /* Read by the owner all the time, so it shares its line with nothing. */
  alignas (IRIS_CACHE_PAIR) _Atomic bool want;
};

/* Starts at @position, which is 0 but in tests that cross limits. False when there is no
 * memory, or @capacity is no power of two from 2 on. */
static inline bool
iris_splitqueue_init_full (IrisSplitQueue *self,
                           IrisArrayPool *pool,
                           uint64_t capacity,
                           uint64_t position)
{
  IrisArray *array = iris_array_pool_take (pool, capacity);

  atomic_init (&self->bottom, position);
  self->own_split = position;
  self->limit = position + capacity - 1;
  self->own_array = array;
  self->n_exposed = 0;
  self->pool = pool;
  self->retired = NULL;
  self->min_capacity = capacity;
  self->shrink_below = 0;
  atomic_init (&self->top, position);
  atomic_init (&self->split, position);
  atomic_init (&self->array, array);
  atomic_init (&self->want, false);

  return array != NULL;
}

static inline bool
iris_splitqueue_init (IrisSplitQueue *self)
{
  return iris_splitqueue_init_full (self, NULL, IRIS_SPLITQUEUE_MIN_CAPACITY, 0);
}

/* Gives up the arrays; what the slots point to is the caller's matter. */
static inline void
iris_splitqueue_clear (IrisSplitQueue *self)
{
  if (self->own_array != NULL)
    iris_array_retire (self->pool, &self->retired, self->own_array);
  iris_array_free_all (self->retired);
  self->retired = NULL;
  self->own_array = NULL;
  atomic_store_explicit (&self->array, NULL, memory_order_relaxed);
}

/* Any thread. How many items there are in all; already wrong when it returns, but 0 only if the
 * deque was empty when bottom was read: bottom is read after top, which only grows. */
static inline uint64_t
iris_splitqueue_get_length (IrisSplitQueue *self)
{
  uint64_t top = atomic_load_explicit (&self->top, memory_order_acquire);
  uint64_t bottom = atomic_load_explicit (&self->bottom, memory_order_relaxed);

  return iris_array_estimate_length (top, bottom);
}

/* Owner. How many items are private. */
static inline uint64_t
iris_splitqueue_get_private_length (IrisSplitQueue *self)
{
  return atomic_load_explicit (&self->bottom, memory_order_relaxed) - self->own_split;
}

static inline bool
iris_splitqueue_has_private (IrisSplitQueue *self)
{
  return iris_splitqueue_get_private_length (self) != 0;
}

/* Owner. Makes the @n oldest private items public, or as many as there are; returns how many. */
static inline uint64_t
iris_splitqueue_expose (IrisSplitQueue *self, uint64_t n)
{
  uint64_t n_private = iris_splitqueue_get_private_length (self);

  if (n > n_private)
    n = n_private;
  if (n == 0)
    return 0;

  /* Before the split, or a wish that arises from it could be cleared with the old one. */
  if (atomic_load_explicit (&self->want, memory_order_relaxed))
    atomic_store_explicit (&self->want, false, memory_order_relaxed);
  self->own_split += n;
  self->n_exposed += n;
  /* Release: whoever sees the split sees the slots below it, what they point to, and the array. */
  atomic_store_explicit (&self->split, self->own_split, memory_order_release);

  return n;
}

/* Owner. Half of what is private, rounded up: a single item goes public. */
static inline uint64_t
iris_splitqueue_expose_half (IrisSplitQueue *self)
{
  uint64_t n_private = iris_splitqueue_get_private_length (self);

  return iris_splitqueue_expose (self, n_private - n_private / 2);
}

/* Owner. Sees to it that something is public while there are items, and no more than that: for
 * an owner that knows of idle thieves, at every take. Returns how many items it exposed. */
static inline uint64_t
iris_splitqueue_offer (IrisSplitQueue *self)
{
  if (!iris_splitqueue_has_private (self)
      || atomic_load_explicit (&self->top, memory_order_relaxed) != self->own_split)
    return 0;

  return iris_splitqueue_expose_half (self);
}

/* Owner. How many items went public since the last call; tells who wakes thieves when to. */
static inline uint64_t
iris_splitqueue_collect_exposed (IrisSplitQueue *self)
{
  uint64_t n = self->n_exposed;

  if (n != 0)
    self->n_exposed = 0;

  return n;
}

/* Owner. Serves a thief's wish, if there is one; push and take do so by themselves. */
static inline uint64_t
iris_splitqueue_poll (IrisSplitQueue *self)
{
  if (iris_likely (!atomic_load_explicit (&self->want, memory_order_relaxed)))
    return 0;

  return iris_splitqueue_expose_half (self);
}

/* Owner. Ends a lap: top was swapped from a number to that plus @lap, now @top, and the split is
 * to be at @split. Release: who sees the split sees the swap. */
static inline void
iris_splitqueue_begin_lap (IrisSplitQueue *self, uint64_t lap, uint64_t top, uint64_t split)
{
  uint64_t bottom = atomic_load_explicit (&self->bottom, memory_order_relaxed);

  self->own_split = split;
  self->limit = top + self->own_array->mask;
  atomic_store_explicit (&self->split, split, memory_order_release);
  atomic_store_explicit (&self->bottom, bottom + lap, memory_order_relaxed);
}

/* Owner. Moves to an array of @capacity, which holds more than there is. False, and nothing
 * changed, when there is no memory. */
static inline bool
iris_splitqueue_replace (IrisSplitQueue *self, uint64_t capacity)
{
  IrisArray *old = self->own_array;
  IrisArray *array = iris_array_pool_take (self->pool, capacity);
  uint64_t bottom = atomic_load_explicit (&self->bottom, memory_order_relaxed);
  uint64_t top = atomic_load_explicit (&self->top, memory_order_acquire);
  uint64_t lap;

  if (array == NULL)
    return false;
  lap = iris_array_get_lap (array, old);
  iris_array_copy (array, old, top, bottom);
  self->own_array = array;
  atomic_store_explicit (&self->array, array, memory_order_release);
  while (!atomic_compare_exchange_weak_explicit (&self->top, &top, top + lap, memory_order_acquire,
                                                 memory_order_relaxed))
    ;
  iris_splitqueue_begin_lap (self, lap, top + lap, self->own_split + lap);
  self->shrink_below = iris_array_shrink_below (self->pool, array, self->min_capacity);
  iris_array_retire (self->pool, &self->retired, old);

  return true;
}

/* Owner, at the limit. Finds room by what thieves have taken since, or doubles the array. */
static __attribute__ ((noinline, unused)) bool
iris_splitqueue_make_room (IrisSplitQueue *self, uint64_t bottom)
{
  /* Acquire: the slots below top were read before they are written again. */
  uint64_t top = atomic_load_explicit (&self->top, memory_order_acquire);

  if (bottom - top >= self->own_array->mask)
    return iris_splitqueue_replace (self, 2 * iris_array_get_capacity (self->own_array));
  self->limit = top + self->own_array->mask;

  return true;
}

/* Owner. False, and nothing changed, when the deque is full and there is no memory to grow. */
static inline bool
iris_splitqueue_push (IrisSplitQueue *self, void *item)
{
  uint64_t bottom = atomic_load_explicit (&self->bottom, memory_order_relaxed);

  if (iris_unlikely (bottom == self->limit))
    {
      if (!iris_splitqueue_make_room (self, bottom))
        return false;
      bottom = atomic_load_explicit (&self->bottom, memory_order_relaxed);
    }
  iris_array_set (self->own_array, bottom, item);
  atomic_store_explicit (&self->bottom, bottom + 1, memory_order_relaxed);
  iris_splitqueue_poll (self);

  return true;
}

/* Owner, with nothing private. Makes half of what is public private, rounded up, and so ends the
 * lap. Returns how many items that were; 0 when the deque is empty. */
static inline uint64_t
iris_splitqueue_reclaim (IrisSplitQueue *self)
{
  uint64_t lap = iris_array_get_lap (self->own_array, self->own_array);
  uint64_t split = self->own_split;
  uint64_t top = atomic_load_explicit (&self->top, memory_order_relaxed);
  uint64_t kept;

  do
    {
      if (top == split)
        return 0;
      kept = (split - top) / 2;
    }
  /* Acquire: a thief has read what it claimed before its slots are written again. */
  while (!atomic_compare_exchange_weak_explicit (&self->top, &top, top + lap, memory_order_acquire,
                                                 memory_order_relaxed));

  iris_splitqueue_begin_lap (self, lap, top + lap, top + lap + kept);

  return split - top - kept;
}

static __attribute__ ((noinline, unused)) void *
iris_splitqueue_take_slowly (IrisSplitQueue *self)
{
  uint64_t bottom;
  void *item;

  /* The array shrinks here and not on the fast way, which pays for nothing else than itself. */
  if (iris_unlikely (iris_splitqueue_get_length (self) < self->shrink_below))
    iris_splitqueue_replace (self, iris_array_get_capacity (self->own_array) / 2);
  if (iris_splitqueue_reclaim (self) == 0)
    return NULL;
  bottom = atomic_load_explicit (&self->bottom, memory_order_relaxed) - 1;
  item = iris_array_get (self->own_array, bottom);
  atomic_store_explicit (&self->bottom, bottom, memory_order_relaxed);
  iris_splitqueue_poll (self);

  return item;
}

/* Owner. The newest item, or NULL. */
static inline void *
iris_splitqueue_take (IrisSplitQueue *self)
{
  uint64_t bottom = atomic_load_explicit (&self->bottom, memory_order_relaxed);
  void *item;

  if (iris_unlikely (bottom == self->own_split))
    return iris_splitqueue_take_slowly (self);
  item = iris_array_get (self->own_array, bottom - 1);
  atomic_store_explicit (&self->bottom, bottom - 1, memory_order_relaxed);
  iris_splitqueue_poll (self);

  return item;
}

/* Any thread. Claims up to half of what is public (rounded up), at most @max items, into @items,
 * oldest first, with one compare-and-swap. @n is how many, 0 unless the result is TAKEN. */
static inline IrisStealResult
iris_splitqueue_steal (IrisSplitQueue *self, void **items, uint64_t max, uint64_t *n)
{
  /* Relaxed: the argument above needs nothing from top but its own order. */
  uint64_t top = atomic_load_explicit (&self->top, memory_order_relaxed);
  uint64_t split = atomic_load_explicit (&self->split, memory_order_acquire);
  int64_t length = (int64_t) (split - top);
  uint64_t k;
  IrisArray *array;

  *n = 0;
  if (length < 0) /* the owner is between two stores */
    return IRIS_STEAL_LOST;
  if (length == 0)
    {
      if (atomic_load_explicit (&self->want, memory_order_relaxed))
        return IRIS_STEAL_PRIVATE;
      if (atomic_load_explicit (&self->bottom, memory_order_relaxed) == split)
        return IRIS_STEAL_EMPTY;
      atomic_store_explicit (&self->want, true, memory_order_relaxed);
      return IRIS_STEAL_PRIVATE;
    }

  array = atomic_load_explicit (&self->array, memory_order_acquire);
  k = (uint64_t) length - (uint64_t) length / 2;
  if (k > max)
    k = max;
  for (uint64_t i = 0; i < k; i++)
    items[i] = iris_array_get (array, top + i);
  /* Release: the slots were read before the owner, which acquires top, writes them again. */
  if (!atomic_compare_exchange_strong_explicit (&self->top, &top, top + k, memory_order_release,
                                                memory_order_relaxed))
    return IRIS_STEAL_LOST;
  *n = k;

  return IRIS_STEAL_TAKEN;
}

/* Any thread that found nothing public and will not steal now: asks for something to be exposed.
 * It stores without looking: a wish that it saw might be an old one that is being cleared. */
static inline void
iris_splitqueue_ask (IrisSplitQueue *self)
{
  atomic_store_explicit (&self->want, true, memory_order_relaxed);
}

/* Owner. The oldest item, or NULL. */
static inline void *
iris_splitqueue_take_oldest (IrisSplitQueue *self)
{
  uint64_t top = atomic_load_explicit (&self->top, memory_order_acquire);

  while (top != self->own_split)
    {
      void *item = iris_array_get (self->own_array, top);

      if (atomic_compare_exchange_weak_explicit (&self->top, &top, top + 1, memory_order_acquire,
                                                 memory_order_acquire))
        return item;
    }
  if (!iris_splitqueue_has_private (self))
    return NULL;

  /* Nothing is public, so no swap of a thief can succeed: the oldest private item goes by plain
   * stores. First top: until split follows, thieves see less than nothing. */
  self->own_split++;
  atomic_store_explicit (&self->top, top + 1, memory_order_relaxed);
  atomic_store_explicit (&self->split, self->own_split, memory_order_release);
  iris_splitqueue_poll (self);

  return iris_array_get (self->own_array, top);
}

/* Any thread. How many items thieves could have; already wrong when it returns. */
static inline uint64_t
iris_splitqueue_get_public_length (IrisSplitQueue *self)
{
  uint64_t top = atomic_load_explicit (&self->top, memory_order_acquire);
  uint64_t split = atomic_load_explicit (&self->split, memory_order_relaxed);

  return (int64_t) (split - top) < 0 ? 0 : split - top;
}
