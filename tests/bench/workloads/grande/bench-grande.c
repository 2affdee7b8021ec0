/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The Java Grande Forum's kernels, none of which gives hints: plain C, work stealing, and places.
 *
 * Plain C is the same kernel with its loops in one part. After each run the published value, or
 * what else is known of the result, is checked; and all bytes are those of plain C, but for sums of
 * forces, whose last bits depend on the split.
 */
#include "tests/bench/workloads/grande/bench-grande.h"
#include "tests/bench/peers/bench-iris.h"
#include "tests/bench/workloads/bench-workload.h"

#include <math.h>
#include <string.h>

#define PARTS 32   /* of a loop, for each worker */
#define QUICK 0.02 /* of size A */

/* With the usual size: A is enough but where plain C would run for 10 ms alone. */
static const struct
{
  const BenchGrandeKernel *kernel;
  char size;
} kernels[] = {
  { &bench_grande_crypt, 'A' },      { &bench_grande_lufact, 'B' },
  { &bench_grande_sor, 'A' },        { &bench_grande_series, 'A' },
  { &bench_grande_sparse, 'A' },     { &bench_grande_moldyn, 'A' },
  { &bench_grande_montecarlo, 'A' }, { &bench_grande_raytracer, 'A' },
};

/* --- for kernels ------------------------------------------------------------------------------ */

guint
bench_grande_scale (const BenchGrandeSize *size, guint a, guint b, guint least)
{
  return (guint) CLAMP (round ((size->letter == 'A' ? a : b) * size->scale), least, 1e8);
}

gboolean
bench_grande_published (const BenchGrandeValue *values, guint n_values, guint n, gdouble *value)
{
  for (guint i = 0; i < n_values; i++)
    if (values[i].n == n)
      {
        *value = values[i].value;
        return TRUE;
      }

  return FALSE;
}

gboolean
bench_grande_expect (const char *what,
                     gdouble value,
                     gdouble expected,
                     gdouble tolerance,
                     GError **error)
{
  /* A number that is none is wrong. */
  if (fabs (value - expected) <= tolerance)
    return TRUE;
  g_set_error (error, BENCH_ERROR, BENCH_ERROR_RESULT,
               "%s is %.17g, where %.17g was expected within %g", what, value, expected, tolerance);

  return FALSE;
}

/* --- a run ------------------------------------------------------------------------------------ */

typedef struct
{
  const BenchGrandeKernel *kernel;
  gpointer plain; /* the problem in one part */
  gpointer split; /* and in many */
} Pair;

static void
pair_free (gpointer data)
{
  Pair *self = data;

  self->kernel->free (self->plain);
  self->kernel->free (self->split);
  g_free (self);
}

static gboolean
run_plain (const BenchRun *run, gdouble *samples, GError **error)
{
  const Pair *self = run->load;
  const BenchGrandeKernel *kernel = self->kernel;
  guint n_phases = kernel->n_phases (self->plain);
  gint64 begin;

  kernel->restart (self->plain);
  begin = bench_now ();
  for (guint phase = 0; phase < n_phases; phase++)
    kernel->tile (self->plain, phase, 0);
  samples[0] = bench_seconds_since (begin);

  return kernel->check (self->plain, error);
}

static gboolean
check_same (const Pair *self, GError **error)
{
  gsize n, n_expected;
  const guint8 *expected = self->kernel->result (self->plain, &n_expected);
  const guint8 *result = self->kernel->result (self->split, &n);

  for (gsize i = 0; i < n; i++)
    if (result[i] != expected[i])
      {
        g_set_error (error, BENCH_ERROR, BENCH_ERROR_RESULT,
                     "byte %" G_GSIZE_FORMAT " of %" G_GSIZE_FORMAT " is %u, where plain C has %u",
                     i, n, result[i], expected[i]);
        return FALSE;
      }

  return TRUE;
}

static gboolean
run_contender (const BenchRun *run, gdouble *samples, GError **error)
{
  const Pair *self = run->load;
  const BenchGrandeKernel *kernel = self->kernel;
  BenchPhases phases = { self->split, kernel->n_phases (self->split), kernel->n_tiles,
                         kernel->tile };

  kernel->restart (self->split);

  return bench_contender_phases (run->contender, &phases, run->workers, samples, error)
         && kernel->check (self->split, error)
         && (kernel->result == NULL || check_same (self, error));
}

/* --- the plan --------------------------------------------------------------------------------- */

/* The first is what the others are compared with. The thesis had two places of four workers. */
static const struct
{
  const char *name, *scheduler, *places;
} schedulers[] = {
  { "work-stealing", "work-stealing", NULL },
  { "places", "places", NULL },
  { "2 places", "places", "2" },
  { "lock-free", "lock-free", NULL },
  { "default", "default", NULL },
};

static gboolean
takes_part (const BenchOptions *options, guint i)
{
  return bench_is_wanted (options, schedulers[i].name, BENCH_IRIS)
         && (schedulers[i].places == NULL || options->workers % 2 == 0);
}

static void
add_contenders (BenchResult *result, const BenchOptions *options, const BenchCase *what)
{
  BenchCase with = *what;

  with.relation = BENCH_FACTOR;
  for (guint i = 0; i < G_N_ELEMENTS (schedulers); i++)
    {
      BenchContender *contender;
      const BenchSeries *series;

      if (!takes_part (options, i))
        continue;
      contender = bench_result_own (result, bench_iris_parse (schedulers[i].scheduler, NULL),
                                    (GDestroyNotify) bench_contender_free);
      contender->places = g_strdup (schedulers[i].places != NULL ? schedulers[i].places
                                                                 : options->places);
      series = bench_result_add (result, &with, schedulers[i].name, BENCH_IRIS, contender);
      if (i == 0)
        {
          with.base = series;
          with.relation = BENCH_OVERHEAD;
        }
    }
}

static guint64
count_tiles (const BenchGrandeKernel *kernel, gpointer problem)
{
  guint64 n = 0;

  for (guint phase = 0; phase < kernel->n_phases (problem); phase++)
    n += kernel->n_tiles (problem, phase);

  return n;
}

static void
add_kernel (BenchResult *result,
            const BenchOptions *options,
            const BenchGrandeKernel *kernel,
            const BenchGrandeSize *size)
{
  const BenchGrandeSize one = { size->letter, size->scale, 1 };
  Pair *pair = bench_result_own (result, g_new (Pair, 1), pair_free);
  g_autofree char *load = g_strdup_printf ("%s %c", kernel->name, size->letter);
  BenchCase what = {
    .load = load, .workers = 1, .show = BENCH_SHOW_COMPARED, .run = run_plain, .data = pair
  };

  *pair = (Pair){ kernel, kernel->create (&one), kernel->create (size) };
  what.base = bench_result_add (result, &what, "plain", BENCH_PLAIN, NULL);
  what.workers = options->workers;
  what.n_items = count_tiles (kernel, pair->split);
  what.run = run_contender;
  add_contenders (result, options, &what);
}

static gboolean
plan (BenchResult *result, const BenchOptions *options, GError **error)
{
  static const char letters[] = { 0, 'A', 'B' };
  BenchGrandeSize size = { .scale = options->scale * (options->quick ? QUICK : 1),
                           .parts = PARTS * options->workers };

  if (options->size >= G_N_ELEMENTS (letters))
    {
      g_set_error (error, BENCH_ERROR, BENCH_ERROR_ARGUMENT,
                   "--size %u is none of grande's: choose 1 for size A, 2 for size B",
                   options->size);
      return FALSE;
    }
  for (guint i = 0; i < G_N_ELEMENTS (kernels); i++)
    {
      size.letter = options->size != 0 ? letters[options->size] : kernels[i].size;
      add_kernel (result, options, kernels[i].kernel, &size);
    }
  bench_result_set_title (result, "the Java Grande Forum's kernels, %s, times %g",
                          options->size == 0   ? "size A, and B of lufact"
                          : options->size == 1 ? "size A"
                                               : "size B",
                          size.scale);

  return TRUE;
}

static gboolean
check (const BenchOptions *options, GError **error)
{
  const char *names[G_N_ELEMENTS (schedulers) + 1] = { NULL };

  for (guint i = 0; i < G_N_ELEMENTS (schedulers); i++)
    names[i] = schedulers[i].name;

  return bench_check_chosen (options, "grande", names, error);
}

/* The thesis shows a chart, in which the bars of both are as high: 0 %. */
#define SAME(load)                                                    \
  { load ": places against work stealing", load, "places", 0, 0 },    \
  {                                                                   \
    load ": two places against work stealing", load, "2 places", 0, 0 \
  }

static const BenchPublished published[] = {
  SAME ("crypt A"),      SAME ("lufact B"),        SAME ("sor A"),
  SAME ("series A"),     SAME ("sparsematmult A"), SAME ("moldyn A"),
  SAME ("montecarlo A"), SAME ("raytracer A"),     { NULL },
};

static const BenchFigure figure = {
  .row = "B13",
  .title = "Java Grande Forum benchmarks, which give no hints",
  .source = "Th. Weibel, An Advanced Scheduler for Intervals (ETH Zürich, 2010), LASSI",
  .machine = "2 Intel Nehalem processors of 4 cores, an L3 of 8 MB each; Java",
  .differs =
      "C written from the kernels' descriptions; items in phases where the thesis has "
      "intervals; a chart without a visible difference counts as 0 %; --size 2 runs size B of "
      "all; MonteCarlo's drift and volatility are solved from the suite's averages, as its "
      "file of prices is no part of this program; “places” are those that hwloc finds, "
      "without configuration (B15 a)",
  .published = published,
};

const BenchWorkload bench_workload_grande = {
  .name = "grande",
  .summary = "the Java Grande Forum's kernels, on places and without",
  .suite = BENCH_SUITE_PAPER,
  .item = "tile",
  .plan = plan,
  .figure = &figure,
  .check = check,
};
