/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The fork-join stack of a worker: tasks in slots of fixed size, divided by a split.
 *
 *        oldest                                     newest
 *          | top         | split                  | bottom
 *          v             v                        v
 *     -----[  public ....)[  private .............)------>  slots
 *      stolen
 *
 * Use: the owner forks and joins at the bottom: a few stores, and one load of the word to see
 * whether any thread interferes (iris-fork-stack.h). A thief takes the oldest public task with one
 * compare-and-swap. A task stays in its slot until it is joined, so the thief reads arguments
 * there and leaves the result there.
 *
 * Who may call what: push, pop the owner; steal, has_work_or_ask, has_work any thread; run and
 * finish the thief that has the slot; init and clear while no other thread looks.
 *
 * The word holds [ changes:32 | flags:4 | split:14 | top:14 ]. All that moves top or split is one
 * compare-and-swap of the whole of it, which counts a change. The bottom is the owner's alone.
 *
 * Invariants
 * ----------
 * (1) top <= split. Slots below top are stolen, [top, split) may be stolen, [split, bottom) are
 *     private. When the owner has no fork to join, top = split = bottom.
 * (2) Thieves take the oldest first. So when a slot is stolen, all older ones are; and when the
 *     owner joins a stolen slot, nothing of its stack is left to steal.
 *
 * Fork. The owner writes the slot, stores bottom (release), light fence, looks at the word. With no
 * flag set, that is all. ASKED: it makes the older half of what is private public, and lets the
 * sleepers know.
 *
 * Join of slot i. The owner stores bottom = i, light fence, looks at the word. If no flag is set
 * and split <= i, the task is private and the owner's. Otherwise, by what the word says: top > i it
 * was stolen: wait for its end. top <= i < split     it is public: the owner swaps split to the
 * middle of [top, i]; if that succeeds, it was not stolen, and it no longer can be.
 *
 * Asking and forcing. A thief that finds nothing public sets ASKED, and the owner's next fork or
 * join serves it. An owner that runs for long neither forks nor joins. After some visits in vain
 *   (a) the thief swaps the word from (top = split = s) to (s + half of what is private, FORCED);
 *   (b) heavy fence; it reads the bottom b;
 *   (c) if b is not below the new split, it swaps FORCED away: what it made public is so. If not,
 *       it swaps split back to top.
 * No thread steals while FORCED is set. An owner that meets it swaps split back to top itself. Why
 * this is right: take a join that goes the short way for a slot below the new split. It did not
 * see FORCED, so by the pair of fences (b) sees its bottom or a later one. If (b) sees the join's,
 * it is below the split, and (c) takes it back. If it sees a later one, that of a fork which used
 * the slot again, then the slots below b are in use now, and what is argued for the join holds for
 * the next one. Between (b) and (c) a join sees FORCED, for it comes after (b), and swaps the
 * word, so that (c) fails: the count of changes keeps the word from being the same again. Any
 * thief may do (b) and (c) for another that was held up.
 *
 * Count: 2^32 changes of at least 10 ns each are 43 s. It would matter only to a thread that
 * stands still between two instructions for that time, to the change.
 *
 * Plain data. Slots: written in front of bottom (release), made public by a swap (release) of the
 * owner, or of a thief that had acquired the bottom; claimed by a swap (acquire). Results: in front
 * of the exchange of state (release), read behind its load (acquire). The owner uses a slot again
 * only when it took it back by the word, or saw its end.
 *
 * Full: the slot behind the last has `edge` for its ends, whose word has flags that never go. So
 * the fork leaves the short way, runs the task at once, and keeps the result in the frame. The two
 * slots at the edge are used again and again, as arguments only. That is why a stack needs no
 * more than IRIS_FORK_STACK_CAPACITY slots, however many tasks there are. Slots are prepared by
 * the page; the first that is not is an edge too. A stack of no slots makes every fork a call.
 *
 * Waiting (leapfrogging)
 * ----------------------
 * An owner that joins a stolen slot X takes tasks from the stack of X's thief alone.
 * (3) While a thread has not finished X, all that it runs descends from X. When it stole X, its own
 *     stack had nothing to steal: it was idle, or waiting (2). What it forks since descends from X,
 *     and what it takes while it waits for a descendant of X, descends, by (3), from that.
 * (4) So what a waiting owner takes descends from what it waits for. It reads the word, sees that X
 *     has not ended, and swaps the very word that it read: what is public in it was forked when X
 *     was not finished, because taking that back changes the word.
 * No deadlock: a thread waits only for a descendant of the task that it runs. A task that is
 * waited for is run by a thread. Of these take one that is deepest in its tree of tasks: its
 * runner does not wait, or would wait for a deeper one.
 * No overflow: by (4) the frames on a C stack belong to tasks on one way from the root to a leaf,
 * each deeper than the last. So it is never deeper than the plain recursion is, but for the frames
 * of one wait (some 300 bytes) for each task that was taken while waiting.
 *
 * Sleeping. Who finds nothing there for a while announces itself in X's state, sets ASKED in the
 * thief's word, heavy fence, looks at state and stack again, and sleeps. The end of X exchanges the
 * state and wakes a thread that had announced itself; no other thread pays. A fork or join that
 * serves ASKED goes through the tasks that its owner has stolen and wakes the threads that wait for
 * them.
 *
 * Idle workers, likewise: before one sleeps it sets ASKED in each stack that has nothing, heavy
 * fence, and looks at all of them again (has_work_or_ask). Why no wake-up is lost: take a fork
 * that sees no ASKED, and a worker W that sleeps for good. ASKED was cleared, by a serve, behind
 * which the owner publishes (iris-parking-lot-private.h); by the argument there a thread was awake
 * then. The thread that goes to sleep later, or finds work as the last searcher, sets ASKED again
 * unless it is set. The thread that set it looks at the stack behind a heavy fence, and either sees
 * the fork, or the fork sees ASKED. A new stack has ASKED set. Private tasks count as work, since
 * they can be forced.
 *
 * Where the kernel has no membarrier, SLOW is set for good: every fork and join leaves the short
 * way and has a full fence.
 *
 * Sources: T. van Dijk, J. van de Pol, "Lace: non-blocking split deque for work-stealing" (Euro-Par
 * 2014 workshops) for slots, split and one word; D. Wagner, B. Calder, "Leapfrogging: a portable
 * technique for implementing efficient futures" (PPoPP 1993); the asymmetric fence is that of
 * iris-atomic-private.h. (4) makes leapfrogging exact; forcing is not taken from anywhere.
 */
#pragma once

#include "iris/base/iris-atomic-private.h"
#include "iris/queue/deque/iris-fork-stack.h"

/* Tasks that a worker can have forked and not joined; further ones are run at once. 1 MiB of
 * address space a worker, of which what was used is memory. At most 2^IRIS_FORK_BITS - 1. */
#define IRIS_FORK_STACK_CAPACITY 16383

/* One in so many visits forces: a wish must have had time to be heard. */
#ifndef IRIS_FORK_STACK_PATIENCE
#define IRIS_FORK_STACK_PATIENCE 16
#endif

/* How often a join looks in vain before it sleeps; more than the patience. */
#ifndef IRIS_FORK_STACK_SPINS
#define IRIS_FORK_STACK_SPINS 64
#endif

#define IRIS_FORK_ASKED  0x10000000u
#define IRIS_FORK_FORCED 0x20000000u
#define IRIS_FORK_SLOW   0x40000000u /* always a full fence */
#define IRIS_FORK_EDGE   0x80000000u

/* What an owner tells while it joins a task that was stolen and has not ended. */
typedef enum
{
  IRIS_FORK_SEARCHES, /* it looks for a task to run meanwhile */
  IRIS_FORK_STOLE,    /* it has one and runs it */
  IRIS_FORK_SLEEPS,   /* after SEARCHES */
  IRIS_FORK_WAKES,    /* and searches on */
  IRIS_FORK_ENDS,     /* after SEARCHES: what it waited for has ended */
} IrisForkNote;

typedef struct IrisForkStack IrisForkStack;
typedef struct IrisForkRunning IrisForkRunning;

/* The tasks that a stack's owner has stolen and not finished, on its C stack. */
struct IrisForkRunning
{
  IrisForkJoin *slot;
  IrisForkRunning *outer;
};

struct IrisForkStack
{
  alignas (IRIS_CACHE_PAIR) IrisForkEnds ends;
  IrisForkEnds edge;
  IrisForkJoin *slots;
  unsigned capacity;
  unsigned n_ready;                      /* slots that are prepared */
  unsigned visits;                       /* of the owner to other stacks */
  uint32_t slow;                         /* IRIS_FORK_SLOW or 0 */
  IrisForkRunning *running;              /* innermost first */
  void (*publish) (IrisForkStack *self); /* wakes idle workers; or NULL */
  void *data;                            /* for publish and note */
  /* Counts; @victim is the stack of the thief that is waited for. Or NULL. */
  void (*note) (IrisForkStack *self, IrisForkNote what, IrisForkStack *victim);
  alignas (IRIS_CACHE_PAIR) uint32_t token; /* atomic: the futex of the owner in a join */
};

bool iris_fork_stack_init (IrisForkStack *self, unsigned capacity);
void iris_fork_stack_clear (IrisForkStack *self);
IrisForkJoin *iris_fork_stack_steal (IrisForkStack *self,
                                     IrisForkStack *thief,
                                     const IrisForkJoin *awaited,
                                     bool force);
void iris_fork_stack_run (IrisForkStack *self, IrisForkJoin *slot);
bool iris_fork_stack_has_work (IrisForkStack *self);
bool iris_fork_stack_ask (IrisForkStack *self);

/* Owner. Whether a fork is of use now: a thread asks, or no task is left to be stolen. A hint that
 * decides on nothing else, hence relaxed. At the edge a flag is set. */
static inline bool
iris_fork_stack_wants_fork (IrisForkJoin *fj)
{
  uint32_t word = (uint32_t) iris_fork_load (&fj->ends->word, memory_order_relaxed);
  uint32_t top = word & ((1u << IRIS_FORK_BITS) - 1);

  return (word & IRIS_FORK_FLAGS) != 0 || (top + 1) << IRIS_FORK_BITS == fj->bound;
}

/* The owner's handle. */
static inline IrisForkJoin *
iris_fork_stack_get_handle (IrisForkStack *self)
{
  return iris_fork_load (&self->ends.bottom, memory_order_relaxed);
}
