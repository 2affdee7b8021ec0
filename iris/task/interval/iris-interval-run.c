/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * How points happen: an interval's way from its start to its end. See iris-interval-private.h.
 */
#include "iris/task/interval/iris-interval-private.h"

/* What is due on this thread, oldest first; NULL when nothing happens on it. */
typedef struct
{
  IrisPoint *first;
  IrisPoint **last;
} Due;

static __thread Due *due;

static void point_happens (IrisPoint *point);

static void
interval_set_state (IrisInterval *self, IrisIntervalState state)
{
  atomic_store_explicit (&self->state, state, memory_order_release);
}

void
iris_interval_unpin (IrisInterval *self)
{
  if (atomic_fetch_sub_explicit (&self->pins, 1, memory_order_acq_rel) != 1)
    return;

  iris_interval_graph_leave (self->graph, self);
  for (guint i = 0; i < 2; i++)
    {
      IrisPoint *point = &self->points[i];
      IrisEdge *edge = (IrisEdge *) (atomic_load_explicit (&point->edges, memory_order_relaxed)
                                     & ~IRIS_POINT_HAPPENED);
      GError *error = atomic_load_explicit (&point->error, memory_order_relaxed);

      while (edge != NULL)
        {
          IrisEdge *next = edge->next;

          g_free (edge);
          edge = next;
        }
      g_clear_error (&error);
    }
  for (guint i = 0; i < self->n_locks; i++)
    iris_lock_unref (self->locks[i]);
  g_free (self->locks);
  g_free (self->name);
  g_object_unref (self->graph);
  free (self);
}

/* The first error counts. Takes it. */
void
iris_point_take_error (IrisPoint *self, GError *error)
{
  GError *none = NULL;

  if (!atomic_compare_exchange_strong_explicit (&self->error, &none, error, memory_order_acq_rel,
                                                memory_order_relaxed))
    g_error_free (error);
}

/* What flows from a point that has happened. */
GError *
iris_point_get_outcome (IrisPoint *self)
{
  if (self->which == IRIS_INTERVAL_START && iris_point_get_interval (self)->ran)
    return NULL;

  return atomic_load_explicit (&self->error, memory_order_acquire);
}

/* Everything that became due is made to happen, here or, if a point happens on this thread already,
 * behind it. */
static void
point_is_due (IrisPoint *self)
{
  Due mine = { .first = self, .last = &self->next_due };

  self->next_due = NULL;
  if (due != NULL)
    {
      *due->last = self;
      due->last = &self->next_due;
      return;
    }
  due = &mine;
  while ((self = mine.first) != NULL)
    {
      mine.first = self->next_due;
      if (mine.first == NULL)
        mine.last = &mine.first;
      point_happens (self);
    }
  due = NULL;
}

/* Takes away one of the things that a point waits for. */
void
iris_point_let_go (IrisPoint *self)
{
  if (atomic_fetch_sub_explicit (&self->waits, 1, memory_order_acq_rel) == 1)
    point_is_due (self);
}

/* What an edge does when its beginning has happened. */
void
iris_edge_deliver (IrisPoint *from, IrisPoint *to, IrisIntervalEdge flags)
{
  GError *error = iris_point_get_outcome (from);
  IrisInterval *interval = iris_point_get_interval (to);

  if (error != NULL && !(flags & IRIS_INTERVAL_EDGE_ORDER_ONLY))
    iris_point_take_error (to, g_error_copy (error));
  iris_point_let_go (to);
  iris_interval_unpin (interval);
}

/* The point has happened: tells all that wait for it. */
static void
point_tell (IrisPoint *self)
{
  uintptr_t edges = atomic_fetch_or_explicit (&self->edges, IRIS_POINT_HAPPENED,
                                              memory_order_acq_rel);

  for (IrisEdge *edge = (IrisEdge *) edges; edge != NULL; edge = edge->next)
    iris_edge_deliver (self, edge->to, edge->flags);
}

/* --- from start to end ------------------------------------------------------------------------ */

static void
interval_release_locks (IrisInterval *self)
{
  while (self->n_held > 0)
    iris_lock_release (self->locks[--self->n_held]);
}

/* The function has returned, or will not be called. */
static void
interval_settle (IrisInterval *self)
{
  if (self->notify != NULL)
    self->notify (self->data);
  interval_set_state (self, IRIS_INTERVAL_RETURNED);
  iris_point_let_go (&self->points[IRIS_INTERVAL_END]);
}

/* The start is due, with an error. */
static void
interval_skip (IrisInterval *self, const GError *error)
{
  interval_release_locks (self);
  iris_point_take_error (&self->points[IRIS_INTERVAL_END], g_error_copy (error));
  point_tell (&self->points[IRIS_INTERVAL_START]);
  interval_settle (self);
}

/* On a worker, with all locks. */
static void
interval_run (gpointer data)
{
  IrisInterval *self = data;
  GError *error = atomic_load_explicit (&self->points[IRIS_INTERVAL_START].error,
                                        memory_order_acquire);

  if (error != NULL)
    {
      /* It was cancelled meanwhile. */
      point_is_due (&self->points[IRIS_INTERVAL_START]);
      return;
    }
  interval_set_state (self, IRIS_INTERVAL_RUNNING);
  self->ran = true;
  point_tell (&self->points[IRIS_INTERVAL_START]);
  if (!self->func (self, self->data, &error) && error == NULL)
    error = g_error_new (IRIS_INTERVAL_ERROR, IRIS_INTERVAL_ERROR_FAILED,
                         "The interval “%s” failed without saying why", self->name);
  if (error != NULL)
    iris_point_take_error (&self->points[IRIS_INTERVAL_END], error);
  interval_release_locks (self);
  interval_settle (self);
}

/* Instead of running: the scheduler was shut down. */
static void
interval_dropped (gpointer data)
{
  IrisInterval *self = data;

  iris_point_take_error (
      &self->points[IRIS_INTERVAL_START],
      g_error_new (IRIS_INTERVAL_ERROR, IRIS_INTERVAL_ERROR_CANCELLED,
                   "The interval “%s” was cancelled: its scheduler was shut down", self->name));
  point_is_due (&self->points[IRIS_INTERVAL_START]);
}

/* Takes what is missing of the locks; FALSE: it stands in line, and is another's already. */
static gboolean
interval_take_locks (IrisInterval *self)
{
  while (self->n_held < self->n_locks)
    {
      if (!iris_lock_enter (self->locks[self->n_held], &self->node))
        return FALSE;
      self->n_held++;
    }

  return TRUE;
}

static void
interval_granted (IrisLockNode *node)
{
  IrisInterval *self = (IrisInterval *) ((char *) node - G_STRUCT_OFFSET (IrisInterval, node));
  IrisLock *lock = self->locks[self->n_held++];

  iris_lock_node_init (&self->node, interval_granted);
  if (!interval_take_locks (self))
    return;
  iris_item_init (&self->item, interval_run, self, interval_dropped);
  iris_item_set_place (&self->item, self->place, self->item_flags);
  iris_lock_schedule (lock, self->graph->scheduler, &self->item, self->home);
}

/* On a worker, without locks. */
static void
interval_start (gpointer data)
{
  IrisInterval *self = data;

  if (self->n_locks > 0)
    {
      self->home = iris_lock_home (self->graph->scheduler);
      iris_lock_node_init (&self->node, interval_granted);
      if (!interval_take_locks (self))
        return;
    }
  interval_run (self);
}

/* The start has nothing to wait for. */
static void
interval_begin (IrisInterval *self)
{
  GError *error = atomic_load_explicit (&self->points[IRIS_INTERVAL_START].error,
                                        memory_order_acquire);

  if (error != NULL)
    {
      interval_skip (self, error);
      return;
    }
  interval_set_state (self, IRIS_INTERVAL_READY);
  iris_item_init (&self->item, interval_start, self, interval_dropped);
  iris_item_set_place (&self->item, self->place, self->item_flags);
  iris_scheduler_queue_item (self->graph->scheduler, &self->item);
}

static void
interval_end (IrisInterval *self)
{
  IrisPoint *end = &self->points[IRIS_INTERVAL_END];
  GError *error = atomic_load_explicit (&end->error, memory_order_acquire);
  IrisIntervalGraph *graph = self->graph;

  if (!self->ran)
    interval_set_state (self, IRIS_INTERVAL_CANCELLED);
  else
    interval_set_state (self, error != NULL ? IRIS_INTERVAL_FAILED : IRIS_INTERVAL_DONE);
  point_tell (end);
  atomic_fetch_sub_explicit (&graph->n_active, 1, memory_order_acq_rel);
  iris_eventcount_notify_all (graph->ended);
  iris_interval_unpin (self);
}

static void
point_happens (IrisPoint *point)
{
  IrisInterval *self = iris_point_get_interval (point);

  if (point->which == IRIS_INTERVAL_START)
    interval_begin (self);
  else
    interval_end (self);
}
