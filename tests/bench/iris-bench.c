/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * iris-bench: compares the schedulers, and their peers, on the workloads of the papers.
 */
#include "tests/bench/peers/bench-contender.h"
#include "tests/bench/daemon/bench-daemon.h"
#include "tests/bench/report/bench-report.h"

#ifdef HAVE_SIM
#include "tests/bench/sim/sim-command.h"
#endif

#include <locale.h>

#define MAX_WORKERS 4096
#define MAX_SIZE    16384
#define MAX_ROUNDS  100000

/* What the user said, as GOption takes it. */
typedef struct
{
  gint workers, rounds, outer, inner, items, producers, size, steps, tile, seed;
  gdouble scale, work, seconds;
  gboolean no_peers, json, csv, version;
  char **only;
  char *variants, *places, *irisd, *costs, *chart, *output, *child;
} Arguments;

static gboolean
check_range (const char *name, gint value, gint least, gint most, GError **error)
{
  if (value >= least && value <= most)
    return TRUE;
  g_set_error (error, BENCH_ERROR, BENCH_ERROR_ARGUMENT, "--%s takes %d to %d, not %d", name, least,
               most, value);

  return FALSE;
}

static gboolean
check_numbers (const Arguments *a, GError **error)
{
  if (a->scale <= 0 || a->scale > 1000 || a->work < 0 || a->work > 1e6 || a->seconds < 0
      || a->seconds > 3600)
    {
      g_set_error_literal (error, BENCH_ERROR, BENCH_ERROR_ARGUMENT,
                           "--scale takes more than 0 up to 1000, --work up to 1000000 µs, "
                           "--seconds up to 3600");
      return FALSE;
    }

  return check_range ("workers", a->workers, 1, MAX_WORKERS, error)
         && check_range ("rounds", a->rounds, 1, MAX_ROUNDS, error)
         && check_range ("outer", a->outer, 0, 100000000, error)
         && check_range ("inner", a->inner, 0, 100000000, error)
         && check_range ("items", a->items, 0, 1000000000, error)
         && check_range ("producers", a->producers, 0, MAX_WORKERS, error)
         && check_range ("size", a->size, 0, MAX_SIZE, error)
         && check_range ("steps", a->steps, 0, 1000000, error)
         && check_range ("tile", a->tile, 0, 1024, error);
}

static gboolean
check_variants (const char *name, BenchVariants *variants, GError **error)
{
  static const char *const names[] = { "none", "one", "all" };

  *variants = BENCH_VARIANTS_ONE;
  if (name == NULL)
    return TRUE;
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (g_str_equal (name, names[i]))
      {
        *variants = (BenchVariants) i;
        return TRUE;
      }
  g_set_error (error, BENCH_ERROR, BENCH_ERROR_ARGUMENT,
               "--variants takes none, one or all, not “%s”", name);

  return FALSE;
}

static gboolean
choose (const Arguments *a, BenchOptions *options, GError **error)
{
  if (a->json && a->csv)
    {
      g_set_error_literal (error, BENCH_ERROR, BENCH_ERROR_ARGUMENT,
                           "--json and --csv exclude each other");
      return FALSE;
    }
  if (!check_numbers (a, error) || !check_variants (a->variants, &options->variants, error))
    return FALSE;
  options->workers = (guint) a->workers;
  options->rounds = (guint) a->rounds;
  options->scale = a->scale;
  options->outer = (guint) a->outer;
  options->inner = (guint) a->inner;
  options->items = (guint) a->items;
  options->producers = (guint) a->producers;
  options->work = a->work;
  options->size = (guint) a->size;
  options->steps = (guint) a->steps;
  options->tile = (guint) a->tile;
  options->seconds = a->seconds;
  options->only = a->only;
  options->peers = !a->no_peers;
  options->places = a->places;
  options->irisd = a->irisd;
  options->costs = a->costs;

  return a->chart == NULL || bench_chart_check (a->chart, error);
}

/* --- the commands ----------------------------------------------------------------------------- */

static gboolean
run_one (BenchReport *report, const BenchWorkload *workload, GError **error)
{
  BenchResult *result = bench_workload_run (workload, report->options, error);

  if (result != NULL)
    g_ptr_array_add (report->results, result);

  return result != NULL;
}

/* Of the contenders that were chosen, not all can run everything. */
static gboolean
run_suite (BenchReport *report, BenchSuite suite, GError **error)
{
  const BenchWorkload *workload;
  g_autoptr (GError) none = NULL;

  for (guint i = 0; (workload = bench_workload_nth (i)) != NULL; i++)
    {
      g_autoptr (GError) why = NULL;

      if (workload->suite != suite || run_one (report, workload, &why))
        continue;
      if (!g_error_matches (why, BENCH_ERROR, BENCH_ERROR_NO_CONTENDER))
        {
          g_propagate_error (error, g_steal_pointer (&why));
          return FALSE;
        }
      if (none == NULL)
        none = g_steal_pointer (&why);
    }
  if (report->results->len == 0)
    {
      g_propagate_error (error, g_steal_pointer (&none));
      return FALSE;
    }
  report->goals = bench_goals_check (report->results, suite);

  return TRUE;
}

/* BENCH_N_SUITES if there is no such suite. */
static BenchSuite
find_suite (const char *name)
{
  BenchSuite suite = 0;

  while (suite < BENCH_N_SUITES && !g_str_equal (name, bench_suite_name (suite)))
    suite++;

  return suite;
}

/* The workloads of a suite take the same names. */
static const BenchWorkload *
first_of_suite (BenchSuite suite)
{
  const BenchWorkload *workload;

  for (guint i = 0; (workload = bench_workload_nth (i)) != NULL && workload->suite != suite; i++)
    ;

  return workload;
}

static gboolean
show (const BenchReport *report, const Arguments *a, GError **error)
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

  return a->chart == NULL || bench_chart_write (json, a->chart, error);
}

static gboolean
command_measure (const char *name, const Arguments *a, GError **error)
{
  BenchSuite suite = find_suite (name);
  const BenchWorkload *workload = suite < BENCH_N_SUITES ? first_of_suite (suite)
                                                         : bench_workload_find (name);
  BenchOptions options = { 0 };
  BenchReport report = { .name = name, .options = &options };
  gboolean good;

  if (workload == NULL)
    {
      g_set_error (error, BENCH_ERROR, BENCH_ERROR_ARGUMENT,
                   "there is no workload “%s”; see iris-bench --help", name);
      return FALSE;
    }
  if (!choose (a, &options, error) || !bench_workload_check (workload, &options, error))
    return FALSE;
  report.machine = bench_machine_new ();
  report.results = g_ptr_array_new_with_free_func ((GDestroyNotify) bench_result_free);
  good = (suite < BENCH_N_SUITES ? run_suite (&report, suite, error)
                                 : run_one (&report, workload, error))
         && show (&report, a, error);
  g_clear_pointer (&report.goals, g_ptr_array_unref);
  g_ptr_array_unref (report.results);
  bench_machine_free (report.machine);

  return good;
}

static gboolean
command_chart (char **files, const Arguments *a, GError **error)
{
  g_autoptr (JsonParser) parser = json_parser_new ();

  if (a->output == NULL)
    {
      g_set_error_literal (error, BENCH_ERROR, BENCH_ERROR_ARGUMENT,
                           "say where the chart is to go: -o FILE.svg or -o FILE.png");
      return FALSE;
    }
  if (!bench_chart_check (a->output, error))
    return FALSE;
  if (!json_parser_load_from_file (parser, files[0], error))
    {
      g_prefix_error (error, "cannot read %s: ", files[0]);
      return FALSE;
    }

  return bench_chart_write (json_parser_get_root (parser), a->output, error);
}

#ifdef HAVE_SIM
static gboolean
command_calibrate (char **files, const Arguments *a, GError **error)
{
  return sim_command_calibrate (files[0], error);
}

static gboolean
command_sim (char **files, const Arguments *a, GError **error)
{
  return sim_command_run (files[0], a->costs, a->only, (guint64) a->seed, error);
}
#endif

/* What is done with files; every other word is a suite or a workload. */
static const struct
{
  const char *name;
  int n_files;
  gboolean (*run) (char **files, const Arguments *a, GError **error);
} commands[] = {
  { "chart", 1, command_chart },
#ifdef HAVE_SIM
  { "calibrate", 1, command_calibrate },
  { "sim", 1, command_sim },
#endif
};

static gboolean
command (int argc, char **argv, const Arguments *a, GError **error)
{
  gboolean of_files = FALSE;

  for (guint i = 0; argc > 1 && i < G_N_ELEMENTS (commands); i++)
    if (g_str_equal (argv[1], commands[i].name))
      {
        if (argc == 2 + commands[i].n_files)
          return commands[i].run (argv + 2, a, error);
        of_files = TRUE;
      }
  if (argc == 2 && !of_files)
    return command_measure (argv[1], a, error);
  g_set_error_literal (error, BENCH_ERROR, BENCH_ERROR_ARGUMENT,
                       "name one workload, or “chart” and one file; see iris-bench --help");

  return FALSE;
}

/* --- the arguments ---------------------------------------------------------------------------- */

static char *
describe (void)
{
  GString *text = g_string_new ("Workloads:\n");
  g_autofree char *contenders = bench_contenders_describe ();
  const BenchWorkload *workload;

  for (guint i = 0; (workload = bench_workload_nth (i)) != NULL; i++)
    g_string_append_printf (text, "  %-12s %s\n", workload->name, workload->summary);
  g_string_append_printf (
      text,
      "  %-12s all but the daemon's, and the goals that they are held against\n"
      "\n%s\n"
      "locks, queues, round-trip and daemon have contenders and rows of their own,\n"
      "which iris-bench(1) names.\n\n"
      "Contenders run in turn, round by round, so that what disturbs the machine\n"
      "disturbs all of them. Every run is checked: an item that was not executed, or a\n"
      "wrong result, is an error.\n"
      "\nExit status: 0 done, 1 a run or its check failed, 2 the arguments are wrong.\n"
      "\nExamples:\n"
      "  iris-bench recursive --workers 2 --rounds 21\n"
      "  iris-bench external --only work-stealing --only gthreadpool --chart ext.svg\n"
      "  iris-bench compare --json > all.json\n"
      "  iris-bench daemon --rounds 5 --only durable --only relaxed\n"
      "  iris-bench chart all.json -o all.svg\n"
      "  iris-bench calibrate costs.ini\n"
      "  iris-bench sim \"package:2 l3:4 core:8 pu:1\" --costs costs.ini --only fib\n",
      "compare", contenders);

  return g_string_free (text, FALSE);
}

static gboolean
parse (Arguments *a, int *argc, char ***argv, GError **error)
{
  const GOptionEntry entries[] = {
    { "workers", 'w', 0, G_OPTION_ARG_INT, &a->workers, "Threads of each contender", "N" },
    { "rounds", 'r', 0, G_OPTION_ARG_INT, &a->rounds, "Rounds of all contenders (11)", "N" },
    { "only", 'O', 0, G_OPTION_ARG_STRING_ARRAY, &a->only, "Only this contender; may be repeated",
      "NAME" },
    { "no-peers", 0, 0, G_OPTION_ARG_NONE, &a->no_peers, "Only iris's own contenders", NULL },
    { "variants", 0, 0, G_OPTION_ARG_STRING, &a->variants, "Settings of schedulers: none, one, all",
      "WHICH" },
    { "places", 0, 0, G_OPTION_ARG_STRING, &a->places, "places: a level of the topology, or N",
      "LEVEL|N" },
    { "irisd", 0, 0, G_OPTION_ARG_FILENAME, &a->irisd, "daemon: the irisd that is measured",
      "FILE" },
    { "costs", 0, 0, G_OPTION_ARG_FILENAME, &a->costs, "sim, sizes, simulated: what things cost",
      "FILE" },
    { "seed", 0, 0, G_OPTION_ARG_INT, &a->seed, "sim: of random victims (1)", "N" },
    { "child", 0, G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_STRING, &a->child, NULL, NULL },
    { "json", 0, 0, G_OPTION_ARG_NONE, &a->json, "Print JSON, with every sample", NULL },
    { "csv", 0, 0, G_OPTION_ARG_NONE, &a->csv, "Print CSV, a line for each contender", NULL },
    { "chart", 0, 0, G_OPTION_ARG_FILENAME, &a->chart, "Draw a chart too (needs gnuplot)",
      "FILE.svg|png" },
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &a->output, "chart: where it goes", "FILE.svg|png" },
    { "scale", 0, 0, G_OPTION_ARG_DOUBLE, &a->scale, "Sizes times this", "FACTOR" },
    { "outer", 0, 0, G_OPTION_ARG_INT, &a->outer, "recursive: items from outside (1000)", "N" },
    { "inner", 0, 0, G_OPTION_ARG_INT, &a->inner, "recursive: items that each makes (1000)", "N" },
    { "items", 0, 0, G_OPTION_ARG_INT, &a->items, "Items in a run, where it has so many of them",
      "N" },
    { "producers", 0, 0, G_OPTION_ARG_INT, &a->producers, "external: threads outside (1 and 4)",
      "N" },
    { "work", 0, 0, G_OPTION_ARG_DOUBLE, &a->work, "imbalance: work in an item (200)", "US" },
    { "size", 0, 0, G_OPTION_ARG_INT, &a->size, "fib: number; grids: edge; sizes: most workers",
      "N" },
    { "steps", 0, 0, G_OPTION_ARG_INT, &a->steps, "jacobi, heat: sweeps (100)", "N" },
    { "tile", 0, 0, G_OPTION_ARG_INT, &a->tile, "Rows of jacobi, edge of lud, planes of heat",
      "N" },
    { "seconds", 0, 0, G_OPTION_ARG_DOUBLE, &a->seconds, "idle: how long to watch (1)", "S" },
    { "version", 0, 0, G_OPTION_ARG_NONE, &a->version, "Print the version", NULL },
    { NULL }
  };
  g_autoptr (GOptionContext)
      context = g_option_context_new ("WORKLOAD | chart FILE.json — compare schedulers");
  g_autofree char *description = describe ();

  g_option_context_add_main_entries (context, entries, NULL);
  g_option_context_set_description (context, description);

  return g_option_context_parse (context, argc, argv, error);
}

static void
arguments_clear (Arguments *a)
{
  g_strfreev (a->only);
  g_free (a->variants);
  g_free (a->places);
  g_free (a->irisd);
  g_free (a->costs);
  g_free (a->child);
  g_free (a->chart);
  g_free (a->output);
}

int
main (int argc, char **argv)
{
  Arguments a = { .workers = (gint) g_get_num_processors (), .rounds = 11, .scale = 1, .seed = 1 };
  g_autoptr (GError) error = NULL;
  int status = 0;

  setlocale (LC_ALL, "");
  /* What a program reads has a point in its numbers, whatever the language. */
  setlocale (LC_NUMERIC, "C");
  if (parse (&a, &argc, &argv, &error) && a.version)
    g_print ("iris-bench %s\n", IRIS_VERSION);
  else if (error == NULL && a.child != NULL && argc == 2)
    status = bench_daemon_child (a.child, argv[1], (guint) MAX (a.items, 1));
  else if (error == NULL)
    command (argc, argv, &a, &error);
  if (error != NULL)
    {
      g_printerr ("iris-bench: %s\n", error->message);
      status = error->domain == G_OPTION_ERROR
                       || g_error_matches (error, BENCH_ERROR, BENCH_ERROR_ARGUMENT)
                       || g_error_matches (error, BENCH_ERROR, BENCH_ERROR_NO_CONTENDER)
                   ? 2
                   : 1;
    }
  arguments_clear (&a);

  return status;
}
