/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The locked deque: a mutex around an array. It is right by inspection, so it is the oracle to
 * which the others are held, and the baseline against which they have to pay.
 *
 * Any thread may call everything but init and clear; the names say owner and thief only because
 * the other deques know the difference. Items are pointers other than NULL.
 *
 * Everything is under the lock, except that get_length reads top and bottom without it; bottom
 * may then be from before or after a take, and the result is already wrong when it returns. It is
 * 0 only if the deque was empty: top is read first and only grows.
 */
#pragma once

#include "iris/base/iris-atomic-private.h"
#include "iris/queue/deque/iris-array-pool-private.h"
#include "iris/queue/deque/iris-steal-private.h"

#include <pthread.h>

#define IRIS_LOCKED_DEQUE_MIN_CAPACITY 256

typedef struct IrisLockedDeque IrisLockedDeque;

struct IrisLockedDeque
{
  alignas (IRIS_CACHE_PAIR) pthread_mutex_t lock;
  _Atomic uint64_t top;
  _Atomic uint64_t bottom;
  IrisArray *array;
  IrisArrayPool *pool; /* or NULL */
};

/* Starts at @position, which is 0 but in tests that cross limits. False when there is no memory,
 * or @capacity is no power of two from 2 on. */
static inline bool
iris_locked_deque_init_full (IrisLockedDeque *self,
                             IrisArrayPool *pool,
                             uint64_t capacity,
                             uint64_t position)
{
  self->array = iris_array_pool_take (pool, capacity);
  self->pool = pool;
  atomic_init (&self->top, position);
  atomic_init (&self->bottom, position);
  pthread_mutex_init (&self->lock, NULL);

  return self->array != NULL;
}

/* Under the lock no thread reads an array that was replaced, so it goes at once. */
static inline void
iris_locked_deque_drop (IrisLockedDeque *self, IrisArray *array)
{
  if (self->pool != NULL && array != NULL)
    iris_array_pool_give (self->pool, array);
  else
    free (array);
}

static inline void
iris_locked_deque_clear (IrisLockedDeque *self)
{
  iris_locked_deque_drop (self, self->array);
  self->array = NULL;
  pthread_mutex_destroy (&self->lock);
}

/* False, and nothing changed, when the deque is full and there is no memory to grow. */
static inline bool
iris_locked_deque_push (IrisLockedDeque *self, void *item)
{
  uint64_t top, bottom;
  bool fits = true;

  pthread_mutex_lock (&self->lock);
  top = atomic_load_explicit (&self->top, memory_order_relaxed);
  bottom = atomic_load_explicit (&self->bottom, memory_order_relaxed);
  if (bottom - top > self->array->mask)
    {
      IrisArray *larger = iris_array_pool_take (self->pool,
                                                2 * iris_array_get_capacity (self->array));

      fits = larger != NULL;
      if (fits)
        {
          iris_array_copy (larger, self->array, top, bottom);
          iris_locked_deque_drop (self, self->array);
          self->array = larger;
        }
    }
  if (fits)
    {
      iris_array_set (self->array, bottom, item);
      atomic_store_explicit (&self->bottom, bottom + 1, memory_order_relaxed);
    }
  pthread_mutex_unlock (&self->lock);

  return fits;
}

/* The newest item, or NULL. */
static inline void *
iris_locked_deque_take (IrisLockedDeque *self)
{
  void *item = NULL;
  uint64_t bottom;

  pthread_mutex_lock (&self->lock);
  bottom = atomic_load_explicit (&self->bottom, memory_order_relaxed);
  if (bottom != atomic_load_explicit (&self->top, memory_order_relaxed))
    {
      item = iris_array_get (self->array, bottom - 1);
      atomic_store_explicit (&self->bottom, bottom - 1, memory_order_relaxed);
    }
  pthread_mutex_unlock (&self->lock);

  return item;
}

/* Up to half of what is there (rounded up), at most @max items, into @items, oldest first. @n is
 * how many, 0 unless the result is TAKEN. */
static inline IrisStealResult
iris_locked_deque_steal (IrisLockedDeque *self, void **items, uint64_t max, uint64_t *n)
{
  uint64_t top, length, k;

  pthread_mutex_lock (&self->lock);
  top = atomic_load_explicit (&self->top, memory_order_relaxed);
  length = atomic_load_explicit (&self->bottom, memory_order_relaxed) - top;
  k = (length + 1) / 2 < max ? (length + 1) / 2 : max;
  for (uint64_t i = 0; i < k; i++)
    items[i] = iris_array_get (self->array, top + i);
  /* Release: a length that counts from here on sees the bottom that was seen here. */
  atomic_store_explicit (&self->top, top + k, memory_order_release);
  pthread_mutex_unlock (&self->lock);
  *n = k;

  return k > 0 ? IRIS_STEAL_TAKEN : IRIS_STEAL_EMPTY;
}

/* The oldest item, or NULL. */
static inline void *
iris_locked_deque_take_oldest (IrisLockedDeque *self)
{
  void *item = NULL;
  uint64_t n;

  iris_locked_deque_steal (self, &item, 1, &n);

  return n > 0 ? item : NULL;
}

static inline uint64_t
iris_locked_deque_get_length (IrisLockedDeque *self)
{
  uint64_t top = atomic_load_explicit (&self->top, memory_order_acquire);
  uint64_t bottom = atomic_load_explicit (&self->bottom, memory_order_relaxed);

  return iris_array_estimate_length (top, bottom);
}
