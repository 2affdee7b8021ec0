/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The arena: nodes that have a number, never move, and stay what they are until the arena goes.
 *
 * How to use it: an arena serves one structure. iris_arena_take() numbers a node that was never
 * used before; what comes and goes is the business of a free list above it. A number, once handed
 * out, may be dereferenced by any thread for as long as the arena lives (iris_arena_at()), also by
 * one that read it long ago: that is what makes stamped pointers sound.
 *
 * Who may call what: take and at any thread; init and clear while no other thread looks.
 *
 * Invariant: chunk k holds FIRST * 2^k nodes, and is allocated once, before any of its numbers is
 * handed out. n_used only grows, by one successful compare-and-swap for each number, so a number
 * is handed out once. Running out of memory changes nothing: the next take tries again.
 *
 * Orders: the chunk is published by a release swap and acquired by each taker. Who learns a number
 * from another thread learns it through an acquire of its structure, behind which the chunk is
 * visible; hence the relaxed load in iris_arena_at().
 *
 * Limit: IRIS_ARENA_MAX nodes (2^32 less one first chunk; 64 GiB of the smallest ones).
 */
#pragma once

#include "iris/base/memory/iris-stamped-private.h"

#include <stdlib.h>

/* 2^6 nodes in the first chunk; model checkers take fewer. */
#ifndef IRIS_ARENA_FIRST_BITS
#define IRIS_ARENA_FIRST_BITS 6
#endif

#define IRIS_ARENA_CHUNKS (32 - IRIS_ARENA_FIRST_BITS)
#define IRIS_ARENA_FIRST  ((uint32_t) 1 << IRIS_ARENA_FIRST_BITS)
#define IRIS_ARENA_MAX    (UINT32_MAX - IRIS_ARENA_FIRST + 1)

typedef struct
{
  _Atomic (unsigned char *) chunks[IRIS_ARENA_CHUNKS];
  size_t node_size;
  uint32_t max;
  _Atomic uint32_t n_used;
} IrisArena;

/* @node_size is a multiple of the alignment of a node, which is at most malloc()'s. */
static inline void
iris_arena_init (IrisArena *self, size_t node_size)
{
  for (unsigned i = 0; i < IRIS_ARENA_CHUNKS; i++)
    atomic_init (&self->chunks[i], NULL);
  self->node_size = node_size;
  self->max = IRIS_ARENA_MAX;
  atomic_init (&self->n_used, 0);
}

static inline void
iris_arena_clear (IrisArena *self)
{
  for (unsigned i = 0; i < IRIS_ARENA_CHUNKS; i++)
    free (atomic_load_explicit (&self->chunks[i], memory_order_relaxed));
}

/* The chunk in which the n-th node is, and the number of the chunk's first node. */
static inline unsigned
iris_arena_locate (uint32_t n, uint32_t *first)
{
  uint32_t shifted = n + IRIS_ARENA_FIRST;
  unsigned bit = 31 - (unsigned) __builtin_clz (shifted);

  *first = ((uint32_t) 1 << bit) - IRIS_ARENA_FIRST;

  return bit - IRIS_ARENA_FIRST_BITS;
}

static inline void *
iris_arena_at (IrisArena *self, uint32_t index)
{
  uint32_t n = index - 1, first;
  unsigned k = iris_arena_locate (n, &first);
  unsigned char *chunk = atomic_load_explicit (&self->chunks[k], memory_order_relaxed);

  return chunk + (n - first) * self->node_size;
}

/* Makes sure that the n-th node has memory. */
static inline bool
iris_arena_provide (IrisArena *self, uint32_t n)
{
  uint32_t first;
  unsigned k = iris_arena_locate (n, &first);
  unsigned char *chunk = atomic_load_explicit (&self->chunks[k], memory_order_acquire);
  unsigned char *mine;

  if (iris_likely (chunk != NULL))
    return true;
  mine = malloc (((size_t) IRIS_ARENA_FIRST << k) * self->node_size);
  if (mine == NULL)
    /* Another thread may have had more luck. */
    return atomic_load_explicit (&self->chunks[k], memory_order_acquire) != NULL;
  if (!atomic_compare_exchange_strong_explicit (&self->chunks[k], &chunk, mine,
                                                memory_order_acq_rel, memory_order_acquire))
    free (mine);

  return true;
}

/* A number that was never handed out, its node uninitialised; IRIS_INDEX_NONE when there is no
 * memory, or the limit is reached. */
static inline uint32_t
iris_arena_take (IrisArena *self)
{
  uint32_t n = atomic_load_explicit (&self->n_used, memory_order_relaxed);

  do
    if (n >= self->max || !iris_arena_provide (self, n))
      return IRIS_INDEX_NONE;
  while (!atomic_compare_exchange_strong_explicit (&self->n_used, &n, n + 1, memory_order_relaxed,
                                                   memory_order_relaxed));

  return n + 1;
}
