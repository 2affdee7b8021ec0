/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The simulator: iris's worker pool, deques, search and policy, run by simulated workers on a
 * described machine. How: sim-private.h.
 */
#pragma once

#include "tests/bench/measure/bench-measure.h"

#include <iris/iris.h>

G_BEGIN_DECLS

/* How far two processors are from each other. */
typedef enum
{
  SIM_CORE,  /* the same core */
  SIM_CACHE, /* the same shared cache */
  SIM_NODE,  /* the same memory node or package */
  SIM_FAR,   /* the same machine */
  SIM_N_LEVELS,
} SimLevel;

const char *sim_level_name (SimLevel level);

/* --- costs ------------------------------------------------------------------------------------ */

/* What things cost: nanoseconds, or bytes a nanosecond. `iris-bench calibrate` measures those that
 * this machine can show; the others are assumptions, which sim-costs.c gives a reason for. */
#define SIM_EACH_COST(_)                                                     \
  _ (access, "an access to memory in its own cache, with what is around it") \
  _ (rmw, "a read-modify-write of a line that it owns")                      \
  _ (line_core, "a line from the next cache of its own")                     \
  _ (line_cache, "a line from a processor on the same cache")                \
  _ (line_node, "a line from another cache of the node")                     \
  _ (line_far, "a line from another node")                                   \
  _ (pause, "a pause of a loop that waits")                                  \
  _ (clock, "a look at the clock")                                           \
  _ (yield, "sched_yield()")                                                 \
  _ (sleep, "falling asleep on a futex")                                     \
  _ (wake_call, "waking another thread, for the waker")                      \
  _ (wake, "from being woken to running")                                    \
  _ (heavy_alone, "membarrier(), with no other processor at work")           \
  _ (heavy, "membarrier(), with another processor at work")                  \
  _ (heavy_each, "and for each further one")                                 \
  _ (interrupt, "membarrier(), for each that is interrupted")                \
  _ (end, "from the end of a thread to the end of the wait for it")          \
  _ (read_core, "data from a core's own cache, bytes a nanosecond")          \
  _ (read_cache, "data from the shared cache")                               \
  _ (read_other, "data that another processor on the shared cache wrote")    \
  _ (read_near, "data from memory of the node")                              \
  _ (read_far, "data from another node or its caches")                       \
  _ (writes, "how many times as long it takes to write them, too")

#define SIM_COST_NAME(name, what) SIM_COST_##name,
typedef enum
{
  SIM_EACH_COST (SIM_COST_NAME) SIM_N_COSTS,
} SimCost;

typedef struct
{
  gdouble values[SIM_N_COSTS];
  gboolean is_measured[SIM_N_COSTS]; /* FALSE: an assumption */
} SimCosts;

void sim_costs_init (SimCosts *self);
void sim_costs_set (SimCosts *self, SimCost cost, gdouble measured);
gboolean sim_costs_load (SimCosts *self, const char *file, GError **error);
gboolean sim_costs_save (const SimCosts *self, const char *file, GError **error);
gboolean sim_costs_measure (SimCosts *self, GError **error);
const char *sim_cost_name (SimCost cost);
const char *sim_cost_meaning (SimCost cost);

/* --- machines --------------------------------------------------------------------------------- */

typedef struct _SimMachine SimMachine;

/* Of hwloc's synthetic description. */
SimMachine *sim_machine_new (const char *description, GError **error);
void sim_machine_free (SimMachine *self);
guint sim_machine_n_processors (const SimMachine *self);
SimLevel sim_machine_level (const SimMachine *self, guint a, guint b);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SimMachine, sim_machine_free)

/* --- loads ------------------------------------------------------------------------------------ */

typedef struct _SimLoad SimLoad;

/* Where a load runs: on simulated workers, or on real ones. */
typedef struct
{
  guint n_places;
  void (*queue) (gpointer self, IrisCallback func, gpointer data, gint place);
  void (*work) (gpointer self, gdouble nanoseconds);
  void (*touch) (gpointer self, guint region, gboolean writes);
  guint (*count_down) (gpointer self, guint32 *counter); /* what is left */
  gpointer self;
} SimWorld;

typedef enum
{
  SIM_RECURSIVE, /* n items from outside make `each` items each */
  SIM_FIB,       /* the tree of fib (n): each item makes two */
  SIM_IMBALANCE, /* one item makes n */
  SIM_STRESS,    /* n items a region, each works through it `each` times, an item at a time */
  SIM_JACOBI,    /* `each` sweeps over the regions, each of which is a tile */
  SIM_N_LOADS,
} SimLoadKind;

typedef struct
{
  SimLoadKind kind;
  guint n, each;
  guint n_regions;
  gsize region;   /* bytes */
  gdouble grain;  /* nanoseconds of work in an item */
  gboolean hints; /* items name the place of their region */
} SimLoadSpec;

const char *sim_load_name (SimLoadKind kind);
SimLoad *sim_load_new (const SimLoadSpec *spec);
void sim_load_free (SimLoad *self);
const SimLoadSpec *sim_load_spec (const SimLoad *self);
guint64 sim_load_n_items (const SimLoad *self);
/* Outside of the workers; afterwards the world is to be drained. */
void sim_load_start (SimLoad *self, const SimWorld *world);
/* Whether each item ran once. */
gboolean sim_load_check (const SimLoad *self, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SimLoad, sim_load_free)

/* --- runs ------------------------------------------------------------------------------------- */

/* What a scheduler of places is made with. */
typedef struct
{
  const char *name;
  const char *places; /* level of the topology; "auto": as the library chooses */
  IrisLayout layout;
  IrisDequeKind deque;
  IrisDeal deal;
  const char *steal; /* for iris_steal_policy_parse() */
} SimPolicy;

/* The first is the library's own choice; the last has no name. */
extern const SimPolicy sim_policies[];
const SimPolicy *sim_policy_find (const char *name);
/* About @each items for each worker. */
SimLoadSpec sim_load_for (SimLoadKind kind, guint n_workers, guint each);

typedef struct
{
  guint64 steals[SIM_N_LEVELS];
  guint64 stolen[SIM_N_LEVELS]; /* items */
  guint64 tries, refused;
  guint64 parks, wakes;
  guint64 messages;            /* items put into the inbox of another place */
  guint64 lines[SIM_N_LEVELS]; /* of memory that moved */
  guint64 accesses;
  guint64 heavy; /* fences */
} SimCounts;

typedef struct
{
  gdouble last;    /* seconds until the last item had run */
  gdouble drained; /* until the workers had ended, if that was simulated */
  SimCounts counts;
} SimOutcome;

typedef struct
{
  const SimMachine *machine;
  const SimCosts *costs;
  const SimPolicy *policy;
  guint n_workers; /* 0: one for each processor */
  guint64 seed;
  gboolean drains; /* what comes behind the last item is simulated, too */
} SimSetup;

/* One run at a time in a process. */
gboolean sim_run (const SimSetup *setup, SimLoad *load, SimOutcome *outcome, GError **error);
/* The same load on a real scheduler; its counts are the steals alone, all of one level. */
/* Ahead of other programs, if that is allowed; returns what it was before. */
int sim_real_hurry (void);
void sim_real_slow_down (int before);
void sim_real_touch (gdouble *numbers, gsize n, gboolean writes);
gboolean sim_run_really (const SimPolicy *policy,
                         guint n_workers,
                         SimLoad *load,
                         SimOutcome *outcome,
                         GError **error);

G_END_DECLS
