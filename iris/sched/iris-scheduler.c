/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The abstract scheduler: hands items to its crew, and outlives its last one.
 */
#include "iris/sched/iris-scheduler-private.h"

#include "iris/sched/iris-item-private.h"

/**
 * IrisScheduler:
 *
 * Runs work items on a fixed number of worker threads.
 *
 * All schedulers behave alike but for where items wait and which worker runs them, so a program
 * changes its scheduler by changing the line that makes it. Every function may be called from any
 * thread that holds a reference until it returns, workers included, unless it says otherwise. A
 * reference that goes with the item, as its data, is not one to call with: the item may have run
 * and dropped it before the call returns. Items run in no promised order. Workers start with the
 * first item, and sleep without using the processor when there is none.
 *
 * Dropping the last reference drains the scheduler: it waits until everything that is queued has
 * run. Where that is not wanted, call iris_scheduler_shutdown() before. When the last reference is
 * dropped by one of the scheduler's own items, the draining goes on after that item, on a thread
 * of its own.
 */

typedef struct
{
  IrisCrew *crew;
} IrisSchedulerPrivate;

G_DEFINE_ABSTRACT_TYPE_WITH_PRIVATE (IrisScheduler, iris_scheduler, G_TYPE_OBJECT)

/* What IRIS_DEBUG wants to know of a scheduler that has ended. */
void
iris_scheduler_tell_end (const char *name, const IrisStats *stats)
{
  if (iris_debug_has (IRIS_DEBUG_SCHEDULER))
    iris_debug_print ("%s ended: %" G_GUINT64_FORMAT " items run, %" G_GUINT64_FORMAT " cancelled",
                      name, stats->total.executed, stats->total.cancelled);
  if (iris_debug_has (IRIS_DEBUG_STATS))
    {
      g_autofree char *text = iris_stats_to_string (stats);

      iris_debug_print ("%s: %s", name, text);
    }
}

static gpointer
reap (gpointer data)
{
  IrisCrew *crew = data;

  iris_crew_shutdown (crew, IRIS_SHUTDOWN_DRAIN);
  if (iris_debug_has (IRIS_DEBUG_SCHEDULER | IRIS_DEBUG_STATS))
    {
      g_autoptr (IrisStats) stats = iris_crew_get_stats (crew);

      iris_scheduler_tell_end (crew->name, stats);
    }
  iris_crew_free (crew);

  return NULL;
}

static void
iris_scheduler_finalize (GObject *object)
{
  IrisSchedulerPrivate *priv = iris_scheduler_get_instance_private (IRIS_SCHEDULER (object));

  if (priv->crew != NULL)
    {
      /* A worker cannot wait for itself to end. */
      if (iris_crew_current (priv->crew) != NULL)
        g_thread_unref (g_thread_new ("iris-reaper", reap, priv->crew));
      else
        reap (priv->crew);
    }

  G_OBJECT_CLASS (iris_scheduler_parent_class)->finalize (object);
}

static void
scheduler_shutdown (IrisScheduler *self, IrisShutdown how)
{
  IrisCrew *crew = iris_scheduler_get_crew (self);

  g_return_if_fail (iris_crew_current (crew) == NULL);

  iris_crew_shutdown (crew, how);
}

static IrisStats *
scheduler_get_stats (IrisScheduler *self)
{
  return iris_crew_get_stats (iris_scheduler_get_crew (self));
}

static void
iris_scheduler_class_init (IrisSchedulerClass *klass)
{
  klass->shutdown = scheduler_shutdown;
  klass->get_stats = scheduler_get_stats;
  G_OBJECT_CLASS (klass)->finalize = iris_scheduler_finalize;
}

static void
iris_scheduler_init (IrisScheduler *self)
{
}

/* Takes the crew. Once, before anybody else sees the scheduler. */
void
iris_scheduler_set_crew (IrisScheduler *self, IrisCrew *crew)
{
  IrisSchedulerPrivate *priv = iris_scheduler_get_instance_private (self);

  g_assert (priv->crew == NULL);
  priv->crew = crew;
  crew->name = G_OBJECT_TYPE_NAME (self);
  if (iris_debug_has (IRIS_DEBUG_SCHEDULER))
    iris_debug_print ("%s: %u workers at %u places", crew->name, crew->n_workers, crew->n_places);
}

IrisCrew *
iris_scheduler_get_crew (IrisScheduler *self)
{
  IrisSchedulerPrivate *priv = iris_scheduler_get_instance_private (self);

  return priv->crew;
}

/* The number of workers for what a caller asked: at most @max_threads, and 0 means as many as
 * there are processors that this process may use. Idle workers cost nothing, so all of them exist
 * from the start, and @min_threads is only a floor. */
guint
iris_scheduler_choose_n_workers (guint min_threads, guint max_threads)
{
  guint n = max_threads != 0 ? max_threads : g_get_num_processors ();

  return MAX (MAX (n, min_threads), 1);
}

/* Most schedulers have a crew; asking for it first saves them a virtual call. */
static inline void
scheduler_queue (IrisScheduler *self, IrisItem *item)
{
  IrisCrew *crew = iris_scheduler_get_crew (self);

  if (iris_likely (crew != NULL))
    iris_crew_queue (crew, item);
  else
    IRIS_SCHEDULER_GET_CLASS (self)->queue_item (self, item);
}

/**
 * iris_scheduler_queue:
 * @self: a scheduler
 * @func: (scope async) (closure data) (destroy notify): the work
 * @data: (nullable): for @func and @notify
 * @notify: (nullable): called with @data once the work was run or cancelled
 *
 * Queues work without a place hint.
 *
 * If the scheduler was shut down, @func is not called, and @notify is called before this returns.
 *
 * Since: 0.1
 */
void
iris_scheduler_queue (IrisScheduler *self, IrisCallback func, gpointer data, GDestroyNotify notify)
{
  g_return_if_fail (self != NULL);
  g_return_if_fail (func != NULL);

  scheduler_queue (self, iris_item_new (func, data, notify, IRIS_PLACE_ANY, IRIS_ITEM_NONE));
}

/**
 * iris_scheduler_queue_at:
 * @self: a scheduler
 * @place: the id of a place, or %IRIS_PLACE_ANY
 * @flags: %IRIS_ITEM_STRICT if no other place may run the work
 * @func: (scope async) (closure data) (destroy notify): the work
 * @data: (nullable): for @func and @notify
 * @notify: (nullable): called with @data once the work was run or cancelled
 *
 * Queues work at a place.
 *
 * Without %IRIS_ITEM_STRICT the place is a preference: a place that has nothing to do may take the
 * work. A scheduler of one place ignores the hint.
 *
 * Since: 0.1
 */
void
iris_scheduler_queue_at (IrisScheduler *self,
                         gint place,
                         IrisItemFlags flags,
                         IrisCallback func,
                         gpointer data,
                         GDestroyNotify notify)
{
  g_return_if_fail (self != NULL);
  g_return_if_fail (func != NULL);
  g_return_if_fail (place >= IRIS_PLACE_ANY);

  scheduler_queue (self, iris_item_new (func, data, notify, place, flags));
}

/**
 * iris_scheduler_queue_item: (skip)
 * @self: a scheduler
 * @item: an item prepared by iris_item_init()
 *
 * Queues an item that the caller provides; nothing is allocated.
 *
 * The item is the scheduler's until its function, or when it is cancelled its notify, is called.
 *
 * Since: 0.1
 */
void
iris_scheduler_queue_item (IrisScheduler *self, IrisItem *item)
{
  g_return_if_fail (self != NULL);
  g_return_if_fail (item != NULL);

  scheduler_queue (self, item);
}

/**
 * iris_scheduler_shutdown:
 * @self: a scheduler
 * @how: what becomes of queued work
 *
 * Ends the scheduler and waits until its workers are gone.
 *
 * From the moment of the call, work that is queued from outside is cancelled at once; work that
 * running items queue is treated like the rest. Every item's work or destroy notify, and of
 * scheduler-made items both or the notify alone, has run when this returns. May be called again,
 * also from another thread while the first call waits: cancelling then hurries a drain.
 *
 * Must not be called by an item of this scheduler.
 *
 * Since: 0.1
 */
void
iris_scheduler_shutdown (IrisScheduler *self, IrisShutdown how)
{
  g_return_if_fail (IRIS_IS_SCHEDULER (self));

  IRIS_SCHEDULER_GET_CLASS (self)->shutdown (self, how);
}

/**
 * iris_scheduler_get_n_workers:
 * @self: a scheduler
 *
 * Tells how many workers the scheduler has.
 *
 * Returns: how many workers it has
 *
 * Since: 0.1
 */
guint
iris_scheduler_get_n_workers (IrisScheduler *self)
{
  IrisCrew *crew;

  g_return_val_if_fail (IRIS_IS_SCHEDULER (self), 0);

  crew = iris_scheduler_get_crew (self);
  return crew != NULL ? crew->n_workers : 1;
}

/**
 * iris_scheduler_get_n_places:
 * @self: a scheduler
 *
 * Tells how many places the scheduler has; 1 for one that knows no places.
 *
 * Returns: how many places it has; 1 for a scheduler that knows no places
 *
 * Since: 0.1
 */
guint
iris_scheduler_get_n_places (IrisScheduler *self)
{
  IrisCrew *crew;

  g_return_val_if_fail (IRIS_IS_SCHEDULER (self), 0);

  crew = iris_scheduler_get_crew (self);
  return crew != NULL ? crew->n_places : 1;
}

/**
 * iris_scheduler_get_stats:
 * @self: a scheduler
 *
 * Takes a snapshot of what the workers did so far. It stops nobody.
 *
 * Returns: (transfer full): the statistics
 *
 * Since: 0.1
 */
IrisStats *
iris_scheduler_get_stats (IrisScheduler *self)
{
  g_return_val_if_fail (IRIS_IS_SCHEDULER (self), NULL);

  return IRIS_SCHEDULER_GET_CLASS (self)->get_stats (self);
}
