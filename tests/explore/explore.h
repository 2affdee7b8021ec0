/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The interleaving explorer: runs small programs over the real code of iris in every order.
 *
 * How to write a scenario is in README.md. In short: a source includes the header or the .c file
 * of iris that it explores, fills an ExploreScenario and calls explore_main().
 *
 * What is explored
 * ----------------
 * Two to four logical threads share one kernel thread. Before each atomic, fence, lock or futex
 * call that another thread could notice, the explorer may go on with another thread. All ways to
 * do so with at most `preemptions` switches away from a thread that could go on are run, one after
 * the other, each from the start (stateless model checking; the bound is that of M. Musuvathi and
 * S. Qadeer, "Iterative Context Bounding", PLDI 2007). Switches at the end of a thread, in front
 * of a lock that is held and in a futex are free, so within the bound everything is covered.
 *
 * Memory is that of a processor with store buffers (TSO; P. Sewell et al., "x86-TSO", 2010): a
 * store that is not sequentially consistent may stay in its thread's buffer, in which only that
 * thread sees it, until a fence or a read-modify-write of that thread, or until the explorer lets
 * it out. At most `delays` stores start such a delay; the ones behind them queue up. With the
 * model `pso` a relaxed store may overtake earlier ones to other words, and a read-modify-write
 * without release does not wait for the buffer. Loads are never early; instead, plain memory is
 * watched with vector clocks that follow the orders as C11 defines them, so that an acquire or
 * release that is too weak shows as a data race on what it should have protected.
 *
 * Two reductions lose nothing: a thread is preempted only in front of a word that another thread
 * uses too (those are found as the exploration goes on, which starts again when it finds one), and
 * a delayed store is let out only in front of an access to its word.
 *
 * What fails
 * ----------
 * explore_assert(), a deadlock (all threads wait), a thread that does not end within
 * EXPLORE_MAX_STEPS steps, use of freed memory, a data race on plain memory of the explored code.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define EXPLORE_MAX_THREADS 4
#define EXPLORE_MAX_STEPS   4000

typedef struct
{
  const char *name;
  unsigned n_threads;

  void (*setup) (void);           /* before each interleaving, alone */
  void (*thread) (unsigned self); /* each of the threads, numbered from 0 */
  void (*check) (void);           /* after each interleaving, alone, with all stores visible */

  /* An end at which the threads that are left sleep in a futex is no deadlock; check() says
   * whether it is right. */
  bool may_sleep;

  unsigned preemptions; /* 0: 3 */
  unsigned delays;      /* 0: 2 */
  unsigned together;    /* at most so many of both; 0: no further bound */
  unsigned random_runs; /* 0: 20000 */

  /* A planted bug: the scenario passes when the explorer finds a failure with these words in it,
   * whose schedule leads to the same failure when it is run again. */
  const char *fails;
} ExploreScenario;

/* Prints TAP. The command line is in README.md. */
int explore_main (int argc, char **argv, const ExploreScenario *scenarios, unsigned n_scenarios);

/* What the explored code keeps between calls must be as new in each interleaving. To be called in
 * front of explore_main(): @memory is given the bytes it has now before each setup(). */
void explore_state (void *memory, size_t size);

/* A thread-local variable: each logical thread has its own, zero at the start. */
void explore_thread_local (void *memory, size_t size);

/* A function that keeps the scenario's books: the plain memory that it touches is not watched for
 * data races. What such a function does between two switch points happens at once. */
#define EXPLORE_UNWATCHED __attribute__ ((no_sanitize ("thread"), noinline))

/* Ends the interleaving as failed. */
void explore_fail (const char *format, ...) __attribute__ ((format (printf, 1, 2), noreturn));

#define explore_assert(condition, ...) \
  do                                   \
    {                                  \
      if (!(condition))                \
        explore_fail (__VA_ARGS__);    \
    }                                  \
  while (0)

/* A remark in the trace. */
void explore_note (const char *format, ...) __attribute__ ((format (printf, 1, 2)));
