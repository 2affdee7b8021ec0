/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Place queues: making them, and what they count: footprints and steals. The design is in
 * iris-place-queues-private.h.
 */
#include "iris/sched/steal/iris-place-queues-private.h"

#include "iris/queue/iris-container-private.h"

static void
count_add (_Atomic uint64_t *count, guint64 n)
{
  atomic_fetch_add_explicit (count, n, memory_order_relaxed);
}

static void
count_sub (_Atomic uint64_t *count, guint64 n)
{
  atomic_fetch_sub_explicit (count, n, memory_order_relaxed);
}

/* The place with the least declared footprint in flight; among equal ones they take turns. */
guint
iris_place_queues_deal_apart (IrisPlaceQueues *self)
{
  guint start = iris_place_queues_next (self);
  guint64 least = G_MAXUINT64;
  guint chosen = 0;

  for (guint i = 0; i < self->n_places; i++)
    {
      guint place = (start + i) % self->n_places;
      IrisFootprint *footprint = &self->queues[place].footprint;
      guint64 bytes = iris_counter_get (&footprint->waiting)
                      + iris_counter_get (&footprint->running);

      if (bytes < least)
        {
          least = bytes;
          chosen = place;
        }
    }
  count_add (&self->queues[chosen].footprint.kept_apart, 1);

  return chosen;
}

/* The item is about to wait at @place. */
void
iris_place_queues_count_waiting (IrisPlaceQueues *self, guint place, IrisItem *item)
{
  IrisFootprint *footprint = &self->queues[place].footprint;

  item->flags = (item->flags & ~IRIS_FOOTPRINT_PLACE) | IRIS_FOOTPRINT_COUNTED
                | place << IRIS_FOOTPRINT_PLACE_SHIFT;
  count_add (&footprint->waiting, iris_footprint_bytes (item->flags));
  if (iris_place_queues_is_apart (self, item->flags))
    count_add (&footprint->apart_waiting, 1);
}

static void
count_left (IrisPlaceQueues *self, guint32 flags)
{
  IrisFootprint *footprint = &self->queues[iris_footprint_place (flags)].footprint;

  count_sub (&footprint->waiting, iris_footprint_bytes (flags));
  if (iris_place_queues_is_apart (self, flags))
    count_sub (&footprint->apart_waiting, 1);
}

/* Items that a thief has laid hold of wait at its place from now on. */
void
iris_place_queues_count_moved (IrisPlaceQueues *self, guint to, void **items, guint64 n)
{
  for (guint64 i = 0; i < n; i++)
    {
      IrisItem *item = items[i];

      if (item->flags & IRIS_FOOTPRINT_COUNTED)
        {
          count_left (self, item->flags);
          iris_place_queues_count_waiting (self, to, item);
        }
    }
}

/* @worker is about to run the item, or, if it is NULL, no worker will. */
void
iris_place_queues_count_taken (IrisPlaceQueues *self, IrisWorker *worker, IrisItem *item)
{
  guint32 flags = item->flags;

  count_left (self, flags);
  item->flags = flags & ~(IRIS_FOOTPRINT_COUNTED | IRIS_FOOTPRINT_PLACE);
  if (worker == NULL)
    return;

  worker->declared = item->flags;
  worker->picks_left = 0;
  count_add (&self->queues[worker->place].footprint.running, iris_footprint_bytes (flags));
  if (iris_place_queues_is_apart (self, flags))
    count_add (&self->queues[worker->place].footprint.apart_running, 1);
}

/* What @worker ran last is done. */
void
iris_place_queues_count_done (IrisPlaceQueues *self, IrisWorker *worker)
{
  IrisFootprint *footprint = &self->queues[worker->place].footprint;
  guint32 flags = worker->declared;

  worker->declared = 0;
  count_sub (&footprint->running, iris_footprint_bytes (flags));
  if (iris_place_queues_is_apart (self, flags))
    count_sub (&footprint->apart_running, 1);
}

/* Counts a steal of @n items from @victim_place. */
void
iris_place_queues_note_stolen (IrisWorkerPool *pool, IrisWorker *self, guint victim_place, guint n)
{
  IrisPlaceQueues *queues = pool->owner;
  IrisWorkerCounters *counters = &self->counters;

  iris_worker_note_steal (self, victim_place, n);
  if (victim_place == self->place)
    {
      iris_counter_add (&counters->stolen_inside, n);
    }
  else
    {
      iris_counter_add (&counters->stolen_in, n);
      atomic_fetch_add_explicit (&queues->queues[victim_place].stolen_out, n, memory_order_relaxed);
      iris_place_queues_note_success (pool, self, victim_place);
    }
}

void
iris_place_queues_bind (IrisWorkerPool *pool, IrisWorker *worker)
{
  IrisPlaceQueues *self = pool->owner;
  IrisPlace *place = iris_places_get_place (self->places, worker->place);
  guint index = worker->index - self->queues[worker->place].first_worker;
  g_autoptr (GError) error = NULL;

  if (iris_place_is_bound (place) && !iris_place_bind_current_thread (place, index, &error))
    g_warning ("iris: worker %u runs unbound: %s", worker->index, error->message);
}

void
iris_place_queues_add_stats (IrisWorkerPool *pool, IrisStats *stats)
{
  IrisPlaceQueues *self = pool->owner;

  for (guint i = 0; i < self->n_places; i++)
    {
      guint64 hinted = iris_striped_counters_get (&self->hinted, i);
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

/* The least of the places' caches, divided by the workers that share it; 0 if none is known. */
static guint64
place_queues_find_cache_share (IrisPlaces *places)
{
  guint64 share = 0;

  for (guint i = 0; i < iris_places_get_n_places (places); i++)
    {
      IrisPlace *place = iris_places_get_place (places, i);
      guint64 mine = iris_place_get_cache_size (place) / iris_place_get_n_workers (place);

      if (mine != 0 && (share == 0 || mine < share))
        share = mine;
    }

  return share;
}

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

/* Of @size bytes, which start with the place queues; the rest is zero. */
gpointer
iris_place_queues_new (gsize size, IrisPlaces *places, IrisDeal deal, const IrisStealRules *rules)
{
  guint n = iris_places_get_n_places (places);
  IrisPlaceQueues *self = iris_container_alloc (size);
  guint first_worker = 0;

  self->places = g_object_ref (places);
  self->deal = deal;
  self->rules = *rules;
  self->apart_above = place_queues_find_cache_share (places);
  self->n_places = n;
  self->queues = iris_container_alloc (n * sizeof *self->queues);
  if (!iris_striped_counters_init (&self->dealt, 1)
      || !iris_striped_counters_init (&self->hinted, n))
    g_error ("iris: out of memory for the counters of %u places", n);

  for (guint i = 0; i < n; i++)
    {
      IrisPlaceQueue *queue = &self->queues[i];
      gsize link = G_STRUCT_OFFSET (IrisItem, next);

      if (!iris_ring_core_init (&queue->inbox, IRIS_INBOX_CAPACITY, link)
          || !iris_ring_core_init (&queue->strict, IRIS_INBOX_CAPACITY, link))
        g_error ("iris: out of memory for the inboxes of place %u", i);
      queue->first_worker = first_worker;
      queue->n_workers = iris_place_get_n_workers (iris_places_get_place (places, i));
      first_worker += queue->n_workers;
      place_queue_order_victims (queue, places, i, n, rules->order == IRIS_STEAL_ORDER_DISTANCE);
    }

  return self;
}

/* A pool that works by @ops and owns @self. */
IrisWorkerPool *
iris_place_queues_make_pool (IrisPlaceQueues *self,
                             const IrisWorkerPoolOps *ops,
                             GDestroyNotify free_self)
{
  guint *workers = g_newa (guint, self->n_places);

  for (guint i = 0; i < self->n_places; i++)
    workers[i] = self->queues[i].n_workers;

  return iris_worker_pool_new (ops, self, free_self, self->n_places, workers);
}

void
iris_place_queues_free (gpointer data)
{
  IrisPlaceQueues *self = data;

  for (guint i = 0; i < self->n_places; i++)
    {
      iris_ring_core_clear (&self->queues[i].inbox);
      iris_ring_core_clear (&self->queues[i].strict);
      g_free (self->queues[i].order);
      g_free (self->queues[i].groups);
    }
  g_object_unref (self->places);
  iris_striped_counters_clear (&self->dealt);
  iris_striped_counters_clear (&self->hinted);
  free (self->queues);
  free (self);
}
