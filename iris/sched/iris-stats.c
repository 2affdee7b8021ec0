/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Snapshots of a scheduler's statistics.
 */
#include "iris/sched/iris-stats-private.h"

#include <string.h>

G_DEFINE_BOXED_TYPE (IrisStats, iris_stats, iris_stats_copy, iris_stats_free)

IrisStats *
iris_stats_new (guint n_places, guint n_workers)
{
  IrisStats *self = g_new0 (IrisStats, 1);

  self->n_places = n_places;
  self->n_workers = n_workers;
  self->places = g_new0 (IrisCounters, n_places);
  self->workers = g_new0 (IrisCounters, n_workers);
  self->worker_place = g_new0 (gint, n_workers);

  return self;
}

/**
 * iris_stats_copy:
 * @self: a snapshot
 *
 * Returns: (transfer full): a copy of the snapshot
 *
 * Since: 0.1
 */
IrisStats *
iris_stats_copy (const IrisStats *self)
{
  IrisStats *copy;

  g_return_val_if_fail (self != NULL, NULL);

  copy = iris_stats_new (self->n_places, self->n_workers);
  copy->total = self->total;
  copy->presence = self->presence;
  memcpy (copy->places, self->places, self->n_places * sizeof *self->places);
  memcpy (copy->workers, self->workers, self->n_workers * sizeof *self->workers);
  memcpy (copy->worker_place, self->worker_place, self->n_workers * sizeof *self->worker_place);
  memcpy (copy->delay, self->delay, sizeof self->delay);

  return copy;
}

/**
 * iris_stats_free:
 * @self: (transfer full) (nullable): a snapshot
 *
 * Since: 0.1
 */
void
iris_stats_free (IrisStats *self)
{
  if (self == NULL)
    return;

  g_free (self->places);
  g_free (self->workers);
  g_free (self->worker_place);
  g_free (self);
}

/**
 * iris_stats_delay_quantile:
 * @self: a snapshot
 * @quantile: from 0 to 1; 0.5 is the median
 *
 * The time from queueing to running that this part of the sampled items did not exceed, as far as
 * the histogram can tell: the upper end of the bucket in which the quantile lies.
 *
 * Returns: nanoseconds, or 0 when nothing was sampled
 *
 * Since: 0.1
 */
guint64
iris_stats_delay_quantile (const IrisStats *self, gdouble quantile)
{
  guint64 n = 0, seen = 0;
  guint i;

  g_return_val_if_fail (self != NULL, 0);
  g_return_val_if_fail (quantile >= 0 && quantile <= 1, 0);

  for (i = 0; i < IRIS_STATS_DELAY_BUCKETS; i++)
    n += self->delay[i];
  if (n == 0)
    return 0;

  for (i = 0; i < IRIS_STATS_DELAY_BUCKETS - 1; i++)
    {
      seen += self->delay[i];
      if (seen >= quantile * n && seen > 0)
        break;
    }

  return G_GUINT64_CONSTANT (2) << i;
}
