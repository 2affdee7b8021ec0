/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The interval: from being made over its start to its end. See iris-interval-private.h.
 */
#include "iris/task/interval/iris-interval-private.h"

#include <string.h>

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
 * Gets the domain of the errors of intervals, whose codes are those of [error@IntervalError].
 *
 * Returns: the domain
 *
 * Since: 0.1
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
 * so that nobody waits for it for ever.
 *
 * Returns: (transfer full): an interval
 *
 * Since: 0.1
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
 * @self: an interval
 *
 * Adds a reference. May be called from any thread.
 *
 * Returns: (transfer full): @self, with one more reference
 *
 * Since: 0.1
 */
IrisInterval *
iris_interval_ref (IrisInterval *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  g_atomic_ref_count_inc (&self->refs);

  return self;
}

/**
 * iris_interval_unref:
 * @self: (transfer full): an interval
 *
 * Drops a reference. A scheduled interval lives until its end all the same. One that is not
 * scheduled is cancelled with its last reference; its notify is called when its turn comes.
 *
 * Since: 0.1
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
 * @flags: %IRIS_ITEM_STRICT if it may run nowhere else
 *
 * Sets the place at which the interval should run.
 *
 * Since: 0.1
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
 * iris_interval_add_lock:
 * @self: an interval that is not scheduled
 * @lock: a lock
 *
 * Has the interval run with @lock held. Any number of locks may be added; adding one again changes
 * nothing.
 *
 * When nothing else is left to wait for, the locks are taken in the order in which they were made,
 * whatever the order in which they were added, so intervals do not deadlock over them. They are
 * released when the function returns. Children are not covered by them: a parent that kept a lock
 * until its children end would wait for ever for a child that needs it.
 *
 * Since: 0.1
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

/* --- scheduling, cancelling, waiting ---------------------------------------------------------- */

/**
 * iris_interval_schedule:
 * @self: an interval
 *
 * Lets the interval start as soon as nothing is left that it waits for. Calling it again changes
 * nothing. If the scheduler was shut down, the interval is cancelled.
 *
 * Since: 0.1
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
  iris_point_let_go (&self->points[IRIS_INTERVAL_START]);
}

/**
 * iris_interval_cancel:
 * @self: an interval
 *
 * Cancels an interval that has not started: it will not start, and ends with
 * %IRIS_INTERVAL_ERROR_CANCELLED when what it waits for has happened; until then the order holds.
 * It is scheduled if it was not. One that runs is not stopped, but can ask
 * iris_interval_is_cancelled().
 *
 * Since: 0.1
 */
void
iris_interval_cancel (IrisInterval *self)
{
  g_return_if_fail (self != NULL);

  if (!atomic_exchange_explicit (&self->cancelled, true, memory_order_acq_rel))
    iris_point_take_error (&self->points[IRIS_INTERVAL_START],
                           g_error_new (IRIS_INTERVAL_ERROR, IRIS_INTERVAL_ERROR_CANCELLED,
                                        "The interval “%s” was cancelled", self->name));
  iris_interval_schedule (self);
}

/**
 * iris_interval_is_cancelled:
 * @self: an interval
 *
 * Tells whether iris_interval_cancel() was called.
 *
 * Returns: whether iris_interval_cancel() was called
 *
 * Since: 0.1
 */
gboolean
iris_interval_is_cancelled (IrisInterval *self)
{
  g_return_val_if_fail (self != NULL, FALSE);

  return atomic_load_explicit (&self->cancelled, memory_order_acquire);
}

/**
 * iris_interval_wait:
 * @self: an interval
 * @error: return location for the error with which it ended
 *
 * Waits for the interval's end. For threads that are not workers: an interval that needs the end of
 * another has an edge from it. Whoever waits for an interval that nobody schedules waits for ever.
 *
 * Returns: whether it ended well
 *
 * Since: 0.1
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
  outcome = iris_point_get_outcome (end);
  if (outcome == NULL)
    return TRUE;
  if (error != NULL)
    *error = g_error_copy (outcome);

  return FALSE;
}

/**
 * iris_interval_get_state:
 * @self: an interval
 *
 * Tells where the interval is on its way, at this moment.
 *
 * Returns: where it is on its way, at this moment
 *
 * Since: 0.1
 */
IrisIntervalState
iris_interval_get_state (IrisInterval *self)
{
  g_return_val_if_fail (self != NULL, IRIS_INTERVAL_NEW);

  return atomic_load_explicit (&self->state, memory_order_acquire);
}

/**
 * iris_interval_get_name:
 * @self: an interval
 *
 * Gets the name of the interval.
 *
 * Returns: (transfer none): its name
 *
 * Since: 0.1
 */
const char *
iris_interval_get_name (IrisInterval *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return self->name;
}
