/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The crew: threads that run the items of one scheduler. The design is in iris-crew-private.h.
 */
#include "iris/sched/iris-crew-private.h"

#include "iris/sched/iris-contention-private.h"
#include "iris/sched/iris-item-private.h"
#include "iris/sched/iris-presence-private.h"

#include <sched.h>
#include <string.h>
#include <unistd.h>

__thread IrisWorker *iris_worker_mine;

/* Or nobody would ever be impatient. */
G_STATIC_ASSERT (IRIS_SEARCH_PATIENCE <= IRIS_SEARCH_ROUNDS);

/* The sweeps that the calling thread is in: a notify may end another crew, or call for the end of
 * this one. */
typedef struct Sweep Sweep;

struct Sweep
{
  IrisCrew *crew;
  Sweep *outer;
};

static __thread Sweep *sweeps_here;

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
    {
      iris_counter_add (&counters->wakes, 1);
      if (self->crew->contention != NULL)
        iris_contention_rouse (self->crew->contention);
    }
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

/* Any source, without waiting at first. Out of line, so that the way below it is short. */
static __attribute__ ((noinline)) IrisItem *
worker_next (IrisWorker *self)
{
  IrisItem *item = self->crew->ops->take (self->crew, self);

  return iris_likely (item != NULL) ? item : worker_wait (self);
}

/* The newest of its own, if it lies on a split deque; see iris_crew_queue_plain(). */
static inline IrisItem *
worker_next_plain (IrisWorker *self)
{
  IrisCrew *crew = self->crew;
  IrisItem *item;

  if (iris_unlikely (self->picks_left == 0))
    return worker_next (self);
  item = iris_splitqueue_take (&self->own_deque.split);
  if (iris_unlikely (item == NULL))
    return worker_next (self);
  self->picks_left--;
  if (iris_unlikely (item->flags != IRIS_ITEM_NONE))
    {
      item = crew->ops->open (crew, self, item);
      if (item == NULL)
        return worker_wait (self);
    }

  return item;
}

/* The next item, for a worker that may have to go out first. */
static inline IrisItem *
worker_go_on (IrisWorker *self, IrisItem *(*wait) (IrisCrew *, IrisWorker *) )
{
  IrisCrew *crew = self->crew;

  if (iris_unlikely (iris_lot_has_surplus (&crew->lot)))
    {
      if (!iris_worker_leave (self))
        return NULL;
      /* Who came back is a searcher, and must leave searching as one. */
      if (self->parker.searching)
        return worker_wait (self);
    }
  if (iris_likely (self->plain_to != NULL))
    return worker_next_plain (self);

  return wait != NULL ? wait (crew, self) : worker_next (self);
}

gpointer
iris_worker_main (gpointer data)
{
  IrisWorker *self = data;
  IrisCrew *crew = self->crew;
  IrisItem *(*wait) (IrisCrew *, IrisWorker *) = crew->ops->wait;
  const unsigned generation = iris_fork_generation;
  IrisItem *item;

  iris_worker_mine = self;
  atomic_store_explicit (&self->tid, (gint) gettid (), memory_order_relaxed);
  iris_stopwatch_start (&self->counters.alive_ns, iris_clock_ns ());
  if (crew->ops->bind != NULL)
    crew->ops->bind (crew, self);
  while ((item = worker_go_on (self, wait)) != NULL)
    {
      worker_run (self, item);
      /* In a child process, which the item forked and did not end. */
      if (iris_unlikely (iris_fork_generation != generation))
        return NULL;
    }
  iris_stopwatch_stop (&self->counters.alive_ns, iris_clock_ns ());
  iris_worker_mine = NULL;

  return NULL;
}

void
iris_worker_init (IrisWorker *self, IrisCrew *crew, guint index, guint place)
{
  memset (self, 0, sizeof *self);
  self->crew = self->pushes_to = crew;
  self->plain_to = crew->is_plain ? crew : NULL;
  self->index = index;
  self->place = place;
  self->unsampled = crew->unsampled;
  iris_random_seed (&self->random, index + 1);
  iris_parker_init (&self->parker, place);
  self->deque = &self->own_deque;
  if (!iris_deque_core_init (self->deque, crew->kind, &crew->arrays))
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

void
iris_worker_clear (IrisWorker *self)
{
  IrisForkStack *forks = atomic_load_explicit (&self->forks, memory_order_relaxed);

  iris_deque_core_clear (&self->own_deque);
  if (forks != NULL)
    iris_fork_stack_clear (forks);
  free (forks);
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
  self->kind = kind;
  pthread_mutex_init (&self->lock, NULL);
  pthread_mutex_init (&self->joining, NULL);
  pthread_cond_init (&self->settled, NULL);
  iris_array_pool_init (&self->arrays);
  iris_presence_init (self, workers_per_place);

  self->workers = aligned_alloc (IRIS_CACHE_PAIR, self->n_workers * sizeof *self->workers);
  if (self->workers == NULL || !iris_lot_init (&self->lot, n_places, workers_per_place))
    g_error ("iris: out of memory for %u workers", self->n_workers);
  for (guint place = 0; place < n_places; place++)
    for (guint i = 0; i < workers_per_place[place]; i++, index++)
      iris_worker_init (&self->workers[index], self, index, place);

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
    iris_worker_clear (&self->workers[i]);
  iris_presence_clear (self);
  iris_array_pool_clear (&self->arrays);
  iris_lot_clear (&self->lot);
  if (self->contention != NULL)
    iris_contention_free (self->contention);
  pthread_cond_destroy (&self->settled);
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

          self->workers[i].thread = g_thread_new (name, iris_worker_main, &self->workers[i]);
        }
      if (self->contention != NULL)
        iris_contention_start (self->contention);
      atomic_store_explicit (&self->started, true, memory_order_release);
    }
  pthread_mutex_unlock (&self->lock);
}

/* Settles what is left in the sources of a crew without workers. */
static void
crew_sweep (IrisCrew *self)
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
crew_wait_until_settled (IrisCrew *self)
{
  for (const Sweep *sweep = sweeps_here; sweep != NULL; sweep = sweep->outer)
    if (sweep->crew == self)
      return;

  pthread_mutex_lock (&self->lock);
  while (self->n_settling > 0)
    pthread_cond_wait (&self->settled, &self->lock);
  pthread_mutex_unlock (&self->lock);
}

/* An item from a thread that is not a worker of this crew, or from one that blocks: it may not look
 * at its own deque for long, so the item goes where all look. One that is refused counts as queued
 * and cancelled, so that the counts add up. */
void
iris_crew_queue_outside (IrisCrew *self, IrisItem *item)
{
  IrisWorker *worker = iris_crew_current (self);
  uint64_t n;

  if (iris_unlikely (iris_crew_is_foreign (self)))
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

  n = atomic_fetch_add_explicit (&self->queued_outside, 1, memory_order_relaxed);
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

void
iris_item_stamp (IrisItem *item)
{
  item->queued_ns = iris_clock_ns ();
}

/* Before any worker starts, for a crew whose workers have split deques of their own: what they
 * queue without a hint goes there, and need not ask the ops. */
void
iris_crew_set_plain (IrisCrew *self)
{
  self->is_plain = true;
  for (guint i = 0; i < self->n_workers; i++)
    self->workers[i].plain_to = self;
}

/* Whatever is no plain item of a plain worker. */
void
iris_crew_queue_otherwise (IrisCrew *self, IrisItem *item)
{
  IrisWorker *worker = iris_worker_mine;

  if (iris_likely (worker != NULL && worker->pushes_to == self))
    {
      iris_worker_note_queued (worker, item);
      self->ops->push (self, worker, item);
    }
  else
    iris_crew_queue_outside (self, item);
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
    {
      iris_lot_dismiss (&self->lot);
      self->ops->close (self);
    }
  else
    iris_lot_close (&self->lot);
}

/* A spare is made by a worker that ends after it, or before the crew is closed, so it is in the
 * list when its turn comes. */
static void
crew_join (IrisCrew *self)
{
  pthread_mutex_lock (&self->joining);
  for (guint i = 0; i < iris_crew_count_workers (self); i++)
    {
      GThread **thread = &iris_crew_get_worker (self, i)->thread, *joined;

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
iris_crew_shutdown (IrisCrew *self, IrisShutdown how)
{
  if (iris_crew_is_foreign (self))
    return;
  if (how == IRIS_SHUTDOWN_CANCEL)
    atomic_store_explicit (&self->cancelling, true, memory_order_relaxed);
  crew_close (self);

  crew_join (self);

  atomic_store_explicit (&self->ended, true, memory_order_release);
  iris_fence_heavy ();
  crew_sweep (self);
  crew_wait_until_settled (self);
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
  guint n_workers = iris_crew_count_workers (self);
  IrisStats *stats = iris_stats_new (self->n_places, n_workers);

  for (guint i = 0; i < n_workers; i++)
    {
      IrisWorker *worker = iris_crew_get_worker (self, i);

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
  iris_presence_add_stats (self, &stats->presence);

  return stats;
}
