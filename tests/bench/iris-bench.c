/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * iris-bench: compares the schedulers, and their peers, on the workloads of the papers.
 */
#include "tests/bench/bench-arguments.h"
#include "tests/bench/daemon/bench-daemon.h"
#include "tests/bench/nodes/nodes.h"
#include "tests/bench/report/bench-diff.h"
#include "tests/bench/page/bench-drawing.h"
#include "tests/bench/page/bench-page.h"
#include "tests/bench/report/bench-report.h"

#ifdef HAVE_SIM
#include "tests/bench/sim/sim-command.h"
#endif

#include <locale.h>

#define DIFFERENT 3 /* the exit status if diff sees a difference */

/* --- pictures --------------------------------------------------------------------------------- */

static gboolean
write_summary (JsonNode *report, const char *file, GError **error)
{
  g_autofree char *drawing = bench_drawing_summary (report);

  if (drawing != NULL)
    return g_file_set_contents (file, drawing, -1, error);
  g_set_error_literal (error, BENCH_ERROR, BENCH_ERROR_MACHINE,
                       "the report has none of the loads of the summary, or is a sweep; make one "
                       "with iris-bench compare --json");

  return FALSE;
}

/* The ending chooses: a page draws by itself, other pictures need gnuplot. */
static gboolean
check_picture (const char *file, GError **error)
{
  return g_str_has_suffix (file, ".html") || bench_chart_check (file, error);
}

static gboolean
write_picture (JsonNode *report, const char *file, GError **error)
{
  return g_str_has_suffix (file, ".html") ? bench_page_save (report, file, error)
                                          : bench_chart_write (report, file, error);
}

/* --- measuring -------------------------------------------------------------------------------- */

typedef enum
{
  FAIL,     /* the first error ends all */
  SKIP,     /* of the contenders that were chosen, not all can run everything */
  REMEMBER, /* a workload that cannot run here takes away nothing of the others */
} OnError;

static gboolean
run_one (BenchReport *report, const BenchWorkload *workload, OnError on_error, GError **error)
{
  BenchOptions *options = (BenchOptions *) report->options;

  for (guint i = 0; i < report->workers->len; i++)
    {
      g_autoptr (GError) why = NULL;
      BenchResult *result;

      options->workers = g_array_index (report->workers, guint, i);
      options->progress.nth++;
      result = bench_workload_run (workload, options, &why);
      if (result != NULL)
        g_ptr_array_add (report->results, result);
      else if (on_error == REMEMBER
               && !g_error_matches (why, BENCH_ERROR, BENCH_ERROR_NO_CONTENDER))
        g_ptr_array_add (report->failures, g_strdup (why->message));
      else
        {
          g_propagate_error (error, g_steal_pointer (&why));
          return FALSE;
        }
    }

  return TRUE;
}

static gboolean
run_all (BenchReport *report, GPtrArray *workloads, OnError on_error, GError **error)
{
  g_autoptr (GError) none = NULL;
  BenchOptions *options = (BenchOptions *) report->options;

  options->progress = (BenchProgress){ 0, workloads->len * report->workers->len, bench_now () };
  for (guint i = 0; i < workloads->len; i++)
    {
      const BenchWorkload *workload = g_ptr_array_index (workloads, i);
      g_autoptr (GError) why = NULL;

      /* The first of a suite knows the names that --only may have. */
      if (((on_error == SKIP && i > 0) || bench_workload_check (workload, report->options, &why))
          && run_one (report, workload, on_error, &why))
        continue;
      if (on_error == FAIL
          || (on_error == SKIP && !g_error_matches (why, BENCH_ERROR, BENCH_ERROR_NO_CONTENDER)))
        {
          g_propagate_error (error, g_steal_pointer (&why));
          return FALSE;
        }
      if (none == NULL)
        none = g_steal_pointer (&why);
    }
  if (report->results->len > 0 || report->failures->len > 0)
    return TRUE;
  g_propagate_error (error, g_steal_pointer (&none));

  return FALSE;
}

static gboolean
show (const BenchReport *report, const BenchArguments *a, GError **error)
{
  g_autoptr (JsonNode) json = bench_report_to_json (report);

  if (a->json)
    {
      g_autofree char *text = json_to_string (json, TRUE);

      g_print ("%s\n", text);
    }
  else if (a->csv)
    bench_report_print_csv (report);
  else
    bench_report_print (report);
  if (a->chart != NULL && !write_picture (json, a->chart, error))
    return FALSE;
  if (a->report != NULL && !bench_page_write (json, a->report, error))
    return FALSE;
  if (report->failures->len == 0)
    return TRUE;
  g_set_error (error, BENCH_ERROR, BENCH_ERROR_RESULT, "%u of the workloads failed: %s%s",
               report->failures->len, (const char *) g_ptr_array_index (report->failures, 0),
               report->failures->len > 1 ? "; the report has the others" : "");

  return FALSE;
}

static char *
now (void)
{
  g_autoptr (GDateTime) time = g_date_time_new_now_utc ();

  return g_date_time_format (time, "%Y-%m-%d %H:%M UTC");
}

static void
judge (const BenchReport *report)
{
  guint most = 0;

  for (guint i = 0; i < report->workers->len; i++)
    most = MAX (most, g_array_index (report->workers, guint, i));
  bench_machine_judge (report->machine, most);
  bench_report_judge_spread (report);
}

static gboolean
measure (const char *name,
         GPtrArray *workloads,
         OnError on_error,
         const BenchArguments *a,
         GError **error)
{
  BenchOptions options = { 0 };
  BenchReport report = { .name = name, .options = &options };
  const BenchWorkload *first = g_ptr_array_index (workloads, 0);
  gboolean is_paper = on_error == REMEMBER, good;

  report.workers = g_array_new (FALSE, FALSE, sizeof (guint));
  report.failures = g_ptr_array_new_with_free_func (g_free);
  report.results = g_ptr_array_new_with_free_func ((GDestroyNotify) bench_result_free);
  report.machine = bench_machine_new ("");
  report.date = now ();
  good = bench_arguments_choose (a, is_paper, &options, report.workers, error)
         && (a->chart == NULL || check_picture (a->chart, error))
         && (a->report == NULL || bench_page_check (a->report, error));
  options.each_round = bench_machine_look;
  options.each_round_data = report.machine;
  bench_counters_open (options.counting, &report.no_counters);
  good = good && run_all (&report, workloads, on_error, error);
  bench_counters_close ();
  judge (&report);
  /* A goal is for one number of workers, and quick sizes say nothing of speed. */
  if (good && report.workers->len == 1 && !options.quick
      && (on_error != FAIL || first->suite == BENCH_SUITE_PAPER))
    report.goals = on_error == SKIP ? bench_goals_check (report.results, first->suite)
                                    : bench_goals_check_rows (report.results, workloads);
  if (report.goals != NULL && report.goals->len == 0)
    g_clear_pointer (&report.goals, g_ptr_array_unref);
  good = good && show (&report, a, error);
  g_clear_pointer (&report.goals, g_ptr_array_unref);
  g_free (report.no_counters);
  g_free (report.date);
  bench_machine_free (report.machine);
  g_ptr_array_unref (report.results);
  g_ptr_array_unref (report.failures);
  g_array_unref (report.workers);

  return good;
}

/* --- the commands ----------------------------------------------------------------------------- */

static GPtrArray *
find_suite (const char *name)
{
  g_autoptr (GPtrArray) found = g_ptr_array_new ();
  const BenchWorkload *workload;

  for (guint i = 0; (workload = bench_workload_nth (i)) != NULL; i++)
    if (g_str_equal (name, bench_suite_name (workload->suite)))
      g_ptr_array_add (found, (gpointer) workload);

  return g_steal_pointer (&found);
}

static gboolean
command_measure (const char *name, const BenchArguments *a, GError **error)
{
  g_autoptr (GPtrArray) workloads = find_suite (name);
  const BenchWorkload *workload = bench_workload_find (name);

  if (a->quick && (workload == NULL || workload->figure == NULL))
    {
      g_set_error (error, BENCH_ERROR, BENCH_ERROR_ARGUMENT,
                   "--quick is for the figures of the papers, and %s is none; see --scale", name);
      return FALSE;
    }
  if (workloads->len > 0)
    return measure (name, workloads, SKIP, a, error);
  if (workload == NULL)
    {
      g_set_error (error, BENCH_ERROR, BENCH_ERROR_ARGUMENT,
                   "there is no workload “%s”; see iris-bench --help", name);
      return FALSE;
    }
  g_ptr_array_add (workloads, (gpointer) workload);

  return measure (name, workloads, FAIL, a, error);
}

static gboolean
command_paper (int n_rows, char **rows, const BenchArguments *a, int *status, GError **error)
{
  g_autoptr (GPtrArray) workloads = NULL;

  if (n_rows == 0)
    {
      bench_figures_print ();
      return TRUE;
    }
  workloads = bench_figure_choose ((const char *const *) rows, error);

  return workloads != NULL && measure ("paper", workloads, REMEMBER, a, error);
}

static JsonParser *
load (const char *file, GError **error)
{
  g_autoptr (JsonParser) parser = json_parser_new ();

  if (json_parser_load_from_file (parser, file, error))
    return g_steal_pointer (&parser);
  g_prefix_error (error, "cannot read %s: ", file);

  return NULL;
}

static gboolean
command_chart (int n_files, char **files, const BenchArguments *a, int *status, GError **error)
{
  g_autoptr (JsonParser) parser = NULL;

  if (a->output == NULL)
    {
      g_set_error_literal (error, BENCH_ERROR, BENCH_ERROR_ARGUMENT,
                           "say where the chart is to go: -o FILE.svg, FILE.png or FILE.html");
      return FALSE;
    }
  if (a->summary && !g_str_has_suffix (a->output, ".svg"))
    {
      g_set_error (error, BENCH_ERROR, BENCH_ERROR_ARGUMENT,
                   "--summary draws SVG, and %s does not end in .svg", a->output);
      return FALSE;
    }
  if (!a->summary && !check_picture (a->output, error))
    return FALSE;
  parser = load (files[0], error);
  if (parser == NULL)
    return FALSE;

  return (a->summary ? write_summary : write_picture) (json_parser_get_root (parser), a->output,
                                                       error);
}

static gboolean
command_diff (int n_files, char **files, const BenchArguments *a, int *status, GError **error)
{
  g_autoptr (JsonParser) first = load (files[0], error);
  g_autoptr (JsonParser) second = first != NULL ? load (files[1], error) : NULL;
  BenchDiff *diff = NULL;

  if (second != NULL)
    diff = bench_diff_new (json_parser_get_root (first), json_parser_get_root (second), error);
  if (diff == NULL)
    return FALSE;
  bench_diff_print (diff);
  *status = diff->n_different > 0 ? DIFFERENT : 0;
  bench_diff_free (diff);

  return TRUE;
}

#define NODE_WORKERS 4
#define NODE_ITEMS   80
#define NODE_WORK_US 200000

static gboolean
command_nodes (int n_words, char **words, const BenchArguments *a, int *status, GError **error)
{
  guint items = a->items > 0 ? (guint) a->items : NODE_ITEMS;
  NodesSetup usual = { .n_workers = NODE_WORKERS,
                       .n_items = a->quick && a->items == 0 ? items / 4 : items,
                       .run_us = a->work > 0 ? a->work : NODE_WORK_US,
                       .seed = (guint64) a->seed };
  guint64 n_workers = NODE_WORKERS;

  if (a->json && a->csv)
    {
      g_set_error_literal (error, BENCH_ERROR, BENCH_ERROR_ARGUMENT,
                           "--json and --csv exclude each other");
      return FALSE;
    }
  if (a->workers != NULL && !g_ascii_string_to_unsigned (a->workers, 10, 1, 1024, &n_workers, NULL))
    {
      g_set_error (error, BENCH_ERROR, BENCH_ERROR_ARGUMENT,
                   "nodes takes one number of --workers from 1 to 1024, not “%s”", a->workers);
      return FALSE;
    }
  usual.n_workers = (guint) n_workers;

  return nodes_command (n_words, words, &usual, a->costs, a->only, a->quick, a->json, a->csv,
                        error);
}

#ifdef HAVE_SIM
static gboolean
command_calibrate (int n_files, char **files, const BenchArguments *a, int *status, GError **error)
{
  return sim_command_calibrate (files[0], a->json, error);
}

static gboolean
command_sim (int n_words, char **words, const BenchArguments *a, int *status, GError **error)
{
  return sim_command_run (words[0], a->costs, a->only, (guint64) a->seed, error);
}
#endif

/* Every other word is a suite or a workload. */
static const struct
{
  const char *name;
  int least, most; /* words behind it */
  gboolean (*run) (int n, char **words, const BenchArguments *a, int *status, GError **error);
} commands[] = {
  { "chart", 1, 1, command_chart },         { "diff", 2, 2, command_diff },
  { "paper", 0, G_MAXINT, command_paper },  { "nodes", 0, G_MAXINT, command_nodes },
#ifdef HAVE_SIM
  { "calibrate", 1, 1, command_calibrate }, { "sim", 1, 1, command_sim },
#endif
};

static gboolean
command (int argc, char **argv, const BenchArguments *a, int *status, GError **error)
{
  gboolean is_known = FALSE;

  for (guint i = 0; argc > 1 && i < G_N_ELEMENTS (commands); i++)
    if (g_str_equal (argv[1], commands[i].name))
      {
        if (argc - 2 >= commands[i].least && argc - 2 <= commands[i].most)
          return commands[i].run (argc - 2, argv + 2, a, status, error);
        is_known = TRUE;
      }
  if (argc == 2 && !is_known)
    return command_measure (argv[1], a, error);
  g_set_error_literal (
      error, BENCH_ERROR, BENCH_ERROR_ARGUMENT,
      "name one workload, “paper” and its rows, “chart” and one file, or “diff” and "
      "two; see iris-bench --help");

  return FALSE;
}

int
main (int argc, char **argv)
{
  BenchArguments a;
  g_autoptr (GError) error = NULL;
  int status = 0;

  setlocale (LC_ALL, "");
  /* What a program reads has a point in its numbers, whatever the language. */
  setlocale (LC_NUMERIC, "C");
  if (bench_arguments_parse (&a, &argc, &argv, &error) && a.version)
    g_print ("iris-bench %s\n", IRIS_VERSION);
  else if (error == NULL && a.child != NULL && argc == 2)
    status = bench_daemon_child (a.child, argv[1], (guint) MAX (a.items, 1));
  else if (error == NULL)
    command (argc, argv, &a, &status, &error);
  if (error != NULL)
    {
      g_printerr ("iris-bench: %s\n", error->message);
      status = error->domain == G_OPTION_ERROR
                       || g_error_matches (error, BENCH_ERROR, BENCH_ERROR_ARGUMENT)
                       || g_error_matches (error, BENCH_ERROR, BENCH_ERROR_NO_CONTENDER)
                   ? 2
                   : 1;
    }
  bench_arguments_clear (&a);

  return status;
}
