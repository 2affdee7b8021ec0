/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What many numbers come to: quantiles, an interval for the median, the mean of the best.
 */
#include "tests/bench/measure/bench-measure.h"

#include <math.h>

/* Samples that a bootstrap draws in all, at most; and how often it draws a set. */
#define MOST_DRAWN     1000000
#define LEAST_RESAMPLE 100
#define MOST_RESAMPLE  1000
#define CONFIDENCE     0.95

static int
compare_doubles (gconstpointer a, gconstpointer b)
{
  gdouble x = *(const gdouble *) a, y = *(const gdouble *) b;

  return x < y ? -1 : x > y;
}

static gdouble
quantile_of_sorted (const GArray *sorted, gdouble quantile)
{
  gdouble position = quantile * (sorted->len - 1);
  guint below = (guint) position;
  gdouble low, high;

  if (sorted->len == 0)
    return NAN;
  low = g_array_index (sorted, gdouble, below);
  high = g_array_index (sorted, gdouble, MIN (below + 1, sorted->len - 1));

  return low + (position - below) * (high - low);
}

gdouble
bench_quantile (GArray *numbers, gdouble quantile)
{
  g_array_sort (numbers, compare_doubles);

  return quantile_of_sorted (numbers, quantile);
}

BenchSummary
bench_summarize (GArray *numbers)
{
  g_array_sort (numbers, compare_doubles);

  return (BenchSummary){ quantile_of_sorted (numbers, 0.5), quantile_of_sorted (numbers, 0),
                         quantile_of_sorted (numbers, 1), quantile_of_sorted (numbers, 0.25),
                         quantile_of_sorted (numbers, 0.75) };
}

/* Source: B. Efron, "Bootstrap Methods: Another Look at the Jackknife" (1979): the medians of sets
 * that are drawn from the numbers with putting back, cut off at both ends. */
void
bench_median_interval (const GArray *numbers, gdouble *low, gdouble *high)
{
  guint n = numbers->len, times = CLAMP (MOST_DRAWN / MAX (n, 1), LEAST_RESAMPLE, MOST_RESAMPLE);
  g_autoptr (GArray) medians = g_array_sized_new (FALSE, FALSE, sizeof (gdouble), times);
  g_autoptr (GArray) drawn = g_array_sized_new (FALSE, FALSE, sizeof (gdouble), n);
  g_autoptr (GRand) random = g_rand_new_with_seed (1);

  for (guint i = 0; n > 0 && i < times; i++)
    {
      gdouble median;

      g_array_set_size (drawn, 0);
      for (guint j = 0; j < n; j++)
        g_array_append_vals (
            drawn, &g_array_index (numbers, gdouble, g_rand_int_range (random, 0, (gint32) n)), 1);
      median = bench_quantile (drawn, 0.5);
      g_array_append_val (medians, median);
    }
  *low = bench_quantile (medians, (1 - CONFIDENCE) / 2);
  *high = quantile_of_sorted (medians, (1 + CONFIDENCE) / 2);
}

gdouble
bench_mean_of_best (const GArray *numbers, guint n)
{
  g_autoptr (GArray) sorted = g_array_copy ((GArray *) numbers);
  gdouble sum = 0;

  n = MIN (n, sorted->len);
  g_array_sort (sorted, compare_doubles);
  for (guint i = 0; i < n; i++)
    sum += g_array_index (sorted, gdouble, i);

  return sum / n;
}
