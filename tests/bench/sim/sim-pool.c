/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The simulated code: the sources of the worker pool, of parking, of the place queues and of the
 * slabs, as they ship; and what they find in place of the rest. sim-private.h has the design.
 *
 * Not simulated: forks and joins (iris-fork-stack.c), spares, and the watch for other processes.
 */
#include "tests/bench/sim/sim-pool.h"

#include <time.h>

/* Of the simulated time; and pages keep their memory, which goes back with the run. */
static int
sim_clock_gettime (clockid_t clock, struct timespec *now)
{
  uint64_t at = sim_engine.current == NULL ? 0 : sim_engine.current->now / 1000;

  *now = (struct timespec){ (time_t) (at / 1000000000), (long) (at % 1000000000) };

  return 0;
}

#define clock_gettime             sim_clock_gettime
#define IRIS_PAGE_DISCARD(memory) ((void) (memory))

#include "iris/base/memory/iris-page-pool.c"

#undef clock_gettime

#include "iris/base/memory/iris-slab.c"
#include "iris/base/sync/iris-parking-lot.c"
#include "iris/sched/pool/iris-active-workers.c"
#include "iris/sched/pool/iris-worker-pool.c"
#include "iris/sched/pool/iris-worker.c"
#include "iris/sched/steal/iris-place-queues-refuse.c"
#include "iris/sched/steal/iris-place-queues.c"
#include "iris/sched/steal/iris-place-search.c"
#include "iris/sched/steal/iris-strict-deque.c"

#include "iris/sched/compare/iris-compared-queues-private.h"

#include "tests/bench/sim/sim-data-private.h"

#include "worker-pool-absent.h"

/* --- what is not simulated -------------------------------------------------------------------- */

/* None is given back: workers stay until a run ends. */

__thread unsigned iris_thread_slot_plus_one;
static unsigned n_slots;

unsigned
iris_thread_slot_acquire (void)
{
  unsigned slot = MIN (n_slots, IRIS_THREAD_SLOTS);

  n_slots = slot + 1;
  iris_thread_slot_plus_one = slot + 1;

  return slot;
}

IrisStats *
iris_stats_new (guint n_places, guint n_workers)
{
  g_error ("the simulator reads the counters themselves");
}

/* --- places ----------------------------------------------------------------------------------- */

/* An IrisPlaces is a SimPlaces here, and an IrisPlace the number of one, + 1. */

static SimPlaces *places_now;

static guint
number_of (const IrisPlace *place)
{
  return GPOINTER_TO_UINT (place) - 1;
}

guint
iris_places_get_n_places (IrisPlaces *self)
{
  return places_now->n_places;
}

IrisPlace *
iris_places_get_place (IrisPlaces *self, guint place)
{
  return GUINT_TO_POINTER (place + 1);
}

guint
iris_places_get_distance (IrisPlaces *self, guint from, guint to)
{
  return sim_places_distance (places_now, from, to);
}

guint
iris_place_get_n_workers (const IrisPlace *self)
{
  return places_now->workers[number_of (self)];
}

guint64
iris_place_get_cache_size (const IrisPlace *self)
{
  return places_now->cache_size;
}

/* --- threads ---------------------------------------------------------------------------------- */

static IrisWorkerPool *pool_now;

static guint
processor_of (const IrisWorker *worker)
{
  const IrisPlaceQueues *queues = worker->pool->owner;

  return places_now->first_processor[worker->place] + worker->index
         - queues->queues[worker->place].first_worker;
}

static void
worker_body (void *data)
{
  iris_worker_main (data);
}

GThread *
sim_thread_new (gpointer (*func) (gpointer), gpointer worker)
{
  g_assert (func == iris_worker_main);

  return (GThread *) sim_fiber_new (processor_of (worker), worker_body, worker);
}

gpointer
sim_thread_join (GThread *thread)
{
  const SimFiber *fiber = (const SimFiber *) thread;
  SimFiber *self = sim_engine.current;

  while (!fiber->has_ended)
    sim_wait (fiber, UINT64_MAX);
  self->now = MAX (self->now, fiber->now + sim_engine.cost[SIM_COST_end]);

  return NULL;
}

void
sim_note_steal (guint worker, guint victim, guint n)
{
  SimLevel level = sim_machine_between (sim_engine.machine, sim_engine.current->processor,
                                        places_now->first_processor[victim]);

  /* The first worker of the own place stands for all of it. */
  if (victim == pool_now->workers[worker].place && level == SIM_CORE)
    level = pool_now->n_places < pool_now->n_workers ? SIM_CACHE : SIM_CORE;
  sim_engine.counts.steals[level]++;
  sim_engine.counts.stolen[level] += n;
}

/* --- a run ------------------------------------------------------------------------------------ */

typedef struct
{
  SimLoad *load;
  const SimWorld *world;
  bool drains; /* the end of the workers is timed, too */
  guint64 n_left;
  uint64_t begun, last, drained;
} Outside;

static Outside outside_now;

/* Adds what the workers count themselves, @times. */
static void
count_pool (guint64 times)
{
  const IrisPlaceQueues *queues = pool_now->owner;
  SimCounts *counts = &sim_engine.counts;

  for (guint i = 0; i < pool_now->n_workers; i++)
    {
      const IrisWorkerCounters *c = &pool_now->workers[i].counters;

      counts->tries += times * iris_counter_get (&c->steal_tries);
      counts->refused += times
                         * (iris_counter_get (&c->refused_backlog)
                            + iris_counter_get (&c->refused_size)
                            + iris_counter_get (&c->refused_distance)
                            + iris_counter_get (&c->refused_apart));
      counts->parks += times * iris_counter_get (&c->parks);
      counts->wakes += times * iris_counter_get (&c->wakes);
    }
  for (guint i = 0; i < queues->n_places; i++)
    counts->messages += times * iris_striped_counters_get (&queues->hinted, i);
}

static void
world_queue (gpointer self, IrisCallback func, gpointer data, gint place)
{
  iris_worker_pool_queue (self, iris_item_new (func, data, NULL, place, 0));
}

/* What an item does takes the time of its worker; all before it has taken place. */
static void
world_work (gpointer self, gdouble nanoseconds)
{
  sim_spend ((uint64_t) (nanoseconds * 1000));
  outside_now.last = MAX (outside_now.last, sim_engine.current->now);
  if (--outside_now.n_left == 0 && !outside_now.drains)
    {
      sim_engine.is_free = true;
      count_pool (1);
    }
}

static void
world_touch (gpointer self, guint region, gboolean writes)
{
  sim_data_touch (region, writes);
}

static guint
world_count_down (gpointer self, guint32 *counter)
{
  return atomic_fetch_sub_explicit ((_Atomic guint32 *) counter, 1, memory_order_acq_rel) - 1;
}

static void
outside_body (void *data)
{
  Outside *self = data;

  sim_engine.is_free = true;
  iris_worker_pool_start (pool_now);
  sim_settle ();
  memset (&sim_engine.counts, 0, sizeof sim_engine.counts);
  count_pool ((guint64) -1);
  sim_engine.is_free = false;
  self->begun = self->last = sim_engine.current->now;
  sim_load_start (self->load, self->world);
  iris_worker_pool_shutdown (pool_now, IRIS_SHUTDOWN_DRAIN);
  self->drained = sim_engine.current->now;
  if (self->drains)
    count_pool (1);
}

static void
get_rules (const char *words, IrisStealRules *rules, GError **error)
{
  g_autoptr (IrisStealPolicy) policy = iris_steal_policy_parse (words, error);
  IrisStealOrder order;
  IrisStealAmount amount;
  IrisStealRefusal refuse;
  guint cap, move_cost, bandwidth, max_delay;

  if (policy == NULL)
    return;
  g_object_get (policy, "order", &order, "amount", &amount, "refuse", &refuse, "cap", &cap,
                "move-cost", &move_cost, "bandwidth", &bandwidth, "max-delay", &max_delay, NULL);
  *rules = (IrisStealRules){ order,
                             amount,
                             cap,
                             refuse == IRIS_STEAL_REFUSAL_COSTLY,
                             move_cost,
                             bandwidth,
                             max_delay * (guint64) 1000 };
}

/* As iris-place-scheduler.c makes it. */
static IrisWorkerPool *
make_pool (const SimPolicy *policy, const IrisStealRules *rules)
{
  IrisPlaceQueues *queues;
  IrisWorkerPool *pool;

  if (policy->layout != IRIS_LAYOUT_WORKERS || policy->deque != IRIS_DEQUE_SPLIT)
    return iris_compared_queues_new_pool ((IrisPlaces *) places_now, policy->deal, policy->layout,
                                          policy->deque, rules);
  queues = iris_place_queues_new (sizeof *queues, (IrisPlaces *) places_now, policy->deal, rules);
  pool = iris_place_queues_make_pool (queues, &iris_place_queues_ops, iris_place_queues_free);
  if (policy->deal == IRIS_DEAL_OWN)
    iris_worker_pool_set_plain (pool);

  return pool;
}

static void
prepare (const SimSetup *setup, const IrisStealRules *rules)
{
  idle_sets = known_sets = NULL;
  n_slabs = 0;
  memset (&page_pool, 0, sizeof page_pool);
  page_pool.n_cut = N_PAGES;
  n_slots = 0;
  sim_engine_local (&iris_thread_slot_plus_one, sizeof iris_thread_slot_plus_one);
  sim_engine_local (&iris_worker_mine, sizeof iris_worker_mine);
  sim_engine_local (iris_slab_mine, sizeof iris_slab_mine);
  sim_engine_local (&sweeps_here, sizeof sweeps_here);
  pool_now = make_pool (setup->policy, rules);
  for (guint i = 0; i < pool_now->n_workers; i++)
    iris_random_seed (&pool_now->workers[i].random, setup->seed * IRIS_PLACES_MAX_WORKERS + i + 1);
}

gboolean
sim_run (const SimSetup *setup, SimLoad *load, SimOutcome *outcome, GError **error)
{
  const SimWorld world = { 0, world_queue, world_work, world_touch, world_count_down, NULL };
  SimWorld here = world;
  IrisStealRules rules = { 0 };
  g_autoptr (GError) why = NULL;
  gboolean good;

  get_rules (setup->policy->steal, &rules, &why);
  if (why != NULL)
    {
      g_propagate_error (error, g_steal_pointer (&why));
      return FALSE;
    }
  places_now = sim_places_new (setup->machine, setup->policy->places, setup->n_workers, error);
  if (places_now == NULL)
    return FALSE;
  good = sim_engine_init (setup->machine, setup->costs, error);
  if (good)
    {
      sim_data_init (setup->machine, sim_load_spec (load));
      prepare (setup, &rules);
      here.n_places = pool_now->n_places;
      here.self = pool_now;
      outside_now = (Outside){
        .load = load, .world = &here, .drains = setup->drains, .n_left = sim_load_n_items (load)
      };
      sim_fiber_new (0, outside_body, &outside_now);
      good = sim_engine_run ();
      if (!good)
        g_set_error_literal (error, BENCH_ERROR, BENCH_ERROR_RESULT,
                             "the simulated workers wait for ever; this is a defect of the pool or "
                             "of the simulator");
      outcome->counts = sim_engine.counts;
      outcome->last = (gdouble) (outside_now.last - outside_now.begun) / 1e12;
      outcome->drained = setup->drains ? (gdouble) (outside_now.drained - outside_now.begun) / 1e12
                                       : outcome->last;
      if (good)
        iris_worker_pool_free (pool_now);
      sim_data_clear ();
      sim_engine_clear ();
    }
  g_clear_pointer (&places_now, sim_places_free);

  return good && sim_load_check (load, error);
}
