/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The data that items work on. A cache holds whole regions, the latest ones; one that is larger
 * than a cache is not held by it. A region that was written is held by the writer's caches alone.
 * Another processor fetches it from them more slowly than what lies in the shared cache. Its memory
 * is on the node of the processor that touched it first.
 *
 * Caches have the sizes of the machine that the costs were measured on: 1 MiB a core and 32 MiB a
 * shared cache, which is an assumption for others. Bandwidth is that of one processor alone.
 */
#include "tests/bench/sim/sim-data-private.h"

#include "tests/bench/sim/sim-machine-private.h"
#include "tests/bench/sim/sim-private.h"

#define CORE_SIZE   ((gsize) 1 << 20)
#define SHARED_SIZE ((gsize) 32 << 20)
#define MAX_HELD    64

typedef struct
{
  guint region; /* + 1 */
  guint version;
} Held;

/* Newest first. */
typedef struct
{
  Held held[MAX_HELD];
} Cache;

typedef struct
{
  guint version;
  guint home;   /* node + 1; 0: not touched yet */
  guint writer; /* processor + 1; 0: none */
} Region;

static Region *regions;
static Cache *cores, *shared;
static gsize size;
static guint core_room, shared_room; /* regions */

void
sim_data_init (const SimMachine *machine, const SimLoadSpec *spec)
{
  size = spec->region;
  regions = g_new0 (Region, spec->n_regions + 1);
  cores = g_new0 (Cache, machine->n);
  shared = g_new0 (Cache, machine->n);
  core_room = size > 0 ? (guint) MIN (CORE_SIZE / size, MAX_HELD) : 0;
  shared_room = size > 0 ? (guint) MIN (SHARED_SIZE / size, MAX_HELD) : 0;
}

void
sim_data_clear (void)
{
  g_clear_pointer (&regions, g_free);
  g_clear_pointer (&cores, g_free);
  g_clear_pointer (&shared, g_free);
}

static gboolean
cache_holds (const Cache *self, guint room, guint region)
{
  for (guint i = 0; i < room; i++)
    if (self->held[i].region == region + 1)
      return self->held[i].version == regions[region].version;

  return FALSE;
}

/* In front of the others; the last one falls out. */
static void
cache_take (Cache *self, guint room, guint region)
{
  guint at = 0;

  if (room == 0)
    return;
  while (at < room - 1 && self->held[at].region != region + 1)
    at++;
  memmove (self->held + 1, self->held, at * sizeof *self->held);
  self->held[0] = (Held){ region + 1, regions[region].version };
}

/* The current fiber reads the whole region, and writes it if it does. */
void
sim_data_touch (guint region, gboolean writes)
{
  const SimMachine *machine = sim_engine.machine;
  guint processor = sim_engine.current->processor;
  Cache *own = &cores[processor], *common = &shared[machine->cache[processor]];
  Region *self = &regions[region];
  guint node = machine->node[processor] + 1u;
  SimCost from;
  gdouble time;

  /* What other fibers do with it before now comes first. */
  sim_give_way ();
  if (self->home == 0)
    self->home = node;
  if (cache_holds (own, core_room, region))
    from = SIM_COST_read_core;
  else if (cache_holds (common, shared_room, region))
    from = self->writer == 0 || self->writer == processor + 1 ? SIM_COST_read_cache
                                                              : SIM_COST_read_other;
  else
    from = self->home == node ? SIM_COST_read_near : SIM_COST_read_far;
  /* Bytes divided by thousandths of a byte a nanosecond make microseconds. */
  time = (gdouble) size / (gdouble) sim_engine.cost[from] * 1e6;
  if (writes)
    time *= (gdouble) sim_engine.cost[SIM_COST_writes] / 1e3;
  sim_spend ((uint64_t) time);
  if (writes)
    {
      self->version++;
      self->writer = processor + 1;
    }
  cache_take (own, core_room, region);
  cache_take (common, shared_room, region);
}
