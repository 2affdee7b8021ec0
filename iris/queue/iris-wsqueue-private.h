/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The work-stealing queue: a deque that its owner uses at one end and thieves at the other.
 *
 * Who may call what: push and take the owner alone; steal and get_length any thread, the owner
 * included; init and clear while nobody else looks.
 *
 * Invariant: the queue holds the slots [top, bottom). Indices count from 0 and never wrap (64
 * bits; at 10^9 operations a second they last for 292 years). top only grows, and every growth
 * is one successful compare-and-swap: its winner owns the item that was in slot top. An array of
 * 2^k slots holds index i in slot i mod 2^k; it is replaced by a larger one before a live index
 * could meet another.
 *
 * Why the orders suffice:
 *  - push stores the slot, then bottom with release; steal reads bottom with acquire: a thief
 *    that sees the index sees the slot, and what the item points to. That also holds when the
 *    value it reads is one that take stored: a later store of the same thread continues the
 *    release sequence of the push (C11, 5.1.2.4; not so in C++20, keep that in mind when porting).
 *  - take announces bottom - 1 and steal reads top, each then looks at the other's word: the
 *    Dekker pattern, hence the full fence in both. At most one of them can miss the other, and
 *    for the last item both go through the compare-and-swap on top.
 *  - a thief may read a slot of an array that was replaced meanwhile. Old arrays are kept until
 *    the queue is freed and their live slots do not change, so the value is right if the
 *    compare-and-swap then succeeds, and dropped if it fails. Arrays double, so all the old ones
 *    together are no larger than the newest.
 *  - the owner reads top with acquire in push, so that a slot is written again only after the
 *    thief that emptied it has read it.
 *
 * Source: D. Chase, Y. Lev, "Dynamic Circular Work-Stealing Deque" (SPAA 2005); the C11 orders of
 * N. M. Le, A. Pop, A. Cohen, F. Zappa Nardelli, "Correct and Efficient Work-Stealing for Weak
 * Memory Models" (PPoPP 2013), figure 1, with push's release fence turned into a release store.
 */
#pragma once

#include "iris/base/iris-atomic-private.h"

#include <stdlib.h>

#define IRIS_WSQUEUE_MIN_CAPACITY 256

typedef struct IrisWSArray IrisWSArray;
typedef struct IrisWSQueue IrisWSQueue;

struct IrisWSArray
{
  int64_t mask;
  IrisWSArray *older;
  _Atomic (void *) slots[];
};

struct IrisWSQueue
{
  alignas (IRIS_CACHE_PAIR) _Atomic int64_t top;    /* thieves swap it, the owner for the last */
  alignas (IRIS_CACHE_PAIR) _Atomic int64_t bottom; /* the owner stores it */
  _Atomic (IrisWSArray *) array;                    /* the owner replaces it */
};

typedef enum
{
  IRIS_STEAL_EMPTY,
  IRIS_STEAL_LOST, /* somebody else took the item at the same moment */
  IRIS_STEAL_TAKEN,
} IrisStealResult;

static inline IrisWSArray *
iris_wsarray_new (int64_t capacity, IrisWSArray *older)
{
  IrisWSArray *self = malloc (sizeof *self + (size_t) capacity * sizeof self->slots[0]);

  if (self == NULL)
    return NULL;
  self->mask = capacity - 1;
  self->older = older;

  return self;
}

/* Starts at @index, which is 0 but in tests that cross limits. False when @capacity is no power of
 * two, or there is no memory. */
static inline bool
iris_wsqueue_init_at (IrisWSQueue *self, int64_t capacity, int64_t index)
{
  IrisWSArray *array;

  /* A mask needs a power of two; anything else would map two indices onto one slot. */
  if (capacity < 1 || (capacity & (capacity - 1)) != 0)
    return false;
  array = iris_wsarray_new (capacity, NULL);
  atomic_init (&self->top, index);
  atomic_init (&self->bottom, index);
  atomic_init (&self->array, array);

  return array != NULL;
}

static inline bool
iris_wsqueue_init (IrisWSQueue *self)
{
  return iris_wsqueue_init_at (self, IRIS_WSQUEUE_MIN_CAPACITY, 0);
}

/* Frees the arrays; what the slots point to is the caller's matter. */
static inline void
iris_wsqueue_clear (IrisWSQueue *self)
{
  IrisWSArray *array = atomic_load_explicit (&self->array, memory_order_relaxed);

  while (array != NULL)
    {
      IrisWSArray *older = array->older;

      free (array);
      array = older;
    }
  atomic_store_explicit (&self->array, NULL, memory_order_relaxed);
}

/* Replaces the array by one of twice the size that holds [top, bottom). */
static inline IrisWSArray *
iris_wsqueue_grow (IrisWSQueue *self, IrisWSArray *array, int64_t top, int64_t bottom)
{
  IrisWSArray *larger = iris_wsarray_new (2 * (array->mask + 1), array);

  if (larger == NULL)
    return NULL;
  for (int64_t i = top; i < bottom; i++)
    {
      void *item = atomic_load_explicit (&array->slots[i & array->mask], memory_order_relaxed);

      atomic_store_explicit (&larger->slots[i & larger->mask], item, memory_order_relaxed);
    }
  /* Release: a thief that sees the array sees its slots. */
  atomic_store_explicit (&self->array, larger, memory_order_release);

  return larger;
}

/* Owner. False, and nothing changed, when the queue is full and there is no memory to grow. */
static inline bool
iris_wsqueue_push (IrisWSQueue *self, void *item)
{
  int64_t bottom = atomic_load_explicit (&self->bottom, memory_order_relaxed);
  int64_t top = atomic_load_explicit (&self->top, memory_order_acquire);
  IrisWSArray *array = atomic_load_explicit (&self->array, memory_order_relaxed);

  if (iris_unlikely (bottom - top > array->mask))
    {
      array = iris_wsqueue_grow (self, array, top, bottom);
      if (array == NULL)
        return false;
    }
  atomic_store_explicit (&array->slots[bottom & array->mask], item, memory_order_relaxed);
  atomic_store_explicit (&self->bottom, bottom + 1, memory_order_release);

  return true;
}

/* Owner. The newest item, or NULL. */
static inline void *
iris_wsqueue_take (IrisWSQueue *self)
{
  int64_t bottom = atomic_load_explicit (&self->bottom, memory_order_relaxed);
  IrisWSArray *array = atomic_load_explicit (&self->array, memory_order_relaxed);
  int64_t top = atomic_load_explicit (&self->top, memory_order_relaxed);
  void *item;

  /* Empty for sure: only the owner adds, and top does not go back. Saves the fence. */
  if (top >= bottom)
    return NULL;

  bottom--;
  atomic_store_explicit (&self->bottom, bottom, memory_order_relaxed);
  iris_fence_full ();
  top = atomic_load_explicit (&self->top, memory_order_relaxed);

  if (iris_likely (top < bottom))
    return atomic_load_explicit (&array->slots[bottom & array->mask], memory_order_relaxed);

  item = NULL;
  if (top == bottom)
    {
      /* The last one: whoever moves top has it. */
      item = atomic_load_explicit (&array->slots[bottom & array->mask], memory_order_relaxed);
      if (!atomic_compare_exchange_strong_explicit (&self->top, &top, top + 1, memory_order_seq_cst,
                                                    memory_order_relaxed))
        item = NULL;
    }
  atomic_store_explicit (&self->bottom, bottom + 1, memory_order_relaxed);

  return item;
}

/* Any thread. The oldest item into @item. */
static inline IrisStealResult
iris_wsqueue_steal (IrisWSQueue *self, void **item)
{
  int64_t top = atomic_load_explicit (&self->top, memory_order_acquire);
  int64_t bottom;
  IrisWSArray *array;
  void *candidate;

  iris_fence_full ();
  bottom = atomic_load_explicit (&self->bottom, memory_order_acquire);
  if (top >= bottom)
    return IRIS_STEAL_EMPTY;

  array = atomic_load_explicit (&self->array, memory_order_acquire);
  candidate = atomic_load_explicit (&array->slots[top & array->mask], memory_order_relaxed);
  if (!atomic_compare_exchange_strong_explicit (&self->top, &top, top + 1, memory_order_seq_cst,
                                                memory_order_relaxed))
    return IRIS_STEAL_LOST;
  *item = candidate;

  return IRIS_STEAL_TAKEN;
}

/* Any thread. How many items there are; already wrong when it returns, but never negative. */
static inline int64_t
iris_wsqueue_get_length (IrisWSQueue *self)
{
  int64_t top = atomic_load_explicit (&self->top, memory_order_relaxed);
  int64_t bottom = atomic_load_explicit (&self->bottom, memory_order_relaxed);

  return bottom > top ? bottom - top : 0;
}
