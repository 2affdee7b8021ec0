/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What things cost in a simulation: the usual values, and a file of them.
 *
 * The usual ones are those of a machine like AMD's EPYC. What two processors of one can show was
 * measured by `iris-bench calibrate` (Zen 5, in a virtual machine); the rest are assumptions:
 *
 *   line_cache, line_node, line_far: 30, 120 and 240 ns, what measurements of latencies between
 *     cores of EPYCs show, rounded, for the same shared cache, another one of the socket, and
 *     another socket
 *   heavy_each: 50 ns to send one more interrupt, of a kernel that sends them one by one
 *   read_far: half of read_near, as firmware says of the next socket (distance 20)
 */
#include "tests/bench/sim/sim.h"

#define GROUP    "costs"
#define MEASURED "measured"

#define COST_NAME(name, what) #name,
static const char *const names[] = { SIM_EACH_COST (COST_NAME) };
#define COST_MEANING(name, what) what,
static const char *const meanings[] = { SIM_EACH_COST (COST_MEANING) };

static const SimCosts usual = {
  .values = {
    [SIM_COST_access] = 0.14,   [SIM_COST_rmw] = 5,          [SIM_COST_line_core] = 4,
    [SIM_COST_line_cache] = 30, [SIM_COST_line_node] = 120,  [SIM_COST_line_far] = 240,
    [SIM_COST_pause] = 25,      [SIM_COST_clock] = 23,       [SIM_COST_yield] = 480,
    [SIM_COST_sleep] = 240,     [SIM_COST_wake_call] = 2500, [SIM_COST_wake] = 3000,
    [SIM_COST_heavy] = 9500,    [SIM_COST_heavy_each] = 50,  [SIM_COST_interrupt] = 5800,
    [SIM_COST_heavy_alone] = 400, [SIM_COST_end] = 10000,     [SIM_COST_read_core] = 60,   [SIM_COST_read_cache] = 60,
    [SIM_COST_read_other] = 58, [SIM_COST_read_near] = 9,    [SIM_COST_read_far] = 4.5,
    [SIM_COST_writes] = 2.5,
  },
};

const char *
sim_cost_name (SimCost cost)
{
  return names[cost];
}

const char *
sim_cost_meaning (SimCost cost)
{
  return meanings[cost];
}

void
sim_costs_init (SimCosts *self)
{
  *self = usual;
}

void
sim_costs_set (SimCosts *self, SimCost cost, gdouble measured)
{
  self->values[cost] = measured;
  self->is_measured[cost] = TRUE;
}

gboolean
sim_costs_load (SimCosts *self, const char *file, GError **error)
{
  g_autoptr (GKeyFile) keys = g_key_file_new ();
  g_auto (GStrv) measured = NULL;

  sim_costs_init (self);
  if (!g_key_file_load_from_file (keys, file, G_KEY_FILE_NONE, error))
    {
      g_prefix_error (error, "cannot read the costs in %s: ", file);
      return FALSE;
    }
  measured = g_key_file_get_string_list (keys, GROUP, MEASURED, NULL, NULL);
  for (guint i = 0; i < SIM_N_COSTS; i++)
    {
      g_autoptr (GError) why = NULL;
      gdouble value = g_key_file_get_double (keys, GROUP, names[i], &why);

      self->is_measured[i] = measured != NULL
                             && g_strv_contains ((const char *const *) measured, names[i]);
      if (why == NULL && (i < SIM_COST_read_core ? value >= 0 : value > 0) && value <= 1e9)
        self->values[i] = value;
      else if (why == NULL
               || !g_error_matches (why, G_KEY_FILE_ERROR, G_KEY_FILE_ERROR_KEY_NOT_FOUND))
        {
          g_set_error (
              error, BENCH_ERROR, BENCH_ERROR_ARGUMENT,
              "%s: %s must be a number from 0 to 1e9, and above 0 if it is no time; iris-bench "
              "calibrate writes such a file",
              file, names[i]);
          return FALSE;
        }
    }

  return TRUE;
}

gboolean
sim_costs_save (const SimCosts *self, const char *file, GError **error)
{
  g_autoptr (GKeyFile) keys = g_key_file_new ();
  g_autoptr (GPtrArray) measured = g_ptr_array_new ();

  for (guint i = 0; i < SIM_N_COSTS; i++)
    {
      g_autofree char *comment = g_strdup_printf (" %s%s", meanings[i],
                                                  self->is_measured[i] ? "" : " (assumed)");

      g_key_file_set_double (keys, GROUP, names[i], self->values[i]);
      g_key_file_set_comment (keys, GROUP, names[i], comment, NULL);
      if (self->is_measured[i])
        g_ptr_array_add (measured, (gpointer) names[i]);
    }
  g_key_file_set_string_list (keys, GROUP, MEASURED, (const char *const *) measured->pdata,
                              measured->len);
  if (g_key_file_save_to_file (keys, file, error))
    return TRUE;
  g_prefix_error (error, "cannot write the costs to %s: ", file);

  return FALSE;
}
