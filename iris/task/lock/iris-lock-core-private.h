/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The core of a lock whose waiters are threads that sleep, or anything that can be called later.
 *
 * Who may call what: try, spin, enter and wait any thread; release the thread that holds the lock,
 * or any thread on the holder's behalf; init while no other thread looks. A node belongs to the
 * lock from enter, when that says false, until the lock is its own.
 *
 * How to use it
 * -------------
 * A thread: spin, or enter with a node, and if that says false wait; work; release. Anything else:
 * enter with a node whose `granted` is set. If that says true the lock is held. If not, some
 * release returns that node later: the lock is then held for it, and the thread that released must
 * see to it that the node goes on.
 *
 * How it works
 * ------------
 * The word holds the state and a list of newcomers, newest first, that is pushed to by
 * compare-and-swap. The holder alone owns the line: what newcomers became, oldest first. It takes
 * the newcomers whole, by one exchange, when the line is empty. So the order of the line is that of
 * the swaps that pushed, nothing is popped singly, and a swap that meets the same address again
 * meets a list that goes on from that very node: there is no ABA.
 *
 * HELD      a thread holds the lock
 * RESERVED  no thread but the heir may take it
 * ASLEEP    the heir sleeps on this word
 *
 * A node with `granted` that is first in line gets the lock from hand to hand: HELD stays set. A
 * thread that is first in line becomes the heir: it is woken, the lock is let go, and the heir
 * takes it as it comes, so that no thread waits for a thread that is still on its way to a
 * processor. Others may take the lock before it; after IRIS_LOCK_OVERTAKES of them the lock is
 * RESERVED.
 *
 * A thread that is movable may be moved before it is woken. The holder calls the mover's `moves`
 * for an heir that it is about to wake; the heir calls `moved` before it sleeps again and when it
 * has the lock, so it is never moved twice in between. What they share has one owner at a time: the
 * holder until it sets `heir`; then the heir, but for the time from the swap in which the heir sets
 * ASLEEP until the swap in which a holder clears it, when it is the holder's. The heir may be awake
 * in that time (the futex's word has changed, or a signal came), so it looks at ASLEEP, not at its
 * being awake. The heir cannot leave meanwhile: the lock is held.
 *
 * Bound: the thread that finds k waiters in front of it gets the lock after at most
 * k + (t + 1) * IRIS_LOCK_OVERTAKES holders, where t is the number of threads among the k (and the
 * last 1 counts only for a thread). Where no thread waits, that is first come, first served.
 *
 * Why it is correct
 * -----------------
 * Exclusion: HELD is set only by a swap from a word without it, and stays set from hand to hand.
 * No waiter is forgotten: a node is pushed only onto a word with HELD or RESERVED, so there is a
 * holder, or an heir that will be one. The holder lets go without a word to any thread only by the
 * swap of a word that is HELD alone for 0 while its line is empty: the thread that pushed before
 * makes it fail, and the thread that comes behind finds the lock free. The heir never sleeps
 * through a release: it sleeps only while the word is what it was when the heir put ASLEEP into it
 * (the kernel compares), and every release clears HELD and with it ASLEEP, in one swap, and then
 * wakes. A node that is not first sleeps on its own `heir`, which the holder sets before it lets
 * go. Of a node or a lock that may be gone after that swap nothing is used but the address, for the
 * futex.
 *
 * Orders: letting go releases and taking acquires, as ever; setting ASLEEP releases, and the heir's
 * look and the holder's acquire, for what a mover shares. Pushing releases the node; the exchange
 * of the newcomers acquires it. Setting `heir` releases what a mover shares; its sleeper reads
 * the line only once it holds the lock.
 *
 * Progress: enter is lock-free. Release is wait-free but for the swap against newcomers.
 *
 * Source: the list in the word is that of a queued lock with passing of the baton (G. Andrews,
 * "Concurrent Programming", 1991, ch. 4); heirs that can be overtaken a bounded number of times are
 * the starvation mode of Go's sync.Mutex (2016), with a count where that has a time.
 */
#pragma once

#include "iris/base/iris-atomic-private.h"

/* So many may take the lock before the thread that is first in line. (Tests want both smaller.) */
#ifndef IRIS_LOCK_OVERTAKES
#define IRIS_LOCK_OVERTAKES 32
#endif

/* How often a thread looks whether the lock is free before it sleeps. */
#ifndef IRIS_LOCK_SPINS
#define IRIS_LOCK_SPINS 64
#endif

#define IRIS_LOCK_HELD     ((uintptr_t) 1)
#define IRIS_LOCK_RESERVED ((uintptr_t) 2)
#define IRIS_LOCK_ASLEEP   ((uintptr_t) 4)
#define IRIS_LOCK_BITS     ((uintptr_t) 7)

typedef struct IrisLockNode IrisLockNode;

/* How a thread is moved to where it is wanted. None of it runs the program's code. */
typedef struct
{
  void (*moves) (IrisLockNode *self); /* holder */
  void (*moved) (IrisLockNode *self); /* the thread; also if it was not moved */
} IrisLockMover;

struct IrisLockNode
{
  alignas (8) IrisLockNode *next;       /* in the word: the one before; in line: the one behind */
  void (*granted) (IrisLockNode *self); /* NULL: a thread that sleeps */
  _Atomic uint32_t heir;                /* of a thread: first in line; its futex */
  bool is_movable;                      /* of a thread */
};

typedef struct
{
  _Atomic uintptr_t word;
  /* The holder's. */
  IrisLockNode *first;
  IrisLockNode *last;
  uint32_t overtaken;         /* how many have passed the heir */
  const IrisLockMover *mover; /* for threads that are movable */
} IrisLockCore;

void iris_lock_core_wait (IrisLockCore *self, IrisLockNode *node);
void iris_lock_core_yield (IrisLockCore *self, IrisLockNode *heir);

static inline void
iris_lock_core_init (IrisLockCore *self, const IrisLockMover *mover)
{
  atomic_init (&self->word, 0);
  self->first = NULL;
  self->last = NULL;
  self->overtaken = 0;
  self->mover = mover;
}

static inline void
iris_lock_node_init (IrisLockNode *self, void (*granted) (IrisLockNode *self))
{
  self->next = NULL;
  self->granted = granted;
  atomic_init (&self->heir, 0);
  self->is_movable = false;
}

/* A hint, but for the holder. */
static inline bool
iris_lock_core_is_held (IrisLockCore *self)
{
  return (atomic_load_explicit (&self->word, memory_order_relaxed) & IRIS_LOCK_HELD) != 0;
}

static inline bool
iris_lock_core_try (IrisLockCore *self)
{
  uintptr_t word = atomic_load_explicit (&self->word, memory_order_relaxed);

  while ((word & (IRIS_LOCK_HELD | IRIS_LOCK_RESERVED)) == 0)
    if (atomic_compare_exchange_weak_explicit (&self->word, &word, word | IRIS_LOCK_HELD,
                                               memory_order_acquire, memory_order_relaxed))
      return true;

  return false;
}

/* Puts @node among the waiters; false, and nothing done, if the lock is free. */
static inline bool
iris_lock_core_queue (IrisLockCore *self, IrisLockNode *node)
{
  uintptr_t word = atomic_load_explicit (&self->word, memory_order_relaxed);

  do
    {
      if ((word & (IRIS_LOCK_HELD | IRIS_LOCK_RESERVED)) == 0)
        return false;
      node->next = (IrisLockNode *) (word & ~IRIS_LOCK_BITS);
    }
  while (!atomic_compare_exchange_weak_explicit (&self->word, &word,
                                                 (uintptr_t) node | (word & IRIS_LOCK_BITS),
                                                 memory_order_release, memory_order_relaxed));

  return true;
}

/* True: the lock is held. False: @node waits. */
static inline bool
iris_lock_core_enter (IrisLockCore *self, IrisLockNode *node)
{
  for (;;)
    {
      if (iris_lock_core_try (self))
        return true;
      if (iris_lock_core_queue (self, node))
        return false;
    }
}

/* For a thread, before it stands in line: whether it holds the lock. */
static inline bool
iris_lock_core_spin (IrisLockCore *self)
{
  for (int i = 0; i < IRIS_LOCK_SPINS; i++)
    {
      if (iris_lock_core_try (self))
        return true;
      iris_cpu_relax ();
    }

  return false;
}

/* Holder. Takes the newcomers into the empty line, oldest first. */
static inline void
iris_lock_core_collect (IrisLockCore *self)
{
  uintptr_t word = atomic_exchange_explicit (&self->word, IRIS_LOCK_HELD, memory_order_acquire);
  IrisLockNode *node = (IrisLockNode *) (word & ~IRIS_LOCK_BITS);

  self->last = node;
  while (node != NULL)
    {
      IrisLockNode *older = node->next;

      node->next = self->first;
      self->first = node;
      node = older;
    }
}

/* Holder. The first waiter in line; NULL: no thread waits, as yet. */
static inline IrisLockNode *
iris_lock_core_peek (IrisLockCore *self)
{
  if (self->first == NULL
      && atomic_load_explicit (&self->word, memory_order_relaxed) != IRIS_LOCK_HELD)
    iris_lock_core_collect (self);

  return self->first;
}

/* Holder. The node that the lock is now held for, taken out of the line; or NULL: the lock was
 * let go, and may be gone. */
static inline IrisLockNode *
iris_lock_core_release (IrisLockCore *self)
{
  IrisLockNode *node;

  if (self->first == NULL)
    {
      uintptr_t word = IRIS_LOCK_HELD;

      if (atomic_compare_exchange_strong_explicit (&self->word, &word, 0, memory_order_release,
                                                   memory_order_relaxed))
        return NULL;
      iris_lock_core_collect (self);
    }
  node = self->first;
  if (iris_unlikely (node->granted == NULL))
    {
      iris_lock_core_yield (self, node);
      return NULL;
    }
  self->first = node->next;

  return node;
}
