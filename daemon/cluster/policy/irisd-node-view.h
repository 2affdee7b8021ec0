/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a node knows of itself and of the others when it decides where an item goes and from whom it
 * pulls: plain values, without a connection and without a clock.
 *
 * All of daemon/cluster/policy is like that: time is an argument, chance is a hash. So the same
 * code runs in irisd and in iris-bench nodes, which simulates 10,000 nodes with it.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* For how long the entry of a node in the map counts. Entries are renewed each 3 s and expire after
 * 15 s: with a life of 3 s the election of a leader, 7 s without writes, would expire them all. */
#define IRISD_NODE_LIFE_US (15 * G_USEC_PER_SEC)

/* How far another node is, by the labels of both. What is not said is far. */
typedef enum
{
  IRISD_NODE_SELF,
  IRISD_NODE_RACK, /* the same rack of the same zone */
  IRISD_NODE_ZONE, /* the same zone */
  IRISD_NODE_FAR,
  IRISD_N_NODE_DISTANCES,
} IrisdNodeDistance;

typedef enum
{
  IRISD_NODE_ALIVE,
  IRISD_NODE_DRAINING, /* takes nothing; what waits there goes elsewhere */
  IRISD_NODE_GONE,     /* its entry is too old, or has expired */
  IRISD_NODE_REMOVED,  /* left for good */
} IrisdNodeStanding;

/* What the map says of a node. Strings are the caller's. */
typedef struct
{
  const char *name;
  const char *rack, *zone;     /* NULL: not said */
  const char *const *services; /* sorted, NULL behind the last; NULL: not known, so all */
  guint n_workers;             /* that run what the cluster brings */
  guint n_idle;                /* of these, without an item */
  guint64 backlog;             /* items for it, hinted softly, that none has pulled yet */
  guint64 n_begun;             /* items that it has begun since it started; 0: not known */
  guint64 mean_run_ns;         /* of its items; 0: not known */
  guint64 mean_bytes;          /* of their bodies; 0: not known */
  gint64 seen_us; /* when its entry was last renewed; of the own one, when that was confirmed */
  gboolean draining;
  gboolean removed;
  gboolean full; /* its disk or memory is at a limit */
} IrisdNodeView;

/* The map. The own node may be in it. A node that has gone stays as long as its consumers exist. */
typedef struct
{
  const IrisdNodeView *nodes;
  guint n_nodes;
  guint64 serial; /* another one after each change */
} IrisdNodeMap;

/* The own node, as it is now. */
typedef struct
{
  IrisdNodeView view;
  guint64 n_queued;              /* local items that wait for a worker */
  guint64 n_in_hand;             /* items of the cluster: delivered here, and not ended */
  guint64 n_running;             /* of these, with a worker */
  guint64 disk_used, disk_limit; /* a limit of 0 is none */
  guint64 memory_used, memory_limit;
} IrisdOwnNode;

IrisdNodeDistance irisd_node_view_get_distance (const IrisdNodeView *a, const IrisdNodeView *b);
IrisdNodeStanding irisd_node_view_get_standing (const IrisdNodeView *self, gint64 now_us);
gboolean irisd_node_view_has_service (const IrisdNodeView *self, const char *service);
/* Whether @self has every service that @other has, so that it can run whatever waits there. */
gboolean irisd_node_view_can_replace (const IrisdNodeView *self, const IrisdNodeView *other);
/* Whether the own entry of the map is renewed at once, and not when it is due: what waits has more
 * than doubled since it was told and is more than two items a worker, or the node drains, is full,
 * or is neither any more. Thieves learn of a burst from the map, and 3 s are long: in a simulation
 * of 10 nodes 200 items of 200 ms for one of them took 2.8 s without this, most of it waiting for
 * the next entry. Not more often than each 250 ms, since all nodes are told. */
#define IRISD_NODE_NEWS_US (G_USEC_PER_SEC / 4)
gboolean
irisd_node_view_is_news (const IrisdNodeView *now, const IrisdNodeView *told, gint64 now_us);
const IrisdNodeView *irisd_node_map_find (const IrisdNodeMap *self, const char *name);

/* Chance that each node can work out for each other one: a number that follows from two names and a
 * round, equally spread. */
guint64 irisd_node_lot (const char *a, const char *b, guint64 round);

G_END_DECLS
