/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Command slots: how many commands run at each place, and the commands that wait for a slot.
 *
 * A running command occupies no worker, so that two long ones do not delay every short item of
 * another service. It does occupy the place's cpus: hence a number of slots per place (limit
 * `commands-per-place`, by default as many as workers).
 *
 * A command needs a slot before it comes to a gate. If its home has none free, it gets one of the
 * nearest place that has, unless it is strict; else it waits here, at no cost to items of other
 * services. A slot that is given back goes to the next command at that place, else to one at the
 * nearest place with waiting commands that are not strict. The order is that of the fair queue
 * (irisd-fair-queue.c): by priority with aging, and among clients one command each. So no slot is
 * free while a command waits that may have it.
 *
 * Other threads give slots back, but only a job's gateway touches a waiting job: a message tells it
 * that the job has a slot, and it sends the job to the gate of the slot's place. The start of the
 * program passes the gate, all that a worker does for it; then the job's cost is given back
 * (irisd-dispatch.c). Between the grant of a slot and the message's arrival a job cannot be
 * withdrawn.
 *
 * A command that is to be kept apart, and that no hint places, takes the free slot of the place
 * whose running commands declare the least memory.
 *
 * A drained place's slots are only for the items that were queued there before.
 *
 * One lock guards all of it; making a process costs a hundred times the work under it.
 */
#include "daemon/exec/command/irisd-command-slots.h"

#include "daemon/exec/irisd-job.h"
#include "daemon/exec/irisd-place-control.h"

#include <pthread.h>

typedef struct
{
  guint limit;
  guint used;
  guint64 declared;       /* footprints of the commands that use them */
  IrisdFairQueue waiting; /* all of this home */
  IrisdFairQueue loose;   /* those of them that are not strict */
  guint *nearest;         /* the other places, nearest first */
} Place;

struct _IrisdCommandSlots
{
  pthread_mutex_t lock; /* a POSIX one, because ThreadSanitizer knows those */
  IrisdCore *core;
  Place *places;
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
  const gint64 aging_us = (gint64) core->config->limits.aging_ms * 1000;
  for (guint id = 0; id < core->n_places; id++)
    {
      guint workers = iris_place_get_n_workers (core->infos[id].place);
      guint64 limit = core->config->limits.commands_per_place;
      self->places[id].limit = limit > 0 ? (guint) limit : MAX (workers, 1);
      self->places[id].nearest = sort_others (core, id);
      irisd_fair_queue_init (&self->places[id].waiting, aging_us);
      irisd_fair_queue_init (&self->places[id].loose, aging_us);
    }
  return self;
}

void
irisd_command_slots_free (IrisdCommandSlots *self)
{
  if (self == NULL)
    return;
  for (guint id = 0; id < self->core->n_places; id++)
    {
      g_free (self->places[id].nearest);
      irisd_fair_queue_clear (&self->places[id].waiting);
      irisd_fair_queue_clear (&self->places[id].loose);
    }
  g_free (self->places);
  pthread_mutex_destroy (&self->lock);
  g_free (self);
}

/* Whether a job may have a slot of a place. */
static gboolean
may_run_at (IrisdCommandSlots *self, const IrisdJob *job, guint place)
{
  return job->home == (gint) place
         || !irisd_place_control_is_drained (self->core->place_control, (gint) place);
}

static void
give_slot (IrisdCommandSlots *self, IrisdJob *job, guint place)
{
  self->places[place].declared += iris_item_get_footprint (&job->item);
  job->slot = (gint) place;
}

static gboolean
take_slot (IrisdCommandSlots *self, IrisdJob *job, guint place)
{
  if (self->places[place].used >= self->places[place].limit || !may_run_at (self, job, place))
    return FALSE;
  self->places[place].used++;
  give_slot (self, job, place);
  return TRUE;
}

static gboolean
find_slot_apart (IrisdCommandSlots *self, IrisdJob *job)
{
  const guint n = self->core->n_places;
  const Place *best = NULL;
  for (guint i = 0; i < n; i++)
    {
      const guint id = ((guint) job->home + i) % n;
      const Place *place = &self->places[id];
      if (place->used < place->limit && may_run_at (self, job, id)
          && (best == NULL || place->declared < best->declared))
        best = place;
    }
  return best != NULL && take_slot (self, job, (guint) (best - self->places));
}

static gboolean
find_slot (IrisdCommandSlots *self, IrisdJob *job)
{
  const guint home = (guint) job->home;
  if (job->apart)
    return find_slot_apart (self, job);
  if (take_slot (self, job, home))
    return TRUE;
  for (guint i = 0; !job->strict && i + 1 < self->core->n_places; i++)
    if (take_slot (self, job, self->places[home].nearest[i]))
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

/* Each turn costs all that a client may spend in one. */
static void
queue (Place *home, IrisdJob *job, gint64 since_us)
{
  if (job->turn == NULL)
    job->turn = g_new0 (IrisdCommandTurn, 1);
  IrisdCommandTurn *turn = job->turn;
  turn->job = job;
  turn->here.cost = turn->loose.cost = IRISD_FAIR_QUANTUM;
  turn->here.priority = turn->loose.priority = job->fair.priority;
  turn->here.since_us = turn->loose.since_us = since_us;
  irisd_fair_queue_push (&home->waiting, &turn->here, job->client);
  if (!job->strict)
    irisd_fair_queue_push (&home->loose, &turn->loose, job->client);
}

/* @job is about to go to a gate, and may have a slot; it has waited since @since_us, by the
 * monotonic clock. Returns whether it has a slot, to be given back by irisd_command_slots_leave();
 * else it waits, and a message comes when it has one. */
gboolean
irisd_command_slots_enter (IrisdCommandSlots *self, IrisdJob *job, gint64 since_us)
{
  if (job->slot >= 0)
    return TRUE;
  pthread_mutex_lock (&self->lock);
  gboolean entered = find_slot (self, job);
  if (entered)
    count_move (self, job->home, job->slot);
  else
    queue (&self->places[job->home], job, since_us);
  pthread_mutex_unlock (&self->lock);
  return entered;
}

/* Returns whether it waited. */
static gboolean
remove_turn (Place *home, IrisdCommandTurn *turn)
{
  irisd_fair_queue_remove (&home->loose, &turn->loose);
  return irisd_fair_queue_remove (&home->waiting, &turn->here);
}

/* @job waits for a slot, or has been given one. Returns whether it still waited, and does no
 * longer; else its message is on the way. */
gboolean
irisd_command_slots_withdraw (IrisdCommandSlots *self, IrisdJob *job)
{
  pthread_mutex_lock (&self->lock);
  gboolean waited = remove_turn (&self->places[job->home], job->turn);
  pthread_mutex_unlock (&self->lock);
  return waited;
}

static IrisdJob *
job_of (IrisdFairEntry *entry, gsize offset)
{
  return ((IrisdCommandTurn *) (void *) ((char *) entry - offset))->job;
}

/* The next command at a place; commands that were queued there may always run there. */
static IrisdJob *
pop_own (Place *place)
{
  IrisdFairEntry *entry = irisd_fair_queue_pop (&place->waiting);
  if (entry == NULL)
    return NULL;
  IrisdJob *job = job_of (entry, G_STRUCT_OFFSET (IrisdCommandTurn, here));
  irisd_fair_queue_remove (&place->loose, &job->turn->loose);
  return job;
}

static IrisdJob *
pop_loose (Place *place)
{
  IrisdFairEntry *entry = irisd_fair_queue_pop (&place->loose);
  if (entry == NULL)
    return NULL;
  IrisdJob *job = job_of (entry, G_STRUCT_OFFSET (IrisdCommandTurn, loose));
  irisd_fair_queue_remove (&place->waiting, &job->turn->here);
  return job;
}

static IrisdJob *
next_for (IrisdCommandSlots *self, guint place)
{
  IrisdJob *job = pop_own (&self->places[place]);
  if (job != NULL || irisd_place_control_is_drained (self->core->place_control, (gint) place))
    return job;
  for (guint i = 0; job == NULL && i + 1 < self->core->n_places; i++)
    job = pop_loose (&self->places[self->places[place].nearest[i]]);
  return job;
}

/* Gives a slot to the next command. */
static gboolean
give_to_next (IrisdCommandSlots *self, gint slot)
{
  IrisdJob *next = next_for (self, (guint) slot);
  if (next == NULL)
    return FALSE;
  give_slot (self, next, (guint) slot);
  count_move (self, next->home, slot);
  next->beside.kind = IRISD_MESSAGE_SLOT;
  irisd_mailbox_post (next->mailbox, &next->beside);
  return TRUE;
}

/* Gives the slot of @job, if it has one, back or to the next command. */
void
irisd_command_slots_leave (IrisdCommandSlots *self, IrisdJob *job)
{
  gint slot = job->slot;
  if (slot < 0)
    return;
  job->slot = -1;
  pthread_mutex_lock (&self->lock);
  self->places[slot].declared -= iris_item_get_footprint (&job->item);
  if (!give_to_next (self, slot))
    self->places[slot].used--;
  pthread_mutex_unlock (&self->lock);
}

/* @place is no longer drained: gives its slots to commands that wait elsewhere. */
void
irisd_command_slots_refill (IrisdCommandSlots *self, guint place)
{
  Place *it = &self->places[place];
  pthread_mutex_lock (&self->lock);
  while (it->used < it->limit && give_to_next (self, (gint) place))
    it->used++;
  pthread_mutex_unlock (&self->lock);
}

guint64
irisd_command_slots_count_waiting (IrisdCommandSlots *self, guint place)
{
  pthread_mutex_lock (&self->lock);
  guint64 n = self->places[place].waiting.length;
  pthread_mutex_unlock (&self->lock);
  return n;
}
