/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The array below a deque: 2^k slots, of which position p has slot p mod 2^k.
 *
 * The slots are atomic, because a thief may read one while the owner writes it; the thief then
 * fails to claim the position and drops what it read. An array that was replaced stays readable,
 * so it is kept on a list from newest to oldest until its deque is cleared. Arrays double, hence
 * all the old ones together are smaller than the newest.
 *
 * A test that wants memory to run out defines the allocator before it includes this file.
 */
#pragma once

#include "iris/base/iris-atomic-private.h"

#include <stdlib.h>

#ifndef IRIS_ARRAY_MALLOC
#define IRIS_ARRAY_MALLOC(size) malloc (size)
#endif

/* 2^30 slots are 8 GiB of pointers: far above any backlog that is not a mistake. */
#define IRIS_ARRAY_MAX_CAPACITY (UINT64_C (1) << 30)

typedef struct IrisArray IrisArray;

struct IrisArray
{
  uint64_t mask;
  IrisArray *older;
  _Atomic (void *) slots[];
};

/* NULL when there is no memory, or @capacity is no power of two from 2 to the maximum. */
static inline IrisArray *
iris_array_new (uint64_t capacity, IrisArray *older)
{
  IrisArray *self;

  if (capacity < 2 || capacity > IRIS_ARRAY_MAX_CAPACITY || (capacity & (capacity - 1)) != 0)
    return NULL;
  self = IRIS_ARRAY_MALLOC (sizeof *self + (size_t) capacity * sizeof self->slots[0]);
  if (self == NULL)
    return NULL;
  self->mask = capacity - 1;
  self->older = older;

  return self;
}

/* Frees @self and all older ones. */
static inline void
iris_array_free_all (IrisArray *self)
{
  while (self != NULL)
    {
      IrisArray *older = self->older;

      free (self);
      self = older;
    }
}

static inline void *
iris_array_get (IrisArray *self, uint64_t position)
{
  return atomic_load_explicit (&self->slots[position & self->mask], memory_order_relaxed);
}

static inline void
iris_array_set (IrisArray *self, uint64_t position, void *item)
{
  atomic_store_explicit (&self->slots[position & self->mask], item, memory_order_relaxed);
}

/* An array of twice the size that holds [from, to), or NULL. */
static inline IrisArray *
iris_array_double (IrisArray *self, uint64_t from, uint64_t to)
{
  IrisArray *larger = iris_array_new (2 * (self->mask + 1), self);

  if (larger == NULL)
    return NULL;
  for (uint64_t i = from; i != to; i++)
    iris_array_set (larger, i, iris_array_get (self, i));

  return larger;
}
