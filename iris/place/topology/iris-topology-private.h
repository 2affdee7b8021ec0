/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The inside of a topology, for the places that are cut from it.
 */
#pragma once

#include <iris/place/topology/iris-topology.h>
#include <hwloc.h>

G_BEGIN_DECLS

/* Most cpus of a topology, and one more than the highest cpu number. It is where Linux ends. */
#define IRIS_TOPOLOGY_MAX_CPUS 8192

IrisTopology *iris_topology_new_below (const char *root, GError **error);
void iris_topology_limit (IrisTopology *self, hwloc_const_bitmap_t cpus, double quota);

hwloc_topology_t iris_topology_get_hwloc (IrisTopology *self);
hwloc_const_bitmap_t iris_topology_get_usable (IrisTopology *self);
guint iris_topology_get_default_workers (IrisTopology *self);

G_END_DECLS
