/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Place queues: what workers do with their deques, inboxes and each other: putting, taking, and
 * stealing. The design is in iris-place-queues-private.h.
 */
#include "iris/sched/steal/iris-place-queues-private.h"

#include "iris/sched/pool/iris-active-workers-private.h"
#include "iris/sched/pool/iris-item-private.h"
#include "iris/sched/steal/iris-strict-deque-private.h"

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
  iris_splitqueue_offer (&worker->deque);
  iris_parking_lot_wake (&pool->parking_lot, worker->place, false);
}

static inline void
publish_own (IrisWorkerPool *pool, IrisWorker *worker)
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
  if (iris_unlikely (!iris_splitqueue_push (&worker->deque, item)))
    push_inbox (pool, worker->place, false, item);
  else
    publish_own (pool, worker);
}

void
iris_place_queues_push_own (IrisWorkerPool *pool, IrisWorker *worker, IrisItem *item)
{
  push_own (pool, worker, item);
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
    iris_striped_counters_add (&self->hinted, place);

  if (!at_home || apart || behind)
    push_inbox (pool, place, strict, item);
  else if (strict)
    iris_strict_deque_push (pool, worker, item);
  else
    push_own (pool, worker, item);
}

/* The place whose turn it is. */
static guint
deal (IrisPlaceQueues *self)
{
  if (self->n_places == 1)
    return 0;

  return iris_place_queues_next (self);
}

/* An item that no place is meant for: to the place whose turn it is; or, if the ring of its inbox
 * is full, to the next place, whose workers would else have to steal it out of an overflow. */
static void
push_dealt (IrisWorkerPool *pool, IrisItem *item)
{
  IrisPlaceQueues *self = pool->owner;
  guint place = deal (self);
  IrisRingCore *inbox = &self->queues[place].inbox;

  if (iris_unlikely (!iris_ring_core_offer (inbox, item)))
    {
      guint next = place + 1 < self->n_places ? place + 1 : 0;

      if (next != place && iris_ring_core_offer (&self->queues[next].inbox, item))
        place = next;
      else
        iris_ring_core_push (inbox, item);
    }
  iris_parking_lot_publish (&pool->parking_lot, place, false);
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
    place = own ? worker->place : deal (self);

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
    push_dealt (pool, item);
}

static guint64
count_in_deques (IrisWorkerPool *pool, const IrisPlaceQueue *queue)
{
  guint64 n = 0;

  for (guint i = 0; i < queue->n_workers; i++)
    n += iris_splitqueue_get_length (&pool->workers[queue->first_worker + i].deque);

  return n;
}

static void
lay_down (IrisWorkerPool *pool, IrisWorker *self, IrisWorker *victim, void **items, guint64 n)
{
  IrisPlaceQueues *queues = pool->owner;

  if (victim->place != self->place
      && iris_unlikely (iris_counter_get (&queues->queues[victim->place].footprint.waiting)))
    iris_place_queues_count_moved (queues, self->place, items, n);
  for (guint64 i = 0; i < n; i++)
    if (!iris_splitqueue_push (&self->deque, items[i]))
      iris_ring_core_push (&queues->queues[self->place].inbox, items[i]);
}

static IrisItem *
steal_from_worker (IrisWorkerPool *pool, IrisWorker *self, IrisWorker *victim)
{
  IrisPlaceQueues *queues = pool->owner;
  guint64 wanted = iris_steal_rules_wants (&queues->rules,
                                           iris_splitqueue_get_length (&victim->deque));
  guint64 max = iris_steal_rules_most (&queues->rules, IRIS_STEAL_MAX);
  void *items[IRIS_STEAL_MAX] = { NULL };
  guint64 n, got;
  IrisStealResult result;
  IrisItem *first;

  iris_counter_add (&self->counters.steal_tries, 1);
  result = iris_splitqueue_steal (&victim->deque, items, max, &got);
  if (iris_unlikely (result == IRIS_STEAL_PRIVATE) && self->impatient
      && iris_splitqueue_force (&victim->deque))
    result = iris_splitqueue_steal (&victim->deque, items, max, &got);
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
  /* On, if a handful was not enough. */
  for (n = got; n < wanted && got == IRIS_STEAL_MAX; n += got)
    {
      if (iris_splitqueue_steal (&victim->deque, items, MIN (wanted - n, IRIS_STEAL_MAX), &got)
          != IRIS_STEAL_TAKEN)
        break;
      lay_down (pool, self, victim, items, got);
    }
  iris_place_queues_note_stolen (pool, self, victim->place, (guint) n);
  if (n > 1)
    publish_own (pool, self);

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
  guint start = iris_random_below (&self->random, queue->n_workers);

  for (guint i = 0; i < queue->n_workers; i++)
    {
      guint at = start + i < queue->n_workers ? start + i : start + i - queue->n_workers;
      IrisWorker *victim = &pool->workers[queue->first_worker + at];
      IrisItem *item = victim != self ? steal_from_worker (pool, self, victim) : NULL;

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

        if ((victim->place == self->place) == (pass == 0) && victim != self)
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

          if (!iris_place_queues_may_steal (pool, self, place,
                                            count_in_deques (pool, &queues->queues[place])))
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

/* What others have. The time that this takes is the price of stealing; a worker that found nothing
 * before is looking already. */
static IrisItem *
steal (IrisWorkerPool *pool, IrisWorker *self)
{
  bool began = iris_worker_note_search_begins (self);
  IrisItem *item = iris_strict_deque_steal (pool, self);

  if (item == NULL)
    item = steal_from_workers_of (pool, self, self->place);
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
    if (!iris_splitqueue_push (&self->deque, items[i]))
      iris_ring_core_push (&home->inbox, items[i]);
  if (n > 1)
    publish_own (pool, self);

  return items[0];
}

/* What newest first would leave lying. Each of the sources comes first in its turn: an item
 * that queues itself again and again at one of them must not hide the others. */
static IrisItem *
take_fairly (IrisWorker *self, IrisPlaceQueue *home)
{
  guint64 length = iris_splitqueue_get_length (&self->deque) + iris_strict_deque_get_length (self);
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
        item = iris_strict_deque_take_oldest (self);
        break;
      default:
        item = iris_splitqueue_take_oldest (&self->deque);
      }

  return item;
}

/* When no worker is left: anything, from anywhere. */
static IrisItem *
take_any (IrisWorkerPool *pool)
{
  IrisPlaceQueues *queues = pool->owner;
  void *item = NULL;

  for (guint i = 0; i < queues->n_places && item == NULL; i++)
    if ((item = iris_ring_core_pop (&queues->queues[i].strict)) == NULL)
      item = iris_ring_core_pop (&queues->queues[i].inbox);
  for (guint i = 0; i < iris_worker_pool_count_workers (pool) && item == NULL; i++)
    {
      IrisWorker *worker = iris_worker_pool_get_worker (pool, i);

      if ((item = iris_strict_deque_take_oldest (worker)) == NULL)
        item = iris_splitqueue_take_oldest (&worker->deque);
    }

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
    item = iris_splitqueue_take (&self->deque);
  if (item == NULL)
    item = iris_strict_deque_take (self);
  if (item == NULL)
    item = iris_ring_core_pop (&home->strict);
  if (item == NULL)
    item = take_share_of_inbox (pool, self, home);
  if (item == NULL)
    item = steal (pool, self);

  return item;
}

/* @met, or what else there is; with footprints counted. Out of line, so that the way below it is
 * short. */
static __attribute__ ((noinline)) IrisItem *
take_slowly (IrisWorkerPool *pool, IrisWorker *self, IrisItem *met)
{
  if (self != NULL && iris_unlikely (self->declared != 0))
    iris_place_queues_count_done (pool->owner, self);
  if (met == NULL)
    met = self != NULL ? take_once (pool, self) : take_any (pool);
  if (met != NULL && iris_unlikely (met->flags & IRIS_FOOTPRINT_COUNTED))
    iris_place_queues_count_taken (pool->owner, self, met);

  return met;
}

static IrisItem *
place_queues_take (IrisWorkerPool *pool, IrisWorker *self)
{
  IrisItem *item;

  if (iris_unlikely (self == NULL || self->picks_left == 0))
    return take_slowly (pool, self, NULL);

  item = iris_splitqueue_take (&self->deque);
  if (item == NULL)
    item = iris_strict_deque_take (self);
  if (iris_unlikely (item == NULL || (item->flags & IRIS_FOOTPRINT_COUNTED)))
    return take_slowly (pool, self, item);
  self->picks_left--;

  return item;
}

/* Of a worker that saw something to take in an inbox or a deque: whether it refuses all of it. */
static bool
refuses_all (IrisWorkerPool *pool, IrisWorker *self)
{
  IrisPlaceQueues *queues = pool->owner;
  bool refuses = false;

  if (!queues->rules.refuses || queues->n_places == 1)
    return false;

  for (guint i = 0; i < queues->n_places; i++)
    {
      IrisPlaceQueue *queue = &queues->queues[i];
      guint64 in_deques = count_in_deques (pool, queue);
      IrisStealVerdict verdict;

      if (in_deques == 0 && iris_ring_core_is_empty (&queue->inbox))
        continue;
      if (i == self->place)
        return false;
      verdict = iris_place_queues_judge (pool, self, i, in_deques);
      if (verdict == IRIS_STEAL_VERDICT_TAKEN
          && (in_deques != 0 || !iris_place_queues_keeps_apart (pool, self, i)))
        return false;
      refuses = true;
    }

  return refuses;
}

/* Every source at which take() looks, by positions: an item that is being put down counts. */
static IrisWork
place_queues_has_work (IrisWorkerPool *pool, IrisWorker *self)
{
  IrisPlaceQueues *queues = pool->owner;
  IrisWork work = IRIS_WORK_NONE;

  if (!iris_ring_core_is_empty (&queues->queues[self->place].strict)
      || iris_strict_deque_any_at (pool, self->place))
    work |= IRIS_WORK_STRICT;
  for (guint i = 0; i < queues->n_places && !(work & IRIS_WORK_SHARED); i++)
    if (!iris_ring_core_is_empty (&queues->queues[i].inbox))
      work |= IRIS_WORK_SHARED;
  for (guint i = 0; i < iris_worker_pool_count_workers (pool) && !(work & IRIS_WORK_SHARED); i++)
    if (iris_splitqueue_get_length (&iris_worker_pool_get_worker (pool, i)->deque) > 0)
      work |= IRIS_WORK_SHARED;
  /* Of the sources above alone: another one that can be refused by no worker comes after this. */
  if ((work & IRIS_WORK_SHARED) && refuses_all (pool, self))
    work ^= IRIS_WORK_SHARED | IRIS_WORK_REFUSED;
  if (!(work & IRIS_WORK_SHARED) && iris_place_queues_has_forks (pool))
    work |= IRIS_WORK_SHARED;

  return work;
}

static void
place_queues_init_deque (IrisWorkerPool *pool, IrisWorker *worker)
{
  if (!iris_splitqueue_init_full (&worker->deque, &pool->arrays, IRIS_SPLITQUEUE_MIN_CAPACITY, 0))
    g_error ("iris: out of memory for the deque of worker %u", worker->index);
  iris_strict_deque_init (pool, worker);
}

static void
place_queues_clear_deque (IrisWorker *worker)
{
  iris_splitqueue_clear (&worker->deque);
  iris_strict_deque_clear (worker);
}

static guint64
place_queues_count_own (IrisWorker *worker)
{
  return iris_splitqueue_get_length (&worker->deque) + iris_strict_deque_get_length (worker);
}

static void
place_queues_expose (IrisWorkerPool *pool, IrisWorker *worker)
{
  iris_splitqueue_expose (&worker->deque, G_MAXUINT64);
  publish_own (pool, worker);
  iris_strict_deque_expose (pool, worker);
}

const IrisWorkerPoolOps iris_place_queues_ops = {
  .init_deque = place_queues_init_deque,
  .clear_deque = place_queues_clear_deque,
  .count_own = place_queues_count_own,
  .push = place_queues_push,
  .publish = wake_for_own,
  .open = take_slowly,
  .take = place_queues_take,
  .has_work = place_queues_has_work,
  .expose = place_queues_expose,
  .bind = iris_place_queues_bind,
  .get_forks = iris_place_queues_get_forks,
  .add_stats = iris_place_queues_add_stats,
};
