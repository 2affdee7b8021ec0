/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The abstract scheduler: hands items to its pool, and outlives its last one.
 */
#include "iris/sched/iris-scheduler-private.h"

#include "iris/sched/pool/iris-active-workers-private.h"
#include "iris/sched/pool/iris-contention-private.h"
#include "iris/sched/pool/iris-footprint-private.h"
#include "iris/sched/pool/iris-item-private.h"

/**
 * IrisScheduler:
 *
 * Runs work items on worker threads.
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
 * dropped by an item of a scheduler, this one or another, or by a post whose receiver goes
 * meanwhile, no worker waits: the draining goes on on a thread of its own, or, of an
 * #IrisGMainScheduler, when its context is iterated. (Two schedulers whose items drop each other
 * would wait for each other for ever. So would two whose items call iris_scheduler_shutdown() on
 * each other: that is a mistake.)
 *
 * A process that is forked has none of the workers. There a scheduler that had been started refuses
 * what is queued, with a critical warning, and cancels it; shutting it down and dropping it return
 * at once. Schedulers that had no item yet, and those that the child makes, work.
 *
 * How many workers take part may change: by wish (iris_scheduler_set_n_active()), because an item
 * blocks (iris_worker_begin_blocking()), or because other processes need the processors
 * (#IrisScheduler:contention).
 */

typedef struct
{
  IrisWorkerPool *pool;
  guint max_spares;
  gboolean contention;
} IrisSchedulerPrivate;

enum
{
  PROP_0,
  PROP_MAX_SPARES,
  PROP_CONTENTION,
  N_PROPS,
};

static GParamSpec *properties[N_PROPS];

__thread unsigned iris_scheduler_no_waiting;

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
  IrisWorkerPool *pool = data;

  iris_worker_pool_shutdown (pool, IRIS_SHUTDOWN_DRAIN);
  if (iris_debug_has (IRIS_DEBUG_SCHEDULER | IRIS_DEBUG_STATS))
    {
      g_autoptr (IrisStats) stats = iris_worker_pool_get_stats (pool);

      iris_scheduler_tell_end (pool->name, stats);
    }
  iris_worker_pool_free (pool);

  return NULL;
}

static void
iris_scheduler_finalize (GObject *object)
{
  IrisSchedulerPrivate *priv = iris_scheduler_get_instance_private (IRIS_SCHEDULER (object));

  if (priv->pool != NULL)
    {
      if (iris_scheduler_may_wait ())
        reap (priv->pool);
      else
        g_thread_unref (g_thread_new ("iris-reaper", reap, priv->pool));
    }

  G_OBJECT_CLASS (iris_scheduler_parent_class)->finalize (object);
}

static void
scheduler_shutdown (IrisScheduler *self, IrisShutdown how)
{
  IrisWorkerPool *pool = iris_scheduler_get_pool (self);

  g_return_if_fail (iris_worker_pool_current (pool) == NULL);

  iris_worker_pool_shutdown (pool, how);
}

static IrisStats *
scheduler_get_stats (IrisScheduler *self)
{
  return iris_worker_pool_get_stats (iris_scheduler_get_pool (self));
}

static void
iris_scheduler_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  IrisSchedulerPrivate *priv = iris_scheduler_get_instance_private (IRIS_SCHEDULER (object));

  if (id == PROP_MAX_SPARES)
    g_value_set_uint (value, priv->max_spares);
  else
    g_value_set_boolean (value, priv->contention);
}

static void
iris_scheduler_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  IrisSchedulerPrivate *priv = iris_scheduler_get_instance_private (IRIS_SCHEDULER (object));

  if (id == PROP_MAX_SPARES)
    priv->max_spares = g_value_get_uint (value);
  else
    priv->contention = g_value_get_boolean (value);
}

static void
iris_scheduler_class_init (IrisSchedulerClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  klass->shutdown = scheduler_shutdown;
  klass->get_stats = scheduler_get_stats;
  object_class->get_property = iris_scheduler_get_property;
  object_class->set_property = iris_scheduler_set_property;
  object_class->finalize = iris_scheduler_finalize;

  /**
   * IrisScheduler:max-spares:
   *
   * How many workers of a place may be in a blocking section and have another worker in their
   * stead; see iris_worker_begin_blocking(). 0 switches that off. Sections beyond it are counted as
   * refused in #IrisActiveWorkers. The environment variable `IRIS_MAX_SPARES`, a number, overrides
   * it. A scheduler without threads of its own ignores it.
   */
  properties[PROP_MAX_SPARES] = g_param_spec_uint (
      "max-spares", NULL, NULL, 0, IRIS_MAX_SPARES_LIMIT, IRIS_DEFAULT_MAX_SPARES,
      G_PARAM_READWRITE | G_PARAM_CONSTRUCT_ONLY | G_PARAM_STATIC_STRINGS);

  /**
   * IrisScheduler:contention:
   *
   * Whether workers are taken out, one at a time, while they wait much for a processor because
   * other processes use them, and brought back when they no longer do. The decisions are in
   * #IrisActiveWorkers. The environment variable `IRIS_CONTENTION`, `on` or `off`, overrides it.
   * The GAsyncQueue scheduler, and one without threads of its own, ignore it.
   */
  properties[PROP_CONTENTION] = g_param_spec_boolean ("contention", NULL, NULL, FALSE,
                                                      G_PARAM_READWRITE | G_PARAM_CONSTRUCT_ONLY
                                                          | G_PARAM_STATIC_STRINGS);

  g_object_class_install_properties (object_class, N_PROPS, properties);
}

static void
iris_scheduler_init (IrisScheduler *self)
{
}

/* What the environment says instead of the properties. */
static void
scheduler_read_environment (IrisSchedulerPrivate *priv)
{
  const char *max_spares = g_getenv ("IRIS_MAX_SPARES");
  const char *contention = g_getenv ("IRIS_CONTENTION");
  g_autoptr (GError) error = NULL;
  guint64 n;

  if (max_spares != NULL)
    {
      if (g_ascii_string_to_unsigned (max_spares, 10, 0, IRIS_MAX_SPARES_LIMIT, &n, &error))
        priv->max_spares = (guint) n;
      else
        g_warning ("iris: IRIS_MAX_SPARES is ignored: %s", error->message);
    }
  if (contention != NULL)
    {
      if (g_str_equal (contention, "on") || g_str_equal (contention, "off"))
        priv->contention = g_str_equal (contention, "on");
      else
        g_warning ("iris: IRIS_CONTENTION is ignored: “%s” is neither “on” nor “off”", contention);
    }
}

/* Takes the pool. Once, before any other thread sees the scheduler. */
void
iris_scheduler_set_pool (IrisScheduler *self, IrisWorkerPool *pool)
{
  IrisSchedulerPrivate *priv = iris_scheduler_get_instance_private (self);

  g_assert (priv->pool == NULL);
  priv->pool = pool;
  scheduler_read_environment (priv);
  iris_active_workers_set_max_spares (pool, priv->max_spares);
  /* Whether all sleep is the parking lot's knowledge; workers that wait elsewhere have no such. */
  if (priv->contention && pool->ops->wait == NULL)
    pool->contention = iris_contention_new (pool, "/proc");
  pool->name = G_OBJECT_TYPE_NAME (self);
  if (iris_debug_has (IRIS_DEBUG_SCHEDULER))
    iris_debug_print ("%s: %u workers at %u places", pool->name, pool->n_workers, pool->n_places);
}

IrisWorkerPool *
iris_scheduler_get_pool (IrisScheduler *self)
{
  IrisSchedulerPrivate *priv = iris_scheduler_get_instance_private (self);

  return priv->pool;
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

/* Most schedulers have a pool; asking for it first saves them a virtual call. */
static inline void
scheduler_queue (IrisScheduler *self, IrisItem *item)
{
  IrisWorkerPool *pool = iris_scheduler_get_pool (self);

  if (iris_likely (pool != NULL))
    iris_worker_pool_queue (pool, item);
  else
    IRIS_SCHEDULER_GET_CLASS (self)->queue_item (self, item);
}

/**
 * iris_scheduler_queue:
 * @func: (scope notified) (closure data) (destroy notify): the work
 * @data: (nullable): for @func and @notify
 * @notify: (nullable): called with @data once the work was run or cancelled
 *
 * Queues work without a place hint. The caller holds a reference of its own until this returns; one
 * that goes with @data may be dropped by the work before that.
 *
 * If the scheduler was shut down, @func is not called, and @notify is called before this returns.
 */
void
iris_scheduler_queue (IrisScheduler *self, IrisCallback func, gpointer data, GDestroyNotify notify)
{
  IrisWorkerPool *pool;
  IrisItem *item;

  g_return_if_fail (self != NULL);
  g_return_if_fail (func != NULL);

  item = iris_item_new (func, data, notify, IRIS_PLACE_ANY, IRIS_ITEM_NONE);
  pool = iris_scheduler_get_pool (self);
  if (iris_likely (pool != NULL))
    iris_worker_pool_queue_plain (pool, item);
  else
    IRIS_SCHEDULER_GET_CLASS (self)->queue_item (self, item);
}

/**
 * iris_scheduler_queue_at:
 * @place: the id of a place, or %IRIS_PLACE_ANY
 * @flags: %IRIS_ITEM_STRICT if no other place may run the work
 * @func: (scope notified) (closure data) (destroy notify): the work
 * @data: (nullable): for @func and @notify
 * @notify: (nullable): called with @data once the work was run or cancelled
 *
 * Queues work at a place.
 *
 * Without %IRIS_ITEM_STRICT the place is a preference: a place that has nothing to do may take the
 * work. A scheduler of one place ignores the hint.
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
 * iris_scheduler_queue_sized:
 * @place: the id of a place, or %IRIS_PLACE_ANY
 * @flags: %IRIS_ITEM_STRICT, %IRIS_ITEM_KEEP_APART
 * @footprint: how much memory the work will touch, in bytes; 0 for no hint
 * @func: (scope notified) (closure data) (destroy notify): the work
 * @data: (nullable): for @func and @notify
 * @notify: (nullable): called with @data once the work was run or cancelled
 *
 * As iris_scheduler_queue_at(), and declares the work's footprint; see iris_item_set_footprint().
 */
void
iris_scheduler_queue_sized (IrisScheduler *self,
                            gint place,
                            IrisItemFlags flags,
                            guint64 footprint,
                            IrisCallback func,
                            gpointer data,
                            GDestroyNotify notify)
{
  g_return_if_fail (self != NULL);
  g_return_if_fail (func != NULL);
  g_return_if_fail (place >= IRIS_PLACE_ANY);

  scheduler_queue (
      self, iris_item_new (func, data, notify, place, flags | iris_footprint_pack (footprint)));
}

/**
 * iris_scheduler_queue_item: (skip)
 * @item: an item prepared by iris_item_init()
 *
 * Queues an item that the caller provides; nothing is allocated.
 *
 * The item is the scheduler's until its function, or when it is cancelled its notify, is called.
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
 */
void
iris_scheduler_shutdown (IrisScheduler *self, IrisShutdown how)
{
  g_return_if_fail (IRIS_IS_SCHEDULER (self));

  IRIS_SCHEDULER_GET_CLASS (self)->shutdown (self, how);
}

/**
 * iris_scheduler_get_n_workers:
 *
 * Returns: how many workers it was made with; spare workers are not counted, and a worker that is
 *   out is
 */
guint
iris_scheduler_get_n_workers (IrisScheduler *self)
{
  IrisWorkerPool *pool;

  g_return_val_if_fail (IRIS_IS_SCHEDULER (self), 0);

  pool = iris_scheduler_get_pool (self);
  return pool != NULL ? pool->n_workers : 1;
}

/**
 * iris_scheduler_get_n_places:
 *
 * Returns: how many places it has; 1 for a scheduler that knows no places
 */
guint
iris_scheduler_get_n_places (IrisScheduler *self)
{
  IrisWorkerPool *pool;

  g_return_val_if_fail (IRIS_IS_SCHEDULER (self), 0);

  pool = iris_scheduler_get_pool (self);
  return pool != NULL ? pool->n_places : 1;
}

/**
 * iris_scheduler_set_n_active:
 * @n: how many workers are to take part; 0 counts as the least, one for each place, and more than
 *   there are as all
 *
 * Takes workers out, or back in, while the scheduler goes on. They are dealt to the places in
 * proportion to what these have.
 *
 * A worker that is to go out ends the item that it runs first, so this does not wait. What it had
 * queued is taken by the others. A worker that is out sleeps and is not woken by work. Spare
 * workers for blocked ones are not counted here. A scheduler that is shut down takes no worker out
 * any more; one without threads of its own ignores this.
 */
void
iris_scheduler_set_n_active (IrisScheduler *self, guint n)
{
  IrisWorkerPool *pool;

  g_return_if_fail (IRIS_IS_SCHEDULER (self));

  pool = iris_scheduler_get_pool (self);
  if (pool != NULL)
    iris_active_workers_set_wanted (pool, n);
}

/**
 * iris_scheduler_set_n_active_at:
 * @place: the id of a place
 * @n: how many workers of the place are to take part; 0 counts as 1, and more than it has as all
 *
 * As iris_scheduler_set_n_active(), for one place. At least one worker stays at each, so strict
 * items can be run everywhere at any time.
 */
void
iris_scheduler_set_n_active_at (IrisScheduler *self, gint place, guint n)
{
  IrisWorkerPool *pool;

  g_return_if_fail (IRIS_IS_SCHEDULER (self));
  g_return_if_fail (place >= 0 && (guint) place < iris_scheduler_get_n_places (self));

  pool = iris_scheduler_get_pool (self);
  if (pool != NULL)
    iris_active_workers_set_wanted_at (pool, (guint) place, n);
}

/**
 * iris_scheduler_get_n_active:
 *
 * How many workers are to take part, as it was last set. How many do at the moment is in
 * #IrisActiveWorkers.
 *
 * Returns: a number of workers, at first that of iris_scheduler_get_n_workers()
 */
guint
iris_scheduler_get_n_active (IrisScheduler *self)
{
  IrisWorkerPool *pool;

  g_return_val_if_fail (IRIS_IS_SCHEDULER (self), 0);

  pool = iris_scheduler_get_pool (self);
  return pool != NULL ? iris_active_workers_get_wanted (pool) : 1;
}

/**
 * iris_scheduler_get_stats:
 *
 * Takes a snapshot of what the workers did so far. It stops no thread.
 *
 * Returns: (transfer full): the statistics
 */
IrisStats *
iris_scheduler_get_stats (IrisScheduler *self)
{
  g_return_val_if_fail (IRIS_IS_SCHEDULER (self), NULL);

  return IRIS_SCHEDULER_GET_CLASS (self)->get_stats (self);
}

/**
 * iris_scheduler_get_min_threads:
 *
 * Tells how many threads the scheduler has at least: its workers, all of which exist from its first
 * item on and sleep while there is nothing to do. See iris_scheduler_get_n_workers().
 *
 * Returns: a number of threads
 */
gint
iris_scheduler_get_min_threads (IrisScheduler *self)
{
  return (gint) iris_scheduler_get_n_workers (self);
}

/**
 * iris_scheduler_get_max_threads:
 *
 * Tells how many threads the scheduler has at most, not counting those that stand in for workers
 * that block. See iris_scheduler_get_n_workers().
 *
 * Returns: a number of threads
 */
gint
iris_scheduler_get_max_threads (IrisScheduler *self)
{
  return (gint) iris_scheduler_get_n_workers (self);
}

/**
 * iris_scheduler_get_n_cpu:
 *
 * Returns: how many processors this process may use, at least 1: the number of workers of a
 *   scheduler that is made without one
 */
guint
iris_scheduler_get_n_cpu (void)
{
  return g_get_num_processors ();
}
