/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Place queues: counting footprints, and where an item goes that is to be kept apart. What is
 * counted and why so is in iris-footprint-private.h.
 */
#include "iris/sched/steal/iris-place-queues-private.h"

#include "iris/sched/steal/iris-item-proxy-private.h"

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

/* Whether an item would drive another one of its kind from the cache, as far as is known. */
bool
iris_place_queues_is_apart (const IrisPlaceQueues *self, guint32 flags)
{
  return (flags & IRIS_ITEM_KEEP_APART) != 0 && iris_footprint_bytes (flags) > self->apart_above;
}

/* The place with the least declared footprint in flight; among equal ones they take turns. */
guint
iris_place_queues_deal_apart (IrisPlaceQueues *self)
{
  guint start = atomic_fetch_add_explicit (&self->next, 1, memory_order_relaxed);
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

      if ((item->flags & (IRIS_FOOTPRINT_COUNTED | IRIS_ITEM_PROXY)) == IRIS_FOOTPRINT_COUNTED)
        {
          count_left (self, item->flags);
          iris_place_queues_count_waiting (self, to, item);
        }
    }
}

/* @worker is about to run the item, or, if it is NULL, nobody will. */
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

/* The least of the places' caches, divided by the workers that share it; 0 if none is known. */
guint64
iris_place_queues_find_cache_share (IrisPlaces *places)
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
