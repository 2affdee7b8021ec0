/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The schedulers without places, explored: the GAsyncQueue scheduler's queue, in which its workers
 * wait and find their end, and the lock-free scheduler's lists. Each item runs or is cancelled
 * once, shutting down ends, and while it goes on a worker that blocks has a stand-in: one that
 * waits, one that is out, or one that is made, of which there are never more than allowed.
 *
 * PLANT_END_ALONE lets a worker end that finds the queue of a closed pool empty, and count as in;
 * PLANT_NO_LAST_LOOK leaves the end to workers, of which none may be awake; PLANT_FORGOTTEN
 * releases the workers that are out when the pool is closed, without counting them in.
 *
 * GLib's queue is a double with the same locks: what it waits in is a condition variable, here a
 * futex.
 */
#include <glib-object.h>

#include "iris/sched/steal/iris-place-queues-private.h"

#include "worker-pool-threads.h"

#include "iris/base/sync/iris-parking-lot.c"
#include "slabs.h"

#define iris_slab_tidy       explore_no_tidy
#define iris_page_pool_leave explore_no_leave
#include "iris/sched/pool/iris-active-workers.c"
#include "iris/sched/pool/iris-worker-pool.c"
#include "iris/sched/pool/iris-worker.c"

#include "explore.h"
#include "items.h"

#include "worker-pool-doubles.h"

/* GAsyncQueue. */

#define QUEUE_CAPACITY 8

typedef struct
{
  pthread_mutex_t lock;
  _Atomic uint32_t turn; /* the futex: changes with each wake-up */
  gpointer things[QUEUE_CAPACITY];
  guint n_pushed, n_popped, n_waiting;
} Queue;

static Queue *
queue_new (void)
{
  Queue *self = explore_calloc (1, sizeof *self);

  pthread_mutex_init (&self->lock, NULL);
  atomic_init (&self->turn, 0);

  return self;
}

static void
queue_push_unlocked (Queue *self, gpointer thing)
{
  explore_assert (self->n_pushed - self->n_popped < QUEUE_CAPACITY, "the double is too small");
  self->things[self->n_pushed++ % QUEUE_CAPACITY] = thing;
  if (self->n_waiting > 0)
    {
      atomic_fetch_add_explicit (&self->turn, 1, memory_order_relaxed);
      futex_wake (&self->turn);
    }
}

static void
queue_push (Queue *self, gpointer thing)
{
  pthread_mutex_lock (&self->lock);
  queue_push_unlocked (self, thing);
  pthread_mutex_unlock (&self->lock);
}

static gpointer
queue_try_pop_unlocked (Queue *self)
{
  return self->n_popped < self->n_pushed ? self->things[self->n_popped++ % QUEUE_CAPACITY] : NULL;
}

static gpointer
queue_try_pop (Queue *self)
{
  gpointer thing;

  pthread_mutex_lock (&self->lock);
  thing = queue_try_pop_unlocked (self);
  pthread_mutex_unlock (&self->lock);

  return thing;
}

static gpointer
queue_pop_unlocked (Queue *self)
{
  self->n_waiting++;
  while (self->n_popped == self->n_pushed)
    {
      uint32_t turn = atomic_load_explicit (&self->turn, memory_order_relaxed);

      pthread_mutex_unlock (&self->lock);
      futex_wait (&self->turn, turn);
      pthread_mutex_lock (&self->lock);
    }
  self->n_waiting--;

  return queue_try_pop_unlocked (self);
}

static gint
queue_length_unlocked (Queue *self)
{
  return (gint) (self->n_pushed - self->n_popped) - (gint) self->n_waiting;
}

#define GAsyncQueue                           Queue
#define g_async_queue_new()                   queue_new ()
#define g_async_queue_unref(queue)            explore_free (queue, __func__)
#define g_async_queue_lock(queue)             pthread_mutex_lock (&(queue)->lock)
#define g_async_queue_unlock(queue)           pthread_mutex_unlock (&(queue)->lock)
#define g_async_queue_push(queue, thing)      queue_push (queue, thing)
#define g_async_queue_push_unlocked           queue_push_unlocked
#define g_async_queue_try_pop(queue)          queue_try_pop (queue)
#define g_async_queue_try_pop_unlocked(queue) queue_try_pop_unlocked (queue)
#define g_async_queue_pop_unlocked(queue)     queue_pop_unlocked (queue)
#define g_async_queue_length_unlocked(queue)  queue_length_unlocked (queue)

/* In place of iris_parking_lot_end_if_idle(). */
static bool
end_if_idle (IrisParkingLot *parking_lot, unsigned n_idle)
{
#ifdef PLANT_END_ALONE
  return true;
#else
  return iris_parking_lot_end_if_idle (parking_lot, n_idle);
#endif
}

#define iris_parking_lot_end_if_idle(parking_lot, n_idle) end_if_idle (parking_lot, n_idle)

/* Nothing is made by way of GObject. */
#undef G_DEFINE_FINAL_TYPE
#define G_DEFINE_FINAL_TYPE(Type, type, PARENT) \
  static gpointer type##_parent_class;          \
  GType type##_get_type (void) { abort (); }

#include "iris/sched/schedulers/iris-gasyncqueue-scheduler.c"
#include "iris/sched/schedulers/iris-lfscheduler.c"

#include "worker-pool-works.h"

guint
iris_scheduler_choose_n_workers (guint min_threads, guint max_threads)
{
  abort ();
}

void
iris_flat_scheduler_install_properties (GObjectClass *klass)
{
  abort ();
}

guint
iris_flat_scheduler_n_workers (IrisFlatScheduler *self)
{
  abort ();
}

void
iris_flat_scheduler_set_pool (IrisFlatScheduler *self,
                              const IrisWorkerPoolOps *pool_ops,
                              gpointer owner,
                              GDestroyNotify free_owner)
{
  abort ();
}

static void
planted_close (IrisWorkerPool *self)
{
#ifdef PLANT_FORGOTTEN
  pthread_mutex_lock (&self->parking_lot.lock);
  parking_lot_end_out (&self->parking_lot);
  atomic_store_explicit (&self->parking_lot.finished, false, memory_order_relaxed);
  pthread_mutex_unlock (&self->parking_lot.lock);
#endif
#ifndef PLANT_NO_LAST_LOOK
  async_close (self);
#endif
}

static void
setup_default (guint workers, unsigned threads)
{
  items_reset ();
  threads_reset (threads);
  n_works = 0;
  ops = async_ops;
  ops.close = planted_close;
  pool = iris_worker_pool_new (&ops, async_queue_new (), NULL, 1, &workers);
  iris_active_workers_set_max_spares (pool, 1);
}

static void
setup_lock_free (guint workers, unsigned threads)
{
  items_reset ();
  threads_reset (threads);
  n_works = 0;
  ops = lf_ops;
  pool = iris_worker_pool_new (&ops, shards_new (workers), NULL, 1, &workers);
  iris_active_workers_set_max_spares (pool, 1);
}

static void
check (void)
{
  items_check_all_taken ();
}

/* Workers are the first threads, and the last one is outside: it queues the first item, and shuts
 * down. */
static void
drain (unsigned self)
{
  if (self < n_threads)
    {
      be_worker (self);
      return;
    }
  queue (0);
  iris_worker_pool_shutdown (pool, IRIS_SHUTDOWN_DRAIN);
}

/* Two workers, an item that queues another one. */
static void
setup_two (void)
{
  setup_default (2, 2);
  add (IRIS_PLACE_ANY, false, 1, NOTHING);
  add (IRIS_PLACE_ANY, false, NOTHING, NOTHING);
  iris_worker_pool_start (pool);
}

/* One queues while another shuts down. */
static void
setup_too_late (void)
{
  setup_default (1, 1);
  add (IRIS_PLACE_ANY, false, NOTHING, NOTHING);
  iris_worker_pool_start (pool);
}

static void
too_late (unsigned self)
{
  if (self == 0)
    be_worker (self);
  else if (self == 1)
    queue (0);
  else
    iris_worker_pool_shutdown (pool, IRIS_SHUTDOWN_DRAIN);
}

/* A scheduler that is shut down without an item has all workers waiting. */
static void
nothing (unsigned self)
{
  if (self < n_threads)
    be_worker (self);
  else
    iris_worker_pool_shutdown (pool, IRIS_SHUTDOWN_DRAIN);
}

static void
setup_nothing (void)
{
  setup_default (2, 2);
  iris_worker_pool_start (pool);
}

/* An item that blocks for one that it has queued, twice. */
static void
add_blocking (void)
{
  add (IRIS_PLACE_ANY, false, 1, 1);
  add (IRIS_PLACE_ANY, false, NOTHING, NOTHING);
  add (IRIS_PLACE_ANY, false, NOTHING, NOTHING);
  works[0].says_so = true;
  works[0].then = 2;
}

/* The only worker does; the spare that is made stands in both times. */

static void
setup_spare (void)
{
  setup_default (1, 2);
  add_blocking ();
  iris_worker_pool_start (pool);
}

static void
setup_spare_lock_free (void)
{
  setup_lock_free (1, 2);
  add_blocking ();
  iris_worker_pool_start (pool);
}

/* One of two workers does while the other goes out, or is out; no spare is made, for which there is
 * no thread. */

static void
out (unsigned self)
{
  if (self < n_threads)
    {
      be_worker (self);
      return;
    }
  iris_active_workers_set_wanted (pool, 1);
  drain (self);
}

static void
setup_out (void)
{
  setup_default (2, 2);
  add_blocking ();
  iris_worker_pool_start (pool);
}

static void
setup_out_lock_free (void)
{
  setup_lock_free (2, 2);
  add_blocking ();
  iris_worker_pool_start (pool);
}

#define SMALL .preemptions = 2, .delays = 1, .together = 2, .random_runs = 5000
#define TINY  .preemptions = 1, .delays = 1, .random_runs = 5000

#if defined(PLANT_END_ALONE)
static const ExploreScenario scenarios[] = {
  { "flat/spare", 3, setup_spare, drain, check, .fails = "deadlock", SMALL },
};
#elif defined(PLANT_NO_LAST_LOOK)
static const ExploreScenario scenarios[] = {
  { "flat/nothing", 3, setup_nothing, nothing, check, .fails = "deadlock", SMALL },
};
#elif defined(PLANT_FORGOTTEN)
static const ExploreScenario scenarios[] = {
  { "flat/out", 3, setup_out, out, check, .fails = "deadlock", SMALL },
};
#else
static const ExploreScenario scenarios[] = {
  { "flat/nothing", 3, setup_nothing, nothing, check, SMALL },
  { "flat/two", 3, setup_two, drain, check, SMALL },
  { "flat/too-late", 3, setup_too_late, too_late, check, SMALL },
  { "flat/spare", 3, setup_spare, drain, check, SMALL },
  { "flat/out", 3, setup_out, out, check, TINY },
  { "flat/spare-lock-free", 3, setup_spare_lock_free, drain, check, TINY },
  { "flat/out-lock-free", 3, setup_out_lock_free, out, check, TINY },
};
#endif

int
main (int argc, char **argv)
{
  explore_slabs ();
  explore_state (&n_slots, sizeof n_slots);
  explore_thread_local (&iris_thread_slot_plus_one, sizeof iris_thread_slot_plus_one);
  explore_thread_local (&iris_worker_mine, sizeof iris_worker_mine);
  explore_thread_local (&sweeps_here, sizeof sweeps_here);

  return explore_main (argc, argv, scenarios, sizeof scenarios / sizeof scenarios[0]);
}
