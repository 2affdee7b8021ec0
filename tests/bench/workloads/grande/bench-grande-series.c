/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Series: the first 10,000 (B: 100,000) pairs of Fourier coefficients of (x + 1)^x in [0, 2], each
 * integrated by the trapezoidal rule over 1,000 intervals. A tile is a range of pairs.
 *
 * The four pairs that are published hold for every size. The suite's rule adds up one inner point
 * too few, and they are those of that sum; so is this.
 */
#include "tests/bench/workloads/grande/bench-grande.h"

#include <math.h>
#include <string.h>

#define END         2.0
#define N_INTERVALS 1000
#define N_INNER     (N_INTERVALS - 2)
#define TOLERANCE   1e-12

typedef struct
{
  guint n; /* pairs */
  guint parts;
  gdouble *pairs;
} Series;

typedef enum
{
  CONSTANT,
  COSINE,
  SINE,
} Wave;

static inline gdouble
value_at (gdouble x, gdouble frequency, Wave wave)
{
  gdouble value = pow (x + 1, x);

  if (wave == CONSTANT)
    return value;

  return value * (wave == COSINE ? cos (frequency * x) : sin (frequency * x));
}

static gdouble
integrate (gdouble frequency, Wave wave)
{
  const gdouble step = END / N_INTERVALS;
  gdouble x = 0, sum = value_at (0, frequency, wave) / 2;

  for (guint i = 0; i < N_INNER; i++)
    {
      x += step;
      sum += value_at (x, frequency, wave);
    }

  return (sum + value_at (END, frequency, wave) / 2) * step;
}

static guint
series_n_phases (gpointer problem)
{
  return 1;
}

static guint
series_n_tiles (gpointer problem, guint phase)
{
  const Series *self = problem;

  return self->parts;
}

static void
series_tile (gpointer problem, guint phase, guint tile)
{
  Series *self = problem;
  guint end = bench_grande_first (self->n, tile + 1, self->parts);

  for (guint i = bench_grande_first (self->n, tile, self->parts); i < end; i++)
    {
      self->pairs[2 * i] = i == 0 ? integrate (0, CONSTANT) / 2 : integrate (G_PI * i, COSINE);
      self->pairs[2 * i + 1] = i == 0 ? 0 : integrate (G_PI * i, SINE);
    }
}

static gconstpointer
series_result (gpointer problem, gsize *size)
{
  const Series *self = problem;

  *size = 2 * self->n * sizeof *self->pairs;

  return self->pairs;
}

static void
series_restart (gpointer problem)
{
  Series *self = problem;

  memset (self->pairs, 0, 2 * self->n * sizeof *self->pairs);
}

static gboolean
series_check (gpointer problem, GError **error)
{
  static const gdouble published[] = { 2.8729524964837996,  0.0,
                                       1.1161046676147888,  -1.8819691893398025,
                                       0.34429060398168704, -1.1645642623320958,
                                       0.15238898702519288, -0.8143461113044298 };
  const Series *self = problem;

  for (guint i = 0; i < G_N_ELEMENTS (published); i++)
    if (!bench_grande_expect ("a coefficient", self->pairs[i], published[i], TOLERANCE, error))
      return FALSE;

  return TRUE;
}

static gpointer
series_create (const BenchGrandeSize *size)
{
  Series *self = g_new0 (Series, 1);

  self->n = bench_grande_scale (size, 10000, 100000, 4);
  self->parts = MIN (size->parts, self->n);
  self->pairs = g_new (gdouble, 2 * self->n);

  return self;
}

static void
series_free (gpointer problem)
{
  Series *self = problem;

  g_free (self->pairs);
  g_free (self);
}

const BenchGrandeKernel bench_grande_series = {
  .name = "series",
  .create = series_create,
  .free = series_free,
  .restart = series_restart,
  .n_phases = series_n_phases,
  .n_tiles = series_n_tiles,
  .tile = series_tile,
  .result = series_result,
  .check = series_check,
};
