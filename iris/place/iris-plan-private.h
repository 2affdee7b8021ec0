/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The plan of a partition: which units become places, and how many workers each gets.
 */
#pragma once

#include <iris/place/topology/iris-topology-private.h>

/* "auto" makes no place larger than this as long as there are smaller units to choose. */
#define IRIS_PLAN_AUTO_WORKERS 16

/*
 * IrisPlan:
 * @level: what the units are, as the user calls it (static)
 * @units: (element-type IrisUnit): disjoint, at least one
 * @workers: for every unit the number of its workers, at least one
 */
typedef struct
{
  const char *level;
  GPtrArray *units;
  guint *workers;
} IrisPlan;

IrisPlan *
iris_plan_new (IrisTopology *topology, const char *level, guint n_workers, GError **error);
IrisPlan *iris_plan_new_for_cpusets (IrisTopology *topology,
                                     const char *const *cpusets,
                                     guint n_workers,
                                     GError **error);
void iris_plan_free (IrisPlan *plan);

guint *iris_plan_spread (const guint *cpus, guint n_units, guint n_workers);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (IrisPlan, iris_plan_free)
