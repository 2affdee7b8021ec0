/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The GAsyncQueue scheduler: one GAsyncQueue, on which all workers contend.
 *
 * The simplest scheduler there is, and the baseline that the others are measured against. It has
 * nothing but the queue: workers wait in g_async_queue_pop(), and there is no parking of ours.
 *
 * Ending: no worker ends before all do. A worker that finds the queue empty waits in it and counts
 * as idle; the pool is at its end when it is closed, the queue is empty, and as many workers are
 * idle as the parking lot counts as in (iris_parking_lot_end_if_idle()). The worker that would be
 * the last to wait sees that, or, if all waited already, the thread that closes does. It queues an
 * end mark for each idle worker; the parking lot ends those that are out.
 *
 * Why that is right: the idle count, the look at the queue and the marks are under the queue's
 * lock, and the number of workers that are in changes under the parking lot's, which is taken
 * inside. A worker that runs an item, that blocks in one, that starts or that was brought back is
 * in and not idle; so at the end none is left that could queue, and only such a worker, or a thread
 * from outside that found the pool open, raises the number. `closed` is set before the closing
 * thread takes the queue's lock: a worker that takes it later sees `closed`, and the closing thread
 * counts one that took it before. The queue is in order, so what a thread from outside queues
 * behind the marks, having found the pool open, is left for the sweep. Until the end a section that
 * begins to block finds its stand-in as ever: among those that wait, among those that are out, or
 * by making one.
 *
 * A worker that is to go out may be waiting in the queue: a nudge is queued for it, and the worker
 * that takes it looks whether it is needed.
 */
#include "iris/sched/pool/iris-active-workers-private.h"
#include "iris/sched/schedulers/iris-flat-scheduler-private.h"

typedef struct
{
  GAsyncQueue *items; /* first: stress-idle.c looks at it */
  guint n_idle;       /* workers that wait in it; under its lock */
} AsyncQueue;

static IrisItem end_mark, nudge_mark;

static AsyncQueue *
async_queue_new (void)
{
  AsyncQueue *self = g_new0 (AsyncQueue, 1);

  self->items = g_async_queue_new ();

  return self;
}

static void
async_queue_free (gpointer data)
{
  AsyncQueue *self = data;

  g_async_queue_unref (self->items);
  g_free (self);
}

static void
async_push (IrisWorkerPool *pool, IrisWorker *self, IrisItem *item)
{
  AsyncQueue *queue = pool->owner;

  g_async_queue_push (queue->items, item);
}

/* For the sweep, when no worker is left. */
static IrisItem *
async_take (IrisWorkerPool *pool, IrisWorker *self)
{
  AsyncQueue *queue = pool->owner;
  IrisItem *item;

  do
    item = g_async_queue_try_pop (queue->items);
  while (item == &nudge_mark || item == &end_mark);

  return item;
}

/* Under the queue's lock, with the queue empty and @n_idle workers that wait or are about to: ends
 * the pool if it is closed and those are all. The marks are for the @n_waiting of them. */
static bool
async_end (IrisWorkerPool *pool, AsyncQueue *queue, guint n_idle, guint n_waiting)
{
  /* Relaxed: ordered by the queue's lock, see above. */
  if (!atomic_load_explicit (&pool->closed, memory_order_relaxed)
      || !iris_parking_lot_end_if_idle (&pool->parking_lot, n_idle))
    return false;
  for (guint i = 0; i < n_waiting; i++)
    g_async_queue_push_unlocked (queue->items, &end_mark);

  return true;
}

/* Waits for an item or a mark, or is the one that ends the pool. */
static IrisItem *
async_pop_idle (IrisWorkerPool *pool, AsyncQueue *queue)
{
  IrisItem *item;

  g_async_queue_lock (queue->items);
  item = g_async_queue_try_pop_unlocked (queue->items);
  if (item == NULL && async_end (pool, queue, queue->n_idle + 1, queue->n_idle))
    {
      item = &end_mark;
    }
  else if (item == NULL)
    {
      queue->n_idle++;
      item = g_async_queue_pop_unlocked (queue->items);
      queue->n_idle--;
    }
  g_async_queue_unlock (queue->items);

  return item;
}

/* Whether the queue has something is not to be known without asking it, so only a worker that finds
 * it empty pays for the clock, and for asking twice. */
static IrisItem *
async_pop (IrisWorkerPool *pool, IrisWorker *self)
{
  AsyncQueue *queue = pool->owner;
  IrisItem *item = g_async_queue_try_pop (queue->items);

  if (item != NULL)
    return item;
  iris_stopwatch_start (&self->counters.parked_ns, iris_clock_ns ());
  item = async_pop_idle (pool, queue);
  iris_stopwatch_stop (&self->counters.parked_ns, iris_clock_ns ());

  return item;
}

static IrisItem *
async_wait (IrisWorkerPool *pool, IrisWorker *self)
{
  IrisItem *item;

  while ((item = async_pop (pool, self)) == &nudge_mark)
    if (!iris_worker_leave (self))
      return NULL;

  return item != &end_mark ? item : NULL;
}

/* All workers may be waiting already. The length counts a worker that waits as one item less. */
static void
async_close (IrisWorkerPool *pool)
{
  AsyncQueue *queue = pool->owner;

  g_async_queue_lock (queue->items);
  if (g_async_queue_length_unlocked (queue->items) + (gint) queue->n_idle == 0)
    async_end (pool, queue, queue->n_idle, queue->n_idle);
  g_async_queue_unlock (queue->items);
}

static void
async_nudge (IrisWorkerPool *pool, guint n_surplus)
{
  for (guint i = 0; i < n_surplus; i++)
    async_push (pool, NULL, &nudge_mark);
}

static const IrisWorkerPoolOps async_ops = {
  .push = async_push,
  .take = async_take,
  .wait = async_wait,
  .close = async_close,
  .nudge = async_nudge,
};

#define IRIS_TYPE_GASYNCQUEUE_SCHEDULER (iris_gasyncqueue_scheduler_get_type ())
G_DECLARE_FINAL_TYPE (IrisGAsyncQueueScheduler,
                      iris_gasyncqueue_scheduler,
                      IRIS,
                      GASYNCQUEUE_SCHEDULER,
                      IrisScheduler)

struct _IrisGAsyncQueueScheduler
{
  IrisFlatScheduler parent_instance;
};

G_DEFINE_FINAL_TYPE (IrisGAsyncQueueScheduler, iris_gasyncqueue_scheduler, IRIS_TYPE_SCHEDULER)

static void
iris_gasyncqueue_scheduler_constructed (GObject *object)
{
  G_OBJECT_CLASS (iris_gasyncqueue_scheduler_parent_class)->constructed (object);

  iris_flat_scheduler_set_pool ((IrisFlatScheduler *) object, &async_ops, async_queue_new (),
                                async_queue_free);
}

static void
iris_gasyncqueue_scheduler_class_init (IrisGAsyncQueueSchedulerClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  object_class->constructed = iris_gasyncqueue_scheduler_constructed;
  iris_flat_scheduler_install_properties (object_class);
}

static void
iris_gasyncqueue_scheduler_init (IrisGAsyncQueueScheduler *self)
{
}

/**
 * iris_scheduler_new:
 *
 * Returns: (transfer full): a scheduler with one GAsyncQueue for all workers, and a worker for each
 *   processor that this process may use
 */
IrisScheduler *
iris_scheduler_new (void)
{
  return iris_scheduler_new_full (0, 0);
}

/**
 * iris_scheduler_new_full:
 * @min_threads: the least number of workers; 0 for no wish
 * @max_threads: the number of workers; 0 for one a processor
 *
 * Returns: (transfer full): a scheduler with one GAsyncQueue for a number of workers
 */
IrisScheduler *
iris_scheduler_new_full (guint min_threads, guint max_threads)
{
  return g_object_new (IRIS_TYPE_GASYNCQUEUE_SCHEDULER, "n-workers",
                       iris_scheduler_choose_n_workers (min_threads, max_threads), NULL);
}
