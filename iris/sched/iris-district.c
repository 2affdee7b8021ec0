/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Districts: making them and putting items into them. The design is in iris-district-private.h.
 */
#include "iris/sched/iris-district-private.h"

#include "iris/sched/iris-mail-private.h"

#include <string.h>

static guint
districts_deal (IrisDistricts *self)
{
  if (self->n_districts == 1)
    return 0;

  return atomic_fetch_add_explicit (&self->next, 1, memory_order_relaxed) % self->n_districts;
}

static void
push_inbox (IrisCrew *crew, guint place, bool strict, IrisItem *item)
{
  IrisDistricts *self = crew->owner;
  IrisDistrict *district = &self->districts[place];

  iris_ring_core_push (strict ? &district->strict : &district->inbox, item);
  iris_lot_publish (&crew->lot, place, strict);
}

/* Some worker sleeps: if none searches, lets it have something. Out of line: it is rare. */
static __attribute__ ((noinline)) void
wake_for_own (IrisCrew *crew, IrisWorker *worker)
{
  iris_fence_full ();
  if (!iris_lot_wants_work (&crew->lot))
    return;
  iris_deque_core_offer (worker->deque);
  iris_lot_wake (&crew->lot, worker->place, false);
}

void
iris_districts_publish_own (IrisCrew *crew, IrisWorker *worker)
{
  iris_fence_light ();
  if (iris_unlikely (iris_lot_has_sleeper (&crew->lot)))
    wake_for_own (crew, worker);
}

/* Inlined: it is most of what a worker does when an item makes others. */
static inline void __attribute__ ((always_inline))
push_own (IrisCrew *crew, IrisWorker *worker, IrisItem *item)
{
  /* Full, or no memory for a larger deque: the inbox never refuses. */
  if (iris_unlikely (!iris_deque_core_push (worker->deque, item)))
    {
      push_inbox (crew, worker->place, false, item);
      return;
    }
  iris_fence_light ();
  if (iris_unlikely (iris_lot_has_sleeper (&crew->lot)))
    wake_for_own (crew, worker);
}

/* Both queues are published: anyone may take from the deque, the place alone from its mailbox. */
static void
push_twice (IrisCrew *crew, IrisWorker *worker, IrisItem *item)
{
  IrisDistricts *self = crew->owner;
  guint place = (guint) item->place;
  IrisItem *envelope = iris_envelope_new (item);

  iris_ring_core_push (&self->districts[place].mail, envelope);
  iris_lot_publish (&crew->lot, place, true);
  push_own (crew, worker, envelope);
}

static void
push_hinted (IrisCrew *crew, IrisWorker *worker, IrisItem *item)
{
  IrisDistricts *self = crew->owner;
  guint place = (guint) item->place;
  bool apart = iris_districts_is_apart (self, item->flags);
  bool strict = (item->flags & IRIS_ITEM_STRICT) != 0;
  bool at_home = worker != NULL && worker->place == place;
  bool behind = (item->flags & IRIS_ITEM_BEHIND) != 0;

  if (at_home)
    iris_counter_add (&worker->counters.hinted, 1);
  else
    atomic_fetch_add_explicit (&self->districts[place].hinted, 1, memory_order_relaxed);

  if (at_home && !strict && !apart && !behind)
    push_own (crew, worker, item);
  else if (self->layout == IRIS_LAYOUT_MAILBOXES && worker != NULL && !strict && !apart && !at_home)
    push_twice (crew, worker, item);
  else
    push_inbox (crew, place, strict, item);
}

/* An item with a footprint: where it goes, and that it goes there. Out of line: it is rare. */
static __attribute__ ((noinline)) void
push_declared (IrisCrew *crew, IrisWorker *worker, IrisItem *item)
{
  IrisDistricts *self = crew->owner;
  bool apart = iris_districts_is_apart (self, item->flags);
  bool own = item->place == IRIS_PLACE_ANY && !apart && worker != NULL
             && self->deal == IRIS_DEAL_OWN;
  guint place;

  if (item->place != IRIS_PLACE_ANY)
    place = (guint) item->place;
  else if (apart)
    place = iris_districts_deal_apart (self);
  else
    place = own ? worker->place : districts_deal (self);

  iris_districts_count_waiting (self, place, item);
  if (item->place != IRIS_PLACE_ANY)
    push_hinted (crew, worker, item);
  else if (own)
    push_own (crew, worker, item);
  else
    push_inbox (crew, place, false, item);
}

static void
districts_push (IrisCrew *crew, IrisWorker *worker, IrisItem *item)
{
  IrisDistricts *self = crew->owner;

  if (iris_unlikely (item->place >= (gint) self->n_districts))
    {
      /* The work is done all the same: nothing that was queued may disappear. */
      g_critical ("iris: no place %d: the scheduler has %u; the hint is ignored", item->place,
                  self->n_districts);
      item->place = IRIS_PLACE_ANY;
      item->flags &= ~(guint32) IRIS_ITEM_STRICT;
    }

  if (iris_unlikely (item->flags & IRIS_FOOTPRINT_SIZE))
    push_declared (crew, worker, item);
  else if (item->place != IRIS_PLACE_ANY)
    push_hinted (crew, worker, item);
  else if (worker != NULL && self->deal == IRIS_DEAL_OWN)
    push_own (crew, worker, item);
  else
    push_inbox (crew, districts_deal (self), false, item);
}

static void
districts_expose (IrisCrew *crew, IrisWorker *worker)
{
  iris_deque_core_expose (worker->deque, G_MAXUINT64);
  iris_districts_publish_own (crew, worker);
}

static void
districts_bind (IrisCrew *crew, IrisWorker *worker)
{
  IrisDistricts *self = crew->owner;
  IrisPlace *place = iris_places_get_place (self->places, worker->place);
  guint index = worker->index - self->districts[worker->place].first_worker;
  g_autoptr (GError) error = NULL;

  if (iris_place_is_bound (place) && !iris_place_bind_current_thread (place, index, &error))
    g_warning ("iris: worker %u runs unbound: %s", worker->index, error->message);
}

static void
districts_add_stats (IrisCrew *crew, IrisStats *stats)
{
  IrisDistricts *self = crew->owner;

  for (guint i = 0; i < self->n_districts; i++)
    {
      guint64 hinted = iris_counter_get (&self->districts[i].hinted);
      guint64 stolen_out = iris_counter_get (&self->districts[i].stolen_out);
      guint64 kept_apart = iris_counter_get (&self->districts[i].footprint.kept_apart);

      stats->places[i].hinted += hinted;
      stats->places[i].stolen_out += stolen_out;
      stats->total.hinted += hinted;
      stats->total.stolen_out += stolen_out;
      stats->places[i].kept_apart += kept_apart;
      stats->total.kept_apart += kept_apart;
    }
}

const IrisCrewOps iris_districts_ops = {
  .push = districts_push,
  .publish = wake_for_own,
  .open = iris_districts_open,
  .take = iris_districts_take,
  .has_work = iris_districts_has_work,
  .expose = districts_expose,
  .bind = districts_bind,
  .get_forks = iris_districts_get_forks,
  .add_stats = districts_add_stats,
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
district_order_victims (IrisDistrict *self,
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

IrisDistricts *
iris_districts_new (IrisPlaces *places, IrisDeal deal, IrisLayout layout)
{
  const IrisStealRules rules = IRIS_STEAL_RULES_DEFAULT;

  return iris_districts_new_full (places, deal, layout, &rules);
}

IrisDistricts *
iris_districts_new_full (IrisPlaces *places,
                         IrisDeal deal,
                         IrisLayout layout,
                         const IrisStealRules *rules)
{
  guint n = iris_places_get_n_places (places);
  IrisDistricts *self = aligned_alloc (IRIS_CACHE_PAIR, sizeof *self);
  guint first_worker = 0;

  if (self == NULL)
    g_error ("iris: out of memory for a scheduler");
  memset (self, 0, sizeof *self);
  self->places = g_object_ref (places);
  self->deal = deal;
  self->layout = layout;
  self->rules = *rules;
  self->apart_above = iris_districts_find_cache_share (places);
  self->n_districts = n;
  self->districts = aligned_alloc (IRIS_CACHE_PAIR, n * sizeof *self->districts);
  if (self->districts == NULL)
    g_error ("iris: out of memory for %u places", n);
  memset (self->districts, 0, n * sizeof *self->districts);

  for (guint i = 0; i < n; i++)
    {
      IrisDistrict *district = &self->districts[i];
      gsize link = G_STRUCT_OFFSET (IrisItem, next);
      guint mail_capacity = layout == IRIS_LAYOUT_MAILBOXES ? IRIS_INBOX_CAPACITY : 2;

      if (!iris_ring_core_init (&district->inbox, IRIS_INBOX_CAPACITY, link)
          || !iris_ring_core_init (&district->strict, IRIS_INBOX_CAPACITY, link)
          || !iris_ring_core_init (&district->mail, mail_capacity,
                                   G_STRUCT_OFFSET (IrisEnvelope, mail_next)))
        g_error ("iris: out of memory for the inboxes of place %u", i);
      district->first_worker = first_worker;
      district->n_workers = iris_place_get_n_workers (iris_places_get_place (places, i));
      district->n_deques = layout == IRIS_LAYOUT_SHARED ? 1 : district->n_workers;
      first_worker += district->n_workers;
      district_order_victims (district, places, i, n, rules->order == IRIS_STEAL_ORDER_DISTANCE);
    }

  return self;
}

/* For the layout `shared`: before any worker starts. */
void
iris_districts_share_deques (IrisCrew *crew)
{
  IrisDistricts *self = crew->owner;

  crew->shares_deques = true;
  for (guint i = 0; i < crew->n_workers; i++)
    {
      IrisWorker *worker = &crew->workers[i];

      worker->deque = &crew->workers[self->districts[worker->place].first_worker].own_deque;
    }
}

void
iris_districts_free (gpointer data)
{
  IrisDistricts *self = data;

  for (guint i = 0; i < self->n_districts; i++)
    {
      iris_ring_core_clear (&self->districts[i].inbox);
      iris_ring_core_clear (&self->districts[i].strict);
      iris_ring_core_clear (&self->districts[i].mail);
      g_free (self->districts[i].order);
      g_free (self->districts[i].groups);
    }
  g_object_unref (self->places);
  free (self->districts);
  free (self);
}
