/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The inside of a topology: its levels, the units that each consists of, and what is checked of
 * files before and after hwloc reads them.
 */
#pragma once

#include <iris/place/topology/iris-topology.h>
#include <hwloc.h>

/* Most cpus of a topology, and one more than the highest cpu number. It is where Linux ends. */
#define IRIS_TOPOLOGY_MAX_CPUS 8192

IrisTopology *iris_topology_new_below (const char *root, GError **error);
void iris_topology_limit (IrisTopology *self, hwloc_const_bitmap_t cpus, double quota);

hwloc_topology_t iris_topology_get_hwloc (IrisTopology *self);
hwloc_const_bitmap_t iris_topology_get_usable (IrisTopology *self);
guint iris_topology_get_default_workers (IrisTopology *self);

/* In the order in which people think of them, largest first. */
typedef enum
{
  IRIS_LEVEL_MACHINE,
  IRIS_LEVEL_PACKAGE,
  IRIS_LEVEL_NUMA,
  IRIS_LEVEL_L3,
  IRIS_LEVEL_L2,
  IRIS_LEVEL_CORE,
  IRIS_LEVEL_PU,
  IRIS_N_LEVELS,
} IrisLevel;

/*
 * IrisUnit:
 * @name: the level and hwloc's logical number among all objects of it, "l2:1"
 * @cpus: the cpus of the unit that may be used; never empty
 *
 * A part of the machine that may become a place.
 */
typedef struct
{
  char *name;
  hwloc_bitmap_t cpus;
} IrisUnit;

IrisUnit *iris_unit_new (char *name, hwloc_bitmap_t cpus);
void iris_unit_free (IrisUnit *unit);

const char *iris_level_get_name (IrisLevel level);
gboolean iris_level_parse (const char *name, IrisLevel *level);
guint iris_level_count (IrisTopology *topology, IrisLevel level);
char *iris_level_list (IrisTopology *topology);

/* The number of no unit. */
#define IRIS_NO_UNIT G_MAXUINT32

guint iris_level_find (IrisTopology *topology, IrisLevel level, hwloc_const_bitmap_t cpus);
GPtrArray *iris_level_units (IrisTopology *topology, IrisLevel level, gboolean *covers);

/* Largest XML file, in bytes. 256 cpus take 84 KiB, without what hangs on their buses. */
#define IRIS_TOPOLOGY_MAX_XML (64 * 1024 * 1024)

char *iris_topology_file_read (const char *path, gsize *size, GError **error);
gboolean iris_topology_file_is_sound (hwloc_topology_t hwloc);
