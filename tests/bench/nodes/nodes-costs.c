/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What things cost in a simulation of nodes: the usual values, and a file of others.
 *
 * Measured: nats-server 2.15.2, three servers with R3 and a sync of each group on loopback, 100 B,
 * on 2 cores shared with other work:
 *
 *   publish, end   24,000/s with a window of 256
 *   deliver        13,700/s to an owner beside up to 100 waiting pulls
 *   ack            21,800/s fetched with plain acks, 18,100/s with the last one confirmed
 *   walk           7,400/s beside 500 waiting pulls
 *   way_publish    half of 1.1 ms, the median of a PubAck
 *   way_pull       half of 0.15 ms, a core request
 *   way_deliver    publish to delivery took 3.7 ms, less way_publish
 *   map, lease     as irisd has them: an entry each 3 s, 60 s
 *
 * Together an item costs the engine 166 µs, 6,000 a second; publish, deliver and confirmed ack at
 * once were measured as 4,500 to 6,800. Assumed: pull (a small core message), the three ways to
 * data that lies at another node, and that a node that died is back after 2 minutes.
 */
#include "tests/bench/nodes/nodes.h"

#define GROUP "costs"

#define COST_NAME(name, what) #name,
static const char *const names[] = { NODES_EACH_COST (COST_NAME) };

static const NodesCosts usual = {
  .values = {
    [NODES_COST_publish] = 42,     [NODES_COST_deliver] = 73,       [NODES_COST_end] = 42,
    [NODES_COST_ack] = 9,          [NODES_COST_pull] = 5,           [NODES_COST_walk] = 0.155,
    [NODES_COST_way_publish] = 550, [NODES_COST_way_pull] = 75,     [NODES_COST_way_deliver] = 3150,
    [NODES_COST_way_end] = 550,    [NODES_COST_fetch_rack] = 200,   [NODES_COST_fetch_zone] = 500,
    [NODES_COST_fetch_far] = 2000, [NODES_COST_map] = 3e6,          [NODES_COST_lease] = 60e6,
    [NODES_COST_back] = 120e6,     [NODES_COST_walk_free] = 100,
  },
};

void
nodes_costs_init (NodesCosts *self)
{
  *self = usual;
}

static gboolean
load_value (GKeyFile *keys, guint i, gdouble *value, const char *file, GError **error)
{
  g_autoptr (GError) why = NULL;
  gdouble read = g_key_file_get_double (keys, GROUP, names[i], &why);

  if (g_error_matches (why, G_KEY_FILE_ERROR, G_KEY_FILE_ERROR_KEY_NOT_FOUND))
    return TRUE;
  if (why == NULL && read >= 0 && read <= 1e9 && (i != NODES_COST_map || read >= 1000))
    {
      *value = read;
      return TRUE;
    }
  g_set_error (error, BENCH_ERROR, BENCH_ERROR_ARGUMENT,
               "%s: %s must be a number from %d to 1e9, in microseconds", file, names[i],
               i == NODES_COST_map ? 1000 : 0);

  return FALSE;
}

/* A key that means nothing is more likely a wrong letter than a wish. */
static gboolean
check_keys (GKeyFile *keys, const char *file, GError **error)
{
  g_auto (GStrv) found = g_key_file_get_keys (keys, GROUP, NULL, NULL);

  for (guint i = 0; found != NULL && found[i] != NULL; i++)
    {
      gboolean is_known = FALSE;

      for (guint j = 0; j < NODES_N_COSTS; j++)
        is_known |= g_str_equal (found[i], names[j]);
      if (is_known)
        continue;
      g_set_error (error, BENCH_ERROR, BENCH_ERROR_ARGUMENT,
                   "%s: nodes has no cost “%s”; iris-bench(1) names them", file, found[i]);
      return FALSE;
    }

  return TRUE;
}

gboolean
nodes_costs_load (NodesCosts *self, const char *file, GError **error)
{
  g_autoptr (GKeyFile) keys = g_key_file_new ();

  nodes_costs_init (self);
  if (!g_key_file_load_from_file (keys, file, G_KEY_FILE_NONE, error))
    {
      g_prefix_error (error, "cannot read the costs in %s: ", file);
      return FALSE;
    }
  for (guint i = 0; i < NODES_N_COSTS; i++)
    if (!load_value (keys, i, &self->values[i], file, error))
      return FALSE;

  return check_keys (keys, file, error);
}
