/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * GenMC: the fork-join stack, whose owner takes back what a thief is about to take (scenario 1:
 * what is public; scenario 2: what the thief forces).
 */
#define IRIS_AVAILABLE_IN_ALL
#define G_BEGIN_DECLS
#define G_END_DECLS
#include "genmc-deque.h"

#include <unistd.h>

/* Nobody waits here, so nobody need be woken. */
#define syscall(number, word, operation, value, time, ...) ((void) (time))

#include "iris/queue/iris-fork-stack.c"

#ifndef SCENARIO
#define SCENARIO 1
#endif

static IrisForkStack owner, thief;

static void
run_thing (IrisForkJoin *slot, IrisForkJoin *fj)
{
  (void) fj;
  thing_give ((void *) (uintptr_t) slot->words[0]);
}

static IrisForkJoin *
fork_thing (IrisForkJoin *fj, IrisForkTask *task, int i)
{
  fj->words[0] = (uintptr_t) thing_make (i);
  fj->run = run_thing;

  return iris_fork_stack_push (fj, task);
}

static IrisForkJoin *
join_thing (IrisForkJoin *fj, IrisForkTask *task)
{
  IrisForkPopped popped = iris_fork_stack_pop (fj, task);

  if (popped.result == NULL)
    run_thing (popped.fj, popped.fj);

  return popped.fj;
}

static void *
steal (void *unused)
{
  IrisForkJoin *slot = iris_fork_stack_steal (&owner, &thief, NULL, SCENARIO == 2);

  (void) unused;
  if (slot != NULL)
    iris_fork_stack_run (&thief, slot);

  return NULL;
}

static void
run (void)
{
  IrisForkTask tasks[2] = { 0 };
  IrisForkJoin *fj;
  pthread_t other;

  assert (iris_fork_stack_init (&owner, 2) && iris_fork_stack_init (&thief, 2));
  if (SCENARIO == 2)
    owner.ends.word = owner.slow;
  fj = iris_fork_stack_get_handle (&owner);
  pthread_create (&other, NULL, steal, NULL);
  for (int i = 0; i < 2; i++)
    fj = fork_thing (fj, &tasks[i], i);
  for (int i = 2; i > 0; i--)
    fj = join_thing (fj, &tasks[i - 1]);
  thing_expect_once (2);
  pthread_join (other, NULL);
  iris_fork_stack_clear (&owner);
  iris_fork_stack_clear (&thief);
}
