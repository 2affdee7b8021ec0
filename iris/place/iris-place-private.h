/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The inside of a place, and what is of no use to other languages.
 */
#pragma once

#include <hwloc.h>
#include <sched.h>

#include <iris/place/topology/iris-topology-private.h>
#include <iris/place/iris-place.h>
#include <iris/place/iris-places.h>

/* Nothing here changes once its IrisPlaces was returned to the thread that made it. */
struct _IrisPlace
{
  IrisPlaces *owner; /* not counted: the place is a part of it */
  guint id;
  char *name;
  guint n_workers;
  IrisBind bind; /* NONE also if the topology is not this machine's */

  hwloc_topology_t hwloc; /* NULL unless threads and memory can be bound with it */
  hwloc_bitmap_t cpuset;  /* NULL: virtual */
  hwloc_bitmap_t nodeset;
  char *cpus;
  char *memory_nodes;
  guint64 cache_size; /* bytes; 0: not known */
  guint n_cpus;
  guint *order;               /* the cpus in the order in which workers get one each */
  guint units[IRIS_N_LEVELS]; /* the number of the unit of each level that it lies in */
};

void
iris_place_set_unit (IrisPlace *self, IrisTopology *topology, const IrisUnit *unit, IrisBind bind);
void iris_place_set_virtual (IrisPlace *self);
void iris_place_clear (IrisPlace *self);

guint iris_place_get_unit (const IrisPlace *self, IrisLevel level);
guint64 iris_place_measure_cache (hwloc_topology_t hwloc, hwloc_const_cpuset_t cpus);
gboolean iris_place_get_cpu_set (const IrisPlace *self, cpu_set_t *set);
