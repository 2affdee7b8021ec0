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

/* --- the bootstrap ---------------------------------------------------------------------------- */

/* Source: B. Efron, "Bootstrap Methods: Another Look at the Jackknife" (1979): the medians of sets
 * that are drawn from the numbers with putting back. */
static GArray *
draw_medians (const GArray *numbers, guint times, guint32 seed)
{
  guint n = numbers->len;
  GArray *medians = g_array_sized_new (FALSE, FALSE, sizeof (gdouble), times);
  g_autoptr (GArray) drawn = g_array_sized_new (FALSE, FALSE, sizeof (gdouble), n);
  g_autoptr (GRand) random = g_rand_new_with_seed (seed);

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

  return medians;
}

static guint
choose_times (guint n)
{
  return CLAMP (MOST_DRAWN / MAX (n, 1), LEAST_RESAMPLE, MOST_RESAMPLE);
}

/* Both ends are cut off. */
static void
cut_off (GArray *drawn, gdouble *low, gdouble *high)
{
  *low = bench_quantile (drawn, (1 - CONFIDENCE) / 2);
  *high = quantile_of_sorted (drawn, (1 + CONFIDENCE) / 2);
}

void
bench_median_interval (const GArray *numbers, gdouble *low, gdouble *high)
{
  g_autoptr (GArray) medians = draw_medians (numbers, choose_times (numbers->len), 1);

  cut_off (medians, low, high);
}

/* The two are of different runs, so they are drawn independently. */
void
bench_ratio_interval (const GArray *a, const GArray *b, gdouble *low, gdouble *high)
{
  guint times = choose_times (a->len + b->len);
  g_autoptr (GArray) ratios = draw_medians (b, times, 1), bases = draw_medians (a, times, 2);

  g_array_set_size (ratios, MIN (ratios->len, bases->len));
  for (guint i = 0; i < ratios->len; i++)
    g_array_index (ratios, gdouble, i) /= g_array_index (bases, gdouble, i);
  cut_off (ratios, low, high);
}

/* --- tests ------------------------------------------------------------------------------------ */

/* Up to so many numbers the ways are counted; of more, and where some are equal, their number is
 * nearly normal. */
#define MOST_COUNTED 25

/* How often a number of the first set is larger than one of the second; equal ones are a half. */
static gdouble
count_larger (const GArray *a, const GArray *b)
{
  gdouble n = 0;

  for (guint i = 0; i < a->len; i++)
    for (guint j = 0; j < b->len; j++)
      {
        gdouble x = g_array_index (a, gdouble, i), y = g_array_index (b, gdouble, j);

        n += x > y ? 1 : x == y ? 0.5 : 0;
      }

  return n;
}

/* The share of all orders of both sets in which the first has at most so many larger pairs: the
 * numbers of orders are the coefficients of a Gaussian binomial. */
static gdouble
share_of_orders (guint n_a, guint n_b, guint most)
{
  guint n = n_a * n_b;
  g_autofree gdouble *ways = g_new0 (gdouble, n + 1);
  gdouble all = 0, some = 0;

  ways[0] = 1;
  for (guint i = 1; i <= n_a; i++)
    {
      for (guint u = n; u >= n_b + i; u--)
        ways[u] -= ways[u - n_b - i];
      for (guint u = i; u <= n; u++)
        ways[u] += ways[u - i];
    }
  for (guint u = 0; u <= n; u++)
    {
      all += ways[u];
      some += u <= most ? ways[u] : 0;
    }

  return some / all;
}

/* The sum over groups of equal numbers of t^3 - t. */
static gdouble
count_ties (const GArray *a, const GArray *b)
{
  g_autoptr (GArray) both = g_array_copy ((GArray *) a);
  gdouble ties = 0;
  guint same = 1;

  g_array_append_vals (both, b->data, b->len);
  g_array_sort (both, compare_doubles);
  for (guint i = 1; i <= both->len; i++)
    if (i < both->len
        && g_array_index (both, gdouble, i) == g_array_index (both, gdouble, i - 1)) /* NOLINT */
      same++;
    else
      {
        ties += (gdouble) same * same * same - same;
        same = 1;
      }

  return ties;
}

/* Source: H. B. Mann and D. R. Whitney, "On a Test of Whether One of Two Random Variables is
 * Stochastically Larger than the Other" (1947); both sides, ties by the corrected variance. */
gdouble
bench_rank_test (const GArray *a, const GArray *b)
{
  gdouble n_a = a->len, n_b = b->len, n = n_a + n_b, larger = count_larger (a, b);
  gdouble least = fmin (larger, n_a * n_b - larger), ties = count_ties (a, b), variance;

  if (a->len == 0 || b->len == 0)
    return 1;
  if (ties == 0 && MAX (a->len, b->len) <= MOST_COUNTED)
    return fmin (2 * share_of_orders (a->len, b->len, (guint) least), 1);
  variance = n_a * n_b / 12 * (n + 1 - ties / (n * (n - 1)));
  if (variance <= 0)
    return 1;

  return fmin (erfc (fmax (n_a * n_b / 2 - least - 0.5, 0) / sqrt (2 * variance)), 1);
}

/* Source: Y. Benjamini and Y. Hochberg, "Controlling the False Discovery Rate" (1995). */
gdouble
bench_discoveries (GArray *probabilities, gdouble share)
{
  gdouble most = -1;

  g_array_sort (probabilities, compare_doubles);
  for (guint i = 0; i < probabilities->len; i++)
    if (g_array_index (probabilities, gdouble, i) <= share * (i + 1) / probabilities->len)
      most = g_array_index (probabilities, gdouble, i);

  return most;
}

/* --- the best --------------------------------------------------------------------------------- */

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
