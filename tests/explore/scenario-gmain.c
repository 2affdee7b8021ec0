/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The main context scheduler's end, explored: when queueing and shutting down have both returned,
 * the item is settled; a scheduler that is dropped where nothing may wait ends its source once.
 *
 * PLANT_NO_FULL_ORDER makes release and acquire of what must be sequentially consistent: a shutdown
 * and a thread that queues can then miss each other, as they can on x86.
 *
 * The main context is a double: a word that says whether it is owned.
 */
#define G_DISABLE_CAST_CHECKS
#include <glib-object.h>

#include "iris/sched/iris-scheduler-private.h"
#include "iris/sched/schedulers/iris-source-items-private.h"

#define IRIS_INSIDE
#include "iris/sched/schedulers/iris-gmainscheduler.h"
#undef IRIS_INSIDE

#include "slabs.h"

#include "explore.h"
#include "items.h"

/* The context. It is looked at again and again, so a thread that releases it lets others go on. */

static _Atomic unsigned owned;
static bool was_ended;

static gboolean
context_acquire (void)
{
  return atomic_exchange_explicit (&owned, 1, memory_order_acq_rel) == 0;
}

static void
context_release (void)
{
  atomic_store_explicit (&owned, 0, memory_order_release);
  sched_yield ();
}

EXPLORE_UNWATCHED static void
source_destroyed (void)
{
  explore_assert (!was_ended, "the source is ended twice");
  was_ended = true;
}

/* A condition is looked at again and again, too; a wake-up is a remark. */
static bool
cond_wait (pthread_mutex_t *lock)
{
  pthread_mutex_unlock (lock);
  sched_yield ();
  pthread_mutex_lock (lock);

  return true;
}

#undef G_DEFINE_FINAL_TYPE
#define G_DEFINE_FINAL_TYPE(Type, type, PARENT) \
  static gpointer type##_parent_class;          \
  GType type##_get_type (void) { abort (); }

#define GMutex                               pthread_mutex_t
#define g_mutex_init(lock)                   pthread_mutex_init (lock, NULL)
#define g_mutex_clear(lock)                  pthread_mutex_destroy (lock)
#define g_mutex_lock(lock)                   pthread_mutex_lock (lock)
#define g_mutex_unlock(lock)                 pthread_mutex_unlock (lock)
#define g_cond_broadcast(cond)               ((void) (cond))
#define g_cond_wait_until(cond, lock, until) cond_wait (lock)
#define g_get_monotonic_time()               1
#define g_main_context_acquire(context)      context_acquire ()
#define g_main_context_release(context)      context_release ()
#define g_main_context_wakeup(context)       ((void) (context))
#define g_source_destroy(source)             source_destroyed ()

#ifdef PLANT_NO_FULL_ORDER
#define memory_order_seq_cst memory_order_acq_rel
#endif

#include "iris/sched/schedulers/iris-gmainscheduler.c"

#undef memory_order_seq_cst

/* Of the abstract class and of debugging, what is called. */

__thread IrisWorker *iris_worker_mine;
__thread unsigned iris_scheduler_no_waiting;
unsigned iris_debug_keys;

GType
iris_scheduler_get_type (void)
{
  abort ();
}

void
iris_scheduler_tell_end (const char *name, const IrisStats *stats)
{
  abort ();
}

IrisStats *
iris_stats_new (guint places, guint workers)
{
  abort ();
}

void
iris_stats_free (IrisStats *stats)
{
  abort ();
}

void
iris_item_settle (IrisItem *self, gboolean run)
{
  if (run)
    iris_item_run (self);
  else
    iris_item_cancel (self);
}

void
iris_debug_init (void)
{
}

static IrisGMainScheduler scheduler;
static ItemSource source;
static Item *counted;

static void
run (gpointer data)
{
}

static void
settled (gpointer data)
{
  item_taken (data, "the source");
}

static void
setup (void)
{
  items_reset ();
  memset (&scheduler, 0, sizeof scheduler);
  memset (&source, 0, sizeof source);
  atomic_init (&source.n_queued, 0);
  atomic_init (&source.n_executed, 0);
  atomic_init (&source.n_cancelled, 0);
  atomic_init (&source.cancelling, false);
  atomic_init (&source.closed, false);
  atomic_init (&source.abandoned, false);
  atomic_init (&source.items.queued.head, NULL);
  g_mutex_init (&source.lock);
  atomic_init (&owned, 0);
  was_ended = false;
  scheduler.source = &source;
  counted = item_new ();
}

static void
queue (void)
{
  gmainscheduler_queue_item (IRIS_SCHEDULER (&scheduler),
                             iris_item_new (run, counted, settled, IRIS_PLACE_ANY, 0));
}

static void
shut_down (void)
{
  gmainscheduler_shutdown (IRIS_SCHEDULER (&scheduler), IRIS_SHUTDOWN_DRAIN);
}

/* One iteration, if no other thread owns the context. */
static void
iterate (void)
{
  if (!context_acquire ())
    return;
  if (source_check (&source.source))
    source_dispatch (&source.source, NULL, NULL);
  context_release ();
}

static void
check (void)
{
  items_check_all_taken ();
}

/* One queues while another shuts down. */
static void
too_late (unsigned self)
{
  if (self == 0)
    queue ();
  else
    shut_down ();
}

/* While a third owns the context from time to time. */
static void
with_owner (unsigned self)
{
  if (self < 2)
    too_late (self);
  else
    iterate ();
}

/* The item is there; the scheduler is dropped where nothing may wait, as in its finalize. */
static void
setup_dropped (void)
{
  setup ();
  queue ();
}

static void
dropped (unsigned self)
{
  if (self == 0)
    {
      iterate ();
      return;
    }
  atomic_store_explicit (&source.abandoned, true, memory_order_seq_cst);
  source_end_if_settled (&source);
}

static void
check_ended (void)
{
  iterate ();
  check ();
  explore_assert (was_ended, "the source is not ended");
}

#ifdef PLANT_NO_FULL_ORDER
static const ExploreScenario scenarios[] = {
  { "gmain/too-late", 2, setup, too_late, check, .fails = "is lost" },
};
#else
static const ExploreScenario scenarios[] = {
  { "gmain/too-late", 2, setup, too_late, check },
  { "gmain/with-owner", 3, setup, with_owner, check, .preemptions = 2, .delays = 1,
    .random_runs = 5000 },
  { "gmain/dropped", 2, setup_dropped, dropped, check_ended },
};
#endif

int
main (int argc, char **argv)
{
  explore_slabs ();
  explore_thread_local (&running_here, sizeof running_here);
  explore_thread_local (&iris_scheduler_no_waiting, sizeof iris_scheduler_no_waiting);

  return explore_main (argc, argv, scenarios, sizeof scenarios / sizeof scenarios[0]);
}
