/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The default scheduler: one GAsyncQueue, on which all workers contend.
 *
 * The simplest scheduler there is, and the baseline that the others are measured against. It has
 * nothing but the queue: workers wait in g_async_queue_pop(), and there is no parking of ours.
 *
 * Ending: closing queues one stop mark for each worker, also for those that are out, who come back
 * for it. A worker that met a mark goes on taking until the queue has no item, and then ends. Other
 * marks that it finds on the way belong to other workers, who may be waiting for them, and go back.
 * Nothing is left behind: what a running item queues, its own worker would still find. Unless that
 * item blocks until it has run: while any does, nobody ends, and the end of the blocking section
 * queues the marks anew.
 *
 * A worker that is to go out may be waiting in the queue: a nudge is queued for it, and whoever
 * gets it looks whether it is needed.
 */
#include "iris/sched/iris-presence-private.h"
#include "iris/sched/iris-flat-scheduler-private.h"

static IrisItem stop_mark, nudge_mark;

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
  while (item == &nudge_mark || (item == &stop_mark && self == NULL));

  return item;
}

static bool
somebody_blocks (IrisCrew *crew)
{
  bool does;

  pthread_mutex_lock (&crew->lock);
  does = crew->presence[0].n_blocking > 0;
  pthread_mutex_unlock (&crew->lock);

  return does;
}

/* For a worker that has met a mark: what is left, or NULL at its end. It must look behind the marks
 * of others, who may have ended already: what its last item has queued is there. */
static IrisItem *
default_take_rest (IrisCrew *crew, IrisWorker *self)
{
  IrisItem *item;
  guint n_marks = 0;

  while ((item = default_take (crew, self)) == &stop_mark)
    n_marks++;
  for (; n_marks > 0; n_marks--)
    default_push (crew, NULL, &stop_mark);

  return item;
}

/* Whether the queue has something is not to be known without asking it, so only a worker that finds
 * it empty pays for the clock, and for asking twice. */
static IrisItem *
default_pop_mark_or_item (IrisWorker *self, GAsyncQueue *queue)
{
  IrisItem *item = g_async_queue_try_pop (queue);

  if (item != NULL)
    return item;
  iris_stopwatch_start (&self->counters.parked_ns, iris_clock_ns ());
  item = g_async_queue_pop (queue);
  iris_stopwatch_stop (&self->counters.parked_ns, iris_clock_ns ());

  return item;
}

/* An item or a stop mark. */
static IrisItem *
default_pop (IrisCrew *crew, IrisWorker *self)
{
  IrisItem *item;

  while ((item = default_pop_mark_or_item (self, crew->owner)) == &nudge_mark)
    iris_worker_leave (self);

  return item;
}

static IrisItem *
default_wait (IrisCrew *crew, IrisWorker *self)
{
  for (;;)
    {
      IrisItem *item;

      if (!self->met_mark)
        {
          item = default_pop (crew, self);
          if (item != &stop_mark)
            return item;
          self->met_mark = true;
        }
      item = default_take_rest (crew, self);
      if (item != NULL || !somebody_blocks (crew))
        return item;
      self->met_mark = false;
    }
}

static void
default_close (IrisCrew *crew)
{
  for (guint i = 0; i < iris_crew_count_workers (crew); i++)
    default_push (crew, NULL, &stop_mark);
}

static void
default_nudge (IrisCrew *crew, guint n_surplus)
{
  for (guint i = 0; i < n_surplus; i++)
    default_push (crew, NULL, &nudge_mark);
}

static const IrisCrewOps default_ops = {
  .push = default_push,
  .take = default_take,
  .wait = default_wait,
  .close = default_close,
  .nudge = default_nudge,
};

#define IRIS_TYPE_DEFAULT_SCHEDULER (iris_default_scheduler_get_type ())
G_DECLARE_FINAL_TYPE (IrisDefaultScheduler,
                      iris_default_scheduler,
                      IRIS,
                      DEFAULT_SCHEDULER,
                      IrisScheduler)

struct _IrisDefaultScheduler
{
  IrisFlatScheduler parent_instance;
};

G_DEFINE_FINAL_TYPE (IrisDefaultScheduler, iris_default_scheduler, IRIS_TYPE_SCHEDULER)

static void
iris_default_scheduler_constructed (GObject *object)
{
  G_OBJECT_CLASS (iris_default_scheduler_parent_class)->constructed (object);

  iris_flat_scheduler_set_crew ((IrisFlatScheduler *) object, &default_ops, g_async_queue_new (),
                                (GDestroyNotify) g_async_queue_unref);
}

static void
iris_default_scheduler_class_init (IrisDefaultSchedulerClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  object_class->constructed = iris_default_scheduler_constructed;
  iris_flat_scheduler_install_properties (object_class);
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
  return g_object_new (IRIS_TYPE_DEFAULT_SCHEDULER, "n-workers",
                       iris_scheduler_choose_n_workers (min_threads, max_threads), NULL);
}
