/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the user said on the command line: read, checked, and turned into options.
 */
#include "tests/bench/bench-arguments.h"
#include "tests/bench/peers/bench-contender.h"
#include "tests/bench/workloads/bench-workload.h"

#define MAX_WORKERS  4096
#define MAX_SIZE     16384
#define MAX_ROUNDS   100000
#define QUICK_ROUNDS 2
#define USUAL_ROUNDS 11
#define PAPER_ROUNDS 10 /* as row B14 has it */

#define UNSAID G_MININT

#define USAGE "WORKLOAD | paper ROW… — compare schedulers"

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
      "  %-12s all but the daemon's and the papers', and their goals\n"
      "  %-12s tables and figures of the papers by their rows (B9), or all\n"
      "\n%s\n"
      "locks, lock-data, queues, round-trip and daemon have contenders of their own,\n"
      "which iris-bench(1) names.\n\n"
      "Contenders run in turn, round by round, so that what disturbs the machine\n"
      "disturbs all of them. Every run is checked: an item that was not executed, or a\n"
      "wrong result, is an error.\n"
      "\niris-bench diff A.json B.json says what really differs between two reports;\n"
      "iris-bench chart FILE.json -o FILE.svg|png|html draws a saved one.\n"
      "\nExit status: 0 done, 1 a run or its check failed, 2 the arguments are wrong,\n"
      "3 diff saw a difference.\n"
      "\nExamples:\n"
      "  iris-bench recursive --workers 2 --rounds 21\n"
      "  iris-bench external --only work-stealing --only gthreadpool --chart ext.svg\n"
      "  iris-bench compare --json > all.json\n"
      "  iris-bench daemon --rounds 5 --only durable --only relaxed\n"
      "  iris-bench paper B3\n"
      "  iris-bench paper all --report papers\n"
      "  iris-bench recursive --workers 1,2,4 --chart sweep.svg\n"
      "  iris-bench diff before.json after.json\n"
      "  iris-bench compare --report compare\n"
      "  iris-bench chart all.json -o all.svg\n"
      "  iris-bench chart compare/report.json --summary -o summary.svg\n",
      "compare", "paper", contenders);

  return g_string_free (text, FALSE);
}

gboolean
bench_arguments_parse (BenchArguments *a, int *argc, char ***argv, GError **error)
{
  const GOptionEntry entries[] = {
    { "workers", 'w', 0, G_OPTION_ARG_STRING, &a->workers, "Threads of each contender; a sweep",
      "N[,N…]" },
    { "rounds", 'r', 0, G_OPTION_ARG_INT, &a->rounds, "Rounds of all contenders (11; paper: 10)",
      "N" },
    { "quick", 0, 0, G_OPTION_ARG_NONE, &a->quick,
      "paper, nodes: sizes that only show that it works", NULL },
    { "only", 'O', 0, G_OPTION_ARG_STRING_ARRAY, &a->only, "Only this contender; may be repeated",
      "NAME" },
    { "no-peers", 0, 0, G_OPTION_ARG_NONE, &a->no_peers, "Only iris's own contenders", NULL },
    { "variants", 0, 0, G_OPTION_ARG_STRING, &a->variants, "Settings of schedulers: none, one, all",
      "WHICH" },
    { "counters", 0, 0, G_OPTION_ARG_STRING, &a->counters, "Counters of a run: none, hardware, all",
      "WHICH" },
    { "places", 0, 0, G_OPTION_ARG_STRING, &a->places, "places: a level of the topology, or N",
      "LEVEL|N" },
    { "irisd", 0, 0, G_OPTION_ARG_FILENAME, &a->irisd, "daemon: the irisd that is measured",
      "FILE" },
    { "costs", 0, 0, G_OPTION_ARG_FILENAME, &a->costs,
      "sim, sizes, simulated, nodes: what things cost", "FILE" },
    { "seed", 0, 0, G_OPTION_ARG_INT, &a->seed, "sim, nodes: of what is random (1)", "N" },
    { "child", 0, G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_STRING, &a->child, NULL, NULL },
    { "json", 0, 0, G_OPTION_ARG_NONE, &a->json, "Print JSON, with every sample", NULL },
    { "csv", 0, 0, G_OPTION_ARG_NONE, &a->csv, "Print CSV, a line for each contender", NULL },
    { "chart", 0, 0, G_OPTION_ARG_FILENAME, &a->chart, "Draw a chart too: .svg, .png or .html",
      "FILE" },
    { "report", 0, 0, G_OPTION_ARG_FILENAME, &a->report,
      "A folder: a page, Markdown, charts, JSON, CSV", "DIR" },
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &a->output, "chart: FILE.svg, .png or .html",
      "FILE" },
    { "summary", 0, 0, G_OPTION_ARG_NONE, &a->summary,
      "chart: of compare, the loads that tell most, as SVG", NULL },
    { "scale", 0, 0, G_OPTION_ARG_DOUBLE, &a->scale, "Sizes times this", "FACTOR" },
    { "outer", 0, 0, G_OPTION_ARG_INT, &a->outer, "recursive: items from outside (1000)", "N" },
    { "inner", 0, 0, G_OPTION_ARG_INT, &a->inner, "recursive: items that each makes (1000)", "N" },
    { "items", 0, 0, G_OPTION_ARG_INT, &a->items, "Items in a run, where it has so many of them",
      "N" },
    { "producers", 0, 0, G_OPTION_ARG_INT, &a->producers, "external: threads outside (1 and 4)",
      "N" },
    { "work", 0, 0, G_OPTION_ARG_DOUBLE, &a->work,
      "imbalance, nodes: work in an item (200; 200000)", "US" },
    { "size", 0, 0, G_OPTION_ARG_INT, &a->size, "The number of fib; edge of jacobi, lud, heat",
      "N" },
    { "steps", 0, 0, G_OPTION_ARG_INT, &a->steps, "jacobi, heat: sweeps (100)", "N" },
    { "tile", 0, 0, G_OPTION_ARG_INT, &a->tile, "Rows of jacobi, edge of lud, planes of heat",
      "N" },
    { "seconds", 0, 0, G_OPTION_ARG_DOUBLE, &a->seconds, "idle: how long to watch (1)", "S" },
    { "version", 0, 0, G_OPTION_ARG_NONE, &a->version, "Print the version", NULL },
    { NULL }
  };
  g_autoptr (GOptionContext) context = g_option_context_new (USAGE);
  g_autofree char *description = describe ();

  *a = (BenchArguments){ .rounds = UNSAID, .scale = 1, .seed = 1 };
  g_option_context_add_main_entries (context, entries, NULL);
  g_option_context_set_description (context, description);

  return g_option_context_parse (context, argc, argv, error);
}

void
bench_arguments_clear (BenchArguments *a)
{
  g_strfreev (a->only);
  g_free (a->workers);
  g_free (a->counters);
  g_free (a->report);
  g_free (a->variants);
  g_free (a->places);
  g_free (a->irisd);
  g_free (a->costs);
  g_free (a->child);
  g_free (a->chart);
  g_free (a->output);
}

/* --- checks ----------------------------------------------------------------------------------- */

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
check_numbers (const BenchArguments *a, GError **error)
{
  if (a->scale <= 0 || a->scale > 1000 || a->work < 0 || a->work > 1e6 || a->seconds < 0
      || a->seconds > 3600)
    {
      g_set_error_literal (error, BENCH_ERROR, BENCH_ERROR_ARGUMENT,
                           "--scale takes more than 0 up to 1000, --work up to 1000000 µs, "
                           "--seconds up to 3600");
      return FALSE;
    }

  return (a->rounds == UNSAID || check_range ("rounds", a->rounds, 1, MAX_ROUNDS, error))
         && check_range ("outer", a->outer, 0, 100000000, error)
         && check_range ("inner", a->inner, 0, 100000000, error)
         && check_range ("items", a->items, 0, 1000000000, error)
         && check_range ("producers", a->producers, 0, MAX_WORKERS, error)
         && check_range ("size", a->size, 0, MAX_SIZE, error)
         && check_range ("steps", a->steps, 0, 1000000, error)
         && check_range ("tile", a->tile, 0, 1024, error);
}

/* Which of three words it is; @usual if it is not said. */
static gboolean
check_word (const char *option,
            const char *word,
            const char *const names[3],
            guint usual,
            guint *index,
            GError **error)
{
  *index = usual;
  if (word == NULL)
    return TRUE;
  for (*index = 0; *index < 3; ++*index)
    if (g_str_equal (word, names[*index]))
      return TRUE;
  g_set_error (error, BENCH_ERROR, BENCH_ERROR_ARGUMENT, "--%s takes %s, %s or %s, not “%s”",
               option, names[0], names[1], names[2], word);

  return FALSE;
}

/* "2", or "1,2,4". */
static gboolean
read_workers (const char *text, GArray *workers, GError **error)
{
  g_autofree char *usual = g_strdup_printf ("%u", g_get_num_processors ());
  g_auto (GStrv) numbers = g_strsplit (text != NULL ? text : usual, ",", -1);

  for (guint i = 0; i == 0 || numbers[i] != NULL; i++)
    {
      guint64 number;
      guint n;

      if (numbers[i] == NULL
          || !g_ascii_string_to_unsigned (numbers[i], 10, 1, MAX_WORKERS, &number, NULL))
        {
          g_set_error (error, BENCH_ERROR, BENCH_ERROR_ARGUMENT,
                       "--workers takes 1 to %d, or several of these divided by commas, not “%s”",
                       MAX_WORKERS, text);
          return FALSE;
        }
      n = (guint) number;
      g_array_append_val (workers, n);
    }

  return TRUE;
}

static guint
choose_rounds (const BenchArguments *a, guint usual)
{
  if (a->rounds != UNSAID)
    return (guint) a->rounds;

  return a->quick ? QUICK_ROUNDS : usual;
}

gboolean
bench_arguments_choose (const BenchArguments *a,
                        gboolean is_paper,
                        BenchOptions *options,
                        GArray *workers,
                        GError **error)
{
  static const char *const variants[] = { "none", "one", "all" };
  static const char *const countings[] = { "none", "hardware", "all" };
  guint which, counting;

  if (a->json && a->csv)
    {
      g_set_error_literal (error, BENCH_ERROR, BENCH_ERROR_ARGUMENT,
                           "--json and --csv exclude each other");
      return FALSE;
    }
  if (!check_numbers (a, error)
      || !check_word ("variants", a->variants, variants, BENCH_VARIANTS_ONE, &which, error)
      || !check_word ("counters", a->counters, countings,
                      is_paper ? BENCH_COUNT_HARDWARE : BENCH_COUNT_NOTHING, &counting, error)
      || !read_workers (a->workers, workers, error))
    return FALSE;
  options->variants = which;
  options->counting = counting;
  options->workers = g_array_index (workers, guint, 0);
  options->rounds = choose_rounds (a, is_paper ? PAPER_ROUNDS : USUAL_ROUNDS);
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
  options->quick = a->quick;

  return TRUE;
}
