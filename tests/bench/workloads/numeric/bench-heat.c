/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Heat diffusion in a cube, by explicit steps in time: each point moves towards its six neighbours.
 * A tile is a few planes of one step.
 *
 * The border is cold and the start is the longest wave, whose end is known on paper: a step
 * multiplies it by 1 - 6 * FLOW * (1 - cos (pi / (size + 1))).
 */
#include "tests/bench/workloads/numeric/bench-numeric.h"
#include "tests/bench/workloads/bench-workload.h"

#include <math.h>
#include <string.h>

#define SIZE      96
#define STEPS     100
#define TILE      2
#define FLOW      0.1 /* of the difference, in one step; stable up to 1/6 */
#define TOLERANCE 1e-9

typedef struct
{
  guint size; /* inner points along an edge */
  guint steps;
  guint tile;  /* planes */
  gsize row;   /* from a point to that in the next row */
  gsize plane; /* and in the next plane */
  gdouble *start;
  gdouble *grids[2]; /* step i reads grid i % 2 and writes the other */
} Heat;

/* Planes first to end of one step. */
G_NO_INLINE static void
step_planes (const Heat *self, guint step, guint first, guint end)
{
  gssize row = (gssize) self->row, plane = (gssize) self->plane;

  for (guint z = first; z < end; z++)
    for (guint y = 0; y < self->size; y++)
      {
        gssize at = (z + 1) * plane + (y + 1) * row;
        const gdouble *from = self->grids[step % 2] + at;
        gdouble *restrict to = self->grids[(step + 1) % 2] + at;

        for (guint x = 1; x <= self->size; x++)
          {
            gdouble around = ((from[x - 1] + from[x + 1]) + (from[x - row] + from[x + row]))
                             + (from[x - plane] + from[x + plane]);

            to[x] = from[x] + FLOW * (around - 6 * from[x]);
          }
      }
}

static void
heat_plain (gpointer problem)
{
  const Heat *self = problem;

  for (guint step = 0; step < self->steps; step++)
    step_planes (self, step, 0, self->size);
}

static guint
heat_n_tiles (gpointer problem, guint phase)
{
  const Heat *self = problem;

  return (self->size + self->tile - 1) / self->tile;
}

static void
heat_tile (gpointer problem, guint phase, guint tile)
{
  const Heat *self = problem;
  guint first = tile * self->tile;

  step_planes (self, phase, first, MIN (first + self->tile, self->size));
}

static gsize
n_points (const Heat *self)
{
  return self->plane * (self->size + 2);
}

static void
heat_restart (gpointer problem)
{
  Heat *self = problem;

  memcpy (self->grids[0], self->start, n_points (self) * sizeof *self->start);
  memset (self->grids[1], 0, n_points (self) * sizeof *self->start);
}

static const gdouble *
heat_values (gpointer problem, gsize *n)
{
  const Heat *self = problem;

  *n = n_points (self);

  return self->grids[self->steps % 2];
}

static gboolean
heat_check (gpointer problem, GError **error)
{
  const Heat *self = problem;
  const gdouble *end = self->grids[self->steps % 2];
  gdouble shrunk = pow (1 - 6 * FLOW * (1 - cos (G_PI / (self->size + 1))), self->steps);

  for (gsize i = 0; i < n_points (self); i++)
    if (fabs (end[i] - self->start[i] * shrunk) > TOLERANCE)
      {
        g_set_error (error, BENCH_ERROR, BENCH_ERROR_RESULT,
                     "point %" G_GSIZE_FORMAT " has %.17g after %u steps, where %.17g was expected",
                     i, end[i], self->steps, self->start[i] * shrunk);
        return FALSE;
      }

  return TRUE;
}

static void
heat_free (gpointer problem)
{
  Heat *self = problem;

  g_free (self->grids[0]);
  g_free (self->grids[1]);
  g_free (self->start);
  g_free (self);
}

static Heat *
heat_new (guint size, guint steps, guint tile)
{
  Heat *self = g_new0 (Heat, 1);
  gdouble h = G_PI / (size + 1);

  *self = (Heat){ .size = size, .steps = steps, .tile = tile, .row = size + 2 };
  self->plane = self->row * self->row;
  self->start = g_new0 (gdouble, n_points (self));
  self->grids[0] = g_new0 (gdouble, n_points (self));
  self->grids[1] = g_new0 (gdouble, n_points (self));
  for (guint z = 1; z <= size; z++)
    for (guint y = 1; y <= size; y++)
      for (guint x = 1; x <= size; x++)
        self->start[z * self->plane + y * self->row + x] = sin (x * h) * sin (y * h) * sin (z * h);

  return self;
}

static gboolean
plan (BenchResult *result, const BenchOptions *options, GError **error)
{
  guint size = bench_choose (options, options->size, SIZE, 4);
  guint steps = bench_choose (options, options->steps, STEPS, 2);
  guint tile = options->tile != 0 ? options->tile : TILE;
  Heat *self = heat_new (size, steps, tile);
  BenchNumeric numeric = {
    .problem = self,
    .free = heat_free,
    .restart = heat_restart,
    .plain = heat_plain,
    .phases = { self, steps, heat_n_tiles, heat_tile },
    .values = heat_values,
    .check_plain = heat_check,
  };

  bench_result_set_title (result, "%u steps over %u x %u x %u points, tiles of %u planes", steps,
                          size, size, size, tile);

  return bench_numeric_plan (result, options, &numeric, error);
}

const BenchWorkload bench_workload_heat = {
  .name = "heat",
  .summary = "heat diffusion in a cube, against plain C",
  .plan = plan,
};
