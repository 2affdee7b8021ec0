/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The pool of the places, explored: its real workers, queues, parking and shutting down, with one
 * or two workers and threads outside. Each item runs or is cancelled once, no worker sleeps while
 * there is work for it, and shutting down ends.
 *
 * PLANT_NO_RECHECK and PLANT_NO_SECOND_LOOK hide the work from a worker that is about to sleep, and
 * from one that leaves searching. PLANT_NO_STRICT hides strict work from both.
 *
 * The places are a double, and to make a thread is to let one of the scenario's threads be that
 * worker (worker-pool-threads.h, worker-pool-works.h).
 */
#include <glib-object.h>

#include "iris/sched/compare/iris-compared-queues-private.h"

#include "worker-pool-threads.h"

#include "iris/base/sync/iris-parking-lot.c"
#include "slabs.h"

#define iris_slab_tidy       explore_no_tidy
#define iris_page_pool_leave explore_no_leave
#include "iris/sched/pool/iris-active-workers.c"
#include "iris/sched/pool/iris-worker-pool.c"
#include "iris/sched/pool/iris-worker.c"
#include "iris/sched/steal/iris-place-queues-refuse.c"
#include "iris/sched/steal/iris-place-queues.c"
#include "iris/sched/steal/iris-place-search.c"
#include "iris/sched/steal/iris-strict-deque.c"

#include "explore.h"
#include "items.h"

#include "worker-pool-doubles.h"

#include "worker-pool-works.h"

/* What the pool asks before it sleeps, when it is linked into the parking lot already, and when it
 * leaves searching. */
EXPLORE_UNWATCHED static bool
is_hidden (const IrisWorker *worker)
{
#if defined(PLANT_NO_RECHECK)
  return worker->parker.linked;
#elif defined(PLANT_NO_SECOND_LOOK)
  return !worker->parker.linked;
#else
  return false;
#endif
}

static IrisWork (*shown_work) (IrisWorkerPool *, IrisWorker *);

static IrisWork
has_work (IrisWorkerPool *self, IrisWorker *worker)
{
  IrisWork work = is_hidden (worker) ? IRIS_WORK_NONE : shown_work (self, worker);

#ifdef PLANT_NO_STRICT
  work &= ~(IrisWork) IRIS_WORK_STRICT;
#endif

  return work;
}

static void
setup_pool (guint places, guint workers, IrisLayout layout, IrisDequeKind kind)
{
  const IrisStealRules rules = IRIS_STEAL_RULES_DEFAULT;

  items_reset ();
  n_places = places;
  workers_per_place = workers;
  n_works = 0;
  threads_reset (2);
  pool = iris_compared_queues_new_pool (NULL, IRIS_DEAL_OWN, layout, kind, &rules);
  ops = *pool->ops;
  shown_work = ops.has_work;
  ops.has_work = has_work;
  pool->ops = &ops;
  iris_worker_pool_start (pool);
}

static void
check (void)
{
  items_check_all_taken ();
}

/* One worker, and items from outside that do not all fit into the inbox. */

static void
setup_one_worker (void)
{
  setup_pool (1, 1, IRIS_LAYOUT_WORKERS, IRIS_DEQUE_SPLIT);
  for (unsigned i = 0; i < 3; i++)
    add (IRIS_PLACE_ANY, false, NOTHING, NOTHING);
}

static void
one_worker (unsigned self)
{
  if (self == 0)
    {
      be_worker (self);
      return;
    }
  for (unsigned i = 0; i < 3; i++)
    queue (i);
  iris_worker_pool_shutdown (pool, IRIS_SHUTDOWN_DRAIN);
}

/* One thread queues while another shuts down: an item that comes too late is cancelled. */

static void
setup_too_late (void)
{
  setup_pool (1, 1, IRIS_LAYOUT_WORKERS, IRIS_DEQUE_SPLIT);
  add (IRIS_PLACE_ANY, false, NOTHING, NOTHING);
}

static void
too_late (unsigned self)
{
  if (self == 0)
    be_worker (self);
  else if (self == 1)
    queue (0);
  else
    iris_worker_pool_shutdown (pool, IRIS_SHUTDOWN_CANCEL);
}

/* Two workers; what comes first from outside needs what comes second, so both must come. */

static void
setup_chain (void)
{
  setup_pool (1, 2, IRIS_LAYOUT_WORKERS, IRIS_DEQUE_SPLIT);
  add (IRIS_PLACE_ANY, false, NOTHING, 1);
  add (IRIS_PLACE_ANY, false, NOTHING, NOTHING);
}

static void
outside_queues_two (unsigned self)
{
  if (self < 2)
    {
      be_worker (self);
      return;
    }
  queue (0);
  queue (1);
}

/* What runs first queues from inside what it needs, and so holds the only worker that knows of it;
 * in a split deque it is private. */

static void
setup_from_inside (void)
{
  setup_pool (1, 2, IRIS_LAYOUT_WORKERS, IRIS_DEQUE_CHASE_LEV);
  add (IRIS_PLACE_ANY, false, 1, 1);
  add (IRIS_PLACE_ANY, false, NOTHING, NOTHING);
}

static void
setup_from_inside_split (void)
{
  setup_pool (1, 2, IRIS_LAYOUT_WORKERS, IRIS_DEQUE_SPLIT);
  add (IRIS_PLACE_ANY, false, 1, 1);
  add (IRIS_PLACE_ANY, false, NOTHING, NOTHING);
}

static void
outside_queues_one (unsigned self)
{
  if (self < 2)
    be_worker (self);
  else
    queue (0);
}

static void
outside_shuts_down (unsigned self)
{
  outside_queues_one (self);
  if (self == 2)
    iris_worker_pool_shutdown (pool, IRIS_SHUTDOWN_DRAIN);
}

/* The same with one deque for the two, under a lock. */
static void
setup_shared (void)
{
  setup_pool (1, 2, IRIS_LAYOUT_SHARED, IRIS_DEQUE_LOCKED);
  add (IRIS_PLACE_ANY, false, 1, 1);
  add (IRIS_PLACE_ANY, false, NOTHING, NOTHING);
}

/* With a private part: any worker runs the items queued from inside, and all end. */
static void
setup_split (void)
{
  setup_pool (1, 2, IRIS_LAYOUT_WORKERS, IRIS_DEQUE_SPLIT);
  add (IRIS_PLACE_ANY, false, 1, NOTHING);
  add (IRIS_PLACE_ANY, false, NOTHING, NOTHING);
}

/* Two places; the strict item that is needed must be run at the other one. */
static void
setup_strict (void)
{
  setup_pool (2, 1, IRIS_LAYOUT_WORKERS, IRIS_DEQUE_SPLIT);
  add (0, true, 1, 1);
  add (1, true, NOTHING, NOTHING);
}

/* The strict item that is needed lies, in private, on the strict deque of the worker that waits for
 * it; the other worker of the place has it from there. */
static void
setup_strict_from_inside (void)
{
  setup_pool (1, 2, IRIS_LAYOUT_WORKERS, IRIS_DEQUE_SPLIT);
  add (IRIS_PLACE_ANY, false, 1, 1);
  add (0, true, NOTHING, NOTHING);
}

/* Any worker of the place runs it, and all end. */
static void
setup_strict_split (void)
{
  setup_pool (1, 2, IRIS_LAYOUT_WORKERS, IRIS_DEQUE_SPLIT);
  add (IRIS_PLACE_ANY, false, 1, NOTHING);
  add (0, true, NOTHING, NOTHING);
}

/* The item from inside lies in a proxy, in the affinity queue there and on the deque here. */
static void
setup_affinity (void)
{
  setup_pool (2, 1, IRIS_LAYOUT_AFFINITY, IRIS_DEQUE_SPLIT);
  add (0, true, 1, NOTHING);
  add (1, false, NOTHING, NOTHING);
}

static void
setup_mailboxes (void)
{
  setup_pool (2, 1, IRIS_LAYOUT_MAILBOXES, IRIS_DEQUE_SPLIT);
  add (0, true, 1, NOTHING);
  add (1, false, NOTHING, NOTHING);
}

/* One of two workers goes out, and comes back before the end or does not; what it leaves on its
 * deque, of which a part may be private, is run all the same. */

static void
out (unsigned self)
{
  if (self < 2)
    {
      be_worker (self);
      return;
    }
  queue (0);
  explore_note ("one is to go out");
  iris_active_workers_set_wanted (pool, 1);
  iris_worker_pool_shutdown (pool, IRIS_SHUTDOWN_DRAIN);
}

static void
out_and_in (unsigned self)
{
  if (self < 2)
    {
      be_worker (self);
      return;
    }
  iris_active_workers_set_wanted (pool, 1);
  queue (0);
  explore_note ("all are to be in");
  iris_active_workers_set_wanted (pool, 2);
}

/* The only worker waits for what it has queued itself, in private; the spare runs it. */

static void
setup_spare (void)
{
  setup_pool (1, 1, IRIS_LAYOUT_WORKERS, IRIS_DEQUE_SPLIT);
  iris_active_workers_set_max_spares (pool, 1);
  add (IRIS_PLACE_ANY, false, 1, 1);
  add (IRIS_PLACE_ANY, false, NOTHING, NOTHING);
  works[0].says_so = true;
}

static void
spare (unsigned self)
{
  if (self < 2)
    be_worker (self);
  else
    queue (0);
}

static void
spare_at_the_end (unsigned self)
{
  spare (self);
  if (self == 2)
    iris_worker_pool_shutdown (pool, IRIS_SHUTDOWN_DRAIN);
}

/* The same twice in a row while the pool ends, on each layout: the spare waits in between. */

static void
setup_spare_twice (IrisLayout layout, IrisDequeKind kind)
{
  setup_pool (1, 1, layout, kind);
  iris_active_workers_set_max_spares (pool, 1);
  add (IRIS_PLACE_ANY, false, 1, 1);
  add (IRIS_PLACE_ANY, false, NOTHING, NOTHING);
  add (IRIS_PLACE_ANY, false, NOTHING, NOTHING);
  works[0].says_so = true;
  works[0].then = 2;
}

static void
setup_spare_twice_workers (void)
{
  setup_spare_twice (IRIS_LAYOUT_WORKERS, IRIS_DEQUE_SPLIT);
}

static void
setup_spare_twice_affinity (void)
{
  setup_spare_twice (IRIS_LAYOUT_AFFINITY, IRIS_DEQUE_CHASE_LEV);
}

static void
setup_spare_twice_shared (void)
{
  setup_spare_twice (IRIS_LAYOUT_SHARED, IRIS_DEQUE_LOCKED);
}

/* The same, with a strict one, while the pool ends. */
static void
setup_strict_spare (void)
{
  setup_spare ();
  works[1].item.place = 0;
  works[1].item.flags = IRIS_ITEM_STRICT;
}

#define SMALL .preemptions = 2, .delays = 1, .together = 2, .random_runs = 5000
#define TINY  .preemptions = 1, .delays = 1, .random_runs = 5000
#define LEAST .preemptions = 1, .delays = 1, .together = 1, .random_runs = 5000

#if defined(PLANT_NO_RECHECK) || defined(PLANT_NO_SECOND_LOOK)
static const ExploreScenario scenarios[] = {
  { "worker-pool/chain", 3, setup_chain, outside_queues_two, check, .may_sleep = true,
    .fails = "is lost", SMALL },
};
#elif defined(PLANT_NO_STRICT)
static const ExploreScenario scenarios[] = {
  { "worker-pool/strict-from-inside", 3, setup_strict_from_inside, outside_queues_one, check,
    .may_sleep = true, .fails = "is lost", SMALL },
};
#else
static const ExploreScenario scenarios[] = {
  { "worker-pool/one-worker", 2, setup_one_worker, one_worker, check, .delays = 1, .together = 3 },
  { "worker-pool/too-late", 3, setup_too_late, too_late, check, SMALL },
  { "worker-pool/chain", 3, setup_chain, outside_queues_two, check, .may_sleep = true, SMALL },
  { "worker-pool/from-inside", 3, setup_from_inside, outside_queues_one, check, .may_sleep = true,
    SMALL },
  { "worker-pool/from-inside-split", 3, setup_from_inside_split, outside_queues_one, check,
    .may_sleep = true, SMALL },
  { "worker-pool/shared", 3, setup_shared, outside_queues_one, check, .may_sleep = true, SMALL },
  { "worker-pool/split", 3, setup_split, outside_shuts_down, check, TINY },
  { "worker-pool/strict", 3, setup_strict, outside_queues_one, check, .may_sleep = true, SMALL },
  { "worker-pool/strict-from-inside", 3, setup_strict_from_inside, outside_queues_one, check,
    .may_sleep = true, SMALL },
  { "worker-pool/strict-split", 3, setup_strict_split, outside_shuts_down, check, TINY },
  { "worker-pool/affinity", 3, setup_affinity, outside_queues_one, check, .may_sleep = true,
    SMALL },
  { "worker-pool/mailboxes", 3, setup_mailboxes, outside_queues_one, check, .may_sleep = true,
    TINY },
  { "worker-pool/out", 3, setup_split, out, check, TINY },
  { "worker-pool/out-and-in", 3, setup_from_inside, out_and_in, check, .may_sleep = true, TINY },
  { "worker-pool/spare", 3, setup_spare, spare, check, .may_sleep = true, TINY },
  { "worker-pool/spare-at-the-end", 3, setup_strict_spare, spare_at_the_end, check, TINY },
  { "worker-pool/spare-twice", 3, setup_spare_twice_workers, spare_at_the_end, check, LEAST },
  { "worker-pool/spare-twice-affinity", 3, setup_spare_twice_affinity, spare_at_the_end, check,
    LEAST },
  { "worker-pool/spare-twice-shared", 3, setup_spare_twice_shared, spare_at_the_end, check, LEAST },
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
