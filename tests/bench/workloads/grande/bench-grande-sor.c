/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * SOR: 100 sweeps of successive over-relaxation over 1000 x 1000 (B: 1500 x 1500) points, by 1.25.
 * The points are coloured like a chessboard: a phase relaxes those of one colour, which depend only
 * on those of the other. A tile is a few rows.
 */
#include "tests/bench/workloads/grande/bench-grande.h"
#include "tests/bench/workloads/grande/bench-java-random.h"

#define N_SWEEPS  100
#define OMEGA     1.25
#define LARGEST   1e-6 /* of the random start */
#define TOLERANCE 1e-12

typedef struct
{
  guint n; /* points in a row, with the border, which stays */
  guint parts;
  gdouble *points;
} Sor;

static inline void
relax_row (gdouble *restrict row, guint n, guint first)
{
  const gdouble *above = row - n, *below = row + n;

  for (guint x = first; x < n - 1; x += 2)
    row[x] = OMEGA / 4 * (above[x] + below[x] + row[x - 1] + row[x + 1]) + (1 - OMEGA) * row[x];
}

static guint
sor_n_phases (gpointer problem)
{
  return 2 * N_SWEEPS;
}

static guint
sor_n_tiles (gpointer problem, guint phase)
{
  const Sor *self = problem;

  return self->parts;
}

static void
sor_tile (gpointer problem, guint phase, guint tile)
{
  Sor *self = problem;
  guint inner = self->n - 2;
  guint end = 1 + bench_grande_first (inner, tile + 1, self->parts);

  for (guint y = 1 + bench_grande_first (inner, tile, self->parts); y < end; y++)
    relax_row (self->points + (gsize) y * self->n, self->n, 1 + (y + 1 + phase) % 2);
}

static void
fill (const Sor *self, gdouble *points)
{
  BenchJavaRandom random = bench_java_random (10101010);

  for (gsize i = 0; i < (gsize) self->n * self->n; i++)
    points[i] = bench_java_random_double (&random) * LARGEST;
}

static void
sor_restart (gpointer problem)
{
  const Sor *self = problem;

  fill (self, self->points);
}

static gdouble
total (const Sor *self, const gdouble *points)
{
  gdouble sum = 0;

  for (guint y = 1; y < self->n - 1; y++)
    for (guint x = 1; x < self->n - 1; x++)
      sum += points[(gsize) y * self->n + x];

  return sum;
}

/* The same, point by point as the method is described, for sizes without a published value. */
static gdouble
total_by_hand (const Sor *self)
{
  gsize n = self->n;
  g_autofree gdouble *points = g_new (gdouble, n * n);

  fill (self, points);
  for (guint half = 0; half < 2 * N_SWEEPS; half++)
    for (gsize i = n; i < n * n - n; i++)
      if (i % n != 0 && i % n != n - 1 && (i / n + i % n) % 2 == half % 2)
        {
          gdouble mean = (points[i - n] + points[i + n] + points[i - 1] + points[i + 1]) / 4;

          points[i] += OMEGA * (mean - points[i]);
        }

  return total (self, points);
}

static gboolean
sor_check (gpointer problem, GError **error)
{
  static const BenchGrandeValue published[] = { { 1000, 0.498574406322512 },
                                                { 1500, 1.1234778980135105 },
                                                { 2000, 1.9954895063582696 } };
  const Sor *self = problem;
  gdouble expected;

  if (!bench_grande_published (published, G_N_ELEMENTS (published), self->n, &expected))
    expected = total_by_hand (self);

  return bench_grande_expect ("the total", total (self, self->points), expected, TOLERANCE, error);
}

static gconstpointer
sor_result (gpointer problem, gsize *size)
{
  const Sor *self = problem;

  *size = (gsize) self->n * self->n * sizeof *self->points;

  return self->points;
}

static gpointer
sor_create (const BenchGrandeSize *size)
{
  Sor *self = g_new0 (Sor, 1);

  self->n = bench_grande_scale (size, 1000, 1500, 16);
  self->parts = MIN (size->parts, self->n - 2);
  self->points = g_new (gdouble, (gsize) self->n * self->n);

  return self;
}

static void
sor_free (gpointer problem)
{
  Sor *self = problem;

  g_free (self->points);
  g_free (self);
}

const BenchGrandeKernel bench_grande_sor = {
  .name = "sor",
  .create = sor_create,
  .free = sor_free,
  .restart = sor_restart,
  .n_phases = sor_n_phases,
  .n_tiles = sor_n_tiles,
  .tile = sor_tile,
  .result = sor_result,
  .check = sor_check,
};
