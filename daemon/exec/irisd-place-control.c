/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Which places take items, and how many of their workers take part.
 *
 * How many take part is the scheduler's business (iris_scheduler_set_n_active_at()), which leaves
 * at least one in at each place. So a drained place has one worker left, and that one would steal
 * from the others. When the place has nothing of its own any more, that worker is given a rest: an
 * item of ours, strictly for that place, which sleeps until it is woken. It is woken before the
 * worker is needed: when an item comes to the place's gate that was accepted earlier (a delay that
 * is over, a next try), when the place is refilled, and when irisd ends.
 *
 * That no item is left behind a rest: whoever brings a job enters it at the gate, under the gate's
 * lock, then looks at `n_drained`; whoever lays the worker to rest has set `n_drained`, then looks
 * at the gate, under its lock. If the look at the gate comes first, the lock hands the number over
 * to whoever enters, who then wakes the place; otherwise the gate is seen not to be empty, and
 * there is no rest. Waking and laying to rest are under the lock here. A rest that the scheduler
 * has not begun yet when it is woken ends as soon as it begins.
 *
 * An irisd that was started with --paused has closed the gate of each place. Refilling a place
 * opens its gate. A paused place takes items, drained or not: the two are told apart because a
 * drained one also runs what it has.
 *
 * The lock is a POSIX one because ThreadSanitizer knows those.
 */
#include "daemon/exec/irisd-place-control.h"

typedef enum
{
  REST_NONE,
  REST_BEGUN, /* the scheduler or a worker has it */
  REST_OVER,  /* the same, and it ends when the worker looks */
} Rest;

struct _IrisdControlledPlace
{
  IrisdPlaceControl *place_control;
  gboolean drained;
  guint n_workers; /* that it was made with */
  guint wanted;
  Rest rest;
  pthread_cond_t woken;
  IrisItem item;
};

/**
 * irisd_place_control_new:
 * @core: what is shared, with its scheduler
 *
 * Returns: (transfer full): all places take items, and all workers take part
 */
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

/**
 * irisd_place_control_free:
 * @self: (transfer full) (nullable): a staff whose scheduler was shut down
 */
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

/* Lays the last worker of a drained place to rest, if there is nothing for it to do. */
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

/* Tells the scheduler what is wanted of a place now. */
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
                 "there is no place %d: this irisd has the places 0 to %u", place,
                 core->n_places - 1);
  else if (!core->placed)
    g_set_error (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BAD_ARGUMENT,
                 "the scheduler “%s” knows no places, so its workers belong to none: start irisd "
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
               "place %d is the only one that takes items: refill another one first", place);
  return FALSE;
}

/**
 * irisd_place_control_drain:
 * @self: the staff
 * @place: a place
 * @drained: whether it is to take no items, or to take some again
 * @changed: (out): 1, or 0 if that was so already
 * @error: return location for a #GError of the domain %IRIS_WIRE_ERROR
 *
 * Returns: whether it is so now
 */
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

/**
 * irisd_place_control_resume:
 * @self: the staff
 * @place: a number that may be that of a place
 *
 * Opens the gate of a place that is paused. The caller has to let the entries that wait there
 * through.
 *
 * Returns: whether it was closed
 */
gboolean
irisd_place_control_resume (IrisdPlaceControl *self, gint place)
{
  if (place < 0 || (guint) place >= self->core->n_places
      || !irisd_gate_open (&self->core->gates[place]))
    return FALSE;
  atomic_fetch_sub_explicit (&self->n_paused, 1, memory_order_acq_rel);
  return TRUE;
}

/**
 * irisd_place_control_set_workers:
 * @self: the staff
 * @place: a place
 * @n: how many of its workers are to take part, from 1
 * @changed: (out): 1, or 0 if it were so many already
 * @error: return location for a #GError of the domain %IRIS_WIRE_ERROR
 *
 * Returns: whether so many are to take part now, or will when the place is refilled
 */
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
      g_set_error (
          error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_TOO_LARGE,
          "place %d was made with %u workers, and there cannot be %u while irisd runs: start "
          "it with as many --workers as may be wanted; those that take no part only sleep",
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

/**
 * irisd_place_control_get_workers:
 * @self: the staff
 * @place: a place
 *
 * Returns: how many of its workers are to take part; of a place that is drained or paused none
 */
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

/**
 * irisd_place_control_choose_other:
 * @self: the staff
 * @place: a place that may be drained
 *
 * Returns: that place, or the nearest one that takes items
 */
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

/**
 * irisd_place_control_wake_place:
 * @self: the staff
 * @place: a place to whose gate a job has come
 */
void
irisd_place_control_wake_place (IrisdPlaceControl *self, gint place)
{
  pthread_mutex_lock (&self->lock);
  wake (&self->places[place]);
  pthread_mutex_unlock (&self->lock);
}

/**
 * irisd_place_control_settle_all:
 * @self: the staff
 *
 * Lays the workers of drained places to rest that have nothing to do any more.
 */
void
irisd_place_control_settle_all (IrisdPlaceControl *self)
{
  pthread_mutex_lock (&self->lock);
  for (guint id = 0; id < self->core->n_places; id++)
    lay_to_rest (self, id);
  pthread_mutex_unlock (&self->lock);
}

/**
 * irisd_place_control_close:
 * @self: the staff
 *
 * Wakes everybody, because irisd ends; nobody rests from now on.
 */
void
irisd_place_control_close (IrisdPlaceControl *self)
{
  pthread_mutex_lock (&self->lock);
  self->closed = TRUE;
  for (guint id = 0; id < self->core->n_places; id++)
    wake (&self->places[id]);
  pthread_mutex_unlock (&self->lock);
}
