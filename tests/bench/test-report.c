/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Reports of iris-bench: figures of the papers are found by their rows and held beside ours.
 */
#include <check.h>
#include <stdlib.h>

#include "core-test-run.h"
#include "tests/bench/report/bench-diff.h"
#include "tests/bench/report/bench-published.h"
#include "tests/bench/report/bench-report.h"

#include <math.h>
#include <sys/mman.h>
#include <unistd.h>

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

/* --- differences ------------------------------------------------------------------------------ */

#define SERIES 40
#define ROUNDS 10

/* Rounds scatter by a few percent, in another order in each series; one series takes longer. */
static JsonNode *
report_of (guint seed, gdouble longer, const char *extra)
{
  g_autoptr (GString) text = g_string_new ("{\"rounds\": 10, \"results\": [{\"workload\": \"w\", "
                                           "\"workers\": 2, \"series\": [");
  g_autoptr (GRand) random = g_rand_new_with_seed (seed);

  for (guint i = 0; i < SERIES; i++)
    {
      g_string_append_printf (text,
                              "%s{\"load\": \"load %u\", \"contender\": \"c\", \"unit\": \"s\", "
                              "\"samples\": [",
                              i > 0 ? ", " : "", i);
      for (guint j = 0; j < ROUNDS; j++)
        {
          char digits[G_ASCII_DTOSTR_BUF_SIZE];
          gdouble sample = g_rand_double_range (random, 0.95, 1.05) * (i == 7 ? longer : 1);

          g_string_append_printf (text, "%s%s", j > 0 ? ", " : "",
                                  g_ascii_dtostr (digits, sizeof digits, sample));
        }
      g_string_append (text, "]}");
    }
  g_string_append_printf (text, "%s]}]}", extra);

  return json_from_string (text->str, NULL);
}

static BenchDiff *
diff_of (gdouble longer, const char *extra)
{
  g_autoptr (JsonNode) a = report_of (1, 1, ""), b = report_of (2, longer, extra);

  return bench_diff_new (a, b, NULL);
}

TEST (noise_is_no_difference_and_is_named)
{
  BenchDiff *diff = diff_of (1, "");

  ck_assert_uint_eq (diff->rows->len, SERIES);
  ck_assert_uint_eq (diff->n_different, 0);
  for (guint i = 0; i < diff->rows->len; i++)
    {
      const BenchDifference *row = g_ptr_array_index (diff->rows, i);

      ck_assert_double_lt (row->low, 1.05);
      ck_assert_double_gt (row->high, 0.95);
      ck_assert_double_gt (row->high, row->low);
    }
  bench_diff_free (diff);
}

TEST (what_takes_longer_is_found_and_stands_first)
{
  BenchDiff *diff = diff_of (1.2, "");
  const BenchDifference *first = g_ptr_array_index (diff->rows, 0);

  ck_assert_uint_eq (diff->n_different, 1);
  ck_assert_str_eq (first->name, "w, load 7, c");
  ck_assert (first->differs && first->is_time);
  ck_assert_double_eq_tol (first->ratio, 1.2, 0.05);
  bench_diff_free (diff);
}

TEST (a_series_of_one_report_is_named_and_one_of_its_own_name_is_skipped)
{
  BenchDiff *diff = diff_of (
      1, ", {\"load\": \"new\", \"contender\": \"c\", \"unit\": \"s\", \"samples\": [1, null]}"
         ", {\"load\": \"new\", \"contender\": \"c\", \"unit\": \"s\"}");

  ck_assert_uint_eq (diff->only[0]->len, 0);
  ck_assert_uint_eq (diff->only[1]->len, 1);
  ck_assert_str_eq (g_ptr_array_index (diff->only[1], 0), "w, new, c");
  bench_diff_free (diff);
}

TEST (what_is_no_report_is_refused)
{
  static const char *const texts[] = {
    "3",
    "[]",
    "{}",
    "{\"results\": 3}",
    "{\"results\": [{\"series\": [{}]}]}",
    "{\"results\": [{\"workload\": \"w\", \"series\": [3]}]}",
  };
  g_autoptr (JsonNode) good = report_of (1, 1, "");

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      g_autoptr (JsonNode) bad = json_from_string (texts[i], NULL);
      g_autoptr (GError) error = NULL;

      ck_assert_ptr_null (bench_diff_new (good, bad, &error));
      ck_assert_ptr_nonnull (strstr (error->message, "the second file is not"));
    }
}

/* --- counters --------------------------------------------------------------------------------- */

#define PAGES 64

/* Pages that a thread sees first; the kernel counts a fault for each, or for each huge one. */
static gboolean
touch_pages (const BenchRun *run, gdouble *samples, GError **error)
{
  gsize page = (gsize) sysconf (_SC_PAGESIZE);
  char *memory = mmap (NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                       0);

  madvise (memory, PAGES * page, MADV_NOHUGEPAGE);
  memset (memory, 1, PAGES * page);
  munmap (memory, PAGES * page);
  samples[0] = 1;

  return TRUE;
}

static void
touch_in_thread (gpointer data, guint index)
{
  gdouble sample;

  if (index == 1)
    touch_pages (NULL, &sample, NULL);
}

static gboolean
touch_pages_in_thread (const BenchRun *run, gdouble *samples, GError **error)
{
  bench_threads_run (2, touch_in_thread, NULL);
  samples[0] = 1;

  return TRUE;
}

static gdouble
count_page_faults (BenchRunFunc run)
{
  g_autoptr (BenchResult) result = bench_result_new ("touch", &options);
  const BenchSeries *series = bench_result_add (result, &(BenchCase){ .load = "pages", .run = run },
                                                "iris", BENCH_IRIS, NULL);

  ck_assert (bench_result_measure (result, NULL));
  ck_assert (series->counts == NULL || series->counts->len == options.rounds);

  return bench_series_estimate_count (series, BENCH_PAGE_FAULTS).median;
}

TEST (a_run_has_the_counts_of_all_its_threads)
{
  g_autofree char *why = NULL;
  gboolean has_hardware = bench_counters_open (BENCH_COUNT_ALL, &why), is_counted;

  /* Why not is said, or they count. */
  ck_assert (has_hardware == (why == NULL));
  is_counted = bench_counters_has (BENCH_PAGE_FAULTS);
  if (is_counted)
    {
      ck_assert_double_ge (count_page_faults (touch_pages), PAGES);
      ck_assert_double_ge (count_page_faults (touch_pages_in_thread), PAGES);
    }
  bench_counters_close ();
  ck_assert (!bench_counters_has (BENCH_PAGE_FAULTS));
}

TEST (a_run_has_no_counts_if_none_are_wanted)
{
  g_autofree char *why = NULL;

  ck_assert (!bench_counters_open (BENCH_COUNT_NOTHING, &why));
  ck_assert_ptr_null (why);
  ck_assert_double_nan (count_page_faults (touch_pages));
  bench_counters_close ();
}

/* Counts of @a and @b as a machine with such a processor has them. */
static void
plant_counts (const BenchResult *result, const char *contender, gdouble references, gdouble misses)
{
  for (guint i = 0; i < result->series->len; i++)
    {
      BenchSeries *series = g_ptr_array_index (result->series, i);
      BenchCounts counts = { .values = { [BENCH_LL_REFERENCES] = references,
                                         [BENCH_LL_MISSES] = misses,
                                         [BENCH_LL_HITS] = references - misses } };

      if (g_str_equal (series->contender, contender))
        bench_series_add_counts (series, counts);
    }
}

TEST (fewer_misses_and_more_hits_are_published_and_ours)
{
  g_autoptr (BenchResult) result = result_of_halves (BENCH_FACTOR);
  const BenchPublished fewer = { "misses", "load", "half", 3.6, 4.5, .counter = BENCH_LL_MISSES };
  const BenchPublished more = { "hits", "load", "half", 1.5, 1.8, .counter = BENCH_LL_HITS };
  BenchOurs ours = bench_published_find (&fewer, result);

  ck_assert_double_nan (ours.ours.median);
  plant_counts (result, "base", 1000, 400);
  plant_counts (result, "half", 1000, 100);
  ours = bench_published_find (&fewer, result);
  ck_assert_double_eq_tol (ours.ours.median, 4, 1e-12);
  ours = bench_published_find (&more, result);
  ck_assert_double_eq_tol (ours.ours.median, 1.5, 1e-12);
  ck_assert_str_eq (ours.unit, "x");
}

/* --- the machine ------------------------------------------------------------------------------ */

static void
write_file (const char *root, const char *path, const char *text)
{
  g_autofree char *full = g_strconcat (root, path, NULL), *folder = g_path_get_dirname (full);

  ck_assert_int_eq (g_mkdir_with_parents (folder, 0700), 0);
  ck_assert (g_file_set_contents (full, text, -1, NULL));
}

static void
write_processors (const char *root, const char *siblings, const char *governor, const char *khz)
{
  static const char *const names[] = { "topology/thread_siblings_list", "cpufreq/scaling_governor",
                                       "cpufreq/scaling_cur_freq" };
  const char *const texts[] = { siblings, governor, khz };

  for (guint i = 0; i < 64; i++)
    for (guint j = 0; j < G_N_ELEMENTS (names); j++)
      {
        g_autofree char *path = g_strdup_printf ("/sys/devices/system/cpu/cpu%u/%s", i, names[j]);

        if (texts[j] != NULL)
          write_file (root, path, texts[j]);
      }
}

static char *
warnings_of (const BenchMachine *machine)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < machine->warnings->len; i++)
    g_string_append_printf (text, "%s\n", (const char *) g_ptr_array_index (machine->warnings, i));

  return g_string_free (text, FALSE);
}

static void
remove_folder (const char *root)
{
  g_autofree char *command = g_strdup_printf ("rm -r '%s'", root);

  ck_assert_int_eq (system (command), 0); /* NOLINT: the name is ours */
}

TEST (a_bad_machine_is_noticed_and_said)
{
  g_autofree char *root = g_dir_make_tmp ("bench-XXXXXX", NULL);
  g_autofree char *found = NULL;
  BenchMachine *machine;

  write_file (root, "/proc/stat", "cpu  100 0 100 1000 0 0 0 0 0 0\ncpu0 1 2 3\n");
  write_processors (root, "0-63", "powersave", "1200000");
  machine = bench_machine_new (root);
  ck_assert_uint_eq (machine->n_cores, 1);
  machine->is_busy = FALSE;
  bench_machine_look (machine);
  write_processors (root, NULL, NULL, "3000000");
  bench_machine_look (machine);
  /* Of 1,000 ticks 800 were worked, by others since this test does not, and 50 stolen. */
  write_file (root, "/proc/stat", "cpu  600 0 400 1150 0 0 0 50 0 0\n");
  bench_machine_judge (machine, 2 * machine->n_processors);
  found = warnings_of (machine);
  ck_assert_double_eq_tol (machine->stolen, 5, 1e-9);
  ck_assert_double_gt (machine->others, 50);
  ck_assert_ptr_nonnull (strstr (found, "other processes took"));
  ck_assert_ptr_nonnull (strstr (found, "5.0 % of the processors' time was stolen"));
  ck_assert_ptr_nonnull (strstr (found, "“powersave”"));
  ck_assert_ptr_nonnull (strstr (found, "from 1200 to 3000 MHz"));
  ck_assert_ptr_nonnull (strstr (found, "workers share"));
  if (machine->n_processors > 1)
    ck_assert_ptr_nonnull (strstr (found, "are hyper-threads of 1 core:"));
  bench_machine_free (machine);
  remove_folder (root);
}

TEST (a_good_machine_gets_no_warning)
{
  g_autofree char *root = g_dir_make_tmp ("bench-XXXXXX", NULL);
  g_autofree char *found = NULL;
  BenchMachine *machine;

  write_file (root, "/proc/stat", "cpu  100 0 100 1000 0 0 0 0 0 0\n");
  write_processors (root, NULL, "performance", "2500000");
  machine = bench_machine_new (root);
  ck_assert_uint_eq (machine->n_cores, machine->n_processors);
  machine->is_busy = FALSE;
  bench_machine_look (machine);
  write_file (root, "/proc/stat", "cpu  101 0 100 9000 0 0 0 0 0 0\n");
  bench_machine_judge (machine, machine->n_processors);
  found = warnings_of (machine);
  ck_assert_str_eq (found, "");
  bench_machine_free (machine);
  remove_folder (root);
}

TEST (rounds_that_differ_much_are_said)
{
  g_autoptr (GPtrArray)
      results = g_ptr_array_new_with_free_func ((GDestroyNotify) bench_result_free);
  BenchResult *result = bench_result_new ("spread", &options);
  BenchSeries *series = bench_series_new ("load", "iris", BENCH_IRIS, 2, 10);
  BenchReport report = { .results = results, .machine = bench_machine_new ("") };
  g_autofree char *found = NULL;

  bench_result_add_series (result, series);
  g_ptr_array_add (results, result);
  for (guint i = 0; i < 4; i++)
    bench_series_add (series, 1);
  bench_report_judge_spread (&report);
  ck_assert_uint_eq (report.machine->warnings->len, 0);
  for (guint i = 0; i < 4; i++)
    bench_series_add (series, 2);
  bench_report_judge_spread (&report);
  found = warnings_of (report.machine);
  ck_assert_ptr_nonnull (strstr (found, "1 of 1 series are uncertain by more than 10 %"));
  bench_machine_free (report.machine);
}

TEST_MAIN ("report", NULL, NULL)
