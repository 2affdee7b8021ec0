/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The engine of the simulator: simulated threads, the clock, and the memory between processors.
 *
 * How it works
 * ------------
 * The sources of iris's worker pool are compiled a second time (sim-pool.c), against the header of
 * tests/explore/shadow/ in place of iris-atomic-private.h, so that each atomic, lock, futex and
 * allocation of them is a call of explore-ops.h; sim-ops.c has what these calls do here. Plain
 * accesses call __tsan_read8() and its like, because the sources are compiled with
 * -fsanitize=thread and linked without its runtime. So each access to memory of the shipped code
 * has a price, and nothing in that code knows of it.
 *
 * A worker is a fiber on a stack of its own with a clock of its own, and has a simulated processor
 * for itself. The fiber with the earliest clock runs; it gives way in front of an access to memory
 * that others can see when its clock has passed that of the next one by more than the quantum. So
 * what happens is sequentially consistent, and the same each time: ties go by number, and nothing
 * looks at the real clock, at addresses or at threads.
 *
 * Memory: what the code allocates comes from one arena, whose lines have an owner (the processor
 * that wrote it last), a version, and the time until which it is on its way. Each processor
 * remembers the versions of the lines that it has read or written, in a table of fixed size. A
 * read of another version costs the way from the owner; a write takes the line from the owner and
 * from the last reader. A store does not wait for that (it has a store buffer); a
 * read-modify-write does, and so does every thread that wants the line meanwhile.
 *
 * Data that items work on is known by region (sim-data.c).
 */
#pragma once

#include "tests/bench/sim/sim.h"

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

/* Lines whose version a processor remembers: a level-1 cache of 64 KiB. A power of two. */
#define SIM_CACHE_LINES 1024

/* Address space for the memory of a run; what is not used costs nothing. */
#define SIM_ARENA_SIZE ((size_t) 4 << 30)
#define SIM_LINE       64

#define SIM_MAX_PROCESSORS 16384

#define SIM_MAX_LOCALS 4
#define SIM_LOCAL_SIZE 64 /* all thread-local variables together */

typedef enum
{
  SIM_READ,
  SIM_STORE,
  SIM_RMW,
} SimAccess;

typedef struct SimFiber SimFiber;
typedef struct SimLine SimLine;

struct SimFiber
{
  uint64_t now; /* picoseconds, like all times of the engine */
  unsigned index;
  unsigned processor;
  unsigned generation; /* of its valid event */
  bool is_waiting;
  bool has_ended;
  bool was_woken;        /* not by the end of its time */
  const void *waits_for; /* futex, lock or thread */
  SimFiber *next_waiting;
  uint64_t n_heavy;    /* heavy fences that it knows of */
  const SimLine *held; /* fetched for a read-modify-write */
  uint64_t held_until;
  uint64_t *cache; /* line + 1 and version, by line */
  void (*body) (void *data);
  void *data;
  char *stack;
  bool has_started;
  jmp_buf at;
  char locals[SIM_LOCAL_SIZE];
  void *specific[4];
};

struct SimLine
{
  uint64_t free_at;
  uint32_t version;
  uint16_t owner;  /* its processor + 1; 0: none */
  uint16_t reader; /* the last one of another processor + 1; 0: none since the last write */
};

typedef struct
{
  SimFiber *current; /* NULL: the run is being set up */
  bool is_free; /* memory costs nothing, and nothing is counted: before and behind what is timed */
  uint64_t horizon; /* the current one gives way when its clock is behind this */
  char *arena;
  size_t used;
  SimLine *lines;
  const SimMachine *machine;
  uint64_t cost[SIM_N_COSTS]; /* picoseconds */
  uint64_t line_cost[SIM_N_LEVELS];
  uint64_t n_heavy;
  unsigned n_running;
  SimCounts counts;
} SimEngine;

extern SimEngine sim_engine;

/* sim-engine.c */
bool sim_engine_init (const SimMachine *machine, const SimCosts *costs, GError **error);
void sim_engine_clear (void);
void sim_engine_local (void *variable, size_t size);
SimFiber *sim_fiber_new (unsigned processor, void (*body) (void *data), void *data);
bool sim_engine_run (void);
void sim_give_way (void);
void sim_settle (void);
bool sim_wait (const void *what, uint64_t at_most);
bool sim_wake_one (const void *what, uint64_t at);
void sim_spend (uint64_t picoseconds);

/* sim-memory.c */
bool sim_memory_init (GError **error);
void sim_memory_clear (void);
uint64_t *sim_memory_cache (unsigned thread);
void *sim_allocate (size_t align, size_t size);
void sim_access (const void *address, size_t size, SimAccess how);

static inline void
sim_pay (SimCost what)
{
  sim_spend (sim_engine.cost[what]);
}
