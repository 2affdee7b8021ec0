/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * MonteCarlo: 10,000 (B: 60,000) random paths of a share's price, of 1,000 steps each, and the
 * return that each path would be estimated to have. A tile is a range of paths.
 *
 * The suite takes drift and volatility of the share from a file of prices, which is not part of
 * this program. They are those for which the averages that the suite publishes for sizes A and B
 * come out; that of 2,000 paths, which the Rolez project published, then comes out to 15 digits.
 */
#include "tests/bench/workloads/grande/bench-grande.h"
#include "tests/bench/workloads/grande/bench-java-random.h"

#define N_STEPS      1000
#define YEAR         365.0 /* steps */
#define START        100.0
#define SEED         11 /* of path i: i times that */
#define DRIFT        -0.031622656051392722
#define VOLATILITY   0.32480482358025098
#define TOLERANCE    1e-12
#define N_DEVIATIONS 6 /* by which an average of fewer paths may differ */

typedef struct
{
  guint n; /* paths */
  guint parts;
  gdouble *returns; /* a year, of each path */
} MonteCarlo;

/* Walks along the logarithm of the price. */
static void
walk (guint path, gdouble *prices)
{
  const gdouble mean = (DRIFT - 0.5 * VOLATILITY * VOLATILITY) / YEAR;
  const gdouble deviation = VOLATILITY * sqrt (1 / YEAR);
  BenchJavaRandom random = bench_java_random ((gint64) path * SEED);

  prices[0] = START;
  /* The first number is drawn and left out. */
  bench_java_random_normal (&random);
  for (guint i = 1; i < N_STEPS; i++)
    prices[i] = prices[i - 1] * exp (mean + deviation * bench_java_random_normal (&random));
}

/* From the prices alone. */
static gdouble
estimate (const gdouble *prices)
{
  gdouble changes[N_STEPS], mean = 0, variance = 0;

  for (guint i = 1; i < N_STEPS; i++)
    {
      changes[i] = log (prices[i] / prices[i - 1]);
      mean += changes[i];
    }
  mean /= N_STEPS - 1;
  for (guint i = 1; i < N_STEPS; i++)
    variance += (changes[i] - mean) * (changes[i] - mean);
  variance /= N_STEPS - 1;

  return (mean + 0.5 * variance) * YEAR;
}

static guint
montecarlo_n_phases (gpointer problem)
{
  return 1;
}

static guint
montecarlo_n_tiles (gpointer problem, guint phase)
{
  const MonteCarlo *self = problem;

  return self->parts;
}

static void
montecarlo_tile (gpointer problem, guint phase, guint tile)
{
  MonteCarlo *self = problem;
  guint end = bench_grande_first (self->n, tile + 1, self->parts);
  gdouble prices[N_STEPS];

  for (guint path = bench_grande_first (self->n, tile, self->parts); path < end; path++)
    {
      walk (path, prices);
      self->returns[path] = estimate (prices);
    }
}

static gconstpointer
montecarlo_result (gpointer problem, gsize *size)
{
  const MonteCarlo *self = problem;

  *size = self->n * sizeof *self->returns;

  return self->returns;
}

static void
montecarlo_restart (gpointer problem)
{
  MonteCarlo *self = problem;

  for (guint i = 0; i < self->n; i++)
    self->returns[i] = NAN;
}

static gboolean
montecarlo_check (gpointer problem, GError **error)
{
  static const BenchGrandeValue published[] = { { 2000, -0.034247972816469394 },
                                                { 10000, -0.0333976656762814 },
                                                { 60000, -0.03215796752868655 } };
  const MonteCarlo *self = problem;
  gdouble deviation = VOLATILITY * sqrt (YEAR / N_STEPS / self->n), average = 0, expected;

  for (guint i = 0; i < self->n; i++)
    average += self->returns[i];
  average /= self->n;
  if (bench_grande_published (published, G_N_ELEMENTS (published), self->n, &expected))
    return bench_grande_expect ("the average return", average, expected, TOLERANCE, error);

  return bench_grande_expect ("the average return", average, DRIFT, N_DEVIATIONS * deviation,
                              error);
}

static gpointer
montecarlo_create (const BenchGrandeSize *size)
{
  MonteCarlo *self = g_new0 (MonteCarlo, 1);

  self->n = bench_grande_scale (size, 10000, 60000, 16);
  self->parts = MIN (size->parts, self->n);
  self->returns = g_new (gdouble, self->n);

  return self;
}

static void
montecarlo_free (gpointer problem)
{
  MonteCarlo *self = problem;

  g_free (self->returns);
  g_free (self);
}

const BenchGrandeKernel bench_grande_montecarlo = {
  .name = "montecarlo",
  .create = montecarlo_create,
  .free = montecarlo_free,
  .restart = montecarlo_restart,
  .n_phases = montecarlo_n_phases,
  .n_tiles = montecarlo_n_tiles,
  .tile = montecarlo_tile,
  .result = montecarlo_result,
  .check = montecarlo_check,
};
