/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Edges between the points of intervals: adding them while intervals run.
 */
#include "iris/task/interval/iris-interval-private.h"

/* FALSE if the point does not wait any more. */
static gboolean
point_hold_back (IrisPoint *self)
{
  guint32 waits = atomic_load_explicit (&self->waits, memory_order_relaxed);

  do
    if (waits == 0)
      return FALSE;
  while (!atomic_compare_exchange_weak_explicit (&self->waits, &waits, waits + 1,
                                                 memory_order_relaxed, memory_order_relaxed));

  return TRUE;
}

static gboolean
refuse_happened (IrisPoint *to, GError **error)
{
  g_set_error (error, IRIS_INTERVAL_ERROR, IRIS_INTERVAL_ERROR_HAPPENED,
               "The interval “%s” has %s, or is about to: it cannot wait for more. Add its edges "
               "before it is scheduled, or while it waits for another",
               iris_point_get_interval (to)->name,
               to->which == IRIS_INTERVAL_START ? "started" : "ended");

  return FALSE;
}

static gboolean
check_graphs (IrisInterval *a, IrisInterval *b, GError **error)
{
  if (a->graph == b->graph)
    return TRUE;
  g_set_error (error, IRIS_INTERVAL_ERROR, IRIS_INTERVAL_ERROR_OTHER_GRAPH,
               "The intervals “%s” and “%s” belong to different graphs; make both in one", a->name,
               b->name);

  return FALSE;
}

/* Under the graph's lock; @to is held back. FALSE if @from has happened: the edge is for the caller
 * to deliver, without the lock. */
static gboolean
edge_push (IrisPoint *from, IrisPoint *to, IrisIntervalEdge flags, bool is_parental)
{
  uintptr_t edges = atomic_load_explicit (&from->edges, memory_order_acquire);
  IrisInterval *interval = iris_point_get_interval (to);
  IrisEdge *edge;

  iris_interval_pin (interval);
  to->n_in++;
  if (edges & IRIS_POINT_HAPPENED)
    return FALSE;
  edge = g_new (IrisEdge, 1);
  *edge = (IrisEdge){ .to = to,
                      .to_serial = interval->serial,
                      .to_which = to->which,
                      .flags = flags,
                      .is_parental = is_parental };
  do
    {
      if (edges & IRIS_POINT_HAPPENED)
        {
          g_free (edge);
          return FALSE;
        }
      edge->next = (IrisEdge *) edges;
    }
  while (!atomic_compare_exchange_weak_explicit (&from->edges, &edges, (uintptr_t) edge,
                                                 memory_order_acq_rel, memory_order_acquire));

  return TRUE;
}

/**
 * iris_interval_add_edge:
 * @from: an interval
 * @from_point: the point that happens first
 * @to: an interval of the same graph
 * @to_point: the point that waits for it
 * @flags: what the edge carries
 * @error: return location for an error
 *
 * Says that one point happens before another.
 *
 * Edges may be added while intervals run. If @from_point has happened, nothing is left to wait for,
 * but an error flows all the same. It is refused with %IRIS_INTERVAL_ERROR_HAPPENED when @to_point
 * does not wait any more, and with %IRIS_INTERVAL_ERROR_CYCLE, and the cycle in the message, when
 * the points would wait for each other; nothing is changed then. An edge that leads back in the
 * order in which edges came costs a search through what lies between its points, under a lock of
 * the graph.
 *
 * Returns: whether the edge was added
 *
 * Since: 0.1
 */
gboolean
iris_interval_add_edge (IrisInterval *from,
                        IrisIntervalPoint from_point,
                        IrisInterval *to,
                        IrisIntervalPoint to_point,
                        IrisIntervalEdge flags,
                        GError **error)
{
  IrisPoint *first, *second;
  gboolean is_pushed = TRUE, is_good;

  g_return_val_if_fail (from != NULL && from_point <= IRIS_INTERVAL_END, FALSE);
  g_return_val_if_fail (to != NULL && to_point <= IRIS_INTERVAL_END, FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  if (!check_graphs (from, to, error))
    return FALSE;
  first = &from->points[from_point];
  second = &to->points[to_point];

  pthread_mutex_lock (&from->graph->lock);
  is_good = iris_interval_graph_allow (from->graph, first, second, error);
  if (is_good && !point_hold_back (second))
    is_good = refuse_happened (second, error);
  if (is_good)
    is_pushed = edge_push (first, second, flags, false);
  pthread_mutex_unlock (&from->graph->lock);

  if (!is_pushed)
    iris_edge_deliver (first, second, flags);

  return is_good;
}

/**
 * iris_interval_add_after:
 * @self: an interval
 * @before: an interval of the same graph
 * @error: return location for an error
 *
 * Has @self start after the end of @before; see iris_interval_add_edge().
 *
 * Returns: whether the edge was added
 *
 * Since: 0.1
 */
gboolean
iris_interval_add_after (IrisInterval *self, IrisInterval *before, GError **error)
{
  return iris_interval_add_edge (before, IRIS_INTERVAL_END, self, IRIS_INTERVAL_START,
                                 IRIS_INTERVAL_EDGE_DEFAULT, error);
}

/* Under the graph's lock. Whether both edges between parent and child can be; then both their far
 * ends are held back. @is_held: whether the child's start is, in any case. */
static gboolean
hold_back_for_parent (IrisInterval *self, IrisInterval *parent, gboolean *is_held, GError **error)
{
  IrisPoint *mine = self->points, *its = parent->points;
  gboolean is_good;

  if (self->parent_serial != 0)
    {
      g_set_error (error, IRIS_INTERVAL_ERROR, IRIS_INTERVAL_ERROR_HAS_PARENT,
                   "The interval “%s” has a parent already", self->name);
      return FALSE;
    }
  if (!iris_interval_graph_allow (self->graph, &its[IRIS_INTERVAL_START],
                                  &mine[IRIS_INTERVAL_START], error))
    return FALSE;
  /* Room for the second edge must not be made by taking it from the first, which is not there yet:
   * the child's start is none that nothing leads to. */
  mine[IRIS_INTERVAL_START].n_in++;
  is_good = iris_interval_graph_allow (self->graph, &mine[IRIS_INTERVAL_END],
                                       &its[IRIS_INTERVAL_END], error);
  mine[IRIS_INTERVAL_START].n_in--;
  if (!is_good)
    return FALSE;
  *is_held = point_hold_back (&mine[IRIS_INTERVAL_START]);
  if (!*is_held)
    return refuse_happened (&mine[IRIS_INTERVAL_START], error);
  if (!point_hold_back (&its[IRIS_INTERVAL_END]))
    return refuse_happened (&its[IRIS_INTERVAL_END], error);
  self->parent_serial = parent->serial;

  return TRUE;
}

/**
 * iris_interval_set_parent:
 * @self: an interval that is not scheduled
 * @parent: an interval of the same graph that has not ended; it may be running
 * @error: return location for an error
 *
 * Makes @self a child: it starts after the start of @parent, and ends before its end. An error of
 * the child is one of the parent's end. An interval has one parent at most.
 *
 * Returns: whether it is a child now
 *
 * Since: 0.1
 */
gboolean
iris_interval_set_parent (IrisInterval *self, IrisInterval *parent, GError **error)
{
  IrisPoint *mine, *its;
  gboolean is_held = FALSE, start_pushed = TRUE, end_pushed = TRUE, is_good;

  g_return_val_if_fail (self != NULL && iris_interval_is_new (self), FALSE);
  g_return_val_if_fail (parent != NULL, FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  if (!check_graphs (self, parent, error))
    return FALSE;
  mine = self->points;
  its = parent->points;

  pthread_mutex_lock (&self->graph->lock);
  is_good = hold_back_for_parent (self, parent, &is_held, error);
  if (is_good)
    {
      end_pushed = edge_push (&mine[IRIS_INTERVAL_END], &its[IRIS_INTERVAL_END],
                              IRIS_INTERVAL_EDGE_DEFAULT, true);
      start_pushed = edge_push (&its[IRIS_INTERVAL_START], &mine[IRIS_INTERVAL_START],
                                IRIS_INTERVAL_EDGE_DEFAULT, true);
    }
  pthread_mutex_unlock (&self->graph->lock);

  g_assert (end_pushed);
  if (is_held && !is_good)
    iris_point_let_go (&mine[IRIS_INTERVAL_START]);
  if (!start_pushed)
    iris_edge_deliver (&its[IRIS_INTERVAL_START], &mine[IRIS_INTERVAL_START],
                       IRIS_INTERVAL_EDGE_DEFAULT);

  return is_good;
}
