/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The worker pool: its making, what comes from outside, and its end. The design is in
 * iris-worker-pool-private.h; what its workers do is in iris-worker.c.
 */
#include "iris/sched/pool/iris-worker-pool-private.h"

#include "iris/sched/pool/iris-contention-private.h"
#include "iris/sched/pool/iris-item-private.h"
#include "iris/sched/pool/iris-active-workers-private.h"

#include <string.h>

/* The sweeps that the calling thread is in: a notify may end another pool, or call for the end of
 * this one. */
typedef struct Sweep Sweep;

struct Sweep
{
  IrisWorkerPool *pool;
  Sweep *outer;
};

static __thread Sweep *sweeps_here;

static void
forget_worker (void)
{
  iris_worker_mine = NULL;
}

static void
forget_worker_in_children (void)
{
  if (pthread_atfork (NULL, NULL, forget_worker) != 0)
    g_error ("iris: out of memory for the handlers of fork()");
}

/* @workers_per_place has @n_places entries of at least 1. Takes @owner. */
IrisWorkerPool *
iris_worker_pool_new (const IrisWorkerPoolOps *ops,
                      gpointer owner,
                      GDestroyNotify free_owner,
                      guint n_places,
                      const guint *workers_per_place)
{
  IrisWorkerPool *self = aligned_alloc (IRIS_CACHE_PAIR, sizeof *self);
  static pthread_once_t fork_once = PTHREAD_ONCE_INIT;
  guint index = 0;

  if (self == NULL)
    g_error ("iris: out of memory for a scheduler");
  pthread_once (&fork_once, forget_worker_in_children);
  memset (self, 0, sizeof *self);
  self->ops = ops;
  self->owner = owner;
  self->free_owner = free_owner;
  self->n_places = n_places;
  iris_debug_init ();
  self->unsampled = iris_debug_has (IRIS_DEBUG_EXACT) ? 0 : IRIS_DELAY_SAMPLE - 1;
  atomic_init (&self->unsampled_outside, self->unsampled);
  self->made_ns = iris_clock_ns ();
  for (guint place = 0; place < n_places; place++)
    self->n_workers += workers_per_place[place];
  pthread_mutex_init (&self->lock, NULL);
  pthread_mutex_init (&self->joining, NULL);
  pthread_cond_init (&self->settled, NULL);
  iris_array_pool_init (&self->arrays);
  iris_active_workers_init (self, workers_per_place);

  self->workers = aligned_alloc (IRIS_CACHE_PAIR, self->n_workers * sizeof *self->workers);
  if (self->workers == NULL || !iris_striped_counters_init (&self->queued_outside, 1)
      || !iris_parking_lot_init (&self->parking_lot, n_places, workers_per_place))
    g_error ("iris: out of memory for %u workers", self->n_workers);
  self->parking_lot.tidy = iris_slab_tidy;
  for (guint place = 0; place < n_places; place++)
    for (guint i = 0; i < workers_per_place[place]; i++, index++)
      iris_worker_init (&self->workers[index], self, index, place);

  return self;
}

/* The pool must have been shut down. A foreign one is left as it is: no worker knows in what state
 * its threads left it, and it goes with the process. */
void
iris_worker_pool_free (IrisWorkerPool *self)
{
  if (iris_worker_pool_is_foreign (self))
    return;
  for (guint i = 0; i < self->n_workers; i++)
    iris_worker_clear (&self->workers[i]);
  iris_active_workers_clear (self);
  iris_array_pool_clear (&self->arrays);
  iris_striped_counters_clear (&self->queued_outside);
  iris_parking_lot_clear (&self->parking_lot);
  if (self->contention != NULL)
    iris_contention_free (self->contention);
  if (self->free_trace != NULL)
    self->free_trace (self->trace);
  pthread_cond_destroy (&self->settled);
  pthread_mutex_destroy (&self->lock);
  pthread_mutex_destroy (&self->joining);
  if (self->free_owner != NULL)
    self->free_owner (self->owner);
  free (self->workers);
  free (self);
}

void
iris_worker_pool_start (IrisWorkerPool *self)
{
  /* Before anything that a fork could catch half done. */
  atomic_store_explicit (&self->generation, iris_fork_generation, memory_order_relaxed);
  pthread_mutex_lock (&self->lock);
  if (!atomic_load_explicit (&self->started, memory_order_relaxed)
      && !atomic_load_explicit (&self->closed, memory_order_relaxed))
    {
      for (guint i = 0; i < self->n_workers; i++)
        {
          g_autofree char *name = g_strdup_printf ("iris-%u.%u", self->workers[i].place, i);

          self->workers[i].thread = g_thread_new (name, iris_worker_main, &self->workers[i]);
        }
      if (self->contention != NULL)
        iris_contention_start (self->contention);
      atomic_store_explicit (&self->started, true, memory_order_release);
    }
  pthread_mutex_unlock (&self->lock);
}

/* Settles what is left in the sources of a pool without workers. */
static void
pool_sweep (IrisWorkerPool *self)
{
  Sweep here = { self, sweeps_here };
  IrisItem *item;

  sweeps_here = &here;
  pthread_mutex_lock (&self->lock);
  while ((item = self->ops->take (self, NULL)) != NULL)
    {
      atomic_fetch_add_explicit (&self->cancelled_outside, 1, memory_order_relaxed);
      self->n_settling++;
      pthread_mutex_unlock (&self->lock);
      iris_item_cancel (item);
      pthread_mutex_lock (&self->lock);
      if (--self->n_settling == 0)
        pthread_cond_broadcast (&self->settled);
    }
  pthread_mutex_unlock (&self->lock);
  sweeps_here = here.outer;
}

/* Until no other thread is settling an item. A thread that is called by such a settling does not
 * wait: it would wait for itself, or for another that waits for it. */
static void
pool_wait_until_settled (IrisWorkerPool *self)
{
  for (const Sweep *sweep = sweeps_here; sweep != NULL; sweep = sweep->outer)
    if (sweep->pool == self)
      return;

  pthread_mutex_lock (&self->lock);
  while (self->n_settling > 0)
    pthread_cond_wait (&self->settled, &self->lock);
  pthread_mutex_unlock (&self->lock);
}

/* An item from a thread that is not a worker of this pool, or from one that blocks: it may not look
 * at its own deque for long, so the item goes where all look. One that is refused counts as queued
 * and cancelled, so that the counts add up. */
void
iris_worker_pool_queue_outside (IrisWorkerPool *self, IrisItem *item)
{
  IrisWorker *worker = iris_worker_pool_current (self);
  guint unsampled;
  uint64_t n;

  if (iris_unlikely (iris_worker_pool_is_foreign (self)))
    {
      g_critical (
          "iris: this scheduler's workers run in the process that forked this one: the item "
          "is cancelled; make a scheduler in the child, or fork before the first item");
      atomic_fetch_add_explicit (&self->cancelled_outside, 1, memory_order_relaxed);
      iris_item_cancel (item);
      return;
    }
  if (worker != NULL)
    {
      iris_worker_note_queued (worker, item);
      self->ops->push (self, NULL, item);
      return;
    }

  iris_slab_prefetch (IRIS_SLAB_ITEM);
  n = iris_striped_counters_add (&self->queued_outside, 0);
  if (iris_unlikely (atomic_load_explicit (&self->closed, memory_order_acquire)))
    {
      atomic_fetch_add_explicit (&self->cancelled_outside, 1, memory_order_relaxed);
      iris_item_cancel (item);
      return;
    }
  if (iris_unlikely (!atomic_load_explicit (&self->started, memory_order_acquire)))
    iris_worker_pool_start (self);

  unsampled = atomic_load_explicit (&self->unsampled_outside, memory_order_relaxed);
  item->queued_ns = (n & unsampled) == 0 ? iris_clock_ns () : 0;
  iris_trace_queued (item);
  self->ops->push (self, NULL, item);

  iris_fence_light ();
  /* Acquire: what the workers left in their deques. */
  if (iris_unlikely (atomic_load_explicit (&self->ended, memory_order_acquire)))
    pool_sweep (self);
}

void
iris_item_stamp (IrisItem *item)
{
  item->queued_ns = iris_clock_ns ();
}

/* Before any worker starts, for a pool whose workers have split deques of their own: what they
 * queue without a hint goes there, and need not ask the ops. */
void
iris_worker_pool_set_plain (IrisWorkerPool *self)
{
  self->is_plain = true;
  for (guint i = 0; i < self->n_workers; i++)
    self->workers[i].plain_to = self;
}

/* Whatever is no plain item of a plain worker. */
void
iris_worker_pool_queue_slow (IrisWorkerPool *self, IrisItem *item)
{
  IrisWorker *worker = iris_worker_mine;

  if (iris_likely (worker != NULL && worker->pushes_to == self))
    {
      iris_worker_note_queued (worker, item);
      self->ops->push (self, worker, item);
    }
  else
    iris_worker_pool_queue_outside (self, item);
}

/* Closes the pool to items from outside and lets the workers run towards their end. */
static void
pool_close (IrisWorkerPool *self)
{
  bool was_closed;

  pthread_mutex_lock (&self->lock);
  was_closed = atomic_exchange_explicit (&self->closed, true, memory_order_acq_rel);
  pthread_mutex_unlock (&self->lock);
  if (was_closed)
    return;

  iris_parking_lot_close (&self->parking_lot);
  if (self->ops->close != NULL)
    self->ops->close (self);
}

/* A spare is made by a worker that ends after it, or before the pool is closed, so it is in the
 * list when its turn comes. */
static void
pool_join (IrisWorkerPool *self)
{
  pthread_mutex_lock (&self->joining);
  for (guint i = 0; i < iris_worker_pool_count_workers (self); i++)
    {
      GThread **thread = &iris_worker_pool_get_worker (self, i)->thread, *joined;

      pthread_mutex_lock (&self->lock);
      joined = g_steal_pointer (thread);
      pthread_mutex_unlock (&self->lock);
      if (joined != NULL)
        g_thread_join (joined);
    }
  if (self->contention != NULL)
    iris_contention_stop (self->contention);
  pthread_mutex_unlock (&self->joining);
}

/* Waits for the workers to end. Any number of threads may call it; each returns when all is
 * settled. A call that cancels makes one that drains hurry. */
void
iris_worker_pool_shutdown (IrisWorkerPool *self, IrisShutdown how)
{
  if (iris_worker_pool_is_foreign (self))
    return;
  if (how == IRIS_SHUTDOWN_CANCEL)
    atomic_store_explicit (&self->cancelling, true, memory_order_relaxed);
  pool_close (self);

  pool_join (self);

  atomic_store_explicit (&self->ended, true, memory_order_release);
  iris_fence_heavy ();
  pool_sweep (self);
  pool_wait_until_settled (self);
}

static void
worker_read_counters (IrisWorker *self, IrisCounters *out)
{
  IrisWorkerCounters *c = &self->counters;

#define READ_WORKER(member) out->member = iris_counter_get (&c->member);
#define READ_WATCH(member)  out->member = iris_stopwatch_get (&c->member);
#define READ_OTHER(member)
#define READ(member, from, how) READ_##from (member)
  IRIS_EACH_COUNTER (READ)

  /* Each was read a moment after the one before; what a worker did not live to do is not less
   * than nothing. */
  out->busy_ns = out->alive_ns - MIN (out->alive_ns, out->searching_ns + out->parked_ns);
}

static void
worker_add_steals (IrisWorker *self, IrisStats *stats)
{
  IrisSteals *row = &stats->steals[self->place * stats->n_places];

  for (guint from = 0; from < stats->n_places; from++)
    {
      row[from].steals += iris_counter_get (&self->stolen_from[2 * from]);
      row[from].items += iris_counter_get (&self->stolen_from[2 * from + 1]);
    }
}

/* A snapshot; the workers go on meanwhile, so the counts are each right but of slightly different
 * moments. */
IrisStats *
iris_worker_pool_get_stats (IrisWorkerPool *self)
{
  guint n_workers = iris_worker_pool_count_workers (self);
  IrisStats *stats = iris_stats_new (self->n_places, n_workers);

  for (guint i = 0; i < n_workers; i++)
    {
      IrisWorker *worker = iris_worker_pool_get_worker (self, i);

      stats->worker_place[i] = (gint) worker->place;
      worker_read_counters (worker, &stats->workers[i]);
      iris_counters_join (&stats->places[worker->place], &stats->workers[i]);
      iris_counters_join (&stats->total, &stats->workers[i]);
      worker_add_steals (worker, stats);
      for (guint j = 0; j < IRIS_STATS_DELAY_BUCKETS; j++)
        {
          stats->delay[j] += iris_counter_get (&worker->counters.delay[j]);
          stats->run[j] += iris_counter_get (&worker->counters.run[j]);
        }
    }
  stats->from_ns = self->made_ns;
  stats->to_ns = iris_clock_ns ();
  stats->total.queued += iris_striped_counters_get (&self->queued_outside, 0);
  stats->total.cancelled += iris_counter_get (&self->cancelled_outside);
  if (self->ops->add_stats != NULL)
    self->ops->add_stats (self, stats);
  iris_active_workers_add_stats (self, &stats->active_workers);

  return stats;
}
