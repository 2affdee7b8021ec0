/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A simulation of many nodes joined by NATS JetStream: each runs the policy that irisd ships
 * (daemon/cluster/policy), the engine is a queue with measured costs. How: nodes-world.c.
 */
#pragma once

#include "daemon/cluster/policy/irisd-pull-plan.h"
#include "tests/bench/measure/bench-measure.h"

G_BEGIN_DECLS

/* Most nodes of one stream; more nodes are several cells, which do not steal from each other. */
#define NODES_CELL 250
#define NODES_MOST 100000

/* --- costs: microseconds, but for the last ------------------------------------------------ */

/* Where they come from stands in nodes-costs.c. */
#define NODES_EACH_COST(_)                                                      \
  _ (publish, "the engine stores an item")                                      \
  _ (deliver, "it delivers one")                                                \
  _ (end, "it stores an end")                                                   \
  _ (ack, "it takes the ack behind an end")                                     \
  _ (pull, "it takes a pull, or its withdrawal")                                \
  _ (walk, "a delivery walks past a waiting pull, beyond the first walk_free")  \
  _ (way_publish, "from a publish to the stream")                               \
  _ (way_pull, "from a node to the engine, without a quorum")                   \
  _ (way_deliver, "from the stream to the node, with the quorum")               \
  _ (way_end, "from an end to the home node")                                   \
  _ (fetch_rack, "reading what an item works on from another node of the rack") \
  _ (fetch_zone, "and of the zone")                                             \
  _ (fetch_far, "and from another zone")                                        \
  _ (map, "between two entries of a node in the map")                           \
  _ (lease, "until an item is delivered again that its node does not extend")   \
  _ (back, "until a node that died is back")                                    \
  _ (walk_free, "waiting pulls that slow no delivery down: a number")

#define NODES_COST_NAME(name, what) NODES_COST_##name,
typedef enum
{
  NODES_EACH_COST (NODES_COST_NAME) NODES_N_COSTS,
} NodesCost;

typedef struct
{
  gdouble values[NODES_N_COSTS];
} NodesCosts;

void nodes_costs_init (NodesCosts *self);
gboolean nodes_costs_load (NodesCosts *self, const char *file, GError **error);

/* --- loads ------------------------------------------------------------------------------------ */

typedef enum
{
  NODES_ONE,    /* all hinted softly at one node of each cell */
  NODES_EVEN,   /* hinted in turn at all nodes */
  NODES_SKEWED, /* the same, and run times of a bounded Pareto distribution */
  NODES_DIES,   /* as even, and one node of each cell dies in the middle */
  NODES_BURSTS, /* comes in bursts, each for one random node of a cell */
  NODES_N_LOADS,
} NodesLoad;

typedef enum
{
  NODES_STEALING,
  NODES_ALONE,   /* each node pulls what is hinted at it; none is rescued */
  NODES_CENTRAL, /* one queue for all nodes, without hints, in one stream */
  NODES_N_WAYS,
} NodesWay;

extern const char *const nodes_load_names[NODES_N_LOADS];
extern const char *const nodes_way_names[NODES_N_WAYS];

typedef struct
{
  guint32 target; /* the node that it is hinted at */
  guint32 next;   /* in a queue */
  gint64 run_ns;
  gint64 submitted_ns;
  gint64 ended_ns; /* 0: not yet */
  guint32 node;    /* where it is in hand */
  guint32 consumer;
} NodesItem;

typedef struct
{
  guint n_nodes;
  guint n_workers; /* of a node */
  guint n_items;   /* for each node */
  gdouble run_us;  /* mean */
  guint64 seed;
  NodesLoad load;
  NodesWay way;
  const NodesCosts *costs;
} NodesSetup;

/* The same number is the same item in all ways. */
NodesItem *nodes_load_make (const NodesSetup *setup, guint *n_items);

/* --- runs ------------------------------------------------------------------------------------- */

typedef struct
{
  guint n_cells;
  guint64 n_items;
  gdouble bound;  /* seconds that the work takes at least, on all workers */
  gdouble last;   /* until the last end */
  gdouble median; /* from submission to end */
  gdouble p99;
  gdouble messages;     /* between nodes and engine for the items, pulls included */
  gdouble map_messages; /* for the map */
  guint64 n_stolen[IRISD_N_NODE_DISTANCES];
  guint64 n_rescued;
  guint64 n_again; /* delivered again */
  guint64 looks[IRISD_N_STEAL_VERDICTS];
  guint64 n_refused; /* looks that ended in backlog, size, distance or apart */
  guint64 n_events;
} NodesOutcome;

gboolean nodes_run (const NodesSetup *setup, NodesOutcome *outcome, GError **error);

/* iris-bench nodes [N...] */
gboolean nodes_command (int n_words,
                        char **words,
                        const NodesSetup *usual,
                        const char *costs,
                        char **only,
                        gboolean quick,
                        gboolean json,
                        gboolean csv,
                        GError **error);

G_END_DECLS
