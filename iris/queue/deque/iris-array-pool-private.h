/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The pool of arrays that deques share while they grow and shrink.
 *
 * Use: a deque that is made with a pool takes its arrays from it and gives back what it replaces,
 * so that what one deque no longer needs serves the next. Any thread may take and give; init and
 * clear while no other thread looks, clear after all deques of the pool are cleared.
 *
 * A thief that was stopped may read a slot of an array long after the array was given back, when
 * it serves another deque or none. What makes that harmless:
 *  - Memory is type-stable: an array stays an array of its capacity until the pool is cleared. The
 *    slots are atomic and the mask never changes, so the read is defined. It may yield the item
 *    of another deque.
 *  - The thief drops what it read, because it cannot claim the position. A deque gives an array
 *    back only after it has moved its top by a compare-and-swap to numbers never used before,
 *    with the new array stored before that swap. An earlier reader of top fails; a later one
 *    also reads the new array. iris_array_retire() is called after that, and nowhere else.
 *
 * Memory is bounded by what the deques held at their joint peak, for each capacity. Arrays are
 * given back to the system when the pool is cleared. A deque without a pool keeps what it
 * replaced on a list of its own, and does not shrink: because arrays double, all those together
 * are smaller than the newest.
 *
 * A lock suffices: an owner comes here after it has filled or emptied half an array. No thief
 * ever does.
 *
 * Source: D. Chase, Y. Lev, "Dynamic Circular Work-Stealing Deque" (SPAA 2005), where a deque
 * shrinks into a shared pool and moves top on by the array's size. They store the moved bottom
 * before they swap top; in between, a thief that finds top at the old bottom would take what is
 * not there. Here top goes first.
 */
#pragma once

#include "iris/queue/deque/iris-array-private.h"

#include <pthread.h>

typedef struct IrisArrayPool IrisArrayPool;

struct IrisArrayPool
{
  pthread_mutex_t lock;
  IrisArray *idle[IRIS_ARRAY_MAX_ORDER + 1]; /* by the logarithm of the capacity */
  uint64_t n_idle;
  uint64_t n_made;
};

static inline void
iris_array_pool_init (IrisArrayPool *self)
{
  pthread_mutex_init (&self->lock, NULL);
  for (int i = 0; i <= IRIS_ARRAY_MAX_ORDER; i++)
    self->idle[i] = NULL;
  self->n_idle = 0;
  self->n_made = 0;
}

static inline void
iris_array_pool_clear (IrisArrayPool *self)
{
  for (int i = 0; i <= IRIS_ARRAY_MAX_ORDER; i++)
    {
      iris_array_free_all (self->idle[i]);
      self->idle[i] = NULL;
    }
  pthread_mutex_destroy (&self->lock);
}

static inline IrisArray **
iris_array_pool_class (IrisArrayPool *self, uint64_t capacity)
{
  return &self->idle[__builtin_ctzll (capacity)];
}

/* An array of @capacity from the pool, or a new one; from no pool, a new one. NULL as in
 * iris_array_new(). */
static inline IrisArray *
iris_array_pool_take (IrisArrayPool *self, uint64_t capacity)
{
  IrisArray *array, **idle;

  if (self == NULL || !iris_array_is_capacity (capacity))
    return iris_array_new (capacity);

  idle = iris_array_pool_class (self, capacity);
  pthread_mutex_lock (&self->lock);
  array = *idle;
  if (array != NULL)
    {
      *idle = array->next;
      self->n_idle--;
    }
  pthread_mutex_unlock (&self->lock);
  if (array != NULL)
    return array;

  array = iris_array_new (capacity);
  if (array == NULL)
    return NULL;
  pthread_mutex_lock (&self->lock);
  self->n_made++;
  pthread_mutex_unlock (&self->lock);

  return array;
}

static inline void
iris_array_pool_give (IrisArrayPool *self, IrisArray *array)
{
  IrisArray **idle = iris_array_pool_class (self, iris_array_get_capacity (array));

  pthread_mutex_lock (&self->lock);
  array->next = *idle;
  *idle = array;
  self->n_idle++;
  pthread_mutex_unlock (&self->lock);
}

/* Puts away an array that thieves may still read: into the pool, or on the list @retired. */
static inline void
iris_array_retire (IrisArrayPool *pool, IrisArray **retired, IrisArray *array)
{
  if (pool != NULL)
    {
      iris_array_pool_give (pool, array);
      return;
    }
  array->next = *retired;
  *retired = array;
}

/* Of a deque with a pool, below which length its array is halved: an eighth, so that a deque
 * that has just shrunk must double or halve its length before its array changes again. 0 for
 * never. */
static inline uint64_t
iris_array_shrink_below (IrisArrayPool *pool, IrisArray *array, uint64_t min_capacity)
{
  uint64_t capacity = iris_array_get_capacity (array);

  return pool != NULL && capacity > min_capacity ? capacity / 8 : 0;
}
