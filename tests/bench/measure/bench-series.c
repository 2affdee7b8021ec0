/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Series of samples, and what they come to.
 */
#include "tests/bench/measure/bench-measure.h"

#include <math.h>

BenchSeries *
bench_series_new (const char *load,
                  const char *contender,
                  BenchKind kind,
                  guint workers,
                  guint64 n_items)
{
  BenchSeries *self = g_new0 (BenchSeries, 1);

  self->load = g_strdup (load);
  self->contender = g_strdup (contender);
  self->kind = kind;
  self->unit = BENCH_SECONDS;
  self->x = NAN;
  self->relation = BENCH_NOT_COMPARED;
  self->workers = workers;
  self->n_items = n_items;
  self->samples = g_array_new (FALSE, FALSE, sizeof (gdouble));

  return self;
}

void
bench_series_free (BenchSeries *self)
{
  g_array_unref (self->samples);
  g_clear_pointer (&self->counts, g_array_unref);
  g_free (self->load);
  g_free (self->contender);
  g_free (self);
}

void
bench_series_compare (BenchSeries *self, const BenchSeries *base, BenchRelation relation)
{
  self->base = base;
  self->relation = base != NULL ? relation : BENCH_NOT_COMPARED;
}

void
bench_series_add (BenchSeries *self, gdouble sample)
{
  g_array_append_val (self->samples, sample);
}

void
bench_series_add_counts (BenchSeries *self, BenchCounts counts)
{
  if (self->counts == NULL)
    self->counts = g_array_new (FALSE, FALSE, sizeof (BenchCounts));
  g_array_append_val (self->counts, counts);
}

BenchSummary
bench_series_summary (const BenchSeries *self)
{
  g_autoptr (GArray) numbers = g_array_copy (self->samples);

  return bench_summarize (numbers);
}

static gdouble
compare_samples (const BenchSeries *self, gdouble mine, gdouble base)
{
  switch (self->relation)
    {
    case BENCH_FACTOR:
      return base / mine;
    case BENCH_OVERHEAD:
      return (mine / base - 1) * 100;
    case BENCH_IDEAL:
      return base / (self->workers * mine) * 100;
    case BENCH_EXTRA:
      return (mine - base) / self->n_items;
    default:
      return NAN;
    }
}

/* Sample by sample. */
static GArray *
compare_all (const BenchSeries *self)
{
  GArray *numbers = g_array_new (FALSE, FALSE, sizeof (gdouble));
  guint n = self->base != NULL ? MIN (self->samples->len, self->base->samples->len) : 0;

  for (guint i = 0; i < n; i++)
    {
      gdouble value = compare_samples (self, g_array_index (self->samples, gdouble, i),
                                       g_array_index (self->base->samples, gdouble, i));

      g_array_append_val (numbers, value);
    }

  return numbers;
}

BenchSummary
bench_series_compared (const BenchSeries *self)
{
  g_autoptr (GArray) numbers = compare_all (self);

  return bench_summarize (numbers);
}

static BenchEstimate
estimate (GArray *numbers, gdouble best)
{
  BenchEstimate self = { .median = bench_quantile (numbers, 0.5), .best = best };

  bench_median_interval (numbers, &self.low, &self.high);

  return self;
}

BenchEstimate
bench_series_estimate (const BenchSeries *self)
{
  g_autoptr (GArray) numbers = g_array_copy (self->samples);

  return estimate (numbers, bench_mean_of_best (numbers, BENCH_BEST));
}

BenchEstimate
bench_series_estimate_compared (const BenchSeries *self)
{
  g_autoptr (GArray) numbers = compare_all (self);
  gdouble best = NAN;

  if (self->base != NULL)
    best = compare_samples (self, bench_mean_of_best (self->samples, BENCH_BEST),
                            bench_mean_of_best (self->base->samples, BENCH_BEST));

  return estimate (numbers, best);
}

/* One a round; NULL if it was not counted in each of them. */
static GArray *
find_counts (const BenchSeries *self, BenchCounter counter)
{
  g_autoptr (GArray) numbers = g_array_new (FALSE, FALSE, sizeof (gdouble));

  for (guint i = 0; self->counts != NULL && i < self->counts->len; i++)
    {
      gdouble value = g_array_index (self->counts, BenchCounts, i).values[counter];

      if (isnan (value))
        return NULL;
      g_array_append_val (numbers, value);
    }

  return numbers->len > 0 ? g_steal_pointer (&numbers) : NULL;
}

static const BenchEstimate unknown = { NAN, NAN, NAN, NAN };

BenchEstimate
bench_series_estimate_count (const BenchSeries *self, BenchCounter counter)
{
  g_autoptr (GArray) numbers = find_counts (self, counter);

  return numbers != NULL ? estimate (numbers, bench_mean_of_best (numbers, BENCH_BEST)) : unknown;
}

BenchEstimate
bench_series_compare_counts (const BenchSeries *self, BenchCounter counter)
{
  g_autoptr (GArray) mine = find_counts (self, counter);
  g_autoptr (GArray) base = self->base != NULL ? find_counts (self->base, counter) : NULL;
  gboolean is_good = counter == BENCH_LL_HITS;

  if (mine == NULL || base == NULL)
    return unknown;
  g_array_set_size (mine, MIN (mine->len, base->len));
  for (guint i = 0; i < mine->len; i++)
    {
      gdouble *value = &g_array_index (mine, gdouble, i), other = g_array_index (base, gdouble, i);

      *value = is_good ? *value / other : other / *value;
    }

  return estimate (mine, NAN);
}

gdouble
bench_series_per_item (const BenchSeries *self)
{
  return self->n_items > 0 ? bench_series_summary (self).median / self->n_items : NAN;
}

const char *
bench_kind_name (BenchKind kind)
{
  static const char *const names[] = { "iris", "peer", "plain" };

  return names[kind];
}

const char *
bench_unit_name (BenchUnit unit)
{
  static const char *const names[] = { "s", "%", "1/s", "B" };

  return names[unit];
}

const char *
bench_relation_name (BenchRelation relation)
{
  static const char *const names[] = { "factor", "overhead_percent", "ideal_percent",
                                       "extra_s_per_item", "none" };

  return names[relation];
}
