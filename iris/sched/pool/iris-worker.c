/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The worker: it takes an item, runs it, and when there is none it searches, backs off, or parks.
 * Behind that, what the items see of it, and the sections in which they block. The design is in
 * iris-worker-pool-private.h.
 */
#include "iris/sched/pool/iris-worker-pool-private.h"

#include "iris/base/memory/iris-page-pool-private.h"
#include "iris/sched/pool/iris-contention-private.h"
#include "iris/sched/pool/iris-item-private.h"
#include "iris/sched/pool/iris-active-workers-private.h"

#include <sched.h>
#include <string.h>
#include <unistd.h>

__thread IrisWorker *iris_worker_mine;

/* Or no worker would ever be impatient. */
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

/* While a trace is on each item is stamped if that costs little beside it, or until that is known;
 * otherwise the sample is.
 */
static void
worker_choose_sample (IrisWorker *self, bool traced)
{
  IrisWorkerPool *pool = self->pool;
  uint64_t mean_ns = iris_counter_get (&self->counters.mean_run_ns);
  bool all = traced && (mean_ns == 0 || mean_ns >= IRIS_TRACE_ALL_NS);
  guint unsampled = all ? 0 : pool->unsampled;

  if (self->unsampled == unsampled)
    return;
  self->unsampled = unsampled;
  atomic_store_explicit (&pool->unsampled_outside, unsampled, memory_order_relaxed);
}

static void
worker_run_noted (IrisWorker *self, IrisItem *item, IrisTraceRing *trace, gint64 begun_ns)
{
  iris_trace_ring_note (trace, begun_ns, IRIS_TRACE_ITEM, (uintptr_t) item->func);
  self->n_traced++;
  iris_item_run (item);
  self->n_traced--;
  iris_trace_ring_note (trace, iris_clock_ns (), IRIS_TRACE_END, 0);
}

/* Out of line: it is rare. */
static __attribute__ ((noinline)) void
worker_run_sampled (IrisWorker *self, IrisItem *item)
{
  gint64 begun_ns = iris_clock_ns (), run_ns;
  IrisTraceRing *trace = iris_worker_get_trace (self);

  count_time (self->counters.delay, begun_ns - item->queued_ns);
  iris_trace_begin (item, self->index);
  if (trace != NULL)
    worker_run_noted (self, item, trace, begun_ns);
  else
    iris_item_run (item);
  iris_trace_end (self->index);
  run_ns = iris_clock_ns () - begun_ns;
  count_time (self->counters.run, run_ns);
  note_run_time (&self->counters.mean_run_ns, run_ns);
  iris_trace_sample (begun_ns, self->index);
  worker_choose_sample (self, trace != NULL);
}

static void
worker_run (IrisWorker *self, IrisItem *item)
{
  if (iris_unlikely (atomic_load_explicit (&self->pool->cancelling, memory_order_relaxed)))
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

/* Leaves searching with work in hand; if that leaves no worker searching and there is more work,
 * one more worker is woken. */
static void
worker_end_search (IrisWorker *self)
{
  IrisWorkerPool *pool = self->pool;
  IrisWork work;

  if (!iris_parking_lot_end_search (&pool->parking_lot, &self->parker))
    return;
  work = pool->ops->has_work (pool, self);
  if (work & IRIS_WORK_STRICT)
    iris_parking_lot_wake (&pool->parking_lot, self->place, true);
  if (work & (IRIS_WORK_SHARED | IRIS_WORK_REFUSED))
    iris_parking_lot_wake (&pool->parking_lot, self->place, false);
}

/* Looks everywhere for a bounded number of rounds, at growing intervals. */
static IrisItem *
worker_search (IrisWorker *self)
{
  IrisWorkerPool *pool = self->pool;
  guint most = CLAMP (IRIS_SEARCH_LOOKS / pool->n_workers, 1, IRIS_SEARCH_ROUNDS);
  guint n_rounds = self->backoff_ns == 0 ? most : 1;
  guint n_pauses = IRIS_SEARCH_PAUSES;
  IrisItem *item = NULL;

  if (!iris_parking_lot_begin_search (&pool->parking_lot, &self->parker))
    return pool->ops->take (pool, self);

  for (guint round = 0; round < n_rounds; round++)
    {
      self->impatient = round % IRIS_SEARCH_PATIENCE == IRIS_SEARCH_PATIENCE - 1
                        || round == n_rounds - 1;
      item = pool->ops->take (pool, self);
      if (item != NULL)
        {
          self->backoff_ns = 0;
          break;
        }
      for (guint i = 0; i < n_pauses; i++)
        iris_cpu_relax ();
      n_pauses += n_pauses / 4;
    }
  self->impatient = false;

  return item;
}

/* Sleeps until there may be work. False when the pool is at its end. */
static bool
worker_park (IrisWorker *self)
{
  IrisWorkerCounters *counters = &self->counters;
  gint64 now = iris_clock_ns (), parked_at = now;
  IrisTraceRing *trace = iris_worker_get_trace (self);
  bool more;

  iris_counter_add (&counters->parks, 1);
  iris_stopwatch_stop (&counters->searching_ns, now);
  iris_stopwatch_start (&counters->parked_ns, now);
  iris_trace_park (self->index);
  if (trace != NULL)
    iris_trace_ring_note (trace, now, IRIS_TRACE_PARK, 0);

  more = iris_parking_lot_sleep (&self->pool->parking_lot, &self->parker);

  now = iris_clock_ns ();
  iris_stopwatch_stop (&counters->parked_ns, now);
  iris_stopwatch_start (&counters->searching_ns, now);
  if (more)
    {
      iris_counter_add (&counters->wakes, 1);
      if (self->pool->contention != NULL)
        iris_contention_rouse (self->pool->contention);
    }
  iris_trace_wake (parked_at, self->index);
  if (trace != NULL)
    iris_trace_ring_note (trace, now, IRIS_TRACE_WAKE, 0);

  return more;
}

/* Leaves to others for a while what it sees, but will not have yet. */
static void
worker_back_off (IrisWorker *self)
{
  IrisWorkerCounters *counters = &self->counters;
  guint64 ns = CLAMP (2 * self->backoff_ns, IRIS_BACKOFF_MIN_NS, IRIS_BACKOFF_MAX_NS);
  gint64 now = iris_clock_ns ();

  self->backoff_ns = ns;
  iris_counter_add (&counters->backoffs, 1);
  iris_stopwatch_stop (&counters->searching_ns, now);
  iris_stopwatch_start (&counters->parked_ns, now);
  iris_parking_lot_back_off (&self->pool->parking_lot, &self->parker, ns);
  now = iris_clock_ns ();
  iris_stopwatch_stop (&counters->parked_ns, now);
  iris_stopwatch_start (&counters->searching_ns, now);
}

/* The next item of a worker that found none; waits for it without using the processor. NULL when
 * the pool is at its end. */
static __attribute__ ((noinline)) IrisItem *
worker_wait (IrisWorker *self)
{
  IrisWorkerPool *pool = self->pool;
  IrisItem *item;
  IrisWork work;

  iris_worker_note_search_begins (self);
  while ((item = worker_search (self)) == NULL)
    {
      iris_parking_lot_prepare (&pool->parking_lot, &self->parker);
      work = pool->ops->has_work (pool, self);
      if (work == IRIS_WORK_REFUSED)
        {
          worker_back_off (self);
        }
      else if (work != IRIS_WORK_NONE)
        {
          iris_parking_lot_cancel (&pool->parking_lot, &self->parker);
          self->backoff_ns = 0; /* that calls for a whole search */
          /* An item may be half pushed by a thread that waits for this processor. */
          sched_yield ();
        }
      else
        {
          self->backoff_ns = 0;
          if (!worker_park (self))
            break;
        }
    }
  if (item != NULL)
    worker_end_search (self);
  iris_worker_note_search_ends (self);

  return item;
}

/* Any source, without waiting at first. Out of line, so that the way below it is short. */
static __attribute__ ((noinline)) IrisItem *
worker_next (IrisWorker *self)
{
  IrisItem *item;

  /* In time also where no item of the sample comes by. */
  if (iris_unlikely (iris_worker_get_trace (self) != NULL))
    worker_choose_sample (self, true);
  item = self->pool->ops->take (self->pool, self);

  return iris_likely (item != NULL) ? item : worker_wait (self);
}

/* The newest of its own, if it lies on a split deque; see iris_worker_pool_queue_plain(). */
static inline IrisItem *
worker_next_plain (IrisWorker *self)
{
  IrisWorkerPool *pool = self->pool;
  IrisItem *item;

  if (iris_unlikely (self->picks_left == 0))
    return worker_next (self);
  item = iris_splitqueue_take (&self->deque);
  if (iris_unlikely (item == NULL))
    return worker_next (self);
  self->picks_left--;
  if (iris_unlikely (item->flags != IRIS_ITEM_NONE))
    {
      item = pool->ops->open (pool, self, item);
      if (item == NULL)
        return worker_wait (self);
    }

  return item;
}

/* The next item, for a worker that may have to go out first. */
static inline IrisItem *
worker_go_on (IrisWorker *self, IrisItem *(*wait) (IrisWorkerPool *, IrisWorker *) )
{
  IrisWorkerPool *pool = self->pool;

  if (iris_unlikely (iris_parking_lot_has_surplus (&pool->parking_lot)))
    {
      if (!iris_worker_leave (self))
        return NULL;
      /* Who came back is a searcher, and must leave searching as one. */
      if (self->parker.searching)
        return worker_wait (self);
    }
  if (iris_likely (self->plain_to != NULL))
    return worker_next_plain (self);

  return wait != NULL ? wait (pool, self) : worker_next (self);
}

gpointer
iris_worker_main (gpointer data)
{
  IrisWorker *self = data;
  IrisWorkerPool *pool = self->pool;
  IrisItem *(*wait) (IrisWorkerPool *, IrisWorker *) = pool->ops->wait;
  const unsigned generation = iris_fork_generation;
  IrisItem *item;

  iris_worker_mine = self;
  atomic_store_explicit (&self->tid, (gint) gettid (), memory_order_relaxed);
  iris_stopwatch_start (&self->counters.alive_ns, iris_clock_ns ());
  if (pool->ops->bind != NULL)
    pool->ops->bind (pool, self);
  while ((item = worker_go_on (self, wait)) != NULL)
    {
      worker_run (self, item);
      /* In a child process, which the item forked and did not end. */
      if (iris_unlikely (iris_fork_generation != generation))
        return NULL;
    }
  iris_stopwatch_stop (&self->counters.alive_ns, iris_clock_ns ());
  /* The kernel may give the number to another thread. */
  atomic_store_explicit (&self->tid, 0, memory_order_relaxed);
  iris_page_pool_leave (&self->parker.token);
  iris_worker_mine = NULL;

  return NULL;
}

void
iris_worker_init (IrisWorker *self, IrisWorkerPool *pool, guint index, guint place)
{
  memset (self, 0, sizeof *self);
  self->pool = self->pushes_to = pool;
  self->plain_to = pool->is_plain ? pool : NULL;
  self->index = index;
  self->place = place;
  self->unsampled = pool->unsampled;
  iris_random_seed (&self->random, index + 1);
  iris_parker_init (&self->parker, place);
  self->stolen_from = calloc (pool->n_places, 2 * sizeof *self->stolen_from);
  if (self->stolen_from == NULL)
    g_error ("iris: out of memory for a worker");
  if (pool->ops->init_deque != NULL)
    pool->ops->init_deque (pool, self);
}

void
iris_worker_clear (IrisWorker *self)
{
  IrisForkStack *forks = atomic_load_explicit (&self->forks, memory_order_relaxed);

  if (self->pool->ops->clear_deque != NULL)
    self->pool->ops->clear_deque (self);
  if (forks != NULL)
    iris_fork_stack_clear (forks);
  free (forks);
  free (self->stolen_from);
}

/**
 * iris_worker_current:
 *
 * Returns: (transfer none) (nullable): the worker that runs the calling code, for any scheduler,
 *   valid until the item returns; %NULL when the calling thread is not a worker
 */
IrisWorker *
iris_worker_current (void)
{
  return iris_worker_mine;
}

/**
 * iris_worker_get_index:
 *
 * Returns: its number, counted from 0
 */
guint
iris_worker_get_index (const IrisWorker *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->index;
}

/**
 * iris_worker_get_place:
 *
 * Returns: the id of its place; 0 for schedulers that have one place only
 */
gint
iris_worker_get_place (const IrisWorker *self)
{
  g_return_val_if_fail (self != NULL, IRIS_PLACE_ANY);

  return (gint) self->place;
}

/**
 * iris_worker_name_item: (skip)
 * @name: a constant string
 * @number: which of those, or 0
 *
 * Says what the running item is, for a trace (iris_scheduler_trace_start()), which knows the item's
 * function only. Without a trace, or when the item is not in its sample, and on a thread that is no
 * worker, this does nothing.
 */
void
iris_worker_name_item (const char *name, guint64 number)
{
  IrisWorker *self = iris_worker_mine;

  if (self == NULL || self->n_traced == 0)
    return;
  iris_worker_note (self, IRIS_TRACE_NAME, (uintptr_t) name);
  if (number != 0)
    iris_worker_note (self, IRIS_TRACE_NUMBER, number);
}

/**
 * iris_worker_begin_blocking:
 *
 * Says that the running item is about to wait for something: a file, a lock, another item. Until
 * iris_worker_end_blocking() the worker's place has a spare worker in its stead, and what was
 * queued by this worker is open to all others. So items may wait for items, as long as no more than
 * IrisScheduler:max-spares workers of a place wait at once; beyond that, and with a limit of 0, the
 * section is counted as refused and no worker stands in.
 *
 * The spare is a worker that is out, if there is one; otherwise a thread is made. Afterwards one
 * worker of the place sleeps, for the next time. A section costs two locks and, if the spare
 * sleeps, a system call: it is meant for waits of tens of microseconds and more.
 *
 * Sections nest; only the outermost counts. Each must be ended before the item returns. An item
 * that waits without saying so keeps its worker's processor idle, and if all workers do, nothing
 * goes on; an item that another one waits for must then not be strict to a place of which all
 * workers wait.
 *
 * On a thread that is no worker this does nothing, so a function need not know where it is called.
 */
void
iris_worker_begin_blocking (void)
{
  IrisWorker *self = iris_worker_mine;
  IrisWorkerPool *pool;

  if (self == NULL || self->n_blocking++ > 0)
    return;

  pool = self->pool;
  self->pushes_to = self->plain_to = NULL;
  self->blocking_since = g_get_monotonic_time ();
  if (pool->ops->expose != NULL)
    pool->ops->expose (pool, self);
  iris_active_workers_note_blocking (pool, self->place, true, 0);
}

/**
 * iris_worker_end_blocking:
 *
 * Ends what iris_worker_begin_blocking() began: the running item goes on to compute. The spare
 * worker, or another one of the place, goes out after its present item.
 */
void
iris_worker_end_blocking (void)
{
  IrisWorker *self = iris_worker_mine;
  IrisWorkerPool *pool;

  if (self == NULL)
    return;
  g_return_if_fail (self->n_blocking > 0);
  if (--self->n_blocking > 0)
    return;

  pool = self->pool;
  iris_active_workers_note_blocking (pool, self->place, false,
                                     g_get_monotonic_time () - self->blocking_since);
  self->pushes_to = pool;
  self->plain_to = pool->is_plain ? pool : NULL;
}
