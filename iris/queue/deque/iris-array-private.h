/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The array below a deque: 2^k slots, of which position p has slot p mod 2^k.
 *
 * The slots are atomic, because a thief may read one while an owner writes it; the thief then
 * fails to claim the position and drops what it read. For the same reason an array that a deque
 * has replaced is not freed while thieves are about: it is retired, see iris-array-pool-private.h.
 * Its mask is never written again.
 */
#pragma once

#include "iris/base/iris-atomic-private.h"

#include <stdlib.h>

/* 2^30 slots are 8 GiB of pointers: far above any backlog that is not a mistake. */
#define IRIS_ARRAY_MAX_ORDER    30
#define IRIS_ARRAY_MAX_CAPACITY (UINT64_C (1) << IRIS_ARRAY_MAX_ORDER)

/* How far a deque moves its positions when it renumbers them, given the larger of the capacities
 * involved: beyond all there were, and so that the items keep their slots. A test defines it, to
 * show what goes wrong without. */
#ifndef IRIS_ARRAY_LAP
#define IRIS_ARRAY_LAP(capacity) (capacity)
#endif

typedef struct IrisArray IrisArray;

struct IrisArray
{
  uint64_t mask;
  IrisArray *next; /* in a list of arrays that are not in use */
  _Atomic (void *) slots[];
};

static inline bool
iris_array_is_capacity (uint64_t capacity)
{
  return capacity >= 2 && capacity <= IRIS_ARRAY_MAX_CAPACITY && (capacity & (capacity - 1)) == 0;
}

/* NULL when there is no memory, or @capacity is no power of two from 2 to the maximum. */
static inline IrisArray *
iris_array_new (uint64_t capacity)
{
  IrisArray *self;

  if (!iris_array_is_capacity (capacity))
    return NULL;
  self = malloc (sizeof *self + (size_t) capacity * sizeof self->slots[0]);
  if (self == NULL)
    return NULL;
  self->mask = capacity - 1;
  self->next = NULL;

  return self;
}

/* Frees a list. */
static inline void
iris_array_free_all (IrisArray *self)
{
  while (self != NULL)
    {
      IrisArray *next = self->next;

      free (self);
      self = next;
    }
}

static inline uint64_t
iris_array_get_capacity (const IrisArray *self)
{
  return self->mask + 1;
}

/* See IRIS_ARRAY_LAP. */
static inline uint64_t
iris_array_get_lap (const IrisArray *self, const IrisArray *other)
{
  return IRIS_ARRAY_LAP ((self->mask > other->mask ? self->mask : other->mask) + 1);
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

/* Both arrays then hold the positions [from, to), which must fit into @self. */
static inline void
iris_array_copy (IrisArray *self, IrisArray *source, uint64_t from, uint64_t to)
{
  for (uint64_t i = from; i != to; i++)
    iris_array_set (self, i, iris_array_get (source, i));
}

/* A length from a bottom that was read after a top, by another thread than the owner. The two may
 * be from before and after the positions were renumbered; then it is wrong, but it is 0 only if
 * bottom was at that top. */
static inline uint64_t
iris_array_estimate_length (uint64_t top, uint64_t bottom)
{
  return (int64_t) (bottom - top) < 0 ? 1 : bottom - top;
}
