/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The ABP deque: the first non-blocking work-stealing deque; bounded, on one array without wrap.
 *
 * Who may call what: push, take and take_oldest the owner alone; steal and get_length any thread;
 * init and clear while no other thread looks. Items are pointers other than NULL.
 *
 * Invariant: the deque holds the indices [top, bottom) of its array. bottom is the owner's. top
 * is half of a word, age = {stamp, top}, that changes by compare-and-swap, or by the owner's store
 * when it has found the deque empty. Indices start again from 0 when the owner empties the deque;
 * that gives the word a new stamp, so a thief that read it before fails.
 *
 * Full means that bottom has come to the end of the array, even if thieves have made room at its
 * beginning: that room comes back when the deque is empty. push then says no and the caller puts
 * the item elsewhere.
 *
 * Why the orders suffice:
 *  - push stores the slot, then bottom with release; steal reads bottom with acquire. take stores
 *    bottom with release as well, as in iris-wsqueue-private.h.
 *  - take announces bottom - 1 and then reads age; steal reads age and then bottom: the Dekker
 *    pattern, hence the full fence in both. For the last item both swap age.
 *  - starting again stores bottom = 0, then age with release: a thief that reads the new age
 *    (acquire) reads no bottom from before, so it does not believe in slots that are gone.
 *  - within one stamp the owner writes an index again only if it took the item there by a take
 *    that found top below it, so no thief has claimed that index, nor can before top gets there.
 *
 * The stamp has 48 bits and changes once per emptied deque, which takes a compare-and-swap (5 ns
 * at best): it comes round after 16 days of nothing else. Hence top has 16 bits, and the array at
 * most 32,768 slots.
 *
 * Source: N. S. Arora, R. D. Blumofe, C. G. Plaxton, "Thread Scheduling for Multiprogrammed
 * Multiprocessors" (SPAA 1998), figure 5; they assume sequentially consistent memory. The orders
 * are chosen as in iris-wsqueue-private.h.
 */
#pragma once

#include "iris/base/iris-atomic-private.h"
#include "iris/queue/deque/iris-array-private.h"
#include "iris/queue/deque/iris-steal-private.h"

#define IRIS_ABPQUEUE_TOP_BITS         16
#define IRIS_ABPQUEUE_MAX_CAPACITY     ((UINT64_C (1) << IRIS_ABPQUEUE_TOP_BITS) / 2)
#define IRIS_ABPQUEUE_DEFAULT_CAPACITY 4096

/* A test defines it as 0, to show what goes wrong. */
#ifndef IRIS_ABPQUEUE_STAMP_STEP
#define IRIS_ABPQUEUE_STAMP_STEP 1
#endif

typedef struct IrisABPQueue IrisABPQueue;

struct IrisABPQueue
{
  alignas (IRIS_CACHE_PAIR) _Atomic uint64_t age;
  alignas (IRIS_CACHE_PAIR) _Atomic uint64_t bottom;
  IrisArray *array; /* never changes */
};

static inline uint64_t
iris_abpqueue_top (uint64_t age)
{
  return age & ((UINT64_C (1) << IRIS_ABPQUEUE_TOP_BITS) - 1);
}

/* The age of an emptied deque, after @age. */
static inline uint64_t
iris_abpqueue_next_stamp (uint64_t age)
{
  return ((age >> IRIS_ABPQUEUE_TOP_BITS) + IRIS_ABPQUEUE_STAMP_STEP) << IRIS_ABPQUEUE_TOP_BITS;
}

/* Starts with @stamp, which is 0 but in tests that cross limits. False when there is no memory,
 * or @capacity is no power of two from 2 to the maximum. */
static inline bool
iris_abpqueue_init_full (IrisABPQueue *self, uint64_t capacity, uint64_t stamp)
{
  self->array = capacity <= IRIS_ABPQUEUE_MAX_CAPACITY ? iris_array_new (capacity) : NULL;
  atomic_init (&self->age, stamp << IRIS_ABPQUEUE_TOP_BITS);
  atomic_init (&self->bottom, 0);

  return self->array != NULL;
}

static inline void
iris_abpqueue_clear (IrisABPQueue *self)
{
  free (self->array);
  self->array = NULL;
}

/* Owner. False, and nothing changed, when the deque is full. */
static inline bool
iris_abpqueue_push (IrisABPQueue *self, void *item)
{
  uint64_t bottom = atomic_load_explicit (&self->bottom, memory_order_relaxed);

  if (iris_unlikely (bottom > self->array->mask))
    return false;
  iris_array_set (self->array, bottom, item);
  atomic_store_explicit (&self->bottom, bottom + 1, memory_order_release);

  return true;
}

/* Owner, with nothing or one item left, at @bottom: starts again from index 0. */
static inline void *
iris_abpqueue_take_last (IrisABPQueue *self, uint64_t age, uint64_t bottom)
{
  uint64_t next = iris_abpqueue_next_stamp (age);
  void *item = iris_array_get (self->array, bottom);

  atomic_store_explicit (&self->bottom, 0, memory_order_relaxed);
  if (bottom == iris_abpqueue_top (age)
      && atomic_compare_exchange_strong_explicit (&self->age, &age, next, memory_order_seq_cst,
                                                  memory_order_acquire))
    return item;
  /* Stolen; no thief can swap any more, because top has reached the end. Acquire above and in
   * take: the thief has read its slot before it is written again. */
  atomic_store_explicit (&self->age, next, memory_order_release);

  return NULL;
}

/* Owner. The newest item, or NULL. */
static inline void *
iris_abpqueue_take (IrisABPQueue *self)
{
  uint64_t bottom = atomic_load_explicit (&self->bottom, memory_order_relaxed);
  uint64_t age;

  if (bottom == 0)
    return NULL;
  bottom--;
  atomic_store_explicit (&self->bottom, bottom, memory_order_release);
  iris_fence_full ();
  age = atomic_load_explicit (&self->age, memory_order_acquire);
  if (iris_likely (bottom > iris_abpqueue_top (age)))
    return iris_array_get (self->array, bottom);

  return iris_abpqueue_take_last (self, age, bottom);
}

/* Any thread. The oldest item into @item. */
static inline IrisStealResult
iris_abpqueue_steal (IrisABPQueue *self, void **item)
{
  uint64_t age = atomic_load_explicit (&self->age, memory_order_acquire);
  uint64_t bottom;
  void *candidate;

  iris_fence_full ();
  bottom = atomic_load_explicit (&self->bottom, memory_order_acquire);
  if (bottom <= iris_abpqueue_top (age))
    return IRIS_STEAL_EMPTY;

  candidate = iris_array_get (self->array, iris_abpqueue_top (age));
  if (!atomic_compare_exchange_strong_explicit (&self->age, &age, age + 1, memory_order_seq_cst,
                                                memory_order_relaxed))
    return IRIS_STEAL_LOST;
  *item = candidate;

  return IRIS_STEAL_TAKEN;
}

/* Owner. The oldest item, or NULL. */
static inline void *
iris_abpqueue_take_oldest (IrisABPQueue *self)
{
  IrisStealResult result;
  void *item = NULL;

  do
    result = iris_abpqueue_steal (self, &item);
  while (result == IRIS_STEAL_LOST);

  return item;
}

/* Any thread. How many items there are; already wrong when it returns, but 0 only if the deque
 * was empty when bottom was read: top and bottom are of one stamp, or bottom is that of the start.
 */
static inline uint64_t
iris_abpqueue_get_length (IrisABPQueue *self)
{
  uint64_t age = atomic_load_explicit (&self->age, memory_order_acquire);
  uint64_t again, bottom;

  for (;; age = again)
    {
      bottom = atomic_load_explicit (&self->bottom, memory_order_acquire);
      again = atomic_load_explicit (&self->age, memory_order_acquire);
      if ((age >> IRIS_ABPQUEUE_TOP_BITS) == (again >> IRIS_ABPQUEUE_TOP_BITS))
        break;
    }

  return bottom > iris_abpqueue_top (age) ? bottom - iris_abpqueue_top (age) : 0;
}
