/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Barnes: gravity of bodies in a globular cluster (Plummer's model), by a tree of cubes.
 *
 * A step: the parts find the extent of all bodies, under a lock; each inserts its bodies into the
 * tree; masses, centres and quadrupoles go upwards; each part computes the forces in its zone, a
 * run of bodies in the order of the tree that had its share of the interactions in the last step;
 * the bodies move. A cube whose edge is shorter than its distance is taken as a whole.
 *
 * Source: J. Barnes, P. Hut, "A Hierarchical O(N log N) Force-Calculation Algorithm", Nature 324,
 * 1986; zones by cost: J. P. Singh, C. Holt, T. Totsuka, A. Gupta, J. Hennessy, "Load Balancing and
 * Data Locality in Adaptive Hierarchical N-SplashBody Methods", J. Par. Distr. Comp. 27, 1995; the
 * model: S. J. Aarseth, M. Hénon, R. Wielen, Astron. Astrophys. 37, 1974.
 *
 * Check: every body is in the tree once and was given a force, and the forces on a sample are those
 * of a direct sum, within the method's error.
 */
#include "tests/bench/workloads/splash/splash-tree.h"

#include <string.h>

#define PUBLISHED 92000
#define USUAL     92000
#define STEPS     2
#define DT        0.025
#define SOFTENING 0.05
#define ANGLE     1.0
#define STACK     1024
#define SAMPLES   48
#define TOLERANCE 0.025 /* root mean square, of the mean force */

enum
{
  PHASE_EXTENT,
  PHASE_PLANT,
  PHASE_INSERT,
  PHASE_SUM_UP,
  PHASE_SUM_UP_TOP,
  PHASE_FORCES,
  PHASE_MOVE,
  PHASES_OF_A_STEP,
};

typedef struct
{
  SplashVector low, high;
} Extent;

typedef struct
{
  guint n;
  SplashBody *input, *bodies;
  SplashTree tree;
  Extent extents[STEPS]; /* under their lock */
  SplashLocks *extents_lock;
} Barnes;

/* --- the model -------------------------------------------------------------------------------- */

static SplashVector
random_direction (guint64 *random, gdouble length)
{
  for (;;)
    {
      SplashVector v = { 2 * splash_random (random) - 1, 2 * splash_random (random) - 1,
                         2 * splash_random (random) - 1 };
      gdouble square = splash_dot (v, v);

      if (square < 1 && square > 1e-4)
        return splash_scaled (v, length / sqrt (square));
    }
}

/* In units in which mass, radius and gravity are 1. */
static SplashBody
random_body (const Barnes *self, guint64 *random)
{
  gdouble scale = 3 * G_PI / 16, share = 0.999 * (splash_random (random) + 1e-6);
  gdouble r = 1 / sqrt (pow (share, -2.0 / 3) - 1), x, y;

  do
    {
      x = splash_random (random);
      y = 0.1 * splash_random (random);
    }
  while (y > x * x * pow (1 - x * x, 3.5));

  return (SplashBody){
    .position = random_direction (random, scale * r),
    .velocity = random_direction (random, sqrt (2 / scale) * x / pow (1 + r * r, 0.25)),
    .mass = 1.0 / self->n,
    .cost = 1,
  };
}

static gpointer
barnes_create (gdouble scale, char **size)
{
  Barnes *self = g_new0 (Barnes, 1);
  guint64 random = 6;
  g_autofree char *part = NULL;

  self->n = MAX ((guint) (USUAL * scale), 200);
  part = splash_part_of_published (self->n, PUBLISHED);
  *size = g_strdup_printf ("%u bodies, %s, %u steps", self->n, part, STEPS);
  self->input = g_new (SplashBody, self->n);
  self->bodies = g_new (SplashBody, self->n);
  splash_tree_init (&self->tree, self->bodies, self->n);
  for (guint i = 0; i < self->n; i++)
    self->input[i] = random_body (self, &random);

  return self;
}

static void
barnes_destroy (gpointer data)
{
  Barnes *self = data;

  splash_locks_free (self->extents_lock);
  g_free (self->input);
  g_free (self->bodies);
  splash_tree_clear (&self->tree);
  g_free (self);
}

static guint
barnes_start (gpointer data, SplashTeam *team)
{
  Barnes *self = data;

  memcpy (self->bodies, self->input, self->n * sizeof *self->input);
  for (guint i = 0; i < STEPS; i++)
    self->extents[i] = (Extent){ self->input[0].position, self->input[0].position };
  splash_locks_free (self->extents_lock);
  self->extents_lock = splash_locks_new (team, 1);
  splash_tree_start (&self->tree, team);

  return STEPS * PHASES_OF_A_STEP;
}

/* --- the extent ------------------------------------------------------------------------------- */

static void
extend (Extent *extent, const Extent *by)
{
  extent->low.x = MIN (extent->low.x, by->low.x);
  extent->low.y = MIN (extent->low.y, by->low.y);
  extent->low.z = MIN (extent->low.z, by->low.z);
  extent->high.x = MAX (extent->high.x, by->high.x);
  extent->high.y = MAX (extent->high.y, by->high.y);
  extent->high.z = MAX (extent->high.z, by->high.z);
}

typedef struct
{
  Extent *all, mine;
} Extension;

static gint
extend_all (gpointer data)
{
  const Extension *what = data;

  extend (what->all, &what->mine);

  return SPLASH_DONE;
}

static void
find_extent (Barnes *self, SplashTeam *team, guint step, guint first, guint end)
{
  Extension what = { &self->extents[step], { { 0, 0, 0 }, { 0, 0, 0 } } };

  for (guint i = first; i < end; i++)
    {
      const Extent one = { self->bodies[i].position, self->bodies[i].position };

      if (i == first)
        what.mine = one;
      extend (&what.mine, &one);
    }
  if (first < end)
    splash_section (team, self->extents_lock, 0, extend_all, &what, sizeof what);
}

static void
plant (Barnes *self, const Extent *all)
{
  SplashVector size = splash_sub (all->high, all->low);
  gdouble half = 0.5001 * MAX (size.x, MAX (size.y, size.z));

  splash_tree_plant (&self->tree, splash_scaled (splash_add (all->low, all->high), 0.5), half);
}

/* --- forces ----------------------------------------------------------------------------------- */

static inline SplashVector
pull (SplashVector d, gdouble mass)
{
  gdouble square = splash_dot (d, d) + SOFTENING * SOFTENING;

  return splash_scaled (d, mass / (square * sqrt (square)));
}

/* The quadrupole's, of a cell at @d. */
static inline SplashVector
pull_of_shape (const SplashCell *c, SplashVector d)
{
  gdouble square = splash_dot (d, d) + SOFTENING * SOFTENING;
  gdouble inverse5 = 1 / (square * square * sqrt (square));
  const SplashVector q = { c->xx * d.x + c->xy * d.y + c->xz * d.z,
                           c->xy * d.x + c->yy * d.y + c->yz * d.z,
                           c->xz * d.x + c->yz * d.y + c->zz * d.z };

  return splash_add (splash_scaled (q, -inverse5),
                     splash_scaled (d, 2.5 * splash_dot (d, q) * inverse5 / square));
}

static void
find_force (Barnes *self, guint body)
{
  SplashBody *b = &self->bodies[body];
  guint stack[STACK], n = 0;

  b->acceleration = (SplashVector){ 0, 0, 0 };
  stack[n++] = 0;
  while (n > 0)
    {
      const SplashCell *c = &self->tree.cells[stack[--n]];
      SplashVector d = splash_sub (c->centre, b->position);

      if (c->mass <= 0)
        continue;
      if (4 * c->half * c->half < ANGLE * ANGLE * splash_dot (d, d))
        {
          b->acceleration = splash_add (b->acceleration,
                                        splash_add (pull (d, c->mass), pull_of_shape (c, d)));
          b->new_cost++;
          continue;
        }
      for (guint i = c->bodies; splash_cell_is_leaf (c) && i != SPLASH_NONE;
           i = self->bodies[i].next)
        {
          d = splash_sub (self->bodies[i].position, b->position);
          b->acceleration = splash_add (b->acceleration, pull (d, self->bodies[i].mass));
          b->new_cost++;
        }
      for (guint i = 0; !splash_cell_is_leaf (c) && i < 8; i++)
        if (splash_cell_child (c, i) != 0)
          stack[n++] = splash_cell_child (c, i);
    }
}

/* A zone: costs from low to high. They are whole numbers, so all parts see the same sums. */
typedef struct
{
  gdouble low, high;
  gdouble before; /* what was passed */
} Zone;

static void
find_forces (Barnes *self, guint cell, Zone *zone)
{
  const SplashCell *c = &self->tree.cells[cell];

  if (zone->before + c->cost <= zone->low || zone->before >= zone->high)
    {
      zone->before += c->cost;
      return;
    }
  for (guint i = c->bodies; splash_cell_is_leaf (c) && i != SPLASH_NONE; i = self->bodies[i].next)
    {
      if (zone->before >= zone->low && zone->before < zone->high)
        find_force (self, i);
      zone->before += self->bodies[i].cost;
    }
  for (guint i = 0; !splash_cell_is_leaf (c) && i < 8; i++)
    if (splash_cell_child (c, i) != 0)
      find_forces (self, splash_cell_child (c, i), zone);
}

static void
find_forces_in_zone (Barnes *self, const SplashTeam *team, guint part)
{
  gdouble cost = self->tree.cells[0].cost, n = splash_team_size (team);
  Zone zone = { cost * part / n, cost * (part + 1) / n, 0 };

  find_forces (self, 0, &zone);
}

static void
move (Barnes *self, guint first, guint end)
{
  for (guint i = first; i < end; i++)
    {
      SplashBody *body = &self->bodies[i];

      body->velocity = splash_add (body->velocity, splash_scaled (body->acceleration, DT));
      body->position = splash_add (body->position, splash_scaled (body->velocity, DT));
      body->cost = body->new_cost;
      body->new_cost = 0;
    }
}

static void
barnes_phase (gpointer data, SplashTeam *team, guint phase, guint part)
{
  Barnes *self = data;
  guint first, end;

  splash_share (team, part, self->n, &first, &end);
  switch (phase % PHASES_OF_A_STEP)
    {
    case PHASE_EXTENT:
      find_extent (self, team, phase / PHASES_OF_A_STEP, first, end);
      break;
    case PHASE_PLANT:
      if (part == 0)
        plant (self, &self->extents[phase / PHASES_OF_A_STEP]);
      break;
    case PHASE_INSERT:
      for (guint i = first; i < end; i++)
        splash_tree_insert (&self->tree, team, i);
      break;
    case PHASE_SUM_UP:
      splash_tree_sum_up (&self->tree, team, part);
      break;
    case PHASE_SUM_UP_TOP:
      if (part == 0)
        splash_tree_sum_up_top (&self->tree);
      break;
    case PHASE_FORCES:
      find_forces_in_zone (self, team, part);
      break;
    default:
      move (self, first, end);
    }
}

/* Bodies have moved since: their way back is known. */
static gboolean
check_forces (const Barnes *self, GError **error)
{
  g_autofree SplashVector *positions = g_new (SplashVector, self->n);
  gdouble errors = 0, forces = 0;

  for (guint i = 0; i < self->n; i++)
    positions[i] = splash_sub (self->bodies[i].position,
                               splash_scaled (self->bodies[i].velocity, DT));
  for (guint i = 0; i < SAMPLES; i++)
    {
      guint body = (guint) ((guint64) self->n * i / SAMPLES);
      SplashVector force = { 0, 0, 0 }, difference;

      for (guint j = 0; j < self->n; j++)
        force = splash_add (
            force, pull (splash_sub (positions[j], positions[body]), self->bodies[j].mass));
      difference = splash_sub (force, self->bodies[body].acceleration);
      errors += splash_dot (difference, difference);
      forces += splash_dot (force, force);
    }
  if (!(sqrt (errors / forces) < TOLERANCE))
    return splash_wrong (error, "forces differ from a direct sum by %.3g of them; %g is expected",
                         sqrt (errors / forces), TOLERANCE);

  return TRUE;
}

static gboolean
barnes_check (gpointer data, GError **error)
{
  const Barnes *self = data;
  guint n_cells = atomic_load_explicit (&self->tree.n_cells, memory_order_relaxed);
  guint64 n = 0;

  for (guint i = 0; i < n_cells; i++)
    n += splash_cell_is_leaf (&self->tree.cells[i]) ? self->tree.cells[i].n : 0;
  if (n != self->n || !(fabs (self->tree.cells[0].mass - 1) < 1e-9))
    return splash_wrong (error,
                         "%" G_GUINT64_FORMAT " of %u bodies are in the tree, of a mass of %g", n,
                         self->n, self->tree.cells[0].mass);
  /* A move takes the new cost over. */
  for (guint i = 0; i < self->n; i++)
    if (self->bodies[i].cost <= 0 || self->bodies[i].new_cost != 0)
      return splash_wrong (error, "body %u was given no force, or was not moved by it", i);

  return check_forces (self, error);
}

const SplashProgram splash_barnes = {
  .name = "barnes",
  .create = barnes_create,
  .destroy = barnes_destroy,
  .start = barnes_start,
  .phase = barnes_phase,
  .check = barnes_check,
};
