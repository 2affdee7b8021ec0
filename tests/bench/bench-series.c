/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Series of samples, and what they come to.
 */
#include "bench.h"

BenchSeries *
bench_series_new (const char *load, const char *scheduler, guint64 n_items)
{
  BenchSeries *self = g_new0 (BenchSeries, 1);

  self->load = load;
  self->scheduler = scheduler;
  self->n_items = n_items;
  self->seconds = g_array_new (FALSE, FALSE, sizeof (gdouble));

  return self;
}

void
bench_series_free (BenchSeries *self)
{
  g_array_unref (self->seconds);
  g_free (self);
}

void
bench_series_add (BenchSeries *self, gdouble seconds)
{
  g_array_append_val (self->seconds, seconds);
}

static int
compare_doubles (gconstpointer a, gconstpointer b)
{
  gdouble x = *(const gdouble *) a, y = *(const gdouble *) b;

  return x < y ? -1 : x > y;
}

static gdouble
series_at (const BenchSeries *self, gdouble quantile)
{
  g_autoptr (GArray) sorted = g_array_copy (self->seconds);
  gdouble position = quantile * (sorted->len - 1);
  guint below = (guint) position;
  gdouble low, high;

  g_array_sort (sorted, compare_doubles);
  low = g_array_index (sorted, gdouble, below);
  high = g_array_index (sorted, gdouble, MIN (below + 1, sorted->len - 1));

  return low + (position - below) * (high - low);
}

gdouble
bench_series_median (const BenchSeries *self)
{
  return series_at (self, 0.5);
}

gdouble
bench_series_min (const BenchSeries *self)
{
  return series_at (self, 0);
}

gdouble
bench_series_max (const BenchSeries *self)
{
  return series_at (self, 1);
}
