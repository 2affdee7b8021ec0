/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The stack's core: Treiber's stack on stamped pointers.
 *
 * Who may call what: push, pop and is_empty any thread; init and clear while no other thread looks.
 * Both are lock-free: a thread that is stopped anywhere stops no other thread.
 *
 * Why it is correct: items lie in nodes of a free list of the stack's own, and the nodes in use
 * form a stamped LIFO (iris-lifo-private.h, where the argument is). A node is in one of the two
 * LIFOs or owned by one thread. Its item is plain: it is written by the owner before the push that
 * publishes it and read by the owner after the pop, and the LIFOs' releases and acquires order
 * each of the two after the other.
 *
 * Source: R. K. Treiber, "Systems Programming: Coping with Parallelism" (IBM RJ 5118, 1986).
 */
#pragma once

#include "iris/queue/stamped/iris-free-list-private.h"

typedef struct
{
  IrisLifoNode link;
  void *item;
} IrisStackNode;

typedef struct
{
  IrisLifo lifo;
  IrisFreeListCore nodes;
} IrisStackCore;

/* @stamp is 0 but in tests that cross its limit. */
static inline void
iris_stack_core_init (IrisStackCore *self, uint32_t stamp)
{
  iris_lifo_init (&self->lifo, stamp);
  iris_free_list_core_init (&self->nodes, sizeof (IrisStackNode), stamp);
}

static inline void
iris_stack_core_clear (IrisStackCore *self)
{
  iris_free_list_core_clear (&self->nodes);
}

/* False, and nothing changed, when there is no memory. */
static inline bool
iris_stack_core_push (IrisStackCore *self, void *item)
{
  bool fresh;
  uint32_t index = iris_free_list_core_get (&self->nodes, &fresh);
  IrisStackNode *node;

  if (iris_unlikely (index == IRIS_INDEX_NONE))
    return false;
  node = iris_free_list_core_at (&self->nodes, index);
  node->item = item;
  iris_lifo_push (&self->lifo, &self->nodes.arena, index);

  return true;
}

/* The item of a node that was popped; the node goes back. */
static inline void *
iris_stack_core_unwrap (IrisStackCore *self, uint32_t index)
{
  IrisStackNode *node = iris_free_list_core_at (&self->nodes, index);
  void *item = node->item;

  iris_free_list_core_put (&self->nodes, index);

  return item;
}

/* The newest item, or NULL. */
static inline void *
iris_stack_core_pop (IrisStackCore *self)
{
  uint32_t index = iris_lifo_pop (&self->lifo, &self->nodes.arena);

  return index != IRIS_INDEX_NONE ? iris_stack_core_unwrap (self, index) : NULL;
}

static inline bool
iris_stack_core_is_empty (IrisStackCore *self)
{
  return iris_lifo_is_empty (&self->lifo);
}
