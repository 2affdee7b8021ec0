/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * LU decomposition in blocks, in place, without pivoting: the matrix is diagonally dominant.
 *
 * A step k has three phases: the block on the diagonal is decomposed; the blocks below and to the
 * right of it are solved with it; and their products are subtracted from all blocks behind. A tile
 * is one block. A block is stored in one piece, so that a tile works on memory of its own.
 *
 * The run is checked by multiplying L and U with a vector, and comparing with the matrix itself.
 */
#include "tests/bench/workloads/numeric/bench-numeric.h"
#include "tests/bench/workloads/bench-workload.h"

#include <math.h>
#include <string.h>

#define SIZE      768
#define TILE      32
#define TOLERANCE 1e-9

typedef struct
{
  guint n; /* blocks in a row */
  guint b; /* rows of a block */
  gdouble *start;
  gdouble *blocks;
} Lud;

static inline gdouble *
block_at (const Lud *self, guint row, guint column)
{
  return self->blocks + ((gsize) row * self->n + column) * self->b * self->b;
}

/* A row takes a multiple of another. A function, and an index of the pointers' width: only with
 * both can the compiler use vectors. */
static inline void
subtract_row (gdouble *restrict to, const gdouble *restrict from, gdouble factor, gsize n)
{
  for (gsize j = 0; j < n; j++)
    to[j] -= factor * from[j];
}

/* A = L U, of which L's diagonal is one and goes without saying. */
BENCH_KERNEL
decompose (const Lud *self, guint k)
{
  gdouble *a = block_at (self, k, k);
  gsize b = self->b;

  for (gsize p = 0; p < b; p++)
    for (gsize i = p + 1; i < b; i++)
      {
        gdouble factor = a[i * b + p] /= a[p * b + p];

        subtract_row (&a[i * b + p + 1], &a[p * b + p + 1], factor, b - p - 1);
      }
}

/* To the right of the diagonal: L X = A. */
BENCH_KERNEL
solve_right (const Lud *self, guint k, guint column)
{
  const gdouble *diagonal = block_at (self, k, k);
  gdouble *a = block_at (self, k, column);
  gsize b = self->b;

  for (gsize p = 0; p < b; p++)
    for (gsize i = p + 1; i < b; i++)
      subtract_row (&a[i * b], &a[p * b], diagonal[i * b + p], b);
}

/* Below the diagonal: X U = A. */
BENCH_KERNEL
solve_below (const Lud *self, guint k, guint row)
{
  const gdouble *diagonal = block_at (self, k, k);
  gdouble *a = block_at (self, row, k);
  gsize b = self->b;

  for (gsize i = 0; i < b; i++)
    for (gsize p = 0; p < b; p++)
      {
        gdouble factor = a[i * b + p] /= diagonal[p * b + p];

        subtract_row (&a[i * b + p + 1], &diagonal[p * b + p + 1], factor, b - p - 1);
      }
}

BENCH_KERNEL
subtract (const Lud *self, guint k, guint row, guint column)
{
  const gdouble *left = block_at (self, row, k);
  const gdouble *above = block_at (self, k, column);
  gdouble *a = block_at (self, row, column);
  gsize b = self->b;

  for (gsize i = 0; i < b; i++)
    for (gsize p = 0; p < b; p++)
      subtract_row (&a[i * b], &above[p * b], left[i * b + p], b);
}

static void
lud_plain (gpointer problem)
{
  const Lud *self = problem;

  for (guint k = 0; k < self->n; k++)
    {
      decompose (self, k);
      for (guint i = k + 1; i < self->n; i++)
        {
          solve_right (self, k, i);
          solve_below (self, k, i);
        }
      for (guint row = k + 1; row < self->n; row++)
        for (guint column = k + 1; column < self->n; column++)
          subtract (self, k, row, column);
    }
}

/* The last step has a diagonal alone, hence the count of phases: 3 * (n - 1) + 1. */
static guint
lud_n_tiles (gpointer problem, guint phase)
{
  const Lud *self = problem;
  guint behind = self->n - 1 - phase / 3;
  const guint n_tiles[] = { 1, 2 * behind, behind * behind };

  return n_tiles[phase % 3];
}

static void
lud_tile (gpointer problem, guint phase, guint tile)
{
  const Lud *self = problem;
  guint k = phase / 3, behind = self->n - 1 - k;

  switch (phase % 3)
    {
    case 0:
      decompose (self, k);
      break;
    case 1:
      if (tile < behind)
        solve_right (self, k, k + 1 + tile);
      else
        solve_below (self, k, k + 1 + tile - behind);
      break;
    default:
      subtract (self, k, k + 1 + tile / behind, k + 1 + tile % behind);
    }
}

static gsize
n_numbers (const Lud *self)
{
  return (gsize) self->n * self->n * self->b * self->b;
}

static void
lud_restart (gpointer problem)
{
  Lud *self = problem;

  memcpy (self->blocks, self->start, n_numbers (self) * sizeof *self->start);
}

static const gdouble *
lud_values (gpointer problem, gsize *n)
{
  const Lud *self = problem;

  *n = n_numbers (self);

  return self->blocks;
}

static gdouble
number_at (const Lud *self, const gdouble *blocks, guint row, guint column)
{
  guint b = self->b;

  return blocks[(((gsize) (row / b) * self->n + column / b) * b + row % b) * b + column % b];
}

/* Compares L (U x) with A x. */
static gboolean
lud_check (gpointer problem, GError **error)
{
  const Lud *self = problem;
  guint size = self->n * self->b;
  g_autofree gdouble *x = g_new (gdouble, size), *ux = g_new0 (gdouble, size);

  bench_fill_random (x, size);
  for (guint i = 0; i < size; i++)
    for (guint j = i; j < size; j++)
      ux[i] += number_at (self, self->blocks, i, j) * x[j];
  for (guint i = 0; i < size; i++)
    {
      gdouble found = ux[i], expected = 0;

      for (guint j = 0; j < i; j++)
        found += number_at (self, self->blocks, i, j) * ux[j];
      for (guint j = 0; j < size; j++)
        expected += number_at (self, self->start, i, j) * x[j];
      if (fabs (found - expected) > TOLERANCE * size)
        {
          g_set_error (error, BENCH_ERROR, BENCH_ERROR_RESULT,
                       "row %u of L U x is %.17g, that of A x is %.17g", i, found, expected);
          return FALSE;
        }
    }

  return TRUE;
}

static void
lud_free (gpointer problem)
{
  Lud *self = problem;

  g_aligned_free (self->start);
  g_aligned_free (self->blocks);
  g_free (self);
}

static Lud *
lud_new (guint n, guint b)
{
  Lud *self = g_new0 (Lud, 1);

  *self = (Lud){ .n = n, .b = b };
  self->start = bench_numbers_new (n_numbers (self));
  self->blocks = bench_numbers_new (n_numbers (self));
  bench_fill_random (self->start, n_numbers (self));
  for (guint block = 0; block < n; block++)
    for (guint i = 0; i < b; i++)
      self->start[(((gsize) block * n + block) * b + i) * b + i] += n * b;

  return self;
}

static gboolean
plan (BenchResult *result, const BenchOptions *options, GError **error)
{
  guint b = options->tile != 0 ? options->tile : TILE;
  guint size = bench_choose (options, options->size, SIZE, 2 * b);
  Lud *self = lud_new ((size + b - 1) / b, b);
  BenchNumeric numeric = {
    .problem = self,
    .free = lud_free,
    .restart = lud_restart,
    .plain = lud_plain,
    .phases = { self, 3 * (self->n - 1) + 1, lud_n_tiles, lud_tile },
    .values = lud_values,
    .check_plain = lud_check,
  };

  bench_result_set_title (result, "a matrix of %u x %u, blocks of %u x %u", self->n * b,
                          self->n * b, b, b);

  return bench_numeric_plan (result, options, &numeric, error);
}

const BenchWorkload bench_workload_lud = {
  .name = "lud",
  .summary = "LU decomposition in blocks, against plain C",
  .plan = plan,
};
