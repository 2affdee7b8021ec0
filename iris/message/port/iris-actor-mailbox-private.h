/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The mailbox of an actor: many senders, one owner at a time, and one word that says both what
 * waits and whether any thread runs.
 *
 * How to use it
 * -------------
 * Sender: if post says IRIS_POST_CARRY, no thread ran: the node is not in the mailbox, it is the
 *         caller's again, and the caller must see to it that an owner starts with it (a turn). If
 * it says IRIS_POST_LEFT, the node is in the mailbox and an owner runs or is about to. Owner:
 * handle the node that the turn started with; then take until that says IRIS_TAKE_RESTED, which
 * ends the turn: from that moment the next sender starts another, so nothing of the mailbox may be
 * touched any more. Or stop before: the node that was taken last starts another turn in place of
 * this one. Holder: the last one that could post says so by close; true: no thread runs, free it.
 * Otherwise the owner frees it when take says IRIS_TAKE_ENDED.
 *
 * Who may call what: post any thread that holds the mailbox; close once, after which only the owner
 * itself posts; take the owner alone, which may be another thread in each turn.
 *
 * Invariant: head is RESTING when there is no owner, and then nothing waits. Otherwise it is the
 * chain of what came since the owner last looked, newest first, with CLOSED in it once no other
 * thread can post. `pending` is what the owner took and has not handled, oldest first; it is the
 * owner's.
 *
 * Why it is correct: every change of head is one read-modify-write of one word. Out of RESTING
 * leads only one of them, by one sender, so there is one owner. Into RESTING leads only the swap
 * from the empty chain, which fails if anything came: no message is left with a mailbox at rest.
 * A naive owner that sees the chain empty and then stores RESTING loses what comes in between;
 * that is the bug that tests/explore/scenario-actor-mailbox.c plants.
 *
 * There is no ABA: a sender swaps in a node whose next is what the swap compares with, so a head
 * that went and came back is still what the new node must link to; the owner takes the chain whole.
 *
 * Order: one sender's nodes are handled in the order in which it posted them. The carried node
 * comes before anything in the mailbox, since others are put there only after the swap out of
 * RESTING; taken messages are turned round and handled before later ones.
 *
 * Memory orders: a post releases the node's contents and its link, take acquires them. Ending a
 * turn releases what the owner wrote, `pending` included; the swap out of RESTING acquires that,
 * and whatever the sender starts the next turn with must hand it on. close releases what the last
 * holder did, and the thread that frees acquires it.
 *
 * Progress: post is lock-free, and there is no gap in which a sender that is stopped hides what
 * others posted, as there is in a list that is linked after the exchange (iris-mpsc-private.h): for
 * that the swap is tried again when another sender was faster.
 *
 * Source: the scheduled flag folded into the mailbox's word is that of the Pony runtime (S. Clebsch
 * et al., OOPSLA 2013); taking a Treiber stack whole and turning it round: R. K. Treiber, "Systems
 * Programming: Coping with Parallelism" (IBM RJ 5118, 1986).
 */
#pragma once

#include "iris/base/memory/iris-llist-private.h"

#define IRIS_ACTOR_MAILBOX_RESTING ((uintptr_t) 1)
#define IRIS_ACTOR_MAILBOX_CLOSED  ((uintptr_t) 2)
#define IRIS_ACTOR_MAILBOX_MARKS   ((uintptr_t) 3)

typedef enum
{
  IRIS_POST_LEFT,
  IRIS_POST_CARRY,
} IrisPost;

typedef enum
{
  IRIS_TAKE_NODE,
  IRIS_TAKE_RESTED, /* the turn is over */
  IRIS_TAKE_ENDED,  /* the mailbox is closed and empty: it is the caller's to free */
} IrisTake;

typedef struct
{
  _Atomic uintptr_t head;
  IrisLlistNode *pending; /* the owner's, with CLOSED in its lowest bits */
} IrisActorMailbox;

static inline void
iris_actor_mailbox_init (IrisActorMailbox *self)
{
  atomic_init (&self->head, IRIS_ACTOR_MAILBOX_RESTING);
  self->pending = NULL;
}

/* Owner. Whether the next take needs no look at what came. */
static inline bool
iris_actor_mailbox_has_pending (const IrisActorMailbox *self)
{
  return ((uintptr_t) self->pending & ~IRIS_ACTOR_MAILBOX_MARKS) != 0;
}

/* Any thread that holds the mailbox, and the owner. */
static inline IrisPost
iris_actor_mailbox_post (IrisActorMailbox *self, IrisLlistNode *node)
{
  uintptr_t head = atomic_load_explicit (&self->head, memory_order_relaxed);
  uintptr_t wanted;

  do
    {
      wanted = 0;
      if (head != IRIS_ACTOR_MAILBOX_RESTING)
        {
          node->next = (IrisLlistNode *) (head & ~IRIS_ACTOR_MAILBOX_MARKS);
          wanted = (uintptr_t) node | (head & IRIS_ACTOR_MAILBOX_CLOSED);
        }
    }
  while (!atomic_compare_exchange_weak_explicit (&self->head, &head, wanted, memory_order_acq_rel,
                                                 memory_order_relaxed));

  return wanted == 0 ? IRIS_POST_CARRY : IRIS_POST_LEFT;
}

/* Owner, with nothing pending. Puts what came since the last look into `pending`, or ends the turn.
 */
static inline IrisTake
iris_actor_mailbox_look (IrisActorMailbox *self)
{
  uintptr_t closed = (uintptr_t) self->pending & IRIS_ACTOR_MAILBOX_CLOSED;
  uintptr_t head = atomic_load_explicit (&self->head, memory_order_relaxed);

  /* A closed mailbox does not go to rest: its owner frees it. */
  while (head == 0 && closed == 0)
    if (atomic_compare_exchange_weak_explicit (&self->head, &head, IRIS_ACTOR_MAILBOX_RESTING,
                                               memory_order_acq_rel, memory_order_relaxed))
      return IRIS_TAKE_RESTED;
  if (head != 0)
    head = atomic_exchange_explicit (&self->head, 0, memory_order_acquire);

  closed |= head & IRIS_ACTOR_MAILBOX_CLOSED;
  head = (uintptr_t) iris_llist_reverse ((IrisLlistNode *) (head & ~IRIS_ACTOR_MAILBOX_MARKS));
  self->pending = (IrisLlistNode *) (head | closed);

  return head != 0 ? IRIS_TAKE_NODE : IRIS_TAKE_ENDED;
}

/* Owner. The next node; or the turn is at its end, and the mailbox not the caller's any more unless
 * the answer is IRIS_TAKE_ENDED. */
static inline IrisTake
iris_actor_mailbox_take (IrisActorMailbox *self, IrisLlistNode **node)
{
  uintptr_t pending = (uintptr_t) self->pending;

  if (!iris_actor_mailbox_has_pending (self))
    {
      IrisTake found = iris_actor_mailbox_look (self);

      if (found != IRIS_TAKE_NODE)
        return found;
      pending = (uintptr_t) self->pending;
    }
  *node = (IrisLlistNode *) (pending & ~IRIS_ACTOR_MAILBOX_MARKS);
  __builtin_prefetch ((*node)->next);
  self->pending = (IrisLlistNode *) ((uintptr_t) (*node)->next
                                     | (pending & IRIS_ACTOR_MAILBOX_CLOSED));

  return IRIS_TAKE_NODE;
}

/* The last holder, once. True: there is no owner and there will be none. */
static inline bool
iris_actor_mailbox_close (IrisActorMailbox *self)
{
  uintptr_t head = atomic_load_explicit (&self->head, memory_order_relaxed);

  do
    if (head == IRIS_ACTOR_MAILBOX_RESTING)
      {
        /* No other thread posts, so it stays at rest; what the last owner did comes before. */
        (void) atomic_load_explicit (&self->head, memory_order_acquire);
        return true;
      }
  while (!atomic_compare_exchange_weak_explicit (&self->head, &head,
                                                 head | IRIS_ACTOR_MAILBOX_CLOSED,
                                                 memory_order_release, memory_order_relaxed));

  return false;
}
