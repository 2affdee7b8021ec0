/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * SparseMatMult: a vector times a matrix with 250,000 numbers at random places in 50,000 rows
 * (B: 500,000 in 100,000), added up 200 times. The numbers are sorted by row, and a tile is a range
 * of rows, as in the suite: it needs no other tile's sums, so it does all 200 rounds at once.
 */
#include "tests/bench/workloads/grande/bench-grande.h"
#include "tests/bench/workloads/grande/bench-java-random.h"

#include <string.h>

#define N_ROUNDS  200
#define LARGEST   1e-6 /* of the vector */
#define TOLERANCE 1e-10

typedef struct
{
  guint n; /* rows, and columns */
  guint filled;
  guint parts;
  guint *first;          /* of a row; one more than rows */
  guint *rows, *columns; /* of each number */
  gdouble *numbers, *x, *y;
} Sparse;

static guint
sparse_n_phases (gpointer problem)
{
  return 1;
}

static guint
sparse_n_tiles (gpointer problem, guint phase)
{
  const Sparse *self = problem;

  return self->parts;
}

static void
sparse_tile (gpointer problem, guint phase, guint tile)
{
  Sparse *self = problem;
  guint first = self->first[bench_grande_first (self->n, tile, self->parts)];
  guint end = self->first[bench_grande_first (self->n, tile + 1, self->parts)];

  for (guint round = 0; round < N_ROUNDS; round++)
    for (guint i = first; i < end; i++)
      self->y[self->rows[i]] += self->x[self->columns[i]] * self->numbers[i];
}

static void
sparse_restart (gpointer problem)
{
  Sparse *self = problem;

  memset (self->y, 0, self->n * sizeof *self->y);
}

/* A row counts once for each of its numbers, as in the suite. */
static gboolean
check_total (const Sparse *self, GError **error)
{
  static const BenchGrandeValue published[] = { { 50000, 75.02484945753453 },
                                                { 100000, 150.0130719633895 },
                                                { 500000, 749.5245870753752 } };
  gdouble sum = 0, expected;

  if (!bench_grande_published (published, G_N_ELEMENTS (published), self->n, &expected))
    return TRUE;
  for (guint i = 0; i < self->filled; i++)
    sum += self->y[self->rows[i]];

  return bench_grande_expect ("the total", sum, expected, TOLERANCE, error);
}

static gboolean
sparse_check (gpointer problem, GError **error)
{
  const Sparse *self = problem;

  for (guint row = 0; row < self->n; row++)
    {
      gdouble product = 0;

      for (guint i = self->first[row]; i < self->first[row + 1]; i++)
        product += self->x[self->columns[i]] * self->numbers[i];
      if (!bench_grande_expect ("a row's sum", self->y[row], N_ROUNDS * product, TOLERANCE, error))
        return FALSE;
    }

  return check_total (self, error);
}

static gconstpointer
sparse_result (gpointer problem, gsize *size)
{
  const Sparse *self = problem;

  *size = self->n * sizeof *self->y;

  return self->y;
}

static guint
random_index (BenchJavaRandom *random, guint n)
{
  gint64 number = bench_java_random_int (random);

  return (guint) ABS (number) % n;
}

/* Numbers of one row keep their order. */
static void
sort (Sparse *self, const guint *rows, const guint *columns, const gdouble *numbers)
{
  g_autofree guint *next = NULL;

  for (guint i = 0; i < self->filled; i++)
    self->first[rows[i] + 1]++;
  for (guint row = 0; row < self->n; row++)
    self->first[row + 1] += self->first[row];
  next = g_memdup2 (self->first, self->n * sizeof *next);
  for (guint i = 0; i < self->filled; i++)
    {
      guint at = next[rows[i]]++;

      self->rows[at] = rows[i];
      self->columns[at] = columns[i];
      self->numbers[at] = numbers[i];
    }
}

static void
fill (Sparse *self)
{
  BenchJavaRandom random = bench_java_random (10101010);
  g_autofree guint *rows = g_new (guint, self->filled), *columns = g_new (guint, self->filled);
  g_autofree gdouble *numbers = g_new (gdouble, self->filled);

  for (guint i = 0; i < self->n; i++)
    self->x[i] = bench_java_random_double (&random) * LARGEST;
  for (guint i = 0; i < self->filled; i++)
    {
      rows[i] = random_index (&random, self->n);
      columns[i] = random_index (&random, self->n);
      numbers[i] = bench_java_random_double (&random);
    }
  sort (self, rows, columns, numbers);
}

static gpointer
sparse_create (const BenchGrandeSize *size)
{
  Sparse *self = g_new0 (Sparse, 1);

  self->n = bench_grande_scale (size, 50000, 100000, 16);
  self->filled = 5 * self->n;
  self->parts = MIN (size->parts, self->n);
  self->first = g_new0 (guint, self->n + 1);
  self->rows = g_new (guint, self->filled);
  self->columns = g_new (guint, self->filled);
  self->numbers = g_new (gdouble, self->filled);
  self->x = g_new (gdouble, self->n);
  self->y = g_new (gdouble, self->n);
  fill (self);

  return self;
}

static void
sparse_free (gpointer problem)
{
  Sparse *self = problem;

  g_free (self->first);
  g_free (self->rows);
  g_free (self->columns);
  g_free (self->numbers);
  g_free (self->x);
  g_free (self->y);
  g_free (self);
}

const BenchGrandeKernel bench_grande_sparse = {
  .name = "sparsematmult",
  .create = sparse_create,
  .free = sparse_free,
  .restart = sparse_restart,
  .n_phases = sparse_n_phases,
  .n_tiles = sparse_n_tiles,
  .tile = sparse_tile,
  .result = sparse_result,
  .check = sparse_check,
};
