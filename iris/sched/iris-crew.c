/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The crew: threads that run the items of one scheduler. The design is in iris-crew-private.h.
 */
#include "iris/sched/iris-crew-private.h"

#include "iris/sched/iris-item-private.h"

#include <sched.h>
#include <string.h>

__thread IrisWorker *iris_worker_mine;

/* Or nobody would ever be impatient. */
G_STATIC_ASSERT (IRIS_SEARCH_PATIENCE <= IRIS_SEARCH_ROUNDS);

static void
count_time (_Atomic uint64_t *histogram, gint64 ns)
{
  guint bucket = ns > 1 ? g_bit_storage ((gulong) ns) - 1 : 0;

  iris_counter_add (&histogram[MIN (bucket, IRIS_STATS_DELAY_BUCKETS - 1)], 1);
}

/* The mean leans on the latest eight; no time that the clock can tell counts as a nanosecond. */
static void
note_run_time (_Atomic uint64_t *mean, gint64 ns)
{
  gint64 old = (gint64) iris_counter_get (mean);

  ns = MAX (ns, 1);
  atomic_store_explicit (mean, (uint64_t) (old == 0 ? ns : old + (ns - old) / 8),
                         memory_order_relaxed);
}

/* Out of line: it is rare. */
static __attribute__ ((noinline)) void
worker_run_sampled (IrisWorker *self, IrisItem *item)
{
  gint64 begun_ns = iris_clock_ns (), run_ns;

  count_time (self->counters.delay, begun_ns - item->queued_ns);
  iris_trace_begin (item, self->index);
  iris_item_run (item);
  iris_trace_end (self->index);
  run_ns = iris_clock_ns () - begun_ns;
  count_time (self->counters.run, run_ns);
  note_run_time (&self->counters.mean_run_ns, run_ns);
  iris_trace_sample (begun_ns, self->index);
}

static void
worker_run (IrisWorker *self, IrisItem *item)
{
  if (iris_unlikely (atomic_load_explicit (&self->crew->cancelling, memory_order_relaxed)))
    {
      iris_counter_add (&self->counters.cancelled, 1);
      iris_item_cancel (item);
      return;
    }
  iris_counter_add (&self->counters.executed, 1);
  if (iris_unlikely (item->queued_ns != 0))
    {
      worker_run_sampled (self, item);
      return;
    }
  iris_trace_begin (item, self->index);
  iris_item_run (item);
  iris_trace_end (self->index);
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
  if (work & (IRIS_WORK_SHARED | IRIS_WORK_REFUSED))
    iris_lot_wake (&crew->lot, self->place, false);
}

/* Looks everywhere for a bounded number of rounds. */
static IrisItem *
worker_search (IrisWorker *self)
{
  IrisCrew *crew = self->crew;
  guint most = CLAMP (IRIS_SEARCH_LOOKS / crew->n_workers, 1, IRIS_SEARCH_ROUNDS);
  guint n_rounds = self->doze_ns == 0 ? most : 1;
  IrisItem *item = NULL;

  if (!iris_lot_begin_search (&crew->lot, &self->parker))
    return crew->ops->take (crew, self);

  for (guint round = 0; round < n_rounds; round++)
    {
      self->impatient = round % IRIS_SEARCH_PATIENCE == IRIS_SEARCH_PATIENCE - 1
                        || round == n_rounds - 1;
      item = crew->ops->take (crew, self);
      if (item != NULL)
        {
          self->doze_ns = 0;
          break;
        }
      for (guint i = 0; i < 8 + round; i++)
        iris_cpu_relax ();
    }
  self->impatient = false;

  return item;
}

/* Sleeps until there may be work. False when the crew is at its end. */
static bool
worker_park (IrisWorker *self)
{
  IrisWorkerCounters *counters = &self->counters;
  gint64 now = iris_clock_ns (), parked_at = now;
  bool more;

  iris_counter_add (&counters->parks, 1);
  iris_stopwatch_stop (&counters->searching_ns, now);
  iris_stopwatch_start (&counters->parked_ns, now);
  iris_trace_park (self->index);

  more = iris_lot_sleep (&self->crew->lot, &self->parker);

  now = iris_clock_ns ();
  iris_stopwatch_stop (&counters->parked_ns, now);
  iris_stopwatch_start (&counters->searching_ns, now);
  if (more)
    iris_counter_add (&counters->wakes, 1);
  iris_trace_wake (parked_at, self->index);

  return more;
}

/* Leaves to others for a while what it sees, but will not have yet. */
static void
worker_doze (IrisWorker *self)
{
  IrisWorkerCounters *counters = &self->counters;
  guint64 ns = CLAMP (2 * self->doze_ns, IRIS_DOZE_MIN_NS, IRIS_DOZE_MAX_NS);
  gint64 now = iris_clock_ns ();

  self->doze_ns = ns;
  iris_counter_add (&counters->dozes, 1);
  iris_stopwatch_stop (&counters->searching_ns, now);
  iris_stopwatch_start (&counters->parked_ns, now);
  iris_lot_doze (&self->crew->lot, &self->parker, ns);
  now = iris_clock_ns ();
  iris_stopwatch_stop (&counters->parked_ns, now);
  iris_stopwatch_start (&counters->searching_ns, now);
}

/* The next item of a worker that found none; waits for it without using the processor. NULL when
 * the crew is at its end. */
static __attribute__ ((noinline)) IrisItem *
worker_wait (IrisWorker *self)
{
  IrisCrew *crew = self->crew;
  IrisItem *item;
  IrisWork work;

  iris_worker_begin_search (self);
  while ((item = worker_search (self)) == NULL)
    {
      iris_lot_prepare (&crew->lot, &self->parker);
      work = crew->ops->has_work (crew, self);
      if (work == IRIS_WORK_REFUSED)
        {
          worker_doze (self);
        }
      else if (work != IRIS_WORK_NONE)
        {
          iris_lot_cancel (&crew->lot, &self->parker);
          self->doze_ns = 0; /* that calls for a whole search */
          /* What is there may be half-pushed by a thread that waits for this processor. */
          sched_yield ();
        }
      else
        {
          self->doze_ns = 0;
          if (!worker_park (self))
            break;
        }
    }
  if (item != NULL)
    worker_end_search (self);
  iris_worker_end_search (self);

  return item;
}

static inline IrisItem *
worker_next (IrisWorker *self)
{
  IrisItem *item = self->crew->ops->take (self->crew, self);

  return iris_likely (item != NULL) ? item : worker_wait (self);
}

static gpointer
worker_main (gpointer data)
{
  IrisWorker *self = data;
  IrisCrew *crew = self->crew;
  IrisItem *(*next) (IrisCrew *, IrisWorker *) = crew->ops->wait;
  IrisItem *item;

  iris_worker_mine = self;
  iris_stopwatch_start (&self->counters.alive_ns, iris_clock_ns ());
  if (crew->ops->bind != NULL)
    crew->ops->bind (crew, self);
  while ((item = next != NULL ? next (crew, self) : worker_next (self)) != NULL)
    {
      worker_run (self, item);
      /* In a child process, which the item forked and did not end. */
      if (iris_unlikely (iris_crew_is_foreign (crew)))
        return NULL;
    }
  iris_stopwatch_stop (&self->counters.alive_ns, iris_clock_ns ());
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
  self->unsampled = crew->unsampled;
  iris_random_seed (&self->random, index + 1);
  iris_parker_init (&self->parker, place);
  self->deque = &self->own_deque;
  if (!iris_deque_core_init (self->deque, kind, &crew->arrays))
    g_error ("iris: out of memory for the queue of worker %u", index);
}

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
IrisCrew *
iris_crew_new (const IrisCrewOps *ops,
               gpointer owner,
               GDestroyNotify free_owner,
               guint n_places,
               const guint *workers_per_place,
               IrisDequeKind kind)
{
  IrisCrew *self = aligned_alloc (IRIS_CACHE_PAIR, sizeof *self);
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
  self->made_ns = iris_clock_ns ();
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

/* The crew must have been shut down. A foreign one is left as it is: nobody knows in what state its
 * threads left it, and it goes with the process. */
void
iris_crew_free (IrisCrew *self)
{
  if (iris_crew_is_foreign (self))
    return;
  for (guint i = 0; i < self->n_workers; i++)
    iris_deque_core_clear (&self->workers[i].own_deque);
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
  /* Before anything that a fork could catch half done. */
  atomic_store_explicit (&self->generation, iris_fork_generation, memory_order_relaxed);
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

  if (iris_unlikely (iris_crew_is_foreign (self)))
    {
      g_critical (
          "iris: this scheduler's workers run in the process that forked this one: the item "
          "is cancelled; make a scheduler in the child, or fork before the first item");
      atomic_fetch_add_explicit (&self->cancelled_outside, 1, memory_order_relaxed);
      iris_item_cancel (item);
      return;
    }
  if (iris_unlikely (atomic_load_explicit (&self->closed, memory_order_acquire)))
    {
      atomic_fetch_add_explicit (&self->cancelled_outside, 1, memory_order_relaxed);
      iris_item_cancel (item);
      return;
    }
  if (iris_unlikely (!atomic_load_explicit (&self->started, memory_order_acquire)))
    iris_crew_start (self);

  item->queued_ns = (n & self->unsampled) == 0 ? iris_clock_ns () : 0;
  iris_trace_queued (item);
  self->ops->push (self, NULL, item);

  iris_fence_light ();
  /* Acquire: what the workers left in their deques. */
  if (iris_unlikely (atomic_load_explicit (&self->ended, memory_order_acquire)))
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
  if (iris_crew_is_foreign (self))
    return;
  if (how == IRIS_SHUTDOWN_CANCEL)
    atomic_store_explicit (&self->cancelling, true, memory_order_relaxed);
  crew_close (self);

  pthread_mutex_lock (&self->joining);
  for (guint i = 0; i < self->n_workers; i++)
    g_clear_pointer (&self->workers[i].thread, g_thread_join);
  pthread_mutex_unlock (&self->joining);

  atomic_store_explicit (&self->ended, true, memory_order_release);
  iris_fence_heavy ();
  crew_sweep (self);
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
      worker_read_counters (worker, &stats->workers[i]);
      iris_counters_join (&stats->places[worker->place], &stats->workers[i]);
      iris_counters_join (&stats->total, &stats->workers[i]);
      for (guint j = 0; j < IRIS_STATS_DELAY_BUCKETS; j++)
        {
          stats->delay[j] += iris_counter_get (&worker->counters.delay[j]);
          stats->run[j] += iris_counter_get (&worker->counters.run[j]);
        }
    }
  stats->from_ns = self->made_ns;
  stats->to_ns = iris_clock_ns ();
  stats->total.queued += iris_counter_get (&self->queued_outside);
  stats->total.cancelled += iris_counter_get (&self->cancelled_outside);
  if (self->ops->add_stats != NULL)
    self->ops->add_stats (self, stats);

  return stats;
}
