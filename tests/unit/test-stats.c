/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Snapshots of statistics: quantiles and copies.
 */
#include "core-test-util.h"

#include <iris/sched/iris-stats-private.h>

#include <string.h>

START_TEST (without_samples_a_quantile_is_0)
{
  g_autoptr (IrisStats) stats = iris_stats_new (1, 1);

  ck_assert_uint_eq (iris_stats_delay_quantile (stats, 0), 0);
  ck_assert_uint_eq (iris_stats_delay_quantile (stats, 0.5), 0);
  ck_assert_uint_eq (iris_stats_delay_quantile (stats, 1), 0);
}
END_TEST

START_TEST (a_quantile_is_the_upper_end_of_its_bucket)
{
  g_autoptr (IrisStats) stats = iris_stats_new (1, 1);

  stats->delay[_i] = 1;
  ck_assert_uint_eq (iris_stats_delay_quantile (stats, 0), (guint64) 2 << _i);
  ck_assert_uint_eq (iris_stats_delay_quantile (stats, 0.5), (guint64) 2 << _i);
  ck_assert_uint_eq (iris_stats_delay_quantile (stats, 1), (guint64) 2 << _i);
}
END_TEST

START_TEST (quantiles_divide_the_samples)
{
  g_autoptr (IrisStats) stats = iris_stats_new (1, 1);

  stats->delay[3] = 50;
  stats->delay[10] = 49;
  stats->delay[39] = 1;
  ck_assert_uint_eq (iris_stats_delay_quantile (stats, 0), 16);
  ck_assert_uint_eq (iris_stats_delay_quantile (stats, 0.5), 16);
  ck_assert_uint_eq (iris_stats_delay_quantile (stats, 0.51), 2048);
  ck_assert_uint_eq (iris_stats_delay_quantile (stats, 0.99), 2048);
  ck_assert_uint_eq (iris_stats_delay_quantile (stats, 1), (guint64) 2 << 39);
}
END_TEST

START_TEST (a_copy_has_everything_and_stands_alone)
{
  IrisStats *stats = iris_stats_new (2, 3);
  g_autoptr (IrisStats) copy = NULL;

  memset (&stats->total, 1, sizeof stats->total);
  memset (stats->places, 2, 2 * sizeof *stats->places);
  memset (stats->workers, 3, 3 * sizeof *stats->workers);
  memset (stats->delay, 4, sizeof stats->delay);
  for (gint i = 0; i < 3; i++)
    stats->worker_place[i] = i / 2;

  copy = g_boxed_copy (IRIS_TYPE_STATS, stats);
  ck_assert_uint_eq (copy->n_places, 2);
  ck_assert_uint_eq (copy->n_workers, 3);
  ck_assert_mem_eq (&copy->total, &stats->total, sizeof stats->total);
  ck_assert_mem_eq (copy->places, stats->places, 2 * sizeof *stats->places);
  ck_assert_mem_eq (copy->workers, stats->workers, 3 * sizeof *stats->workers);
  ck_assert_mem_eq (copy->worker_place, stats->worker_place, 3 * sizeof (gint));
  ck_assert_mem_eq (copy->delay, stats->delay, sizeof stats->delay);

  iris_stats_free (stats);
  ck_assert_uint_eq (copy->workers[2].cancelled, G_GUINT64_CONSTANT (0x0303030303030303));
  ck_assert_int_eq (copy->worker_place[2], 1);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("stats");
  TCase *all = tcase_create ("all");

  tcase_add_test (all, without_samples_a_quantile_is_0);
  tcase_add_loop_test (all, a_quantile_is_the_upper_end_of_its_bucket, 0, IRIS_STATS_DELAY_BUCKETS);
  tcase_add_test (all, quantiles_divide_the_samples);
  tcase_add_test (all, a_copy_has_everything_and_stands_alone);
  suite_add_tcase (suite, all);

  return core_test_run (suite);
}
