/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The simulator: each item runs once on simulated workers, the same seed gives the same run, and
 * what it says follows from what things cost.
 */
#include <check.h>
#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>

#include "core-test-run.h"
#include "tests/bench/sim/sim.h"

static SimOutcome
run (const char *description,
     const SimPolicy *policy,
     const SimLoadSpec *spec,
     const SimCosts *costs,
     guint64 seed,
     gboolean drains)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (SimMachine) machine = sim_machine_new (description, &error);
  g_autoptr (SimLoad) load = sim_load_new (spec);
  SimCosts usual;
  const SimSetup setup = { .machine = machine,
                           .costs = costs != NULL ? costs : &usual,
                           .policy = policy,
                           .seed = seed,
                           .drains = drains };
  SimOutcome outcome = { 0 };

  sim_costs_init (&usual);
  ck_assert_msg (machine != NULL, "%s", error != NULL ? error->message : "");
  /* It checks that each item ran once. */
  ck_assert_msg (sim_run (&setup, load, &outcome, &error), "%s on %s: %s", policy->name,
                 description, error != NULL ? error->message : "");

  return outcome;
}

static const SimLoadSpec fib = { .kind = SIM_FIB, .n = 16, .grain = 500 };

#define SMALL "package:2 l3:2 core:4 pu:1"

TEST (each_deque_that_can_be_compared_loses_nothing)
{
  for (guint kind = IRIS_DEQUE_CHASE_LEV; kind <= IRIS_DEQUE_LOCKED; kind++)
    {
      SimPolicy policy = *sim_policy_find ("core");

      policy.deque = (IrisDequeKind) kind;
      run (SMALL, &policy, &fib, NULL, 1, TRUE);
    }
}

static gboolean
equal (const SimOutcome *first, const SimOutcome *second)
{
  return first->last == second->last && first->drained == second->drained
         && memcmp (&first->counts, &second->counts, sizeof first->counts) == 0;
}

/* run() checks that each item ran once. */
TEST (each_load_under_each_policy_runs_each_item_once_and_twice_alike)
{
  for (const SimPolicy *policy = sim_policies; policy->name != NULL; policy++)
    for (guint kind = 0; kind < SIM_N_LOADS; kind++)
      {
        SimLoadSpec spec = sim_load_for (kind, 16, 8);
        SimOutcome first = run (SMALL, policy, &spec, NULL, 7, TRUE);
        SimOutcome second = run (SMALL, policy, &spec, NULL, 7, TRUE);

        ck_assert_msg (equal (&first, &second), "%s under %s: %g and %g s", sim_load_name (kind),
                       policy->name, first.drained, second.drained);
      }
}

TEST (a_run_does_not_depend_on_those_before_it)
{
  const SimPolicy *policy = sim_policy_find ("default");
  const SimLoadSpec other = sim_load_for (SIM_JACOBI, 32, 20);
  SimOutcome first = run (SMALL, policy, &fib, NULL, 3, TRUE), again;

  run ("package:2 l3:2 core:8 pu:1", sim_policy_find ("shared"), &other, NULL, 1, TRUE);
  again = run (SMALL, policy, &fib, NULL, 3, TRUE);
  ck_assert_msg (equal (&first, &again), "%.12f and %.12f s", first.drained, again.drained);
}

TEST (the_usual_places_are_caches_of_at_most_16_workers)
{
  const SimLoadSpec spec = sim_load_for (SIM_RECURSIVE, 64, 10);
  SimOutcome usual = run ("package:2 l3:4 core:8 pu:1", sim_policy_find ("default"), &spec, NULL, 1,
                          FALSE);
  SimPolicy caches = *sim_policy_find ("default");
  SimOutcome named;

  caches.places = "l3";
  named = run ("package:2 l3:4 core:8 pu:1", &caches, &spec, NULL, 1, FALSE);
  ck_assert (equal (&usual, &named));
}

TEST (data_that_another_processor_wrote_is_not_free)
{
  SimCosts slow;
  SimLoadSpec spec = sim_load_for (SIM_JACOBI, 16, 20);
  SimOutcome usual = run (SMALL, sim_policy_find ("shared"), &spec, NULL, 1, FALSE), slower;

  sim_costs_init (&slow);
  for (guint i = 0; i < SIM_N_COSTS; i++)
    ck_assert_msg (slow.values[i] > 0, "%s has no usual value", sim_cost_name (i));
  slow.values[SIM_COST_read_other] /= 20;
  slower = run (SMALL, sim_policy_find ("shared"), &spec, &slow, 1, FALSE);
  ck_assert_double_gt (slower.last, usual.last);
}

TEST (another_seed_chooses_other_victims)
{
  SimOutcome first = run (SMALL, sim_policy_find ("random"), &fib, NULL, 1, FALSE);
  SimOutcome second = run (SMALL, sim_policy_find ("random"), &fib, NULL, 2, FALSE);

  ck_assert (!equal (&first, &second));
}

TEST (one_worker_takes_the_time_of_all_items)
{
  SimOutcome outcome = run ("core:1 pu:1", sim_policy_find ("core"), &fib, NULL, 1, FALSE);
  const gdouble work = 3193 * 500e-9; /* 2 * fib (17) - 1 items */

  ck_assert_double_ge (outcome.last, work);
  ck_assert_double_le (outcome.last, work * 1.2);
  for (guint i = 0; i < SIM_N_LEVELS; i++)
    ck_assert_uint_eq (outcome.counts.steals[i], 0);
}

TEST (more_workers_are_faster_and_steal)
{
  SimOutcome one = run ("l3:1 core:1 pu:1", sim_policy_find ("core"), &fib, NULL, 1, FALSE);
  SimOutcome two = run ("l3:1 core:2 pu:1", sim_policy_find ("core"), &fib, NULL, 1, FALSE);
  SimOutcome eight = run ("l3:1 core:8 pu:1", sim_policy_find ("core"), &fib, NULL, 1, FALSE);

  ck_assert_double_lt (two.last, one.last * 0.6);
  ck_assert_double_lt (eight.last, two.last * 0.5);
  ck_assert_uint_gt (eight.counts.steals[SIM_CACHE], 0);
  ck_assert_uint_eq (eight.counts.steals[SIM_NODE] + eight.counts.steals[SIM_FAR], 0);
}

TEST (nearest_first_steals_less_from_afar_than_random_victims)
{
  const SimLoadSpec spec = { .kind = SIM_FIB, .n = 19, .grain = 2000 };
  SimOutcome nearest = run ("package:2 l3:4 core:8 pu:1", sim_policy_find ("core"), &spec, NULL, 1,
                            FALSE);
  SimOutcome random = run ("package:2 l3:4 core:8 pu:1", sim_policy_find ("random"), &spec, NULL, 1,
                           FALSE);
  guint64 near_far = nearest.counts.steals[SIM_FAR] * 100
                     / (nearest.counts.steals[SIM_CACHE] + nearest.counts.steals[SIM_NODE] + 1);
  guint64 random_far = random.counts.steals[SIM_FAR] * 100
                       / (random.counts.steals[SIM_CACHE] + random.counts.steals[SIM_NODE] + 1);

  ck_assert_uint_gt (random.counts.steals[SIM_FAR], 0);
  ck_assert_uint_lt (near_far, random_far);
}

TEST (dearer_lines_take_more_time)
{
  SimCosts dear;
  SimLoadSpec spec = sim_load_for (SIM_JACOBI, 16, 20);
  SimOutcome usual = run (SMALL, sim_policy_find ("core"), &spec, NULL, 1, FALSE), slower;

  sim_costs_init (&dear);
  for (guint i = SIM_COST_line_cache; i <= SIM_COST_line_far; i++)
    dear.values[i] *= 20;
  slower = run (SMALL, sim_policy_find ("core"), &spec, &dear, 1, FALSE);
  ck_assert_double_gt (slower.last, usual.last);
}

TEST (four_thousand_workers_can_be_simulated)
{
  const SimLoadSpec spec = { .kind = SIM_FIB, .n = 14, .grain = 100000 };
  SimOutcome outcome = run ("package:16 l3:32 core:8 pu:1", sim_policy_find ("default"), &spec,
                            NULL, 1, FALSE);

  ck_assert_double_gt (outcome.last, 0);
}

TEST (ten_thousand_places_can_be_described)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (SimMachine) machine = sim_machine_new ("package:10 l3:100 core:10 pu:1", &error);

  ck_assert_msg (machine != NULL, "%s", error != NULL ? error->message : "");
  ck_assert_uint_eq (sim_machine_n_processors (machine), 10000);
  ck_assert_int_eq (sim_machine_level (machine, 0, 9), SIM_CACHE);
  ck_assert_int_eq (sim_machine_level (machine, 0, 10), SIM_NODE);
  ck_assert_int_eq (sim_machine_level (machine, 0, 9999), SIM_FAR);
}

TEST (a_machine_that_is_none_is_refused)
{
  g_autoptr (GError) error = NULL, many = NULL;

  ck_assert_ptr_null (sim_machine_new ("nonsense", &error));
  ck_assert (g_error_matches (error, BENCH_ERROR, BENCH_ERROR_ARGUMENT));
  ck_assert_ptr_null (sim_machine_new ("package:100 core:200 pu:1", &many));
  ck_assert (g_error_matches (many, BENCH_ERROR, BENCH_ERROR_ARGUMENT));
}

TEST (costs_are_read_as_they_were_written)
{
  g_autofree char *folder = g_dir_make_tmp ("sim-XXXXXX", NULL);
  g_autofree char *file = g_build_filename (folder, "costs.ini", NULL);
  g_autoptr (GError) error = NULL;
  SimCosts written, read;

  sim_costs_init (&written);
  sim_costs_set (&written, SIM_COST_wake, 1234.5);
  ck_assert (sim_costs_save (&written, file, &error));
  ck_assert (sim_costs_load (&read, file, &error));
  for (guint i = 0; i < SIM_N_COSTS; i++)
    {
      ck_assert_double_eq_tol (read.values[i], written.values[i], 1e-9);
      ck_assert_int_eq (read.is_measured[i], i == SIM_COST_wake);
    }
  ck_assert (g_file_set_contents (file, "[costs]\nwake=-1\n", -1, NULL));
  ck_assert (!sim_costs_load (&read, file, &error));
  ck_assert (g_error_matches (error, BENCH_ERROR, BENCH_ERROR_ARGUMENT));
  g_clear_error (&error);
  ck_assert (g_file_set_contents (file, "[costs]\nread_far=0\n", -1, NULL));
  ck_assert (!sim_costs_load (&read, file, &error));
  g_unlink (file);
  g_rmdir (folder);
}

TEST_MAIN ("sim", NULL, NULL)
