/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Districts: how a worker finds its next item. The order is explained in iris-district-private.h.
 */
#include "iris/sched/iris-district-private.h"

#include "iris/sched/iris-mail-private.h"

/* Rounded up, because a single item is worth a steal too. */
static guint
half_of (guint64 length)
{
  return (guint) MIN ((length + 1) / 2, IRIS_STEAL_MAX);
}

/* Counts a steal of @n items from @victim_place and makes known what was laid down. */
static void
note_stolen (IrisCrew *crew, IrisWorker *self, guint victim_place, guint n)
{
  IrisDistricts *districts = crew->owner;
  IrisWorkerCounters *counters = &self->counters;

  iris_counter_add (&counters->steals, 1);
  if (victim_place == self->place)
    {
      iris_counter_add (&counters->stolen_inside, n);
    }
  else
    {
      iris_counter_add (&counters->stolen_in, n);
      atomic_fetch_add_explicit (&districts->districts[victim_place].stolen_out, n,
                                 memory_order_relaxed);
    }
  if (n > 1)
    iris_lot_publish (&crew->lot, self->place, false);
}

static IrisItem *
steal_from_worker (IrisCrew *crew, IrisWorker *self, IrisWorker *victim)
{
  guint limit = half_of ((guint64) iris_wsqueue_get_length (&victim->deque));
  guint n = 1;
  void *first, *next;
  IrisStealResult result;

  iris_counter_add (&self->counters.steal_tries, 1);
  result = iris_wsqueue_steal (&victim->deque, &first);
  if (result != IRIS_STEAL_TAKEN)
    {
      if (result == IRIS_STEAL_LOST)
        iris_counter_add (&self->counters.steal_fails, 1);
      return NULL;
    }

  while (n < limit && iris_wsqueue_steal (&victim->deque, &next) == IRIS_STEAL_TAKEN)
    {
      if (!iris_wsqueue_push (&self->deque, next))
        {
          IrisDistricts *districts = crew->owner;

          iris_ring_core_push (&districts->districts[self->place].inbox, next);
        }
      n++;
    }
  note_stolen (crew, self, victim->place, n);

  return first;
}

/* One item at a time: what waits in an inbox was meant for that place. */
static IrisItem *
steal_from_inbox (IrisCrew *crew, IrisWorker *self, guint place)
{
  IrisDistricts *districts = crew->owner;
  IrisItem *item;

  iris_counter_add (&self->counters.steal_tries, 1);
  item = iris_ring_core_pop (&districts->districts[place].inbox);
  if (item != NULL)
    note_stolen (crew, self, place, 1);

  return item;
}

static IrisItem *
steal_from_workers_of (IrisCrew *crew, IrisWorker *self, guint place)
{
  IrisDistricts *districts = crew->owner;
  IrisDistrict *district = &districts->districts[place];
  guint start = iris_random_below (&self->random, district->n_workers);

  for (guint i = 0; i < district->n_workers; i++)
    {
      guint at = start + i < district->n_workers ? start + i : start + i - district->n_workers;
      IrisWorker *victim = &crew->workers[district->first_worker + at];
      IrisItem *item;

      if (victim == self)
        continue;
      item = steal_from_worker (crew, self, victim);
      if (item != NULL)
        return item;
    }

  return NULL;
}

/* Nearest places first; among equally near ones from a random one on. */
static IrisItem *
steal_from_elsewhere (IrisCrew *crew, IrisWorker *self)
{
  IrisDistricts *districts = crew->owner;
  IrisDistrict *home = &districts->districts[self->place];

  for (guint g = 0; g < home->n_groups; g++)
    {
      IrisVictimGroup *group = &home->groups[g];
      guint start = iris_random_below (&self->random, group->length);

      for (guint i = 0; i < group->length; i++)
        {
          guint at = start + i < group->length ? start + i : start + i - group->length;
          guint place = home->order[group->first + at];
          IrisItem *item = steal_from_inbox (crew, self, place);

          if (item == NULL)
            item = steal_from_workers_of (crew, self, place);
          if (item != NULL)
            return item;
        }
    }

  return NULL;
}

static IrisItem *
take_from_inboxes (IrisDistrict *home)
{
  IrisItem *item = iris_ring_core_pop (&home->strict);

  if (item == NULL)
    item = iris_ring_core_pop (&home->mail);

  return item != NULL ? item : iris_ring_core_pop (&home->inbox);
}

/* What newest first would leave lying. Each of the sources comes first in its turn: an item
 * that queues itself again and again at one of them must not hide the others. */
static IrisItem *
take_fairly (IrisWorker *self, IrisDistrict *home)
{
  guint64 length = (guint64) iris_wsqueue_get_length (&self->deque);
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
        item = iris_ring_core_pop (&home->mail);
        break;
      default:
        if (iris_wsqueue_steal (&self->deque, &item) != IRIS_STEAL_TAKEN)
          item = NULL;
      }

  return item;
}

/* When no worker is left: anything, from anywhere. */
static IrisItem *
take_any (IrisCrew *crew)
{
  IrisDistricts *districts = crew->owner;
  void *item;

  for (guint i = 0; i < districts->n_districts; i++)
    if ((item = take_from_inboxes (&districts->districts[i])) != NULL)
      return item;
  for (guint i = 0; i < crew->n_workers; i++)
    if (iris_wsqueue_steal (&crew->workers[i].deque, &item) == IRIS_STEAL_TAKEN)
      return item;

  return NULL;
}

static inline IrisItem *
take_once (IrisCrew *crew, IrisWorker *self)
{
  IrisDistricts *districts = crew->owner;
  IrisDistrict *home;
  IrisItem *item;

  if (iris_unlikely (self == NULL))
    return take_any (crew);

  home = &districts->districts[self->place];
  if (iris_unlikely (self->picks_left == 0))
    {
      item = take_fairly (self, home);
      if (item != NULL)
        return item;
    }
  self->picks_left--;

  item = iris_wsqueue_take (&self->deque);
  if (iris_likely (item != NULL))
    return item;
  item = take_from_inboxes (home);
  if (item == NULL)
    item = steal_from_workers_of (crew, self, self->place);
  if (item == NULL)
    item = steal_from_elsewhere (crew, self);

  return item;
}

IrisItem *
iris_districts_take (IrisCrew *crew, IrisWorker *self)
{
  IrisItem *met, *item;

  do
    {
      met = take_once (crew, self);
      if (met == NULL)
        return NULL;
      item = iris_mail_open (met);
    }
  while (iris_unlikely (item == NULL));

  return item;
}

/* Every source at which take() looks, by positions: an item that is being put down counts. */
IrisWork
iris_districts_has_work (IrisCrew *crew, IrisWorker *self)
{
  IrisDistricts *districts = crew->owner;
  IrisWork work = IRIS_WORK_NONE;

  if (!iris_ring_core_is_empty (&districts->districts[self->place].strict)
      || !iris_ring_core_is_empty (&districts->districts[self->place].mail))
    work |= IRIS_WORK_STRICT;
  for (guint i = 0; i < districts->n_districts && !(work & IRIS_WORK_SHARED); i++)
    if (!iris_ring_core_is_empty (&districts->districts[i].inbox))
      work |= IRIS_WORK_SHARED;
  for (guint i = 0; i < crew->n_workers && !(work & IRIS_WORK_SHARED); i++)
    if (iris_wsqueue_get_length (&crew->workers[i].deque) > 0)
      work |= IRIS_WORK_SHARED;

  return work;
}
