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

GArray *
bench_series_compare_all (const BenchSeries *self)
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
  g_autoptr (GArray) numbers = bench_series_compare_all (self);

  return bench_summarize (numbers);
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
