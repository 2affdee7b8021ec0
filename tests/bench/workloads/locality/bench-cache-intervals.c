/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The Cache Stress Test with intervals, placed by hints.
 *
 * By turns, a pass is an interval, and all units make a pass before any of them makes the next one:
 * the program goes in steps, as one that sweeps over its data does. Without the steps a worker
 * would follow one unit to its end, newest interval first, and hints would not matter.
 */
#include "tests/bench/workloads/bench-workload.h"
#include "tests/bench/workloads/locality/bench-cache-stress.h"

#include <stdlib.h>

static gboolean
pass (IrisInterval *interval, gpointer data, GError **error)
{
  bench_stress_pass (data);

  return TRUE;
}

static gboolean
passes (IrisInterval *interval, gpointer data, GError **error)
{
  bench_stress_passes (data);

  return TRUE;
}

static gboolean
step (IrisInterval *interval, gpointer data, GError **error)
{
  return TRUE;
}

/* Each step begins behind all intervals of the one before: an interval that does nothing stands
 * between them, so that there are not as many edges as pairs. It runs where the last one ended. */
static void
add_steps (BenchIntervals *self, const BenchStressLoad *load, BenchStressUnit *units)
{
  IrisInterval *between = NULL;

  for (guint i = 0; i < load->stress->passes; i++)
    {
      IrisInterval *next = bench_intervals_add (self, "step", step, NULL, BENCH_NO_PLACE);

      for (guint j = 0; j < load->stress->n_units; j++)
        {
          IrisInterval *one = bench_intervals_add (self, "pass", pass, &units[j],
                                                   bench_stress_place (&units[j]));

          bench_intervals_after (one, between);
          bench_intervals_after (next, one);
        }
      between = next;
    }
}

static gboolean
run_intervals (const BenchRun *what, gdouble *samples, GError **error)
{
  const BenchStressLoad *load = what->load;
  BenchStressUnit *units = bench_stress_units_new (load);
  BenchIntervals intervals;
  gboolean good = bench_intervals_open (&intervals, load->stress->places, load->placement, error);

  if (good)
    {
      if (load->by_turns)
        add_steps (&intervals, load, units);
      for (guint i = 0; !load->by_turns && i < load->stress->n_units; i++)
        bench_intervals_add (&intervals, "passes", passes, &units[i],
                             bench_stress_place (&units[i]));
      good = bench_intervals_run (&intervals, samples, error)
             && bench_stress_check (load, units, error);
      bench_intervals_close (&intervals);
    }
  free (units);

  return good;
}

static gboolean
plan (BenchResult *result, const BenchOptions *options, GError **error)
{
  return bench_stress_plan (result, options, "interval",
                            BENCH_PLACEMENT_BEST | BENCH_PLACEMENT_WORST | BENCH_PLACEMENT_RANDOM
                                | BENCH_PLACEMENT_IGNORANT | BENCH_PLACEMENT_BEST_STRICT
                                | BENCH_PLACEMENT_WORST_STRICT | BENCH_PLACEMENT_IGNORANT_DEALT,
                            run_intervals, error);
}

static const BenchPublished published[] = {
  { "worst over best, elements in order, at once: as published", "in order, at once", "worst", 12,
    12 },
  { "worst over best, linked, at once", "linked, at once", "worst", 12, 12 },
  { "worst over best, linked, by turns", "linked, by turns", "worst", 12, 12 },
  { "ignorant over best, linked, by turns", "linked, by turns", "ignorant", 12, 12 },
  { "ignorant as LASSI dealt over best, linked, by turns", "linked, by turns", "ignorant, dealt",
    12, 12 },
  BENCH_HITS ("worst", "in order, at once", 1.5, 1.5),
  BENCH_MISSES ("worst", "in order, at once", 3.1, 3.1),
  { NULL },
};

const BenchWorkload bench_workload_cache_intervals = {
  .name = "cache-intervals",
  .summary = "two arrays in two caches: good hints and bad",
  .suite = BENCH_SUITE_PAPER,
  .item = "pass",
  .plan = plan,
  .figure =
      &(const BenchFigure){
          .row = "B10 B14",
          .title = "Cache Stress Test: Performance",
          .source =
              "Th. Weibel, An Advanced Scheduler for Intervals, ETH Zurich, 2010, Performance "
              "Evaluation, Locality Benchmarks",
          .machine =
              "two Intel Nehalem processors of 4 cores, an L3 cache of 8 MB each, HotSpot 1.6",
          .differs =
              "Percent that a placement takes longer than the best one. Arrays are 0.75 of a "
              "place's cache, which one core may have to itself: so intervals go in steps of a "
              "pass, and elements lie in a list, besides the published form. Without hints, and at "
              "random, the arrays are dealt to intervals by chance. Hints are soft, as LASSI's "
              "were, but for “best, strict” and “worst, strict”.",
          .published = published },
  .check = bench_placements_check,
};
