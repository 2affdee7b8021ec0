/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * How many commands run at each place, and those that wait for their turn.
 *
 * A running command occupies no worker, so that two long ones do not keep every short item of
 * another service waiting. Its place's cpus it does occupy: hence a number of commands per place
 * (limit `commands-per-place`, as many as workers unless configured), which is what the workers
 * themselves were before.
 *
 * A worker that has an item for which its place has no slot tries the places from the nearest one
 * on, unless the item is strict. If none has a slot, the item waits here, still queued as far as
 * anybody who cancels is concerned, and the worker goes on. Whoever gives a slot back gives it to
 * the item that waits longest at that place, else to the one that waits longest at the nearest
 * place that has some which are not strict, and queues that item again, strictly to the slot's
 * place. So a slot is never free while an item waits that may have it, and no item waits behind
 * another of its place and kind.
 *
 * A drained place's slots are only for the items that were queued there before.
 *
 * One lock keeps all of it; making a process costs a hundred times what is done under it. An item
 * is queued again under it, so that once irisd_command_slots_close() has had the lock nobody queues
 * any more and the scheduler can be shut down. Queueing calls nothing of ours.
 */
#include "irisd-command-slots.h"

#include "irisd-job.h"
#include "irisd-staff.h"

#include <pthread.h>

typedef struct
{
  guint limit;
  guint used;
  GQueue strict; /* of IrisdJob, by their wait_link */
  GQueue loose;
  guint *nearest; /* the other places, the nearest first */
} Place;

struct _IrisdCommandSlots
{
  pthread_mutex_t lock; /* a POSIX one, because ThreadSanitizer knows those */
  IrisdCore *core;
  Place *places;
  guint64 next_ticket;
  gboolean closed;
};

typedef struct
{
  IrisPlaces *places;
  guint from;
} Distance;

static int
compare_distances (gconstpointer a, gconstpointer b, gpointer user_data)
{
  const Distance *distance = user_data;
  const guint left = *(const guint *) a, right = *(const guint *) b;
  const guint to_left = iris_places_get_distance (distance->places, distance->from, left);
  const guint to_right = iris_places_get_distance (distance->places, distance->from, right);
  if (to_left != to_right)
    return to_left < to_right ? -1 : 1;
  return left < right ? -1 : left > right;
}

static guint *
sort_others (IrisdCore *core, guint place)
{
  guint n = 0, *others = g_new (guint, core->n_places);
  for (guint other = 0; other < core->n_places; other++)
    if (other != place)
      others[n++] = other;
  Distance distance = { .places = core->places, .from = place };
  g_qsort_with_data (others, (gint) n, sizeof *others, compare_distances, &distance);
  return others;
}

IrisdCommandSlots *
irisd_command_slots_new (IrisdCore *core)
{
  IrisdCommandSlots *self = g_new0 (IrisdCommandSlots, 1);
  pthread_mutex_init (&self->lock, NULL);
  self->core = core;
  self->places = g_new0 (Place, core->n_places);
  for (guint id = 0; id < core->n_places; id++)
    {
      guint workers = iris_place_get_n_workers (core->infos[id].place);
      guint64 limit = core->config->limits.commands_per_place;
      self->places[id].limit = limit > 0 ? (guint) limit : MAX (workers, 1);
      self->places[id].nearest = sort_others (core, id);
    }
  return self;
}

void
irisd_command_slots_free (IrisdCommandSlots *self)
{
  if (self == NULL)
    return;
  for (guint id = 0; id < self->core->n_places; id++)
    g_free (self->places[id].nearest);
  g_free (self->places);
  pthread_mutex_destroy (&self->lock);
  g_free (self);
}

/* Whether a job may have a slot of a place. */
static gboolean
may_run_at (IrisdCommandSlots *self, const IrisdJob *job, guint place)
{
  return job->home == (gint) place || !irisd_staff_is_drained (self->core->staff, (gint) place);
}

static gboolean
take_slot (IrisdCommandSlots *self, IrisdJob *job, guint place)
{
  if (self->places[place].used >= self->places[place].limit || !may_run_at (self, job, place))
    return FALSE;
  self->places[place].used++;
  job->slot = (gint) place;
  return TRUE;
}

static gboolean
find_slot (IrisdCommandSlots *self, IrisdJob *job, guint place)
{
  if (take_slot (self, job, place))
    return TRUE;
  for (guint i = 0; !job->strict && i + 1 < self->core->n_places; i++)
    if (take_slot (self, job, self->places[place].nearest[i]))
      return TRUE;
  return FALSE;
}

static void
count_move (IrisdCommandSlots *self, gint from, gint to)
{
  if (from == to)
    return;
  atomic_fetch_add_explicit (&self->core->counters[to].moved_in, 1, memory_order_relaxed);
  atomic_fetch_add_explicit (&self->core->counters[from].moved_out, 1, memory_order_relaxed);
}

/**
 * irisd_command_slots_enter:
 * @self: the slots
 * @job: a queued job that a worker has
 * @place: the worker's place
 *
 * Returns: whether the job has a slot now, to be given back by irisd_command_slots_leave(); if not,
 *   it waits, and the caller must not touch it any more
 */
gboolean
irisd_command_slots_enter (IrisdCommandSlots *self, IrisdJob *job, gint place)
{
  if (job->slot >= 0)
    return TRUE;
  pthread_mutex_lock (&self->lock);
  gboolean entered = find_slot (self, job, (guint) place) || self->closed;
  if (!entered)
    {
      Place *here = &self->places[place];
      job->wait_place = place;
      job->ticket = self->next_ticket++;
      g_queue_push_tail_link (job->strict ? &here->strict : &here->loose, &job->wait_link);
    }
  pthread_mutex_unlock (&self->lock);
  if (entered && job->slot >= 0)
    count_move (self, place, job->slot);
  return entered;
}

/* Whoever came first to that place. */
static GQueue *
longer_waiting (Place *place)
{
  IrisdJob *strict = g_queue_peek_head (&place->strict);
  IrisdJob *loose = g_queue_peek_head (&place->loose);
  return loose == NULL || (strict != NULL && strict->ticket < loose->ticket) ? &place->strict
                                                                             : &place->loose;
}

/* The first of a queue that may run at a place. */
static IrisdJob *
pop_for (IrisdCommandSlots *self, GQueue *queue, guint place)
{
  GList *link = queue->head;
  while (link != NULL && !may_run_at (self, link->data, place))
    link = link->next;
  if (link == NULL)
    return NULL;
  g_queue_unlink (queue, link);
  return link->data;
}

static IrisdJob *
pop (GQueue *queue)
{
  GList *link = g_queue_pop_head_link (queue);
  return link != NULL ? link->data : NULL;
}

static IrisdJob *
next_for (IrisdCommandSlots *self, guint place)
{
  IrisdJob *job = pop_for (self, longer_waiting (&self->places[place]), place);
  if (job == NULL)
    job = pop_for (self, &self->places[place].strict, place);
  if (job == NULL)
    job = pop_for (self, &self->places[place].loose, place);
  for (guint i = 0; job == NULL && i + 1 < self->core->n_places; i++)
    job = pop_for (self, &self->places[self->places[place].nearest[i]].loose, place);
  return job;
}

/* Gives a slot to whoever is next. */
static gboolean
give_to_next (IrisdCommandSlots *self, gint slot)
{
  IrisdJob *next = next_for (self, (guint) slot);
  if (next == NULL)
    return FALSE;
  next->slot = slot;
  count_move (self, next->wait_place, slot);
  irisd_job_requeue_at (next, slot);
  return TRUE;
}

/**
 * irisd_command_slots_leave:
 * @self: the slots
 * @job: a job that may have one
 *
 * Gives the job's slot back, or on.
 */
void
irisd_command_slots_leave (IrisdCommandSlots *self, IrisdJob *job)
{
  gint slot = job->slot;
  if (slot < 0)
    return;
  job->slot = -1;
  pthread_mutex_lock (&self->lock);
  if (!give_to_next (self, slot))
    self->places[slot].used--;
  pthread_mutex_unlock (&self->lock);
}

/**
 * irisd_command_slots_refill:
 * @self: the slots
 * @place: a place that is drained no longer
 *
 * Gives its slots to those that wait elsewhere.
 */
void
irisd_command_slots_refill (IrisdCommandSlots *self, guint place)
{
  Place *it = &self->places[place];
  pthread_mutex_lock (&self->lock);
  while (!self->closed && it->used < it->limit && give_to_next (self, (gint) place))
    it->used++;
  pthread_mutex_unlock (&self->lock);
}

/**
 * irisd_command_slots_close:
 * @self: the slots
 *
 * Ends what waits, when irisd stops; nothing waits from now on.
 */
void
irisd_command_slots_close (IrisdCommandSlots *self)
{
  GQueue all = G_QUEUE_INIT;
  IrisdJob *job;
  pthread_mutex_lock (&self->lock);
  self->closed = TRUE;
  for (guint id = 0; id < self->core->n_places; id++)
    while ((job = pop (longer_waiting (&self->places[id]))) != NULL)
      g_queue_push_tail_link (&all, &job->wait_link);
  pthread_mutex_unlock (&self->lock);
  while ((job = pop (&all)) != NULL)
    irisd_job_abandon (job);
}
