/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The workloads of placement: their memory, sums and products are right, and each of them runs.
 */
#include <check.h>

#include "core-test-run.h"
#include "tests/bench/workloads/bench-workload.h"
#include "tests/bench/workloads/locality/bench-blocks.h"
#include "tests/bench/workloads/locality/bench-caches.h"
#include "tests/bench/workloads/locality/bench-lines.h"
#include "tests/bench/workloads/locality/bench-placement.h"
#include "tests/bench/workloads/numeric/bench-numeric.h"

#include <iris/iris.h>
#include <math.h>

/* Two places that any machine has. */
static const BenchOptions quick = { .workers = 2,
                                    .rounds = 1,
                                    .scale = 1,
                                    .peers = TRUE,
                                    .quick = TRUE,
                                    .places = (char *) "2" };

static BenchResult *
run_quickly (const char *name, const BenchOptions *options, GError **error)
{
  const BenchWorkload *workload = bench_workload_find (name);

  ck_assert_ptr_nonnull (workload);
  ck_assert (bench_workload_check (workload, options, error));

  return bench_workload_run (workload, options, error);
}

/* --- memory ----------------------------------------------------------------------------------- */

TEST (both_passes_come_to_the_sum_and_product_of_all_elements)
{
  g_autoptr (IrisPlaces) places = iris_places_new_unbound (1, 1);
  g_autoptr (BenchLines) lines = bench_lines_new (iris_places_get_place (places, 0), 100000, NULL);
  static const gsize sizes[] = { 1, 2, 3, 17, 1000, 1562 };

  ck_assert_ptr_nonnull (lines);
  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      BenchSum expected, ordered, linked;

      bench_lines_fill (lines, sizes[i], i + 1);
      ck_assert_uint_eq (lines->n, sizes[i]);
      expected = bench_lines_expect (lines);
      ordered = bench_lines_in_order (lines);
      linked = bench_lines_linked (lines);
      ck_assert_uint_eq (ordered.sum, expected.sum);
      ck_assert_uint_eq (ordered.product, expected.product);
      ck_assert_uint_eq (linked.sum, expected.sum);
      ck_assert_uint_eq (linked.product, expected.product);
      /* Odd numbers: else the product would soon say nothing. */
      ck_assert_uint_eq (expected.product % 2, 1);
    }
}

TEST (the_list_leads_through_every_line_before_it_is_back)
{
  g_autoptr (IrisPlaces) places = iris_places_new_unbound (1, 1);
  g_autoptr (BenchLines) lines = bench_lines_new (iris_places_get_place (places, 0), 65536, NULL);
  g_autofree gboolean *seen = g_new0 (gboolean, 1024);
  guint32 line = 0;

  bench_lines_fill (lines, 1024, 5);
  for (guint i = 0; i < 1024; i++)
    {
      ck_assert (!seen[line]);
      seen[line] = TRUE;
      line = bench_lines_chase (lines, line, 1);
    }
  ck_assert_uint_eq (line, 0);
  ck_assert_uint_eq (bench_lines_chase (lines, 7, 3 * 1024), 7);
}

TEST (places_without_hardware_have_no_cache)
{
  g_autoptr (IrisPlaces) virtual = iris_places_new_unbound (2, 1);
  g_autoptr (IrisPlaces) machine = iris_places_new (NULL, "machine", NULL);
  BenchCache caches[BENCH_MAX_CACHES];
  guint n = bench_caches_list (caches);

  ck_assert_uint_eq (bench_caches_of_places (virtual), 0);
  ck_assert_uint_eq (bench_caches_of_places (machine), n > 0 ? caches[n - 1].size : 0);
  for (guint i = 1; i < n; i++)
    ck_assert_uint_ge (caches[i].size, caches[i - 1].size);
}

/* --- blocks ----------------------------------------------------------------------------------- */

static void
check_product (guint n)
{
  gsize area = (gsize) n * n;
  g_autofree gdouble *numbers = g_new (gdouble, 2 * area), *product = g_new (gdouble, area);
  g_autofree gdouble *vector = g_new (gdouble, n), *right = g_new (gdouble, n);
  g_autofree gdouble *applied = g_new (gdouble, n), *found = g_new (gdouble, n);
  const gdouble *a = numbers, *b = numbers + area;

  bench_fill_random (numbers, 2 * area);
  for (gsize i = 0; i < area; i++)
    product[i] = NAN;
  bench_blocks_multiply (product, a, b, n);
  for (guint row = 0; row < n; row++)
    for (guint column = 0; column < n; column++)
      {
        gdouble expected = 0;

        for (guint k = 0; k < n; k++)
          expected += a[bench_blocks_index (n, row, k)] * b[bench_blocks_index (n, k, column)];
        ck_assert_double_eq_tol (product[bench_blocks_index (n, row, column)], expected, 1e-9);
      }
  bench_fill_random (vector, n);
  bench_blocks_apply (b, n, vector, right);
  bench_blocks_apply (a, n, right, applied);
  bench_blocks_apply (product, n, vector, found);
  for (guint row = 0; row < n; row++)
    ck_assert_double_eq_tol (found[row], applied[row], 1e-9 * n);
  product[area / 2] += 1e-3;
  bench_blocks_apply (product, n, vector, found);
  ck_assert_double_gt (fabs (found[n / 2] - applied[n / 2]), 1e-9 * n);
}

TEST (a_product_of_blocks_is_that_of_the_matrices)
{
  check_product (BENCH_BLOCK);
  check_product (2 * BENCH_BLOCK);
  check_product (4 * BENCH_BLOCK);
}

TEST (every_element_of_blocks_has_a_place_of_its_own)
{
  const guint n = 2 * BENCH_BLOCK;
  g_autofree gboolean *seen = g_new0 (gboolean, n * n);

  for (guint row = 0; row < n; row++)
    for (guint column = 0; column < n; column++)
      {
        gsize at = bench_blocks_index (n, row, column);

        ck_assert_uint_lt (at, n * n);
        ck_assert (!seen[at]);
        seen[at] = TRUE;
        /* The quadrants follow each other. */
        ck_assert_uint_eq (at / (n * n / 4), 2 * (row >= BENCH_BLOCK) + (column >= BENCH_BLOCK));
      }
}

TEST (a_sum_of_blocks_adds_every_element)
{
  gdouble sum[BENCH_BLOCK * BENCH_BLOCK], other[BENCH_BLOCK * BENCH_BLOCK];

  for (guint i = 0; i < G_N_ELEMENTS (sum); i++)
    {
      sum[i] = i;
      other[i] = 0.5;
    }
  bench_blocks_add (sum, other, BENCH_BLOCK);
  for (guint i = 0; i < G_N_ELEMENTS (sum); i++)
    ck_assert_double_eq (sum[i], i + 0.5);
}

/* --- placements ------------------------------------------------------------------------------- */

TEST (placements_are_refused_where_there_is_one_place)
{
  g_autoptr (GError) error = NULL;
  BenchOptions options = quick;

  options.places = (char *) "1";
  ck_assert_ptr_null (run_quickly ("merge-sort", &options, &error));
  ck_assert (g_error_matches (error, BENCH_ERROR, BENCH_ERROR_NO_CONTENDER));
  ck_assert_str_eq (
      error->message,
      "merge-sort compares placements, but there is one place, virtual:0: choose "
      "more of them with --places l2, --places 2 and the like, and as many --workers");
}

TEST (only_placements_can_be_chosen)
{
  g_autoptr (GError) error = NULL;
  BenchOptions options = quick;

  options.only = (char *[]){ (char *) "best", (char *) "work-stealing", NULL };
  ck_assert (!bench_workload_check (bench_workload_find ("merge-sort"), &options, &error));
  ck_assert (g_error_matches (error, BENCH_ERROR, BENCH_ERROR_ARGUMENT));
}

static gboolean
run_where (IrisInterval *interval, gpointer data, GError **error)
{
  *(guint *) data = iris_worker_get_place (iris_worker_current ());

  return TRUE;
}

static gboolean
fail_always (IrisInterval *interval, gpointer data, GError **error)
{
  return FALSE;
}

TEST (strict_intervals_run_where_they_are_put_and_one_that_fails_is_told)
{
  static const BenchPlacement strict = { "strict", BENCH_PLACED_BEST, IRIS_ITEM_STRICT,
                                         IRIS_DEAL_OWN };
  g_autoptr (IrisPlaces) places = iris_places_new_unbound (3, 1);
  g_autoptr (GError) error = NULL;
  BenchIntervals intervals;
  guint ran_at[9];
  gdouble seconds = 0;

  ck_assert (bench_intervals_open (&intervals, places, &strict, NULL));
  for (guint i = 0; i < G_N_ELEMENTS (ran_at); i++)
    bench_intervals_after (bench_intervals_add (&intervals, "where", run_where, &ran_at[i], i),
                           i > 0 ? g_ptr_array_index (intervals.intervals, i - 1) : NULL);
  ck_assert (bench_intervals_run (&intervals, &seconds, NULL));
  ck_assert_double_gt (seconds, 0);
  for (guint i = 0; i < G_N_ELEMENTS (ran_at); i++)
    ck_assert_uint_eq (ran_at[i], i % 3);
  bench_intervals_close (&intervals);

  ck_assert (bench_intervals_open (&intervals, places, &strict, NULL));
  bench_intervals_add (&intervals, "fails", fail_always, NULL, 0);
  ck_assert (!bench_intervals_run (&intervals, &seconds, &error));
  ck_assert (g_error_matches (error, BENCH_ERROR, BENCH_ERROR_RESULT));
  bench_intervals_close (&intervals);
}

/* --- the workloads, in sizes that show that they are right ------------------------------------ */

static void
check_quick (const char *name, guint n_loads, guint n_series)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (BenchResult) result = run_quickly (name, &quick, &error);
  g_autoptr (GHashTable) loads = g_hash_table_new (g_str_hash, g_str_equal);

  ck_assert_msg (result != NULL, "%s", error != NULL ? error->message : "");
  for (guint i = 0; i < result->series->len; i++)
    {
      const BenchSeries *series = g_ptr_array_index (result->series, i);

      ck_assert_uint_eq (series->samples->len, 1);
      g_hash_table_add (loads, series->load);
    }
  ck_assert_uint_ge (g_hash_table_size (loads), n_loads);
  ck_assert_uint_ge (result->series->len, n_series);
}

TEST (threads_come_to_the_sums_of_their_arrays) { check_quick ("cache-threads", 4, 16); }

TEST (intervals_come_to_the_sums_of_their_arrays) { check_quick ("cache-intervals", 4, 28); }

/* 20,000 numbers and 100 sorters: neither is a power of two. */
TEST (numbers_are_sorted_as_the_C_library_sorts_them) { check_quick ("merge-sort", 1, 6); }

TEST (the_product_by_quadrants_is_the_plain_one) { check_quick ("block-matrix", 1, 6); }

TEST (the_product_by_quadrants_stands_the_check_by_chance)
{
  g_autoptr (GError) error = NULL;
  BenchOptions options = quick;
  g_autoptr (BenchResult) result = NULL;

  options.quick = FALSE;
  options.size = 8 * BENCH_BLOCK;
  options.tile = BENCH_BLOCK;
  result = run_quickly ("block-matrix", &options, &error);
  ck_assert_msg (result != NULL, "%s", error != NULL ? error->message : "");
}

TEST (every_line_of_the_memory_is_accessed) { check_quick ("cache-latency", 1, 2); }

TEST_MAIN ("locality", NULL, NULL)
