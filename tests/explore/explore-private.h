/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the parts of the explorer share: the state of the interleaving that is being run.
 *
 *   explore-main.c    command line and reports
 *   explore-search.c  which interleavings are run, and how choices are written down
 *   explore-run.c     one interleaving: threads, switch points, failures
 *   explore-fiber.c   stacks and jumps between them
 *   explore-memory.c  words, store buffers, fences
 *   explore-sync.c    locks, futexes, thread-specific data
 *   explore-race.c    vector clocks, the threads that touch each word, races on plain memory
 *   explore-arena.c   memory of the explored code
 *
 * Everything runs on one kernel thread, so nothing here is atomic.
 */
#pragma once

#include "explore-ops.h"
#include "explore.h"

#include <setjmp.h>
#include <stdint.h>
#include <ucontext.h>

#define MAIN_THREAD EXPLORE_MAX_THREADS /* setup() and check() */
#define MAX_BUFFER  32
#define MAX_KEYS    4
#define MAX_AGE     2 /* a store does not stay in the buffer for ever */

#if defined(__SANITIZE_ADDRESS__)
#define EXPLORE_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define EXPLORE_ASAN 1
#endif
#endif

typedef struct
{
  uint32_t at[EXPLORE_MAX_THREADS];
} Clock;

typedef struct
{
  ucontext_t start;
  jmp_buf at;
  void *stack;
  bool started;
  void *fake_stack; /* AddressSanitizer's */
} Fiber;

/* A store on its way to memory. */
typedef struct
{
  char *word;
  unsigned size;
  uint64_t value;
  bool release;
  bool in_order; /* overtakes nothing */
  unsigned age;  /* how many times a thread waited while it was delayed */
  Clock clock;   /* what an acquire of it learns */
  const char *what;
} Store;

typedef enum
{
  THREAD_READY,
  THREAD_LOCKING,  /* wants the lock at `wanted` */
  THREAD_SLEEPING, /* in the futex at `wanted` */
  THREAD_ENDED,
} ThreadState;

typedef struct
{
  unsigned index;
  ThreadState state;
  char *wanted;
  const char *waits_for; /* in words */
  const char *waits_in;
  unsigned step; /* of the operation it is about to do */
  Store buffer[MAX_BUFFER];
  unsigned n_buffered;
  bool fenced; /* a release fence came behind what is in the buffer */
  Clock clock;
  Clock to_acquire; /* what an acquire fence would add */
  Clock released;   /* at the last release fence */
  void *values[MAX_KEYS];
  Fiber fiber;
} Thread;

typedef enum
{
  MODEL_SC,
  MODEL_TSO,
  MODEL_PSO,
} Model;

typedef enum
{
  SEARCH_ALL,
  SEARCH_RANDOM,
  SEARCH_REPLAY,
} Search;

typedef struct
{
  const ExploreScenario *scenario;
  Model model;
  Search search;
  unsigned max_preemptions;
  unsigned max_delays;
  unsigned max_together;
  bool c20; /* a plain store ends even its own thread's release sequence */

  /* This interleaving. */
  bool running; /* the threads run, not setup() or check() */
  bool tracing;
  unsigned step;
  unsigned n_preemptions;
  unsigned n_delays;
  bool failed;
  char message[512];
  Thread threads[EXPLORE_MAX_THREADS + 1];
  Thread *current;
  jmp_buf escape; /* out of setup() and check() */
} Explore;

extern Explore explore;

/* explore-run.c */
bool explore_run (void);
void explore_trace (const char *format, ...) __attribute__ ((format (printf, 1, 2)));
bool explore_may_preempt (void);
bool explore_may_delay (void);
void explore_switch_point (const void *word, bool writes);
void explore_switch_point_fence (bool drains);
void explore_block (ThreadState state, char *word, const char *what, const char *where);
bool explore_is_thread_local (const char *address);

/* explore-search.c. A choice is made among values at a step; the first is the default. */
typedef enum
{
  CHOICE_SWITCH, /* s: to which thread */
  CHOICE_DELAY,  /* d: whether the store stays in the buffer */
  CHOICE_FLUSH,  /* f: how many stores of a thread to this word are let out */
} ChoiceKind;

unsigned
explore_choose (ChoiceKind kind, unsigned step, unsigned of, const unsigned *values, unsigned n);
void explore_search_begin_run (void);
void explore_search_reset (void);
bool explore_search_next (void);
void explore_search_random (uint64_t seed);
bool explore_search_replay (const char *schedule);
char *explore_search_print (void);

/* explore-fiber.c */
void explore_fiber_prepare (Fiber *fiber, void (*body) (void));
void explore_fiber_switch (Fiber *from, Fiber *to);
bool explore_is_stack (const char *address);

/* explore-memory.c */
uint64_t explore_get (const void *word, unsigned size);
bool explore_is_pending (const char *word);
void explore_drain (Thread *thread);
bool explore_drain_all (void);
void explore_drain_old (void);
void explore_let_out (Thread *thread, const char *word);

/* explore-sync.c */
void explore_sync_reset (void);
void explore_sync_end_thread (Thread *thread);

/* explore-race.c */
void explore_clock_join (Clock *clock, const Clock *other);
void explore_word_acquire (const void *word, Clock *learner);
void explore_word_stored (const void *word, unsigned by, bool release, const Clock *clock);
void explore_word_changed (const void *word, unsigned by, const Clock *clock);
bool explore_word_touch (const void *word, unsigned by, bool writes);
bool explore_words_learn (void);
void explore_words_forget (void);
void explore_race_begin_run (void);

/* explore-arena.c */
void explore_arena_reset (void);
void explore_arena_check (const void *address, const char *where);
