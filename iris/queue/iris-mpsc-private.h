/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The MPSC queue's core: many senders, one owner, and one sender that learns that the owner rests.
 *
 * How to use it
 * -------------
 * Sender:  if push says true, the owner was at rest: see to it that the owner runs. Exactly one
 *          sender is told so for each time the owner rested; a new MPSC queue is at rest.
 * Owner:   pop until NULL; then rest. If rest says true, the owner has nothing to do and the next
 *          push will call it. If it says false, something came or is coming: run again, now or
 *          later. No call comes until it has rested.
 *
 * Who may call what: push and is_empty any thread; pop and rest the owner alone, and the owner may
 * be a different thread each time it is called. init while no other thread looks.
 *
 * Invariant: head names the node that was pushed last, with the lowest bit set while the owner is
 * at rest. The nodes form a chain from tail, the owner's, to head. The node at tail is spent: its
 * item was popped already (the first is a stub). Between a sender's exchange of head and its store
 * to the previous node's next the chain has a gap, and pop sees its end there.
 *
 * Why it is correct: the exchange puts the senders in order, each links to the one before. The
 * previous node cannot be gone when it is linked to: the owner gives up a node when it has moved
 * tail on, which it does only by way of that very link. So no node is read after its time, nothing
 * is compared, and there is no ABA. rest swaps head from tail to tail with the bit: it succeeds
 * only when head is at tail, when nothing is pushed that is not popped, gaps included. head cannot
 * have gone and come back to tail, since the node at tail is not given up. The thread that
 * exchanges head next finds the bit; the thread that comes after finds none.
 *
 * Emptiness is decided by head and tail, never by next being NULL: a gap is not empty.
 *
 * Orders: a sender stores item and next, then releases both by linking (next, release), which pop
 * acquires. The exchange is a release and an acquire: the sender that finds the bit acquires what
 * the owner did before it rested, hands it on by whatever it calls the owner with, and so the
 * next owner finds tail, a plain field, as the last left it.
 *
 * Progress: push is wait-free. A sender that is stopped in its gap hides what was pushed behind it
 * until it goes on; the owner does not wait, it is told by rest that it must come again.
 *
 * Source: the list of D. Vyukov, "Non-intrusive MPSC node-based queue" (1024cores, 2010); the bit
 * after the MPSC queue of the Pony runtime (S. Clebsch, S. Drossopoulou, OOPSLA 2013).
 */
#pragma once

#include "iris/base/iris-atomic-private.h"

typedef struct IrisMpscNode IrisMpscNode;

struct IrisMpscNode
{
  _Atomic (IrisMpscNode *) next;
  void *item;
};

#define IRIS_MPSC_RESTING ((uintptr_t) 1)

typedef struct
{
  alignas (IRIS_CACHE_PAIR) _Atomic uintptr_t head;
  alignas (IRIS_CACHE_PAIR) _Atomic (IrisMpscNode *) tail; /* the owner's; others only compare */
} IrisMpscCore;

static inline void
iris_mpsc_core_init (IrisMpscCore *self, IrisMpscNode *stub)
{
  atomic_init (&stub->next, NULL);
  stub->item = NULL;
  atomic_init (&self->head, (uintptr_t) stub | IRIS_MPSC_RESTING);
  atomic_init (&self->tail, stub);
}

/* Any thread. @node is aligned to 2 at least, its item set. True: the owner rests no more, and
 * the caller must see to it that it runs. */
static inline bool
iris_mpsc_core_push (IrisMpscCore *self, IrisMpscNode *node)
{
  uintptr_t previous;

  atomic_store_explicit (&node->next, NULL, memory_order_relaxed);
  previous = atomic_exchange_explicit (&self->head, (uintptr_t) node, memory_order_acq_rel);
  atomic_store_explicit (&((IrisMpscNode *) (previous & ~IRIS_MPSC_RESTING))->next, node,
                         memory_order_release);

  return (previous & IRIS_MPSC_RESTING) != 0;
}

/* Owner. The oldest item, and in @spent a node that is the caller's; NULL when there is none, or
 * the sender of the next one has not linked it yet. */
static inline void *
iris_mpsc_core_pop (IrisMpscCore *self, IrisMpscNode **spent)
{
  IrisMpscNode *tail = atomic_load_explicit (&self->tail, memory_order_relaxed);
  IrisMpscNode *next = atomic_load_explicit (&tail->next, memory_order_acquire);

  if (next == NULL)
    return NULL;
  *spent = tail;
  atomic_store_explicit (&self->tail, next, memory_order_relaxed);

  return next->item;
}

/* Owner. Whether the MPSC queue is empty, and the next push will therefore call the owner. */
static inline bool
iris_mpsc_core_rest (IrisMpscCore *self)
{
  uintptr_t tail = (uintptr_t) atomic_load_explicit (&self->tail, memory_order_relaxed);
  uintptr_t head = tail;

  return atomic_compare_exchange_strong_explicit (&self->head, &head, tail | IRIS_MPSC_RESTING,
                                                  memory_order_acq_rel, memory_order_relaxed)
         || head == (tail | IRIS_MPSC_RESTING);
}

/* Any thread. For the owner the answer holds until the next push; for others it is a hint. */
static inline bool
iris_mpsc_core_is_empty (IrisMpscCore *self)
{
  uintptr_t tail = (uintptr_t) atomic_load_explicit (&self->tail, memory_order_relaxed);

  return (atomic_load_explicit (&self->head, memory_order_acquire) & ~IRIS_MPSC_RESTING) == tail;
}

/* The node that is left when the MPSC queue is empty and no thread looks any more. */
static inline IrisMpscNode *
iris_mpsc_core_stub (IrisMpscCore *self)
{
  return atomic_load_explicit (&self->tail, memory_order_relaxed);
}
