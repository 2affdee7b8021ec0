/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * bench-deque-cores: what the deques cost their owner and their thieves, in nanoseconds.
 *
 * Plain C on the cores, so that it runs where there is nothing but a compiler:
 *
 *     cc -O2 -std=gnu11 -D_GNU_SOURCE -I. tests/bench/bench-deque-cores.c \
 *        iris/base/iris-fence.c -o bench-deque-cores -lpthread
 *
 * All kinds are run in turn in each round. It prints the median of the rounds and their
 * smallest, of the processor time of the thread that works, so that other programs matter little.
 *
 *   pair        a push and a take, the deque else empty
 *   deep        the same, 100 pushes and then 100 takes
 *   exposed     100 pushes, all made public, 100 takes
 *   offered     100 pushes, and an offer before each of 100 takes: an owner with an idle thief
 *   steal 1     one item stolen at a time, by a thread that has not seen the deque before
 *   steal half  up to 32 at a time, for one item
 *   forced      a thief that opens a split deque by force and steals up to 32, again and again, for
 *               one item; the owner runs elsewhere
 *   empty       an attempt at an empty deque
 */
#include "iris/queue/iris-deque-private.h"

#include <pthread.h>
#include <stdio.h>
#include <time.h>

#define N_KINDS   (IRIS_DEQUE_IDEMPOTENT + 1)
#define N_ROUNDS  21
#define N_PAIRS   200000
#define N_BATCHES 2000
#define N_STOLEN  1000 /* fits the bounded kinds */
#define MAX_STEAL 32

enum
{
  PAIR,
  DEEP,
  EXPOSED,
  OFFERED,
  STEAL_ONE,
  STEAL_HALF,
  STEAL_FORCED,
  STEAL_EMPTY,
  N_FIGURES,
};

static const char *const figures[] = { "pair",    "deep",       "exposed", "offered",
                                       "steal 1", "steal half", "forced",  "empty" };
static const char *const kinds[] = { "chase-lev",  "split",  "abp",
                                     "steal-half", "locked", "idempotent" };

static double samples[N_KINDS][N_FIGURES][N_ROUNDS];
static IrisDequeCore queue;
static char thing;

static double
cpu_ns (void)
{
  struct timespec now;

  clock_gettime (CLOCK_THREAD_CPUTIME_ID, &now);

  return (double) now.tv_sec * 1e9 + (double) now.tv_nsec;
}

static void
push (uint64_t n)
{
  while (n-- > 0)
    iris_deque_core_push (&queue, &thing);
}

static void
take (uint64_t n)
{
  while (n-- > 0)
    iris_deque_core_take (&queue);
}

/* Inlined for each kind, so that no branch on it is measured with. */
static inline __attribute__ ((always_inline)) double
pairs_of (IrisDequeKind kind)
{
  double start;

  if (queue.kind != kind)
    return 0;
  start = cpu_ns ();
  for (int i = 0; i < N_PAIRS; i++)
    {
      iris_deque_core_push (&queue, &thing);
      iris_deque_core_take (&queue);
    }

  return (cpu_ns () - start) / N_PAIRS;
}

static double
batches (void (*take_hundred) (void))
{
  double start = cpu_ns ();

  for (int i = 0; i < N_BATCHES; i++)
    {
      push (100);
      take_hundred ();
    }

  return (cpu_ns () - start) / (100.0 * N_BATCHES);
}

static void
take_simply (void)
{
  take (100);
}

static void
take_exposed (void)
{
  iris_deque_core_expose (&queue, 100);
  take (100);
}

static void
take_offering (void)
{
  for (int i = 0; i < 100; i++)
    {
      iris_deque_core_offer (&queue);
      iris_deque_core_take (&queue);
    }
}

/* Of N_STOLEN items, ns for each. */
static void *
rob (void *max)
{
  static double ns;
  void *items[MAX_STEAL];
  uint64_t n, n_got = 0;
  double start = cpu_ns ();

  while (iris_deque_core_steal (&queue, items, *(uint64_t *) max, &n) == IRIS_STEAL_TAKEN)
    n_got += n;
  ns = (cpu_ns () - start) / (double) n_got;

  return &ns;
}

static double
robbed (uint64_t max)
{
  pthread_t thread;
  void *ns;

  push (N_STOLEN);
  iris_deque_core_expose (&queue, N_STOLEN);
  pthread_create (&thread, NULL, rob, &max);
  pthread_join (thread, &ns);
  take (N_STOLEN); /* what may be left of an ABP deque's start */

  return *(double *) ns;
}

static void *
rob_by_force (void *unused)
{
  static double ns;
  void *items[MAX_STEAL];
  uint64_t n, n_got = 0;
  double start = cpu_ns ();

  (void) unused;
  while (iris_deque_core_force (&queue))
    if (iris_deque_core_steal (&queue, items, MAX_STEAL, &n) == IRIS_STEAL_TAKEN)
      n_got += n;
  ns = (cpu_ns () - start) / (double) n_got;

  return &ns;
}

/* 0 for a kind that has nothing private. The owner spins: its processor must be interrupted. */
static double
forced (void)
{
  pthread_t thread;
  void *ns;

  if (queue.kind != IRIS_DEQUE_SPLIT)
    return 0;
  push (N_STOLEN);
  pthread_create (&thread, NULL, rob_by_force, NULL);
  while (pthread_tryjoin_np (thread, &ns) != 0)
    iris_cpu_relax ();
  take (N_STOLEN);

  return *(double *) ns;
}

static double
attempts (void)
{
  void *item;
  uint64_t n;
  double start = cpu_ns ();

  for (int i = 0; i < N_PAIRS; i++)
    iris_deque_core_steal (&queue, &item, 1, &n);

  return (cpu_ns () - start) / N_PAIRS;
}

static double
pairs (void)
{
  double sum = 0;

  for (int kind = 0; kind < N_KINDS; kind++)
    sum += pairs_of ((IrisDequeKind) kind);

  return sum;
}

static void
measure (int kind, int round)
{
  double *into[N_FIGURES];

  for (int i = 0; i < N_FIGURES; i++)
    into[i] = &samples[kind][i][round];
  if (!iris_deque_core_init (&queue, (IrisDequeKind) kind, NULL))
    return;
  *into[PAIR] = pairs ();
  *into[DEEP] = batches (take_simply);
  *into[EXPOSED] = batches (take_exposed);
  *into[OFFERED] = batches (take_offering);
  *into[STEAL_ONE] = robbed (1);
  *into[STEAL_HALF] = robbed (MAX_STEAL);
  *into[STEAL_FORCED] = forced ();
  *into[STEAL_EMPTY] = attempts ();
  iris_deque_core_clear (&queue);
}

static int
compare (const void *a, const void *b)
{
  double x = *(const double *) a, y = *(const double *) b;

  return (x > y) - (x < y);
}

int
main (void)
{
  iris_fence_init ();
  for (int round = 0; round < N_ROUNDS; round++)
    for (int kind = 0; kind < N_KINDS; kind++)
      measure (kind, round);

  printf ("median (smallest) of %d rounds, ns\n%-10s", N_ROUNDS, "");
  for (int i = 0; i < N_FIGURES; i++)
    printf (" %15s", figures[i]);
  for (int kind = 0; kind < N_KINDS; kind++)
    {
      printf ("\n%-10s", kinds[kind]);
      for (int i = 0; i < N_FIGURES; i++)
        {
          qsort (samples[kind][i], N_ROUNDS, sizeof (double), compare);
          printf (" %7.2f (%5.2f)", samples[kind][i][N_ROUNDS / 2], samples[kind][i][0]);
        }
    }
  printf ("\n");

  return 0;
}
