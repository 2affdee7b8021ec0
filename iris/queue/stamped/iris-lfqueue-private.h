/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The lock-free queue's core: Michael and Scott's queue on stamped pointers, with an end.
 *
 * Who may call what: push, pop, pop_or_close, close, is_closed and get_length any thread; init and
 * clear while no other thread looks. All are lock-free; none waits.
 *
 * Invariants
 * ----------
 * head and tail name nodes of one chain. The node that head names is a dummy, the items are in
 * those behind it. (1) The last node of the chain has no next, or the mark CLOSED, which stays.
 * (2) tail is at head or behind it, never in front: a node is given up only when head has left it,
 * and head leaves it only after tail was seen elsewhere. (3) Each of the three kinds of stamped
 * cell (head, tail, a node's next) takes a new stamp with every change, next also when its node
 * comes back from the free list. So no cell takes a value twice (iris-stamped-private.h).
 *
 * Why it is correct
 * -----------------
 * push reads tail, then the next of the node T that tail names, then tail again. If tail is the
 * same, what was read is T's next from T's present life: had T been given up and come back, its
 * next was stored with release by a thread that saw head, and before that tail, leave T; having
 * acquired that value, push would find tail changed. If T's next is nothing, push swaps it for its
 * node. That succeeds only if the cell was left alone, that is, T is the last node still (1, 3).
 * If T has a next, tail lags; push moves it on and tries again. Moving tail is no thread's duty in
 * particular; it fails only when another thread did it.
 *
 * pop reads head, tail, and the next of the dummy, then head again: by the same argument all three
 * are of one life. Nothing behind the dummy: the queue was empty when next was read. That is
 * decided by next, of a node which was the dummy before and after the reading, and never by what a
 * recycled node happens to hold. Something behind it, and tail at the dummy: tail is moved first
 * (2). Else the item is read and head swapped; if that succeeds, head was left alone, so the item
 * was read from the node while it was in the queue, and the old dummy is the caller's to give up.
 *
 * tail cannot be read too old: the thread that made head name A had seen tail past the node before
 * A, did so before its release of head, and the reader of head acquired it.
 *
 * Closing swaps the next of the last node from nothing to CLOSED: that is one step, after which no
 * push can succeed, since there is no other place to link to. pop_or_close does so with the next
 * of the dummy, after which the queue is closed and was empty in that very step; it needs no other
 * consumer to hold still.
 *
 * The length needs no counter: tail's stamp moves once for each node linked, head's once for each
 * item taken, and they start equal. A push that has returned is counted.
 *
 * Orders: every read that something hangs on is an acquire, every change a release. The item is
 * relaxed: it is stored before the release that links its node, loaded after the acquire of that
 * link, and its next owner stores behind the release of the swap that follows the load.
 *
 * Source: M. Michael, M. Scott (PODC 1996), figure 1; the closing mark after the closed rings of
 * A. Morrison, Y. Afek, "Fast Concurrent Queues for x86 Processors" (PPoPP 2013).
 */
#pragma once

#include "iris/queue/stamped/iris-free-list-private.h"

/* Larger than any number of an arena. */
#define IRIS_LFQUEUE_CLOSED UINT32_MAX

_Static_assert(IRIS_ARENA_MAX < IRIS_LFQUEUE_CLOSED, "the mark must be no node");

typedef struct
{
  IrisLifoNode link; /* the free list's */
  IrisStampedCell next;
  _Atomic (void *) item;
} IrisLFQueueNode;

typedef struct
{
  alignas (IRIS_CACHE_PAIR) IrisStampedCell head;
  alignas (IRIS_CACHE_PAIR) IrisStampedCell tail;
  IrisFreeListCore nodes;
  uint32_t first_stamp; /* of the next of a fresh node */
} IrisLFQueueCore;

typedef enum
{
  IRIS_LFQUEUE_PUSHED,
  IRIS_LFQUEUE_REFUSED, /* closed */
  IRIS_LFQUEUE_NO_MEMORY,
} IrisLFQueuePush;

/* What push or pop saw before it tries its swap. */
typedef struct
{
  IrisStamped head; /* pop only */
  IrisStamped tail;
  IrisStamped next; /* of the node at tail (push), at head (pop) */
} IrisLFQueueView;

static inline IrisLFQueueNode *
iris_lfqueue_core_at (IrisLFQueueCore *self, IrisStamped at)
{
  return iris_free_list_core_at (&self->nodes, iris_stamped_index (at));
}

/* A node with nothing behind it; IRIS_INDEX_NONE when there is no memory. */
static inline uint32_t
iris_lfqueue_core_wrap (IrisLFQueueCore *self, void *item)
{
  bool fresh;
  uint32_t index = iris_free_list_core_get (&self->nodes, &fresh);
  IrisLFQueueNode *node;

  if (iris_unlikely (index == IRIS_INDEX_NONE))
    return IRIS_INDEX_NONE;
  node = iris_free_list_core_at (&self->nodes, index);
  if (fresh)
    iris_stamped_init (&node->next, iris_stamped (IRIS_INDEX_NONE, self->first_stamp));
  else
    iris_stamped_store (&node->next,
                        iris_stamped_next (iris_stamped_load (&node->next), IRIS_INDEX_NONE));
  atomic_store_explicit (&node->item, item, memory_order_relaxed);

  return index;
}

/* @stamp is 0 but in tests that cross its limit. False when there is no memory. */
static inline bool
iris_lfqueue_core_init (IrisLFQueueCore *self, uint32_t stamp)
{
  uint32_t dummy;

  iris_free_list_core_init (&self->nodes, sizeof (IrisLFQueueNode), stamp);
  self->first_stamp = stamp;
  dummy = iris_lfqueue_core_wrap (self, NULL);
  iris_stamped_init (&self->head, iris_stamped (dummy, stamp));
  iris_stamped_init (&self->tail, iris_stamped (dummy, stamp));

  return dummy != IRIS_INDEX_NONE;
}

static inline void
iris_lfqueue_core_clear (IrisLFQueueCore *self)
{
  iris_free_list_core_clear (&self->nodes);
}

/* First half of a push or a close. False when tail moved meanwhile. */
static inline bool
iris_lfqueue_core_look_at_tail (IrisLFQueueCore *self, IrisLFQueueView *view)
{
  view->tail = iris_stamped_load (&self->tail);
  view->next = iris_stamped_load (&iris_lfqueue_core_at (self, view->tail)->next);

  return iris_stamped_equal (view->tail, iris_stamped_load (&self->tail));
}

/* Moves a lagging tail from what was seen to the node behind it, if no thread did so yet. */
static inline void
iris_lfqueue_core_advance (IrisLFQueueCore *self, const IrisLFQueueView *view)
{
  IrisStamped tail = view->tail;

  iris_stamped_swap (&self->tail, &tail, iris_stamped_next (tail, iris_stamped_index (view->next)));
}

/* Second half: links @index (or CLOSED) behind the node at @last, if the next that was seen there,
 * which is nothing, was left alone. */
static inline bool
iris_lfqueue_core_link (IrisLFQueueCore *self, IrisStamped last, IrisStamped next, uint32_t index)
{
  return iris_stamped_swap (&iris_lfqueue_core_at (self, last)->next, &next,
                            iris_stamped_next (next, index));
}

static inline IrisLFQueuePush
iris_lfqueue_core_push (IrisLFQueueCore *self, void *item)
{
  uint32_t index = iris_lfqueue_core_wrap (self, item);
  IrisLFQueueView view;

  if (iris_unlikely (index == IRIS_INDEX_NONE))
    return IRIS_LFQUEUE_NO_MEMORY;
  for (;;)
    {
      if (!iris_lfqueue_core_look_at_tail (self, &view))
        continue;
      switch (iris_stamped_index (view.next))
        {
        case IRIS_LFQUEUE_CLOSED:
          iris_free_list_core_put (&self->nodes, index);
          return IRIS_LFQUEUE_REFUSED;
        case IRIS_INDEX_NONE:
          if (iris_lfqueue_core_link (self, view.tail, view.next, index))
            {
              view.next = iris_stamped (index, 0);
              iris_lfqueue_core_advance (self, &view);
              return IRIS_LFQUEUE_PUSHED;
            }
          break;
        default:
          iris_lfqueue_core_advance (self, &view);
        }
    }
}

/* First half of a pop. False when head moved meanwhile. */
static inline bool
iris_lfqueue_core_look_at_head (IrisLFQueueCore *self, IrisLFQueueView *view)
{
  view->head = iris_stamped_load (&self->head);
  view->tail = iris_stamped_load (&self->tail);
  view->next = iris_stamped_load (&iris_lfqueue_core_at (self, view->head)->next);

  return iris_stamped_equal (view->head, iris_stamped_load (&self->head));
}

/* Second half: takes the item behind the dummy, if head was left alone. */
static inline bool
iris_lfqueue_core_take (IrisLFQueueCore *self, const IrisLFQueueView *view, void **item)
{
  IrisStamped head = view->head;
  IrisLFQueueNode *first = iris_lfqueue_core_at (self, view->next);

  *item = atomic_load_explicit (&first->item, memory_order_relaxed);
  if (!iris_stamped_swap (&self->head, &head,
                          iris_stamped_next (head, iris_stamped_index (view->next))))
    return false;
  iris_free_list_core_put (&self->nodes, iris_stamped_index (view->head));

  return true;
}

/* The oldest item; NULL when there is none, and then @closed tells whether none will come. With
 * @or_close, a queue that is found empty is closed in the same step. */
static inline void *
iris_lfqueue_core_pop_full (IrisLFQueueCore *self, bool or_close, bool *closed)
{
  IrisLFQueueView view;
  void *item;

  *closed = false;
  for (;;)
    {
      if (!iris_lfqueue_core_look_at_head (self, &view))
        continue;
      switch (iris_stamped_index (view.next))
        {
        case IRIS_INDEX_NONE:
          if (or_close && !iris_lfqueue_core_link (self, view.head, view.next, IRIS_LFQUEUE_CLOSED))
            break;
          *closed = or_close;
          return NULL;
        case IRIS_LFQUEUE_CLOSED:
          *closed = true;
          return NULL;
        default:
          if (iris_stamped_index (view.head) == iris_stamped_index (view.tail))
            iris_lfqueue_core_advance (self, &view);
          else if (iris_lfqueue_core_take (self, &view, &item))
            return item;
        }
    }
}

static inline void *
iris_lfqueue_core_pop (IrisLFQueueCore *self)
{
  bool closed;

  return iris_lfqueue_core_pop_full (self, false, &closed);
}

/* From now on push refuses. */
static inline void
iris_lfqueue_core_close (IrisLFQueueCore *self)
{
  IrisLFQueueView view;

  for (;;)
    {
      if (!iris_lfqueue_core_look_at_tail (self, &view))
        continue;
      switch (iris_stamped_index (view.next))
        {
        case IRIS_LFQUEUE_CLOSED:
          return;
        case IRIS_INDEX_NONE:
          if (iris_lfqueue_core_link (self, view.tail, view.next, IRIS_LFQUEUE_CLOSED))
            return;
          break;
        default:
          iris_lfqueue_core_advance (self, &view);
        }
    }
}

static inline bool
iris_lfqueue_core_is_closed (IrisLFQueueCore *self)
{
  IrisLFQueueView view;

  for (;;)
    {
      if (!iris_lfqueue_core_look_at_tail (self, &view))
        continue;
      if (iris_stamped_index (view.next) == IRIS_LFQUEUE_CLOSED)
        return true;
      if (iris_stamped_index (view.next) == IRIS_INDEX_NONE)
        return false;
      iris_lfqueue_core_advance (self, &view);
    }
}

/* The number of items at some moment during the call. */
static inline uint32_t
iris_lfqueue_core_get_length (IrisLFQueueCore *self)
{
  IrisStamped head, tail;

  do
    {
      head = iris_stamped_load (&self->head);
      tail = iris_stamped_load (&self->tail);
    }
  while (!iris_stamped_equal (head, iris_stamped_load (&self->head)));

  return iris_stamped_stamp (tail) - iris_stamped_stamp (head);
}
