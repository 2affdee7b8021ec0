/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Snapshots of statistics: quantiles, copies, differences, measures, and how they are told.
 */
#include "core-test-util.h"

#include <iris/base/iris-clock-private.h>
#include <iris/sched/stats/iris-stats-private.h>
#include <json-glib/json-glib.h>

#include <string.h>

TEST (without_samples_a_quantile_is_0)
{
  g_autoptr (IrisStats) stats = iris_stats_new (1, 1);

  ck_assert_uint_eq (iris_stats_delay_quantile (stats, 0), 0);
  ck_assert_uint_eq (iris_stats_delay_quantile (stats, 0.5), 0);
  ck_assert_uint_eq (iris_stats_delay_quantile (stats, 1), 0);
}

LOOP_TEST (a_quantile_is_the_upper_end_of_its_bucket, 0, IRIS_STATS_DELAY_BUCKETS)
{
  g_autoptr (IrisStats) stats = iris_stats_new (1, 1);

  stats->delay[_i] = 1;
  ck_assert_uint_eq (iris_stats_delay_quantile (stats, 0), (guint64) 2 << _i);
  ck_assert_uint_eq (iris_stats_delay_quantile (stats, 0.5), (guint64) 2 << _i);
  ck_assert_uint_eq (iris_stats_delay_quantile (stats, 1), (guint64) 2 << _i);
}

TEST (quantiles_divide_the_samples)
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

TEST (a_copy_has_everything_and_stands_alone)
{
  IrisStats *stats = iris_stats_new (2, 3);
  g_autoptr (IrisStats) copy = NULL;

  memset (&stats->total, 1, sizeof stats->total);
  memset (stats->places, 2, 2 * sizeof *stats->places);
  memset (stats->workers, 3, 3 * sizeof *stats->workers);
  memset (stats->delay, 4, sizeof stats->delay);
  memset (stats->run, 5, sizeof stats->run);
  memset (stats->steals, 6, 4 * sizeof *stats->steals);
  stats->from_ns = 6;
  stats->to_ns = 7;
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
  ck_assert_mem_eq (copy->run, stats->run, sizeof stats->run);
  ck_assert_mem_eq (copy->steals, stats->steals, 4 * sizeof *stats->steals);
  ck_assert_int_eq (copy->from_ns, 6);
  ck_assert_int_eq (copy->to_ns, 7);

  iris_stats_free (stats);
  ck_assert_uint_eq (copy->workers[2].cancelled, G_GUINT64_CONSTANT (0x0303030303030303));
  ck_assert_int_eq (copy->worker_place[2], 1);
}

/* Counters of which each is another number. */
static void
fill (IrisCounters *counters, guint64 n)
{
  for (guint i = 0; i < iris_n_counter_infos; i++)
    iris_counters_set (counters, &iris_counter_infos[i], n * (i + 1));
}

TEST (counters_of_workers_add_up_but_the_most_is_the_most)
{
  IrisCounters sum = { 0 }, one, other;

  fill (&one, 10);
  fill (&other, 1000);
  iris_counters_join (&sum, &one);
  iris_counters_join (&sum, &other);
  for (guint i = 0; i < iris_n_counter_infos; i++)
    {
      const IrisCounterInfo *info = &iris_counter_infos[i];
      bool most = g_str_equal (info->name, "steal_most");

      ck_assert_int_eq (info->how, most ? IRIS_COUNTER_MAX : IRIS_COUNTER_SUM);
      ck_assert_uint_eq (iris_counters_get (&sum, info), (most ? 1000 : 1010) * (i + 1));
    }
}

TEST (a_difference_tells_of_the_time_between)
{
  g_autoptr (IrisStats) older = iris_stats_new (1, 1);
  g_autoptr (IrisStats) newer = iris_stats_new (1, 2);
  g_autoptr (IrisStats) diff = NULL;

  older->from_ns = newer->from_ns = 1000;
  older->to_ns = 2000;
  newer->to_ns = 5000;
  fill (&older->total, 1);
  fill (&newer->total, 4);
  fill (&older->places[0], 2);
  fill (&newer->places[0], 7);
  fill (&newer->workers[1], 9);
  older->delay[3] = 10;
  newer->delay[3] = 15;
  older->run[4] = 1;
  newer->run[4] = 8;
  /* Read a moment too early: no time is less than none. */
  older->workers[0].busy_ns = 11;
  newer->workers[0].busy_ns = 10;

  diff = iris_stats_diff (older, newer);
  ck_assert_uint_eq (iris_stats_get_span (newer), 4000);
  ck_assert_uint_eq (iris_stats_get_span (diff), 3000);
  ck_assert_uint_eq (diff->total.executed, 3);
  ck_assert_uint_eq (diff->total.steal_most, newer->total.steal_most);
  ck_assert_uint_eq (diff->places[0].executed, 5);
  ck_assert_uint_eq (diff->workers[0].busy_ns, 0);
  ck_assert_uint_eq (diff->workers[1].executed, 9);
  ck_assert_uint_eq (diff->delay[3], 5);
  ck_assert_uint_eq (diff->run[4], 7);
  ck_assert_uint_eq (iris_stats_run_quantile (diff, 0.5), 32);
}

TEST (a_difference_tells_who_stole_from_whom_between)
{
  g_autoptr (IrisStats) older = iris_stats_new (2, 2);
  g_autoptr (IrisStats) newer = iris_stats_new (2, 2);
  g_autoptr (IrisStats) diff = NULL;

  newer->to_ns = older->to_ns + 1;
  older->steals[1] = (IrisSteals){ 1, 4 };
  newer->steals[1] = (IrisSteals){ 3, 9 };
  diff = iris_stats_diff (older, newer);
  ck_assert_uint_eq (iris_stats_get_steals (diff, 0, 1)->steals, 2);
  ck_assert_uint_eq (iris_stats_get_steals (diff, 0, 1)->items, 5);
  ck_assert_uint_eq (iris_stats_get_steals (diff, 1, 0)->items, 0);
}

TEST (the_three_measures_are_what_they_say)
{
  IrisCounters c = { .executed = 200,
                     .steals = 20,
                     .stolen_in = 50,
                     .stolen_inside = 10,
                     .searching_ns = 1000,
                     .busy_ns = 3000,
                     .parked_ns = 1000000 };
  IrisCounters nothing = { 0 };

  ck_assert_double_eq (iris_counters_get_steal_ratio (&c), 0.1);
  ck_assert_double_eq (iris_counters_get_steal_rate (&c, 500000000), 40);
  ck_assert_double_eq (iris_counters_get_steal_overhead (&c), 0.25);
  ck_assert_double_eq (iris_counters_get_items_per_steal (&c), 3);

  ck_assert_double_eq (iris_counters_get_steal_ratio (&nothing), 0);
  ck_assert_double_eq (iris_counters_get_steal_rate (&nothing, 0), 0);
  ck_assert_double_eq (iris_counters_get_steal_overhead (&nothing), 0);
  ck_assert_double_eq (iris_counters_get_items_per_steal (&nothing), 0);
}

TEST (a_stopwatch_is_read_while_it_runs)
{
  IrisStopwatch watch = 0;
  gint64 now = iris_clock_ns ();
  guint64 first, second;

  ck_assert_uint_eq (iris_stopwatch_get (&watch), 0);
  iris_stopwatch_start (&watch, now - 5000000000);
  ck_assert (iris_stopwatch_runs (&watch));
  first = iris_stopwatch_get (&watch);
  second = iris_stopwatch_get (&watch);
  ck_assert_uint_ge (first, 5000000000);
  ck_assert_uint_ge (second, first);
  iris_stopwatch_stop (&watch, now);
  ck_assert (!iris_stopwatch_runs (&watch));
  ck_assert_uint_eq (iris_stopwatch_get (&watch), 5000000000);
  iris_stopwatch_start (&watch, now);
  iris_stopwatch_stop (&watch, now + 7);
  ck_assert_uint_eq (iris_stopwatch_get (&watch), 5000000007);
}

/* A snapshot with something in it. */
static IrisStats *
make_sample (void)
{
  IrisStats *stats = iris_stats_new (1, 2);

  stats->from_ns = 0;
  stats->to_ns = 2000000000;
  fill (&stats->total, 3);
  fill (&stats->places[0], 3);
  fill (&stats->workers[0], 1);
  fill (&stats->workers[1], 2);
  stats->steals[0] = (IrisSteals){ 5, 6 };
  stats->delay[9] = 4;
  stats->run[5] = 4;

  return stats;
}

static void
check_json_row (JsonObject *row, const IrisCounters *counters, guint64 span_ns)
{
  for (guint i = 0; i < iris_n_counter_infos; i++)
    ck_assert_int_eq (json_object_get_int_member (row, iris_counter_infos[i].name),
                      (gint64) iris_counters_get (counters, &iris_counter_infos[i]));
  ck_assert_double_eq_tol (json_object_get_double_member (row, "steal_ratio"),
                           iris_counters_get_steal_ratio (counters), 1e-12);
  ck_assert_double_eq_tol (json_object_get_double_member (row, "steal_rate"),
                           iris_counters_get_steal_rate (counters, span_ns), 1e-9);
  ck_assert_double_eq_tol (json_object_get_double_member (row, "steal_overhead"),
                           iris_counters_get_steal_overhead (counters), 1e-12);
  ck_assert_double_eq_tol (json_object_get_double_member (row, "items_per_steal"),
                           iris_counters_get_items_per_steal (counters), 1e-12);
}

TEST (json_has_every_number)
{
  g_autoptr (IrisStats) stats = make_sample ();
  g_autofree char *text = iris_stats_to_json (stats);
  g_autoptr (JsonNode) node = json_from_string (text, NULL);
  JsonObject *all, *times;
  JsonArray *workers;

  ck_assert_ptr_nonnull (node);
  ck_assert_ptr_null (strchr (text, '\n'));
  all = json_node_get_object (node);
  ck_assert_int_eq (json_object_get_int_member (all, "span_ns"), 2000000000);
  check_json_row (json_object_get_object_member (all, "total"), &stats->total, 2000000000);
  ck_assert_uint_eq (json_array_get_length (json_object_get_array_member (all, "places")), 1);
  times = json_array_get_object_element (json_object_get_array_member (all, "places"), 0);
  ck_assert_int_eq (
      json_array_get_int_element (json_object_get_array_member (times, "steals_from"), 0), 5);
  ck_assert_int_eq (
      json_array_get_int_element (json_object_get_array_member (times, "stolen_from"), 0), 6);
  workers = json_object_get_array_member (all, "workers");
  ck_assert_uint_eq (json_array_get_length (workers), 2);
  for (guint i = 0; i < 2; i++)
    {
      JsonObject *row = json_array_get_object_element (workers, i);

      ck_assert_int_eq (json_object_get_int_member (row, "index"), i);
      ck_assert_int_eq (json_object_get_int_member (row, "place"), 0);
      check_json_row (row, &stats->workers[i], 2000000000);
    }
  times = json_object_get_object_member (all, "delay");
  ck_assert_int_eq (json_object_get_int_member (times, "samples"), 4);
  ck_assert_int_eq (json_object_get_int_member (times, "p99_9_ns"), 1024);
  ck_assert_uint_eq (json_array_get_length (json_object_get_array_member (times, "buckets")),
                     IRIS_STATS_DELAY_BUCKETS);
  times = json_object_get_object_member (all, "run");
  ck_assert_int_eq (json_object_get_int_member (times, "max_ns"), 64);
}

TEST (the_table_has_every_row_and_column)
{
  g_autoptr (IrisStats) stats = make_sample ();
  g_autofree char *text = iris_stats_to_string (stats);
  static const char *const expected[] = {
    "2.000 s, 1 places, 2 workers\n",
    "\ntotal ",
    "\nplace 0 ",
    "\nworker 1 (0) ",
    "steal most",
    "searching s",
    "steal rate",
    "steal overhead",
    "p99.9 < 1024 ns",
    "of 4 samples",
  };

  for (guint i = 0; i < G_N_ELEMENTS (expected); i++)
    ck_assert_msg (strstr (text, expected[i]) != NULL, "no \"%s\" in:\n%s", expected[i], text);
  for (guint i = 0; i < iris_n_counter_infos; i++)
    {
      g_autofree char *title = g_strdup (iris_counter_infos[i].name);

      if (g_str_has_suffix (title, "_ns"))
        g_strlcpy (title + strlen (title) - 3, "_s", 3);
      g_strdelimit (title, "_", ' ');
      ck_assert_msg (strstr (text, title) != NULL, "no \"%s\" in:\n%s", title, text);
    }
}

TEST_MAIN ("stats", NULL, NULL)
