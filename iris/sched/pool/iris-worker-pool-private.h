/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The worker pool: the workers of one scheduler, and the life they share.
 *
 * A scheduler differs from another in where items are put and where workers look for them. That
 * is an IrisWorkerPoolOps; threads, parking, statistics, draining and cancelling are the pool's.
 *
 * Who may call what: iris_worker_pool_queue() any thread that holds the scheduler;
 * iris_worker_pool_shutdown() any thread that is not one of the pool's workers; the rest as said
 * with each.
 *
 * Starting: workers start with the first item, so a scheduler that is made and dropped unused
 * costs no thread.
 *
 * Ending: shutting down closes the pool to items from outside (they are cancelled at once: their
 * destroy notify runs on the caller's thread) but not to items that running items queue. When no
 * work is left the workers end. Cancelling is the same, except that the work of the items is left
 * out; only their destroy notifies run. A shutdown returns when the workers are gone and no thread
 * is still settling what they left. An item from outside that races with the end is settled by the
 * thread that sees it: the caller sets it down, light fence, looks at `ended`; the pool sets
 * `ended`, heavy fence, sweeps. One of them sees the other, and sweeping is under a lock.
 *
 * Forking: the child has none of the workers, and the locks and sources are as they happened to
 * be. So a pool that was started before the fork is foreign to the child: its items are the
 * parent's, which runs them; what the child queues is refused; and giving it up touches nothing. An
 * item that forks finds itself on a thread that is no worker any more, and if it returns in the
 * child, the thread ends. A pool that was never started may be used by the child.
 *
 * Active workers: how many of the workers take part changes as the pool goes on; see
 * iris-active-workers-private.h.
 */
#pragma once

#include "iris/base/iris-clock-private.h"
#include "iris/base/iris-fork-private.h"
#include "iris/base/sync/iris-parking-lot-private.h"
#include "iris/base/sync/iris-striped-counters-private.h"
#include "iris/base/iris-random-private.h"
#include "iris/queue/iris-ring-private.h"
#include "iris/queue/deque/iris-fork-stack-private.h"
#include "iris/queue/deque/iris-splitqueue-private.h"
#include "iris/queue/deque/iris-wsqueue-private.h"
#include "iris/sched/stats/iris-stats-private.h"
#include "iris/sched/pool/iris-trace-private.h"
#include "iris/sched/trace/iris-trace-events-private.h"
#include "iris/sched/pool/iris-item.h"
#include "iris/sched/stats/iris-active-workers.h"
#include "iris/sched/pool/iris-shutdown.h"
#include "iris/sched/pool/iris-worker.h"

/* A worker takes its newest item first, but from time to time the inbox and the oldest end come
 * first, so that nothing starves: after IRIS_FAIRNESS_INTERVAL picks (a prime, so that it does not
 * beat with loops of a power of two; the Go scheduler's number) and as many more as the worker had
 * items of its own at the last such pick, at most IRIS_FAIRNESS_MAX. Without the latter, items
 * that make many others are all opened before the first is finished, and the backlog leaves the
 * cache (doc/decisions/). Of the IRIS_FAIRNESS_SOURCES sources that newest first would leave lying
 * a different one comes first at each such pick, because any of them may never run empty. Hence an
 * item waits for at most IRIS_FAIRNESS_SOURCES times (IRIS_FAIRNESS_INTERVAL + IRIS_FAIRNESS_MAX)
 * picks of a worker that looks at its source, for itself and for each older one there. */
#define IRIS_FAIRNESS_INTERVAL 61
#define IRIS_FAIRNESS_MAX      16384
#define IRIS_FAIRNESS_SOURCES  4

/* Of the items that a worker queues, one in 256 carries a time stamp for the histograms; a power of
 * two. IRIS_DEBUG=exact makes it every one. */
#define IRIS_DELAY_SAMPLE 256

/* How often a searching worker looks everywhere before it sleeps; and how many workers it looks at
 * in all, beyond the first round, or thousands of them would spend all their time on looking at
 * each other. */
#define IRIS_SEARCH_ROUNDS 20
#define IRIS_SEARCH_LOOKS  4096

/* How many pauses of the processor come between the first two looks; a quarter more between any
 * next two. A look takes a cache line from each worker that is at work, so a worker that finds
 * nothing looks less and less often; and what comes late is still found within a quarter of the
 * time that it was waited for. */
#define IRIS_SEARCH_PAUSES 8

/* How many rounds it leaves an owner to answer, before it forces a split deque open. An owner of
 * small items answers within one; forcing costs it an interrupt. */
#define IRIS_SEARCH_PATIENCE 5

/* How long a worker backs off that finds only what it refuses: at first, and, twice as long each
 * time, at most. In between it looks everywhere once. */
#define IRIS_BACKOFF_MIN_NS 50000
#define IRIS_BACKOFF_MAX_NS 1000000

typedef struct IrisWorkerPool IrisWorkerPool;
typedef struct IrisWorkerPoolOps IrisWorkerPoolOps;
typedef struct IrisContention IrisContention;
typedef struct IrisComparedDeque IrisComparedDeque;

typedef enum
{
  IRIS_WORK_NONE = 0,
  IRIS_WORK_SHARED = 1 << 0,  /* any worker may run it */
  IRIS_WORK_STRICT = 1 << 1,  /* only workers of this place may */
  IRIS_WORK_REFUSED = 1 << 2, /* instead of SHARED: any may, but the one that asks does not yet */
} IrisWork;

/* A cell for each counter that workers keep (iris-stats-private.h). */
#define IRIS_CELL_WORKER(member) _Atomic uint64_t member;
#define IRIS_CELL_WATCH(member)  IrisStopwatch member;
#define IRIS_CELL_OTHER(member)
#define IRIS_CELL(member, from, how) IRIS_CELL_##from (member)

typedef struct
{
  IRIS_EACH_COUNTER (IRIS_CELL)
  _Atomic uint64_t delay[IRIS_STATS_DELAY_BUCKETS];
  _Atomic uint64_t run[IRIS_STATS_DELAY_BUCKETS];
  _Atomic uint64_t mean_run_ns; /* of a sample of the latest items; 0: nothing was sampled yet */
} IrisWorkerCounters;

struct _IrisWorker
{
  alignas (IRIS_CACHE_PAIR) IrisWorkerPool *pool;
  IrisWorkerPool
      *pushes_to; /* pool; NULL while it blocks, when it queues like a thread from outside */
  IrisWorkerPool
      *plain_to; /* pushes_to of a pool of the plain kind: see iris_worker_pool_queue_plain() */
  guint index;
  guint place;
  guint picks_left; /* until the next fair one */
  guint fair_turn;  /* which source comes first at that one */
  guint32 declared; /* flags of the running item if it has a footprint: iris-footprint-private.h */
  guint64 backoff_ns; /* of the last back-off, if nothing was found since */
  guint unsampled;    /* the pool's, or none while a trace notes all items */
  bool impatient;     /* searched long enough to force a split deque open */
  IrisRandom random;
  GThread *thread;
  bool has_thread;       /* a spare's: or it could not be started; under the pool's lock */
  guint n_blocking;      /* blocking sections that it is in */
  gint64 blocking_since; /* microseconds */
  _Atomic gint tid;      /* for the kernel; 0 before it has started and after its end */

  /* The ops of the pool know which of these it has. */
  union
  {
    IrisSplitQueue deque;        /* place queues */
    IrisWSQueue chase_lev;       /* lock-free scheduler */
    IrisComparedDeque *compared; /* iris/sched/compare/ */
  };
  IrisParker parker;
  IrisSplitQueue strict; /* place queues: iris-strict-deque-private.h */

  _Atomic (IrisTraceRing *) trace; /* where it notes what it does; NULL: nowhere */
  guint n_traced;                  /* of the items that it is in: those that are noted */

  /* By the place that it took from: how often, and how many items. Rows of 2 for each place. */
  _Atomic uint64_t *stolen_from;

  /* Fork and join: made when the worker first forks or steals a fork (iris-place-queues-fork.c). */
  _Atomic (IrisForkStack *) forks;
  IrisForkJoin *stolen_fork; /* what fork_item runs */
  IrisItem fork_item;
  alignas (IRIS_CACHE_PAIR) IrisWorkerCounters counters; /* written by the worker alone */
};

struct IrisWorkerPoolOps
{
  /* Make and give up the deque of a worker, and tell how many items it has, to any thread; NULL:
   * workers have none. */
  void (*init_deque) (IrisWorkerPool *pool, IrisWorker *worker);
  void (*clear_deque) (IrisWorker *worker);
  guint64 (*count_own) (IrisWorker *worker);

  /* Puts an item where it belongs and publishes it. @self is the calling worker of this pool, or
   * NULL when the item comes from outside. */
  void (*push) (IrisWorkerPool *pool, IrisWorker *self, IrisItem *item);

  /* Publishes what @self has pushed onto its own deque: a worker sleeps, and no worker searches. */
  void (*publish) (IrisWorkerPool *pool, IrisWorker *self);

  /* @met, which @self has taken from its own deque, or another one if that is none to be run. */
  IrisItem *(*open) (IrisWorkerPool *pool, IrisWorker *self, IrisItem *met);

  /* An item for @self from any source, or NULL; does not wait. With @self NULL: any item at all,
   * when no worker is left. */
  IrisItem *(*take) (IrisWorkerPool *pool, IrisWorker *self);

  /* What is in the sources at which @self may take, or about to be. */
  IrisWork (*has_work) (IrisWorkerPool *pool, IrisWorker *self);

  /* Instead of taking, searching and parking: waits for an item; NULL ends the worker, as soon as
   * all that are in are at their end. */
  IrisItem *(*wait) (IrisWorkerPool *pool, IrisWorker *self);

  /* The pool and its parking lot are closed: ends it if wait() holds all workers that are in and
   * nothing is left; otherwise wait() does, for the last of them. */
  void (*close) (IrisWorkerPool *pool);

  /* Before @self blocks, or goes out: makes what only @self could take open to others, and
   * publishes it. */
  void (*expose) (IrisWorkerPool *pool, IrisWorker *self);

  /* After @n_surplus workers were asked to go out: wakes so many of those that wait() holds. */
  void (*nudge) (IrisWorkerPool *pool, guint n_surplus);

  /* Binds the calling worker to its place. */
  void (*bind) (IrisWorkerPool *pool, IrisWorker *self);

  /* The fork-join stack of the calling worker; where this is NULL forks are calls. */
  IrisForkStack *(*get_forks) (IrisWorkerPool *pool, IrisWorker *self);

  /* Adds what the pool does not count itself, per place. */
  void (*add_stats) (IrisWorkerPool *pool, IrisStats *stats);
};

/* How many workers of a place take part, and why; under the pool's lock. */
typedef struct
{
  guint first_worker;
  guint n_workers;  /* made for good */
  guint n_wanted;   /* of them, by the user's wish */
  guint n_held;     /* fewer than that, because of contention */
  guint n_blocking; /* in blocking sections */
  guint n_spares;   /* made on top */
  guint share;      /* of a wish for all places, while it is dealt */
} IrisWorkerPoolPlace;

struct IrisWorkerPool
{
  const IrisWorkerPoolOps *ops;
  gpointer owner; /* what the ops need */
  GDestroyNotify free_owner;
  guint n_workers;
  guint n_places;
  guint unsampled; /* a mask: an item is sampled whose number has none of these bits */
  _Atomic guint unsampled_outside; /* the same for those from outside; a trace lowers it */
  gint64 made_ns;
  const char *name; /* for IRIS_DEBUG; NULL: it has none */
  IrisWorker *workers;
  _Atomic unsigned generation; /* of processes, in which it was started; 0 before */
  IrisArrayPool arrays;        /* of the deques */
  bool is_plain; /* what a worker queues without a hint goes onto its own split deque */
  IrisParkingLot parking_lot;

  IrisWorkerPoolPlace *active_workers; /* of each place */
  guint max_spares;                    /* of each place */
  IrisWorker **spares;                 /* made when first needed, of any place */
  _Atomic guint n_spares;              /* how many there are; only grows */
  IrisActiveWorkers counts;            /* under the lock */
  IrisContention *contention;          /* NULL: off */

  alignas (IRIS_CACHE_PAIR) _Atomic bool has_forks; /* some worker has a fork-join stack */

  alignas (IRIS_CACHE_PAIR) _Atomic bool started;
  _Atomic bool closed;     /* no more items from outside */
  _Atomic bool cancelling; /* items are settled by their notify alone */
  _Atomic bool ended;      /* all workers are gone */
  pthread_mutex_t lock;    /* starting, closing, sweeping, active workers */
  pthread_cond_t settled;  /* no thread sweeps any more */
  guint n_settling;        /* threads that settle an item of a sweep; under the lock */
  pthread_mutex_t joining; /* held by the thread that waits for the workers to end */

  gpointer trace; /* see iris-scheduler-trace.c; NULL until the first one is begun */
  void (*free_trace) (gpointer trace);

  IrisStripedCounters queued_outside; /* one */
  _Atomic uint64_t cancelled_outside;
};

extern __thread IrisWorker *iris_worker_mine;

/* How deep the calling thread is in what must not wait for a scheduler to end though it is no
 * worker: an item of a main context, or a post that may be the last to let a receiver go. */
extern __thread unsigned iris_scheduler_no_waiting;

IrisWorkerPool *iris_worker_pool_new (const IrisWorkerPoolOps *ops,
                                      gpointer owner,
                                      GDestroyNotify free_owner,
                                      guint n_places,
                                      const guint *workers_per_place);
void iris_worker_pool_free (IrisWorkerPool *self);
void iris_worker_pool_set_plain (IrisWorkerPool *self);
void iris_worker_pool_start (IrisWorkerPool *self);
void iris_worker_init (IrisWorker *self, IrisWorkerPool *pool, guint index, guint place);
void iris_worker_clear (IrisWorker *self);
gpointer iris_worker_main (gpointer worker);
void iris_worker_pool_queue_outside (IrisWorkerPool *self, IrisItem *item);
void iris_worker_pool_shutdown (IrisWorkerPool *self, IrisShutdown how);
IrisStats *iris_worker_pool_get_stats (IrisWorkerPool *self);

/* The calling worker if it belongs to @self, else NULL. */
static inline IrisWorker *
iris_worker_pool_current (IrisWorkerPool *self)
{
  IrisWorker *worker = iris_worker_mine;

  return worker != NULL && worker->pool == self ? worker : NULL;
}

/* Whether the calling thread, if it drops the last reference to a scheduler, waits until that has
 * ended. A worker must not: it cannot wait for itself, nor for one that may wait for it. */
static inline bool
iris_scheduler_may_wait (void)
{
  return iris_worker_mine == NULL && iris_scheduler_no_waiting == 0;
}

/* The worker has no work and looks for some. False if it was looking already. */
static inline bool
iris_worker_note_search_begins (IrisWorker *self)
{
  if (iris_stopwatch_runs (&self->counters.searching_ns))
    return false;
  iris_stopwatch_start (&self->counters.searching_ns, iris_clock_ns ());

  return true;
}

static inline void
iris_worker_note_search_ends (IrisWorker *self)
{
  iris_stopwatch_stop (&self->counters.searching_ns, iris_clock_ns ());
}

/* Where the worker notes what it does; NULL: nowhere. Acquire: the ring is whole. */
static inline IrisTraceRing *
iris_worker_get_trace (IrisWorker *self)
{
  return atomic_load_explicit (&self->trace, memory_order_acquire);
}

static inline void
iris_worker_note (IrisWorker *self, IrisTraceKind kind, uint64_t what)
{
  IrisTraceRing *trace = iris_worker_get_trace (self);

  if (iris_unlikely (trace != NULL))
    iris_trace_ring_note (trace, iris_clock_ns (), kind, what);
}

/* Counts a steal of @n items from @victim_place. */
static inline void
iris_worker_note_steal (IrisWorker *self, guint victim_place, guint n)
{
  iris_counter_add (&self->counters.steals, 1);
  if (n > iris_counter_get (&self->counters.steal_most))
    atomic_store_explicit (&self->counters.steal_most, n, memory_order_relaxed);
  iris_counter_add (&self->stolen_from[2 * victim_place], 1);
  iris_counter_add (&self->stolen_from[2 * victim_place + 1], n);
  iris_trace_steal (self->index, self->place, victim_place, n);
  iris_worker_note (self, IRIS_TRACE_STEAL, (uint64_t) victim_place << 32 | n);
}

/* Whether its workers stayed behind in the process that forked this one. */
static inline bool
iris_worker_pool_is_foreign (IrisWorkerPool *self)
{
  unsigned generation = atomic_load_explicit (&self->generation, memory_order_relaxed);

  return generation != 0 && generation != iris_fork_generation;
}

/* Out of line: it is rare. */
void iris_item_stamp (IrisItem *item);

/* For push: stamps one in IRIS_DELAY_SAMPLE items and counts. */
static inline __attribute__ ((always_inline)) void
iris_worker_note_queued (IrisWorker *self, IrisItem *item)
{
  uint64_t n = iris_counter_get (&self->counters.queued) + 1;

  atomic_store_explicit (&self->counters.queued, n, memory_order_relaxed);
  item->queued_ns = 0;
  if (iris_unlikely ((n & self->unsampled) == 0))
    iris_item_stamp (item);
  iris_trace_queued (item);
}

void iris_worker_pool_queue_slow (IrisWorkerPool *self, IrisItem *item);

/* The way worth its own code: from a worker onto its own split deque (IrisWorkerPool.is_plain). */
static inline __attribute__ ((always_inline)) bool
iris_worker_pool_queue_own (IrisWorkerPool *self, IrisWorker *worker, IrisItem *item)
{
  iris_worker_note_queued (worker, item);
  if (iris_unlikely (!iris_splitqueue_push (&worker->deque, item)))
    {
      self->ops->push (self, worker, item);
      return false;
    }
  iris_fence_light ();
  if (iris_unlikely (iris_parking_lot_has_sleeper (&self->parking_lot)))
    self->ops->publish (self, worker);

  return true;
}

/* An item without place and flags. */
static inline __attribute__ ((always_inline)) void
iris_worker_pool_queue_plain (IrisWorkerPool *self, IrisItem *item)
{
  IrisWorker *worker = iris_worker_mine;

  if (iris_likely (worker != NULL && worker->plain_to == self))
    iris_worker_pool_queue_own (self, worker, item);
  else
    iris_worker_pool_queue_slow (self, item);
}

/* All but items that may go where they were queued is for the ops to decide. */
static inline void
iris_worker_pool_queue (IrisWorkerPool *self, IrisItem *item)
{
  IrisWorker *worker = iris_worker_mine;

  if (iris_unlikely (worker == NULL || worker->plain_to != self || item->flags != IRIS_ITEM_NONE))
    {
      iris_worker_pool_queue_slow (self, item);
      return;
    }
  if (item->place == IRIS_PLACE_ANY)
    iris_worker_pool_queue_own (self, worker, item);
  else if (item->place != (gint) worker->place)
    iris_worker_pool_queue_slow (self, item);
  else if (iris_worker_pool_queue_own (self, worker, item))
    iris_counter_add (&worker->counters.hinted, 1);
}
