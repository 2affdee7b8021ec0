/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The commands of the simulator: `iris-bench calibrate FILE` and `iris-bench sim DESCRIPTION`.
 */
#include "tests/bench/sim/sim-command.h"

#include "tests/bench/sim/sim.h"

static const char *
unit_of (guint cost)
{
  return cost < SIM_COST_read_core ? "ns" : cost < SIM_COST_writes ? "B/ns" : "";
}

static void
print_costs (const SimCosts *costs)
{
  for (guint i = 0; i < SIM_N_COSTS; i++)
    g_print ("%-12s %10.2f %-5s %s%s\n", sim_cost_name (i), costs->values[i], unit_of (i),
             costs->is_measured[i] ? "" : "assumed: ", sim_cost_meaning (i));
}

/* A name and a meaning have nothing that JSON would escape but the apostrophe, which it need not.
 */
static void
print_json (const SimCosts *costs)
{
  for (guint i = 0; i < SIM_N_COSTS; i++)
    g_print ("%s\n  \"%s\": {\"value\": %.4f, \"unit\": \"%s\", \"measured\": %s, "
             "\"meaning\": \"%s\"}",
             i == 0 ? "{" : ",", sim_cost_name (i), costs->values[i], unit_of (i),
             costs->is_measured[i] ? "true" : "false", sim_cost_meaning (i));
  g_print ("\n}\n");
}

gboolean
sim_command_calibrate (const char *file, gboolean json, GError **error)
{
  SimCosts costs;

  if (!sim_costs_measure (&costs, error) || !sim_costs_save (&costs, file, error))
    return FALSE;
  if (json)
    print_json (&costs);
  else
    print_costs (&costs);

  return TRUE;
}

static void
print_outcome (const char *load, const SimPolicy *policy, const SimOutcome *outcome, gdouble took)
{
  const SimCounts *c = &outcome->counts;
  guint64 moved = c->lines[SIM_CACHE] + c->lines[SIM_NODE] + c->lines[SIM_FAR];

  g_print ("%-10s %-12s %9.3f ms ", load, policy->name, outcome->last * 1e3);
  for (guint i = 0; i < SIM_N_LEVELS; i++)
    g_print (" %9" G_GUINT64_FORMAT, c->stolen[i]);
  g_print (" %9" G_GUINT64_FORMAT " %9" G_GUINT64_FORMAT " %9" G_GUINT64_FORMAT
           " %9" G_GUINT64_FORMAT " %9" G_GUINT64_FORMAT " %6.1f s\n",
           c->refused, c->messages, moved, c->parks, c->wakes, took);
}

static gboolean
is_load (const char *name)
{
  for (guint kind = 0; kind < SIM_N_LOADS; kind++)
    if (g_str_equal (sim_load_name (kind), name))
      return TRUE;

  return FALSE;
}

/* Whether --only names it, or none of its sort. */
static gboolean
is_chosen (char **only, const char *name, gboolean is_a_load)
{
  gboolean names_any = FALSE;

  for (guint i = 0; only != NULL && only[i] != NULL; i++)
    {
      if (g_str_equal (only[i], name))
        return TRUE;
      names_any |= is_load (only[i]) == is_a_load;
    }

  return !names_any;
}

static gboolean
check_chosen (char **only, GError **error)
{
  for (guint i = 0; only != NULL && only[i] != NULL; i++)
    {
      if (!is_load (only[i]) && sim_policy_find (only[i]) == NULL)
        {
          g_set_error (error, BENCH_ERROR, BENCH_ERROR_ARGUMENT,
                       "--only: sim has no load and no policy “%s”; iris-bench sim without --only "
                       "shows all",
                       only[i]);
          return FALSE;
        }
    }

  return TRUE;
}

/* Every load with every policy on one machine. */
gboolean
sim_command_run (const char *description,
                 const char *costs_file,
                 char **only,
                 guint64 seed,
                 GError **error)
{
  g_autoptr (SimMachine) machine = sim_machine_new (description, error);
  SimCosts costs;
  guint n;

  sim_costs_init (&costs);
  if (machine == NULL || !check_chosen (only, error)
      || (costs_file != NULL && !sim_costs_load (&costs, costs_file, error)))
    return FALSE;
  n = sim_machine_n_processors (machine);
  g_print ("%u workers; items stolen by distance, places refused, items put into the inbox of\n"
           "another place, lines of memory that moved, parks, wakes, seconds to simulate\n\n"
           "%-10s %-12s %12s  %9s %9s %9s %9s %9s %9s %9s %9s %9s %8s\n",
           n, "load", "policy", "until last", "core", "cache", "node", "machine", "refused",
           "messages", "lines", "parks", "wakes", "took");
  for (guint kind = 0; kind < SIM_N_LOADS; kind++)
    for (const SimPolicy *policy = sim_policies; policy->name != NULL; policy++)
      {
        const SimLoadSpec spec = sim_load_for (kind, n, 40);
        g_autoptr (SimLoad) load = sim_load_new (&spec);
        const SimSetup setup = {
          .machine = machine, .costs = &costs, .policy = policy, .seed = seed
        };
        SimOutcome outcome;
        gint64 begin = bench_now ();

        if (!is_chosen (only, sim_load_name (kind), TRUE) || !is_chosen (only, policy->name, FALSE))
          continue;
        if (!sim_run (&setup, load, &outcome, error))
          return FALSE;
        print_outcome (sim_load_name (kind), policy, &outcome, bench_seconds_since (begin));
      }

  return TRUE;
}
