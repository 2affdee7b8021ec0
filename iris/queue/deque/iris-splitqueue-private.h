/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The split deque: a private part that the owner uses with plain loads and stores, and a public
 * part from which thieves steal, divided by a point that moves.
 *
 *        oldest                                        newest
 *          | top           | split                  | bottom
 *          v               v                        v
 *     -----[  public ......)[  private .............)------>  positions
 *
 * Use: the owner pushes and takes at the bottom. That is a load and a store of its own words, and a
 * look at the split: no read-modify-write and no fence. A thief that finds nothing public asks: it
 * sets ASKED in the word of the split; the owner sees that in its next push or take, and exposes
 * half of its private part. An owner that is busy elsewhere (its present item runs long) does
 * neither; then a thief may force half of the private part open without it. When its private part
 * is used up, the owner takes back (reclaims) half of what is still public, with one
 * compare-and-swap: emptying n public items alone costs it about log2 n of them.
 *
 * Who may call what: push, take, take_oldest, poll, expose, expose_half, offer and has_private the
 * owner alone; steal, ask, force, get_length and get_public_length any thread; init and clear while
 * no other thread looks. Items are pointers other than NULL.
 *
 * Invariants
 * ----------
 * (1) top <= split <= bottom, and bottom - top < capacity. Position p has slot p mod capacity.
 * (2) top only grows. A thief claims [t, t + k) with one compare-and-swap of top from t to t + k.
 * (3) Between two renumberings (within a lap) split only grows.
 * (4) A position that was public once and taken back is never public again. A reclaim moves all
 *     positions on by the capacity: the items keep their slots and get new numbers. It does so
 *     with the swap of top from t to t + capacity, and changes split and bottom afterwards. So
 *     does the owner when it replaces the array, by the larger of the two capacities.
 *
 * Why a steal of several items is safe. A thief reads top = t, then split = s, then the slots of
 * [t, t + k) with t + k <= s, and swaps top from t to t + k. Let the swap succeed. By (2) top was
 * t all the time, so no reclaim has ended since t was written. Where may s come from?
 *  - From the lap of t: by (3) split is at least s now. The claimed positions are public.
 *  - From an older lap: there every position was below t_old + capacity <= t, so s - t <= 0 and
 *    the thief did not try.
 *  - From a later lap: that split was written (release) after the swap that ended the lap of t,
 *    and read with acquire, so that swap happens before the thief's, which would have failed.
 * So the claimed positions are public when the swap takes effect, and the swap gives each of them
 * to one thread only. Because of (4) there is no ABA: without the renumbering, the owner could
 * take back what a thief has read, replace it, and expose the same positions again.
 *
 * Why the values are right: the owner stores a slot before the split that exposes it (release);
 * the thief reads the slots after that split (acquire). When a thief moved the split, it had
 * acquired the bottom that the owner stored (release) after the slot, and passes it on by the
 * release of its own swap. The owner writes a slot again only after it has read a top that passed
 * it, or has reclaimed it. In both cases it read top with acquire, and a successful thief has
 * swapped top with release after reading the slots: what the owner writes comes later.
 *
 * Exposing by the owner needs no fence: unlike in Chase-Lev's deque the owner never takes what a
 * thief could claim at that moment, it first makes it private, and that is decided by the word
 * top alone.
 *
 * Forcing. The thief
 *   (a) sets FORCED (and ASKED) in the split's word, by a swap, unless it is set;
 *   (b) heavy fence; reads bottom = b;
 *   (c) swaps the word from what it saw in (a), (s, FORCED), to (s + half of b - s, no flags).
 * The owner, in a take, stores the lowered bottom, light fence, looks at the word. While FORCED is
 * set it completes no push and no take without having moved the split itself: it takes its store
 * back, exposes half, and begins anew; that swap clears FORCED. Why this is right:
 *  - A take that found no FORCED came before the thief's fence or saw (c)'s result. In the first
 *    case (b) reads its bottom or a later one; so b is at most what the owner has laid down, every
 *    position below b is still filled, and half of it may go public. In the second case the owner
 *    sees a split that it did not write, and goes by that.
 *  - Between (b) and a successful (c) the owner completed nothing: it would have moved the split
 *    on, by exposing at least one item or by a lap. By (3) and (4) the word never says (s, FORCED)
 *    for the same s again after that, so (c) fails. For the same reason thieves never take FORCED
 *    back; one that finds nothing private leaves it for the owner's next push.
 *  - Any thief may do (b) and (c) for a FORCED that another has set: one that is held up between
 *    (a) and (c) keeps no thread from the rest.
 *  - The lap's order: the owner changes the split's word before it stores the new bottom (release),
 *    so a thief that reads a bottom of the new lap (acquire) fails in (c).
 * The light fence is of the compiler alone, the heavy one is paid for by a thief that has nothing
 * else to do (iris-atomic-private.h).
 *
 * While the owner is between the swap and the stores of a reclaim, split is below top and thieves
 * find nothing (LOST). Only an owner that is preempted there delays them.
 *
 * Why a wish is never lost: the owner changes the word by swaps only, and one that clears ASKED
 * exposes something, or leaves something public. ASKED stays set while there is nothing private,
 * and the next push serves it.
 *
 * The array: the owner stores the new one (release) before it swaps top to its new number. Both
 * arrays hold every live position under either number. A thief that read top before the swap
 * fails, whatever it has read in the old array, even after that serves another deque. One that
 * steals in the new lap has acquired a split that was written after the swap, and reads the array
 * after split, so it reads the new array.
 *
 * Width: positions are compared by difference, modulo 2^62 in the split's word, whose two low bits
 * are the flags. A lap takes one reclaim, which costs a compare-and-swap (5 ns at best), so they
 * come round after 2^62 / capacity reclaims: 2.8 years at 256 slots, 6 hours without a pause at
 * 2^20. It would matter only to a thief that stood still between two of its instructions for the
 * whole time, to the nanosecond.
 *
 * Sources: the split and the flag are after T. van Dijk, J. van de Pol, "Lace: non-blocking
 * split deque for work-stealing" (Euro-Par 2014 workshops), and J. Dinan et al., "Scalable work
 * stealing" (SC 2009). Chase and Lev (SPAA 2005) move top on by the array's size to make a shrunk
 * array reusable; that this also makes a steal of several safe, and reclaiming possible without a
 * fence, is argued above and not taken from anywhere. Moving the point only on demand is the idea
 * of V. Kumar et al., "Friendly Barriers: Efficient Work-Stealing With Return Barriers" (VEE 2014).
 * Forcing is an asymmetric Dekker protocol (D. Dice, H. Huang, M. Yang, "Asymmetric Dekker
 * Synchronization", 2001) between the bottom and the split's word.
 */
#pragma once

#include "iris/base/iris-atomic-private.h"
#include "iris/queue/deque/iris-array-pool-private.h"
#include "iris/queue/deque/iris-steal-private.h"

#define IRIS_SPLITQUEUE_MIN_CAPACITY 256

typedef struct IrisSplitQueue IrisSplitQueue;

struct IrisSplitQueue
{
  /* The owner's. Others look at bottom alone, and seldom. */
  alignas (IRIS_CACHE_PAIR) _Atomic uint64_t bottom;
  uint64_t own_split; /* the split as the owner knows it: a thief may have moved it on */
  uint64_t own_word;  /* the split's word if so and no thread asked */
  uint64_t limit;     /* bottom must stay below or at it; top may have passed on since */
  IrisArray *own_array;
  IrisArrayPool *pool; /* NULL: old arrays are kept on the list, and it does not shrink */
  IrisArray *retired;
  uint64_t min_capacity;
  uint64_t shrink_below;

  /* What a thief needs. */
  alignas (IRIS_CACHE_PAIR) _Atomic uint64_t top; /* thieves swap it; the owner, to renumber */
  _Atomic (IrisArray *) array;                    /* the owner replaces it */

  /* Position << 2 | flags. Read by the owner all the time, so it shares its line with nothing. */
  alignas (IRIS_CACHE_PAIR) _Atomic uint64_t split;
};

/* The flags in the split's word. */
#define IRIS_SPLITQUEUE_ASKED  ((uint64_t) 1)
#define IRIS_SPLITQUEUE_FORCED ((uint64_t) 2)

static inline uint64_t
iris_splitqueue_word (uint64_t position)
{
  return position << 2;
}

/* How far the position in @word is above @position; negative below it. */
static inline int64_t
iris_splitqueue_above (uint64_t word, uint64_t position)
{
  return (int64_t) ((word & ~(uint64_t) 3) - (position << 2)) >> 2;
}

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
  self->own_word = iris_splitqueue_word (position);
  self->limit = position + capacity - 1;
  self->own_array = array;
  self->pool = pool;
  self->retired = NULL;
  self->min_capacity = capacity;
  self->shrink_below = 0;
  atomic_init (&self->top, position);
  atomic_init (&self->split, iris_splitqueue_word (position));
  atomic_init (&self->array, array);

  return array != NULL;
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

/* Owner. Takes note of where the split is according to @word, which a thief may have moved on. */
static inline void
iris_splitqueue_adopt (IrisSplitQueue *self, uint64_t word)
{
  self->own_split += (uint64_t) iris_splitqueue_above (word, self->own_split);
  self->own_word = iris_splitqueue_word (self->own_split);
}

/* Owner. Makes the @n oldest private items public, or as many as there are; returns how many. */
static inline uint64_t
iris_splitqueue_expose (IrisSplitQueue *self, uint64_t n)
{
  uint64_t word = atomic_load_explicit (&self->split, memory_order_relaxed);
  uint64_t exposed, n_private;

  do
    {
      iris_splitqueue_adopt (self, word);
      n_private = iris_splitqueue_get_private_length (self);
      exposed = n < n_private ? n : n_private;
      if (exposed == 0)
        return 0;
    }
  /* Release: the thread that sees the split sees the slots below it, what they point to, and the
   * array. */
  while (!atomic_compare_exchange_weak_explicit (&self->split, &word,
                                                 iris_splitqueue_word (self->own_split + exposed),
                                                 memory_order_release, memory_order_relaxed));
  self->own_split += exposed;
  self->own_word = iris_splitqueue_word (self->own_split);

  return exposed;
}

/* Owner. Half of what is private, rounded up: a single item goes public. */
static inline uint64_t
iris_splitqueue_expose_half (IrisSplitQueue *self)
{
  uint64_t n_private = iris_splitqueue_get_private_length (self);

  return iris_splitqueue_expose (self, n_private - n_private / 2);
}

/* Owner. Sees to it that something is public while there are items, and no more than that.
 * Returns how many items it exposed. */
static inline uint64_t
iris_splitqueue_offer (IrisSplitQueue *self)
{
  iris_splitqueue_adopt (self, atomic_load_explicit (&self->split, memory_order_relaxed));
  if (!iris_splitqueue_has_private (self)
      || atomic_load_explicit (&self->top, memory_order_relaxed) != self->own_split)
    return 0;

  return iris_splitqueue_expose_half (self);
}

/* Owner, when the split's word is not as it was. Serves a wish, or goes by what a thief did. */
static __attribute__ ((noinline, unused)) uint64_t
iris_splitqueue_attend (IrisSplitQueue *self)
{
  uint64_t word = atomic_load_explicit (&self->split, memory_order_relaxed);

  iris_splitqueue_adopt (self, word);

  return word == self->own_word ? 0 : iris_splitqueue_expose_half (self);
}

/* Owner. Serves the wishes of thieves, if there are any; push and take do so by themselves. */
static inline uint64_t
iris_splitqueue_poll (IrisSplitQueue *self)
{
  if (iris_likely (atomic_load_explicit (&self->split, memory_order_relaxed) == self->own_word))
    return 0;

  return iris_splitqueue_attend (self);
}

/* Owner. Ends a lap: top was swapped from a number to that plus @lap, now @top, and the @reclaimed
 * newest public items become private. */
static inline void
iris_splitqueue_begin_lap (IrisSplitQueue *self, uint64_t lap, uint64_t top, uint64_t reclaimed)
{
  uint64_t bottom = atomic_load_explicit (&self->bottom, memory_order_relaxed);
  uint64_t word = atomic_load_explicit (&self->split, memory_order_relaxed);
  uint64_t next;

  do
    {
      iris_splitqueue_adopt (self, word);
      next = self->own_split + lap - reclaimed;
    }
  /* Release: a thread that sees the split sees the swap of top. */
  while (!atomic_compare_exchange_weak_explicit (
      &self->split, &word, iris_splitqueue_word (next) | (word & IRIS_SPLITQUEUE_ASKED),
      memory_order_release, memory_order_relaxed));
  self->own_split = next;
  self->own_word = iris_splitqueue_word (next);
  self->limit = top + self->own_array->mask;
  /* Release: a thread that sees a bottom of this lap sees its split. */
  atomic_store_explicit (&self->bottom, bottom + lap, memory_order_release);
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
  iris_splitqueue_begin_lap (self, lap, top + lap, 0);
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
  /* Release: a thief that forces reads it. */
  atomic_store_explicit (&self->bottom, bottom + 1, memory_order_release);
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

  iris_splitqueue_begin_lap (self, lap, top + lap, split - top - kept);

  return split - top - kept;
}

/* Owner. Whether the newest item, which the owner has announced to take by lowering bottom, is its
 * own, although the split's word is not as it was. If not, the announcement is taken back. Out of
 * line: it is rare. */
static __attribute__ ((noinline, unused)) bool
iris_splitqueue_confirm_take (IrisSplitQueue *self, uint64_t bottom, uint64_t word)
{
  if (word == (self->own_word | IRIS_SPLITQUEUE_ASKED))
    {
      iris_splitqueue_expose_half (self);
      return true;
    }
  atomic_store_explicit (&self->bottom, bottom + 1, memory_order_release);
  iris_splitqueue_attend (self);

  return false;
}

/* Owner, with something private as far as it knows. The newest item, or NULL when a thief had a
 * hand in it and the owner must look again. */
static inline void *
iris_splitqueue_take_private (IrisSplitQueue *self, uint64_t bottom)
{
  void *item = iris_array_get (self->own_array, bottom - 1);
  uint64_t word;

  atomic_store_explicit (&self->bottom, bottom - 1, memory_order_release);
  iris_fence_light ();
  word = atomic_load_explicit (&self->split, memory_order_relaxed);
  if (iris_unlikely (word != self->own_word)
      && !iris_splitqueue_confirm_take (self, bottom - 1, word))
    return NULL;

  return item;
}

static __attribute__ ((noinline, unused)) void *
iris_splitqueue_take_slowly (IrisSplitQueue *self)
{
  void *item = NULL;

  while (item == NULL)
    {
      if (!iris_splitqueue_has_private (self))
        {
          /* The array shrinks here and not on the fast way, which pays for nothing but itself. */
          if (iris_unlikely (iris_splitqueue_get_length (self) < self->shrink_below))
            iris_splitqueue_replace (self, iris_array_get_capacity (self->own_array) / 2);
          if (iris_splitqueue_reclaim (self) == 0)
            return NULL;
        }
      item = iris_splitqueue_take_private (
          self, atomic_load_explicit (&self->bottom, memory_order_relaxed));
    }

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
  item = iris_splitqueue_take_private (self, bottom);
  if (iris_unlikely (item == NULL))
    return iris_splitqueue_take_slowly (self);

  return item;
}

/* Any thread that found nothing public: asks for something to be exposed. */
static inline void
iris_splitqueue_ask (IrisSplitQueue *self)
{
  atomic_fetch_or_explicit (&self->split, IRIS_SPLITQUEUE_ASKED, memory_order_relaxed);
}

/* Any thread that found nothing public and whose wish is not served: makes half of what is private
 * public without the owner. False when that was not to be; the owner may have served it. */
static __attribute__ ((noinline, unused)) bool
iris_splitqueue_force (IrisSplitQueue *self)
{
  const uint64_t flags = IRIS_SPLITQUEUE_ASKED | IRIS_SPLITQUEUE_FORCED;
  uint64_t word = atomic_load_explicit (&self->split, memory_order_relaxed);
  int64_t n_private;

  /* ASKED too, so that no thread that asks spoils the swap below. */
  if ((word & flags) != flags
      && !atomic_compare_exchange_strong_explicit (&self->split, &word, word | flags,
                                                   memory_order_relaxed, memory_order_relaxed))
    return false;
  word |= flags;
  iris_fence_heavy ();
  /* Acquire: the slots below it are filled. */
  n_private = -iris_splitqueue_above (word,
                                      atomic_load_explicit (&self->bottom, memory_order_acquire));
  if (n_private <= 0)
    return false;

  /* Release: the thread that sees the split sees what this thread saw of the slots below it. */
  return atomic_compare_exchange_strong_explicit (
      &self->split, &word,
      (word & ~(uint64_t) 3) + iris_splitqueue_word ((uint64_t) (n_private - n_private / 2)),
      memory_order_release, memory_order_relaxed);
}

/* Any thread. Claims up to half of what is public (rounded up), at most @max items, into @items,
 * oldest first, with one compare-and-swap. @n is how many, 0 unless the result is TAKEN. */
static inline IrisStealResult
iris_splitqueue_steal (IrisSplitQueue *self, void **items, uint64_t max, uint64_t *n)
{
  /* Relaxed: the argument above needs nothing from top but its own order. */
  uint64_t top = atomic_load_explicit (&self->top, memory_order_relaxed);
  uint64_t word = atomic_load_explicit (&self->split, memory_order_acquire);
  int64_t length = iris_splitqueue_above (word, top);
  uint64_t k;
  IrisArray *array;

  *n = 0;
  if (length < 0) /* the owner is between two stores */
    return IRIS_STEAL_LOST;
  if (length == 0)
    {
      if (atomic_load_explicit (&self->bottom, memory_order_relaxed) == top)
        return IRIS_STEAL_EMPTY;
      if (!(word & IRIS_SPLITQUEUE_ASKED))
        iris_splitqueue_ask (self);
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

/* Owner. The oldest item, or NULL. */
static inline void *
iris_splitqueue_take_oldest (IrisSplitQueue *self)
{
  uint64_t top = atomic_load_explicit (&self->top, memory_order_acquire);

  for (;;)
    {
      void *item;

      /* After top, or thieves could have passed the split that is known here. */
      iris_splitqueue_adopt (self, atomic_load_explicit (&self->split, memory_order_relaxed));
      /* Nothing public: the oldest private item goes public first, and can be lost to a thief. */
      if (top == self->own_split && iris_splitqueue_expose (self, 1) == 0 && top == self->own_split)
        return NULL;
      item = iris_array_get (self->own_array, top);
      if (atomic_compare_exchange_weak_explicit (&self->top, &top, top + 1, memory_order_acquire,
                                                 memory_order_acquire))
        return item;
    }
}

/* Any thread. How many items thieves could have; already wrong when it returns. */
static inline uint64_t
iris_splitqueue_get_public_length (IrisSplitQueue *self)
{
  uint64_t top = atomic_load_explicit (&self->top, memory_order_acquire);
  int64_t length = iris_splitqueue_above (atomic_load_explicit (&self->split, memory_order_relaxed),
                                          top);

  return length < 0 ? 0 : (uint64_t) length;
}
