/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The levels of a topology, and the units that each consists of.
 */
#pragma once

#include <iris/place/topology/iris-topology-private.h>

G_BEGIN_DECLS

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
GPtrArray *iris_level_units (IrisTopology *topology, IrisLevel level, gboolean *covers);

G_END_DECLS
