/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The body of MAP_REPLY: the machine's places and where their sockets are.
 */
#pragma once

#include <iris/wire/base/iris-wire-limits.h>
#include <iris/wire/message/iris-wire-message.h>

G_BEGIN_DECLS

/**
 * IrisWirePlace:
 * @id: key 0
 * @workers: key 4
 * @name: key 1, such as `l2:1`; owned
 * @cpus: key 2, such as `0-3,8`; owned
 * @endpoint: key 3, where to connect; owned
 * @nodes: key 5, memory nodes, such as `0`; owned
 * @bound: key 6, whether its workers are bound to its cpus
 * @n_distances: length of @distances
 * @distances: (array length=n_distances) (nullable): key 7, to every place in order of id; owned
 *
 * One place. A string that is %NULL is sent as an empty one.
 */
typedef struct
{
  guint32 id;
  guint32 workers;
  char *name;
  char *cpus;
  char *endpoint;
  char *nodes;
  gboolean bound;
  guint32 n_distances;
  guint32 *distances;
} IrisWirePlace;

/**
 * IrisWireMap:
 * @n_places: length of @places
 * @places: (array length=n_places): owned
 *
 * All places.
 */
typedef struct
{
  guint n_places;
  IrisWirePlace *places;
} IrisWireMap;

/**
 * iris_wire_map_new:
 *
 * Returns: (transfer full): a map whose places are all zeroes; fill them with memory of g_malloc()
 */
IRIS_AVAILABLE_IN_ALL
IrisWireMap *iris_wire_map_new (guint n_places);

/**
 * iris_wire_map_free:
 * @self: (transfer full) (nullable): freed, with all that it owns
 */
IRIS_AVAILABLE_IN_ALL
void iris_wire_map_free (IrisWireMap *self);

/**
 * iris_wire_map_encode:
 *
 * Returns: (transfer full): the body, or %NULL
 */
IRIS_AVAILABLE_IN_ALL
GBytes *
iris_wire_map_encode (const IrisWireMap *self, const IrisWireLimits *limits, GError **error);

/**
 * iris_wire_map_decode:
 * @body: the body of a MAP_REPLY
 *
 * Returns: (transfer full): the map, which borrows nothing, or %NULL
 */
IRIS_AVAILABLE_IN_ALL
IrisWireMap *
iris_wire_map_decode (IrisWireFrame body, const IrisWireLimits *limits, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (IrisWireMap, iris_wire_map_free)

G_END_DECLS
