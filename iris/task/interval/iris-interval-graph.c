/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The graph of intervals: which intervals are in it, and that it has no cycle. See
 * iris-interval-private.h.
 */
#include "iris/task/interval/iris-interval-private.h"

/* Of a longer cycle only so many points are named. */
#define CYCLE_NAMES 24

G_DEFINE_FINAL_TYPE (IrisIntervalGraph, iris_interval_graph, G_TYPE_OBJECT)

static void
iris_interval_graph_finalize (GObject *object)
{
  IrisIntervalGraph *self = IRIS_INTERVAL_GRAPH (object);

  g_assert (self->first == NULL);
  pthread_mutex_destroy (&self->lock);
  free (self->ended);
  g_clear_object (&self->scheduler);

  G_OBJECT_CLASS (iris_interval_graph_parent_class)->finalize (object);
}

static void
iris_interval_graph_class_init (IrisIntervalGraphClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = iris_interval_graph_finalize;
}

static void
iris_interval_graph_init (IrisIntervalGraph *self)
{
  pthread_mutex_init (&self->lock, NULL);
  self->ended = aligned_alloc (IRIS_CACHE_PAIR, sizeof *self->ended);
  if (self->ended == NULL)
    g_error ("iris: out of memory for a graph of intervals");
  iris_eventcount_init (self->ended);
}

/**
 * iris_interval_graph_new:
 * @scheduler: runs the intervals
 *
 * Makes a graph without intervals. Each interval keeps its graph, and the graph its scheduler,
 * until it has ended and its last reference is dropped.
 *
 * Returns: (transfer full): a graph
 */
IrisIntervalGraph *
iris_interval_graph_new (IrisScheduler *scheduler)
{
  IrisIntervalGraph *self;

  g_return_val_if_fail (IRIS_IS_SCHEDULER (scheduler), NULL);

  self = g_object_new (IRIS_TYPE_INTERVAL_GRAPH, NULL);
  self->scheduler = g_object_ref (scheduler);

  return self;
}

/**
 * iris_interval_graph_get_scheduler:
 *
 * Returns: (transfer none): what runs its intervals
 */
IrisScheduler *
iris_interval_graph_get_scheduler (IrisIntervalGraph *self)
{
  g_return_val_if_fail (IRIS_IS_INTERVAL_GRAPH (self), NULL);

  return self->scheduler;
}

/**
 * iris_interval_graph_wait:
 *
 * Waits until no interval of the graph is scheduled that has not ended. For threads that are not
 * workers. An interval that no thread has scheduled is not waited for.
 */
void
iris_interval_graph_wait (IrisIntervalGraph *self)
{
  g_return_if_fail (IRIS_IS_INTERVAL_GRAPH (self));
  g_return_if_fail (iris_worker_mine == NULL);

  while (atomic_load_explicit (&self->n_active, memory_order_acquire) != 0)
    {
      iris_eventcount_prepare (self->ended);
      if (atomic_load_explicit (&self->n_active, memory_order_acquire) == 0)
        iris_eventcount_cancel (self->ended);
      else
        iris_eventcount_wait (self->ended, IRIS_EVENTCOUNT_FOREVER);
    }
}

void
iris_interval_graph_enter (IrisIntervalGraph *self, IrisInterval *interval)
{
  pthread_mutex_lock (&self->lock);
  interval->next = self->first;
  if (self->first != NULL)
    self->first->prev = interval;
  self->first = interval;
  pthread_mutex_unlock (&self->lock);
}

void
iris_interval_graph_leave (IrisIntervalGraph *self, IrisInterval *interval)
{
  pthread_mutex_lock (&self->lock);
  if (interval->prev != NULL)
    interval->prev->next = interval->next;
  else
    self->first = interval->next;
  if (interval->next != NULL)
    interval->next->prev = interval->prev;
  pthread_mutex_unlock (&self->lock);
}

/* --- cycles --- */

/* A walk over the points behind a point. The edges of a start include that to its own end. */
typedef struct
{
  IrisPoint *own_end; /* next, if not NULL */
  IrisEdge *edge;
} Successors;

static Successors
successors (IrisPoint *point)
{
  return (Successors){
    .own_end = point->which == IRIS_INTERVAL_START ? point + 1 : NULL,
    .edge = iris_point_open_edges (point),
  };
}

static IrisPoint *
successors_next (Successors *self)
{
  IrisPoint *next = self->own_end;

  if (next != NULL)
    self->own_end = NULL;
  else if (self->edge != NULL)
    {
      next = self->edge->to;
      self->edge = self->edge->next;
    }

  return next;
}

/* Under the lock. Whether there is a way from @to to @from; the points on it are linked by via. */
static gboolean
graph_find (IrisIntervalGraph *self, IrisPoint *to, IrisPoint *from)
{
  g_autoptr (GPtrArray) ahead = g_ptr_array_new ();
  guint64 search = ++self->last_search;

  to->search = search;
  to->via = NULL;
  g_ptr_array_add (ahead, to);
  while (ahead->len > 0)
    {
      IrisPoint *point = g_ptr_array_steal_index_fast (ahead, ahead->len - 1);
      Successors walk = successors (point);
      IrisPoint *next;

      while ((next = successors_next (&walk)) != NULL)
        {
          if (next->search == search || (next != from && next->rank >= from->rank))
            continue;
          next->search = search;
          next->via = point;
          if (next == from)
            return TRUE;
          g_ptr_array_add (ahead, next);
        }
    }

  return FALSE;
}

/* Under the lock. Lifts @to above @rank, and what is behind it above it. */
static void
graph_raise (IrisPoint *to, gint64 rank)
{
  g_autoptr (GPtrArray) ahead = g_ptr_array_new ();

  to->rank = rank + 1;
  g_ptr_array_add (ahead, to);
  while (ahead->len > 0)
    {
      IrisPoint *point = g_ptr_array_steal_index_fast (ahead, ahead->len - 1);
      Successors walk = successors (point);
      IrisPoint *next;

      while ((next = successors_next (&walk)) != NULL)
        if (next->rank <= point->rank)
          {
            next->rank = point->rank + 1;
            g_ptr_array_add (ahead, next);
          }
    }
}

static const char *
which_name (IrisIntervalPoint which)
{
  return which == IRIS_INTERVAL_START ? "start" : "end";
}

/* The way that graph_find() found, in the order of happening, and the edge that would close it. */
static void
set_cycle_error (GError **error, IrisPoint *from, IrisPoint *to)
{
  g_autoptr (GPtrArray) way = g_ptr_array_new ();
  g_autoptr (GString) text = g_string_new (NULL);

  for (IrisPoint *point = from; point != NULL; point = point->via)
    g_ptr_array_add (way, point);
  for (guint i = way->len; i-- > 0;)
    {
      IrisPoint *point = way->pdata[i];

      if (way->len > CYCLE_NAMES && i >= CYCLE_NAMES / 2 && i < way->len - CYCLE_NAMES / 2)
        {
          if (i == CYCLE_NAMES / 2)
            g_string_append_printf (text, "(%u more) → ", way->len - CYCLE_NAMES);
          continue;
        }
      g_string_append_printf (text, "“%s”.%s → ", iris_point_get_interval (point)->name,
                              which_name (point->which));
    }
  g_set_error (error, IRIS_INTERVAL_ERROR, IRIS_INTERVAL_ERROR_CYCLE,
               "The edge from the %s of “%s” to the %s of “%s” would close a cycle: %s“%s”.%s",
               which_name (from->which), iris_point_get_interval (from)->name,
               which_name (to->which), iris_point_get_interval (to)->name, text->str,
               iris_point_get_interval (to)->name, which_name (to->which));
}

/* Whether nothing leads to @point but, if it is an end, its own start, which nothing leads to. */
static gboolean
is_source (IrisPoint *point)
{
  return point->n_in == 0 && (point->which == IRIS_INTERVAL_START || (point - 1)->n_in == 0);
}

/* Under the lock. Makes room for an edge from @from to @to in the order of ranks; FALSE if it would
 * close a cycle. */
gboolean
iris_interval_graph_allow (IrisIntervalGraph *self, IrisPoint *from, IrisPoint *to, GError **error)
{
  if (from == to
      || (iris_point_get_interval (from) == iris_point_get_interval (to)
          && from->which == IRIS_INTERVAL_END))
    {
      from->via = from == to ? NULL : to;
      to->via = NULL;
      set_cycle_error (error, from, to);
      return FALSE;
    }
  if (from->rank < to->rank || iris_point_has_happened (from))
    return TRUE;

  if (is_source (from))
    {
      from->rank = to->rank - 1;
      if (from->which == IRIS_INTERVAL_END)
        (from - 1)->rank = MIN ((from - 1)->rank, from->rank - 1);
      return TRUE;
    }
  if (graph_find (self, to, from))
    {
      set_cycle_error (error, from, to);
      return FALSE;
    }
  graph_raise (to, from->rank);

  return TRUE;
}

/* --- a picture, for Graphviz --- */

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
