/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The steal-half deque: a thief takes half of all there is with one compare-and-swap.
 *
 * Who may call what: push, take and take_oldest the owner alone; steal and get_length any thread;
 * init and clear while no other thread looks. Items are pointers other than NULL.
 *
 * The deque holds the positions [top, bottom); position p has slot p mod capacity. A thief reads
 * top = t and bottom = b, and swaps top from t to t + k with k <= (b - t + 1) / 2: the older half.
 * The owner takes the newest without a swap as long as no thief can claim it, and that is while
 * it takes from the newer half. Only when it comes to the older half it renumbers: it moves all
 * positions on by the capacity, top first, by a compare-and-swap. That fails every thief that is
 * about to claim the half of a length that is gone. Emptying n items costs it about log2 n swaps.
 *
 * Which half? The owner keeps `highest`, the largest bottom since it last renumbered. No thief
 * that can still succeed has read a larger one. It takes position p freely if p is not below
 * t + (highest - t + 1) / 2, with t read after the full fence. A successful thief
 *  - that read the same t claims no more than that;
 *  - that reads a later t than the owner did has, by the two fences, also read the bottom that
 *    the owner announced before its fence, or a later one: it knows that p is gone.
 * That is the Dekker pattern of Chase and Lev's deque, which needs it with a half of one item.
 *
 * Why the orders suffice: as in iris-wsqueue-private.h. The owner releases bottom and steal
 * acquires it, so slots are seen; the owner acquires top, so slots are written again only after
 * thieves have read them. A renumbering stores the array (release) before it swaps top, and bottom
 * after it: a thief with the old top fails, one with the new top sees the new array, and a bottom
 * that is either new or below top. Slots of a position that no number stands for any more are read
 * only by thieves that fail. Width of the positions: as in iris-splitqueue-private.h.
 *
 * Source: D. Hendler, N. Shavit, "Non-Blocking Steal-Half Work Queues" (PODC 2002). They keep the
 * range that may be stolen in one word with top, and the owner swaps that word whenever the
 * length passes a power of two. Here the half is computed from top and bottom when it is needed,
 * so the word is top alone, and the deque can grow.
 */
#pragma once

#include "iris/base/iris-atomic-private.h"
#include "iris/queue/deque/iris-array-pool-private.h"
#include "iris/queue/deque/iris-steal-private.h"

#define IRIS_HALFQUEUE_MIN_CAPACITY 256

typedef struct IrisHalfQueue IrisHalfQueue;

struct IrisHalfQueue
{
  alignas (IRIS_CACHE_PAIR) _Atomic uint64_t top;
  alignas (IRIS_CACHE_PAIR) _Atomic uint64_t bottom;
  _Atomic (IrisArray *) array;

  /* The owner's. */
  uint64_t highest;
  IrisArrayPool *pool; /* NULL: old arrays are kept on the list, and it does not shrink */
  IrisArray *retired;
  uint64_t min_capacity;
  uint64_t shrink_below;
};

/* Starts at @position, which is 0 but in tests that cross limits. False when there is no memory,
 * or @capacity is no power of two from 2 on. */
static inline bool
iris_halfqueue_init_full (IrisHalfQueue *self,
                          IrisArrayPool *pool,
                          uint64_t capacity,
                          uint64_t position)
{
  IrisArray *array = iris_array_pool_take (pool, capacity);

  atomic_init (&self->top, position);
  atomic_init (&self->bottom, position);
  atomic_init (&self->array, array);
  self->highest = position;
  self->pool = pool;
  self->retired = NULL;
  self->min_capacity = capacity;
  self->shrink_below = 0;

  return array != NULL;
}

/* Gives up the arrays; what the slots point to is the caller's matter. */
static inline void
iris_halfqueue_clear (IrisHalfQueue *self)
{
  IrisArray *array = atomic_load_explicit (&self->array, memory_order_relaxed);

  if (array != NULL)
    iris_array_retire (self->pool, &self->retired, array);
  iris_array_free_all (self->retired);
  self->retired = NULL;
  atomic_store_explicit (&self->array, NULL, memory_order_relaxed);
}

/* Owner, having swapped top to its new number: so do the others. */
static inline void
iris_halfqueue_begin_lap (IrisHalfQueue *self, uint64_t lap)
{
  uint64_t bottom = atomic_load_explicit (&self->bottom, memory_order_relaxed) + lap;

  self->highest = bottom;
  atomic_store_explicit (&self->bottom, bottom, memory_order_release);
}

/* Owner. Moves to an array of @capacity, which holds more than there is. False, and nothing
 * changed, when there is no memory. */
static __attribute__ ((noinline, unused)) bool
iris_halfqueue_replace (IrisHalfQueue *self, uint64_t capacity)
{
  IrisArray *old = atomic_load_explicit (&self->array, memory_order_relaxed);
  IrisArray *array = iris_array_pool_take (self->pool, capacity);
  uint64_t top = atomic_load_explicit (&self->top, memory_order_acquire);
  uint64_t lap;

  if (array == NULL)
    return false;
  lap = iris_array_get_lap (array, old);
  iris_array_copy (array, old, top, atomic_load_explicit (&self->bottom, memory_order_relaxed));
  atomic_store_explicit (&self->array, array, memory_order_release);
  while (!atomic_compare_exchange_weak_explicit (&self->top, &top, top + lap, memory_order_seq_cst,
                                                 memory_order_acquire))
    ;
  iris_halfqueue_begin_lap (self, lap);
  self->shrink_below = iris_array_shrink_below (self->pool, array, self->min_capacity);
  iris_array_retire (self->pool, &self->retired, old);

  return true;
}

/* Owner. False, and nothing changed, when the deque is full and there is no memory to grow. */
static inline bool
iris_halfqueue_push (IrisHalfQueue *self, void *item)
{
  uint64_t bottom = atomic_load_explicit (&self->bottom, memory_order_relaxed);
  uint64_t top = atomic_load_explicit (&self->top, memory_order_acquire);
  IrisArray *array = atomic_load_explicit (&self->array, memory_order_relaxed);

  if (iris_unlikely (bottom - top >= array->mask))
    {
      if (!iris_halfqueue_replace (self, 2 * iris_array_get_capacity (array)))
        return false;
      bottom = atomic_load_explicit (&self->bottom, memory_order_relaxed);
      array = atomic_load_explicit (&self->array, memory_order_relaxed);
    }
  iris_array_set (array, bottom, item);
  atomic_store_explicit (&self->bottom, bottom + 1, memory_order_release);
  if ((int64_t) (bottom + 1 - self->highest) > 0)
    self->highest = bottom + 1;

  return true;
}

/* Owner, having announced @bottom, which thieves may be about to claim. */
static __attribute__ ((noinline, unused)) void *
iris_halfqueue_take_contested (IrisHalfQueue *self, IrisArray *array, uint64_t top, uint64_t bottom)
{
  uint64_t lap = iris_array_get_lap (array, array);
  void *item = iris_array_get (array, bottom);

  do
    if ((int64_t) (bottom - top) < 0)
      {
        atomic_store_explicit (&self->bottom, bottom + 1, memory_order_release);
        return NULL;
      }
  while (!atomic_compare_exchange_weak_explicit (&self->top, &top, top + lap, memory_order_seq_cst,
                                                 memory_order_acquire));
  iris_halfqueue_begin_lap (self, lap);

  if (iris_unlikely (bottom - top < self->shrink_below))
    iris_halfqueue_replace (self, iris_array_get_capacity (array) / 2);

  return item;
}

/* Owner. The newest item, or NULL. */
static inline void *
iris_halfqueue_take (IrisHalfQueue *self)
{
  uint64_t bottom = atomic_load_explicit (&self->bottom, memory_order_relaxed);
  IrisArray *array = atomic_load_explicit (&self->array, memory_order_relaxed);
  uint64_t top = atomic_load_explicit (&self->top, memory_order_relaxed);

  /* Empty for sure: only the owner adds, and top does not go back. Saves the fence. */
  if (top == bottom)
    return NULL;

  bottom--;
  atomic_store_explicit (&self->bottom, bottom, memory_order_release);
  iris_fence_full ();
  top = atomic_load_explicit (&self->top, memory_order_acquire);
  if (iris_likely ((int64_t) (bottom - top) >= (int64_t) ((self->highest - top + 1) / 2)))
    return iris_array_get (array, bottom);

  return iris_halfqueue_take_contested (self, array, top, bottom);
}

/* Any thread. Claims up to half of what is there (rounded up), at most @max items, into @items,
 * oldest first, with one compare-and-swap. @n is how many, 0 unless the result is TAKEN. */
static inline IrisStealResult
iris_halfqueue_steal (IrisHalfQueue *self, void **items, uint64_t max, uint64_t *n)
{
  uint64_t top = atomic_load_explicit (&self->top, memory_order_acquire);
  uint64_t bottom, k;
  IrisArray *array;

  *n = 0;
  iris_fence_full ();
  bottom = atomic_load_explicit (&self->bottom, memory_order_acquire);
  if (top == bottom)
    return IRIS_STEAL_EMPTY;
  if ((int64_t) (bottom - top) < 0) /* the owner is between two stores */
    return IRIS_STEAL_LOST;

  array = atomic_load_explicit (&self->array, memory_order_acquire);
  k = (bottom - top + 1) / 2;
  if (k > max)
    k = max;
  for (uint64_t i = 0; i < k; i++)
    items[i] = iris_array_get (array, top + i);
  if (!atomic_compare_exchange_strong_explicit (&self->top, &top, top + k, memory_order_seq_cst,
                                                memory_order_relaxed))
    return IRIS_STEAL_LOST;
  *n = k;

  return IRIS_STEAL_TAKEN;
}

/* Owner. The oldest item, or NULL. */
static inline void *
iris_halfqueue_take_oldest (IrisHalfQueue *self)
{
  IrisStealResult result;
  void *item = NULL;
  uint64_t n;

  do
    result = iris_halfqueue_steal (self, &item, 1, &n);
  while (result == IRIS_STEAL_LOST);

  /* A swap that failed has left an item that was not claimed. */
  return result == IRIS_STEAL_TAKEN ? item : NULL;
}

/* Any thread. How many items there are; already wrong when it returns, but 0 only if the deque
 * was empty when bottom was read: bottom is read after top, which only grows. */
static inline uint64_t
iris_halfqueue_get_length (IrisHalfQueue *self)
{
  uint64_t top = atomic_load_explicit (&self->top, memory_order_acquire);
  uint64_t bottom = atomic_load_explicit (&self->bottom, memory_order_relaxed);

  return iris_array_estimate_length (top, bottom);
}
