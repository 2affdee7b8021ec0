/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The fork-join stack, as far as it is compiled into programs: what a fork and a join do when no
 * thief interferes. Plain C. Programs use it through iris/sched/parallel/iris-fork-join.h; what is
 * declared here may change with every release. How it works, and why that is right, is said in
 * iris-fork-stack-private.h.
 */
#pragma once

#ifndef IRIS_AVAILABLE_IN_ALL
#include <iris/base/iris-version-macros.h>
#endif

#include <stdint.h>

G_BEGIN_DECLS

/* Installed headers cannot have the library's atomics; tests put their own here. */
#ifndef iris_fork_load
#define iris_fork_load(p, order)            __atomic_load_n ((p), (order))
#define iris_fork_store(p, value, order)    __atomic_store_n ((p), (value), (order))
#define iris_fork_exchange(p, value, order) __atomic_exchange_n ((p), (value), (order))
#define iris_fork_swap(p, expected, value, order) \
  __atomic_compare_exchange_n ((p), (expected), (value), 0, (order), __ATOMIC_ACQUIRE)
#define iris_fork_fence_compiler() __atomic_signal_fence (__ATOMIC_SEQ_CST)
#endif

/**
 * IRIS_FORK_WORDS: (skip)
 *
 * Words of 8 bytes that the arguments of a forked function may take, and its result.
 */
#define IRIS_FORK_WORDS 4
#define IRIS_FORK_SIZE  (IRIS_FORK_WORDS * sizeof (uint64_t))

#ifndef __GI_SCANNER__ /* for what is inline alone */
/* The low half of the word: flags, split, top. The high half counts changes. */
#define IRIS_FORK_BITS  14
#define IRIS_FORK_FLAGS 0xf0000000u
#endif

typedef struct _IrisForkJoin IrisForkJoin;
typedef struct _IrisForkEnds IrisForkEnds;
typedef struct _IrisForkTask IrisForkTask;
typedef struct _IrisForkPopped IrisForkPopped;

/**
 * IrisForkRun: (skip)
 * @slot: where the arguments are, and the result is left
 * @fj: from here on the task forks
 *
 * Runs the task in a slot; %IRIS_FORKABLE_1 and its kin make it.
 */
typedef void (*IrisForkRun) (IrisForkJoin *slot, IrisForkJoin *fj);

/**
 * IrisForkEnds: (skip)
 *
 * The two ends of a stack of forks; for what is inline alone.
 */
/* Two lines each, because the owner writes the one and reads the other all the time. */
struct _IrisForkEnds
{
  IrisForkJoin *bottom; /* atomic: slots below it are in use */
  char pad[128 - sizeof (void *)];
  uint64_t word; /* atomic */
  char pad_[128 - sizeof (uint64_t)];
};

/* A slot; a handle points to the first one that is free. One cache line. */
struct _IrisForkJoin
{
  IrisForkEnds *ends;
  uint32_t bound;  /* the word's low half is below it if the slot is private and no thread asks */
  uint32_t state;  /* atomic; of a task that was stolen */
  void *thief;     /* atomic; the stack of the thief */
  IrisForkRun run; /* not shared while it is written: the owner writes it in front of the bottom */
  uint64_t words[IRIS_FORK_WORDS]; /* arguments, then the result */
};

/* In the frame of the forker. It is used when the stack is full and the task runs at once. */
struct _IrisForkTask
{
  IrisForkJoin *before;
  uint64_t words[IRIS_FORK_WORDS];
};

/**
 * IrisForkPopped: (skip)
 *
 * What came off a stack of forks; for what is inline alone.
 */
/* @result is NULL if the task is still to be run, by the caller. */
struct _IrisForkPopped
{
  const uint64_t *result;
  IrisForkJoin *fj;
};

IRIS_AVAILABLE_IN_ALL IrisForkJoin *
iris_fork_stack_push_slowly (IrisForkJoin *slot, IrisForkTask *task);
IRIS_AVAILABLE_IN_ALL IrisForkPopped iris_fork_stack_pop_slowly (IrisForkJoin *slot,
                                                                 IrisForkTask *task);

/* The task's arguments and run are in @fj. Returns the handle after the fork. */
static inline __attribute__ ((always_inline)) IrisForkJoin *
iris_fork_stack_push (IrisForkJoin *fj, IrisForkTask *task)
{
  IrisForkEnds *ends = fj->ends;

  /* Release: a thief that reads it sees the slot. */
  iris_fork_store (&ends->bottom, fj + 1, __ATOMIC_RELEASE);
  iris_fork_fence_compiler ();
  if (__builtin_expect (iris_fork_load (&ends->word, __ATOMIC_RELAXED) & IRIS_FORK_FLAGS, 0))
    fj = iris_fork_stack_push_slowly (fj, task) - 1;

  return fj + 1;
}

/* Takes the newest fork back. Returns the slot and the handle after the join. */
static inline __attribute__ ((always_inline)) IrisForkPopped
iris_fork_stack_pop (IrisForkJoin *fj, IrisForkTask *task)
{
  IrisForkJoin *slot = fj - 1;
  IrisForkEnds *ends = slot->ends;
  IrisForkPopped popped = { 0, slot };

  iris_fork_store (&ends->bottom, slot, __ATOMIC_RELEASE);
  iris_fork_fence_compiler ();
  if (__builtin_expect ((uint32_t) iris_fork_load (&ends->word, __ATOMIC_RELAXED) >= slot->bound,
                        0))
    return iris_fork_stack_pop_slowly (slot, task);

  return popped;
}

G_END_DECLS
