/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Sizes beyond this machine: the policies of work-stealing places on simulated machines of 16 to
 * 10,000 processors, and the simulator against real runs.
 *
 * A simulation gives the same each time, so it is run once, however many rounds there are.
 */
#include "tests/bench/sim/sim.h"
#include "tests/bench/workloads/bench-workload.h"

#include <string.h>

/* Of the usual sizes: 10000 is an option, because it takes some minutes. Beyond 256 workers the
 * other loads and policies take hours; --only names a policy. */
#define LARGEST   4096
#define ALL_UP_TO 256

static const struct
{
  guint n;
  const char *description;
} machines[] = {
  { 16, "package:1 l3:2 core:8 pu:1" },     { 64, "package:2 l3:4 core:8 pu:1" },
  { 256, "package:4 l3:8 core:8 pu:1" },    { 1024, "package:8 l3:16 core:8 pu:1" },
  { 4096, "package:16 l3:32 core:8 pu:1" }, { 10000, "package:10 l3:100 core:10 pu:1" },
};

/* --- sizes ------------------------------------------------------------------------------------ */

typedef struct
{
  const char *machine;
  const SimPolicy *policy;
  const SimCosts *costs;
  SimLoadSpec spec;
  gboolean is_done;
  SimOutcome outcome;
} Case;

/* Items that were stolen from beyond the shared cache, in percent of all. */
static gdouble
far_share (const SimOutcome *outcome, guint64 n_items)
{
  const SimCounts *counts = &outcome->counts;

  return (gdouble) (counts->stolen[SIM_NODE] + counts->stolen[SIM_FAR]) * 100 / (gdouble) n_items;
}

static gboolean
run_case (const BenchRun *run, gdouble *samples, GError **error)
{
  Case *self = (Case *) run->load;
  g_autoptr (SimLoad) load = sim_load_new (&self->spec);

  if (!self->is_done)
    {
      g_autoptr (SimMachine) machine = sim_machine_new (self->machine, error);
      const SimSetup setup = {
        .machine = machine, .costs = self->costs, .policy = self->policy, .seed = 1
      };

      if (machine == NULL || !sim_run (&setup, load, &self->outcome, error))
        return FALSE;
      self->is_done = TRUE;
    }
  samples[0] = self->outcome.last;
  samples[1] = far_share (&self->outcome, sim_load_n_items (load));

  return TRUE;
}

static void
add_cases (BenchResult *result,
           const BenchOptions *options,
           const SimCosts *costs,
           guint at,
           SimLoadKind kind)
{
  guint n = machines[at].n, each = bench_is_quick (options) ? 8 : 40;
  g_autofree char *load = g_strdup_printf ("%s, %u workers", sim_load_name (kind), n);
  g_autofree char *far = g_strdup_printf ("%s, %u workers: from afar", sim_load_name (kind), n);

  for (const SimPolicy *policy = sim_policies; policy->name != NULL; policy++)
    {
      Case *data = g_new0 (Case, 1);
      const BenchCase what = { .load = load,
                               .second = far,
                               .second_unit = BENCH_PERCENT,
                               .workers = n,
                               .x = n,
                               .run = run_case,
                               .data = bench_result_own (result, data, g_free) };

      *data = (Case){ .machine = machines[at].description,
                      .policy = policy,
                      .costs = costs,
                      .spec = sim_load_for (kind, n, each) };
      if (bench_is_wanted (options, policy->name, BENCH_IRIS)
          && (n <= ALL_UP_TO || options->only != NULL || policy == sim_policies
              || g_str_equal (policy->name, "random")))
        {
          bench_result_add (result, &what, policy->name, BENCH_IRIS, NULL);
          bench_series_compare (g_ptr_array_index (result->series, result->series->len - 1), NULL,
                                BENCH_NOT_COMPARED);
        }
    }
}

static gboolean
plan_sizes (BenchResult *result, const BenchOptions *options, GError **error)
{
  SimCosts *costs = bench_result_own (result, g_new0 (SimCosts, 1), g_free);
  guint largest = options->size != 0 ? options->size : bench_is_quick (options) ? 16 : LARGEST;

  sim_costs_init (costs);
  if (options->costs != NULL && !sim_costs_load (costs, options->costs, error))
    return FALSE;
  bench_result_set_title (result,
                          "simulated: 40 items a worker, 16 to %u workers (--size 4096: to 4,096); "
                          "compared is the time until the last one has run, and the items stolen "
                          "from beyond the shared cache",
                          CLAMP (largest, machines[0].n, machines[G_N_ELEMENTS (machines) - 1].n));
  for (guint at = 0; at < G_N_ELEMENTS (machines) && machines[at].n <= MAX (largest, 16); at++)
    for (guint kind = 0; kind < SIM_N_LOADS; kind++)
      if (machines[at].n <= ALL_UP_TO || kind == SIM_FIB)
        add_cases (result, options, costs, at, kind);

  return TRUE;
}

static gboolean
check_sizes (const BenchOptions *options, GError **error)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new ();

  for (const SimPolicy *policy = sim_policies; policy->name != NULL; policy++)
    g_ptr_array_add (names, (gpointer) policy->name);
  g_ptr_array_add (names, NULL);

  return bench_check_chosen (options, "sizes", (const char *const *) names->pdata, error);
}

const BenchWorkload bench_workload_sizes = {
  .name = "sizes",
  .summary = "which policy for 16 to 10000 workers, simulated",
  .suite = BENCH_SUITE_PAPER,
  .x_label = "workers",
  .plan = plan_sizes,
  .check = check_sizes,
  .figure =
      &(const BenchFigure){
          .row = "B15",
          .title = "(e) more than 8 cores",
          .source = BENCH_LASSI ", Conclusions and Future Work",
          .machine = "none: the thesis had 8 cores and left more of them open",
          .differs =
              "simulated: the library's own code on described machines; no number was published",
      },
};

/* --- the simulator against real runs ---------------------------------------------------------- */

typedef struct
{
  SimLoadSpec spec;
  guint n_workers;
  const SimCosts *costs;
} Twin;

/* A real run is the best of so many, because other programs use the machine, too. */
#define TRIES 40

static gboolean
run_real (const BenchRun *run, gdouble *samples, GError **error)
{
  const Twin *self = run->load;
  g_autoptr (SimLoad) load = sim_load_new (&self->spec);
  SimOutcome best = { .drained = G_MAXDOUBLE }, outcome;
  int before = sim_real_hurry ();
  gboolean good = TRUE;

  for (guint i = 0; good && i < TRIES; i++)
    {
      good = sim_run_really (sim_policy_find ("core"), self->n_workers, load, &outcome, error);
      if (good && outcome.drained < best.drained)
        best = outcome;
    }
  sim_real_slow_down (before);
  if (!good)
    return FALSE;
  samples[0] = best.drained;
  samples[1] = (gdouble) best.counts.steals[SIM_CACHE] / best.drained;

  return TRUE;
}

static gboolean
run_simulated (const BenchRun *run, gdouble *samples, GError **error)
{
  const Twin *self = run->load;
  g_autoptr (SimLoad) load = sim_load_new (&self->spec);
  g_autoptr (SimMachine) machine = sim_machine_new (
      self->n_workers == 1 ? "l3:1 core:1 pu:1" : "l3:1 core:2 pu:1", error);
  const SimSetup setup = { .machine = machine,
                           .costs = self->costs,
                           .policy = sim_policy_find ("core"),
                           .n_workers = self->n_workers,
                           .seed = 1,
                           .drains = TRUE };
  SimOutcome outcome;

  if (machine == NULL || !sim_run (&setup, load, &outcome, error))
    return FALSE;
  samples[0] = outcome.drained;
  samples[1] = (gdouble) outcome.counts.steals[SIM_CACHE] / outcome.drained;

  return TRUE;
}

static void
add_twins (BenchResult *result, const SimCosts *costs, const SimLoadSpec *spec, guint n_workers)
{
  const Twin twin = { *spec, n_workers, costs };
  g_autofree char *load = g_strdup_printf ("%s, %g µs, %u worker%s", sim_load_name (spec->kind),
                                           spec->grain / 1000, n_workers, n_workers > 1 ? "s" : "");
  g_autofree char *steals = g_strdup_printf ("%s: steals", load);
  BenchCase what = { .load = load,
                     .second = n_workers > 1 ? steals : NULL,
                     .second_unit = BENCH_PER_SECOND,
                     .workers = n_workers,
                     .relation = BENCH_OVERHEAD,
                     .run = run_real,
                     .data = &twin,
                     .size = sizeof twin };
  g_autoptr (SimLoad) counted = sim_load_new (spec);

  what.n_items = sim_load_n_items (counted);
  bench_result_add (result, &what, "real", BENCH_PLAIN, NULL);
  what.run = run_simulated;
  bench_result_add (result, &what, "simulated", BENCH_IRIS, NULL);
}

static gboolean
plan_simulated (BenchResult *result, const BenchOptions *options, GError **error)
{
  SimCosts *costs = bench_result_own (result, g_new0 (SimCosts, 1), g_free);
  guint n = bench_is_quick (options) ? 4 : 1;
  const SimLoadSpec loads[] = {
    { .kind = SIM_RECURSIVE, .n = 100 / n, .each = 200, .grain = 200 },
    { .kind = SIM_FIB, .n = bench_is_quick (options) ? 14 : 23, .grain = 0 },
    { .kind = SIM_FIB, .n = bench_is_quick (options) ? 12 : 17, .grain = 1000 },
    { .kind = SIM_IMBALANCE, .each = 400 / n, .grain = 10000 },
    { .kind = SIM_STRESS,
      .n = 4,
      .each = 40 / n,
      .n_regions = 2,
      .region = 400 << 10,
      .grain = 1000 },
    { .kind = SIM_JACOBI, .each = 80 / n, .n_regions = 8, .region = 100 << 10, .grain = 1000 },
  };

  sim_costs_init (costs);
  if (options->costs != NULL ? !sim_costs_load (costs, options->costs, error)
                             : !bench_is_quick (options) && !sim_costs_measure (costs, error))
    return FALSE;
  bench_result_set_title (result,
                          "the simulator against real runs, each the best of %d; “over” is "
                          "its error",
                          TRIES);
  for (guint i = 0; i < G_N_ELEMENTS (loads); i++)
    for (guint n_workers = 1; n_workers <= 2; n_workers++)
      add_twins (result, costs, &loads[i], n_workers);

  return TRUE;
}

static gboolean
check_simulated (const BenchOptions *options, GError **error)
{
  static const char *const names[] = { "real", "simulated", NULL };

  return bench_check_chosen (options, "simulated", names, error);
}

const BenchWorkload bench_workload_simulated = {
  .name = "simulated",
  .summary = "the simulator against real runs on 1 and 2 workers",
  .suite = BENCH_SUITE_PAPER,
  .max_rounds = 11,
  .plan = plan_simulated,
  .check = check_simulated,
  .figure =
      &(const BenchFigure){
          .row = "B15",
          .title = "(e) the simulator against real runs",
          .source = BENCH_LASSI ", Conclusions and Future Work",
          .machine = "none: it is what (e) stands on",
          .differs =
              "says how far to believe the simulated sizes: the error is to stay within 10 %",
      },
};
