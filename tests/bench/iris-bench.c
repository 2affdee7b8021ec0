/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * iris-bench: compares the schedulers on the workloads of the papers.
 */
#include "bench.h"

#include <locale.h>

typedef struct
{
  const char *name;
  const char *summary;
  int (*run) (const BenchOptions *options);
} Benchmark;

static const Benchmark benchmarks[] = {
  { "recursive", "items, and messages, that each make more of them", bench_recursive },
};

static const Benchmark *
find_benchmark (const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (benchmarks); i++)
    if (g_str_equal (benchmarks[i].name, name))
      return &benchmarks[i];

  return NULL;
}

static char *
describe_benchmarks (void)
{
  GString *text = g_string_new ("Benchmarks:\n");

  for (guint i = 0; i < G_N_ELEMENTS (benchmarks); i++)
    g_string_append_printf (text, "  %-12s %s\n", benchmarks[i].name, benchmarks[i].summary);
  g_string_append (text,
                   "\nSchedulers: default, lock-free, work-stealing, places. They are run in turn, "
                   "round by\nround, so that what disturbs the machine disturbs all of them.\n"
                   "\nExit status: 0 done, 1 a run failed, 2 the arguments are wrong.\n"
                   "\nExample:\n  iris-bench recursive --workers 2 --rounds 21\n");

  return g_string_free (text, FALSE);
}

static gboolean
check_numbers (gint workers, gint rounds, gint outer, gint inner, GError **error)
{
  if (workers < 1 || workers > 4096)
    g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                 "--workers takes 1 to 4096, not %d", workers);
  else if (rounds < 1 || outer < 1 || inner < 0)
    g_set_error_literal (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                         "--rounds and --outer take at least 1, --inner at least 0");
  else
    return TRUE;

  return FALSE;
}

static gboolean
check_schedulers (char **schedulers, GError **error)
{
  for (guint i = 0; schedulers != NULL && schedulers[i] != NULL; i++)
    {
      gboolean known = FALSE;

      for (guint j = 0; j < bench_n_schedulers (); j++)
        known |= g_str_equal (schedulers[i], bench_scheduler_name (j));
      if (!known)
        {
          g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                       "there is no scheduler “%s”; see iris-bench --help", schedulers[i]);
          return FALSE;
        }
    }

  return TRUE;
}

int
main (int argc, char **argv)
{
  gint workers = (gint) g_get_num_processors (), rounds = 11, outer = 1000, inner = 1000;
  gboolean json = FALSE, version = FALSE;
  g_auto (GStrv) schedulers = NULL;
  const GOptionEntry entries[] = {
    { "workers", 'w', 0, G_OPTION_ARG_INT, &workers, "Workers of each scheduler", "N" },
    { "rounds", 'r', 0, G_OPTION_ARG_INT, &rounds, "Rounds of all schedulers (11)", "N" },
    { "scheduler", 's', 0, G_OPTION_ARG_STRING_ARRAY, &schedulers, "Only this one; again for more",
      "NAME" },
    { "outer", 0, 0, G_OPTION_ARG_INT, &outer, "recursive: items from outside (1000)", "N" },
    { "inner", 0, 0, G_OPTION_ARG_INT, &inner, "recursive: items that each makes (1000)", "N" },
    { "json", 0, 0, G_OPTION_ARG_NONE, &json, "Print JSON, with every sample", NULL },
    { "version", 0, 0, G_OPTION_ARG_NONE, &version, "Print the version", NULL },
    { NULL }
  };
  g_autoptr (GOptionContext)
      context = g_option_context_new ("BENCHMARK — compare iris's schedulers");
  g_autofree char *description = describe_benchmarks ();
  g_autoptr (GError) error = NULL;
  const Benchmark *benchmark;
  BenchOptions options;

  setlocale (LC_ALL, "");
  g_option_context_add_main_entries (context, entries, NULL);
  g_option_context_set_description (context, description);
  if (!g_option_context_parse (context, &argc, &argv, &error)
      || !check_numbers (workers, rounds, outer, inner, &error)
      || !check_schedulers (schedulers, &error))
    {
      g_printerr ("iris-bench: %s\n", error->message);
      return 2;
    }
  if (version)
    {
      g_print ("iris-bench %s\n", IRIS_VERSION);
      return 0;
    }
  benchmark = argc == 2 ? find_benchmark (argv[1]) : NULL;
  if (benchmark == NULL)
    {
      g_printerr (argc < 2 ? "iris-bench: name a benchmark; see iris-bench --help\n"
                           : "iris-bench: no such benchmark; see iris-bench --help\n");
      return 2;
    }

  options = (BenchOptions){ (guint) workers, (guint) rounds, (guint) outer,
                            (guint) inner,   json,           schedulers };
  return benchmark->run (&options);
}
