/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What it costs to run an item on another node, and the backlog from which on it pays.
 */
#include "daemon/cluster/policy/irisd-move-cost.h"

static const guint units[IRISD_N_NODE_DISTANCES] = { 0, 1, 2, 4 };

guint64
irisd_move_cost_get (IrisdNodeDistance distance)
{
  return IRISD_MOVE_COST_NS * units[distance];
}

/* A victim that has run nothing yet has items that last as long as their move, for all we know. */
static guint64
get_threshold (guint64 cost_ns, const IrisdNodeView *victim)
{
  guint64 run_ns = victim->mean_run_ns != 0 ? victim->mean_run_ns : IRISD_MOVE_COST_NS;
  guint64 n_workers = MAX (victim->n_workers, 1);
  guint64 threshold = (cost_ns * n_workers + run_ns - 1) / run_ns;

  return MAX (threshold, IRISD_LEAST_THRESHOLD);
}

guint64
irisd_move_cost_get_unsized (IrisdNodeDistance distance, const IrisdNodeView *victim)
{
  return get_threshold (irisd_move_cost_get (distance), victim);
}

guint64
irisd_move_cost_get_threshold (IrisdNodeDistance distance, const IrisdNodeView *victim)
{
  guint64 size_ns = victim->mean_bytes * 1000 / IRISD_MOVE_BANDWIDTH;

  return get_threshold (irisd_move_cost_get (distance) + size_ns, victim);
}

guint64
irisd_move_cost_get_least (const IrisdNodeView *victim)
{
  return irisd_move_cost_get_unsized (IRISD_NODE_RACK, victim);
}
