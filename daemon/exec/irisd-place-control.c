/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Place control: which places take items, and how many of their workers are active.
 *
 * The scheduler decides which workers are active (iris_scheduler_set_n_active_at()), and leaves at
 * least one at each place. So a drained place has one worker left, which would steal from the
 * others. When the place has no item of its own any more, that worker is parked by a rest: an item
 * strictly for that place, which sleeps until it is woken. It is woken before the worker is needed:
 * when an item accepted earlier comes to the place's gate (after a delay or for a retry), when the
 * place is resumed, and when irisd ends.
 *
 * No item is left waiting for a parked worker: a gateway that brings a job enters it at the gate,
 * under the gate's lock, then reads `n_drained`; a thread that parks the worker has set
 * `n_drained`, then reads the gate, under its lock. If the gate is read first, the lock makes
 * `n_drained` visible to the gateway, which then wakes the place; otherwise the gate is not empty,
 * and the worker is not parked. Waking and parking are under the lock here. A rest that the
 * scheduler has not begun when it is woken ends as soon as it begins.
 *
 * An irisd started with --paused has closed the gate of each place. Refilling a place opens its
 * gate. A paused place takes items, drained or not; a drained one that is not paused also runs the
 * items that it has.
 *
 * The lock is a POSIX mutex because ThreadSanitizer knows those.
 */
#include "daemon/exec/irisd-place-control.h"

typedef enum
{
  REST_NONE,
  REST_BEGUN, /* the scheduler or a worker has it */
  REST_OVER,  /* the same, and the worker ends it when it looks */
} Rest;

struct _IrisdControlledPlace
{
  IrisdPlaceControl *place_control;
  gboolean drained;
  guint n_workers; /* at the start */
  guint wanted;
  Rest rest;
  pthread_cond_t woken;
  IrisItem item;
};

/* Returns place control at which all places take items and all workers are active. */
IrisdPlaceControl *
irisd_place_control_new (IrisdCore *core)
{
  IrisdPlaceControl *self = g_new0 (IrisdPlaceControl, 1);
  pthread_mutex_init (&self->lock, NULL);
  self->core = core;
  self->places = g_new0 (IrisdControlledPlace, core->n_places);
  for (guint id = 0; id < core->n_places; id++)
    {
      IrisdControlledPlace *place = &self->places[id];
      place->place_control = self;
      place->n_workers = place->wanted = iris_place_get_n_workers (core->infos[id].place);
      pthread_cond_init (&place->woken, NULL);
      if (core->config->paused)
        irisd_gate_close (&core->gates[id]);
    }
  atomic_init (&self->n_paused, core->config->paused ? core->n_places : 0);
  return self;
}

/* The scheduler must be shut down. */
void
irisd_place_control_free (IrisdPlaceControl *self)
{
  if (self == NULL)
    return;
  for (guint id = 0; id < self->core->n_places; id++)
    pthread_cond_destroy (&self->places[id].woken);
  pthread_mutex_destroy (&self->lock);
  g_free (self->places);
  g_free (self);
}

/* On the worker. */
static void
rest (gpointer data)
{
  IrisdControlledPlace *place = data;
  IrisdPlaceControl *self = place->place_control;
  pthread_mutex_lock (&self->lock);
  while (place->rest == REST_BEGUN)
    pthread_cond_wait (&place->woken, &self->lock);
  place->rest = REST_NONE;
  pthread_mutex_unlock (&self->lock);
}

/* The scheduler ends. */
static void
drop_rest (gpointer data)
{
  IrisdControlledPlace *place = data;
  pthread_mutex_lock (&place->place_control->lock);
  place->rest = REST_NONE;
  pthread_mutex_unlock (&place->place_control->lock);
}

static void
wake (IrisdControlledPlace *place)
{
  if (place->rest != REST_BEGUN)
    return;
  place->rest = REST_OVER;
  pthread_cond_signal (&place->woken);
}

/* Parks the last worker of a drained place, if it has no item. */
static void
lay_to_rest (IrisdPlaceControl *self, guint id)
{
  IrisdControlledPlace *place = &self->places[id];
  if (!place->drained || self->closed || place->rest == REST_BEGUN
      || irisd_gate_get_backlog (&self->core->gates[id]) > 0)
    return;
  if (place->rest == REST_NONE)
    {
      iris_item_init (&place->item, rest, place, drop_rest);
      iris_item_set_place (&place->item, (gint) id, IRIS_ITEM_STRICT);
      iris_scheduler_queue_item (self->core->scheduler, &place->item);
    }
  place->rest = REST_BEGUN;
}

/* Tells the scheduler how many workers of a place are active now. */
static void
apply (IrisdPlaceControl *self, guint id)
{
  IrisdControlledPlace *place = &self->places[id];
  iris_scheduler_set_n_active_at (self->core->scheduler, (gint) id,
                                  place->drained ? 1 : place->wanted);
}

static gboolean
check_place (IrisdPlaceControl *self, gint place, GError **error)
{
  const IrisdCore *core = self->core;
  if (place < 0 || (guint) place >= core->n_places)
    g_set_error (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_NO_SUCH_PLACE,
                 "there is no place %d; this irisd has the places 0 to %u", place,
                 core->n_places - 1);
  else if (!core->placed)
    g_set_error (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BAD_ARGUMENT,
                 "the scheduler “%s” knows no places, so its workers belong to none; start irisd "
                 "with --scheduler places",
                 irisd_config_scheduler_name (core->config->scheduler));
  else
    return TRUE;
  return FALSE;
}

static gboolean
check_others (IrisdPlaceControl *self, gint place, GError **error)
{
  guint n_drained = atomic_load_explicit (&self->n_drained, memory_order_relaxed);
  if (n_drained + 1 < self->core->n_places)
    return TRUE;
  g_set_error (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BAD_ARGUMENT,
               "cannot drain place %d: it is the only one that takes items; resume another one "
               "first (irisctl drain PLACE --resume)",
               place);
  return FALSE;
}

/* Makes @place take no items, or take items again. @changed is 1, or 0 if it did so already.
 * Returns whether it does so now. */
gboolean
irisd_place_control_drain (IrisdPlaceControl *self,
                           gint place,
                           gboolean drained,
                           guint *changed,
                           GError **error)
{
  gboolean well = TRUE;
  if (!check_place (self, place, error))
    return FALSE;
  IrisdControlledPlace *it = &self->places[place];
  pthread_mutex_lock (&self->lock);
  *changed = (guint) (it->drained != drained);
  if (*changed > 0 && drained)
    well = check_others (self, place, error);
  if (*changed > 0 && well)
    {
      it->drained = drained;
      if (drained)
        atomic_fetch_add_explicit (&self->n_drained, 1, memory_order_release);
      else
        atomic_fetch_sub_explicit (&self->n_drained, 1, memory_order_release);
      apply (self, (guint) place);
      if (drained)
        lay_to_rest (self, (guint) place);
      else
        wake (it);
    }
  pthread_mutex_unlock (&self->lock);
  return well;
}

/* Opens the gate of a paused place. The caller lets the entries that wait there through. Returns
 * whether it was closed. */
gboolean
irisd_place_control_resume (IrisdPlaceControl *self, gint place)
{
  if (place < 0 || (guint) place >= self->core->n_places
      || !irisd_gate_open (&self->core->gates[place]))
    return FALSE;
  atomic_fetch_sub_explicit (&self->n_paused, 1, memory_order_acq_rel);
  return TRUE;
}

/* Sets how many workers of @place are active, from 1. @changed is 1, or 0 if there were as many
 * already. Returns whether as many are active now, or will be when the place is resumed. */
gboolean
irisd_place_control_set_workers (IrisdPlaceControl *self,
                                 gint place,
                                 guint n,
                                 guint *changed,
                                 GError **error)
{
  if (!check_place (self, place, error))
    return FALSE;
  IrisdControlledPlace *it = &self->places[place];
  if (n > it->n_workers)
    {
      g_set_error (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_TOO_LARGE,
                   "place %d has %u workers, and cannot get %u while irisd runs; start "
                   "it with the most --workers that may be wanted; inactive ones only sleep",
                   place, it->n_workers, n);
      return FALSE;
    }
  pthread_mutex_lock (&self->lock);
  *changed = (guint) (it->wanted != n);
  it->wanted = n;
  apply (self, (guint) place);
  pthread_mutex_unlock (&self->lock);
  return TRUE;
}

/* Returns how many of its workers are active; 0 at a drained or paused place. */
guint
irisd_place_control_get_workers (IrisdPlaceControl *self, gint place)
{
  pthread_mutex_lock (&self->lock);
  const IrisdControlledPlace *it = &self->places[place];
  guint n = it->drained ? 0 : it->wanted;
  pthread_mutex_unlock (&self->lock);
  return irisd_gate_is_closed (&self->core->gates[place]) ? 0 : n;
}

gboolean
irisd_place_control_place_is_drained (IrisdPlaceControl *self, gint place)
{
  pthread_mutex_lock (&self->lock);
  gboolean drained = self->places[place].drained;
  pthread_mutex_unlock (&self->lock);
  return drained;
}

/* Returns @place, or the nearest one that takes items if it is drained. */
gint
irisd_place_control_choose_other (IrisdPlaceControl *self, gint place)
{
  guint best = (guint) place;
  pthread_mutex_lock (&self->lock);
  for (guint id = 0; self->places[place].drained && id < self->core->n_places; id++)
    if (!self->places[id].drained
        && (best == (guint) place
            || iris_places_get_distance (self->core->places, (guint) place, id)
                   < iris_places_get_distance (self->core->places, (guint) place, best)))
      best = id;
  pthread_mutex_unlock (&self->lock);
  return (gint) best;
}

/* A job has come to the gate of @place. */
void
irisd_place_control_wake_place (IrisdPlaceControl *self, gint place)
{
  pthread_mutex_lock (&self->lock);
  wake (&self->places[place]);
  pthread_mutex_unlock (&self->lock);
}

/* Parks the workers of drained places that have no item any more. */
void
irisd_place_control_settle_all (IrisdPlaceControl *self)
{
  pthread_mutex_lock (&self->lock);
  for (guint id = 0; id < self->core->n_places; id++)
    lay_to_rest (self, id);
  pthread_mutex_unlock (&self->lock);
}

/* Wakes all workers, because irisd ends; none is parked from now on. */
void
irisd_place_control_close (IrisdPlaceControl *self)
{
  pthread_mutex_lock (&self->lock);
  self->closed = TRUE;
  for (guint id = 0; id < self->core->n_places; id++)
    wake (&self->places[id]);
  pthread_mutex_unlock (&self->lock);
}
