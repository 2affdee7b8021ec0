/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Place queues: how a worker finds its next item. The order is explained in
 * iris-place-queues-private.h.
 */
#include "iris/sched/steal/iris-place-queues-private.h"

#include "iris/sched/steal/iris-item-proxy-private.h"
#include "iris/sched/pool/iris-active-workers-private.h"

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
    iris_place_queues_count_moved (queues, self->place, items, n);
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
    iris_place_queues_count_done (pool->owner, self);
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
    iris_place_queues_count_taken (pool->owner, self, item);

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

IrisItem *
iris_place_queues_open (IrisWorkerPool *pool, IrisWorker *self, IrisItem *met)
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
  /* Of the sources above alone: another one that can be refused by nobody comes after this. */
  if ((work & IRIS_WORK_SHARED) && iris_place_queues_refuses_all (pool, self))
    work ^= IRIS_WORK_SHARED | IRIS_WORK_REFUSED;
  if (!(work & IRIS_WORK_SHARED) && iris_place_queues_has_forks (pool))
    work |= IRIS_WORK_SHARED;

  return work;
}
