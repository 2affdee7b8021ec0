/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Numeric workloads: plain C, one worker, and all workers, in turn.
 *
 * The plain run is done once before everything else, checked against what is known on paper, and
 * kept; after each trial, plain or not, every number must be equal to it, bit for bit. That can be
 * demanded because a tile computes each number by the same operations in the same order.
 */
#include "tests/bench/workloads/numeric/bench-numeric.h"

#include <string.h>

typedef struct
{
  BenchNumeric numeric;
  gdouble *expected;
  gsize n;
  guint refs; /* of the trials */
} Shared;

typedef struct
{
  Shared *shared;
  BenchContender *contender; /* NULL: plain C */
  guint workers;
} Trial;

void
bench_fill_random (gdouble *values, gsize n)
{
  guint64 x = G_GUINT64_CONSTANT (0x2545f4914f6cdd1d);

  for (gsize i = 0; i < n; i++)
    {
      x ^= x << 13;
      x ^= x >> 7;
      x ^= x << 17;
      values[i] = (gdouble) (x >> 11) / (G_GUINT64_CONSTANT (1) << 52) - 1;
    }
}

static void
shared_unref (Shared *self)
{
  if (--self->refs > 0)
    return;
  self->numeric.free (self->numeric.problem);
  g_free (self->expected);
  g_free (self);
}

static void
trial_free (gpointer data)
{
  Trial *self = data;

  g_clear_pointer (&self->contender, bench_contender_free);
  shared_unref (self->shared);
  g_free (self);
}

/* So that zeros of both signs differ, and a number that is none equals itself. */
static guint64
bits_of (gdouble value)
{
  guint64 bits;

  memcpy (&bits, &value, sizeof bits);

  return bits;
}

static gboolean
check_values (const Shared *self, GError **error)
{
  gsize n;
  const gdouble *values = self->numeric.values (self->numeric.problem, &n);

  for (gsize i = 0; i < n; i++)
    if (bits_of (values[i]) != bits_of (self->expected[i]))
      {
        g_set_error (error, BENCH_ERROR, BENCH_ERROR_RESULT,
                     "number %" G_GSIZE_FORMAT " of %" G_GSIZE_FORMAT
                     " is %.17g, where plain C has %.17g",
                     i, n, values[i], self->expected[i]);
        return FALSE;
      }

  return TRUE;
}

static gboolean
trial_run (gpointer data, gdouble *samples, GError **error)
{
  Trial *self = data;
  const BenchNumeric *numeric = &self->shared->numeric;

  numeric->restart (numeric->problem);
  if (self->contender == NULL)
    {
      gint64 begin = bench_now ();

      numeric->plain (numeric->problem);
      samples[0] = (bench_now () - begin) / 1e9;
    }
  else if (!bench_contender_phases (self->contender, &numeric->phases, self->workers, samples,
                                    error))
    return FALSE;

  return check_values (self->shared, error);
}

static gboolean
expect (Shared *self, GError **error)
{
  const BenchNumeric *numeric = &self->numeric;
  const gdouble *values;

  numeric->restart (numeric->problem);
  numeric->plain (numeric->problem);
  if (!numeric->check_plain (numeric->problem, error))
    return FALSE;
  values = numeric->values (numeric->problem, &self->n);
  self->expected = g_memdup2 (values, self->n * sizeof *values);

  return TRUE;
}

static guint64
count_tiles (const BenchPhases *phases)
{
  guint64 n = 0;

  for (guint i = 0; i < phases->n_phases; i++)
    n += phases->n_tiles (phases->problem, i);

  return n;
}

/* With one worker the question is what the scheduler costs, with more what it brings. */
static BenchSeries *
add_trial (BenchResult *result,
           Shared *shared,
           BenchContender *contender,
           const BenchSeries *base,
           guint workers)
{
  g_autofree char *load = g_strdup_printf ("%u worker%s", workers, workers == 1 ? "" : "s");
  BenchSeries *series = bench_series_new (contender != NULL ? load : "sequential",
                                          contender != NULL ? contender->name : "plain",
                                          contender != NULL ? contender->engine->kind : BENCH_PLAIN,
                                          workers, count_tiles (&shared->numeric.phases));
  Trial *trial = g_new (Trial, 1);

  shared->refs++;
  *trial = (Trial){ shared, contender, workers };
  bench_series_compare (series, base, workers == 1 ? BENCH_OVERHEAD : BENCH_FACTOR);
  series->show = BENCH_SHOW_COMPARED;
  bench_result_add_series (result, series);
  bench_result_add_trial (result, trial_run, trial, trial_free, series, NULL);

  return series;
}

BenchResult *
bench_numeric_run (BenchNumeric *numeric, const BenchOptions *options, GError **error)
{
  Shared *shared = g_new0 (Shared, 1);
  g_autoptr (BenchResult) result = bench_result_new (numeric->name, options, numeric->title);
  const BenchSeries *plain;
  gboolean good;

  shared->numeric = *numeric;
  shared->refs = 1;
  result->item = "tile";
  plain = add_trial (result, shared, NULL, NULL, 1);
  for (guint i = 0; i < 2 && (i == 0 || options->workers > 1); i++)
    {
      g_autoptr (GPtrArray) contenders = bench_contenders (options, BENCH_CAN_PHASES);

      while (contenders->len > 0)
        add_trial (result, shared, g_ptr_array_steal_index (contenders, 0), plain,
                   i == 0 ? 1 : options->workers);
    }
  good = expect (shared, error) && bench_result_measure (result, error);
  shared_unref (shared);

  return good ? g_steal_pointer (&result) : NULL;
}
