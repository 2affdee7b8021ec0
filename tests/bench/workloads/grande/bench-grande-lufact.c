/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * LUFact: a system of 500 (B: 1000) linear equations, solved as LINPACK does (J. J. Dongarra et
 * al., LINPACK Users' Guide, 1979): by columns, with partial pivoting.
 *
 * A phase subtracts multiples of one column from all columns behind it; a tile is a range of these.
 * The tile that has the first of them then finds the pivot of that column, for the next phase; the
 * others do not read it. The last phase solves the triangles. The residual is checked, against the
 * suite's limit.
 */
#include "tests/bench/workloads/grande/bench-grande.h"

#include <float.h>
#include <math.h>

#define LEAST 16 /* columns of a tile */

typedef struct
{
  guint n;
  guint parts;
  gdouble limit;               /* of the residual */
  gdouble *columns, *solution; /* of the right side, then of the unknowns */
  guint *pivots;
} Lufact;

static inline gdouble *
column_at (const Lufact *self, guint column)
{
  return self->columns + (gsize) column * self->n;
}

static inline void
swap (gdouble *column, guint a, guint b)
{
  gdouble value = column[a];

  column[a] = column[b];
  column[b] = value;
}

/* to += factor * from, from first on */
static inline void
add_scaled (gdouble *restrict to, const gdouble *from, gdouble factor, guint first, guint n)
{
  for (guint i = first; i < n; i++)
    to[i] += factor * from[i];
}

/* The largest number on or below the diagonal comes up, and those below become its multipliers. */
static void
find_pivot (Lufact *self, guint k)
{
  gdouble *column = column_at (self, k), factor;
  guint pivot = k;

  for (guint i = k + 1; i < self->n; i++)
    if (fabs (column[i]) > fabs (column[pivot]))
      pivot = i;
  self->pivots[k] = pivot;
  swap (column, k, pivot);
  factor = -1 / column[k];
  for (guint i = k + 1; i < self->n; i++)
    column[i] *= factor;
}

static void
subtract_column (const Lufact *self, guint k, guint behind)
{
  gdouble *column = column_at (self, behind);

  swap (column, k, self->pivots[k]);
  add_scaled (column, column_at (self, k), column[k], k + 1, self->n);
}

static void
solve (const Lufact *self)
{
  gdouble *x = self->solution;

  for (guint k = 0; k < self->n; k++)
    {
      swap (x, k, self->pivots[k]);
      add_scaled (x, column_at (self, k), x[k], k + 1, self->n);
    }
  for (guint k = self->n; k > 0; k--)
    {
      const gdouble *column = column_at (self, k - 1);

      x[k - 1] /= column[k - 1];
      add_scaled (x, column, -x[k - 1], 0, k - 1);
    }
}

static guint
lufact_n_phases (gpointer problem)
{
  const Lufact *self = problem;

  return self->n + 1;
}

/* Phase 0 finds the first pivot, phase k uses column k - 1, the last one solves. */
static guint
lufact_n_tiles (gpointer problem, guint phase)
{
  const Lufact *self = problem;

  if (phase == 0 || phase == self->n)
    return 1;

  return CLAMP ((self->n - phase) / LEAST, 1, self->parts);
}

static void
lufact_tile (gpointer problem, guint phase, guint tile)
{
  Lufact *self = problem;
  guint behind = self->n - phase, parts = lufact_n_tiles (problem, phase);

  if (phase == self->n)
    {
      solve (self);
      return;
    }
  if (phase > 0)
    for (guint i = bench_grande_first (behind, tile, parts);
         i < bench_grande_first (behind, tile + 1, parts); i++)
      subtract_column (self, phase - 1, phase + i);
  if (tile == 0)
    find_pivot (self, phase);
}

/* Numbers of LINPACK's own generator, and the sum of each row: all unknowns are one. Returns the
 * largest number. */
static gdouble
fill (const Lufact *self, gdouble *columns, gdouble *right)
{
  gint state = 1325;
  gdouble largest = 0;

  for (guint i = 0; i < self->n; i++)
    right[i] = 0;
  for (guint column = 0; column < self->n; column++)
    for (guint i = 0; i < self->n; i++)
      {
        gdouble number;

        state = 3125 * state % 65536;
        number = (state - 32768) / 16384.0;
        columns[(gsize) column * self->n + i] = number;
        right[i] += number;
        largest = MAX (largest, number);
      }

  return largest;
}

static void
lufact_restart (gpointer problem)
{
  Lufact *self = problem;

  fill (self, self->columns, self->solution);
}

static gboolean
lufact_check (gpointer problem, GError **error)
{
  const Lufact *self = problem;
  guint n = self->n;
  g_autofree gdouble *columns = g_new (gdouble, (gsize) n * n), *rest = g_new (gdouble, n);
  gdouble largest = fill (self, columns, rest), largest_x = 0, largest_rest = 0, residual;

  for (guint column = 0; column < n; column++)
    {
      add_scaled (rest, columns + (gsize) column * n, -self->solution[column], 0, n);
      largest_x = MAX (largest_x, fabs (self->solution[column]));
    }
  for (guint i = 0; i < n; i++)
    largest_rest = MAX (largest_rest, fabs (rest[i]));
  residual = largest_rest / (n * largest * largest_x * DBL_EPSILON);

  return bench_grande_expect ("the residual", residual, 0, self->limit, error);
}

static gconstpointer
lufact_result (gpointer problem, gsize *size)
{
  const Lufact *self = problem;

  *size = self->n * sizeof *self->solution;

  return self->solution;
}

static gpointer
lufact_create (const BenchGrandeSize *size)
{
  Lufact *self = g_new0 (Lufact, 1);

  self->n = bench_grande_scale (size, 500, 1000, 16);
  self->parts = size->parts;
  self->limit = size->letter == 'A' ? 6 : 12;
  self->columns = g_new (gdouble, (gsize) self->n * self->n);
  self->solution = g_new (gdouble, self->n);
  self->pivots = g_new (guint, self->n);

  return self;
}

static void
lufact_free (gpointer problem)
{
  Lufact *self = problem;

  g_free (self->columns);
  g_free (self->solution);
  g_free (self->pivots);
  g_free (self);
}

const BenchGrandeKernel bench_grande_lufact = {
  .name = "lufact",
  .create = lufact_create,
  .free = lufact_free,
  .restart = lufact_restart,
  .n_phases = lufact_n_phases,
  .n_tiles = lufact_n_tiles,
  .tile = lufact_tile,
  .result = lufact_result,
  .check = lufact_check,
};
