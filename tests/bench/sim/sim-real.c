/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The loads on real workers, for what the simulator is held against.
 */
#include "tests/bench/peers/bench-iris.h"
#include "tests/bench/sim/sim.h"

#include <sched.h>
#include <stdatomic.h>
#include <sys/resource.h>

typedef struct
{
  IrisScheduler *scheduler;
  BenchWork work;
  gdouble **regions;
  gsize n; /* numbers in a region */
} Real;

static void
real_queue (gpointer self, IrisCallback func, gpointer data, gint place)
{
  const Real *real = self;

  if (place == IRIS_PLACE_ANY)
    iris_scheduler_queue (real->scheduler, func, data, NULL);
  else
    iris_scheduler_queue_at (real->scheduler, place, IRIS_ITEM_NONE, func, data, NULL);
}

static void
real_work (gpointer self, gdouble nanoseconds)
{
  const Real *real = self;

  if (real->work.steps > 0)
    bench_work_do (&real->work);
}

/* Of the calling thread, and of those that it starts. */
int
sim_real_hurry (void)
{
  int before = getpriority (PRIO_PROCESS, 0);

  setpriority (PRIO_PROCESS, 0, PRIO_MIN);

  return before;
}

void
sim_real_slow_down (int before)
{
  setpriority (PRIO_PROCESS, 0, before);
}

void
sim_real_touch (gdouble *numbers, gsize n, gboolean writes)
{
  gdouble sums[4] = { 0 };

  for (gsize i = 0; i + 4 <= n; i += 4)
    for (guint j = 0; j < 4; j++)
      {
        sums[j] += numbers[i + j];
        if (writes)
          numbers[i + j] = sums[j];
      }
  __asm__ volatile("" : : "x"(sums[0] + sums[1] + sums[2] + sums[3]));
}

static void
real_touch (gpointer self, guint region, gboolean writes)
{
  const Real *real = self;

  sim_real_touch (real->regions[region], real->n, writes);
}

static guint
real_count_down (gpointer self, guint32 *counter)
{
  return atomic_fetch_sub_explicit ((_Atomic guint32 *) counter, 1, memory_order_acq_rel) - 1;
}

static void
real_init (Real *self, const SimLoadSpec *spec)
{
  self->work = spec->grain > 0 ? bench_work_new (spec->grain / 1000) : (BenchWork){ 0 };
  self->n = spec->region / sizeof (gdouble);
  self->regions = g_new0 (gdouble *, spec->n_regions + 1);
  for (guint i = 0; i < spec->n_regions; i++)
    {
      self->regions[i] = g_new0 (gdouble, self->n + 1);
      sim_real_touch (self->regions[i], self->n, TRUE); /* page faults are not simulated */
    }
}

static void
real_clear (Real *self, const SimLoadSpec *spec)
{
  for (guint i = 0; i < spec->n_regions; i++)
    g_free (self->regions[i]);
  g_free (self->regions);
  g_clear_object (&self->scheduler);
}

static void
real_time (Real *self, SimLoad *load, const SimWorld *world, SimOutcome *outcome)
{
  g_autoptr (IrisStats) stats = NULL;
  gint64 begin = bench_now ();

  sim_load_start (load, world);
  iris_scheduler_shutdown (self->scheduler, IRIS_SHUTDOWN_DRAIN);
  outcome->drained = outcome->last = bench_seconds_since (begin);
  stats = iris_scheduler_get_stats (self->scheduler);
  outcome->counts = (SimCounts){ 0 };
  outcome->counts.steals[SIM_CACHE] = stats->total.steals;
  outcome->counts.stolen[SIM_CACHE] = stats->total.stolen_in + stats->total.stolen_inside;
  outcome->counts.tries = stats->total.steal_tries;
  outcome->counts.parks = stats->total.parks;
  outcome->counts.wakes = stats->total.wakes;
}

/* Each of the first processors that this process may use is a place of one worker, which is bound
 * to it: a simulated worker has a processor for itself, too. */
static IrisPlaces *
make_places (guint n_workers, GError **error)
{
  g_autoptr (GPtrArray) sets = g_ptr_array_new_with_free_func (g_free);
  cpu_set_t all;

  CPU_ZERO (&all);
  sched_getaffinity (0, sizeof all, &all);
  for (guint cpu = 0; cpu < CPU_SETSIZE && sets->len < n_workers; cpu++)
    if (CPU_ISSET (cpu, &all))
      g_ptr_array_add (sets, g_strdup_printf ("%u", cpu));
  if (sets->len < n_workers) /* two workers on one processor */
    return iris_places_new_unbound (n_workers, 1);
  g_ptr_array_add (sets, NULL);

  return iris_places_new_for_cpusets (NULL, (const char *const *) sets->pdata, n_workers,
                                      IRIS_BIND_CPU, error);
}

gboolean
sim_run_really (const SimPolicy *policy,
                guint n_workers,
                SimLoad *load,
                SimOutcome *outcome,
                GError **error)
{
  Real real = { 0 };
  const SimWorld world = { n_workers, real_queue, real_work, real_touch, real_count_down, &real };
  g_autoptr (IrisPlaces) places = make_places (n_workers, error);
  g_autoptr (IrisStealPolicy)
      steal = places != NULL ? iris_steal_policy_parse (policy->steal, error) : NULL;
  gboolean good;

  if (places == NULL || steal == NULL)
    return FALSE;
  real_init (&real, sim_load_spec (load));
  real.scheduler = g_object_new (IRIS_TYPE_PLACE_SCHEDULER, "places", places, "deal", policy->deal,
                                 "layout", policy->layout, "deque", policy->deque, "steal-policy",
                                 steal, NULL);
  good = bench_iris_start (real.scheduler, error);
  if (good)
    real_time (&real, load, &world, outcome);
  real_clear (&real, sim_load_spec (load));

  return good && sim_load_check (load, error);
}
