/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Stops a core between two of its atomic accesses, to let another thread's operation happen there.
 *
 * To be included before the core. Every atomic access of the core names its memory order; here
 * naming it is a step, and at the chosen step the hook runs: in the same thread, so the schedule
 * is exact and can be repeated. What the hook does is not stopped itself unless it says so. The
 * memory is sequentially consistent in such a test; weaker memory is for the models.
 *
 * A budget of steps ends what would go on for ever, by a jump to step.escape.
 */
#pragma once

#include <setjmp.h>
#include <stdatomic.h>
#include <stdbool.h>

typedef void (*StepHook) (void *data);

static struct
{
  int left; /* steps until the hook runs; negative: never */
  StepHook hook;
  void *data;
  int budget; /* steps until the escape */
  jmp_buf escape;
} step;

static inline int
step_order (int order)
{
  if (step.budget-- == 0)
    longjmp (step.escape, 1);
  if (step.left >= 0 && step.left-- == 0)
    step.hook (step.data);

  return order;
}

/* Before its access number @at, counted from 0, what follows stops for @hook. */
static inline void
step_arm (int at, StepHook hook, void *data)
{
  step.left = at;
  step.hook = hook;
  step.data = data;
}

/* Says whether the hook has run, and keeps it from running from now on. */
static inline bool
step_disarm (void)
{
  bool has_run = step.left < 0;

  step.left = -1;

  return has_run;
}

#define memory_order_relaxed step_order (__ATOMIC_RELAXED)
#define memory_order_acquire step_order (__ATOMIC_ACQUIRE)
#define memory_order_release step_order (__ATOMIC_RELEASE)
#define memory_order_acq_rel step_order (__ATOMIC_ACQ_REL)
#define memory_order_seq_cst step_order (__ATOMIC_SEQ_CST)
