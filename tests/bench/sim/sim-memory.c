/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The memory of simulated processors: an arena, and what an access to a line of it costs. The
 * design is in sim-private.h.
 */
#include "tests/bench/sim/sim-private.h"

#include "iris/base/memory/iris-page-private.h"
#include "tests/bench/sim/sim-machine-private.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

/* A region of pages is aligned to its size, which is the most that is asked for. */
#define ARENA_ALIGN IRIS_REGION_SIZE

/* Of each processor, and one for the thread outside. */
#define CACHES_SIZE ((SIM_MAX_PROCESSORS + (size_t) 1) * SIM_CACHE_LINES * sizeof (uint64_t))
#define LINES_SIZE  (SIM_ARENA_SIZE / SIM_LINE * sizeof (SimLine))
#define MEMORY_SIZE (ARENA_ALIGN + SIM_ARENA_SIZE + LINES_SIZE + CACHES_SIZE)

/* A line that was fetched for a read-modify-write stays for the time of so many: a swap that fails
 * is tried again, with the value that it found, before the line is gone. */
#define HELD 4

/* Lines that a processor may wait for without standing still. */
#define STORE_BUFFER 8

static char *memory; /* space to align in, the arena, the lines, and the caches */

bool
sim_memory_init (GError **error)
{
  size_t size = MEMORY_SIZE;

  memory = mmap (NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                 -1, 0);
  if (memory == MAP_FAILED)
    {
      g_set_error (error, BENCH_ERROR, BENCH_ERROR_MACHINE,
                   "the simulator cannot have %zu MiB of address space: %s; raise the limit "
                   "(ulimit -v)",
                   size >> 20, g_strerror (errno));
      return false;
    }
  /* Everything is used here and there; the pages of this program must not be what is measured. */
  madvise (memory, size, MADV_HUGEPAGE);
  sim_engine.arena = memory + (-(uintptr_t) memory & (ARENA_ALIGN - 1));
  sim_engine.lines = (SimLine *) (void *) (sim_engine.arena + SIM_ARENA_SIZE);

  return true;
}

void
sim_memory_clear (void)
{
  munmap (memory, MEMORY_SIZE);
}

/* What a thread's processor knows of lines: nothing. */
uint64_t *
sim_memory_cache (unsigned thread)
{
  return (uint64_t *) (sim_engine.arena + SIM_ARENA_SIZE + LINES_SIZE)
         + (size_t) thread * SIM_CACHE_LINES;
}

/* Zeroed; it is given back with the run. NULL when there is none left. */
void *
sim_allocate (size_t align, size_t size)
{
  size_t at = (sim_engine.used + align - 1) & ~(align - 1);

  if (size > SIM_ARENA_SIZE - at)
    return NULL;
  sim_engine.used = at + size;

  return sim_engine.arena + at;
}

static SimLevel
level_to (const SimFiber *self, unsigned processor)
{
  return processor == 0 ? SIM_CORE
                        : sim_machine_between (sim_engine.machine, self->processor, processor - 1);
}

static void
read_line (SimFiber *self, SimLine *line, uint64_t *known, uint64_t tag)
{
  SimLevel level;

  if (G_LIKELY (*known == tag))
    {
      self->now += sim_engine.cost[SIM_COST_access];
      return;
    }
  level = level_to (self, line->owner);
  self->now = MAX (self->now, line->free_at) + sim_engine.line_cost[level];
  sim_engine.counts.lines[level]++;
  if (line->owner != self->processor + 1)
    line->reader = (uint16_t) (self->processor + 1);
  *known = tag;
}

static void
write_line (SimFiber *self, SimLine *line, uint64_t *known, uint64_t tag, SimAccess how)
{
  uint64_t own = sim_engine.cost[how == SIM_RMW ? SIM_COST_rmw : SIM_COST_access];
  SimLevel level, other;
  uint64_t arrives;

  /* A store to a line that an earlier one has asked for joins that in the store buffer. */
  if (G_LIKELY (line->owner == self->processor + 1
                && ((*known == tag && line->reader == 0)
                    || (how == SIM_STORE && line->free_at > self->now)))
      || (line == self->held && self->now < self->held_until))
    {
      self->now += own;
      return;
    }
  level = level_to (self, line->owner);
  other = line->reader != 0 ? level_to (self, line->reader) : SIM_CORE;
  level = MAX (level, other);
  arrives = MAX (self->now, line->free_at) + sim_engine.line_cost[level];
  sim_engine.counts.lines[level]++;
  line->free_at = arrives;
  line->version++;
  line->owner = (uint16_t) (self->processor + 1);
  line->reader = 0;
  *known = (tag & ~(uint64_t) UINT32_MAX) | line->version;
  if (how == SIM_RMW)
    {
      self->now = arrives;
      self->held = line;
      self->held_until = arrives + HELD * own;
    }
  else if (arrives > self->now + STORE_BUFFER * sim_engine.line_cost[level])
    self->now = arrives - STORE_BUFFER * sim_engine.line_cost[level];
  self->now += own;
}

/* What it costs the current fiber, which gives way first if others are behind. */
void
sim_access (const void *address, size_t size, SimAccess how)
{
  SimFiber *self = sim_engine.current;
  size_t at = (uintptr_t) address - (uintptr_t) sim_engine.arena;

  if (self == NULL)
    return;
  if (at >= SIM_ARENA_SIZE || sim_engine.is_free) /* its stack, or what never changes */
    {
      self->now += sim_engine.cost[SIM_COST_access];
      return;
    }
  if (self->now > sim_engine.horizon)
    sim_give_way ();
  sim_engine.counts.accesses++;
  for (size_t i = at / SIM_LINE; i <= (at + size - 1) / SIM_LINE; i++)
    {
      SimLine *line = &sim_engine.lines[i];
      uint64_t *known = &self->cache[i % SIM_CACHE_LINES];
      uint64_t tag = (uint64_t) (i + 1) << 32 | line->version;

      if (how == SIM_READ)
        read_line (self, line, known, tag);
      else
        write_line (self, line, known, tag, how);
    }
  /* It takes place when the line has come. */
  if (self->now > sim_engine.horizon)
    sim_give_way ();
}

static inline void
plain_access (const void *address, size_t size, bool writes, const void *where)
{
  sim_access (address, size, writes ? SIM_STORE : SIM_READ);
}

#include "explore-plain-accesses.h"
