/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The command of the simulation of nodes: `iris-bench nodes [N...]`.
 */
#include "tests/bench/nodes/nodes.h"

#include <string.h>
#include <sys/resource.h>

static const guint usual_sizes[] = { 10, 100, 1000, 10000 };
#define N_QUICK 2

/* What one run was, and how it ended. */
typedef struct
{
  NodesSetup setup;
  NodesOutcome outcome;
  gdouble took;
} Row;

/* --- output ----------------------------------------------------------------------------------- */

/* Six places, for numbers that may be millions. */
static const char *
brief (guint64 n, char *text, gsize size)
{
  if (n < 100000)
    g_snprintf (text, size, "%" G_GUINT64_FORMAT, n);
  else if (n < 10000000)
    g_snprintf (text, size, "%" G_GUINT64_FORMAT "k", n / 1000);
  else
    g_snprintf (text, size, "%" G_GUINT64_FORMAT "M", n / 1000000);

  return text;
}

static void
print_head (const NodesSetup *usual)
{
  g_print ("%u workers and %u items a node, items of %.0f ms on average; seconds until the\n"
           "last end, and from submission to end of 99 in 100; messages an item; items\n"
           "stolen in the rack, in the zone and further; looks at victims that refused\n\n"
           "%6s %-7s %-8s %9s %9s %5s %7s %7s %6s %7s\n",
           usual->n_workers, usual->n_items, usual->run_us / 1000, "nodes", "load", "way", "last s",
           "99 % s", "msgs", "rack", "zone", "far", "refused");
}

static void
print_row (const Row *row)
{
  const NodesOutcome *o = &row->outcome;
  char rack[16], zone[16], far[16], refused[16];

  g_print ("%6u %-7s %-8s %9.2f %9.2f %5.1f %7s %7s %6s %7s\n", row->setup.n_nodes,
           nodes_load_names[row->setup.load], nodes_way_names[row->setup.way], o->last, o->p99,
           o->messages / (gdouble) o->n_items, brief (o->n_stolen[IRISD_NODE_RACK], rack, 16),
           brief (o->n_stolen[IRISD_NODE_ZONE], zone, 16),
           brief (o->n_stolen[IRISD_NODE_FAR], far, 16), brief (o->n_refused, refused, 16));
}

/* Everything of a row as a name and a number. */
#define EACH_NUMBER(_)                                                                 \
  _ ("nodes", row->setup.n_nodes)                                                      \
  _ ("cells", o->n_cells)                                                              \
  _ ("workers", row->setup.n_workers)                                                  \
  _ ("items", o->n_items)                                                              \
  _ ("mean_run_s", row->setup.run_us / 1e6)                                            \
  _ ("seed", row->setup.seed)                                                          \
  _ ("bound_s", o->bound)                                                              \
  _ ("last_s", o->last)                                                                \
  _ ("median_s", o->median)                                                            \
  _ ("p99_s", o->p99)                                                                  \
  _ ("messages_per_item", o->messages / (gdouble) o->n_items)                          \
  _ ("map_messages_per_second_and_cell", o->map_messages / o->n_cells / (1 + o->last)) \
  _ ("stolen_rack", o->n_stolen[IRISD_NODE_RACK])                                      \
  _ ("stolen_zone", o->n_stolen[IRISD_NODE_ZONE])                                      \
  _ ("stolen_far", o->n_stolen[IRISD_NODE_FAR])                                        \
  _ ("rescued", o->n_rescued)                                                          \
  _ ("delivered_again", o->n_again)                                                    \
  _ ("refused_backlog", o->looks[IRIS_STEAL_VERDICT_BACKLOG])                          \
  _ ("refused_size", o->looks[IRIS_STEAL_VERDICT_SIZE])                                \
  _ ("refused_distance", o->looks[IRIS_STEAL_VERDICT_DISTANCE])                        \
  _ ("refused_apart", o->looks[IRIS_STEAL_VERDICT_APART])                              \
  _ ("looks_empty", o->looks[IRIS_STEAL_VERDICT_EMPTY])                                \
  _ ("looks_lost", o->looks[IRIS_STEAL_VERDICT_LOST])                                  \
  _ ("events", o->n_events)                                                            \
  _ ("took_s", row->took)

static void
append_csv (GString *text, const Row *row)
{
  const NodesOutcome *o = &row->outcome;

  g_string_append_printf (text, "\"%s\",\"%s\"", nodes_load_names[row->setup.load],
                          nodes_way_names[row->setup.way]);
#define APPEND(name, value) g_string_append_printf (text, ",%.10g", (gdouble) (value));
  EACH_NUMBER (APPEND)
#undef APPEND
  g_string_append (text, "\n");
}

static void
append_json (GString *text, const Row *row)
{
  const NodesOutcome *o = &row->outcome;

  g_string_append_printf (text, "%s\n  {\"load\": \"%s\", \"way\": \"%s\"",
                          text->len == 0 ? "[" : ",", nodes_load_names[row->setup.load],
                          nodes_way_names[row->setup.way]);
#define APPEND(name, value) \
  g_string_append_printf (text, ", \"%s\": %.10g", name, (gdouble) (value));
  EACH_NUMBER (APPEND)
#undef APPEND
  g_string_append (text, "}");
}

static void
print_csv_head (void)
{
  g_print ("load,way");
#define APPEND(name, value) g_print ("," name);
  EACH_NUMBER (APPEND)
#undef APPEND
  g_print ("\n");
}

/* --- what is chosen --------------------------------------------------------------------------- */

static gboolean
is_among (const char *const *names, guint n, const char *name)
{
  for (guint i = 0; i < n; i++)
    if (g_str_equal (names[i], name))
      return TRUE;

  return FALSE;
}

static gboolean
check_only (char **only, GError **error)
{
  for (guint i = 0; only != NULL && only[i] != NULL; i++)
    if (!is_among (nodes_load_names, NODES_N_LOADS, only[i])
        && !is_among (nodes_way_names, NODES_N_WAYS, only[i]))
      {
        g_set_error (error, BENCH_ERROR, BENCH_ERROR_ARGUMENT,
                     "--only: nodes has no load and no way “%s”; it has one, even, skewed, dies, "
                     "bursts, and stealing, alone, central",
                     only[i]);
        return FALSE;
      }

  return TRUE;
}

/* Whether --only names it, or none of its sort. */
static gboolean
is_chosen (char **only, const char *const *names, guint n, guint which)
{
  gboolean names_any = FALSE;

  for (guint i = 0; only != NULL && only[i] != NULL; i++)
    {
      if (g_str_equal (only[i], names[which]))
        return TRUE;
      names_any |= is_among (names, n, only[i]);
    }

  return !names_any;
}

static GArray *
read_sizes (int n_words, char **words, gboolean quick, GError **error)
{
  g_autoptr (GArray) sizes = g_array_new (FALSE, FALSE, sizeof (guint));

  for (int i = 0; i < n_words; i++)
    {
      guint64 number;
      guint n;

      if (!g_ascii_string_to_unsigned (words[i], 10, 2, NODES_MOST, &number, NULL))
        {
          g_set_error (error, BENCH_ERROR, BENCH_ERROR_ARGUMENT,
                       "nodes takes numbers of nodes from 2 to %d, not “%s”", NODES_MOST, words[i]);
          return NULL;
        }
      n = (guint) number;
      g_array_append_val (sizes, n);
    }
  if (n_words == 0)
    g_array_append_vals (sizes, usual_sizes, quick ? N_QUICK : G_N_ELEMENTS (usual_sizes));

  return g_steal_pointer (&sizes);
}

static gboolean
check_numbers (const NodesSetup *usual, const GArray *sizes, GError **error)
{
  guint most = 0;

  for (guint i = 0; i < sizes->len; i++)
    most = MAX (most, g_array_index (sizes, guint, i));
  if (usual->n_workers >= 1 && usual->n_workers <= 1024 && usual->n_items >= 1
      && (guint64) usual->n_items * most <= 100000000 && usual->run_us >= 1 && usual->run_us <= 1e9)
    return TRUE;
  g_set_error_literal (
      error, BENCH_ERROR, BENCH_ERROR_ARGUMENT,
      "nodes takes 1 to 1024 --workers, --work of 1 to 1e9 µs, and as many --items "
      "a node that all nodes have at most 100000000");

  return FALSE;
}

/* --- the command ------------------------------------------------------------------------------ */

static gboolean
run_one (Row *row, gboolean json, gboolean csv, GString *text, GError **error)
{
  gint64 began = bench_now ();

  if (!nodes_run (&row->setup, &row->outcome, error))
    return FALSE;
  row->took = bench_seconds_since (began);
  if (json)
    append_json (text, row);
  else if (csv)
    append_csv (text, row);
  else
    print_row (row);

  return TRUE;
}

static gboolean
run_all (const NodesSetup *usual,
         const GArray *sizes,
         char **only,
         gboolean json,
         gboolean csv,
         GString *text,
         GError **error)
{
  for (guint i = 0; i < sizes->len; i++)
    for (guint load = 0; load < NODES_N_LOADS; load++)
      for (guint way = 0; way < NODES_N_WAYS; way++)
        {
          Row row = { .setup = *usual };

          row.setup.n_nodes = g_array_index (sizes, guint, i);
          row.setup.load = load;
          row.setup.way = way;
          if (is_chosen (only, nodes_load_names, NODES_N_LOADS, load)
              && is_chosen (only, nodes_way_names, NODES_N_WAYS, way)
              && !run_one (&row, json, csv, text, error))
            return FALSE;
        }

  return TRUE;
}

gboolean
nodes_command (int n_words,
               char **words,
               const NodesSetup *usual,
               const char *costs_file,
               char **only,
               gboolean quick,
               gboolean json,
               gboolean csv,
               GError **error)
{
  g_autoptr (GArray) sizes = read_sizes (n_words, words, quick, error);
  g_autoptr (GString) text = g_string_new (NULL);
  NodesSetup setup = *usual;
  gint64 began = bench_now ();
  struct rusage usage;
  NodesCosts costs;

  nodes_costs_init (&costs);
  setup.costs = &costs;
  if (sizes == NULL || !check_numbers (usual, sizes, error) || !check_only (only, error)
      || (costs_file != NULL && !nodes_costs_load (&costs, costs_file, error)))
    return FALSE;
  if (csv)
    print_csv_head ();
  else if (!json)
    print_head (usual);
  if (!run_all (&setup, sizes, only, json, csv, text, error))
    return FALSE;
  g_print ("%s%s", text->str, json ? "\n]\n" : "");
  getrusage (RUSAGE_SELF, &usage);
  if (!json && !csv)
    g_print ("\nsimulated in %.1f s, with at most %ld MiB\n", bench_seconds_since (began),
             usage.ru_maxrss / 1024);

  return TRUE;
}
