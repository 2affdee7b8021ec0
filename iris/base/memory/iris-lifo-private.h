/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The stamped LIFO: last in, first out, of nodes of an arena. Stack and free list are made of it.
 *
 * Who may call what: push, look, take, pop and is_empty any thread; init while no other thread
 * looks. A thread that pushes a node must own it, and gives it up; the thread that pops it owns it.
 *
 * Invariant: top names the newest node, each node's `below` the one under it. Every value that top
 * takes differs from all before it (until the stamp wraps, iris-stamped-private.h): pop moves the
 * stamp, and between two pops a node can be pushed but once.
 *
 * Why it is correct: pop reads top, then `below` of the node that it names, then swaps. If the
 * swap succeeds, top was left alone in between: the node was in the LIFO all the time and its
 * `below`, which changes only while a pusher owns the node, was what it is. If the node was popped
 * by another thread, `below` may be anything, and the swap fails. Reading it is harmless, because
 * nodes are never given back. Push links to whatever is the top at the moment of its swap and
 * needs no new stamp (as the lock-less list does not); so that only pops use stamps up.
 *
 * Orders: the acquire on top makes the node's `below` and contents, stored before the release of
 * the push that put it there, visible. A pop's own swap is a release and an acquire, so the node
 * that it uncovers is visible to the thread that reads top next: its contents were to the pop.
 * `below` is atomic because a late reader may look at it while its next owner writes it; it needs
 * no order.
 *
 * Source: R. K. Treiber, "Systems Programming: Coping with Parallelism" (IBM RJ 5118, 1986).
 */
#pragma once

#include "iris/base/memory/iris-arena-private.h"

/* The first member of each node. */
typedef struct
{
  _Atomic uint32_t below;
} IrisLifoNode;

typedef struct
{
  alignas (IRIS_CACHE_PAIR) IrisStampedCell top;
} IrisLifo;

/* @stamp is 0 but in tests that cross its limit. */
static inline void
iris_lifo_init (IrisLifo *self, uint32_t stamp)
{
  iris_stamped_init (&self->top, iris_stamped (IRIS_INDEX_NONE, stamp));
}

static inline void
iris_lifo_push (IrisLifo *self, IrisArena *arena, uint32_t index)
{
  IrisLifoNode *node = iris_arena_at (arena, index);
  IrisStamped top = iris_stamped_load (&self->top);

  do
    atomic_store_explicit (&node->below, iris_stamped_index (top), memory_order_relaxed);
  while (!iris_stamped_swap (&self->top, &top, iris_stamped_same (top, index)));
}

/* First half of a pop: what is on top, and what lies below it. False when nothing is there. */
static inline bool
iris_lifo_look (IrisLifo *self, IrisArena *arena, IrisStamped *top, uint32_t *below)
{
  IrisLifoNode *node;

  *top = iris_stamped_load (&self->top);
  *below = IRIS_INDEX_NONE;
  if (iris_stamped_index (*top) == IRIS_INDEX_NONE)
    return false;
  node = iris_arena_at (arena, iris_stamped_index (*top));
  *below = atomic_load_explicit (&node->below, memory_order_relaxed);

  return true;
}

/* Second half: the node that top names is the caller's, if no thread changed the LIFO since. */
static inline bool
iris_lifo_take (IrisLifo *self, IrisStamped top, uint32_t below)
{
  return iris_stamped_swap (&self->top, &top, iris_stamped_next (top, below));
}

/* The newest node, or IRIS_INDEX_NONE. */
static inline uint32_t
iris_lifo_pop (IrisLifo *self, IrisArena *arena)
{
  IrisStamped top;
  uint32_t below;

  while (iris_lifo_look (self, arena, &top, &below))
    if (iris_lifo_take (self, top, below))
      return iris_stamped_index (top);

  return IRIS_INDEX_NONE;
}

static inline bool
iris_lifo_is_empty (IrisLifo *self)
{
  return iris_stamped_index (iris_stamped_load (&self->top)) == IRIS_INDEX_NONE;
}
