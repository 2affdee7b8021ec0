/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The interval: from being made over its start to its end. See iris-interval-private.h.
 */
#include "iris/task/interval/iris-interval-private.h"

#include "iris/base/iris-ref-private.h"
#include <string.h>

static void point_take_error (IrisPoint *self, GError *error);
static GError *point_get_outcome (IrisPoint *self);
static void point_let_go (IrisPoint *self);
static void edge_deliver (IrisPoint *from, IrisPoint *to, IrisIntervalEdge flags);

/**
 * IrisInterval:
 *
 * A task with a name, a place, locks, and edges that say what it must come behind.
 *
 * An interval has two points, its start and its end. An edge from one point to another says that
 * the first happens before the second, with all that its side did. An interval that was scheduled
 * is queued as a work item as soon as everything has happened that its start waits for; it is that
 * work item, nothing is allocated for it. Its end happens when its function has returned, its
 * children have ended, and whatever else there are edges from to its end has happened. Each end
 * happens exactly once, whatever goes wrong.
 *
 * Errors flow along edges: an interval whose start gets an error does not start; its end happens in
 * its turn, with that error. An end that gets one, as from a child, passes it on. The first counts.
 *
 * Its functions may be called from any thread, and by intervals that run, unless they say
 * otherwise.
 */

/**
 * iris_interval_error_quark:
 *
 * Returns: the domain of the errors of intervals, whose codes are those of [error@IntervalError]
 */
/* The formatter would put spaces into the name. */
/* clang-format off */
G_DEFINE_QUARK (iris-interval-error-quark, iris_interval_error)
/* clang-format on */
G_DEFINE_BOXED_TYPE (IrisInterval, iris_interval, iris_interval_ref, iris_interval_unref)

/**
 * iris_interval_new:
 * @graph: the graph that it belongs to
 * @name: (nullable): for errors and pictures; need not be unique. %NULL: a number
 * @func: (scope notified) (closure data) (destroy notify): the work
 * @data: (nullable): for @func
 * @notify: (nullable): called with @data once, when the function has returned or will not be
 * called, and before the end happens. It must not wait for an interval
 *
 * Makes an interval. It does nothing until iris_interval_schedule(); before that it is given its
 * place, locks, parent and edges. An interval that is dropped without being scheduled is cancelled,
 * so that no thread waits for it for ever.
 *
 * Returns: (transfer full): an interval
 */
IrisInterval *
iris_interval_new (IrisIntervalGraph *graph,
                   const char *name,
                   IrisIntervalFunc func,
                   gpointer data,
                   GDestroyNotify notify)
{
  IrisInterval *self;

  g_return_val_if_fail (IRIS_IS_INTERVAL_GRAPH (graph), NULL);
  g_return_val_if_fail (func != NULL, NULL);

  self = aligned_alloc (IRIS_CACHE_LINE,
                        (sizeof *self + IRIS_CACHE_LINE - 1) / IRIS_CACHE_LINE * IRIS_CACHE_LINE);
  if (self == NULL)
    g_error ("iris: out of memory for an interval");
  *self = (IrisInterval){
    .graph = g_object_ref (graph),
    .func = func,
    .data = data,
    .notify = notify,
    .place = IRIS_PLACE_ANY,
  };
  for (guint i = 0; i < 2; i++)
    {
      self->points[i].which = (IrisIntervalPoint) i;
      self->points[i].rank = i;
      atomic_init (&self->points[i].waits, 1);
    }
  g_atomic_ref_count_init (&self->refs);
  atomic_init (&self->pins, 1);
  self->serial = atomic_fetch_add_explicit (&graph->last_serial, 1, memory_order_relaxed) + 1;
  self->name = name != NULL ? g_strdup (name)
                            : g_strdup_printf ("%" G_GUINT64_FORMAT, self->serial);
  iris_interval_graph_enter (graph, self);

  return self;
}

/**
 * iris_interval_ref:
 *
 * Returns: (transfer full): @self, with one more reference; any thread may call it
 */
IRIS_DEFINE_REF (IrisInterval, iris_interval, g_atomic_ref_count_inc (&self->refs))

/**
 * iris_interval_unref:
 * @self: (transfer full): an interval
 *
 * Drops a reference. A scheduled interval lives until its end all the same. One that is not
 * scheduled is cancelled with its last reference; its notify is called when its turn comes.
 */
void
iris_interval_unref (IrisInterval *self)
{
  g_return_if_fail (self != NULL);

  if (!g_atomic_ref_count_dec (&self->refs))
    return;
  if (!atomic_load_explicit (&self->scheduled, memory_order_acquire))
    iris_interval_cancel (self);
  iris_interval_unpin (self);
}

/**
 * iris_interval_set_place:
 * @self: an interval that is not scheduled
 * @place: id of a place, or %IRIS_PLACE_ANY
 * @flags: %IRIS_ITEM_STRICT if it may run nowhere else, %IRIS_ITEM_KEEP_APART
 *
 * Sets the place at which the interval should run.
 */
void
iris_interval_set_place (IrisInterval *self, gint place, IrisItemFlags flags)
{
  g_return_if_fail (self != NULL && iris_interval_is_new (self));
  g_return_if_fail (place >= IRIS_PLACE_ANY);

  self->place = place;
  self->item_flags = flags;
}

/**
 * iris_interval_set_footprint:
 * @self: an interval that is not scheduled
 * @bytes: how much memory the interval will touch, in bytes; 0 for no hint
 *
 * Declares how much memory the interval will touch; see iris_item_set_footprint().
 */
void
iris_interval_set_footprint (IrisInterval *self, guint64 bytes)
{
  g_return_if_fail (self != NULL && iris_interval_is_new (self));

  self->footprint = bytes;
}

/**
 * iris_interval_add_lock:
 * @self: an interval that is not scheduled
 *
 * Has the interval run with @lock held. Any number of locks may be added; adding one again changes
 * nothing.
 *
 * When nothing else is left to wait for, the locks are taken in the order in which they were made,
 * whatever the order in which they were added, so intervals do not deadlock over them. They are
 * released when the function returns. Children are not covered by them: a parent that kept a lock
 * until its children end would wait for ever for a child that needs it.
 */
void
iris_interval_add_lock (IrisInterval *self, IrisLock *lock)
{
  guint at = 0;

  g_return_if_fail (self != NULL && iris_interval_is_new (self));
  g_return_if_fail (lock != NULL);

  while (at < self->n_locks && self->locks[at]->serial < lock->serial)
    at++;
  if (at < self->n_locks && self->locks[at] == lock)
    return;
  self->locks = g_renew (IrisLock *, self->locks, self->n_locks + 1);
  memmove (&self->locks[at + 1], &self->locks[at], (self->n_locks - at) * sizeof *self->locks);
  self->locks[at] = iris_lock_ref (lock);
  self->n_locks++;
}

/* --- scheduling, cancelling, waiting --- */

/**
 * iris_interval_schedule:
 *
 * Lets the interval start as soon as nothing is left that it waits for. Calling it again changes
 * nothing. If the scheduler was shut down, the interval is cancelled.
 */
void
iris_interval_schedule (IrisInterval *self)
{
  guint32 fresh = IRIS_INTERVAL_NEW;

  g_return_if_fail (self != NULL);

  if (atomic_exchange_explicit (&self->scheduled, true, memory_order_acq_rel))
    return;
  iris_interval_pin (self);
  atomic_fetch_add_explicit (&self->graph->n_active, 1, memory_order_relaxed);
  atomic_compare_exchange_strong_explicit (&self->state, &fresh, IRIS_INTERVAL_WAITING,
                                           memory_order_relaxed, memory_order_relaxed);
  point_let_go (&self->points[IRIS_INTERVAL_START]);
}

/**
 * iris_interval_cancel:
 *
 * Cancels an interval that has not started: it will not start, and ends with
 * %IRIS_INTERVAL_ERROR_CANCELLED when what it waits for has happened; until then the order holds.
 * It is scheduled if it was not. One that runs is not stopped, but can ask
 * iris_interval_is_cancelled().
 */
void
iris_interval_cancel (IrisInterval *self)
{
  g_return_if_fail (self != NULL);

  if (!atomic_exchange_explicit (&self->cancelled, true, memory_order_acq_rel))
    point_take_error (&self->points[IRIS_INTERVAL_START],
                      g_error_new (IRIS_INTERVAL_ERROR, IRIS_INTERVAL_ERROR_CANCELLED,
                                   "The interval “%s” was cancelled", self->name));
  iris_interval_schedule (self);
}

/**
 * iris_interval_is_cancelled:
 *
 * Tells whether iris_interval_cancel() was called.
 */
gboolean
iris_interval_is_cancelled (IrisInterval *self)
{
  g_return_val_if_fail (self != NULL, FALSE);

  return atomic_load_explicit (&self->cancelled, memory_order_acquire);
}

/**
 * iris_interval_wait:
 * @error: return location for the error with which it ended
 *
 * Waits for the interval's end. For threads that are not workers: an interval that needs the end of
 * another has an edge from it. A wait for an interval that is never scheduled waits for ever.
 *
 * Returns: whether it ended well
 */
gboolean
iris_interval_wait (IrisInterval *self, GError **error)
{
  IrisPoint *end;
  GError *outcome;

  g_return_val_if_fail (self != NULL, FALSE);
  g_return_val_if_fail (iris_worker_mine == NULL, FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  end = &self->points[IRIS_INTERVAL_END];
  while (!iris_point_has_happened (end))
    {
      iris_eventcount_prepare (self->graph->ended);
      if (iris_point_has_happened (end))
        iris_eventcount_cancel (self->graph->ended);
      else
        iris_eventcount_wait (self->graph->ended, IRIS_EVENTCOUNT_FOREVER);
    }
  outcome = point_get_outcome (end);
  if (outcome == NULL)
    return TRUE;
  if (error != NULL)
    *error = g_error_copy (outcome);

  return FALSE;
}

/**
 * iris_interval_get_state:
 *
 * Returns: where it is on its way, at this moment
 */
IrisIntervalState
iris_interval_get_state (IrisInterval *self)
{
  g_return_val_if_fail (self != NULL, IRIS_INTERVAL_NEW);

  return atomic_load_explicit (&self->state, memory_order_acquire);
}

/**
 * iris_interval_get_name:
 *
 * Returns: (transfer none): its name
 */
const char *
iris_interval_get_name (IrisInterval *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return self->name;
}

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
    edge_deliver (first, second, flags);

  return is_good;
}

/**
 * iris_interval_add_after:
 * @before: an interval of the same graph
 *
 * Has @self start after the end of @before; see iris_interval_add_edge().
 *
 * Returns: whether the edge was added
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
                   "The interval “%s” has a parent already; an interval has one parent at most",
                   self->name);
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
 *
 * Makes @self a child: it starts after the start of @parent, and ends before its end. An error of
 * the child is one of the parent's end. An interval has one parent at most.
 *
 * Returns: whether it is a child now
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
    point_let_go (&mine[IRIS_INTERVAL_START]);
  if (!start_pushed)
    edge_deliver (&its[IRIS_INTERVAL_START], &mine[IRIS_INTERVAL_START],
                  IRIS_INTERVAL_EDGE_DEFAULT);

  return is_good;
}

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
static void
point_take_error (IrisPoint *self, GError *error)
{
  GError *none = NULL;

  if (!atomic_compare_exchange_strong_explicit (&self->error, &none, error, memory_order_acq_rel,
                                                memory_order_relaxed))
    g_error_free (error);
}

/* What flows from a point that has happened. */
static GError *
point_get_outcome (IrisPoint *self)
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
static void
point_let_go (IrisPoint *self)
{
  if (atomic_fetch_sub_explicit (&self->waits, 1, memory_order_acq_rel) == 1)
    point_is_due (self);
}

/* What an edge does when its beginning has happened. */
static void
edge_deliver (IrisPoint *from, IrisPoint *to, IrisIntervalEdge flags)
{
  GError *error = point_get_outcome (from);
  IrisInterval *interval = iris_point_get_interval (to);

  if (error != NULL && !(flags & IRIS_INTERVAL_EDGE_ORDER_ONLY))
    point_take_error (to, g_error_copy (error));
  point_let_go (to);
  iris_interval_unpin (interval);
}

/* The point has happened: tells all that wait for it. */
static void
point_tell (IrisPoint *self)
{
  uintptr_t edges = atomic_fetch_or_explicit (&self->edges, IRIS_POINT_HAPPENED,
                                              memory_order_acq_rel);

  for (IrisEdge *edge = (IrisEdge *) edges; edge != NULL; edge = edge->next)
    edge_deliver (self, edge->to, edge->flags);
}

/* --- from start to end --- */

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
  point_let_go (&self->points[IRIS_INTERVAL_END]);
}

/* The start is due, with an error. */
static void
interval_skip (IrisInterval *self, const GError *error)
{
  interval_release_locks (self);
  point_take_error (&self->points[IRIS_INTERVAL_END], g_error_copy (error));
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
    point_take_error (&self->points[IRIS_INTERVAL_END], error);
  interval_release_locks (self);
  interval_settle (self);
}

/* Instead of running: the scheduler was shut down. */
static void
interval_dropped (gpointer data)
{
  IrisInterval *self = data;

  point_take_error (&self->points[IRIS_INTERVAL_START],
                    g_error_new (IRIS_INTERVAL_ERROR, IRIS_INTERVAL_ERROR_CANCELLED,
                                 "The interval “%s” was cancelled: its scheduler was shut down",
                                 self->name));
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
  iris_item_set_footprint (&self->item, self->footprint);
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
  iris_item_set_footprint (&self->item, self->footprint);
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
