/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Two grids of points of which a sweep reads one and writes the other: Jacobi's method for
 * Laplace's equation in a square, where each point becomes the mean of its four neighbours, and
 * heat diffusion in a cube, where each point moves towards its six neighbours. A tile is a few rows
 * of one sweep, or a few planes.
 *
 * The border is zero. The longest wave is known on paper: a sweep of Jacobi's multiplies
 * sin (x) sin (y) by cos (pi / (size + 1)), so its share of the result, which is found by
 * projection since waves are orthogonal, checks a random start plus that wave; a step of heat
 * multiplies the wave, which is its whole start, by 1 - 6 * FLOW * (1 - cos (pi / (size + 1))).
 */
#include "tests/bench/workloads/numeric/bench-numeric.h"
#include "tests/bench/workloads/bench-workload.h"

#include <math.h>
#include <string.h>

#define FLOW      0.1 /* of the difference, in one step of heat; stable up to 1/6 */
#define TOLERANCE 1e-9

typedef struct _Grid Grid;

struct _Grid
{
  guint size; /* inner points along an edge */
  guint steps;
  guint tile;  /* rows or planes */
  gsize row;   /* from a point to that in the next row */
  gsize plane; /* and in the next plane; of a square, all of its points */
  gsize n;     /* points */
  gdouble h;   /* pi / (size + 1) */
  gdouble *start;
  gdouble *grids[2]; /* sweep i reads grid i % 2 and writes the other */
  /* Rows or planes first to end of one sweep. */
  void (*sweep) (const Grid *self, guint step, guint first, guint end);
};

/* One row. A function, because only so does `restrict` hold, and an index of the pointers' width:
 * the compiler uses vectors only with both. */
static inline void
jacobi_row (gdouble *restrict to, const gdouble *from, gsize row, gsize size)
{
  const gdouble *above = from - row, *below = from + row, *left = from - 1, *right = from + 1;

  for (gsize x = 0; x < size; x++)
    to[x] = 0.25 * ((above[x] + below[x]) + (left[x] + right[x]));
}

BENCH_KERNEL
sweep_rows (const Grid *self, guint step, guint first, guint end)
{
  for (gsize y = first; y < end; y++)
    {
      gsize at = (y + 1) * self->row + 1;

      jacobi_row (self->grids[(step + 1) % 2] + at, self->grids[step % 2] + at, self->row,
                  self->size);
    }
}

static inline void
heat_row (gdouble *restrict to, const gdouble *from, gsize row, gsize plane, gsize size)
{
  const gdouble *above = from - row, *below = from + row;
  const gdouble *before = from - plane, *behind = from + plane;
  const gdouble *left = from - 1, *right = from + 1;

  for (gsize x = 0; x < size; x++)
    {
      gdouble around = ((left[x] + right[x]) + (above[x] + below[x])) + (before[x] + behind[x]);

      to[x] = from[x] + FLOW * (around - 6 * from[x]);
    }
}

BENCH_KERNEL
sweep_planes (const Grid *self, guint step, guint first, guint end)
{
  for (gsize z = first; z < end; z++)
    for (gsize y = 0; y < self->size; y++)
      {
        gsize at = (z + 1) * self->plane + (y + 1) * self->row + 1;

        heat_row (self->grids[(step + 1) % 2] + at, self->grids[step % 2] + at, self->row,
                  self->plane, self->size);
      }
}

static void
grid_plain (gpointer problem)
{
  const Grid *self = problem;

  for (guint step = 0; step < self->steps; step++)
    self->sweep (self, step, 0, self->size);
}

static guint
grid_n_tiles (gpointer problem, guint phase)
{
  const Grid *self = problem;

  return (self->size + self->tile - 1) / self->tile;
}

static void
grid_tile (gpointer problem, guint phase, guint tile)
{
  const Grid *self = problem;
  guint first = tile * self->tile;

  self->sweep (self, phase, first, MIN (first + self->tile, self->size));
}

static void
grid_restart (gpointer problem)
{
  Grid *self = problem;

  memcpy (self->grids[0], self->start, self->n * sizeof *self->start);
  memset (self->grids[1], 0, self->n * sizeof *self->start);
}

static const gdouble *
grid_values (gpointer problem, gsize *n)
{
  const Grid *self = problem;

  *n = self->n;

  return self->grids[self->steps % 2];
}

static void
grid_free (gpointer problem)
{
  Grid *self = problem;

  g_aligned_free (self->grids[0]);
  g_aligned_free (self->grids[1]);
  g_aligned_free (self->start);
  g_free (self);
}

static Grid *
grid_new (const BenchOptions *options, guint n_dimensions, guint size, guint steps, guint tile)
{
  Grid *self = g_new0 (Grid, 1);

  self->size = bench_choose (options, options->size, size, n_dimensions == 2 ? 8 : 4);
  self->steps = bench_choose (options, options->steps, steps, 2);
  self->tile = options->tile != 0 ? options->tile : tile;
  self->row = self->size + 2;
  self->plane = self->row * self->row;
  self->n = n_dimensions == 2 ? self->plane : self->plane * self->row;
  self->h = G_PI / (self->size + 1);
  self->start = bench_numbers_new (self->n);
  self->grids[0] = bench_numbers_new (self->n);
  self->grids[1] = bench_numbers_new (self->n);

  return self;
}

static gboolean
grid_plan (BenchResult *result,
           const BenchOptions *options,
           Grid *self,
           gboolean (*check) (gpointer problem, GError **error),
           GError **error)
{
  BenchNumeric numeric = {
    .problem = self,
    .free = grid_free,
    .restart = grid_restart,
    .plain = grid_plain,
    .phases = { self, self->steps, grid_n_tiles, grid_tile },
    .values = grid_values,
    .check_plain = check,
  };

  return bench_numeric_plan (result, options, &numeric, error);
}

/* --- Jacobi ----------------------------------------------------------------------------------- */

/* The longest wave's share of a grid, up to a factor. */
static gdouble
project (const Grid *self, const gdouble *grid)
{
  gdouble sum = 0;

  for (guint y = 1; y <= self->size; y++)
    for (guint x = 1; x <= self->size; x++)
      sum += grid[y * self->row + x] * sin (x * self->h) * sin (y * self->h);

  return sum;
}

static gboolean
jacobi_check (gpointer problem, GError **error)
{
  const Grid *self = problem;
  gdouble shrunk = pow (cos (self->h), self->steps);
  gdouble expected = project (self, self->start) * shrunk;
  gdouble found = project (self, self->grids[self->steps % 2]);

  if (fabs (found - expected) <= TOLERANCE * fabs (expected))
    return TRUE;
  g_set_error (error, BENCH_ERROR, BENCH_ERROR_RESULT,
               "the longest wave is %.17g after %u sweeps, where %.17g was expected", found,
               self->steps, expected);

  return FALSE;
}

static gboolean
plan_jacobi (BenchResult *result, const BenchOptions *options, GError **error)
{
  Grid *self = grid_new (options, 2, 1024, 100, 16);

  self->sweep = sweep_rows;
  bench_fill_random (self->start, self->n);
  for (guint y = 0; y < self->size + 2; y++)
    for (guint x = 0; x < self->size + 2; x++)
      {
        gdouble *point = &self->start[y * self->row + x];
        gboolean inside = x > 0 && x <= self->size && y > 0 && y <= self->size;

        *point = inside ? *point + sin (x * self->h) * sin (y * self->h) : 0;
      }
  bench_result_set_title (result, "%u sweeps over %u x %u points, tiles of %u rows", self->steps,
                          self->size, self->size, self->tile);

  return grid_plan (result, options, self, jacobi_check, error);
}

const BenchWorkload bench_workload_jacobi = {
  .name = "jacobi",
  .summary = "Laplace's equation in a square, against plain C",
  .plan = plan_jacobi,
};

/* --- heat ------------------------------------------------------------------------------------- */

static gboolean
heat_check (gpointer problem, GError **error)
{
  const Grid *self = problem;
  const gdouble *end = self->grids[self->steps % 2];
  gdouble shrunk = pow (1 - 6 * FLOW * (1 - cos (self->h)), self->steps);

  for (gsize i = 0; i < self->n; i++)
    if (fabs (end[i] - self->start[i] * shrunk) > TOLERANCE)
      {
        g_set_error (error, BENCH_ERROR, BENCH_ERROR_RESULT,
                     "point %" G_GSIZE_FORMAT " has %.17g after %u steps, where %.17g was expected",
                     i, end[i], self->steps, self->start[i] * shrunk);
        return FALSE;
      }

  return TRUE;
}

static gboolean
plan_heat (BenchResult *result, const BenchOptions *options, GError **error)
{
  Grid *self = grid_new (options, 3, 96, 100, 2);
  gdouble h = self->h;

  self->sweep = sweep_planes;
  for (guint z = 1; z <= self->size; z++)
    for (guint y = 1; y <= self->size; y++)
      for (guint x = 1; x <= self->size; x++)
        self->start[z * self->plane + y * self->row + x] = sin (x * h) * sin (y * h) * sin (z * h);
  bench_result_set_title (result, "%u steps over %u x %u x %u points, tiles of %u planes",
                          self->steps, self->size, self->size, self->size, self->tile);

  return grid_plan (result, options, self, heat_check, error);
}

const BenchWorkload bench_workload_heat = {
  .name = "heat",
  .summary = "heat diffusion in a cube, against plain C",
  .plan = plan_heat,
};
