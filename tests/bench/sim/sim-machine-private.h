/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Simulated machines, and the places that they are divided into.
 */
#pragma once

#include "tests/bench/sim/sim.h"

#include <hwloc.h>

struct _SimMachine
{
  hwloc_topology_t hwloc;
  guint n;
  /* Of each processor. */
  guint16 *core, *cache, *node;
};

/* The level of a machine as places, with the library's own distances. It stands for IrisPlaces in
 * the simulated code, which asks for it by the functions of sim-pool.c. */
typedef struct
{
  guint n_places;
  guint n_workers;
  guint *first_processor; /* of each place */
  guint *workers;         /* of each place */
  guint64 cache_size;     /* of a place; 0: not known */
  gpointer distances;
} SimPlaces;

SimPlaces *
sim_places_new (const SimMachine *machine, const char *level, guint n_workers, GError **error);
void sim_places_free (SimPlaces *self);
guint sim_places_distance (const SimPlaces *self, guint a, guint b);

static inline SimLevel
sim_machine_between (const SimMachine *self, guint a, guint b)
{
  if (self->core[a] == self->core[b])
    return SIM_CORE;
  if (self->cache[a] == self->cache[b])
    return SIM_CACHE;

  return self->node[a] == self->node[b] ? SIM_NODE : SIM_FAR;
}
