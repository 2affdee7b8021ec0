/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The main context scheduler: items run in order, in batches, when a main context is iterated.
 *
 * How items reach the source is said in iris-source-items-private.h. It runs a batch at a dispatch,
 * so that a flood of items leaves the other sources their turn; what is left of the items that it
 * took belongs to the thread that owns the context, as everything does that a source touches.
 *
 * Ending: dropping the last reference waits until all is settled, but for a thread that must not
 * wait (iris_scheduler_may_wait()): an item of this scheduler would wait for itself, and a worker
 * for a main loop that may be waiting for the worker. There the source is abandoned: it stays with
 * the context, which goes on running what is queued, and the thread that sees the last item settled
 * destroys it. Abandoning is a store to `abandoned`, then a look at the counts; a dispatch counts,
 * then looks at `abandoned`; all of them are sequentially consistent, so one sees the other. A
 * context that goes before cancels what is left. No thread can queue to an abandoned source: that
 * takes a reference to the scheduler.
 *
 * Closing: a shutdown stores `closed`, then looks at the counts; queueing counts the item, then
 * looks at `closed`. These four accesses are sequentially consistent, so one of the two sees the
 * other: the item is refused, or the shutdown waits until it is settled. With release and acquire
 * alone both can miss, also on x86, where a load may pass an earlier store: then the item runs
 * after the shutdown has returned. What a running item of this source queues is accepted after
 * closing, because that item is counted and not settled yet; what its context's owner queues
 * elsewhere is not, because no shutdown waits for that.
 */
#include "iris/sched/schedulers/iris-gmainscheduler.h"

#include "iris/sched/iris-scheduler-private.h"
#include "iris/sched/schedulers/iris-source-items-private.h"

/* How often a shutdown tries again to own the context itself. */
#define RETRY_US (10 * G_TIME_SPAN_MILLISECOND)

typedef struct
{
  GSource source;
  IrisSourceItems items;
  _Atomic uint64_t n_queued;
  _Atomic uint64_t n_executed;
  _Atomic uint64_t n_cancelled;
  _Atomic bool cancelling;
  _Atomic bool closed;
  _Atomic bool abandoned; /* the scheduler is gone: ends itself when all is settled */
  GMutex lock;
  gint64 made_ns;
  GCond settled; /* under the lock: signalled after a dispatch of a closed source */
} ItemSource;

/* The sources whose items the calling thread is in. */
typedef struct Running Running;

struct Running
{
  ItemSource *source;
  Running *outer;
};

static __thread Running *running_here;

struct _IrisGMainScheduler
{
  IrisScheduler parent_instance;

  GMainContext *context;
  ItemSource *source;
};

G_DEFINE_FINAL_TYPE (IrisGMainScheduler, iris_gmainscheduler, IRIS_TYPE_SCHEDULER)

static gboolean
source_prepare (GSource *source, gint *timeout)
{
  *timeout = -1;
  return iris_source_items_ready (&((ItemSource *) source)->items);
}

static gboolean
source_check (GSource *source)
{
  return iris_source_items_ready (&((ItemSource *) source)->items);
}

static bool
source_runs_here (ItemSource *self)
{
  for (const Running *running = running_here; running != NULL; running = running->outer)
    if (running->source == self)
      return true;

  return false;
}

static void
source_settle (ItemSource *self, IrisItem *item)
{
  bool run = !atomic_load_explicit (&self->cancelling, memory_order_relaxed);
  Running here = { self, running_here };

  running_here = &here;
  iris_scheduler_no_waiting++;
  iris_item_settle (item, run);
  iris_scheduler_no_waiting--;
  running_here = here.outer;
  /* The thread that waits for the counts to meet sees what the item did. */
  atomic_fetch_add_explicit (run ? &self->n_executed : &self->n_cancelled, 1, memory_order_seq_cst);
}

static bool
source_is_settled (ItemSource *self)
{
  /* In this order: what is settled was queued before. */
  uint64_t n_executed = atomic_load_explicit (&self->n_executed, memory_order_seq_cst);
  uint64_t n_cancelled = atomic_load_explicit (&self->n_cancelled, memory_order_seq_cst);

  return n_executed + n_cancelled == atomic_load_explicit (&self->n_queued, memory_order_seq_cst);
}

static IrisStats *
source_get_stats (ItemSource *self)
{
  IrisStats *stats = iris_stats_new (1, 1);

  stats->from_ns = self->made_ns;
  stats->total.executed = iris_counter_get (&self->n_executed);
  stats->total.cancelled = iris_counter_get (&self->n_cancelled);
  stats->total.queued = iris_counter_get (&self->n_queued);
  stats->places[0] = stats->workers[0] = stats->total;

  return stats;
}

/* All is settled, and no thread queues any more. */
static void
source_end (ItemSource *self)
{
  if (iris_debug_has (IRIS_DEBUG_SCHEDULER | IRIS_DEBUG_STATS))
    {
      g_autoptr (IrisStats) stats = source_get_stats (self);

      iris_scheduler_tell_end (g_type_name (IRIS_TYPE_GMAINSCHEDULER), stats);
    }
  g_source_destroy (&self->source);
}

/* Once: by the dispatch that settled the last item or by the one that abandons it, whichever
 * is later. */
static void
source_end_if_settled (ItemSource *self)
{
  if (source_is_settled (self)
      && atomic_exchange_explicit (&self->abandoned, false, memory_order_seq_cst))
    source_end (self);
}

static gboolean
source_dispatch (GSource *source, GSourceFunc callback, gpointer data)
{
  ItemSource *self = (ItemSource *) source;
  IrisItem *item;

  for (guint i = 0;
       i < IRIS_SOURCE_ITEMS_BATCH && (item = iris_source_items_take (&self->items)) != NULL; i++)
    source_settle (self, item);
  /* As with `abandoned`: a shutdown that found the counts short is told of these. */
  if (atomic_load_explicit (&self->closed, memory_order_seq_cst))
    {
      g_mutex_lock (&self->lock);
      g_cond_broadcast (&self->settled);
      g_mutex_unlock (&self->lock);
    }
  if (iris_unlikely (atomic_load_explicit (&self->abandoned, memory_order_seq_cst)))
    source_end_if_settled (self);

  return G_SOURCE_CONTINUE;
}

/* There is something left only if it was abandoned, and the context went. */
static void
source_finalize (GSource *source)
{
  ItemSource *self = (ItemSource *) source;
  IrisItem *item;

  while ((item = iris_source_items_take (&self->items)) != NULL)
    iris_item_cancel (item);
  g_mutex_clear (&self->lock);
  g_cond_clear (&self->settled);
}

static GSourceFuncs source_funcs = {
  .prepare = source_prepare,
  .check = source_check,
  .dispatch = source_dispatch,
  .finalize = source_finalize,
};

static void
gmainscheduler_queue_item (IrisScheduler *scheduler, IrisItem *item)
{
  IrisGMainScheduler *self = IRIS_GMAINSCHEDULER (scheduler);

  atomic_fetch_add_explicit (&self->source->n_queued, 1, memory_order_seq_cst);
  /* As with other schedulers: closed to the outside, not to what its own items queue. */
  if (atomic_load_explicit (&self->source->closed, memory_order_seq_cst)
      && !source_runs_here (self->source))
    {
      iris_item_settle (item, FALSE);
      atomic_fetch_add_explicit (&self->source->n_cancelled, 1, memory_order_release);
      return;
    }
  iris_source_items_push (&self->source->items, self->context, item);
}

/* Settles everything on the calling thread, which owns the context. */
static void
gmainscheduler_drain_here (IrisGMainScheduler *self)
{
  IrisItem *item;

  while ((item = iris_source_items_take (&self->source->items)) != NULL)
    source_settle (self->source, item);
}

static void
gmainscheduler_shutdown (IrisScheduler *scheduler, IrisShutdown how)
{
  IrisGMainScheduler *self = IRIS_GMAINSCHEDULER (scheduler);
  ItemSource *source = self->source;

  g_return_if_fail (!source_runs_here (source));

  if (how == IRIS_SHUTDOWN_CANCEL)
    atomic_store_explicit (&source->cancelling, true, memory_order_relaxed);
  atomic_store_explicit (&source->closed, true, memory_order_seq_cst);

  while (!source_is_settled (source))
    if (g_main_context_acquire (self->context))
      {
        gmainscheduler_drain_here (self);
        g_main_context_release (self->context);
      }
    else
      {
        /* The owner's dispatch tells us. But an owner may also leave its context without another
         * dispatch, and GLib does not tell: hence the time limit. */
        g_mutex_lock (&source->lock);
        if (!source_is_settled (source))
          g_cond_wait_until (&source->settled, &source->lock, g_get_monotonic_time () + RETRY_US);
        g_mutex_unlock (&source->lock);
      }
}

static IrisStats *
gmainscheduler_get_stats (IrisScheduler *scheduler)
{
  return source_get_stats (IRIS_GMAINSCHEDULER (scheduler)->source);
}

static void
iris_gmainscheduler_finalize (GObject *object)
{
  IrisGMainScheduler *self = IRIS_GMAINSCHEDULER (object);

  if (iris_scheduler_may_wait ())
    {
      gmainscheduler_shutdown (IRIS_SCHEDULER (self), IRIS_SHUTDOWN_DRAIN);
      source_end (self->source);
    }
  else
    {
      atomic_store_explicit (&self->source->abandoned, true, memory_order_seq_cst);
      source_end_if_settled (self->source);
    }
  g_source_unref (&self->source->source);
  g_main_context_unref (self->context);

  G_OBJECT_CLASS (iris_gmainscheduler_parent_class)->finalize (object);
}

static void
iris_gmainscheduler_constructed (GObject *object)
{
  IrisGMainScheduler *self = IRIS_GMAINSCHEDULER (object);
  ItemSource *source = (ItemSource *) g_source_new (&source_funcs, sizeof *source);

  G_OBJECT_CLASS (iris_gmainscheduler_parent_class)->constructed (object);

  if (self->context == NULL)
    self->context = g_main_context_ref (g_main_context_default ());
  self->source = source;
  g_mutex_init (&source->lock);
  g_cond_init (&source->settled);
  iris_debug_init ();
  source->made_ns = iris_clock_ns ();
  g_source_set_static_name (&source->source, "iris items");
  g_source_attach (&source->source, self->context);
}

static void
iris_gmainscheduler_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  g_value_set_boxed (value, IRIS_GMAINSCHEDULER (object)->context);
}

static void
iris_gmainscheduler_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  IRIS_GMAINSCHEDULER (object)->context = g_value_dup_boxed (value);
}

static void
iris_gmainscheduler_class_init (IrisGMainSchedulerClass *klass)
{
  IRIS_SCHEDULER_CLASS (klass)->queue_item = gmainscheduler_queue_item;
  IRIS_SCHEDULER_CLASS (klass)->shutdown = gmainscheduler_shutdown;
  IRIS_SCHEDULER_CLASS (klass)->get_stats = gmainscheduler_get_stats;
  G_OBJECT_CLASS (klass)->constructed = iris_gmainscheduler_constructed;
  G_OBJECT_CLASS (klass)->get_property = iris_gmainscheduler_get_property;
  G_OBJECT_CLASS (klass)->set_property = iris_gmainscheduler_set_property;
  G_OBJECT_CLASS (klass)->finalize = iris_gmainscheduler_finalize;

  /**
   * IrisGMainScheduler:context:
   *
   * The main context in which items run; %NULL at construction for the default one.
   */
  g_object_class_install_property (
      G_OBJECT_CLASS (klass), 1,
      g_param_spec_boxed ("context", NULL, NULL, G_TYPE_MAIN_CONTEXT,
                          G_PARAM_READWRITE | G_PARAM_CONSTRUCT_ONLY | G_PARAM_STATIC_STRINGS));
}

static void
iris_gmainscheduler_init (IrisGMainScheduler *self)
{
}

/**
 * iris_gmainscheduler_new:
 * @context: (nullable): a main context, or %NULL for the default one
 *
 * Makes a scheduler whose items run, in the order of queueing, on whichever thread iterates
 * @context. So handlers may touch what belongs to that thread, such as widgets.
 *
 * Shutting it down, and dropping its last reference, settles what is queued: on the calling thread
 * if no other thread owns the context, otherwise by waiting for its owner. When the last reference
 * is dropped by an item of a scheduler, this one or another, no thread waits: what is queued runs
 * when the context is iterated, and is cancelled if that goes before.
 *
 * Returns: (transfer full): a scheduler
 */
IrisScheduler *
iris_gmainscheduler_new (GMainContext *context)
{
  return g_object_new (IRIS_TYPE_GMAINSCHEDULER, "context", context, NULL);
}

/**
 * iris_gmainscheduler_get_context:
 *
 * Returns: (transfer none): the main context in which its items run
 */
GMainContext *
iris_gmainscheduler_get_context (IrisGMainScheduler *self)
{
  g_return_val_if_fail (IRIS_IS_GMAINSCHEDULER (self), NULL);

  return self->context;
}
