/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Place queues: making them and putting items into them. The design is in
 * iris-place-queues-private.h.
 */
#include "iris/sched/steal/iris-place-queues-private.h"

#include "iris/sched/steal/iris-item-proxy-private.h"

#include <string.h>

static guint
place_queues_deal (IrisPlaceQueues *self)
{
  if (self->n_places == 1)
    return 0;

  return atomic_fetch_add_explicit (&self->next, 1, memory_order_relaxed) % self->n_places;
}

static void
push_inbox (IrisWorkerPool *pool, guint place, bool strict, IrisItem *item)
{
  IrisPlaceQueues *self = pool->owner;
  IrisPlaceQueue *queue = &self->queues[place];

  iris_ring_core_push (strict ? &queue->strict : &queue->inbox, item);
  iris_parking_lot_publish (&pool->parking_lot, place, strict);
}

/* Some worker sleeps: if none searches, lets it have something. Out of line: it is rare. */
static __attribute__ ((noinline)) void
wake_for_own (IrisWorkerPool *pool, IrisWorker *worker)
{
  iris_fence_full ();
  if (!iris_parking_lot_wants_work (&pool->parking_lot))
    return;
  iris_deque_core_offer (worker->deque);
  iris_parking_lot_wake (&pool->parking_lot, worker->place, false);
}

void
iris_place_queues_publish_own (IrisWorkerPool *pool, IrisWorker *worker)
{
  iris_fence_light ();
  if (iris_unlikely (iris_parking_lot_has_sleeper (&pool->parking_lot)))
    wake_for_own (pool, worker);
}

/* Inlined: it is most of what a worker does when an item makes others. */
static inline void __attribute__ ((always_inline))
push_own (IrisWorkerPool *pool, IrisWorker *worker, IrisItem *item)
{
  /* Full, or no memory for a larger deque: the inbox never refuses. */
  if (iris_unlikely (!iris_deque_core_push (worker->deque, item)))
    {
      push_inbox (pool, worker->place, false, item);
      return;
    }
  iris_fence_light ();
  if (iris_unlikely (iris_parking_lot_has_sleeper (&pool->parking_lot)))
    wake_for_own (pool, worker);
}

/* Both queues are published: anyone may take from the deque, the place alone from its affinity
 * queue. */
static void
push_twice (IrisWorkerPool *pool, IrisWorker *worker, IrisItem *item)
{
  IrisPlaceQueues *self = pool->owner;
  guint place = (guint) item->place;
  IrisItem *proxy = iris_item_proxy_new (item);

  iris_ring_core_push (&self->queues[place].affinity, proxy);
  iris_parking_lot_publish (&pool->parking_lot, place, true);
  push_own (pool, worker, proxy);
}

static void
push_hinted (IrisWorkerPool *pool, IrisWorker *worker, IrisItem *item)
{
  IrisPlaceQueues *self = pool->owner;
  guint place = (guint) item->place;
  bool apart = iris_place_queues_is_apart (self, item->flags);
  bool strict = (item->flags & IRIS_ITEM_STRICT) != 0;
  bool at_home = worker != NULL && worker->place == place;
  bool behind = (item->flags & IRIS_ITEM_BEHIND) != 0;

  if (at_home)
    iris_counter_add (&worker->counters.hinted, 1);
  else
    atomic_fetch_add_explicit (&self->queues[place].hinted, 1, memory_order_relaxed);

  if (at_home && !strict && !apart && !behind)
    push_own (pool, worker, item);
  else if (self->layout == IRIS_LAYOUT_AFFINITY && worker != NULL && !strict && !apart && !at_home)
    push_twice (pool, worker, item);
  else
    push_inbox (pool, place, strict, item);
}

/* An item with a footprint: where it goes, and that it goes there. Out of line: it is rare. */
static __attribute__ ((noinline)) void
push_declared (IrisWorkerPool *pool, IrisWorker *worker, IrisItem *item)
{
  IrisPlaceQueues *self = pool->owner;
  bool apart = iris_place_queues_is_apart (self, item->flags);
  bool own = item->place == IRIS_PLACE_ANY && !apart && worker != NULL
             && self->deal == IRIS_DEAL_OWN;
  guint place;

  if (item->place != IRIS_PLACE_ANY)
    place = (guint) item->place;
  else if (apart)
    place = iris_place_queues_deal_apart (self);
  else
    place = own ? worker->place : place_queues_deal (self);

  iris_place_queues_count_waiting (self, place, item);
  if (item->place != IRIS_PLACE_ANY)
    push_hinted (pool, worker, item);
  else if (own)
    push_own (pool, worker, item);
  else
    push_inbox (pool, place, false, item);
}

static void
place_queues_push (IrisWorkerPool *pool, IrisWorker *worker, IrisItem *item)
{
  IrisPlaceQueues *self = pool->owner;

  if (iris_unlikely (item->place >= (gint) self->n_places))
    {
      /* The work is done all the same: nothing that was queued may disappear. */
      g_critical ("iris: no place %d: the scheduler has %u; the hint is ignored", item->place,
                  self->n_places);
      item->place = IRIS_PLACE_ANY;
      item->flags &= ~(guint32) IRIS_ITEM_STRICT;
    }

  if (iris_unlikely (item->flags & IRIS_FOOTPRINT_SIZE))
    push_declared (pool, worker, item);
  else if (item->place != IRIS_PLACE_ANY)
    push_hinted (pool, worker, item);
  else if (worker != NULL && self->deal == IRIS_DEAL_OWN)
    push_own (pool, worker, item);
  else
    push_inbox (pool, place_queues_deal (self), false, item);
}

static void
place_queues_expose (IrisWorkerPool *pool, IrisWorker *worker)
{
  iris_deque_core_expose (worker->deque, G_MAXUINT64);
  iris_place_queues_publish_own (pool, worker);
}

static void
place_queues_bind (IrisWorkerPool *pool, IrisWorker *worker)
{
  IrisPlaceQueues *self = pool->owner;
  IrisPlace *place = iris_places_get_place (self->places, worker->place);
  guint index = worker->index - self->queues[worker->place].first_worker;
  g_autoptr (GError) error = NULL;

  if (iris_place_is_bound (place) && !iris_place_bind_current_thread (place, index, &error))
    g_warning ("iris: worker %u runs unbound: %s", worker->index, error->message);
}

static void
place_queues_add_stats (IrisWorkerPool *pool, IrisStats *stats)
{
  IrisPlaceQueues *self = pool->owner;

  for (guint i = 0; i < self->n_places; i++)
    {
      guint64 hinted = iris_counter_get (&self->queues[i].hinted);
      guint64 stolen_out = iris_counter_get (&self->queues[i].stolen_out);
      guint64 kept_apart = iris_counter_get (&self->queues[i].footprint.kept_apart);

      stats->places[i].hinted += hinted;
      stats->places[i].stolen_out += stolen_out;
      stats->total.hinted += hinted;
      stats->total.stolen_out += stolen_out;
      stats->places[i].kept_apart += kept_apart;
      stats->total.kept_apart += kept_apart;
    }
}

const IrisWorkerPoolOps iris_place_queues_ops = {
  .push = place_queues_push,
  .publish = wake_for_own,
  .open = iris_place_queues_open,
  .take = iris_place_queues_take,
  .has_work = iris_place_queues_has_work,
  .expose = place_queues_expose,
  .bind = place_queues_bind,
  .get_forks = iris_place_queues_get_forks,
  .add_stats = place_queues_add_stats,
};

typedef struct
{
  IrisPlaces *places;
  guint from;
} Near;

static int
compare_distance (gconstpointer a, gconstpointer b, gpointer data)
{
  const Near *near = data;
  guint to_a = iris_places_get_distance (near->places, near->from, *(const guint *) a);
  guint to_b = iris_places_get_distance (near->places, near->from, *(const guint *) b);

  return to_a < to_b ? -1 : to_a > to_b;
}

/* Sorts the other places by distance and notes where the distance changes; or takes them all for
 * equally near. */
static void
place_queue_order_victims (IrisPlaceQueue *self,
                           IrisPlaces *places,
                           guint id,
                           guint n_places,
                           bool by_distance)
{
  Near near = { places, id };
  guint n = 0;

  self->order = g_new (guint, n_places);
  self->groups = g_new0 (IrisVictimGroup, n_places);
  for (guint i = 0; i < n_places; i++)
    if (i != id)
      self->order[n++] = i;
  g_qsort_with_data (self->order, (gint) n, sizeof (guint), compare_distance, &near);

  for (guint i = 0; i < n; i++)
    {
      if (i == 0
          || (by_distance && compare_distance (&self->order[i - 1], &self->order[i], &near) != 0))
        self->groups[self->n_groups++].first = i;
      self->groups[self->n_groups - 1].length++;
    }
}

IrisPlaceQueues *
iris_place_queues_new (IrisPlaces *places, IrisDeal deal, IrisLayout layout)
{
  const IrisStealRules rules = IRIS_STEAL_RULES_DEFAULT;

  return iris_place_queues_new_full (places, deal, layout, &rules);
}

IrisPlaceQueues *
iris_place_queues_new_full (IrisPlaces *places,
                            IrisDeal deal,
                            IrisLayout layout,
                            const IrisStealRules *rules)
{
  guint n = iris_places_get_n_places (places);
  IrisPlaceQueues *self = aligned_alloc (IRIS_CACHE_PAIR, sizeof *self);
  guint first_worker = 0;

  if (self == NULL)
    g_error ("iris: out of memory for a scheduler");
  memset (self, 0, sizeof *self);
  self->places = g_object_ref (places);
  self->deal = deal;
  self->layout = layout;
  self->rules = *rules;
  self->apart_above = iris_place_queues_find_cache_share (places);
  self->n_places = n;
  self->queues = aligned_alloc (IRIS_CACHE_PAIR, n * sizeof *self->queues);
  if (self->queues == NULL)
    g_error ("iris: out of memory for %u places", n);
  memset (self->queues, 0, n * sizeof *self->queues);

  for (guint i = 0; i < n; i++)
    {
      IrisPlaceQueue *queue = &self->queues[i];
      gsize link = G_STRUCT_OFFSET (IrisItem, next);
      guint affinity_capacity = layout == IRIS_LAYOUT_AFFINITY ? IRIS_INBOX_CAPACITY : 2;

      if (!iris_ring_core_init (&queue->inbox, IRIS_INBOX_CAPACITY, link)
          || !iris_ring_core_init (&queue->strict, IRIS_INBOX_CAPACITY, link)
          || !iris_ring_core_init (&queue->affinity, affinity_capacity,
                                   G_STRUCT_OFFSET (IrisItemProxy, affinity_next)))
        g_error ("iris: out of memory for the inboxes of place %u", i);
      queue->first_worker = first_worker;
      queue->n_workers = iris_place_get_n_workers (iris_places_get_place (places, i));
      queue->n_deques = layout == IRIS_LAYOUT_SHARED ? 1 : queue->n_workers;
      first_worker += queue->n_workers;
      place_queue_order_victims (queue, places, i, n, rules->order == IRIS_STEAL_ORDER_DISTANCE);
    }

  return self;
}

/* For the layout `shared`: before any worker starts. */
void
iris_place_queues_share_deques (IrisWorkerPool *pool)
{
  IrisPlaceQueues *self = pool->owner;

  pool->shares_deques = true;
  for (guint i = 0; i < pool->n_workers; i++)
    {
      IrisWorker *worker = &pool->workers[i];

      worker->deque = &pool->workers[self->queues[worker->place].first_worker].own_deque;
    }
}

void
iris_place_queues_free (gpointer data)
{
  IrisPlaceQueues *self = data;

  for (guint i = 0; i < self->n_places; i++)
    {
      iris_ring_core_clear (&self->queues[i].inbox);
      iris_ring_core_clear (&self->queues[i].strict);
      iris_ring_core_clear (&self->queues[i].affinity);
      g_free (self->queues[i].order);
      g_free (self->queues[i].groups);
    }
  g_object_unref (self->places);
  free (self->queues);
  free (self);
}
