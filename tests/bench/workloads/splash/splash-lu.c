/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * LU: factors a dense matrix in blocks of 16, in place, without pivoting: the matrix is diagonally
 * dominant.
 *
 * A step k has three phases: the block on the diagonal is factored; the blocks below and to the
 * right of it are divided by it; their products are subtracted from the blocks behind. Parts own
 * blocks as a grid of parts is laid over the matrix again and again. "lu-cont" stores each block in
 * one piece, "lu-noncont" the matrix by rows, so that a block's rows lie apart.
 *
 * Source: S. C. Woo, J. P. Singh, J. L. Hennessy, "The Performance Advantages of Integrating Block
 * Data Transfer in Cache-Coherent Multiprocessors", ASPLOS 1994; G. H. Golub, C. F. Van Loan,
 * "Matrix Computations", on block LU.
 *
 * Check: L (U x) is A x, for a vector of random numbers.
 */
#include "tests/bench/workloads/splash/splash.h"

#include <string.h>

#define PUBLISHED 2048
#define USUAL     2048
#define B         16u
#define TOLERANCE 1e-12 /* of the sum of a row's magnitudes */

typedef struct
{
  guint n; /* blocks in a row */
  gboolean is_contiguous;
  guint rows, columns; /* of the grid of parts */
  gdouble *input;
  gdouble *matrix;
} Lu;

/* Where a block starts, and how far its rows are apart. */
static inline gdouble *
block_at (const Lu *self, guint row, guint column)
{
  return self->is_contiguous ? self->matrix + ((gsize) row * self->n + column) * B * B
                             : self->matrix + (gsize) row * B * self->n * B + column * B;
}

static inline gsize
stride_of (const Lu *self)
{
  return self->is_contiguous ? B : (gsize) self->n * B;
}

static inline gdouble
number_at (const Lu *self, const gdouble *numbers, guint row, guint column)
{
  gdouble *block = block_at (self, row / B, column / B);

  return numbers[(gsize) (block - self->matrix) + row % B * stride_of (self) + column % B];
}

static Lu *
lu_create (gboolean is_contiguous, gdouble scale, char **size)
{
  Lu *self = g_new0 (Lu, 1);
  guint64 random = 3;
  g_autofree char *part = NULL;
  gsize n_numbers;

  /* Work grows with the third power. */
  self->n = MAX ((guint) (USUAL * cbrt (scale)), 4 * B) / B;
  self->is_contiguous = is_contiguous;
  n_numbers = (gsize) self->n * self->n * B * B;
  part = splash_part_of_published (self->n * B, PUBLISHED);
  *size = g_strdup_printf ("%u rows, %s", self->n * B, part);
  self->input = g_new (gdouble, n_numbers);
  self->matrix = g_new (gdouble, n_numbers);
  for (gsize i = 0; i < n_numbers; i++)
    self->input[i] = 2 * splash_random (&random) - 1;
  for (guint i = 0; i < self->n; i++)
    for (guint j = 0; j < B; j++)
      self->input[block_at (self, i, i) - self->matrix + (gssize) (j * stride_of (self) + j)] +=
          self->n * B;

  return self;
}

static gpointer
lu_cont_create (gdouble scale, char **size)
{
  return lu_create (TRUE, scale, size);
}

static gpointer
lu_noncont_create (gdouble scale, char **size)
{
  return lu_create (FALSE, scale, size);
}

static void
lu_destroy (gpointer data)
{
  Lu *self = data;

  g_free (self->input);
  g_free (self->matrix);
  g_free (self);
}

/* The last step has a block on the diagonal alone. */
static guint
lu_start (gpointer data, SplashTeam *team)
{
  Lu *self = data;
  guint n_parts = splash_team_size (team);

  memcpy (self->matrix, self->input, (gsize) self->n * self->n * B * B * sizeof *self->matrix);
  /* The grid is as square as the number of parts allows. */
  for (self->rows = (guint) sqrt (n_parts); n_parts % self->rows != 0; self->rows--)
    ;
  self->columns = n_parts / self->rows;

  return 3 * (self->n - 1) + 1;
}

static void
factor (gdouble *a, gsize stride)
{
  for (guint p = 0; p < B; p++)
    for (guint i = p + 1; i < B; i++)
      {
        gdouble multiple = a[i * stride + p] /= a[p * stride + p];

        for (guint j = p + 1; j < B; j++)
          a[i * stride + j] -= multiple * a[p * stride + j];
      }
}

/* To the right of the diagonal: L X = A. */
static void
divide_right (const gdouble *diagonal, gdouble *restrict a, gsize stride)
{
  for (guint p = 0; p < B; p++)
    for (guint i = p + 1; i < B; i++)
      for (guint j = 0; j < B; j++)
        a[i * stride + j] -= diagonal[i * stride + p] * a[p * stride + j];
}

/* Below the diagonal: X U = A. */
static void
divide_below (const gdouble *diagonal, gdouble *restrict a, gsize stride)
{
  for (guint i = 0; i < B; i++)
    for (guint p = 0; p < B; p++)
      {
        gdouble multiple = a[i * stride + p] /= diagonal[p * stride + p];

        for (guint j = p + 1; j < B; j++)
          a[i * stride + j] -= multiple * diagonal[p * stride + j];
      }
}

static void
subtract (const gdouble *left, const gdouble *above, gdouble *restrict a, gsize stride)
{
  for (guint i = 0; i < B; i++)
    for (guint p = 0; p < B; p++)
      for (guint j = 0; j < B; j++)
        a[i * stride + j] -= left[i * stride + p] * above[p * stride + j];
}

static inline gboolean
is_own (const Lu *self, guint part, guint row, guint column)
{
  return row % self->rows * self->columns + column % self->columns == part;
}

static void
divide_all (const Lu *self, guint part, guint k)
{
  const gdouble *diagonal = block_at (self, k, k);

  for (guint i = k + 1; i < self->n; i++)
    {
      if (is_own (self, part, k, i))
        divide_right (diagonal, block_at (self, k, i), stride_of (self));
      if (is_own (self, part, i, k))
        divide_below (diagonal, block_at (self, i, k), stride_of (self));
    }
}

static void
subtract_all (const Lu *self, guint part, guint k)
{
  for (guint row = k + 1; row < self->n; row++)
    for (guint column = k + 1; column < self->n; column++)
      if (is_own (self, part, row, column))
        subtract (block_at (self, row, k), block_at (self, k, column), block_at (self, row, column),
                  stride_of (self));
}

static void
lu_phase (gpointer data, SplashTeam *team, guint phase, guint part)
{
  const Lu *self = data;
  guint k = phase / 3;

  switch (phase % 3)
    {
    case 0:
      if (is_own (self, part, k, k))
        factor (block_at (self, k, k), stride_of (self));
      break;
    case 1:
      divide_all (self, part, k);
      break;
    default:
      subtract_all (self, part, k);
    }
}

static gboolean
lu_check (gpointer data, GError **error)
{
  const Lu *self = data;
  guint n = self->n * B;
  g_autofree gdouble *x = g_new (gdouble, n), *ux = g_new0 (gdouble, n);
  guint64 random = 4;

  for (guint i = 0; i < n; i++)
    x[i] = 2 * splash_random (&random) - 1;
  for (guint i = 0; i < n; i++)
    for (guint j = i; j < n; j++)
      ux[i] += number_at (self, self->matrix, i, j) * x[j];
  for (guint i = 0; i < n; i++)
    {
      gdouble found = ux[i], expected = 0;

      for (guint j = 0; j < i; j++)
        found += number_at (self, self->matrix, i, j) * ux[j];
      for (guint j = 0; j < n; j++)
        expected += number_at (self, self->input, i, j) * x[j];
      if (!(fabs (found - expected) < TOLERANCE * 2 * n))
        return splash_wrong (error, "row %u of L U x is %.17g, that of A x is %.17g", i, found,
                             expected);
    }

  return TRUE;
}

const SplashProgram splash_lu_cont = {
  .name = "lu-cont",
  .create = lu_cont_create,
  .destroy = lu_destroy,
  .start = lu_start,
  .phase = lu_phase,
  .check = lu_check,
};

const SplashProgram splash_lu_noncont = {
  .name = "lu-noncont",
  .create = lu_noncont_create,
  .destroy = lu_destroy,
  .start = lu_start,
  .phase = lu_phase,
  .check = lu_check,
};
