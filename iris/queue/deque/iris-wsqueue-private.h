/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The work-stealing queue: a deque that its owner uses at one end and thieves at the other.
 *
 * Who may call what: push, take and take_oldest the owner alone; steal and get_length any thread;
 * init and clear while no other thread looks. Items are pointers other than NULL.
 *
 * Invariant: the queue holds the positions [top, bottom). An array of 2^k slots holds position p
 * in slot p mod 2^k; it is replaced by a larger one before a live position could meet another.
 * top only grows, and every growth is one successful compare-and-swap. One by 1 gives its winner
 * the item that was at top. One by a multiple of all capacities is the owner's: it renumbers the
 * positions when it replaces the array, and so that the items keep their slots.
 *
 * Why the orders suffice:
 *  - push stores the slot, then bottom with release; steal reads bottom with acquire: a thief
 *    that sees the index sees the slot, and what the item points to. take stores bottom with
 *    release too, because a thief may read that store, and a plain store does not continue the
 *    release sequence of the push (it did in C11, no longer in C++20, nor on ARM).
 *  - take announces bottom - 1 and steal reads top, each then looks at the other's word: the
 *    Dekker pattern, hence the full fence in both. At most one of them can miss the other, and
 *    for the last item both go through the compare-and-swap on top.
 *  - the owner reads top with acquire in push, so that a slot is written again only after the
 *    thief that emptied it has read it.
 *  - replacing the array: the new one is stored (release), then top is swapped to its new number,
 *    then bottom is stored. Both arrays hold every live position under either number. A thief
 *    that read top before the swap fails in its own, so it may have read the old array even
 *    after it serves another queue. One that reads top after the swap (acquire) sees the new
 *    array, and either the new bottom or one from before, which is below the new top: it finds
 *    nothing (LOST).
 *
 * Positions are 64 bits and compared by difference. At 10^9 pushes a second they come round after
 * 584 years; a renumbering counts like as many pushes as the array has slots, and comes after at
 * least a quarter as many operations.
 *
 * Source: D. Chase, Y. Lev, "Dynamic Circular Work-Stealing Deque" (SPAA 2005); the C11 orders of
 * N. M. Le, A. Pop, A. Cohen, F. Zappa Nardelli, "Correct and Efficient Work-Stealing for Weak
 * Memory Models" (PPoPP 2013), figure 1, with push's release fence turned into a release store.
 * Growing and shrinking from a shared pool: see iris-array-pool-private.h.
 */
#pragma once

#include "iris/base/iris-atomic-private.h"
#include "iris/queue/deque/iris-array-pool-private.h"
#include "iris/queue/deque/iris-steal-private.h"

#define IRIS_WSQUEUE_MIN_CAPACITY 256

typedef struct IrisWSQueue IrisWSQueue;

struct IrisWSQueue
{
  alignas (IRIS_CACHE_PAIR) _Atomic uint64_t top;    /* thieves swap it; the owner, see above */
  alignas (IRIS_CACHE_PAIR) _Atomic uint64_t bottom; /* the owner stores it */
  _Atomic (IrisArray *) array;                       /* the owner replaces it */

  /* The owner's. */
  IrisArrayPool *pool; /* NULL: old arrays are kept on the list, and it does not shrink */
  IrisArray *retired;
  uint64_t min_capacity;
  uint64_t shrink_below;
};

/* Starts at @position, which is 0 but in tests that cross limits. False when there is no memory,
 * or @capacity is no power of two from 2 on. */
static inline bool
iris_wsqueue_init_full (IrisWSQueue *self,
                        IrisArrayPool *pool,
                        uint64_t capacity,
                        uint64_t position)
{
  IrisArray *array = iris_array_pool_take (pool, capacity);

  atomic_init (&self->top, position);
  atomic_init (&self->bottom, position);
  atomic_init (&self->array, array);
  self->pool = pool;
  self->retired = NULL;
  self->min_capacity = capacity;
  self->shrink_below = 0;

  return array != NULL;
}

/* Gives up the arrays; what the slots point to is the caller's matter. */
static inline void
iris_wsqueue_clear (IrisWSQueue *self)
{
  IrisArray *array = atomic_load_explicit (&self->array, memory_order_relaxed);

  if (array != NULL)
    iris_array_retire (self->pool, &self->retired, array);
  iris_array_free_all (self->retired);
  self->retired = NULL;
  atomic_store_explicit (&self->array, NULL, memory_order_relaxed);
}

/* Owner. Moves to an array of @capacity, which holds more than there is. False, and nothing
 * changed, when there is no memory. */
static __attribute__ ((noinline, unused)) bool
iris_wsqueue_replace (IrisWSQueue *self, uint64_t capacity)
{
  IrisArray *old = atomic_load_explicit (&self->array, memory_order_relaxed);
  IrisArray *array = iris_array_pool_take (self->pool, capacity);
  uint64_t bottom = atomic_load_explicit (&self->bottom, memory_order_relaxed);
  uint64_t top = atomic_load_explicit (&self->top, memory_order_acquire);
  uint64_t lap;

  if (array == NULL)
    return false;
  lap = iris_array_get_lap (array, old);
  iris_array_copy (array, old, top, bottom);
  /* Release: a thief that sees the array sees its slots. */
  atomic_store_explicit (&self->array, array, memory_order_release);
  while (!atomic_compare_exchange_weak_explicit (&self->top, &top, top + lap, memory_order_seq_cst,
                                                 memory_order_relaxed))
    ;
  atomic_store_explicit (&self->bottom, bottom + lap, memory_order_release);
  self->shrink_below = iris_array_shrink_below (self->pool, array, self->min_capacity);
  iris_array_retire (self->pool, &self->retired, old);

  return true;
}

/* Owner. False, and nothing changed, when the queue is full and there is no memory to grow. */
static inline bool
iris_wsqueue_push (IrisWSQueue *self, void *item)
{
  uint64_t bottom = atomic_load_explicit (&self->bottom, memory_order_relaxed);
  uint64_t top = atomic_load_explicit (&self->top, memory_order_acquire);
  IrisArray *array = atomic_load_explicit (&self->array, memory_order_relaxed);

  if (iris_unlikely (bottom - top >= array->mask))
    {
      if (!iris_wsqueue_replace (self, 2 * iris_array_get_capacity (array)))
        return false;
      bottom = atomic_load_explicit (&self->bottom, memory_order_relaxed);
      array = atomic_load_explicit (&self->array, memory_order_relaxed);
    }
  iris_array_set (array, bottom, item);
  atomic_store_explicit (&self->bottom, bottom + 1, memory_order_release);

  return true;
}

/* Owner. The last item, at @bottom, against the thread that steals it: the one that moves top has
 * it. */
static inline void *
iris_wsqueue_take_last (IrisWSQueue *self, IrisArray *array, uint64_t top, uint64_t bottom)
{
  void *item = NULL;

  if (top == bottom)
    {
      item = iris_array_get (array, bottom);
      if (!atomic_compare_exchange_strong_explicit (&self->top, &top, top + 1, memory_order_seq_cst,
                                                    memory_order_relaxed))
        item = NULL;
    }
  atomic_store_explicit (&self->bottom, bottom + 1, memory_order_release);

  return item;
}

/* Owner. The newest item, or NULL. */
static inline void *
iris_wsqueue_take (IrisWSQueue *self)
{
  uint64_t bottom = atomic_load_explicit (&self->bottom, memory_order_relaxed);
  IrisArray *array = atomic_load_explicit (&self->array, memory_order_relaxed);
  uint64_t top = atomic_load_explicit (&self->top, memory_order_relaxed);
  void *item;

  /* Empty for sure: only the owner adds, and top does not go back. Saves the fence. */
  if (top == bottom)
    return NULL;

  bottom--;
  atomic_store_explicit (&self->bottom, bottom, memory_order_release);
  iris_fence_full ();
  top = atomic_load_explicit (&self->top, memory_order_relaxed);
  if (iris_unlikely ((int64_t) (bottom - top) <= 0))
    return iris_wsqueue_take_last (self, array, top, bottom);

  item = iris_array_get (array, bottom);
  if (iris_unlikely (bottom - top < self->shrink_below))
    iris_wsqueue_replace (self, iris_array_get_capacity (array) / 2);

  return item;
}

/* Any thread. The oldest item into @item. */
static inline IrisStealResult
iris_wsqueue_steal (IrisWSQueue *self, void **item)
{
  uint64_t top = atomic_load_explicit (&self->top, memory_order_acquire);
  uint64_t bottom;
  IrisArray *array;
  void *candidate;

  iris_fence_full ();
  bottom = atomic_load_explicit (&self->bottom, memory_order_acquire);
  if (top == bottom)
    return IRIS_STEAL_EMPTY;
  if ((int64_t) (bottom - top) < 0) /* the owner is between two stores */
    return IRIS_STEAL_LOST;

  array = atomic_load_explicit (&self->array, memory_order_acquire);
  candidate = iris_array_get (array, top);
  if (!atomic_compare_exchange_strong_explicit (&self->top, &top, top + 1, memory_order_seq_cst,
                                                memory_order_relaxed))
    return IRIS_STEAL_LOST;
  *item = candidate;

  return IRIS_STEAL_TAKEN;
}

/* Owner. The oldest item, or NULL. */
static inline void *
iris_wsqueue_take_oldest (IrisWSQueue *self)
{
  IrisStealResult result;
  void *item = NULL;

  do
    result = iris_wsqueue_steal (self, &item);
  while (result == IRIS_STEAL_LOST);

  return item;
}

/* Any thread. How many items there are; already wrong when it returns, but 0 only if the queue
 * was empty when bottom was read: bottom is read after top, which only grows. */
static inline int64_t
iris_wsqueue_get_length (IrisWSQueue *self)
{
  uint64_t top = atomic_load_explicit (&self->top, memory_order_acquire);
  uint64_t bottom = atomic_load_explicit (&self->bottom, memory_order_relaxed);

  return (int64_t) iris_array_estimate_length (top, bottom);
}
