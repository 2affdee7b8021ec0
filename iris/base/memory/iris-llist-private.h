/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The lock-less list: any thread pushes with one compare-and-swap, takers take all at once.
 *
 * Who may call what: push and take_all from any thread, at any time.
 *
 * Why it is correct: push links its node in front of the head it read and swaps the head. If the
 * head was taken and the same node pushed again in between (ABA), the link is right all the same:
 * it names whatever is the head at the moment of the swap, and nothing behind the head is ever
 * looked at. take_all exchanges the head for NULL and so owns the whole chain; it never follows a
 * link of a node that another thread may take. Hence no stamp is needed.
 *
 * Orders: the release of a push hands the node and its link to the acquire of take_all. A push
 * on top of another's continues the release sequence of the first (a compare-and-swap is a
 * read-modify-write), so taking the head synchronises with every push in the chain.
 *
 * Source: the push side of R. K. Treiber, "Systems Programming: Coping with Parallelism" (1986);
 * taking the whole list is how it stays clear of the ABA problem of its pop side.
 */
#pragma once

#include "iris/base/iris-atomic-private.h"

typedef struct IrisLlistNode IrisLlistNode;

struct IrisLlistNode
{
  IrisLlistNode *next;
};

typedef struct
{
  _Atomic (IrisLlistNode *) head;
} IrisLlist;

/* Returns whether the list was empty before. */
static inline bool
iris_llist_push (IrisLlist *self, IrisLlistNode *node)
{
  IrisLlistNode *head = atomic_load_explicit (&self->head, memory_order_relaxed);

  do
    node->next = head;
  while (!atomic_compare_exchange_weak_explicit (&self->head, &head, node, memory_order_release,
                                                 memory_order_relaxed));

  return head == NULL;
}

/* The chain, newest first, or NULL. */
static inline IrisLlistNode *
iris_llist_take_all (IrisLlist *self)
{
  if (atomic_load_explicit (&self->head, memory_order_relaxed) == NULL)
    return NULL;

  return atomic_exchange_explicit (&self->head, NULL, memory_order_acquire);
}

static inline bool
iris_llist_is_empty (IrisLlist *self)
{
  return atomic_load_explicit (&self->head, memory_order_relaxed) == NULL;
}

/* Turns newest first into oldest first. */
static inline IrisLlistNode *
iris_llist_reverse (IrisLlistNode *chain)
{
  IrisLlistNode *reversed = NULL;

  while (chain != NULL)
    {
      IrisLlistNode *next = chain->next;

      chain->next = reversed;
      reversed = chain;
      chain = next;
    }

  return reversed;
}
