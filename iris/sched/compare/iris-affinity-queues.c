/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The layout `affinity`: an item with a hint that a worker of another place queues waits twice, on
 * that worker's deque and in the affinity queue of the place it has affinity for, in a proxy
 * (iris-item-proxy-private.h). Only the workers of the place look into its affinity queue.
 *
 * This stands around the place queues: what it has no part in they do. The affinity queue comes
 * behind the deque and the strict inbox of its place, and like these it has its turn at the picks
 * that see to it that nothing starves.
 */
#include "iris/sched/compare/iris-compared-queues-private.h"

#include "iris/queue/iris-container-private.h"
#include "iris/sched/compare/iris-item-proxy-private.h"

/* Both queues are published: any worker may take from the deque, the place alone from its affinity
 * queue. */
static void
push_twice (IrisComparedQueues *self, IrisWorkerPool *pool, IrisWorker *worker, IrisItem *item)
{
  guint place = (guint) item->place;
  IrisItem *proxy = iris_item_proxy_new (item);

  iris_striped_counters_add (&self->queues.hinted, place);
  if (item->flags & IRIS_FOOTPRINT_SIZE)
    iris_place_queues_count_waiting (&self->queues, place, item);
  iris_ring_core_push (&self->affinity[place], proxy);
  iris_parking_lot_publish (&pool->parking_lot, place, true);
  self->push_own (pool, worker, proxy);
}

static void
affinity_push (IrisWorkerPool *pool, IrisWorker *worker, IrisItem *item)
{
  IrisComparedQueues *self = pool->owner;
  bool is_hinted = item->place >= 0 && item->place < (gint) self->queues.n_places;

  if (is_hinted && worker != NULL && item->place != (gint) worker->place
      && !(item->flags & IRIS_ITEM_STRICT)
      && !iris_place_queues_is_apart (&self->queues, item->flags))
    push_twice (self, pool, worker, item);
  else
    self->inner->push (pool, worker, item);
}

/* From the affinity queue, if it is before all that the place queues would look at. */
static IrisItem *
take_affinity (IrisComparedQueues *self, IrisWorker *worker)
{
  IrisRingCore *ring = &self->affinity[worker->place];
  bool is_fair = worker->picks_left == 0;
  bool is_first = is_fair
                      ? worker->fair_turn % (IRIS_FAIRNESS_SOURCES + 1) == 0
                      : self->inner->count_own (worker) == 0
                            && iris_ring_core_is_empty (&self->queues.queues[worker->place].strict);
  IrisItem *met = is_first ? iris_ring_core_pop (ring) : NULL;

  if (met == NULL)
    return NULL;
  if (is_fair)
    worker->fair_turn++;
  worker->picks_left = is_fair ? IRIS_FAIRNESS_INTERVAL : worker->picks_left - 1;

  return met;
}

static IrisItem *
take_any_affinity (IrisComparedQueues *self)
{
  IrisItem *met = NULL;

  for (guint i = 0; i < self->queues.n_places && met == NULL; i++)
    met = iris_ring_core_pop (&self->affinity[i]);

  return met;
}

static IrisItem *
affinity_take (IrisWorkerPool *pool, IrisWorker *worker)
{
  IrisComparedQueues *self = pool->owner;
  IrisItem *met, *item = NULL;

  while (item == NULL)
    {
      met = worker != NULL ? take_affinity (self, worker) : take_any_affinity (self);
      if (met == NULL)
        met = self->inner->take (pool, worker);
      if (met == NULL || !(met->flags & IRIS_ITEM_PROXY))
        return met;
      item = iris_item_proxy_open (met);
    }

  return self->inner->open (pool, worker, item);
}

static IrisItem *
affinity_open (IrisWorkerPool *pool, IrisWorker *worker, IrisItem *met)
{
  IrisComparedQueues *self = pool->owner;
  IrisItem *item = iris_item_proxy_open (met);

  return item != NULL ? self->inner->open (pool, worker, item) : affinity_take (pool, worker);
}

static IrisWork
affinity_has_work (IrisWorkerPool *pool, IrisWorker *worker)
{
  IrisComparedQueues *self = pool->owner;
  IrisWork work = self->inner->has_work (pool, worker);

  return iris_ring_core_is_empty (&self->affinity[worker->place]) ? work : work | IRIS_WORK_STRICT;
}

void
iris_affinity_queues_init (IrisComparedQueues *self)
{
  self->ops = *self->inner;
  self->ops.push = affinity_push;
  self->ops.open = affinity_open;
  self->ops.take = affinity_take;
  self->ops.has_work = affinity_has_work;
  self->affinity = iris_container_alloc (self->queues.n_places * sizeof *self->affinity);
  for (guint i = 0; i < self->queues.n_places; i++)
    if (!iris_ring_core_init (&self->affinity[i], IRIS_INBOX_CAPACITY,
                              G_STRUCT_OFFSET (IrisItemProxy, affinity_next)))
      g_error ("iris: out of memory for the affinity queue of place %u", i);
}

void
iris_affinity_queues_clear (IrisComparedQueues *self)
{
  for (guint i = 0; self->affinity != NULL && i < self->queues.n_places; i++)
    iris_ring_core_clear (&self->affinity[i]);
  free (self->affinity);
}
