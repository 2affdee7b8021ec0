/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The Cache Stress Test with plain threads, bound to cores by the placement.
 *
 * By turns, the threads of a core pass a baton after each pass, so that one of them runs at a time.
 */
#include "tests/bench/workloads/bench-workload.h"
#include "tests/bench/workloads/locality/bench-cache-stress.h"

#include <stdlib.h>

typedef struct
{
  GMutex lock;
  GCond changed[BENCH_STRESS_UNITS]; /* one of them is waited on by each thread of the core */
  guint turn;
} Baton;

typedef struct
{
  const BenchStress *stress;
  const BenchStressLoad *load;
  BenchStressUnit *units;
  Baton *batons; /* one for each core */
  gint not_bound;
} Run;

static void
take_turns (const Run *run, BenchStressUnit *unit)
{
  Baton *baton = &run->batons[unit->index / BENCH_STRESS_UNITS];
  guint mine = unit->index % BENCH_STRESS_UNITS;

  g_mutex_lock (&baton->lock);
  for (guint i = run->stress->passes; i > 0; i--)
    {
      while (baton->turn != mine)
        g_cond_wait (&baton->changed[mine], &baton->lock);
      /* The others wait for their turns, so none wants the lock. */
      bench_stress_pass (unit);
      baton->turn = (mine + 1) % BENCH_STRESS_UNITS;
      g_cond_signal (&baton->changed[baton->turn]);
    }
  g_mutex_unlock (&baton->lock);
}

/* The worker of its place that a core is. */
static guint
worker_of_core (const BenchStress *stress, guint core)
{
  guint worker = 0;

  while (worker < core && stress->place_of_core[core - worker - 1] == stress->place_of_core[core])
    worker++;

  return worker;
}

static void
work (gpointer data, guint index)
{
  Run *run = data;
  BenchStressUnit *unit = &run->units[index];
  IrisPlace *place = iris_places_get_place (run->stress->places, bench_stress_place (unit));
  guint worker = worker_of_core (run->stress, index / BENCH_STRESS_UNITS);

  if (run->load->placement->placed != BENCH_PLACED_NOWHERE
      && !iris_place_bind_current_thread (place, worker, NULL))
    g_atomic_int_inc (&run->not_bound);
  if (run->load->by_turns)
    take_turns (run, unit);
  else
    bench_stress_passes (unit);
}

static Baton *
batons_new (guint n)
{
  Baton *batons = g_new0 (Baton, n);

  for (guint i = 0; i < n; i++)
    {
      g_mutex_init (&batons[i].lock);
      for (guint j = 0; j < BENCH_STRESS_UNITS; j++)
        g_cond_init (&batons[i].changed[j]);
    }

  return batons;
}

static void
batons_free (Baton *batons, guint n)
{
  for (guint i = 0; i < n; i++)
    {
      g_mutex_clear (&batons[i].lock);
      for (guint j = 0; j < BENCH_STRESS_UNITS; j++)
        g_cond_clear (&batons[i].changed[j]);
    }
  g_free (batons);
}

static gboolean
run_threads (const BenchRun *what, gdouble *samples, GError **error)
{
  const BenchStressLoad *load = what->load;
  const BenchStress *stress = load->stress;
  Run run = { .stress = stress, .load = load };
  gboolean good;

  run.units = bench_stress_units_new (load);
  run.batons = batons_new (stress->n_cores);
  samples[0] = bench_seconds_since (bench_threads_run (stress->n_units, work, &run));
  good = bench_stress_check (load, run.units, error);
  if (good && run.not_bound > 0)
    {
      g_set_error (error, BENCH_ERROR, BENCH_ERROR_MACHINE,
                   "%d of %u threads could not be bound to their cores", run.not_bound,
                   stress->n_units);
      good = FALSE;
    }
  batons_free (run.batons, stress->n_cores);
  free (run.units);

  return good;
}

static gboolean
plan (BenchResult *result, const BenchOptions *options, GError **error)
{
  return bench_stress_plan (result, options, "thread",
                            BENCH_PLACEMENT_BEST | BENCH_PLACEMENT_WORST | BENCH_PLACEMENT_RANDOM
                                | BENCH_PLACEMENT_IGNORANT,
                            run_threads, error);
}

static const BenchPublished published[] = {
  { "worst over best, elements in order, at once: as published", "in order, at once", "worst", 20,
    55 },
  { "worst over best, linked, at once", "linked, at once", "worst", 20, 55 },
  { "worst over best, linked, by turns", "linked, by turns", "worst", 20, 55 },
  { "random over best, linked, by turns", "linked, by turns", "random", 20, 55 },
  { "ignorant over best, linked, by turns", "linked, by turns", "ignorant", 20, 55 },
  BENCH_HITS ("worst", "in order, at once", 1.5, 1.8),
  BENCH_MISSES ("worst", "in order, at once", 3.6, 4.5),
  BENCH_HITS ("random", "in order, at once", 1.5, 1.8),
  BENCH_MISSES ("random", "in order, at once", 3.6, 4.5),
  BENCH_HITS ("ignorant", "in order, at once", 1.5, 1.8),
  BENCH_MISSES ("ignorant", "in order, at once", 3.6, 4.5),
  { NULL },
};

const BenchWorkload bench_workload_cache_threads = {
  .name = "cache-threads",
  .summary = "two arrays in two caches: threads bound well and badly",
  .suite = BENCH_SUITE_PAPER,
  .item = "pass",
  .plan = plan,
  .figure =
      &(const BenchFigure){
          .row = "B9 B14",
          .title = "Cache Stress Test: Execution Times",
          .source = "Th. Weibel, An Advanced Scheduler for Intervals, ETH Zurich, 2010, Approach",
          .machine =
              "two Intel Nehalem processors of 4 cores, an L3 cache of 8 MB each, HotSpot 1.6",
          .differs =
              "Percent that a placement takes longer than the best one. Arrays are 0.75 of a "
              "place's cache, which one core may have to itself: so threads take turns after "
              "each pass, and elements lie in a list, besides the published form. Of threads that "
              "are not bound, and at random, the arrays are dealt to them by chance.",
          .published = published },
  .check = bench_placements_check,
};
