/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Presence: quotas, and the spares. The design is in iris-presence-private.h.
 */
#include "iris/sched/iris-presence-private.h"

#include <stdlib.h>

void
iris_presence_init (IrisCrew *crew, const guint *workers_per_place)
{
  guint first_worker = 0;

  crew->max_spares = IRIS_DEFAULT_MAX_SPARES;
  crew->presence = g_new0 (IrisCrewPlace, crew->n_places);
  for (guint i = 0; i < crew->n_places; i++)
    {
      IrisCrewPlace *place = &crew->presence[i];

      place->first_worker = first_worker;
      place->n_workers = place->n_wanted = workers_per_place[i];
      first_worker += workers_per_place[i];
    }
}

void
iris_presence_clear (IrisCrew *crew)
{
  guint n = atomic_load_explicit (&crew->n_spares, memory_order_relaxed);

  for (guint i = 0; i < n; i++)
    {
      iris_worker_clear (crew->spares[i]);
      free (crew->spares[i]);
    }
  g_free (crew->spares);
  g_free (crew->presence);
}

/* Before the crew starts. */
void
iris_presence_set_max_spares (IrisCrew *crew, guint max_spares)
{
  crew->max_spares = max_spares;
}

/* Between two items: waits while the place has too many workers. False when the worker is to end.
 */
bool
iris_worker_leave (IrisWorker *self)
{
  IrisCrew *crew = self->crew;
  bool goes_on;

  if (iris_lot_get_surplus (&crew->lot, self->place) == 0 || self->parker.searching)
    return true;
  if (crew->ops->expose != NULL)
    crew->ops->expose (crew, self);
  goes_on = iris_lot_leave (&crew->lot, &self->parker);
  /* A worker that was brought back is a searcher; one that does not park does not search either. */
  if (crew->ops->wait != NULL)
    iris_lot_end_search (&crew->lot, &self->parker);

  return goes_on;
}

static guint
place_get_present (const IrisCrewPlace *place)
{
  return place->n_wanted > place->n_held ? place->n_wanted - place->n_held : 1;
}

/* A spare of @place that has no thread: a new one, or one that could not be started before. Under
 * the lock, as the rest up to presence_apply(). */
static IrisWorker *
presence_get_unstarted (IrisCrew *crew, guint place)
{
  guint n = atomic_load_explicit (&crew->n_spares, memory_order_relaxed);
  IrisWorker *worker;

  for (guint i = 0; i < n; i++)
    if (crew->spares[i]->place == place && !crew->spares[i]->has_thread)
      return crew->spares[i];

  /* No more are made than the quota asks for beyond those that are in, and all are in or out. */
  g_assert (crew->presence[place].n_spares < crew->max_spares);
  if (crew->spares == NULL)
    crew->spares = g_new (IrisWorker *, (gsize) crew->n_places * crew->max_spares);
  worker = aligned_alloc (IRIS_CACHE_PAIR, sizeof *worker);
  if (worker == NULL)
    g_error ("iris: out of memory for a spare worker");
  iris_worker_init (worker, crew, crew->n_workers + n, place);
  if (crew->shares_deques)
    worker->deque = crew->workers[crew->presence[place].first_worker].deque;
  crew->spares[n] = worker;
  crew->presence[place].n_spares++;
  /* Release: whoever counts it sees it whole. */
  atomic_store_explicit (&crew->n_spares, n + 1, memory_order_release);

  return worker;
}

static bool
presence_start_spare (IrisCrew *crew, guint place)
{
  IrisWorker *worker = presence_get_unstarted (crew, place);
  g_autofree char *name = g_strdup_printf ("iris-%u.%u", place, worker->index);
  g_autoptr (GError) error = NULL;

  worker->thread = g_thread_try_new (name, iris_worker_main, worker, &error);
  worker->has_thread = worker->thread != NULL;
  if (!worker->has_thread)
    g_warning ("iris: no spare worker for place %u: %s", place, error->message);

  return worker->has_thread;
}

/* Tells the lot how many are to be in, and sees to it that they are. */
static void
presence_apply (IrisCrew *crew, guint at)
{
  IrisCrewPlace *place = &crew->presence[at];
  guint quota = place_get_present (place) + MIN (place->n_blocking, crew->max_spares);
  bool may_grow = atomic_load_explicit (&crew->started, memory_order_relaxed)
                  && (iris_crew_current (crew) != NULL
                      || !atomic_load_explicit (&crew->closed, memory_order_relaxed));
  guint n_back, n_missing;

  n_missing = iris_lot_set_quota (&crew->lot, at, quota, may_grow, &n_back);
  crew->counts.came_back += n_back;
  for (; n_missing > 0; n_missing--)
    if (presence_start_spare (crew, at))
      {
        crew->counts.spares_started++;
      }
    else
      {
        crew->counts.spares_refused++;
        iris_lot_give_up (&crew->lot, at);
      }
  if (crew->ops->nudge != NULL && iris_lot_get_surplus (&crew->lot, at) > 0)
    crew->ops->nudge (crew, iris_lot_get_surplus (&crew->lot, at));
}

/* A worker of @place begins to block, or ends after @blocked_us. */
void
iris_presence_note_blocking (IrisCrew *crew, guint at, bool begins, gint64 blocked_us)
{
  IrisCrewPlace *place = &crew->presence[at];
  guint64 came_back;

  pthread_mutex_lock (&crew->lock);
  came_back = crew->counts.came_back;
  if (begins)
    {
      crew->counts.blocking_sections++;
      if (++place->n_blocking > crew->max_spares)
        crew->counts.spares_refused++;
    }
  else
    {
      place->n_blocking--;
      crew->counts.blocking_ns += (guint64) blocked_us * 1000;
    }
  presence_apply (crew, at);
  if (begins)
    crew->counts.spares_reused += crew->counts.came_back - came_back;
  pthread_mutex_unlock (&crew->lock);
}

static void
presence_set_place (IrisCrew *crew, guint at, guint n_wanted)
{
  IrisCrewPlace *place = &crew->presence[at];

  n_wanted = CLAMP (n_wanted, 1, place->n_workers);
  if (n_wanted == place->n_wanted)
    return;
  place->n_wanted = n_wanted;
  presence_apply (crew, at);
}

void
iris_presence_set_wanted_at (IrisCrew *crew, guint place, guint n_wanted)
{
  pthread_mutex_lock (&crew->lock);
  presence_set_place (crew, place, n_wanted);
  pthread_mutex_unlock (&crew->lock);
}

/* Deals @n to the places in proportion, at least one to each; what the division leaves, or lacks,
 * is given to, or taken from, one place after the other. */
static void
presence_deal (IrisCrew *crew, guint n)
{
  guint64 n_dealt = 0;

  for (guint i = 0; i < crew->n_places; i++)
    {
      guint64 share = (guint64) n * crew->presence[i].n_workers / crew->n_workers;

      crew->presence[i].share = (guint) MAX (share, 1);
      n_dealt += crew->presence[i].share;
    }
  while (n_dealt != n)
    for (guint i = 0; i < crew->n_places && n_dealt != n; i++)
      {
        IrisCrewPlace *place = &crew->presence[i];

        if (n_dealt < n && place->share < place->n_workers)
          {
            place->share++;
            n_dealt++;
          }
        else if (n_dealt > n && place->share > 1)
          {
            place->share--;
            n_dealt--;
          }
      }
}

void
iris_presence_set_wanted (IrisCrew *crew, guint n_wanted)
{
  pthread_mutex_lock (&crew->lock);
  presence_deal (crew, CLAMP (n_wanted, crew->n_places, crew->n_workers));
  for (guint i = 0; i < crew->n_places; i++)
    presence_set_place (crew, i, crew->presence[i].share);
  pthread_mutex_unlock (&crew->lock);
}

guint
iris_presence_get_wanted (IrisCrew *crew)
{
  guint n = 0;

  pthread_mutex_lock (&crew->lock);
  for (guint i = 0; i < crew->n_places; i++)
    n += crew->presence[i].n_wanted;
  pthread_mutex_unlock (&crew->lock);

  return n;
}

/* Where most are left, and where most were taken. Under the lock, like the four behind them. */
static IrisCrewPlace *
presence_find_fullest (IrisCrew *crew)
{
  IrisCrewPlace *best = &crew->presence[0];

  for (guint i = 1; i < crew->n_places; i++)
    if (place_get_present (&crew->presence[i]) > place_get_present (best))
      best = &crew->presence[i];

  return best;
}

static IrisCrewPlace *
presence_find_most_held (IrisCrew *crew)
{
  IrisCrewPlace *best = &crew->presence[0];

  for (guint i = 1; i < crew->n_places; i++)
    if (crew->presence[i].n_held > best->n_held)
      best = &crew->presence[i];

  return best;
}

/* Whether some place has more than one worker. */
bool
iris_presence_may_hold (IrisCrew *crew)
{
  return place_get_present (presence_find_fullest (crew)) > 1;
}

/* Whether iris_presence_hold_one() has taken workers out that are not back. */
bool
iris_presence_holds (IrisCrew *crew)
{
  return presence_find_most_held (crew)->n_held > 0;
}

bool
iris_presence_hold_one (IrisCrew *crew)
{
  IrisCrewPlace *place = presence_find_fullest (crew);

  if (place_get_present (place) <= 1)
    return false;
  place->n_held++;
  presence_apply (crew, (guint) (place - crew->presence));

  return true;
}

bool
iris_presence_unhold_one (IrisCrew *crew)
{
  IrisCrewPlace *place = presence_find_most_held (crew);

  if (place->n_held == 0)
    return false;
  place->n_held--;
  presence_apply (crew, (guint) (place - crew->presence));

  return true;
}

void
iris_presence_add_stats (IrisCrew *crew, IrisPresence *presence)
{
  guint n_made;

  pthread_mutex_lock (&crew->lock);
  *presence = crew->counts;
  n_made = iris_crew_count_workers (crew);
  presence->n_spares = n_made - crew->n_workers;
  for (guint i = 0; i < crew->n_places; i++)
    presence->n_blocking += crew->presence[i].n_blocking;

  pthread_mutex_lock (&crew->lot.lock);
  presence->n_active = atomic_load_explicit (&crew->lot.n_in, memory_order_relaxed);
  presence->went_out = crew->lot.n_went_out;
  pthread_mutex_unlock (&crew->lot.lock);

  presence->n_active = MIN (presence->n_active, n_made);
  presence->n_out = n_made - presence->n_active;
  pthread_mutex_unlock (&crew->lock);
}
