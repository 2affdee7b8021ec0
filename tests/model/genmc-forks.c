/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * GenMC: the fork-join stack. 1: its owner takes back what a thief is about to take of what is
 * public; no fence of the owner helps, as with membarrier(2). 2: of what the thief forces. 3: the
 * owner of a stolen task would sleep while the thief forks another: it is woken, or it sees that
 * there is work. 4: it would sleep while the thief ends the task: it is woken, and sees the result.
 * 5: a thief forces what a fork has just made. 6: one forces it, and another steals it.
 */
#define IRIS_AVAILABLE_IN_ALL
#define G_BEGIN_DECLS
#define G_END_DECLS
#include "genmc-deque.h"

#include <unistd.h>

/* A join looks a few times before it sleeps, and forces at the second. */
#define IRIS_FORK_STACK_PATIENCE 2
#define IRIS_FORK_STACK_SPINS    3

#ifdef GENMC
/* As the header has them, but for the fence for the compiler, which the checker would take as one
 * for the processor. */
#define iris_fork_load(p, order)            __atomic_load_n ((p), (order))
#define iris_fork_store(p, value, order)    __atomic_store_n ((p), (value), (order))
#define iris_fork_exchange(p, value, order) __atomic_exchange_n ((p), (value), (order))
#define iris_fork_swap(p, expected, value, order) \
  __atomic_compare_exchange_n ((p), (expected), (value), 0, (order), __ATOMIC_ACQUIRE)
#define iris_fork_fence_compiler() ((void) 0)
#endif

/* In 3 and 4 a thread that would sleep leaves ASLEEP in its token, and ends; a waker puts 1 there.
 * In the others it goes on as if it had been woken. */
#define ASLEEP                                             2
#define syscall(number, word, operation, value, time, ...) futex_##operation (word, time)
#define futex_FUTEX_WAIT_PRIVATE(word, time)               fall_asleep (word)
#define futex_FUTEX_WAKE_PRIVATE(word, time)               ((void) (time))

#include <stdint.h>

static inline void
fall_asleep (uint32_t *token)
{
  uint32_t none = 0;

  if (SCENARIO != 3 && SCENARIO != 4)
    return;
  if (__atomic_compare_exchange_n (token, &none, ASLEEP, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
    pthread_exit (NULL);
}

#include "iris/queue/deque/iris-fork-stack.c"

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

#if SCENARIO != 3 && SCENARIO != 4
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
  IrisForkJoin *slot = iris_fork_stack_steal (&owner, &thief, NULL, SCENARIO == 2 || SCENARIO == 5);

  (void) unused;
  if (slot != NULL)
    iris_fork_stack_run (&thief, slot);

  return NULL;
}
#endif

#if SCENARIO <= 2
static void
run (void)
{
  static IrisForkTask tasks[2];
  IrisForkJoin *fj;
  pthread_t other;

  iris_fence_is_asymmetric = SCENARIO == 1;
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
#elif SCENARIO >= 5
#if SCENARIO == 6
static void *
force_open (void *unused)
{
  (void) unused;
  force (&owner, iris_fork_load (&owner.ends.word, memory_order_acquire));

  return NULL;
}
#endif

static void
run (void)
{
  static IrisForkTask tasks[1];
  IrisForkJoin *fj;
  pthread_t other;
#if SCENARIO == 6
  pthread_t third;
#endif

  assert (iris_fork_stack_init (&owner, 1) && iris_fork_stack_init (&thief, 1));
  owner.ends.word = owner.slow;
  fj = iris_fork_stack_get_handle (&owner);
  pthread_create (&other, NULL, steal, NULL);
#if SCENARIO == 6
  pthread_create (&third, NULL, force_open, NULL);
#endif
  fj = fork_thing (fj, &tasks[0], 0);
  pthread_join (other, NULL);
#if SCENARIO == 6
  pthread_join (third, NULL);
#endif
  join_thing (fj, &tasks[0]);
  thing_expect_once (1);
  iris_fork_stack_clear (&owner);
  iris_fork_stack_clear (&thief);
}
#else
/* The owner has forked one task, which the thief has stolen. */
static void *
wait_for_thief (void *unused)
{
  (void) unused;
  sleep_for (&owner, owner.slots, &thief);
  if (iris_fork_load (&owner.slots[0].state, memory_order_acquire) == STATE_DONE)
    thing_expect_once (1);

  return NULL;
}

static void *
go_on (void *unused)
{
  static IrisForkTask task;

  (void) unused;
#if SCENARIO == 3
  fork_thing (iris_fork_stack_get_handle (&thief), &task, 1);
#else
  (void) task;
  iris_fork_stack_run (&thief, owner.slots);
#endif

  return NULL;
}

static void
run (void)
{
  static IrisForkTask task;
  static IrisForkRunning running;
  pthread_t first, second;

  assert (iris_fork_stack_init (&owner, 1) && iris_fork_stack_init (&thief, 1));
  fork_thing (iris_fork_stack_get_handle (&owner), &task, 0);
  running.slot = iris_fork_stack_steal (&owner, &thief, NULL, false);
  assert (running.slot == owner.slots);
#if SCENARIO == 3
  thief.running = &running;
  thief.ends.word = thief.slow;
#endif
  pthread_create (&first, NULL, wait_for_thief, NULL);
  pthread_create (&second, NULL, go_on, NULL);
  pthread_join (first, NULL);
  pthread_join (second, NULL);
  assert (iris_fork_load (&owner.token, memory_order_relaxed) != ASLEEP);
  iris_fork_stack_clear (&owner);
  iris_fork_stack_clear (&thief);
}
#endif
