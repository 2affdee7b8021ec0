/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The layouts `affinity` and `mailboxes`. In `affinity` an item with a hint that a worker of
 * another place queues waits twice, on that worker's deque and in the affinity queue of the place
 * it has affinity for, in a proxy (iris-item-proxy-private.h). Only the workers of the place look
 * into its affinity queue.
 *
 * This stands around the place queues: what it has no part in they do. The affinity queue comes
 * behind the deque and the strict inbox of its place, and like these it has its turn at the picks
 * that see to it that nothing starves.
 *
 * The layout `mailboxes` has such a queue for each worker, as Acar, Blelloch and Blumofe have it:
 * the item goes into the mailbox of one worker of the place, chosen at random. A worker looks into
 * its own mailbox, and then into those of the other workers of its place: a hint names a place, so
 * they have the same affinity, and an item does not wait for a worker that is busy, blocks or is
 * not active. With places of one worker each, mailboxes and affinity queues are the same.
 */
#include "iris/sched/compare/iris-compared-queues-private.h"

#include "iris/queue/iris-container-private.h"
#include "iris/sched/compare/iris-item-proxy-private.h"

/* The queues from which the workers of @place alone take. */
static IrisRingCore *
queues_of (IrisComparedQueues *self, guint place, guint *n)
{
  IrisPlaceQueue *queue = &self->queues.queues[place];

  *n = self->has_mailboxes ? queue->n_workers : 1;

  return &self->affinity[self->has_mailboxes ? queue->first_worker : place];
}

/* Both queues are published: any worker may take from the deque, the place alone from its affinity
 * queue. */
static void
push_twice (IrisComparedQueues *self, IrisWorkerPool *pool, IrisWorker *worker, IrisItem *item)
{
  guint place = (guint) item->place, n;
  IrisRingCore *rings = queues_of (self, place, &n);
  IrisItem *proxy = iris_item_proxy_new (item);

  iris_striped_counters_add (&self->queues.hinted, place);
  if (item->flags & IRIS_FOOTPRINT_SIZE)
    iris_place_queues_count_waiting (&self->queues, place, item);
  iris_ring_core_push (&rings[n > 1 ? iris_random_below (&worker->random, n) : 0], proxy);
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

/* Its own mailbox first; a spare worker has none, and begins with any. */
static IrisItem *
pop_affinity (IrisComparedQueues *self, IrisWorker *worker)
{
  IrisItem *met = NULL;
  guint n;
  IrisRingCore *rings = queues_of (self, worker->place, &n);
  guint own = (worker->index - self->queues.queues[worker->place].first_worker) % n;

  for (guint i = 0; i < n && met == NULL; i++)
    met = iris_ring_core_pop (&rings[(own + i) % n]);

  return met;
}

/* From the affinity queue, if it is before all that the place queues would look at. */
static IrisItem *
take_affinity (IrisComparedQueues *self, IrisWorker *worker)
{
  bool is_fair = worker->picks_left == 0;
  bool is_first = is_fair
                      ? worker->fair_turn % (IRIS_FAIRNESS_SOURCES + 1) == 0
                      : self->inner->count_own (worker) == 0
                            && iris_ring_core_is_empty (&self->queues.queues[worker->place].strict);
  IrisItem *met = is_first ? pop_affinity (self, worker) : NULL;

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

  for (guint i = 0; i < self->n_affinity && met == NULL; i++)
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
  guint n;
  IrisRingCore *rings = queues_of (self, worker->place, &n);

  for (guint i = 0; i < n; i++)
    if (!iris_ring_core_is_empty (&rings[i]))
      return work | IRIS_WORK_STRICT;

  return work;
}

void
iris_affinity_queues_init (IrisComparedQueues *self, bool has_mailboxes)
{
  const IrisPlaceQueue *last = &self->queues.queues[self->queues.n_places - 1];

  self->ops = *self->inner;
  self->ops.push = affinity_push;
  self->ops.open = affinity_open;
  self->ops.take = affinity_take;
  self->ops.has_work = affinity_has_work;
  self->has_mailboxes = has_mailboxes;
  self->n_affinity = has_mailboxes ? last->first_worker + last->n_workers : self->queues.n_places;
  self->affinity = iris_container_alloc (self->n_affinity * sizeof *self->affinity);
  for (guint i = 0; i < self->n_affinity; i++)
    if (!iris_ring_core_init (&self->affinity[i], IRIS_INBOX_CAPACITY,
                              G_STRUCT_OFFSET (IrisItemProxy, affinity_next)))
      g_error ("iris: out of memory for the affinity queue %u", i);
}

void
iris_affinity_queues_clear (IrisComparedQueues *self)
{
  for (guint i = 0; i < self->n_affinity; i++)
    iris_ring_core_clear (&self->affinity[i]);
  free (self->affinity);
}
