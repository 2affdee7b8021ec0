/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The items of a simulation of nodes: when they come, where their hint points, how long they run.
 */
#include "tests/bench/nodes/nodes.h"

#include "iris/base/iris-random-private.h"

#include <math.h>

/* A bounded Pareto distribution of run times: most are a third of the mean, some a hundred times.
 */
#define PARETO_SHAPE 1.5
#define PARETO_MOST  100.0
/* Items of a burst for each worker of a node; and how much of all workers bursts keep busy. */
#define BURST      16
#define BURST_LOAD 0.5

const char *const nodes_load_names[NODES_N_LOADS] = { "one", "even", "skewed", "dies", "bursts" };
const char *const nodes_way_names[NODES_N_WAYS] = { "stealing", "alone", "central" };

static gdouble
uniform (IrisRandom *random)
{
  return (iris_random_next (random) + 0.5) / 4294967296.0;
}

/* With a mean of 1, but for what the bound cuts off. */
static gdouble
pareto (IrisRandom *random)
{
  gdouble least = (PARETO_SHAPE - 1) / PARETO_SHAPE;
  gdouble drawn = least / pow (uniform (random), 1 / PARETO_SHAPE);

  return MIN (drawn, PARETO_MOST);
}

/* In turn by cell, so that all cells have as much; node @nth of a cell. */
static guint32
node_of (const NodesSetup *setup, guint cell, guint nth)
{
  guint node = cell * NODES_CELL + nth;

  return MIN (node, setup->n_nodes - 1);
}

NodesItem *
nodes_load_make (const NodesSetup *setup, guint *n_items)
{
  guint n = setup->n_nodes * setup->n_items;
  NodesItem *items = g_new0 (NodesItem, n);
  guint n_cells = (setup->n_nodes + NODES_CELL - 1) / NODES_CELL;
  guint in_cell = MIN (setup->n_nodes, NODES_CELL), burst = BURST * setup->n_workers;
  gdouble rate = BURST_LOAD * setup->n_nodes * setup->n_workers / (setup->run_us * 1e3), at = 0;
  IrisRandom random;
  guint32 target = 0;

  iris_random_seed (&random, setup->seed);
  for (guint i = 0; i < n; i++)
    {
      NodesItem *item = &items[i];
      gdouble run_us = setup->run_us;

      if (setup->load == NODES_SKEWED)
        run_us *= pareto (&random);
      item->run_ns = (gint64) (run_us * 1e3) + 1;
      if (setup->load == NODES_ONE)
        target = node_of (setup, i % n_cells, 0);
      else if (setup->load != NODES_BURSTS)
        target = i % setup->n_nodes;
      else if (i % burst == 0)
        {
          at += -log (uniform (&random)) * burst / rate;
          target = node_of (setup, iris_random_below (&random, n_cells),
                            iris_random_below (&random, in_cell));
        }
      item->target = target;
      item->submitted_ns = (gint64) at;
    }
  *n_items = n;

  return items;
}
