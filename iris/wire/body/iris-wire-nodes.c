/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The body of NODES_REPLY: the nodes of the cluster, as one of them sees them.
 */
#include "iris-wire-nodes.h"

#include "iris-wire-record-private.h"

#define PLACE(key, kind, member, text) \
  IRIS_WIRE_RECORD_FIELD (IrisWireNodePlace, key, kind, member, text)
#define NODE(key, kind, member, text) IRIS_WIRE_RECORD_FIELD (IrisWireNode, key, kind, member, text)
#define NODES(key, kind, member, text) \
  IRIS_WIRE_RECORD_FIELD (IrisWireNodes, key, kind, member, text)

static const IrisWireRecordField place_fields[] = {
  PLACE (0, STRING, name, "name"),
  PLACE (1, STRING, cpus, "cpus"),
  PLACE (2, UINT32, workers, "workers"),
  PLACE (3, UINT64, backlog, "backlog"),
};

static const IrisWireRecord place_record = IRIS_WIRE_RECORD (IrisWireNodePlace, place_fields);

static const IrisWireRecordField node_fields[] = {
  NODE (0, STRING, name, "name"),
  NODE (1, UINT32, state, "state"),
  NODE (2, BOOLEAN, own, "own"),
  NODE (3, UINT64, since_ms, "since-ms"),
  NODE (4, UINT64, silent_ms, "silent-ms"),
  NODE (5, STRING, version, "version"),
  NODE (6, STRING, incarnation, "incarnation"),
  NODE (7, UINT32, workers, "workers"),
  NODE (8, UINT64, running, "running"),
  NODE (9, UINT64, backlog, "backlog"),
  NODE (10, TEXTS, labels, "labels"),
  NODE (11, TEXTS, services, "services"),
  NODE (12, TEXTS, endpoints, "endpoints"),
  IRIS_WIRE_RECORD_ARRAY (IrisWireNode, 13, LIST, places, &place_record),
  NODE (14, UINT64, away, "away"),
  NODE (15, UINT64, guests, "guests"),
  NODE (16, UINT32, distance, "distance"),
};

static const IrisWireRecord node_record = IRIS_WIRE_RECORD (IrisWireNode, node_fields);

static const IrisWireRecordField nodes_fields[] = {
  NODES (0, STRING, node, "node"),
  NODES (1, UINT32, state, "state"),
  NODES (2, UINT64, since_ms, "since-ms"),
  NODES (3, STRING, reason, "reason"),
  NODES (4, STRING, servers, "servers"),
  NODES (5, STRING, promise, "promise"),
  NODES (6, BOOLEAN, takes_durable, "takes-durable"),
  IRIS_WIRE_RECORD_ARRAY (IrisWireNodes, 7, LIST, nodes, &node_record),
};

static const IrisWireRecord nodes_record = IRIS_WIRE_RECORD (IrisWireNodes, nodes_fields);

IRIS_WIRE_DEFINE_BODY (IrisWireNodes, nodes, "NODES_REPLY", nodes_record)

GVariant *
iris_wire_nodes_to_variant (const IrisWireNodes *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return iris_wire_record_to_variant (&nodes_record, self);
}
