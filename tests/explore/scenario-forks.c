/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The fork-join stack, explored: an owner that forks and joins, thieves that ask and force. Every
 * task runs once, its result reaches the join, and no worker sleeps through what was forked.
 *
 * PLANT_NO_HEAVY_FENCE takes the thief's fence away, so that what the owner is about to take back
 * is made public; and with it the sleeper's.
 * PLANT_NO_COUNT swaps the word without counting the change, so that a thief confirms what the
 * owner has taken back, for another thief that is at it.
 * PLANT_NO_SECOND_LOOK lets an idle worker sleep after it has asked, without looking again.
 */
#include "iris/base/iris-atomic-private.h"

#ifdef PLANT_NO_HEAVY_FENCE
#undef iris_fence_heavy
#define iris_fence_heavy() ((void) 0)
#endif

#define iris_fork_load(p, order)            atomic_load_explicit (p, order)
#define iris_fork_store(p, value, order)    atomic_store_explicit (p, value, order)
#define iris_fork_exchange(p, value, order) atomic_exchange_explicit (p, value, order)
#define iris_fork_swap(p, expected, value, order) \
  atomic_compare_exchange_strong_explicit (p, expected, value, order, memory_order_acquire)
#define iris_fork_fence_compiler() iris_fence_light ()

#define IRIS_FORK_EXPLORED
#define IRIS_FORK_STACK_PATIENCE 2
#define IRIS_FORK_STACK_SPINS    3
#ifdef PLANT_NO_COUNT
#define IRIS_FORK_CHANGE 0
#endif

#include "iris/queue/deque/iris-fork-stack.c"

#include "explore.h"
#include "items.h"

#define MAX_TASKS 4

static IrisForkStack stacks[3];
static _Atomic unsigned n_run;
static _Atomic uint32_t bell;    /* the futex of the idle worker */
static _Atomic bool is_sleeping; /* it announced itself */

static void
run_item (IrisForkJoin *slot, IrisForkJoin *fj)
{
  Item *item = (Item *) (uintptr_t) slot->words[0];

  slot->words[0] = item->number + 100;
  item_taken (item, "a thief");
  atomic_fetch_add_explicit (&n_run, 1, memory_order_relaxed);
}

static IrisForkJoin *
fork_run (IrisForkJoin *fj, IrisForkTask *task, IrisForkRun run)
{
  fj->words[0] = (uintptr_t) item_new ();
  fj->run = run;

  return iris_fork_stack_push (fj, task);
}

static IrisForkJoin *
fork_one (IrisForkJoin *fj, IrisForkTask *task)
{
  return fork_run (fj, task, run_item);
}

static IrisForkJoin *
join_one (IrisForkJoin *fj, IrisForkTask *task, unsigned number)
{
  IrisForkPopped popped = iris_fork_stack_pop (fj, task);

  if (popped.result != NULL)
    explore_assert (*popped.result == number + 100, "the join of task %u has no result", number);
  else
    popped.fj->run (popped.fj, popped.fj);
  explore_assert (item_was_taken (number), "task %u is joined and was not run", number);

  return popped.fj;
}

static bool
steal (unsigned self, bool by_force)
{
  IrisForkJoin *slot = iris_fork_stack_steal (&stacks[0], &stacks[self], NULL, by_force);

  if (slot != NULL)
    iris_fork_stack_run (&stacks[self], slot);

  return slot != NULL;
}

static void
setup_asked (void)
{
  items_reset ();
  for (unsigned i = 0; i < 3; i++)
    iris_fork_stack_init (&stacks[i], MAX_TASKS);
  atomic_init (&n_run, 0);
  atomic_init (&bell, 0);
  atomic_init (&is_sleeping, false);
}

/* No thief has asked, so forked tasks stay private. */
static void
setup (void)
{
  setup_asked ();
  atomic_init (&stacks[0].ends.word, 0);
}

static void
check (void)
{
  unsigned end = index_of (&stacks[0], stacks[0].ends.bottom);

  items_check_all_taken ();
  explore_assert (end == 0 && word_top (stacks[0].ends.word) == 0
                      && word_split (stacks[0].ends.word) == 0,
                  "the stack is not as it was");
}

/* Owner: @n tasks. */
static void
fork_and_join (unsigned n)
{
  IrisForkJoin *fj = iris_fork_stack_get_handle (&stacks[0]);
  IrisForkTask tasks[MAX_TASKS] = { 0 };

  for (unsigned i = 0; i < n; i++)
    fj = fork_one (fj, &tasks[i]);
  for (unsigned i = n; i > 0; i--)
    fj = join_one (fj, &tasks[i - 1], i - 1);
}

static void
one_task (unsigned self)
{
  if (self == 0)
    fork_and_join (1);
  else
    steal (self, false);
}

static void
two_tasks (unsigned self)
{
  if (self == 0)
    fork_and_join (2);
  else
    for (unsigned i = 0; i < 2; i++)
      steal (self, false);
}

static void
by_force (unsigned self)
{
  if (self == 0)
    fork_and_join (2);
  else
    steal (self, true);
}

/* The first asks, the second forces. */
static void
two_thieves (unsigned self)
{
  if (self == 0)
    fork_and_join (1);
  else
    steal (self, self == 2);
}

/* The same slot again and again. */
static void
same_slot (unsigned self)
{
  IrisForkJoin *fj = iris_fork_stack_get_handle (&stacks[0]);
  IrisForkTask task = { 0 };

  if (self != 0)
    {
      steal (self, true);
      return;
    }
  for (unsigned i = 0; i < 2; i++)
    {
      fj = fork_one (fj, &task);
      fj = join_one (fj, &task, i);
    }
}

/* The owner forces no other stack and joins nothing until all was stolen. */
static void
busy_owner (unsigned self)
{
  IrisForkJoin *fj = iris_fork_stack_get_handle (&stacks[0]);
  IrisForkTask tasks[2] = { 0 };

  if (self == 0)
    {
      fj = fork_one (fj, &tasks[0]);
      fj = fork_one (fj, &tasks[1]);
    }
  else
    {
      while (atomic_load_explicit (&n_run, memory_order_relaxed) < 2)
        if (!steal (self, true))
          iris_cpu_relax ();
      return;
    }
  while (atomic_load_explicit (&n_run, memory_order_relaxed) < 2)
    iris_cpu_relax ();
  fj = join_one (fj, &tasks[1], 1);
  join_one (fj, &tasks[0], 0);
}

/* The stolen task forks one of its own; the owner, which waits, may run that, or sleeps. */

static void
run_and_fork (IrisForkJoin *slot, IrisForkJoin *fj)
{
  IrisForkTask task = { 0 };

  fj = fork_one (fj, &task);
  join_one (fj, &task, 1);
  run_item (slot, fj);
}

static void
leapfrog (unsigned self)
{
  IrisForkJoin *fj = iris_fork_stack_get_handle (&stacks[0]);
  IrisForkTask task = { 0 };

  if (self == 0)
    {
      fj = fork_run (fj, &task, run_and_fork);
      while (iris_fork_stack_has_work (&stacks[0]))
        iris_cpu_relax ();
      join_one (fj, &task, 0);
    }
  else
    {
      while (!steal (self, true))
        iris_cpu_relax ();
    }
}

/* An idle worker, as the pool has it: announces itself, fence, asks, looks again, sleeps. */

static void
publish (IrisForkStack *self)
{
  iris_fence_light ();
  if (atomic_load_explicit (&is_sleeping, memory_order_relaxed)
      && atomic_exchange_explicit (&bell, 1, memory_order_release) == 0)
    syscall (SYS_futex, &bell, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void
setup_publish (void)
{
  setup ();
  stacks[0].publish = publish;
}

static void
go_idle (void)
{
  atomic_store_explicit (&bell, 0, memory_order_relaxed);
  atomic_store_explicit (&is_sleeping, true, memory_order_relaxed);
  iris_fence_heavy ();
  if (iris_fork_stack_ask (&stacks[0]))
    iris_fence_heavy ();
#ifndef PLANT_NO_SECOND_LOOK
  if (!iris_fork_stack_has_work (&stacks[0]))
#endif
    while (atomic_load_explicit (&bell, memory_order_acquire) == 0)
      syscall (SYS_futex, &bell, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
  atomic_store_explicit (&is_sleeping, false, memory_order_relaxed);
}

static void
sleeper (unsigned self)
{
  IrisForkJoin *fj = iris_fork_stack_get_handle (&stacks[0]);
  IrisForkTask task = { 0 };

  if (self == 1)
    {
      while (!steal (1, true))
        go_idle ();
      return;
    }
  fj = fork_one (fj, &task);
  while (atomic_load_explicit (&n_run, memory_order_relaxed) == 0)
    iris_cpu_relax ();
  join_one (fj, &task, 0);
}

/* More than there are slots: the others run at once. */

static void
setup_small (void)
{
  setup_asked ();
  iris_fork_stack_init (&stacks[0], 1);
}

static void
full (unsigned self)
{
  if (self == 0)
    fork_and_join (3);
  else
    steal (self, true);
}

#ifdef PLANT_NO_HEAVY_FENCE
static const ExploreScenario scenarios[] = {
  { "by-force", 2, setup, by_force, check, .fails = "" },
};
#elif defined(PLANT_NO_COUNT)
static const ExploreScenario scenarios[] = {
  { "same-slot", 3, setup, same_slot, check, .preemptions = 4, .together = 4, .fails = "" },
};
#elif defined(PLANT_NO_SECOND_LOOK)
static const ExploreScenario scenarios[] = {
  { "sleeper", 2, setup_publish, sleeper, check, .fails = "" },
};
#else
static const ExploreScenario scenarios[] = {
  { "one-task", 2, setup_asked, one_task, check },
  { "two-tasks", 2, setup_asked, two_tasks, check, .together = 4 },
  { "by-force", 2, setup, by_force, check, .together = 4 },
  { "two-thieves", 3, setup, two_thieves, check, .together = 3 },
  { "same-slot", 2, setup, same_slot, check, .together = 4 },
  { "two-by-force", 3, setup, same_slot, check, .preemptions = 4, .together = 4 },
  { "busy-owner", 2, setup, busy_owner, check, .together = 3 },
  { "leapfrog", 2, setup_asked, leapfrog, check, .together = 3 },
  { "sleeper", 2, setup_publish, sleeper, check, .together = 3 },
  { "full", 2, setup_small, full, check, .together = 3 },
};
#endif

int
main (int argc, char **argv)
{
  return explore_main (argc, argv, scenarios, sizeof scenarios / sizeof scenarios[0]);
}
