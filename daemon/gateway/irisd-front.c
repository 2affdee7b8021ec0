/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The front gateway tells clients the endpoints of the places.
 */
#include "daemon/exec/irisd-place-control.h"
#include "daemon/gateway/irisd-gateway-private.h"

static void
fill_place (IrisdCore *core, guint id, gboolean over_tcp, IrisWirePlace *out)
{
  const IrisdPlaceInfo *info = &core->infos[id];
  out->id = id;
  out->name = g_strdup (info->name);
  out->cpus = g_strdup (iris_place_get_cpus (info->place));
  out->nodes = g_strdup (iris_place_get_memory_nodes (info->place));
  out->workers = iris_place_get_n_workers (info->place);
  out->bound = iris_place_is_bound (info->place);
  out->endpoint = g_strdup (over_tcp ? info->tcp_endpoint : info->ipc_endpoint);
  out->n_distances = core->n_places;
  out->distances = g_new (guint32, core->n_places);
  for (guint other = 0; other < core->n_places; other++)
    out->distances[other] = iris_places_get_distance (core->places, id, other);
}

/* Returns the body of a MAP_REPLY. @over_tcp: the client needs endpoints over TCP. */
GBytes *
irisd_front_encode_map (IrisdCore *core, gboolean over_tcp, GError **error)
{
  g_autoptr (IrisWireMap) map = iris_wire_map_new (core->n_places);
  for (guint id = 0; id < core->n_places; id++)
    fill_place (core, id, over_tcp, &map->places[id]);
  return iris_wire_map_encode (map, &core->wire_limits, error);
}
