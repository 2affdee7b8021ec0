/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * iris-bench itself: its checks find what is planted, and its sums are right.
 */
#include <check.h>
#include <stdlib.h>

#include "core-test-run.h"
#include "tests/bench/peers/bench-contender.h"
#include "tests/bench/report/bench-report.h"
#include "tests/bench/workloads/numeric/bench-numeric.h"

#include <iris/iris.h>
#include <math.h>

static const BenchSeries *
find_series (const BenchResult *result, const char *load, const char *contender)
{
  for (guint i = 0; i < result->series->len; i++)
    {
      const BenchSeries *series = g_ptr_array_index (result->series, i);

      if (g_str_equal (series->load, load) && g_str_equal (series->contender, contender))
        return series;
    }
  ck_abort_msg ("%s did not run on %s", load, contender);
}

static const BenchOptions small = { .workers = 2, .rounds = 3, .scale = 1, .peers = TRUE };

/* --- checks of runs --------------------------------------------------------------------------- */

TEST (the_count_finds_an_item_too_few_or_too_many)
{
  g_autoptr (GError) few = NULL, many = NULL;

  bench_counts_reset ();
  for (guint i = 0; i < 5; i++)
    bench_count_one ();
  ck_assert (bench_counts_check (5, 0, NULL));
  ck_assert (!bench_counts_check (6, 0, &few));
  ck_assert (g_error_matches (few, BENCH_ERROR, BENCH_ERROR_RESULT));
  ck_assert_str_eq (few->message, "5 of 6 items were executed");
  ck_assert (!bench_counts_check (4, 0, &many));
  bench_counts_reset ();
  ck_assert (bench_counts_check (0, 0, NULL));
}

/* A step waits for the one before in six instructions: no processor makes ten thousand in a
 * microsecond, but a compiler does that leaves them out. */
TEST (the_calibration_measures_work_that_is_done)
{
  ck_assert_uint_lt (bench_work_new (1).steps, 10000);
}

TEST (the_sum_finds_work_that_was_left_out)
{
  BenchWork work = bench_work_new (1), less = { work.steps - 1, 0 };

  ck_assert_uint_gt (work.steps, 1);
  bench_counts_reset ();
  bench_item_run (&work);
  bench_item_run (&work);
  ck_assert (bench_counts_check (2, 2 * work.result, NULL));
  bench_item_run (&less);
  ck_assert (!bench_counts_check (3, 3 * work.result, NULL));
}

/* A computation of four numbers, one a tile; the flag plants a tile that does nothing. */
typedef struct
{
  gdouble values[4];
  gboolean lazy;
} Quadruple;

static void
quadruple_restart (gpointer problem)
{
  Quadruple *self = problem;

  for (guint i = 0; i < 4; i++)
    self->values[i] = 0;
}

static void
quadruple_tile (gpointer problem, guint phase, guint tile)
{
  Quadruple *self = problem;

  if (!self->lazy || tile != 2)
    self->values[tile] += tile + 1;
}

static void
quadruple_plain (gpointer problem)
{
  Quadruple *self = problem;

  for (guint i = 0; i < 4; i++)
    self->values[i] = 2 * (i + 1);
}

static guint
quadruple_n_tiles (gpointer problem, guint phase)
{
  return 4;
}

static const gdouble *
quadruple_values (gpointer problem, gsize *n)
{
  *n = 4;

  return ((Quadruple *) problem)->values;
}

static gboolean
quadruple_check (gpointer problem, GError **error)
{
  return TRUE;
}

static BenchResult *
run_quadruple (gboolean lazy, GError **error)
{
  Quadruple *problem = g_new0 (Quadruple, 1);
  g_autoptr (BenchResult) result = bench_result_new ("quadruple", &small);
  BenchNumeric numeric = { .problem = problem,
                           .free = g_free,
                           .restart = quadruple_restart,
                           .plain = quadruple_plain,
                           .phases = { problem, 2, quadruple_n_tiles, quadruple_tile },
                           .values = quadruple_values,
                           .check_plain = quadruple_check };

  problem->lazy = lazy;

  return bench_numeric_plan (result, &small, &numeric, error)
                 && bench_result_measure (result, error)
             ? g_steal_pointer (&result)
             : NULL;
}

TEST (tiles_that_come_to_the_numbers_of_plain_C_are_accepted)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (BenchResult) result = run_quadruple (FALSE, &error);
  const BenchSeries *one, *two;

  ck_assert_msg (result != NULL, "%s", error != NULL ? error->message : "");
  one = find_series (result, "1 worker", "work-stealing");
  two = find_series (result, "2 workers", "gthreadpool");
  ck_assert_uint_eq (one->samples->len, small.rounds);
  ck_assert_int_eq (one->relation, BENCH_OVERHEAD);
  ck_assert_int_eq (two->relation, BENCH_FACTOR);
  ck_assert_uint_eq (two->n_items, 8);
}

TEST (a_tile_that_was_left_out_is_found_and_named)
{
  g_autoptr (GError) error = NULL;

  ck_assert_ptr_null (run_quadruple (TRUE, &error));
  ck_assert (g_error_matches (error, BENCH_ERROR, BENCH_ERROR_RESULT));
  ck_assert_str_eq (error->message, "quadruple, 1 worker on default: number 2 of 4 is 0, where "
                                    "plain C has 6");
}

/* --- rounds ----------------------------------------------------------------------------------- */

static GString *order;

static gboolean
note_order (const BenchRun *run, gdouble *samples, GError **error)
{
  g_string_append_c (order, *(const char *) run->load);
  samples[0] = order->len;

  return TRUE;
}

TEST (every_round_starts_with_another_and_goes_the_other_way)
{
  g_autoptr (BenchResult) result = bench_result_new ("rounds", &small);

  order = g_string_new (NULL);
  for (int c = 'a'; c <= 'c'; c++)
    {
      BenchSeries *series = bench_result_add_series (
          result, bench_series_new ("load", (char[]){ (char) c, '\0' }, BENCH_IRIS, 1, 1));

      bench_result_add_trial (result, note_order, &(BenchRun){ .load = series->contender }, series,
                              NULL);
    }
  ck_assert (bench_result_measure (result, NULL));
  ck_assert_str_eq (order->str, "abc" /* warms up */ "baccabacb");
  ck_assert_uint_eq (find_series (result, "load", "a")->samples->len, small.rounds);
  ck_assert_double_eq (bench_series_summary (find_series (result, "load", "b")).min, 4);
  g_string_free (order, TRUE);
}

static gboolean
write_samples (const BenchRun *run, gdouble *samples, GError **error)
{
  for (guint i = 0; i < 3; i++)
    samples[i] = i + 1;

  return TRUE;
}

TEST (what_a_run_measures_besides_is_a_load_of_its_own)
{
  g_autoptr (BenchResult) result = bench_result_new ("extras", &small);
  BenchCase what = { .load = "load",
                     .n_items = 7,
                     .extras = { { "rate", BENCH_PER_SECOND }, { "share", BENCH_PERCENT } },
                     .run = write_samples };
  const BenchSeries *series;

  bench_result_add (result, &what, "a", BENCH_IRIS, NULL);
  bench_result_add (result, &what, "b", BENCH_IRIS, NULL);
  ck_assert (bench_result_measure (result, NULL));
  ck_assert_uint_eq (result->series->len, 6);
  for (guint i = 0; i < 3; i++)
    {
      series = find_series (result, ((const char *[]){ "load", "rate", "share" })[i], "b");
      ck_assert_uint_eq (series->samples->len, small.rounds);
      ck_assert_double_eq (bench_series_summary (series).median, i + 1);
      ck_assert_int_eq (series->relation, i == 0 ? BENCH_FACTOR : BENCH_NOT_COMPARED);
      ck_assert_uint_eq (series->n_items, i == 0 ? 7 : 0);
    }
  ck_assert_int_eq (series->unit, BENCH_PERCENT);
}

TEST (series_of_one_load_stand_together)
{
  static const char *const loads[] = { "x", "y", "x", "y" };
  g_autoptr (BenchResult) result = bench_result_new ("loads", &small);
  g_autoptr (GString) found = g_string_new (NULL);

  order = g_string_new (NULL);
  for (guint i = 0; i < G_N_ELEMENTS (loads); i++)
    {
      BenchSeries *series = bench_result_add_series (
          result, bench_series_new (loads[i], i < 2 ? "a" : "b", BENCH_IRIS, 1, 1));

      bench_result_add_trial (result, note_order, &(BenchRun){ .load = "-" }, series, NULL);
    }
  ck_assert (bench_result_measure (result, NULL));
  for (guint i = 0; i < result->series->len; i++)
    {
      const BenchSeries *series = g_ptr_array_index (result->series, i);

      g_string_append_printf (found, "%s%s ", series->load, series->contender);
    }
  ck_assert_str_eq (found->str, "xa xb ya yb ");
  g_string_free (order, TRUE);
}

/* --- sums ------------------------------------------------------------------------------------- */

static BenchSeries *
series_of (const char *load, const char *contender, BenchKind kind, gdouble a, gdouble b, gdouble c)
{
  BenchSeries *series = bench_series_new (load, contender, kind, 2, 10);

  bench_series_add (series, a);
  bench_series_add (series, b);
  bench_series_add (series, c);

  return series;
}

TEST (a_summary_is_median_range_and_middle_half)
{
  BenchSeries *series = series_of ("l", "c", BENCH_IRIS, 8, 2, 4);
  BenchSummary summary = bench_series_summary (series);

  ck_assert_double_eq (summary.median, 4);
  ck_assert_double_eq (summary.min, 2);
  ck_assert_double_eq (summary.max, 8);
  ck_assert_double_eq (summary.low_quartile, 3);
  ck_assert_double_eq (summary.high_quartile, 6);
  ck_assert_double_eq (bench_series_per_item (series), 0.4);
  bench_series_free (series);
}

static GArray *
numbers_of (gdouble first, guint n)
{
  GArray *numbers = g_array_new (FALSE, FALSE, sizeof (gdouble));

  for (guint i = 0; i < n; i++)
    {
      gdouble number = first + i;

      g_array_append_val (numbers, number);
    }

  return numbers;
}

TEST (the_interval_holds_the_median_and_narrows_with_more_samples)
{
  g_autoptr (GArray) one = numbers_of (7, 1), few = numbers_of (0, 11), many = numbers_of (0, 1001);
  gdouble low, high, again_low, again_high, width;

  bench_median_interval (one, &low, &high);
  ck_assert_double_eq (low, 7);
  ck_assert_double_eq (high, 7);
  bench_median_interval (few, &low, &high);
  ck_assert_double_ge (low, 1);
  ck_assert_double_lt (low, 5);
  ck_assert_double_gt (high, 5);
  ck_assert_double_le (high, 9);
  bench_median_interval (few, &again_low, &again_high);
  ck_assert_double_eq (low, again_low);
  ck_assert_double_eq (high, again_high);
  width = (high - low) / 11;
  bench_median_interval (many, &low, &high);
  ck_assert_double_lt (low, 500);
  ck_assert_double_gt (high, 500);
  ck_assert_double_lt ((high - low) / 1001, width / 2);
}

TEST (the_ratio_of_two_medians_has_an_interval_that_holds_it)
{
  g_autoptr (GArray) a = numbers_of (100, 11), b = numbers_of (200, 11), none = numbers_of (0, 0);
  gdouble low, high, again_low, again_high;

  bench_ratio_interval (a, b, &low, &high);
  ck_assert_double_lt (low, 205.0 / 105);
  ck_assert_double_gt (high, 205.0 / 105);
  ck_assert_double_gt (low, 1.8);
  ck_assert_double_lt (high, 2.1);
  bench_ratio_interval (a, b, &again_low, &again_high);
  ck_assert_double_eq (low, again_low);
  ck_assert_double_eq (high, again_high);
  bench_ratio_interval (none, b, &low, &high);
  ck_assert_double_nan (low);
}

/* Of all C(10, 5) = 252 orders of five and five numbers one has all of the first before all of the
 * second, and one the other way round. */
TEST (the_rank_test_counts_orders)
{
  g_autoptr (GArray) low = numbers_of (1, 5), high = numbers_of (6, 5), three = numbers_of (0, 3);
  g_autoptr (GArray) four = numbers_of (10, 4), odd = numbers_of (0, 0), even = numbers_of (0, 0);

  ck_assert_double_eq_tol (bench_rank_test (low, high), 2 / 252.0, 1e-12);
  ck_assert_double_eq_tol (bench_rank_test (high, low), 2 / 252.0, 1e-12);
  ck_assert_double_eq_tol (bench_rank_test (three, four), 2 / 35.0, 1e-12);
  for (guint i = 0; i < 10; i++)
    {
      gdouble number = i;

      g_array_append_val (i % 2 == 0 ? even : odd, number);
    }
  ck_assert_double_gt (bench_rank_test (even, odd), 0.5);
}

TEST (equal_numbers_tell_nothing_and_many_are_nearly_normal)
{
  g_autoptr (GArray) same = numbers_of (7, 1), none = numbers_of (0, 0);
  g_autoptr (GArray) many = numbers_of (0, 40), more = numbers_of (20.5, 40);
  const gdouble seven = 7;

  for (guint i = 0; i < 9; i++)
    g_array_append_val (same, seven);
  ck_assert_double_eq (bench_rank_test (same, same), 1);
  ck_assert_double_eq (bench_rank_test (same, none), 1);
  ck_assert_double_lt (bench_rank_test (many, more), 1e-6);
  ck_assert_double_gt (bench_rank_test (many, more), 0);
  ck_assert_double_gt (bench_rank_test (many, many), 0.9);
}

TEST (of_many_tests_some_succeed_by_chance_and_are_not_believed)
{
  g_autoptr (GArray) all = numbers_of (0.01, 0), some = numbers_of (0, 0), none = numbers_of (0, 0);

  for (guint i = 1; i <= 20; i++)
    {
      gdouble good = 0.002 * i, chance = 0.05 * i, mixed = i == 1 ? 0.001 : 0.05 * i;

      g_array_append_val (all, good);
      g_array_append_val (none, chance);
      g_array_append_val (some, mixed);
    }
  ck_assert_double_eq_tol (bench_discoveries (all, 0.05), 0.04, 1e-12);
  ck_assert_double_eq (bench_discoveries (some, 0.05), 0.001);
  ck_assert_double_lt (bench_discoveries (none, 0.05), 0);
}

TEST (the_best_are_the_smallest)
{
  g_autoptr (GArray) ten = numbers_of (1, 10), two = numbers_of (1, 2), none = numbers_of (0, 0);
  gdouble low, high;

  ck_assert_double_eq (bench_mean_of_best (ten, 3), 2);
  ck_assert_double_eq (bench_mean_of_best (two, 3), 1.5);
  ck_assert_double_nan (bench_mean_of_best (none, 3));
  bench_median_interval (none, &low, &high);
  ck_assert_double_nan (low);
  ck_assert_double_nan (high);
}

TEST (samples_of_one_round_are_compared_with_each_other)
{
  static const struct
  {
    BenchRelation relation;
    gdouble median;
  } expected[] = {
    { BENCH_FACTOR, 2 },
    { BENCH_OVERHEAD, -50 },
    { BENCH_IDEAL, 100 },
    { BENCH_EXTRA, -0.2 },
  };
  /* Round by round the base takes 1.5, 2 and 10 times as long: 2 is the middle. */
  BenchSeries *base = series_of ("l", "base", BENCH_PLAIN, 3, 4, 100);
  BenchSeries *series = series_of ("l", "c", BENCH_IRIS, 2, 2, 10);

  for (guint i = 0; i < G_N_ELEMENTS (expected); i++)
    {
      bench_series_compare (series, base, expected[i].relation);
      ck_assert_double_eq_tol (bench_series_compared (series).median, expected[i].median, 1e-12);
    }
  bench_series_compare (series, base, BENCH_FACTOR);
  ck_assert_double_eq (bench_series_compared (series).min, 1.5);
  ck_assert_double_eq (bench_series_compared (series).max, 10);
  bench_series_free (series);
  bench_series_free (base);
}

/* --- goals ------------------------------------------------------------------------------------ */

static const BenchGoal *
find_goal (GPtrArray *goals, const char *figure)
{
  for (guint i = 0; i < goals->len; i++)
    if (g_str_has_prefix (((const BenchGoal *) g_ptr_array_index (goals, i))->figure, figure))
      return g_ptr_array_index (goals, i);
  ck_abort_msg ("there is no goal %s", figure);
}

/* Seconds of 10 items: work-stealing takes 4 ns for one, and so on. */
static GPtrArray *
recursive_results (void)
{
  GPtrArray *results = g_ptr_array_new_with_free_func ((GDestroyNotify) bench_result_free);
  BenchResult *result = bench_result_new ("recursive", &small);

  bench_result_add_series (result,
                           series_of ("items", "work-stealing", BENCH_IRIS, 40e-9, 40e-9, 40e-9));
  bench_result_add_series (result,
                           series_of ("items", "default", BENCH_IRIS, 360e-9, 360e-9, 360e-9));
  bench_result_add_series (result,
                           series_of ("items", "onetbb", BENCH_PEER, 900e-9, 900e-9, 900e-9));
  bench_result_add_series (result,
                           series_of ("items", "onetbb-for", BENCH_PEER, 500e-9, 500e-9, 500e-9));
  g_ptr_array_add (results, result);

  return results;
}

TEST (goals_are_reached_missed_or_unknown)
{
  g_autoptr (GPtrArray) results = recursive_results ();
  g_autoptr (GPtrArray) goals = bench_goals_check (results, BENCH_SUITE_COMPARE);

  ck_assert_int_eq (find_goal (goals, "recursive, items, work-stealing against default")->verdict,
                    BENCH_MISSED);
  ck_assert_int_eq (find_goal (goals, "recursive, items, work-stealing against onetbb")->verdict,
                    BENCH_REACHED);
  ck_assert_int_eq (find_goal (goals, "external, 1 producer, iris against gthr")->verdict,
                    BENCH_UNKNOWN);
  ck_assert_str_eq (find_goal (goals, "external, 1 producer, iris against gthr")->measured,
                    "not run");
}

/* A series of that test has 10 items. */
TEST (the_daemon_has_goals_of_its_own)
{
  g_autoptr (GPtrArray)
      results = g_ptr_array_new_with_free_func ((GDestroyNotify) bench_result_free);
  BenchResult *daemon = bench_result_new ("daemon", &small);
  const BenchGoal *goal;

  bench_result_add_series (daemon,
                           series_of ("echo, median", "irisd", BENCH_IRIS, 12e-5, 13e-5, 15e-5));
  bench_result_add_series (daemon,
                           series_of ("echo, median", "zeromq", BENCH_PEER, 1e-4, 1e-4, 1e-4));
  bench_result_add_series (daemon,
                           series_of ("durable, 1 client", "irisd", BENCH_IRIS, .005, .008, .01));
  g_ptr_array_add (results, daemon);

  g_autoptr (GPtrArray) goals = bench_goals_check (results, BENCH_SUITE_DAEMON);

  goal = find_goal (goals, "daemon, echo, median, irisd against zeromq");
  ck_assert_int_eq (goal->verdict, BENCH_REACHED);
  ck_assert_str_eq (goal->measured, "1.30x (1.20 to 1.50), irisd against zeromq");
  goal = find_goal (goals, "daemon, durable, 1 client, irisd");
  ck_assert_int_eq (goal->verdict, BENCH_MISSED);
  ck_assert_str_eq (goal->measured, "1250.00/s (1000.00 to 2000.00), irisd");
}

static void
add_cell (BenchResult *result, const char *load, gdouble off, gdouble a, gdouble b, gdouble c)
{
  bench_result_add_series (result, series_of (load, "lock:off", BENCH_IRIS, off, off, off));
  bench_result_add_series (result, series_of (load, "lock:always", BENCH_IRIS, 2, 2, 2));
  bench_result_add_series (result, series_of (load, "lock:adaptive", BENCH_IRIS, a, b, c));
}

TEST (each_cell_of_the_locks_has_a_goal_that_tells_noise)
{
  g_autoptr (GPtrArray)
      results = g_ptr_array_new_with_free_func ((GDestroyNotify) bench_result_free);
  BenchResult *locks = bench_result_new ("locks", &small);
  const BenchGoal *goal;
  guint n = 0;

  add_cell (locks, "single_ctr, 4 threads", 1, 1.01, 1.02, 1.02);
  add_cell (locks, "single_ctr, 4 threads, processor time", 1, 9, 9, 9);
  add_cell (locks, "affinity, 8 threads", 1, 1.01, 1.02, 1.5);
  add_cell (locks, "affinity, 8 items", 4, 2.2, 2.2, 2.3);
  g_ptr_array_add (results, locks);

  g_autoptr (GPtrArray) goals = bench_goals_check (results, BENCH_SUITE_COMPARE);

  goal = find_goal (goals, "locks, single_ctr, 4 threads, lock:adaptive");
  ck_assert_int_eq (goal->verdict, BENCH_REACHED);
  ck_assert_str_eq (goal->measured, "2.00 % (95 %: 1.00 to 2.00), lock:adaptive against lock:off");
  goal = find_goal (goals, "locks, affinity, 8 threads, lock:adaptive");
  ck_assert_int_eq (goal->verdict, BENCH_NOISE);
  goal = find_goal (goals, "locks, affinity, 8 items, lock:adaptive");
  ck_assert_int_eq (goal->verdict, BENCH_MISSED);
  ck_assert_str_eq (goal->measured,
                    "10.00 % (95 %: 10.00 to 15.00), lock:adaptive against lock:always");
  for (guint i = 0; i < goals->len; i++)
    n += g_str_has_prefix (((const BenchGoal *) g_ptr_array_index (goals, i))->figure, "locks, ")
         && ((const BenchGoal *) g_ptr_array_index (goals, i))->verdict != BENCH_UNKNOWN;
  ck_assert_uint_eq (n, 3);
}

TEST (rows_of_papers_have_the_goals_of_their_workloads_alone)
{
  g_autoptr (GPtrArray)
      results = g_ptr_array_new_with_free_func ((GDestroyNotify) bench_result_free);
  g_autoptr (GPtrArray) chosen = g_ptr_array_new ();
  BenchResult *stress = bench_result_new ("cache-threads", &small);
  static const char *const names[] = { "best", "worst", "ignorant" };
  static const gdouble times[][3] = { { 10, 10, 10 }, { 13, 13, 13 }, { 9, 11, 12 } };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    bench_result_add_series (stress, series_of ("linked, by turns", names[i], BENCH_IRIS,
                                                times[i][0], times[i][1], times[i][2]));
  g_ptr_array_add (results, stress);
  g_ptr_array_add (chosen, (gpointer) bench_workload_find ("cache-threads"));
  g_ptr_array_add (chosen, (gpointer) bench_workload_find ("merge-sort"));

  g_autoptr (GPtrArray) goals = bench_goals_check_rows (results, chosen);

  ck_assert_int_eq (find_goal (goals, "cache-threads, linked, by turns, best against wor")->verdict,
                    BENCH_REACHED);
  ck_assert_int_eq (find_goal (goals, "cache-threads, linked, by turns, best against ign")->verdict,
                    BENCH_NOISE);
  ck_assert_int_eq (find_goal (goals, "merge-sort, sort, best against ignorant")->verdict,
                    BENCH_UNKNOWN);
  for (guint i = 0; i < goals->len; i++)
    ck_assert_msg (
        !g_str_has_prefix (((const BenchGoal *) g_ptr_array_index (goals, i))->figure, "recursive"),
        "a workload that was not chosen has a goal");
}

TEST (a_peer_is_judged_by_its_faster_idiom)
{
  g_autoptr (GPtrArray) results = recursive_results ();
  g_autoptr (GPtrArray) goals = bench_goals_check (results, BENCH_SUITE_COMPARE);

  ck_assert_str_eq (find_goal (goals, "recursive, items, work-stealing against onetbb")->measured,
                    "12.50x (95 %: 12.50 to 12.50), work-stealing against onetbb-for");
}

/* --- contenders ------------------------------------------------------------------------------- */

/* Choices of the scheduler of places, as its properties have them. */
static guint
count_choices (guint *n_settings)
{
  g_autoptr (GTypeClass) klass = g_type_class_ref (IRIS_TYPE_PLACE_SCHEDULER);
  g_autofree GParamSpec **specs = NULL;
  guint n, combinations = 1;

  *n_settings = 0;
  specs = g_object_class_list_properties (G_OBJECT_CLASS (klass), &n);
  for (guint i = 0; i < n; i++)
    if (G_IS_PARAM_SPEC_ENUM (specs[i]) && (specs[i]->flags & G_PARAM_CONSTRUCT_ONLY) != 0)
      {
        GEnumClass *values = G_PARAM_SPEC_ENUM (specs[i])->enum_class;
        /* A deque that gives out an item twice suits users that can bear it; schedulers cannot. */
        gboolean has_refused = g_enum_get_value_by_nick (values, "idempotent") != NULL;
        guint n_values = values->n_values - has_refused;

        combinations *= n_values;
        *n_settings += n_values - 1;
      }

  return combinations;
}

static guint
count_variants (BenchVariants variants)
{
  BenchOptions options = small;
  g_autoptr (GPtrArray) contenders = NULL;
  guint n = 0;

  options.variants = variants;
  contenders = bench_contenders (&options, BENCH_CAN_INSIDE);
  for (guint i = 0; i < contenders->len; i++)
    {
      const BenchContender *contender = g_ptr_array_index (contenders, i);

      n += g_str_has_prefix (contender->name, "places");
      if (g_str_has_prefix (contender->name, "places") && n == 1)
        ck_assert_str_eq (contender->name, "places");
    }

  return n;
}

TEST (every_setting_of_a_property_is_a_contender)
{
  guint n_settings, combinations = count_choices (&n_settings);

  ck_assert_uint_gt (n_settings, 0);
  ck_assert_uint_eq (count_variants (BENCH_VARIANTS_NONE), 1);
  ck_assert_uint_eq (count_variants (BENCH_VARIANTS_ONE), 1 + n_settings);
  ck_assert_uint_eq (count_variants (BENCH_VARIANTS_ALL), combinations);
}

TEST_MAIN ("bench", NULL, NULL)
