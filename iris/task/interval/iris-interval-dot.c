/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A picture of a graph of intervals, for Graphviz.
 */
#include "iris/task/interval/iris-interval-private.h"

typedef struct
{
  const char *name;
  const char *colour;
} StateLook;

static const StateLook looks[] = {
  [IRIS_INTERVAL_NEW] = { "new", "white" },
  [IRIS_INTERVAL_WAITING] = { "waiting", "lightyellow" },
  [IRIS_INTERVAL_READY] = { "ready", "gold" },
  [IRIS_INTERVAL_RUNNING] = { "running", "orange" },
  [IRIS_INTERVAL_RETURNED] = { "returned", "lightblue" },
  [IRIS_INTERVAL_DONE] = { "done", "palegreen" },
  [IRIS_INTERVAL_FAILED] = { "failed", "salmon" },
  [IRIS_INTERVAL_CANCELLED] = { "cancelled", "lightgrey" },
};

/* In a quoted string of DOT only the quote needs a backslash, but what follows one in a label has
 * a meaning (\n, \N), so backslashes do as well. Lines are kept, other control characters are not.
 * Graphviz reads UTF-8 and nothing else. */
static void
append_escaped (GString *text, const char *name)
{
  g_autofree char *valid = g_utf8_make_valid (name, -1);

  for (const char *at = valid; *at != '\0'; at++)
    if (*at == '"' || *at == '\\')
      g_string_append_printf (text, "\\%c", *at);
    else if (*at == '\n')
      g_string_append (text, "\\n");
    else if ((guchar) *at < ' ' || *at == 0x7f)
      g_string_append_c (text, '?');
    else
      g_string_append_c (text, *at);
}

static void
append_interval (GString *text, IrisInterval *interval)
{
  guint32 state = atomic_load_explicit (&interval->state, memory_order_acquire);

  g_string_append_printf (text, "  i%" G_GUINT64_FORMAT " [label=\"", interval->serial);
  append_escaped (text, interval->name);
  if (interval->place != IRIS_PLACE_ANY)
    g_string_append_printf (text, "\\nplace %d%s", interval->place,
                            (interval->item_flags & IRIS_ITEM_STRICT) ? " only" : "");
  if (interval->n_locks > 0)
    g_string_append_printf (text, "\\n%u lock%s", interval->n_locks,
                            interval->n_locks == 1 ? "" : "s");
  g_string_append_printf (text, "\", tooltip=\"%s\", fillcolor=\"%s\"];\n", looks[state].name,
                          looks[state].colour);
}

/* Edges from ends to starts are plain; of others it is said where they begin and end. A child's
 * edges are one, dashed. Edges into intervals that are gone are left out. */
static void
append_edges (GString *text, IrisInterval *interval, GHashTable *present)
{
  if (interval->parent_serial != 0 && g_hash_table_contains (present, &interval->parent_serial))
    g_string_append_printf (text,
                            "  i%" G_GUINT64_FORMAT " -> i%" G_GUINT64_FORMAT
                            " [style=dashed, arrowhead=odiamond];\n",
                            interval->serial, interval->parent_serial);

  for (guint i = 0; i < 2; i++)
    {
      uintptr_t edges = atomic_load_explicit (&interval->points[i].edges, memory_order_acquire);

      for (IrisEdge *edge = (IrisEdge *) (edges & ~IRIS_POINT_HAPPENED); edge != NULL;
           edge = edge->next)
        {
          const guint64 *to = g_hash_table_lookup (present, &edge->to_serial);

          if (to == NULL || edge->is_parental)
            continue;
          g_string_append_printf (text, "  i%" G_GUINT64_FORMAT " -> i%" G_GUINT64_FORMAT " [",
                                  interval->serial, *to);
          if (i == IRIS_INTERVAL_START)
            g_string_append (text, "taillabel=\"start\" ");
          if (edge->to_which == IRIS_INTERVAL_END)
            g_string_append (text, "headlabel=\"end\" ");
          if (edge->flags & IRIS_INTERVAL_EDGE_ORDER_ONLY)
            g_string_append (text, "style=dotted ");
          g_string_append (text, "];\n");
        }
    }
}

/**
 * iris_interval_graph_to_dot:
 *
 * Draws the intervals that are in memory, as they are at this moment, and the edges between them,
 * as text in the language of Graphviz. An interval that has ended is in memory while the program
 * has a reference to it.
 *
 * The colour says the state, and so does the tooltip: white new, light yellow waiting, gold ready,
 * orange running, light blue returned, green done, red failed, grey cancelled. A dashed line leads
 * from a child to its parent; a dotted one carries no errors.
 *
 * Intervals go on meanwhile; those that are made or freed wait for it.
 *
 * Returns: (transfer full): the text, in UTF-8
 */
char *
iris_interval_graph_to_dot (IrisIntervalGraph *self)
{
  g_autoptr (GHashTable) present = g_hash_table_new (g_int64_hash, g_int64_equal);
  GString *text;

  g_return_val_if_fail (IRIS_IS_INTERVAL_GRAPH (self), NULL);

  text = g_string_new ("digraph intervals {\n  node [shape=box, style=\"rounded,filled\"];\n");
  pthread_mutex_lock (&self->lock);
  for (IrisInterval *at = self->first; at != NULL; at = at->next)
    {
      g_hash_table_add (present, &at->serial);
      append_interval (text, at);
    }
  for (IrisInterval *at = self->first; at != NULL; at = at->next)
    append_edges (text, at, present);
  pthread_mutex_unlock (&self->lock);
  g_string_append (text, "}\n");

  return g_string_free (text, FALSE);
}
