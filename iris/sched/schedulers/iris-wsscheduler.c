/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The work-stealing scheduler is work-stealing places with a single place that has no hardware
 * behind it: a deque for each worker, an inbox for what comes from outside, random victims.
 */
#include "iris/sched/schedulers/iris-place-scheduler-private.h"
#include "iris/sched/schedulers/iris-wsscheduler.h"

struct _IrisWSScheduler
{
  IrisPlaceScheduler parent_instance;
};

G_DEFINE_FINAL_TYPE (IrisWSScheduler, iris_wsscheduler, IRIS_TYPE_PLACE_SCHEDULER)

static void
iris_wsscheduler_constructed (GObject *object)
{
  IrisPlaceScheduler *self = IRIS_PLACE_SCHEDULER (object);

  if (iris_place_scheduler_get_places (self) == NULL)
    {
      guint n_workers = iris_scheduler_choose_n_workers (0, 0);
      g_autoptr (IrisPlaces) places = iris_places_new_unbound (1, n_workers);

      iris_place_scheduler_choose_places (self, places);
    }

  G_OBJECT_CLASS (iris_wsscheduler_parent_class)->constructed (object);
}

static void
iris_wsscheduler_class_init (IrisWSSchedulerClass *klass)
{
  G_OBJECT_CLASS (klass)->constructed = iris_wsscheduler_constructed;
}

static void
iris_wsscheduler_init (IrisWSScheduler *self)
{
}

/**
 * iris_wsscheduler_new:
 *
 * Returns: (transfer full): a work-stealing scheduler with a worker for each processor that this
 *   process may use
 */
IrisScheduler *
iris_wsscheduler_new (void)
{
  return iris_wsscheduler_new_full (0, 0);
}

/**
 * iris_wsscheduler_new_full:
 * @min_threads: the least number of workers; 0 for no wish
 * @max_threads: the number of workers; 0 for one a processor
 *
 * Makes a work-stealing scheduler: what a worker queues goes onto its own deque and is run there,
 * newest first, while it is hot in the cache; a worker without work steals the oldest items of
 * another.
 *
 * Returns: (transfer full): a scheduler
 */
IrisScheduler *
iris_wsscheduler_new_full (guint min_threads, guint max_threads)
{
  guint n_workers = iris_scheduler_choose_n_workers (min_threads, max_threads);
  g_autoptr (IrisPlaces) places = iris_places_new_unbound (1, n_workers);

  return g_object_new (IRIS_TYPE_WSSCHEDULER, "places", places, NULL);
}
