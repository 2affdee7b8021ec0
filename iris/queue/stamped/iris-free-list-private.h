/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The free list's core: nodes that are handed out and come back, and memory that does not go.
 *
 * Who may call what: get, put and at any thread; init and clear while no other thread looks.
 *
 * What it promises: a node is handed out to one owner at a time; and the memory behind a number is
 * a node for as long as the list lives, the thread that owns it. So a thread that was preempted
 * between reading a number and looking at its node looks at a node, never at freed memory: a
 * structure on top of it needs stamps, and nothing else, to be safe from what happened meanwhile.
 *
 * Memory is bounded by the largest number of nodes that were out at once.
 *
 * Why it is correct: it is a stamped LIFO (iris-lifo-private.h) over an arena that it asks when
 * the LIFO is empty (iris-arena-private.h); the newest node, the warmest, is handed out first.
 *
 * Source: M. Michael, M. Scott, "Simple, Fast, and Practical Non-Blocking and Blocking Concurrent
 * Queue Algorithms" (PODC 1996), section 2, which keep their nodes this way.
 */
#pragma once

#include "iris/base/memory/iris-lifo-private.h"

typedef struct
{
  IrisLifo free;
  IrisArena arena;
} IrisFreeListCore;

/* The first member of a node is an IrisLifoNode, which is the list's while the node is free.
 * @stamp is 0 but in tests that cross its limit. */
static inline void
iris_free_list_core_init (IrisFreeListCore *self, size_t node_size, uint32_t stamp)
{
  iris_lifo_init (&self->free, stamp);
  iris_arena_init (&self->arena, node_size);
}

static inline void
iris_free_list_core_clear (IrisFreeListCore *self)
{
  iris_arena_clear (&self->arena);
}

static inline void *
iris_free_list_core_at (IrisFreeListCore *self, uint32_t index)
{
  return iris_arena_at (&self->arena, index);
}

/* A node for the caller, IRIS_INDEX_NONE when there is no memory. A @fresh one is uninitialised;
 * any other is as its last owner left it. */
static inline uint32_t
iris_free_list_core_get (IrisFreeListCore *self, bool *fresh)
{
  uint32_t index = iris_lifo_pop (&self->free, &self->arena);

  *fresh = index == IRIS_INDEX_NONE;

  return iris_likely (!*fresh) ? index : iris_arena_take (&self->arena);
}

/* The caller's node back. */
static inline void
iris_free_list_core_put (IrisFreeListCore *self, uint32_t index)
{
  iris_lifo_push (&self->free, &self->arena, index);
}
