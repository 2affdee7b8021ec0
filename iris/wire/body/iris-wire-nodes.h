/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The body of NODES_REPLY: the nodes of the cluster, as one of them sees them.
 */
#pragma once

#include <iris/wire/base/iris-wire-limits.h>
#include <iris/wire/message/iris-wire-message.h>

G_BEGIN_DECLS

/**
 * IrisWireNodeState:
 * @IRIS_WIRE_NODE_HERE: it tells of itself, and takes items
 * @IRIS_WIRE_NODE_DRAINING: it tells of itself, and takes no items
 * @IRIS_WIRE_NODE_GONE: it was here, and is silent
 * @IRIS_WIRE_NODE_REMOVED: an operator has removed it for good
 *
 * What a node is.
 */
typedef enum
{
  IRIS_WIRE_NODE_HERE = 1,
  IRIS_WIRE_NODE_DRAINING = 2,
  IRIS_WIRE_NODE_GONE = 3,
  IRIS_WIRE_NODE_REMOVED = 4,
} IrisWireNodeState;

/**
 * IrisWireNodeDistance:
 * @IRIS_WIRE_NODE_SELF: the node itself
 * @IRIS_WIRE_NODE_SAME_RACK: the same rack of the same zone
 * @IRIS_WIRE_NODE_SAME_ZONE: the same zone
 * @IRIS_WIRE_NODE_FAR: further, or not known
 *
 * How far a node is from the one that answers, by the labels of both.
 */
typedef enum
{
  IRIS_WIRE_NODE_SELF = 0,
  IRIS_WIRE_NODE_SAME_RACK = 1,
  IRIS_WIRE_NODE_SAME_ZONE = 2,
  IRIS_WIRE_NODE_FAR = 3,
} IrisWireNodeDistance;

/**
 * IrisWireClusterState:
 * @IRIS_WIRE_CLUSTER_NONE: irisd is configured for no cluster
 * @IRIS_WIRE_CLUSTER_JOINING: it has not been in the cluster since its start, a short time ago
 * @IRIS_WIRE_CLUSTER_JOINED: the cluster knows it
 * @IRIS_WIRE_CLUSTER_ALONE: no servers, or no majority of them: only local work
 * @IRIS_WIRE_CLUSTER_REFUSED: the servers or another node do not let it in
 *
 * What irisd is in the cluster.
 */
typedef enum
{
  IRIS_WIRE_CLUSTER_NONE = 0,
  IRIS_WIRE_CLUSTER_JOINING = 1,
  IRIS_WIRE_CLUSTER_JOINED = 2,
  IRIS_WIRE_CLUSTER_ALONE = 3,
  IRIS_WIRE_CLUSTER_REFUSED = 4,
} IrisWireClusterState;

/**
 * IrisWireNodePlace:
 * @name: key 0; owned
 * @cpus: key 1, as a list of ranges; owned
 * @workers: key 2, how many it has
 * @backlog: key 3, items that wait there
 *
 * A place of a node.
 */
typedef struct
{
  char *name;
  char *cpus;
  guint32 workers;
  guint64 backlog;
} IrisWireNodePlace;

/**
 * IrisWireNode:
 * @name: key 0; owned
 * @state: key 1, an #IrisWireNodeState
 * @own: key 2, it is the node that answers
 * @since_ms: key 3, when it came into that state, Unix time in milliseconds
 * @silent_ms: key 4, how long ago it told of itself; 0 if it never did
 * @version: key 5, of its irisd, or empty; owned
 * @incarnation: key 6, of this run of its irisd, or empty; owned
 * @workers: key 7, of all its places
 * @running: key 8, its items that run
 * @backlog: key 9, its items that wait
 * @labels: key 10, where it is, as kind=value; owned
 * @services: key 11, what it serves; owned
 * @endpoints: key 12, of its front door; owned
 * @n_places: length of @places
 * @places: key 13, its places; owned
 * @away: key 14, its items that the cluster has
 * @guests: key 15, items of the cluster that are there
 * @distance: key 16, from the node that answers, an #IrisWireNodeDistance
 *
 * One node.
 */
typedef struct
{
  char *name;
  guint32 state;
  gboolean own;
  guint64 since_ms;
  guint64 silent_ms;
  char *version;
  char *incarnation;
  guint32 workers;
  guint64 running;
  guint64 backlog;
  char **labels;
  char **services;
  char **endpoints;
  guint n_places;
  IrisWireNodePlace *places;
  guint64 away;
  guint64 guests;
  guint32 distance;
} IrisWireNode;

/**
 * IrisWireNodes:
 * @node: key 0, the name of the node that answers, empty without a cluster; owned
 * @state: key 1, an #IrisWireClusterState
 * @since_ms: key 2, when it came into that state, Unix time in milliseconds
 * @reason: key 3, why it is not joined, or empty; owned
 * @servers: key 4, where NATS is, without secrets; owned
 * @promise: key 5, what the cluster promises of a durable item, or empty; owned
 * @takes_durable: key 6, durable items may go to other nodes
 * @n_nodes: length of @nodes
 * @nodes: key 7, in the order of their names; owned
 *
 * The cluster, as one node sees it.
 */
typedef struct
{
  char *node;
  guint32 state;
  guint64 since_ms;
  char *reason;
  char *servers;
  char *promise;
  gboolean takes_durable;
  guint n_nodes;
  IrisWireNode *nodes;
} IrisWireNodes;

/**
 * iris_wire_nodes_new:
 *
 * Returns: (transfer full): nodes that are all zeroes; fill them with memory of g_malloc()
 */
IRIS_AVAILABLE_IN_ALL
IrisWireNodes *iris_wire_nodes_new (guint n_nodes);

/**
 * iris_wire_nodes_free:
 * @self: (transfer full) (nullable): freed, with all that it owns
 */
IRIS_AVAILABLE_IN_ALL
void iris_wire_nodes_free (IrisWireNodes *self);

/**
 * iris_wire_nodes_encode:
 *
 * Returns: (transfer full): the body, or %NULL
 */
IRIS_AVAILABLE_IN_ALL
GBytes *
iris_wire_nodes_encode (const IrisWireNodes *self, const IrisWireLimits *limits, GError **error);

/**
 * iris_wire_nodes_decode:
 * @body: the body of a NODES_REPLY
 *
 * Returns: (transfer full): the nodes, which borrow nothing, or %NULL
 */
IRIS_AVAILABLE_IN_ALL
IrisWireNodes *
iris_wire_nodes_decode (IrisWireFrame body, const IrisWireLimits *limits, GError **error);

/**
 * iris_wire_nodes_to_variant:
 *
 * The same by the names of the protocol: a dictionary, "a{sv}".
 *
 * Returns: (transfer none): a floating value
 */
IRIS_AVAILABLE_IN_ALL
GVariant *iris_wire_nodes_to_variant (const IrisWireNodes *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (IrisWireNodes, iris_wire_nodes_free)

G_END_DECLS
