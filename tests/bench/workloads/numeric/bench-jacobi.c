/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Jacobi's method for Laplace's equation in a square: each point becomes the mean of its four
 * neighbours, sweep after sweep, from one grid into another. A tile is a few rows of one sweep.
 *
 * The border is zero and the start a random one plus the longest wave, sin (x) sin (y). Only that
 * wave is known on paper: a sweep multiplies it by cos (pi / (size + 1)), so the run is checked by
 * its share of the result, which is found by projection, since waves are orthogonal.
 */
#include "tests/bench/workloads/numeric/bench-numeric.h"
#include "tests/bench/workloads/bench-workload.h"

#include <math.h>
#include <string.h>

#define SIZE      1024
#define STEPS     100
#define TILE      16
#define TOLERANCE 1e-9

typedef struct
{
  guint size; /* inner points in a row */
  guint steps;
  guint tile; /* rows */
  gsize pitch;
  gdouble *start;
  gdouble *grids[2]; /* sweep i reads grid i % 2 and writes the other */
} Jacobi;

/* Rows first to end of one sweep. */
G_NO_INLINE static void
sweep_rows (const Jacobi *self, guint step, guint first, guint end)
{
  gssize pitch = (gssize) self->pitch;

  for (guint y = first; y < end; y++)
    {
      const gdouble *from = self->grids[step % 2] + (y + 1) * pitch;
      gdouble *restrict to = self->grids[(step + 1) % 2] + (y + 1) * pitch;

      for (guint x = 1; x <= self->size; x++)
        to[x] = 0.25 * ((from[x - pitch] + from[x + pitch]) + (from[x - 1] + from[x + 1]));
    }
}

static void
jacobi_plain (gpointer problem)
{
  const Jacobi *self = problem;

  for (guint step = 0; step < self->steps; step++)
    sweep_rows (self, step, 0, self->size);
}

static guint
jacobi_n_tiles (gpointer problem, guint phase)
{
  const Jacobi *self = problem;

  return (self->size + self->tile - 1) / self->tile;
}

static void
jacobi_tile (gpointer problem, guint phase, guint tile)
{
  const Jacobi *self = problem;
  guint first = tile * self->tile;

  sweep_rows (self, phase, first, MIN (first + self->tile, self->size));
}

static gsize
n_points (const Jacobi *self)
{
  return self->pitch * (self->size + 2);
}

static void
jacobi_restart (gpointer problem)
{
  Jacobi *self = problem;

  memcpy (self->grids[0], self->start, n_points (self) * sizeof *self->start);
  memset (self->grids[1], 0, n_points (self) * sizeof *self->start);
}

static const gdouble *
jacobi_values (gpointer problem, gsize *n)
{
  const Jacobi *self = problem;

  *n = n_points (self);

  return self->grids[self->steps % 2];
}

/* The longest wave's share of a grid, up to a factor. */
static gdouble
project (const Jacobi *self, const gdouble *grid)
{
  gdouble h = G_PI / (self->size + 1), sum = 0;

  for (guint y = 1; y <= self->size; y++)
    for (guint x = 1; x <= self->size; x++)
      sum += grid[y * self->pitch + x] * sin (x * h) * sin (y * h);

  return sum;
}

static gboolean
jacobi_check (gpointer problem, GError **error)
{
  const Jacobi *self = problem;
  gdouble shrunk = pow (cos (G_PI / (self->size + 1)), self->steps);
  gdouble expected = project (self, self->start) * shrunk;
  gdouble found = project (self, self->grids[self->steps % 2]);

  if (fabs (found - expected) <= TOLERANCE * fabs (expected))
    return TRUE;
  g_set_error (error, BENCH_ERROR, BENCH_ERROR_RESULT,
               "the longest wave is %.17g after %u sweeps, where %.17g was expected", found,
               self->steps, expected);

  return FALSE;
}

static void
jacobi_free (gpointer problem)
{
  Jacobi *self = problem;

  g_free (self->grids[0]);
  g_free (self->grids[1]);
  g_free (self->start);
  g_free (self);
}

static Jacobi *
jacobi_new (guint size, guint steps, guint tile)
{
  Jacobi *self = g_new0 (Jacobi, 1);
  gdouble h = G_PI / (size + 1);

  *self = (Jacobi){ .size = size, .steps = steps, .tile = tile, .pitch = size + 2 };
  self->start = g_new0 (gdouble, n_points (self));
  self->grids[0] = g_new0 (gdouble, n_points (self));
  self->grids[1] = g_new0 (gdouble, n_points (self));
  bench_fill_random (self->start, n_points (self));
  for (guint y = 0; y < size + 2; y++)
    for (guint x = 0; x < size + 2; x++)
      {
        gdouble *point = &self->start[y * self->pitch + x];
        gboolean inside = x > 0 && x <= size && y > 0 && y <= size;

        *point = inside ? *point + sin (x * h) * sin (y * h) : 0;
      }

  return self;
}

static gboolean
plan (BenchResult *result, const BenchOptions *options, GError **error)
{
  guint size = bench_choose (options, options->size, SIZE, 8);
  guint steps = bench_choose (options, options->steps, STEPS, 2);
  guint tile = options->tile != 0 ? options->tile : TILE;
  Jacobi *self = jacobi_new (size, steps, tile);
  BenchNumeric numeric = {
    .problem = self,
    .free = jacobi_free,
    .restart = jacobi_restart,
    .plain = jacobi_plain,
    .phases = { self, steps, jacobi_n_tiles, jacobi_tile },
    .values = jacobi_values,
    .check_plain = jacobi_check,
  };

  bench_result_set_title (result, "%u sweeps over %u x %u points, tiles of %u rows", steps, size,
                          size, tile);

  return bench_numeric_plan (result, options, &numeric, error);
}

const BenchWorkload bench_workload_jacobi = {
  .name = "jacobi",
  .summary = "Laplace's equation in a square, against plain C",
  .plan = plan,
};
