/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Striped counters: what many threads count, each in a stripe of its own, summed up when it is
 * read.
 *
 * Who may call what: add and get any thread; init and clear while no other thread looks.
 *
 * A thread that has a slot to itself (iris-thread-slot-private.h) adds with a plain load and store,
 * in cache lines that no other thread writes. Threads that share the last slot use atomic
 * additions. A sum is not of one moment: each addition is in it that happened before get, and maybe
 * some of those that happen meanwhile. Nothing is ordered by these counters, so all is relaxed.
 */
#pragma once

#include "iris/base/sync/iris-thread-slot-private.h"

#include <stdlib.h>

typedef struct
{
  _Atomic uint64_t *cells; /* a stripe for each slot */
  unsigned stride;         /* cells of a stripe: whole cache lines */
} IrisStripedCounters;

#define IRIS_STRIPED_PER_LINE (IRIS_CACHE_LINE / sizeof (uint64_t))

/* @n counters at 0. False when there is no memory. */
static inline bool
iris_striped_counters_init (IrisStripedCounters *self, unsigned n)
{
  size_t n_cells;

  self->stride = (unsigned) ((n + IRIS_STRIPED_PER_LINE - 1) / IRIS_STRIPED_PER_LINE
                             * IRIS_STRIPED_PER_LINE);
  n_cells = (size_t) self->stride * (IRIS_THREAD_SLOTS + 1);
  self->cells = aligned_alloc (IRIS_CACHE_LINE, n_cells * sizeof *self->cells);
  if (self->cells == NULL)
    return false;
  for (size_t i = 0; i < n_cells; i++)
    atomic_init (&self->cells[i], 0);

  return true;
}

static inline void
iris_striped_counters_clear (IrisStripedCounters *self)
{
  free (self->cells);
  self->cells = NULL;
}

/* Adds one to counter @i; returns how many the calling thread's stripe had before. */
static inline uint64_t
iris_striped_counters_add (IrisStripedCounters *self, unsigned i)
{
  unsigned slot = iris_thread_slot ();
  _Atomic uint64_t *cell = &self->cells[(size_t) slot * self->stride + i];
  uint64_t n;

  if (iris_unlikely (slot == IRIS_THREAD_SLOTS))
    return atomic_fetch_add_explicit (cell, 1, memory_order_relaxed);
  n = atomic_load_explicit (cell, memory_order_relaxed);
  atomic_store_explicit (cell, n + 1, memory_order_relaxed);

  return n;
}

static inline uint64_t
iris_striped_counters_get (const IrisStripedCounters *self, unsigned i)
{
  uint64_t sum = 0;

  for (unsigned slot = 0; slot <= IRIS_THREAD_SLOTS; slot++)
    sum += iris_counter_get (&self->cells[(size_t) slot * self->stride + i]);

  return sum;
}
