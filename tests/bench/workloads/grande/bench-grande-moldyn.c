/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * MolDyn: 50 steps of 2,048 (B: 8,788) particles of a Lennard-Jones fluid in a cube that repeats
 * itself, in the units of that fluid, by the velocity form of Verlet's method.
 *
 * A step moves the particles, finds the force of each pair and adds the forces up; a phase each.
 * As in the suite, a tile of the second one takes every so many-th particle with all particles
 * behind it, and has an array of forces of its own; these are added up in their order. So the same
 * split comes to the same numbers, however its tiles are scheduled, and another split to others in
 * the last bits.
 */
#include "tests/bench/workloads/grande/bench-grande.h"

#include <math.h>
#include <string.h>

#define N_STEPS     50
#define DENSITY     0.83134
#define TEMPERATURE 0.722
#define STEP        0.064 /* of time */
#define RESCALED    10    /* the step after which velocities are brought to the temperature */
#define TOLERANCE   1e-9  /* last bits grow from step to step */
#define DRIFT       1e-9  /* of the momentum, which is zero */
#define N_AXES      3

typedef struct
{
  gdouble kinetic, potential, virial;
} Sums;

typedef struct
{
  guint edge; /* cells of the lattice of the start */
  guint n;    /* particles, four of a cell */
  guint parts;
  gdouble side, reach; /* of the cube, of the force */
  gdouble *places, *velocities, *forces;
  gdouble *own; /* forces that each tile found */
  Sums *sums;   /* of each tile */
} Moldyn;

typedef enum
{
  MOVE,
  PAIRS,
  ADD_UP,
  N_KINDS,
} Kind;

/* --- the start -------------------------------------------------------------------------------- */

/* The factor and modulus of Park and Miller (1988); but the suite cuts the product to 31 bits
 * first, and its values depend on that. */
static gdouble
next_random (gint64 *state)
{
  *state = *state * 16807 % (G_GINT64_CONSTANT (1) << 31) % G_MAXINT32;

  return 4.656612875e-10 * *state;
}

static void
fill_velocities (Moldyn *self)
{
  gint64 state = 1;

  for (guint axis = 0; axis < N_AXES; axis++)
    for (guint i = 0; i < self->n; i += 2)
      {
        gdouble x, y, square, factor;

        do
          {
            x = 2 * next_random (&state) - 1;
            y = 2 * next_random (&state) - 1;
            square = x * x + y * y;
          }
        while (square >= 1);
        factor = sqrt (-2 * log (square) / square);
        self->velocities[N_AXES * i + axis] = factor * x;
        self->velocities[N_AXES * (i + 1) + axis] = factor * y;
      }
}

static void
scale_velocities (Moldyn *self, gdouble factor)
{
  for (guint i = 0; i < N_AXES * self->n; i++)
    self->velocities[i] *= factor;
}

/* What turns kinetic energy into temperature. */
static gdouble
per_energy (const Moldyn *self)
{
  return 16.0 / (self->n - 1.0);
}

/* Without momentum, at the temperature. */
static void
calm (Moldyn *self)
{
  gdouble energy = 0;

  for (guint axis = 0; axis < N_AXES; axis++)
    {
      gdouble mean = 0;

      for (guint i = 0; i < self->n; i++)
        mean += self->velocities[N_AXES * i + axis];
      mean /= self->n;
      for (guint i = 0; i < self->n; i++)
        {
          gdouble *velocity = &self->velocities[N_AXES * i + axis];

          *velocity -= mean;
          energy += *velocity * *velocity;
        }
    }
  scale_velocities (self, STEP * sqrt (TEMPERATURE / (per_energy (self) * energy)));
}

/* A cubic lattice with a particle at each corner and in the middle of each face. */
static void
fill_places (Moldyn *self)
{
  static const guint8 halves[][N_AXES] = { { 0, 0, 0 }, { 1, 1, 0 }, { 1, 0, 1 }, { 0, 1, 1 } };
  gdouble cell = self->side / self->edge, *place = self->places;

  for (guint which = 0; which < G_N_ELEMENTS (halves); which++)
    for (guint i = 0; i < self->edge; i++)
      for (guint j = 0; j < self->edge; j++)
        for (guint k = 0; k < self->edge; k++)
          {
            *place++ = i * cell + halves[which][0] * cell * 0.5;
            *place++ = j * cell + halves[which][1] * cell * 0.5;
            *place++ = k * cell + halves[which][2] * cell * 0.5;
          }
}

static void
moldyn_restart (gpointer problem)
{
  Moldyn *self = problem;

  fill_places (self);
  fill_velocities (self);
  calm (self);
  memset (self->forces, 0, N_AXES * self->n * sizeof *self->forces);
  memset (self->sums, 0, self->parts * sizeof *self->sums);
}

/* --- a step ----------------------------------------------------------------------------------- */

static gdouble
kinetic_energy (const Moldyn *self)
{
  gdouble energy = 0;

  for (guint i = 0; i < self->parts; i++)
    energy += self->sums[i].kinetic;

  return energy / (STEP * STEP);
}

/* By velocity and half of the force; the other half comes when the new force is known. */
static void
move (Moldyn *self, guint step, guint first, guint end)
{
  gdouble factor = step == RESCALED
                       ? sqrt (TEMPERATURE / (per_energy (self) * kinetic_energy (self)))
                       : 1;

  for (guint i = N_AXES * first; i < N_AXES * end; i++)
    {
      self->velocities[i] *= factor;
      self->places[i] += self->velocities[i] + self->forces[i];
      if (self->places[i] < 0)
        self->places[i] += self->side;
      if (self->places[i] > self->side)
        self->places[i] -= self->side;
      self->velocities[i] += self->forces[i];
    }
}

/* Of all the images of a particle, the one that is nearest. */
static inline gdouble
nearest (gdouble distance, gdouble side)
{
  if (distance < -0.5 * side)
    distance += side;
  if (distance > 0.5 * side)
    distance -= side;

  return distance;
}

static void
add_pairs (const Moldyn *self, guint i, gdouble *forces, Sums *sums)
{
  const gdouble *at = self->places + N_AXES * i;
  gdouble own[N_AXES] = { 0 };

  for (guint j = i + 1; j < self->n; j++)
    {
      const gdouble *other = self->places + N_AXES * j;
      gdouble x = nearest (at[0] - other[0], self->side);
      gdouble y = nearest (at[1] - other[1], self->side);
      gdouble z = nearest (at[2] - other[2], self->side);
      gdouble square = x * x + y * y + z * z, r2, r4, r6, strength;

      if (square > self->reach * self->reach)
        continue;
      r2 = 1 / square;
      r4 = r2 * r2;
      r6 = r2 * r4;
      strength = r6 * r6 * r2 - 0.5 * (r4 * r4);
      sums->potential += r6 * r6 - r6;
      sums->virial -= square * strength;
      own[0] += x * strength;
      own[1] += y * strength;
      own[2] += z * strength;
      forces[N_AXES * j] -= x * strength;
      forces[N_AXES * j + 1] -= y * strength;
      forces[N_AXES * j + 2] -= z * strength;
    }
  for (guint axis = 0; axis < N_AXES; axis++)
    forces[N_AXES * i + axis] += own[axis];
}

static void
find_forces (Moldyn *self, guint tile)
{
  gdouble *forces = self->own + (gsize) tile * N_AXES * self->n;
  Sums sums = { 0 };

  memset (forces, 0, N_AXES * self->n * sizeof *forces);
  for (guint i = tile; i < self->n; i += self->parts)
    add_pairs (self, i, forces, &sums);
  self->sums[tile] = sums;
}

static void
add_forces (Moldyn *self, guint tile, guint first, guint end)
{
  gdouble energy = 0;

  for (guint i = N_AXES * first; i < N_AXES * end; i++)
    {
      gdouble force = 0;

      for (guint part = 0; part < self->parts; part++)
        force += self->own[(gsize) part * N_AXES * self->n + i];
      self->forces[i] = force * (STEP * STEP * 0.5);
      self->velocities[i] += self->forces[i];
      energy += self->velocities[i] * self->velocities[i];
    }
  self->sums[tile].kinetic = energy;
}

static guint
moldyn_n_phases (gpointer problem)
{
  return N_KINDS * N_STEPS;
}

static guint
moldyn_n_tiles (gpointer problem, guint phase)
{
  const Moldyn *self = problem;

  return self->parts;
}

static void
moldyn_tile (gpointer problem, guint phase, guint tile)
{
  Moldyn *self = problem;
  guint first = bench_grande_first (self->n, tile, self->parts);
  guint end = bench_grande_first (self->n, tile + 1, self->parts);

  switch (phase % N_KINDS)
    {
    case MOVE:
      move (self, phase / N_KINDS, first, end);
      break;
    case PAIRS:
      find_forces (self, tile);
      break;
    default:
      add_forces (self, tile, first, end);
    }
}

/* --- the problem ------------------------------------------------------------------------------ */

/* No step makes momentum. Returns whether that is so, and the kinetic energy. */
static gboolean
check_momentum (const Moldyn *self, gdouble *energy, GError **error)
{
  *energy = 0;
  for (guint axis = 0; axis < N_AXES; axis++)
    {
      gdouble momentum = 0;

      for (guint i = 0; i < self->n; i++)
        {
          gdouble velocity = self->velocities[N_AXES * i + axis];

          momentum += velocity;
          *energy += velocity * velocity;
        }
      if (!bench_grande_expect ("the momentum", momentum, 0, DRIFT, error))
        return FALSE;
    }
  *energy /= STEP * STEP;

  return TRUE;
}

static gboolean
moldyn_check (gpointer problem, GError **error)
{
  static const BenchGrandeValue published[] = { { 8, 1731.4306625334357 },
                                                { 13, 7397.392307839352 } };
  const Moldyn *self = problem;
  gdouble found = kinetic_energy (self), energy, expected;

  if (!check_momentum (self, &energy, error)
      || !bench_grande_expect ("the sum of kinetic energies", found, energy, TOLERANCE * energy,
                               error))
    return FALSE;

  return !bench_grande_published (published, G_N_ELEMENTS (published), self->edge, &expected)
         || bench_grande_expect ("the kinetic energy", 24 * found, expected, TOLERANCE, error);
}

static gpointer
moldyn_create (const BenchGrandeSize *size)
{
  Moldyn *self = g_new0 (Moldyn, 1);

  self->edge = bench_grande_scale (size, 8, 13, 4);
  self->n = 4 * self->edge * self->edge * self->edge;
  /* A tile pays for its array of forces. */
  self->parts = MAX (size->parts / 4, 1);
  self->side = pow (self->n / DENSITY, 0.3333333);
  self->reach = self->edge / 4.0;
  self->places = g_new (gdouble, N_AXES * self->n);
  self->velocities = g_new (gdouble, N_AXES * self->n);
  self->forces = g_new (gdouble, N_AXES * self->n);
  self->own = g_new (gdouble, (gsize) self->parts * N_AXES * self->n);
  self->sums = g_new (Sums, self->parts);

  return self;
}

static void
moldyn_free (gpointer problem)
{
  Moldyn *self = problem;

  g_free (self->places);
  g_free (self->velocities);
  g_free (self->forces);
  g_free (self->own);
  g_free (self->sums);
  g_free (self);
}

const BenchGrandeKernel bench_grande_moldyn = {
  .name = "moldyn",
  .create = moldyn_create,
  .free = moldyn_free,
  .restart = moldyn_restart,
  .n_phases = moldyn_n_phases,
  .n_tiles = moldyn_n_tiles,
  .tile = moldyn_tile,
  .check = moldyn_check,
};
