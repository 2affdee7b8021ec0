/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Place queues: footprints, taking, putting, and making them. The design is in
 * iris-place-queues-private.h.
 */
#include "iris/sched/steal/iris-place-queues-private.h"

#include "iris/sched/steal/iris-item-proxy-private.h"
#include "iris/sched/pool/iris-active-workers-private.h"

#include <string.h>

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
static bool
place_queues_is_apart (const IrisPlaceQueues *self, guint32 flags)
{
  return (flags & IRIS_ITEM_KEEP_APART) != 0 && iris_footprint_bytes (flags) > self->apart_above;
}

/* The place with the least declared footprint in flight; among equal ones they take turns. */
static guint
place_queues_deal_apart (IrisPlaceQueues *self)
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
static void
place_queues_count_waiting (IrisPlaceQueues *self, guint place, IrisItem *item)
{
  IrisFootprint *footprint = &self->queues[place].footprint;

  item->flags = (item->flags & ~IRIS_FOOTPRINT_PLACE) | IRIS_FOOTPRINT_COUNTED
                | place << IRIS_FOOTPRINT_PLACE_SHIFT;
  count_add (&footprint->waiting, iris_footprint_bytes (item->flags));
  if (place_queues_is_apart (self, item->flags))
    count_add (&footprint->apart_waiting, 1);
}

static void
count_left (IrisPlaceQueues *self, guint32 flags)
{
  IrisFootprint *footprint = &self->queues[iris_footprint_place (flags)].footprint;

  count_sub (&footprint->waiting, iris_footprint_bytes (flags));
  if (place_queues_is_apart (self, flags))
    count_sub (&footprint->apart_waiting, 1);
}

/* Items that a thief has laid hold of wait at its place from now on. */
static void
place_queues_count_moved (IrisPlaceQueues *self, guint to, void **items, guint64 n)
{
  for (guint64 i = 0; i < n; i++)
    {
      IrisItem *item = items[i];

      if ((item->flags & (IRIS_FOOTPRINT_COUNTED | IRIS_ITEM_PROXY)) == IRIS_FOOTPRINT_COUNTED)
        {
          count_left (self, item->flags);
          place_queues_count_waiting (self, to, item);
        }
    }
}

/* @worker is about to run the item, or, if it is NULL, no worker will. */
static void
place_queues_count_taken (IrisPlaceQueues *self, IrisWorker *worker, IrisItem *item)
{
  guint32 flags = item->flags;

  count_left (self, flags);
  item->flags = flags & ~(IRIS_FOOTPRINT_COUNTED | IRIS_FOOTPRINT_PLACE);
  if (worker == NULL)
    return;

  worker->declared = item->flags;
  worker->picks_left = 0;
  count_add (&self->queues[worker->place].footprint.running, iris_footprint_bytes (flags));
  if (place_queues_is_apart (self, flags))
    count_add (&self->queues[worker->place].footprint.apart_running, 1);
}

/* What @worker ran last is done. */
static void
place_queues_count_done (IrisPlaceQueues *self, IrisWorker *worker)
{
  IrisFootprint *footprint = &self->queues[worker->place].footprint;
  guint32 flags = worker->declared;

  worker->declared = 0;
  count_sub (&footprint->running, iris_footprint_bytes (flags));
  if (place_queues_is_apart (self, flags))
    count_sub (&footprint->apart_running, 1);
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

/* In the flags of items that the short way of taking passes on to the long one. */
#define IRIS_ITEM_SPECIAL (IRIS_ITEM_PROXY | IRIS_FOOTPRINT_COUNTED)

/* Counts a steal of @n items from @victim_place and makes known what was laid down. */
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
  if (n > 1)
    iris_place_queues_publish_own (pool, self);
}

static void
lay_down (IrisWorkerPool *pool, IrisWorker *self, IrisWorker *victim, void **items, guint64 n)
{
  IrisPlaceQueues *queues = pool->owner;

  if (victim->place != self->place
      && iris_unlikely (iris_counter_get (&queues->queues[victim->place].footprint.waiting)))
    place_queues_count_moved (queues, self->place, items, n);
  for (guint64 i = 0; i < n; i++)
    if (!iris_deque_core_push (self->deque, items[i]))
      iris_ring_core_push (&queues->queues[self->place].inbox, items[i]);
}

static IrisItem *
steal_from_worker (IrisWorkerPool *pool, IrisWorker *self, IrisWorker *victim)
{
  IrisPlaceQueues *queues = pool->owner;
  guint64 wanted = iris_steal_rules_wants (&queues->rules,
                                           iris_deque_core_get_length (victim->deque));
  guint64 max = iris_steal_rules_most (&queues->rules, IRIS_STEAL_MAX);
  bool at_once = iris_deque_kind_steals_many (victim->deque->kind);
  void *items[IRIS_STEAL_MAX] = { NULL };
  guint64 n, got;
  IrisStealResult result;
  IrisItem *first;

  iris_counter_add (&self->counters.steal_tries, 1);
  result = iris_deque_core_steal (victim->deque, items, max, &got);
  if (iris_unlikely (result == IRIS_STEAL_PRIVATE) && self->impatient
      && iris_deque_core_force (victim->deque))
    result = iris_deque_core_steal (victim->deque, items, max, &got);
  if (result != IRIS_STEAL_TAKEN)
    {
      if (result == IRIS_STEAL_LOST)
        iris_counter_add (&self->counters.steal_fails, 1);
      else
        iris_counter_add (&self->counters.steal_empties, 1);
      return NULL;
    }

  first = items[0];
  lay_down (pool, self, victim, items + 1, got - 1);
  /* On, if one steal gives one item, or a handful was not enough. */
  for (n = got; n < wanted && (!at_once || got == IRIS_STEAL_MAX); n += got)
    {
      result = iris_deque_core_steal (victim->deque, items, MIN (wanted - n, IRIS_STEAL_MAX), &got);
      if (result != IRIS_STEAL_TAKEN)
        break;
      lay_down (pool, self, victim, items, got);
    }
  iris_place_queues_note_stolen (pool, self, victim->place, (guint) n);

  return first;
}

/* One item at a time: what waits in an inbox was meant for that place. */
static IrisItem *
steal_from_inbox (IrisWorkerPool *pool, IrisWorker *self, guint place)
{
  IrisPlaceQueues *queues = pool->owner;
  IrisItem *item;

  if (!iris_place_queues_may_steal_from_inbox (pool, self, place))
    return NULL;
  iris_counter_add (&self->counters.steal_tries, 1);
  item = iris_ring_core_pop (&queues->queues[place].inbox);
  if (item != NULL)
    iris_place_queues_note_stolen (pool, self, place, 1);
  else
    iris_counter_add (&self->counters.steal_empties, 1);

  return item;
}

static IrisItem *
steal_from_workers_of (IrisWorkerPool *pool, IrisWorker *self, guint place)
{
  IrisPlaceQueues *queues = pool->owner;
  IrisPlaceQueue *queue = &queues->queues[place];
  guint start = iris_random_below (&self->random, queue->n_deques);

  for (guint i = 0; i < queue->n_deques; i++)
    {
      guint at = start + i < queue->n_deques ? start + i : start + i - queue->n_deques;
      IrisWorker *victim = &pool->workers[queue->first_worker + at];
      IrisItem *item;

      if (victim->deque == self->deque)
        continue;
      item = steal_from_worker (pool, self, victim);
      if (item != NULL)
        return item;
    }

  return NULL;
}

/* What spare workers have: those of the same place first. */
static IrisItem *
steal_from_spares (IrisWorkerPool *pool, IrisWorker *self)
{
  guint n = iris_worker_pool_count_workers (pool);
  IrisItem *item = NULL;

  for (guint pass = 0; pass < 2; pass++)
    for (guint i = pool->n_workers; i < n && item == NULL; i++)
      {
        IrisWorker *victim = iris_worker_pool_get_worker (pool, i);

        if ((victim->place == self->place) == (pass == 0) && victim->deque != self->deque)
          item = steal_from_worker (pool, self, victim);
      }

  return item;
}

/* Nearest places first; among equally near ones from a random one on. */
static IrisItem *
steal_from_elsewhere (IrisWorkerPool *pool, IrisWorker *self)
{
  IrisPlaceQueues *queues = pool->owner;
  IrisPlaceQueue *home = &queues->queues[self->place];

  for (guint g = 0; g < home->n_groups; g++)
    {
      IrisVictimGroup *group = &home->groups[g];
      guint start = iris_random_below (&self->random, group->length);

      for (guint i = 0; i < group->length; i++)
        {
          guint at = start + i < group->length ? start + i : start + i - group->length;
          guint place = home->order[group->first + at];
          IrisItem *item;

          if (!iris_place_queues_may_steal (pool, self, place))
            continue;
          item = steal_from_inbox (pool, self, place);
          if (item == NULL)
            item = steal_from_workers_of (pool, self, place);
          if (item != NULL)
            return item;
        }
    }

  return NULL;
}

/* Several from the inbox of @self's place: the oldest to run, the next ones onto its own deque, so
 * that it takes them in their order. Others can steal them there. No more than its share of what
 * there is, so that its siblings have theirs without stealing. */
static IrisItem *
take_share_of_inbox (IrisWorkerPool *pool, IrisWorker *self, IrisPlaceQueue *home)
{
  guint64 length = iris_ring_core_get_length (&home->inbox);
  void *items[IRIS_INBOX_SHARE];
  guint64 n;

  /* What is to be kept apart moves alone. */
  if (length <= home->n_workers || iris_counter_get (&home->footprint.waiting) != 0)
    return iris_ring_core_pop (&home->inbox);

  n = iris_ring_core_pop_many (&home->inbox, items,
                               MIN (length / home->n_workers, IRIS_INBOX_SHARE));
  if (n == 0)
    return NULL;
  for (guint64 i = n - 1; i > 0; i--)
    if (!iris_deque_core_push (self->deque, items[i]))
      iris_ring_core_push (&home->inbox, items[i]);
  if (n > 1)
    iris_place_queues_publish_own (pool, self);

  return items[0];
}

/* With @self NULL: when no worker is left. */
static IrisItem *
take_from_inboxes (IrisWorkerPool *pool, IrisWorker *self, IrisPlaceQueue *home)
{
  IrisItem *item = iris_ring_core_pop (&home->strict);

  if (item == NULL)
    item = iris_ring_core_pop (&home->affinity);
  if (item == NULL)
    item = self != NULL ? take_share_of_inbox (pool, self, home)
                        : iris_ring_core_pop (&home->inbox);

  return item;
}

/* What newest first would leave lying. Each of the sources comes first in its turn: an item
 * that queues itself again and again at one of them must not hide the others. */
static IrisItem *
take_fairly (IrisWorker *self, IrisPlaceQueue *home)
{
  guint64 length = iris_deque_core_get_length (self->deque);
  guint turn = self->fair_turn++;
  void *item = NULL;

  self->picks_left = IRIS_FAIRNESS_INTERVAL + (guint) MIN (length, IRIS_FAIRNESS_MAX);
  for (guint i = 0; i < IRIS_FAIRNESS_SOURCES && item == NULL; i++)
    switch ((turn + i) % IRIS_FAIRNESS_SOURCES)
      {
      case 0:
        item = iris_ring_core_pop (&home->strict);
        break;
      case 1:
        item = iris_ring_core_pop (&home->inbox);
        break;
      case 2:
        item = iris_ring_core_pop (&home->affinity);
        break;
      default:
        item = iris_deque_core_take_oldest (self->deque);
      }

  return item;
}

/* When no worker is left: anything, from anywhere. */
static IrisItem *
take_any (IrisWorkerPool *pool)
{
  IrisPlaceQueues *queues = pool->owner;
  void *item;

  for (guint i = 0; i < queues->n_places; i++)
    if ((item = take_from_inboxes (pool, NULL, &queues->queues[i])) != NULL)
      return item;
  for (guint i = 0; i < iris_worker_pool_count_workers (pool); i++)
    if ((item = iris_deque_core_take_oldest (iris_worker_pool_get_worker (pool, i)->deque)) != NULL)
      return item;

  return NULL;
}

/* What others have. The time that this takes is the price of stealing; a worker that found nothing
 * before is looking already. */
static IrisItem *
steal (IrisWorkerPool *pool, IrisWorker *self)
{
  bool began = iris_worker_note_search_begins (self);
  IrisItem *item = steal_from_workers_of (pool, self, self->place);

  if (item == NULL)
    item = steal_from_elsewhere (pool, self);
  if (item == NULL)
    item = steal_from_spares (pool, self);
  if (item == NULL)
    item = iris_place_queues_steal_fork (pool, self);
  if (began)
    iris_worker_note_search_ends (self);

  return item;
}

/* The whole order of search. */
static IrisItem *
take_once (IrisWorkerPool *pool, IrisWorker *self)
{
  IrisPlaceQueues *queues = pool->owner;
  IrisPlaceQueue *home = &queues->queues[self->place];
  IrisItem *item = NULL;

  if (self->picks_left == 0)
    item = take_fairly (self, home);
  else
    self->picks_left--;

  if (item == NULL)
    item = iris_deque_core_take (self->deque);
  if (item == NULL)
    item = take_from_inboxes (pool, self, home);
  if (item == NULL)
    item = steal (pool, self);

  return item;
}

/* Out of line, so that the way below it is short. */
static __attribute__ ((noinline)) IrisItem *
take_slowly (IrisWorkerPool *pool, IrisWorker *self, IrisItem *met)
{
  IrisItem *item;

  if (self != NULL && iris_unlikely (self->declared != 0))
    place_queues_count_done (pool->owner, self);
  do
    {
      if (met == NULL)
        met = self != NULL ? take_once (pool, self) : take_any (pool);
      if (met == NULL)
        return NULL;
      item = iris_item_proxy_open (met);
      met = NULL;
    }
  while (item == NULL);
  if (iris_unlikely (item->flags & IRIS_FOOTPRINT_COUNTED))
    place_queues_count_taken (pool->owner, self, item);

  return item;
}

IrisItem *
iris_place_queues_take (IrisWorkerPool *pool, IrisWorker *self)
{
  IrisItem *item;

  if (iris_unlikely (self == NULL || self->picks_left == 0))
    return take_slowly (pool, self, NULL);

  item = iris_deque_core_take (self->deque);
  if (iris_unlikely (item == NULL || (item->flags & IRIS_ITEM_SPECIAL)))
    return take_slowly (pool, self, item);
  self->picks_left--;

  return item;
}

static IrisItem *
place_queues_open (IrisWorkerPool *pool, IrisWorker *self, IrisItem *met)
{
  return iris_unlikely (met->flags & IRIS_ITEM_SPECIAL) ? take_slowly (pool, self, met) : met;
}

/* Every source at which take() looks, by positions: an item that is being put down counts. */
IrisWork
iris_place_queues_has_work (IrisWorkerPool *pool, IrisWorker *self)
{
  IrisPlaceQueues *queues = pool->owner;
  IrisWork work = IRIS_WORK_NONE;

  if (!iris_ring_core_is_empty (&queues->queues[self->place].strict)
      || !iris_ring_core_is_empty (&queues->queues[self->place].affinity))
    work |= IRIS_WORK_STRICT;
  for (guint i = 0; i < queues->n_places && !(work & IRIS_WORK_SHARED); i++)
    if (!iris_ring_core_is_empty (&queues->queues[i].inbox))
      work |= IRIS_WORK_SHARED;
  for (guint i = 0; i < iris_worker_pool_count_workers (pool) && !(work & IRIS_WORK_SHARED); i++)
    if (iris_deque_core_get_length (iris_worker_pool_get_worker (pool, i)->deque) > 0)
      work |= IRIS_WORK_SHARED;
  /* Of the sources above alone: another one that can be refused by no worker comes after this. */
  if ((work & IRIS_WORK_SHARED) && iris_place_queues_refuses_all (pool, self))
    work ^= IRIS_WORK_SHARED | IRIS_WORK_REFUSED;
  if (!(work & IRIS_WORK_SHARED) && iris_place_queues_has_forks (pool))
    work |= IRIS_WORK_SHARED;

  return work;
}

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

/* Both queues are published: any worker may take from the deque, the place alone from its affinity
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
  bool apart = place_queues_is_apart (self, item->flags);
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
  bool apart = place_queues_is_apart (self, item->flags);
  bool own = item->place == IRIS_PLACE_ANY && !apart && worker != NULL
             && self->deal == IRIS_DEAL_OWN;
  guint place;

  if (item->place != IRIS_PLACE_ANY)
    place = (guint) item->place;
  else if (apart)
    place = place_queues_deal_apart (self);
  else
    place = own ? worker->place : place_queues_deal (self);

  place_queues_count_waiting (self, place, item);
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
  .open = place_queues_open,
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
  self->apart_above = place_queues_find_cache_share (places);
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
