/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Active workers: quotas, and the spares. The design is in iris-active-workers-private.h.
 */
#include "iris/sched/pool/iris-active-workers-private.h"

#include <stdlib.h>

void
iris_active_workers_init (IrisWorkerPool *pool, const guint *workers_per_place)
{
  guint first_worker = 0;

  pool->max_spares = IRIS_DEFAULT_MAX_SPARES;
  pool->active_workers = g_new0 (IrisWorkerPoolPlace, pool->n_places);
  for (guint i = 0; i < pool->n_places; i++)
    {
      IrisWorkerPoolPlace *place = &pool->active_workers[i];

      place->first_worker = first_worker;
      place->n_workers = place->n_wanted = workers_per_place[i];
      first_worker += workers_per_place[i];
    }
}

void
iris_active_workers_clear (IrisWorkerPool *pool)
{
  guint n = atomic_load_explicit (&pool->n_spares, memory_order_relaxed);

  for (guint i = 0; i < n; i++)
    {
      iris_worker_clear (pool->spares[i]);
      free (pool->spares[i]);
    }
  g_free (pool->spares);
  g_free (pool->active_workers);
}

/* Before the pool starts. */
void
iris_active_workers_set_max_spares (IrisWorkerPool *pool, guint max_spares)
{
  pool->max_spares = max_spares;
}

/* Between two items: waits while the place has too many workers. False when the worker is to end.
 */
bool
iris_worker_leave (IrisWorker *self)
{
  IrisWorkerPool *pool = self->pool;
  bool goes_on;

  if (iris_parking_lot_get_surplus (&pool->parking_lot, self->place) == 0 || self->parker.searching)
    return true;
  if (pool->ops->expose != NULL)
    pool->ops->expose (pool, self);
  goes_on = iris_parking_lot_leave (&pool->parking_lot, &self->parker);
  /* A worker that was brought back is a searcher; one that does not park does not search either. */
  if (pool->ops->wait != NULL)
    iris_parking_lot_end_search (&pool->parking_lot, &self->parker);

  return goes_on;
}

static guint
place_get_present (const IrisWorkerPoolPlace *place)
{
  return place->n_wanted > place->n_held ? place->n_wanted - place->n_held : 1;
}

/* A spare of @place that has no thread: a new one, or one that could not be started before. Under
 * the lock, as the rest up to active_workers_apply(). */
static IrisWorker *
active_workers_get_unstarted (IrisWorkerPool *pool, guint place)
{
  guint n = atomic_load_explicit (&pool->n_spares, memory_order_relaxed);
  IrisWorker *worker;

  for (guint i = 0; i < n; i++)
    if (pool->spares[i]->place == place && !pool->spares[i]->has_thread)
      return pool->spares[i];

  /* No more are made than the quota asks for beyond those that are in, and all are in or out. */
  g_assert (pool->active_workers[place].n_spares < pool->max_spares);
  if (pool->spares == NULL)
    pool->spares = g_new (IrisWorker *, (gsize) pool->n_places * pool->max_spares);
  worker = aligned_alloc (IRIS_CACHE_PAIR, sizeof *worker);
  if (worker == NULL)
    g_error ("iris: out of memory for a spare worker");
  iris_worker_init (worker, pool, pool->n_workers + n, place);
  pool->spares[n] = worker;
  pool->active_workers[place].n_spares++;
  /* Release: a thread that counts it sees it whole. */
  atomic_store_explicit (&pool->n_spares, n + 1, memory_order_release);

  return worker;
}

static bool
active_workers_start_spare (IrisWorkerPool *pool, guint place)
{
  IrisWorker *worker = active_workers_get_unstarted (pool, place);
  g_autofree char *name = g_strdup_printf ("iris-%u.%u", place, worker->index);
  g_autoptr (GError) error = NULL;

  worker->thread = g_thread_try_new (name, iris_worker_main, worker, &error);
  worker->has_thread = worker->thread != NULL;
  if (!worker->has_thread)
    g_warning ("iris: no spare worker for place %u: %s", place, error->message);

  return worker->has_thread;
}

/* Tells the parking lot how many are to be in, and sees to it that they are. */
static void
active_workers_apply (IrisWorkerPool *pool, guint at)
{
  IrisWorkerPoolPlace *place = &pool->active_workers[at];
  guint quota = place_get_present (place) + MIN (place->n_blocking, pool->max_spares);
  bool may_grow = atomic_load_explicit (&pool->started, memory_order_relaxed)
                  && (iris_worker_pool_current (pool) != NULL
                      || !atomic_load_explicit (&pool->closed, memory_order_relaxed));
  guint n_back, n_missing;

  n_missing = iris_parking_lot_set_quota (&pool->parking_lot, at, quota, may_grow, &n_back);
  pool->counts.came_back += n_back;
  for (; n_missing > 0; n_missing--)
    if (active_workers_start_spare (pool, at))
      {
        pool->counts.spares_started++;
      }
    else
      {
        pool->counts.spares_refused++;
        iris_parking_lot_give_up (&pool->parking_lot, at);
      }
  if (pool->ops->nudge != NULL && iris_parking_lot_get_surplus (&pool->parking_lot, at) > 0)
    pool->ops->nudge (pool, iris_parking_lot_get_surplus (&pool->parking_lot, at));
}

/* A worker of @place begins to block, or ends after @blocked_us. */
void
iris_active_workers_note_blocking (IrisWorkerPool *pool, guint at, bool begins, gint64 blocked_us)
{
  IrisWorkerPoolPlace *place = &pool->active_workers[at];
  guint64 came_back;

  pthread_mutex_lock (&pool->lock);
  came_back = pool->counts.came_back;
  if (begins)
    {
      pool->counts.blocking_sections++;
      if (++place->n_blocking > pool->max_spares)
        pool->counts.spares_refused++;
    }
  else
    {
      place->n_blocking--;
      pool->counts.blocking_ns += (guint64) blocked_us * 1000;
    }
  active_workers_apply (pool, at);
  if (begins)
    pool->counts.spares_reused += pool->counts.came_back - came_back;
  pthread_mutex_unlock (&pool->lock);
}

static void
active_workers_set_place (IrisWorkerPool *pool, guint at, guint n_wanted)
{
  IrisWorkerPoolPlace *place = &pool->active_workers[at];

  n_wanted = CLAMP (n_wanted, 1, place->n_workers);
  if (n_wanted == place->n_wanted)
    return;
  place->n_wanted = n_wanted;
  active_workers_apply (pool, at);
}

void
iris_active_workers_set_wanted_at (IrisWorkerPool *pool, guint place, guint n_wanted)
{
  pthread_mutex_lock (&pool->lock);
  active_workers_set_place (pool, place, n_wanted);
  pthread_mutex_unlock (&pool->lock);
}

/* Deals @n to the places in proportion, at least one to each; what the division leaves, or lacks,
 * is given to, or taken from, one place after the other. */
static void
active_workers_deal (IrisWorkerPool *pool, guint n)
{
  guint64 n_dealt = 0;

  for (guint i = 0; i < pool->n_places; i++)
    {
      guint64 share = (guint64) n * pool->active_workers[i].n_workers / pool->n_workers;

      pool->active_workers[i].share = (guint) MAX (share, 1);
      n_dealt += pool->active_workers[i].share;
    }
  while (n_dealt != n)
    for (guint i = 0; i < pool->n_places && n_dealt != n; i++)
      {
        IrisWorkerPoolPlace *place = &pool->active_workers[i];

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
iris_active_workers_set_wanted (IrisWorkerPool *pool, guint n_wanted)
{
  pthread_mutex_lock (&pool->lock);
  active_workers_deal (pool, CLAMP (n_wanted, pool->n_places, pool->n_workers));
  for (guint i = 0; i < pool->n_places; i++)
    active_workers_set_place (pool, i, pool->active_workers[i].share);
  pthread_mutex_unlock (&pool->lock);
}

guint
iris_active_workers_get_wanted (IrisWorkerPool *pool)
{
  guint n = 0;

  pthread_mutex_lock (&pool->lock);
  for (guint i = 0; i < pool->n_places; i++)
    n += pool->active_workers[i].n_wanted;
  pthread_mutex_unlock (&pool->lock);

  return n;
}

/* Where most are left, and where most were taken. Under the lock, like the four behind them. */
static IrisWorkerPoolPlace *
active_workers_find_fullest (IrisWorkerPool *pool)
{
  IrisWorkerPoolPlace *best = &pool->active_workers[0];

  for (guint i = 1; i < pool->n_places; i++)
    if (place_get_present (&pool->active_workers[i]) > place_get_present (best))
      best = &pool->active_workers[i];

  return best;
}

static IrisWorkerPoolPlace *
active_workers_find_most_held (IrisWorkerPool *pool)
{
  IrisWorkerPoolPlace *best = &pool->active_workers[0];

  for (guint i = 1; i < pool->n_places; i++)
    if (pool->active_workers[i].n_held > best->n_held)
      best = &pool->active_workers[i];

  return best;
}

/* Whether some place has more than one worker. */
bool
iris_active_workers_may_hold (IrisWorkerPool *pool)
{
  return place_get_present (active_workers_find_fullest (pool)) > 1;
}

/* Whether iris_active_workers_hold_one() has taken workers out that are not back. */
bool
iris_active_workers_holds (IrisWorkerPool *pool)
{
  return active_workers_find_most_held (pool)->n_held > 0;
}

bool
iris_active_workers_hold_one (IrisWorkerPool *pool)
{
  IrisWorkerPoolPlace *place = active_workers_find_fullest (pool);

  if (place_get_present (place) <= 1)
    return false;
  place->n_held++;
  active_workers_apply (pool, (guint) (place - pool->active_workers));

  return true;
}

bool
iris_active_workers_unhold_one (IrisWorkerPool *pool)
{
  IrisWorkerPoolPlace *place = active_workers_find_most_held (pool);

  if (place->n_held == 0)
    return false;
  place->n_held--;
  active_workers_apply (pool, (guint) (place - pool->active_workers));

  return true;
}

void
iris_active_workers_add_stats (IrisWorkerPool *pool, IrisActiveWorkers *active_workers)
{
  guint n_made;

  pthread_mutex_lock (&pool->lock);
  *active_workers = pool->counts;
  n_made = iris_worker_pool_count_workers (pool);
  active_workers->n_spares = n_made - pool->n_workers;
  for (guint i = 0; i < pool->n_places; i++)
    active_workers->n_blocking += pool->active_workers[i].n_blocking;

  pthread_mutex_lock (&pool->parking_lot.lock);
  active_workers->n_active = atomic_load_explicit (&pool->parking_lot.n_in, memory_order_relaxed);
  active_workers->went_out = pool->parking_lot.n_went_out;
  pthread_mutex_unlock (&pool->parking_lot.lock);

  active_workers->n_active = MIN (active_workers->n_active, n_made);
  active_workers->n_out = n_made - active_workers->n_active;
  pthread_mutex_unlock (&pool->lock);
}
