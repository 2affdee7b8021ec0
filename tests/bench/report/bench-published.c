/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A published figure and ours, side by side.
 *
 * Ours is the median of what the rounds say, with its interval, and beside it the figure as the
 * papers have it: of the means of the three best rounds.
 */
#include "tests/bench/report/bench-published.h"

#include <math.h>

static const BenchSeries *
find_series (const BenchResult *result, const char *load, const char *contender)
{
  for (guint i = 0; load != NULL && i < result->series->len; i++)
    {
      const BenchSeries *series = g_ptr_array_index (result->series, i);

      if (g_str_equal (series->load, load) && g_strcmp0 (series->contender, contender) == 0)
        return series;
    }

  return NULL;
}

static void
take_sample (BenchOurs *self)
{
  static const char *const units[] = { " s", " %", "/s", " B" };
  static const guint digits[] = { 3, 2, 0, 0 };

  self->unit = units[self->series->unit];
  self->digits = digits[self->series->unit];
  self->ours = bench_series_estimate (self->series);
}

/* Nothing is compared with itself, nor with what took no part. */
static void
take_comparison (BenchOurs *self, const BenchSeries *base, BenchCounter counter)
{
  static const char *const units[] = { "x", " %", " %", " ns", "x" };
  static const guint digits[] = { 2, 1, 1, 2, 2 };
  BenchSeries pair = *self->series;

  if (counter == BENCH_NO_COUNTER)
    {
      self->unit = units[pair.relation];
      self->digits = digits[pair.relation];
      self->factor = pair.relation == BENCH_EXTRA ? 1e9 : 1;
    }
  if (base == NULL || base == self->series)
    return;
  bench_series_compare (&pair, base, pair.relation);
  self->ours = counter == BENCH_NO_COUNTER ? bench_series_estimate_compared (&pair)
                                           : bench_series_compare_counts (&pair, counter);
}

/* What is compared with nothing, such as a share of time, stands for itself. */
static gboolean
is_of_sample (const BenchPublished *self, const BenchSeries *series)
{
  return self->is_sample
         || (series->base == NULL && self->base == NULL && self->counter == BENCH_NO_COUNTER);
}

BenchOurs
bench_published_find (const BenchPublished *self, const BenchResult *result)
{
  BenchOurs ours = { .series = find_series (result, self->load, self->contender),
                     .ours = { NAN, NAN, NAN, NAN },
                     .unit = "x",
                     .digits = 2,
                     .factor = 1,
                     .is_count = self->counter != BENCH_NO_COUNTER };

  /* Without a series of ours the unit is not known. */
  if (ours.series == NULL)
    ours.unit = "";
  else if (is_of_sample (self, ours.series))
    take_sample (&ours);
  else
    take_comparison (&ours,
                     self->base != NULL ? find_series (result, self->load, self->base)
                                        : ours.series->base,
                     self->counter);

  return ours;
}

/* The unit stands once. */
static char *
write_range (const BenchOurs *self, gdouble low, gdouble high)
{
  g_autofree char *from = g_strdup_printf ("%.*f", (int) self->digits, low);
  g_autofree char *to = g_strdup_printf ("%.*f", (int) self->digits, high);

  if (isnan (low) || isnan (high))
    return g_strdup ("-");
  if (g_str_equal (from, to))
    return g_strconcat (to, self->unit, NULL);

  return g_strconcat (from, " to ", to, self->unit, NULL);
}

char *
bench_published_describe (const BenchPublished *self, const BenchOurs *ours)
{
  return write_range (ours, self->low, self->high);
}

char *
bench_ours_describe (const BenchOurs *self, gdouble value)
{
  if (self->is_count && isnan (self->ours.median))
    return g_strdup ("not counted");

  return write_range (self, value * self->factor, value * self->factor);
}

char *
bench_ours_describe_interval (const BenchOurs *self)
{
  return write_range (self, self->ours.low * self->factor, self->ours.high * self->factor);
}
