/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Reports of iris-bench: figures of the papers are found by their rows and held beside ours.
 */
#include <check.h>
#include <stdlib.h>

#include "core-test-run.h"
#include "tests/bench/report/bench-published.h"
#include "tests/bench/report/bench-report.h"

#include <math.h>

static const BenchOptions options = { .workers = 2, .rounds = 4, .scale = 1, .peers = TRUE };

/* --- rows ------------------------------------------------------------------------------------- */

TEST (a_row_is_found_in_whatever_case_and_rows_are_listed_once_in_order)
{
  const BenchFigure figure = { .row = "B9 B10" };
  g_autoptr (GPtrArray) rows = bench_figure_rows ();

  ck_assert (bench_figure_has_row (&figure, "b10"));
  ck_assert (!bench_figure_has_row (&figure, "B1"));
  ck_assert_uint_gt (rows->len, 4);
  for (guint i = 1; i < rows->len; i++)
    {
      const char *before = g_ptr_array_index (rows, i - 1), *row = g_ptr_array_index (rows, i);

      ck_assert (before[0] < row[0] || (before[0] == row[0] && atoi (before + 1) < atoi (row + 1)));
    }
}

TEST (workloads_are_chosen_by_their_rows)
{
  static const char *const some[] = { "b3", "A7", NULL }, *const all[] = { "all", NULL };
  static const char *const wrong[] = { "A7", "A77", NULL };
  g_autoptr (GPtrArray) chosen = bench_figure_choose (some, NULL);
  g_autoptr (GPtrArray) every = bench_figure_choose (all, NULL), rows = bench_figure_rows ();
  g_autoptr (GError) error = NULL;

  ck_assert (g_ptr_array_find (chosen, &bench_workload_recursive, NULL));
  ck_assert (g_ptr_array_find (chosen, &bench_workload_no_hints, NULL));
  ck_assert (!g_ptr_array_find (every, &bench_workload_external, NULL));
  ck_assert_uint_ge (every->len, chosen->len);
  ck_assert_ptr_null (bench_figure_choose (wrong, &error));
  ck_assert (g_error_matches (error, BENCH_ERROR, BENCH_ERROR_ARGUMENT));
  ck_assert_ptr_nonnull (strstr (error->message, "“A77”"));
  for (guint i = 0; i < rows->len; i++)
    ck_assert_ptr_nonnull (strstr (error->message, g_ptr_array_index (rows, i)));
}

/* A row that no list of published figures ends would be read beyond its end. */
TEST (every_figure_is_complete)
{
  const BenchWorkload *workload;

  for (guint i = 0; (workload = bench_workload_nth (i)) != NULL; i++)
    {
      const BenchFigure *figure = workload->figure;

      if (figure == NULL)
        continue;
      ck_assert_msg (figure->row != NULL && figure->title != NULL && figure->source != NULL
                         && figure->machine != NULL && figure->differs != NULL,
                     "the figure of %s lacks a part", workload->name);
      for (const BenchPublished *p = figure->published; p != NULL && p->what != NULL; p++)
        ck_assert_msg (!(p->low > p->high), "%s: %s", workload->name, p->what);
    }
}

/* --- ours ------------------------------------------------------------------------------------- */

/* @base takes 1.1, 1.2 ... seconds, the contender half of it. */
static BenchResult *
result_of_halves (BenchRelation relation)
{
  BenchResult *result = bench_result_new ("halves", &options);
  BenchSeries *base = bench_series_new ("load", "base", BENCH_IRIS, 2, 10);
  BenchSeries *half = bench_series_new ("load", "half", BENCH_IRIS, 2, 10);

  bench_result_add_series (result, base);
  bench_result_add_series (result, half);
  bench_series_compare (base, base, relation);
  bench_series_compare (half, base, relation);
  for (guint i = 1; i <= 4; i++)
    {
      bench_series_add (base, 1 + i / 10.0);
      bench_series_add (half, (1 + i / 10.0) / 2);
    }

  return result;
}

TEST (ours_is_the_comparison_of_a_series_with_its_interval)
{
  g_autoptr (BenchResult) result = result_of_halves (BENCH_FACTOR);
  const BenchPublished published = { "half", "load", "half", 1.2, 1.55 };
  BenchOurs ours = bench_published_find (&published, result);
  g_autofree char *theirs = bench_published_describe (&published, &ours);
  g_autofree char *median = bench_ours_describe (&ours, ours.ours.median);
  g_autofree char *interval = bench_ours_describe_interval (&ours);

  ck_assert_str_eq (theirs, "1.20 to 1.55x");
  ck_assert_str_eq (median, "2.00x");
  ck_assert_str_eq (interval, "2.00x");
  ck_assert_double_eq_tol (ours.ours.best, 2, 1e-12);
}

TEST (ours_may_be_the_sample_itself_or_compared_with_another_base)
{
  g_autoptr (BenchResult) result = result_of_halves (BENCH_OVERHEAD);
  const BenchPublished sample = { "time", "load", "half", 3.062, 3.062, .is_sample = TRUE };
  const BenchPublished other = { "more", "load", "base", NAN, NAN, .base = "half" };
  BenchOurs ours = bench_published_find (&sample, result);
  g_autofree char *median = bench_ours_describe (&ours, ours.ours.median);
  g_autofree char *best = bench_ours_describe (&ours, ours.ours.best);

  ck_assert_str_eq (median, "0.625 s");
  ck_assert_str_eq (best, "0.600 s");
  ours = bench_published_find (&other, result);
  ck_assert_double_eq_tol (ours.ours.median, 100, 1e-9);

  g_autofree char *theirs = bench_published_describe (&other, &ours);

  ck_assert_str_eq (theirs, "-");
}

TEST (ours_is_unknown_if_it_took_no_part_or_would_be_compared_with_itself)
{
  static const BenchPublished unknown[] = {
    { "no load", NULL, NULL, 1, 1 },
    { "no such load", "none", "half", 1, 1 },
    { "no such contender", "load", "none", 1, 1 },
    { "no such base", "load", "half", 1, 1, .base = "none" },
    { "the base itself", "load", "base", 1, 1 },
  };
  g_autoptr (BenchResult) result = result_of_halves (BENCH_FACTOR);

  for (guint i = 0; i < G_N_ELEMENTS (unknown); i++)
    {
      BenchOurs ours = bench_published_find (&unknown[i], result);
      g_autofree char *median = bench_ours_describe (&ours, ours.ours.median);
      g_autofree char *interval = bench_ours_describe_interval (&ours);

      ck_assert_str_eq (median, "-");
      ck_assert_str_eq (interval, "-");
    }
}

TEST_MAIN ("report", NULL, NULL)
