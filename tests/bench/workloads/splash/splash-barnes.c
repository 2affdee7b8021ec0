/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Barnes: gravity of bodies in a globular cluster (Plummer's model), by a tree of cubes.
 *
 * A step: the parts find the extent of all bodies under a lock; the upper three levels of the tree
 * are laid out; each part inserts its bodies, under the lock of one of the 512 subtrees; masses,
 * centres and quadrupoles go upwards; each part computes the forces in its zone, which is a run of
 * bodies in the order of the tree that had its share of the interactions in the last step; the
 * bodies move. A cube that is seen under less than an angle of one is taken as a whole.
 *
 * Source: J. Barnes, P. Hut, "A Hierarchical O(N log N) Force-Calculation Algorithm", Nature 324,
 * 1986; zones by cost: J. P. Singh, C. Holt, T. Totsuka, A. Gupta, J. Hennessy, "Load Balancing and
 * Data Locality in Adaptive Hierarchical N-Body Methods", J. Par. Distr. Comp. 27, 1995; the model:
 * S. J. Aarseth, M. Hénon, R. Wielen, Astron. Astrophys. 37, 1974.
 *
 * Check: every body is in the tree once and was given a force, and the forces on a sample are those
 * of a direct sum, within the method's error.
 */
#include "tests/bench/workloads/splash/splash.h"

#include <stdatomic.h>

#define PUBLISHED 92000
#define USUAL     46000
#define STEPS     2
#define DT        0.025
#define SOFTENING 0.05
#define ANGLE     1.0
#define TOP       3 /* levels that are laid out */
#define SUBTREES  512
#define IN_A_LEAF 8
#define SMALLEST  1e-9 /* leaves are not split further, as part of the root */
#define STACK     1024
#define SAMPLES   24
#define TOLERANCE 0.02 /* root mean square of the relative errors */

enum
{
  PHASE_EXTENT,
  PHASE_TOP,
  PHASE_INSERT,
  PHASE_MOMENTS,
  PHASE_TOP_MOMENTS,
  PHASE_FORCES,
  PHASE_MOVE,
  PHASES_OF_A_STEP,
};

typedef struct
{
  SplashVector position, velocity, acceleration;
  gdouble mass;
  gdouble cost, new_cost; /* interactions of the last step, and of this one */
  guint next;             /* in the leaf; NONE */
} Body;

#define NONE G_MAXUINT

typedef struct
{
  SplashVector middle; /* of the cube */
  gdouble half;        /* of its edge */
  SplashVector centre; /* of mass */
  gdouble mass, cost;
  gdouble xx, xy, xz, yy, yz, zz; /* quadrupole */
  gboolean is_leaf;
  guint n, bodies;   /* a leaf's */
  guint children[8]; /* 0: none, as the root is no child */
} Cell;

typedef struct
{
  SplashVector low, high;
} Extent;

typedef struct
{
  guint n;
  Body *input, *bodies;
  guint max_cells;
  atomic_uint n_cells;
  Cell *cells;
  guint subtrees[SUBTREES]; /* cells */
  guint n_subtrees;
  Extent extents[STEPS]; /* under their lock */
  SplashLocks *locks;    /* of the subtrees, and of the extents */
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
static Body
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

  return (Body){
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

  self->n = MAX ((guint) (USUAL * scale), 200);
  *size = g_strdup_printf ("%u bodies (1/%.4g), %u steps", self->n, (gdouble) PUBLISHED / self->n,
                           STEPS);
  self->input = g_new (Body, self->n);
  self->bodies = g_new (Body, self->n);
  self->max_cells = 2 * self->n + 2 * SUBTREES;
  self->cells = g_new (Cell, self->max_cells);
  for (guint i = 0; i < self->n; i++)
    self->input[i] = random_body (self, &random);

  return self;
}

static void
barnes_destroy (gpointer data)
{
  Barnes *self = data;

  splash_locks_free (self->locks);
  g_free (self->input);
  g_free (self->bodies);
  g_free (self->cells);
  g_free (self);
}

static guint
barnes_start (gpointer data, SplashTeam *team)
{
  Barnes *self = data;

  for (guint i = 0; i < self->n; i++)
    self->bodies[i] = self->input[i];
  for (guint i = 0; i < STEPS; i++)
    self->extents[i] = (Extent){ self->input[0].position, self->input[0].position };
  splash_locks_free (self->locks);
  self->locks = splash_locks_new (team, SUBTREES + 1);

  return STEPS * PHASES_OF_A_STEP;
}

/* --- the tree --------------------------------------------------------------------------------- */

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

static void
extend_all (gpointer data)
{
  const Extension *what = data;

  extend (what->all, &what->mine);
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
    splash_section (team, self->locks, SUBTREES, extend_all, &what, sizeof what);
}

static guint
octant_of (const Cell *cell, SplashVector position)
{
  return (position.x >= cell->middle.x) | (guint) (position.y >= cell->middle.y) << 1
         | (guint) (position.z >= cell->middle.z) << 2;
}

static guint
add_cell (Barnes *self, SplashVector middle, gdouble half)
{
  /* Only the number counts: each cell is another's. */
  guint i = atomic_fetch_add_explicit (&self->n_cells, 1, memory_order_relaxed);

  if (i >= self->max_cells)
    g_error ("barnes: more than %u cells for %u bodies", self->max_cells, self->n);
  self->cells[i] = (Cell){
    .middle = middle, .half = half, .is_leaf = TRUE, .n = 0, .bodies = NONE
  };

  return i;
}

static guint
add_child (Barnes *self, guint parent, guint octant)
{
  const Cell *cell = &self->cells[parent];
  gdouble half = cell->half / 2;
  const SplashVector to_child = { octant & 1 ? half : -half, octant & 2 ? half : -half,
                                  octant & 4 ? half : -half };

  return self->cells[parent].children[octant] = add_cell (self, splash_add (cell->middle, to_child),
                                                          half);
}

static void
lay_out (Barnes *self, guint cell, guint level)
{
  if (level == TOP)
    {
      self->subtrees[self->n_subtrees++] = cell;
      return;
    }
  self->cells[cell].is_leaf = FALSE;
  for (guint i = 0; i < 8; i++)
    lay_out (self, add_child (self, cell, i), level + 1);
}

static void
lay_out_top (Barnes *self, guint step)
{
  Extent all = self->extents[step];
  SplashVector size = splash_sub (all.high, all.low);
  gdouble half = 0.5001 * MAX (size.x, MAX (size.y, size.z));

  atomic_store_explicit (&self->n_cells, 0, memory_order_relaxed);
  self->n_subtrees = 0;
  lay_out (self, add_cell (self, splash_scaled (splash_add (all.low, all.high), 0.5), half), 0);
}

static void
insert (Barnes *self, guint cell, guint body)
{
  for (;;)
    {
      Cell *c = &self->cells[cell];
      guint octant = octant_of (c, self->bodies[body].position);

      if (!c->is_leaf)
        cell = c->children[octant] != 0 ? c->children[octant] : add_child (self, cell, octant);
      else if (c->n < IN_A_LEAF || c->half < SMALLEST * self->cells[0].half)
        {
          self->bodies[body].next = c->bodies;
          c->bodies = body;
          c->n++;
          return;
        }
      else
        {
          c->is_leaf = FALSE;
          for (guint i = c->bodies, next; i != NONE; i = next)
            {
              next = self->bodies[i].next;
              insert (self, cell, i);
            }
        }
    }
}

typedef struct
{
  Barnes *self;
  guint subtree, body;
} Insertion;

static void
insert_one (gpointer data)
{
  const Insertion *what = data;

  insert (what->self, what->self->subtrees[what->subtree], what->body);
}

static void
insert_all (Barnes *self, SplashTeam *team, guint first, guint end)
{
  for (guint i = first; i < end; i++)
    {
      Insertion what = { self, 0, i };
      guint cell = 0;

      for (guint level = 0; level < TOP; level++)
        {
          guint octant = octant_of (&self->cells[cell], self->bodies[i].position);

          what.subtree = what.subtree * 8 + octant;
          cell = self->cells[cell].children[octant];
        }
      splash_section (team, self->locks, what.subtree, insert_one, &what, sizeof what);
    }
}

/* A mass at @d from the centre, which has a quadrupole of its own if it is a cell. */
static void
add_quadrupole (Cell *cell, SplashVector d, gdouble mass, const Cell *of)
{
  gdouble square = splash_dot (d, d);

  cell->xx += mass * (3 * d.x * d.x - square) + (of != NULL ? of->xx : 0);
  cell->xy += mass * 3 * d.x * d.y + (of != NULL ? of->xy : 0);
  cell->xz += mass * 3 * d.x * d.z + (of != NULL ? of->xz : 0);
  cell->yy += mass * (3 * d.y * d.y - square) + (of != NULL ? of->yy : 0);
  cell->yz += mass * 3 * d.y * d.z + (of != NULL ? of->yz : 0);
  cell->zz += mass * (3 * d.z * d.z - square) + (of != NULL ? of->zz : 0);
}

/* Those of a cell, whose children have theirs. */
static void
sum_up (Barnes *self, Cell *cell)
{
  for (guint i = cell->bodies; cell->is_leaf && i != NONE; i = self->bodies[i].next)
    {
      const Body *body = &self->bodies[i];

      cell->centre = splash_add (cell->centre, splash_scaled (body->position, body->mass));
      cell->mass += body->mass;
      cell->cost += body->cost;
    }
  for (guint i = 0; !cell->is_leaf && i < 8; i++)
    if (cell->children[i] != 0)
      {
        const Cell *child = &self->cells[cell->children[i]];

        cell->centre = splash_add (cell->centre, splash_scaled (child->centre, child->mass));
        cell->mass += child->mass;
        cell->cost += child->cost;
      }
  if (cell->mass > 0)
    cell->centre = splash_scaled (cell->centre, 1 / cell->mass);
  for (guint i = cell->bodies; cell->is_leaf && i != NONE; i = self->bodies[i].next)
    add_quadrupole (cell, splash_sub (self->bodies[i].position, cell->centre), self->bodies[i].mass,
                    NULL);
  for (guint i = 0; !cell->is_leaf && i < 8; i++)
    if (cell->children[i] != 0)
      {
        const Cell *child = &self->cells[cell->children[i]];

        add_quadrupole (cell, splash_sub (child->centre, cell->centre), child->mass, child);
      }
}

/* Of the cells below @cell, and of it; those at level @until have theirs. */
static void
find_moments (Barnes *self, guint cell, guint level, guint until)
{
  Cell *c = &self->cells[cell];

  if (level == until)
    return;
  for (guint i = 0; !c->is_leaf && i < 8; i++)
    if (c->children[i] != 0)
      find_moments (self, c->children[i], level + 1, until);
  sum_up (self, c);
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
pull_of_shape (const Cell *c, SplashVector d)
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
  Body *b = &self->bodies[body];
  guint stack[STACK], n = 0;

  b->acceleration = (SplashVector){ 0, 0, 0 };
  stack[n++] = 0;
  while (n > 0)
    {
      const Cell *c = &self->cells[stack[--n]];
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
      for (guint i = c->bodies; c->is_leaf && i != NONE; i = self->bodies[i].next)
        {
          d = splash_sub (self->bodies[i].position, b->position);
          b->acceleration = splash_add (b->acceleration, pull (d, self->bodies[i].mass));
          b->new_cost++;
        }
      for (guint i = 0; !c->is_leaf && i < 8; i++)
        if (c->children[i] != 0)
          stack[n++] = c->children[i];
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
  const Cell *c = &self->cells[cell];

  if (zone->before + c->cost <= zone->low || zone->before >= zone->high)
    {
      zone->before += c->cost;
      return;
    }
  for (guint i = c->bodies; c->is_leaf && i != NONE; i = self->bodies[i].next)
    {
      if (zone->before >= zone->low && zone->before < zone->high)
        find_force (self, i);
      zone->before += self->bodies[i].cost;
    }
  for (guint i = 0; !c->is_leaf && i < 8; i++)
    if (c->children[i] != 0)
      find_forces (self, c->children[i], zone);
}

static void
find_forces_in_zone (Barnes *self, const SplashTeam *team, guint part)
{
  gdouble cost = self->cells[0].cost, n = splash_team_size (team);
  Zone zone = { cost * part / n, cost * (part + 1) / n, 0 };

  find_forces (self, 0, &zone);
}

static void
move (Barnes *self, guint first, guint end)
{
  for (guint i = first; i < end; i++)
    {
      Body *body = &self->bodies[i];

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
    case PHASE_TOP:
      if (part == 0)
        lay_out_top (self, phase / PHASES_OF_A_STEP);
      break;
    case PHASE_INSERT:
      insert_all (self, team, first, end);
      break;
    case PHASE_MOMENTS:
      for (guint i = part; i < SUBTREES; i += splash_team_size (team))
        find_moments (self, self->subtrees[i], TOP, G_MAXUINT);
      break;
    case PHASE_TOP_MOMENTS:
      if (part == 0)
        find_moments (self, 0, 0, TOP);
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
  gdouble sum = 0;

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
      sum += splash_dot (difference, difference) / splash_dot (force, force);
    }
  if (!(sqrt (sum / SAMPLES) < TOLERANCE))
    return splash_wrong (error, "forces differ from a direct sum by %.3g of them; %g is expected",
                         sqrt (sum / SAMPLES), TOLERANCE);

  return TRUE;
}

static gboolean
barnes_check (gpointer data, GError **error)
{
  const Barnes *self = data;
  guint n_cells = atomic_load_explicit (&self->n_cells, memory_order_relaxed);
  guint64 n = 0;

  for (guint i = 0; i < n_cells; i++)
    n += self->cells[i].is_leaf ? self->cells[i].n : 0;
  if (n != self->n || !(fabs (self->cells[0].mass - 1) < 1e-9))
    return splash_wrong (error,
                         "%" G_GUINT64_FORMAT " of %u bodies are in the tree, of a mass of %g", n,
                         self->n, self->cells[0].mass);
  for (guint i = 0; i < self->n; i++)
    if (self->bodies[i].cost <= 0)
      return splash_wrong (error, "body %u was given no force", i);

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
