/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The default scheduler: one GAsyncQueue, on which all workers contend.
 *
 * The simplest scheduler there is, and the baseline that the others are measured against. It has
 * nothing but the queue: workers wait in g_async_queue_pop(), and there is no parking of ours.
 *
 * Ending: closing queues one stop mark for each worker. A worker that met a mark goes on taking
 * until the queue is empty, and then ends. If it meets a second mark, that one belongs to another
 * worker, who is still there and will look behind it: the mark goes back and the worker ends.
 * Nothing is left behind: what a running item queues, its own worker would still find.
 */
#include "iris/sched/iris-scheduler-private.h"

static IrisItem stop_mark;

static void
default_push (IrisCrew *crew, IrisWorker *self, IrisItem *item)
{
  GAsyncQueue *queue = crew->owner;

  g_async_queue_push (queue, item);
}

static IrisItem *
default_take (IrisCrew *crew, IrisWorker *self)
{
  GAsyncQueue *queue = crew->owner;
  IrisItem *item;

  do
    item = g_async_queue_try_pop (queue);
  while (item == &stop_mark && self == NULL);

  return item;
}

/* Whether the queue has something is not to be known without asking it, so only a worker that finds
 * it empty pays for the clock, and for asking twice. */
static IrisItem *
default_pop (IrisWorker *self, GAsyncQueue *queue)
{
  IrisItem *item = g_async_queue_try_pop (queue);

  if (item != NULL)
    return item;
  iris_stopwatch_start (&self->counters.parked_ns, iris_clock_ns ());
  item = g_async_queue_pop (queue);
  iris_stopwatch_stop (&self->counters.parked_ns, iris_clock_ns ());

  return item;
}

static IrisItem *
default_wait (IrisCrew *crew, IrisWorker *self)
{
  GAsyncQueue *queue = crew->owner;
  IrisItem *item;

  if (!self->met_mark)
    {
      item = default_pop (self, queue);
      if (item != &stop_mark)
        return item;
      self->met_mark = true;
    }

  item = default_take (crew, self);
  if (item == &stop_mark)
    {
      g_async_queue_push (queue, &stop_mark);
      item = NULL;
    }

  return item;
}

static void
default_close (IrisCrew *crew)
{
  for (guint i = 0; i < crew->n_workers; i++)
    default_push (crew, NULL, &stop_mark);
}

static const IrisCrewOps default_ops = {
  .push = default_push,
  .take = default_take,
  .wait = default_wait,
  .close = default_close,
};

#define IRIS_TYPE_DEFAULT_SCHEDULER (iris_default_scheduler_get_type ())
G_DECLARE_FINAL_TYPE (IrisDefaultScheduler,
                      iris_default_scheduler,
                      IRIS,
                      DEFAULT_SCHEDULER,
                      IrisScheduler)

struct _IrisDefaultScheduler
{
  IrisScheduler parent_instance;
};

G_DEFINE_FINAL_TYPE (IrisDefaultScheduler, iris_default_scheduler, IRIS_TYPE_SCHEDULER)

static void
iris_default_scheduler_class_init (IrisDefaultSchedulerClass *klass)
{
}

static void
iris_default_scheduler_init (IrisDefaultScheduler *self)
{
}

/**
 * iris_scheduler_new:
 *
 * Makes the default scheduler, one queue for all workers, with a worker for each processor that
 * this process may use.
 *
 * Returns: (transfer full): a scheduler
 *
 * Since: 0.1
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
 * Makes the default scheduler with a number of workers.
 *
 * Returns: (transfer full): a scheduler
 *
 * Since: 0.1
 */
IrisScheduler *
iris_scheduler_new_full (guint min_threads, guint max_threads)
{
  IrisScheduler *self = g_object_new (IRIS_TYPE_DEFAULT_SCHEDULER, NULL);
  guint n_workers = iris_scheduler_choose_n_workers (min_threads, max_threads);

  iris_scheduler_set_crew (self, iris_crew_new (&default_ops, g_async_queue_new (),
                                                (GDestroyNotify) g_async_queue_unref, 1, &n_workers,
                                                IRIS_DEQUE_CHASE_LEV));

  return self;
}
