/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The crew: threads that run the items of one scheduler. The design is in iris-crew-private.h.
 */
#include "iris/sched/iris-crew-private.h"

#include "iris/sched/iris-item-private.h"
#include "iris/sched/iris-stats-private.h"

#include <sched.h>
#include <string.h>

__thread IrisWorker *iris_worker_mine;

static guint
delay_bucket (gint64 delay_ns)
{
  guint bucket = delay_ns > 1 ? g_bit_storage ((gulong) delay_ns) - 1 : 0;

  return MIN (bucket, IRIS_STATS_DELAY_BUCKETS - 1);
}

static void
worker_run (IrisWorker *self, IrisItem *item)
{
  if (iris_unlikely (item->queued_ns != 0))
    {
      gint64 delay_ns = g_get_monotonic_time () * 1000 - item->queued_ns;

      iris_counter_add (&self->counters.delay[delay_bucket (delay_ns)], 1);
    }
  if (iris_unlikely (atomic_load_explicit (&self->crew->cancelling, memory_order_relaxed)))
    {
      iris_counter_add (&self->counters.cancelled, 1);
      iris_item_cancel (item);
      return;
    }
  iris_counter_add (&self->counters.executed, 1);
  iris_item_run (item);
}

/* Leaves searching with work in hand; if that leaves nobody searching and there is more work, one
 * more worker is woken. */
static void
worker_end_search (IrisWorker *self)
{
  IrisCrew *crew = self->crew;
  IrisWork work;

  if (!iris_lot_end_search (&crew->lot, &self->parker))
    return;
  work = crew->ops->has_work (crew, self);
  if (work & IRIS_WORK_STRICT)
    iris_lot_wake (&crew->lot, self->place, true);
  if (work & IRIS_WORK_SHARED)
    iris_lot_wake (&crew->lot, self->place, false);
}

/* Looks everywhere for a bounded number of rounds. */
static IrisItem *
worker_search (IrisWorker *self)
{
  IrisCrew *crew = self->crew;

  if (!iris_lot_begin_search (&crew->lot, &self->parker))
    return crew->ops->take (crew, self);

  for (guint round = 0; round < IRIS_SEARCH_ROUNDS; round++)
    {
      IrisItem *item = crew->ops->take (crew, self);

      if (item != NULL)
        return item;
      for (guint i = 0; i < 8 + round; i++)
        iris_cpu_relax ();
    }

  return NULL;
}

/* The next item; waits for one without using the processor. NULL when the crew is at its end. */
static IrisItem *
worker_next (IrisWorker *self)
{
  IrisCrew *crew = self->crew;
  IrisItem *item = crew->ops->take (crew, self);

  while (item == NULL)
    {
      item = worker_search (self);
      if (item != NULL)
        break;

      iris_lot_prepare (&crew->lot, &self->parker);
      if (crew->ops->has_work (crew, self) != IRIS_WORK_NONE)
        {
          iris_lot_cancel (&crew->lot, &self->parker);
          /* What is there may be half-pushed by a thread that waits for this processor. */
          sched_yield ();
          continue;
        }
      iris_counter_add (&self->counters.parks, 1);
      if (!iris_lot_sleep (&crew->lot, &self->parker))
        return NULL;
      iris_counter_add (&self->counters.wakes, 1);
    }
  worker_end_search (self);

  return item;
}

static gpointer
worker_main (gpointer data)
{
  IrisWorker *self = data;
  IrisCrew *crew = self->crew;
  IrisItem *(*next) (IrisCrew *, IrisWorker *) = crew->ops->wait;
  IrisItem *item;

  iris_worker_mine = self;
  if (crew->ops->bind != NULL)
    crew->ops->bind (crew, self);
  while ((item = next != NULL ? next (crew, self) : worker_next (self)) != NULL)
    worker_run (self, item);
  iris_worker_mine = NULL;

  return NULL;
}

static void
worker_init (IrisWorker *self, IrisCrew *crew, guint index, guint place, IrisDequeKind kind)
{
  memset (self, 0, sizeof *self);
  self->crew = crew;
  self->index = index;
  self->place = place;
  iris_random_seed (&self->random, index + 1);
  iris_parker_init (&self->parker, place);
  self->deque = &self->own_deque;
  if (!iris_deque_core_init (self->deque, kind, &crew->arrays))
    g_error ("iris: out of memory for the queue of worker %u", index);
}

/* @workers_per_place has @n_places entries of at least 1. Takes @owner. */
IrisCrew *
iris_crew_new (const IrisCrewOps *ops,
               gpointer owner,
               GDestroyNotify free_owner,
               guint n_places,
               const guint *workers_per_place,
               IrisDequeKind kind)
{
  IrisCrew *self = aligned_alloc (IRIS_CACHE_PAIR, sizeof *self);
  guint index = 0;

  if (self == NULL)
    g_error ("iris: out of memory for a scheduler");
  memset (self, 0, sizeof *self);
  self->ops = ops;
  self->owner = owner;
  self->free_owner = free_owner;
  self->n_places = n_places;
  for (guint place = 0; place < n_places; place++)
    self->n_workers += workers_per_place[place];
  pthread_mutex_init (&self->lock, NULL);
  pthread_mutex_init (&self->joining, NULL);
  iris_array_pool_init (&self->arrays);

  self->workers = aligned_alloc (IRIS_CACHE_PAIR, self->n_workers * sizeof *self->workers);
  if (self->workers == NULL || !iris_lot_init (&self->lot, n_places, self->n_workers))
    g_error ("iris: out of memory for %u workers", self->n_workers);
  for (guint place = 0; place < n_places; place++)
    for (guint i = 0; i < workers_per_place[place]; i++, index++)
      worker_init (&self->workers[index], self, index, place, kind);

  return self;
}

/* The crew must have been shut down. */
void
iris_crew_free (IrisCrew *self)
{
  for (guint i = 0; i < self->n_workers; i++)
    {
      IrisForkStack *forks = atomic_load_explicit (&self->workers[i].forks, memory_order_relaxed);

      iris_deque_core_clear (&self->workers[i].own_deque);
      if (forks != NULL)
        iris_fork_stack_clear (forks);
      free (forks);
    }
  iris_array_pool_clear (&self->arrays);
  iris_lot_clear (&self->lot);
  pthread_mutex_destroy (&self->lock);
  pthread_mutex_destroy (&self->joining);
  if (self->free_owner != NULL)
    self->free_owner (self->owner);
  free (self->workers);
  free (self);
}

void
iris_crew_start (IrisCrew *self)
{
  pthread_mutex_lock (&self->lock);
  if (!atomic_load_explicit (&self->started, memory_order_relaxed)
      && !atomic_load_explicit (&self->closed, memory_order_relaxed))
    {
      for (guint i = 0; i < self->n_workers; i++)
        {
          g_autofree char *name = g_strdup_printf ("iris-%u.%u", self->workers[i].place, i);

          self->workers[i].thread = g_thread_new (name, worker_main, &self->workers[i]);
        }
      atomic_store_explicit (&self->started, true, memory_order_release);
    }
  pthread_mutex_unlock (&self->lock);
}

/* Settles what is left in the sources of a crew without workers. */
static void
crew_sweep (IrisCrew *self)
{
  IrisItem *item;

  pthread_mutex_lock (&self->lock);
  while ((item = self->ops->take (self, NULL)) != NULL)
    {
      atomic_fetch_add_explicit (&self->cancelled_outside, 1, memory_order_relaxed);
      pthread_mutex_unlock (&self->lock);
      iris_item_cancel (item);
      pthread_mutex_lock (&self->lock);
    }
  pthread_mutex_unlock (&self->lock);
}

/* An item from a thread that is not a worker of this crew. One that is refused counts as queued and
 * cancelled, so that the counts add up. */
void
iris_crew_queue_outside (IrisCrew *self, IrisItem *item)
{
  uint64_t n = atomic_fetch_add_explicit (&self->queued_outside, 1, memory_order_relaxed);

  if (iris_unlikely (atomic_load_explicit (&self->closed, memory_order_acquire)))
    {
      atomic_fetch_add_explicit (&self->cancelled_outside, 1, memory_order_relaxed);
      iris_item_cancel (item);
      return;
    }
  if (iris_unlikely (!atomic_load_explicit (&self->started, memory_order_acquire)))
    iris_crew_start (self);

  item->queued_ns = n % IRIS_DELAY_SAMPLE == 0 ? g_get_monotonic_time () * 1000 : 0;
  self->ops->push (self, NULL, item);

  iris_fence_light ();
  if (iris_unlikely (atomic_load_explicit (&self->ended, memory_order_relaxed)))
    crew_sweep (self);
}

/* Closes the crew to items from outside and lets the workers run towards their end. */
static void
crew_close (IrisCrew *self)
{
  bool was_closed;

  pthread_mutex_lock (&self->lock);
  was_closed = atomic_exchange_explicit (&self->closed, true, memory_order_acq_rel);
  pthread_mutex_unlock (&self->lock);
  if (was_closed)
    return;

  if (self->ops->close != NULL)
    self->ops->close (self);
  else
    iris_lot_close (&self->lot);
}

/* Waits for the workers to end. Any number of threads may call it; each returns when all is
 * settled. A call that cancels makes one that drains hurry. */
void
iris_crew_shutdown (IrisCrew *self, IrisShutdown how)
{
  if (how == IRIS_SHUTDOWN_CANCEL)
    atomic_store_explicit (&self->cancelling, true, memory_order_relaxed);
  crew_close (self);

  pthread_mutex_lock (&self->joining);
  for (guint i = 0; i < self->n_workers; i++)
    g_clear_pointer (&self->workers[i].thread, g_thread_join);
  pthread_mutex_unlock (&self->joining);

  atomic_store_explicit (&self->ended, true, memory_order_relaxed);
  iris_fence_heavy ();
  crew_sweep (self);
}

static void
worker_add_counters (IrisWorker *self, IrisCounters *sum)
{
  IrisWorkerCounters *c = &self->counters;

  sum->executed += iris_counter_get (&c->executed);
  sum->queued += iris_counter_get (&c->queued);
  sum->hinted += iris_counter_get (&c->hinted);
  sum->stolen_in += iris_counter_get (&c->stolen_in);
  sum->stolen_inside += iris_counter_get (&c->stolen_inside);
  sum->steals += iris_counter_get (&c->steals);
  sum->steal_tries += iris_counter_get (&c->steal_tries);
  sum->steal_fails += iris_counter_get (&c->steal_fails);
  sum->parks += iris_counter_get (&c->parks);
  sum->wakes += iris_counter_get (&c->wakes);
  sum->cancelled += iris_counter_get (&c->cancelled);
}

/* A snapshot; the workers go on meanwhile, so the counts are each right but of slightly different
 * moments. */
IrisStats *
iris_crew_get_stats (IrisCrew *self)
{
  IrisStats *stats = iris_stats_new (self->n_places, self->n_workers);

  for (guint i = 0; i < self->n_workers; i++)
    {
      IrisWorker *worker = &self->workers[i];

      stats->worker_place[i] = (gint) worker->place;
      worker_add_counters (worker, &stats->workers[i]);
      worker_add_counters (worker, &stats->places[worker->place]);
      worker_add_counters (worker, &stats->total);
      for (guint j = 0; j < IRIS_STATS_DELAY_BUCKETS; j++)
        stats->delay[j] += iris_counter_get (&worker->counters.delay[j]);
    }
  stats->total.queued += iris_counter_get (&self->queued_outside);
  stats->total.cancelled += iris_counter_get (&self->cancelled_outside);
  if (self->ops->add_stats != NULL)
    self->ops->add_stats (self, stats);

  return stats;
}
