/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * How far places are from each other.
 */
#pragma once

#include <glib.h>
#include <hwloc.h>

/* What a latency of the hardware is cut to; the kernel's own table ends at 255. */
#define IRIS_DISTANCE_MAX 65535

typedef struct _IrisDistances IrisDistances;

IrisDistances *iris_distances_new (hwloc_topology_t hwloc, GPtrArray *cpusets);
void iris_distances_free (IrisDistances *self);
guint iris_distances_get (const IrisDistances *self, guint a, guint b);
