/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Barnes and Hut's tree: cubes of bodies, each divided into eight where it has many.
 *
 * All parts insert bodies at the same time. A leaf's list, and the children that a cell does not
 * have yet, are changed under the cell's lock; cells share 1024 of them. A way down needs no lock:
 * a cell is filled before the cell above it is said to lead to it, and is never taken away.
 */
#pragma once

#include "tests/bench/workloads/splash/splash.h"

#include <stdatomic.h>

#define SPLASH_NONE G_MAXUINT

typedef struct
{
  SplashVector position, velocity, acceleration;
  gdouble mass;
  gdouble cost, new_cost; /* interactions of the last step, and of this one */
  guint next;             /* in the leaf */
} SplashBody;

typedef struct
{
  SplashVector middle; /* of the cube */
  gdouble half;        /* of its edge */
  SplashVector centre; /* of mass */
  gdouble mass, cost;
  gdouble xx, xy, xz, yy, yz, zz; /* quadrupole */
  guint n, bodies;                /* a leaf's; under its lock */
  atomic_bool is_leaf;
  _Atomic guint children[8]; /* 0: none, as the root is no child */
} SplashCell;

typedef struct
{
  SplashBody *bodies;
  SplashCell *cells; /* the root is the first */
  guint max_cells;
  atomic_uint n_cells;
  SplashLocks *locks;
} SplashTree;

void splash_tree_init (SplashTree *self, SplashBody *bodies, guint n);
void splash_tree_clear (SplashTree *self);
void splash_tree_start (SplashTree *self, SplashTeam *team);
/* One part, before the others insert: leaves a root alone. */
void splash_tree_plant (SplashTree *self, SplashVector middle, gdouble half);
void splash_tree_insert (SplashTree *self, SplashTeam *team, guint body);
/* Masses, centres, costs and quadrupoles, once all bodies are in: first each part those of its
 * share of the cells at a certain level and below, then one part those above. */
void splash_tree_sum_up (SplashTree *self, const SplashTeam *team, guint part);
void splash_tree_sum_up_top (SplashTree *self);

static inline gboolean
splash_cell_is_leaf (const SplashCell *self)
{
  /* Acquire: the children were filled before. */
  return atomic_load_explicit (&self->is_leaf, memory_order_acquire);
}

static inline guint
splash_cell_child (const SplashCell *self, guint octant)
{
  /* Acquire: the child was filled before. */
  return atomic_load_explicit (&self->children[octant], memory_order_acquire);
}
