/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Trials of items from outside and of items that items make.
 */
#include "tests/bench/workloads/items/bench-spray.h"

typedef struct
{
  BenchContender *contender; /* NULL: a plain loop */
  BenchSpray spray;
  guint workers;
} Trial;

static void
trial_free (gpointer data)
{
  Trial *self = data;

  g_clear_pointer (&self->contender, bench_contender_free);
  g_free (self);
}

static gboolean
trial_run (gpointer data, gdouble *samples, GError **error)
{
  Trial *self = data;

  return bench_contender_spray (self->contender, &self->spray, self->workers, samples, error);
}

static gboolean
trial_run_plain (gpointer data, gdouble *samples, GError **error)
{
  Trial *self = data;
  guint64 n = (guint64) self->spray.outer * MAX (self->spray.inner, 1);
  gint64 begin;

  bench_counts_reset ();
  begin = bench_now ();
  for (guint64 i = 0; i < n; i++)
    bench_item_run (&self->spray.work);
  samples[0] = (bench_now () - begin) / 1e9;

  return bench_counts_check (n, n * self->spray.work.result, error);
}

static Trial *
trial_new (BenchContender *contender, const BenchSpray *spray, guint workers)
{
  Trial *self = g_new (Trial, 1);

  *self = (Trial){ contender, *spray, workers };

  return self;
}

void
bench_spray_add_trials (BenchResult *result,
                        const BenchOptions *options,
                        const char *load,
                        const BenchSpray *spray,
                        const BenchSeries *base,
                        BenchRelation relation)
{
  guint can = spray->inner > 0 ? BENCH_CAN_INSIDE : BENCH_CAN_OUTSIDE;
  g_autoptr (GPtrArray) contenders = bench_contenders (options, can);
  guint64 n_items = (guint64) spray->outer * (spray->inner + 1);

  while (contenders->len > 0)
    {
      BenchContender *contender = g_ptr_array_steal_index (contenders, 0);
      BenchSeries *series = bench_series_new (load, contender->name, contender->engine->kind,
                                              options->workers, n_items);

      if (base == NULL)
        base = series;
      bench_series_compare (series, base, relation);
      bench_result_add_series (result, series);
      bench_result_add_trial (result, trial_run, trial_new (contender, spray, options->workers),
                              trial_free, series, NULL);
    }
}

BenchSeries *
bench_spray_add_plain (BenchResult *result, const char *load, const BenchSpray *spray)
{
  guint64 n_items = (guint64) spray->outer * MAX (spray->inner, 1);
  BenchSeries *series = bench_series_new (load, "plain", BENCH_PLAIN, 1, n_items);

  bench_result_add_series (result, series);
  bench_result_add_trial (result, trial_run_plain, trial_new (NULL, spray, 1), trial_free, series,
                          NULL);

  return series;
}
