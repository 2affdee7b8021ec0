/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The cost of an item at its gate: what its service takes typically, and its payload.
 */
#include "daemon/items/irisd-cost.h"

/* The time that a run of a service takes until one was measured. */
#define UNKNOWN_RUN_NS (1000 * 1000)

/* Bytes of payload that count as one unit of cost. */
#define BYTES_PER_COST (64 * 1024)

/* The weight of a new run in a service's typical time: one in so many. */
#define TYPICAL_WEIGHT 8

guint64
irisd_cost_get_typical_ns (IrisdItems *self, const IrisdService *service)
{
  gpointer known = g_hash_table_lookup (self->typical_ns, service);
  return known != NULL ? GPOINTER_TO_SIZE (known) : UNKNOWN_RUN_NS;
}

guint32
irisd_cost_of (IrisdItems *self, const IrisdJob *job)
{
  guint64 cost = 1 + irisd_cost_get_typical_ns (self, job->service) / IRISD_COST_NS
                 + job->charge / BYTES_PER_COST;
  return (guint32) MIN (cost, IRISD_FAIR_MOST_COST);
}

/* Returns twice the number of jobs like @job that its gate lets through at once. */
guint64
irisd_cost_get_window (IrisdItems *self, const IrisdJob *job)
{
  return 2 * self->core->gates[job->home].most_cost / irisd_cost_of (self, job);
}

/* Learns the typical run of a service. A run that took much longer than those before it may only
 * have been kept off its processor, so it counts as twice as long at most: the figure follows a
 * service that does get slower within some dozens of runs. */
void
irisd_cost_learn (IrisdItems *self, const IrisdJob *job)
{
  if (!irisd_job_has_run (job))
    return;
  gint64 before = (gint64) irisd_cost_get_typical_ns (self, job->service);
  gint64 until_ns = job->left_ns != 0 ? job->left_ns : job->ended_ns;
  gint64 run_ns = MIN (until_ns - job->started_ns, 2 * before + TYPICAL_WEIGHT);
  gint64 now = before + (run_ns - before) / TYPICAL_WEIGHT;
  g_hash_table_insert (self->typical_ns, (gpointer) job->service,
                       GSIZE_TO_POINTER ((gsize) MAX (now, 1)));
}
