/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Snapshots of a scheduler's statistics.
 */
#include "iris/sched/stats/iris-stats-private.h"

#include "iris/base/iris-clock-private.h"

#include <string.h>

#define INFO(member, from, how) \
  { #member, G_STRUCT_OFFSET (IrisCounters, member), IRIS_COUNTER_##how },
const IrisCounterInfo iris_counter_infos[] = { IRIS_EACH_COUNTER (INFO) };
const guint iris_n_counter_infos = G_N_ELEMENTS (iris_counter_infos);

/* A member without a line in the list would be missing everywhere. */
G_STATIC_ASSERT (sizeof (IrisCounters) == G_N_ELEMENTS (iris_counter_infos) * sizeof (guint64));

static gdouble
steal_ratio (const IrisCounters *counters, guint64 span_ns)
{
  return iris_counters_get_steal_ratio (counters);
}

static gdouble
steal_overhead (const IrisCounters *counters, guint64 span_ns)
{
  return iris_counters_get_steal_overhead (counters);
}

static gdouble
items_per_steal (const IrisCounters *counters, guint64 span_ns)
{
  return iris_counters_get_items_per_steal (counters);
}

const IrisMeasureInfo iris_measure_infos[] = {
  { "steal_ratio", steal_ratio },
  { "steal_rate", iris_counters_get_steal_rate },
  { "steal_overhead", steal_overhead },
  { "items_per_steal", items_per_steal },
};
const guint iris_n_measure_infos = G_N_ELEMENTS (iris_measure_infos);

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
  self->from_ns = self->to_ns = iris_clock_ns ();

  return self;
}

/**
 * iris_stats_copy:
 * @self: a snapshot
 *
 * Copies the snapshot.
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
  copy->active_workers = self->active_workers;
  memcpy (copy->places, self->places, self->n_places * sizeof *self->places);
  memcpy (copy->workers, self->workers, self->n_workers * sizeof *self->workers);
  memcpy (copy->worker_place, self->worker_place, self->n_workers * sizeof *self->worker_place);
  copy->from_ns = self->from_ns;
  copy->to_ns = self->to_ns;
  memcpy (copy->delay, self->delay, sizeof self->delay);
  memcpy (copy->run, self->run, sizeof self->run);

  return copy;
}

/**
 * iris_stats_free:
 * @self: (transfer full) (nullable): a snapshot
 *
 * Frees the snapshot.
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

/* Counters only grow; where one was read a moment too early, the difference is nothing. */
static void
subtract (IrisCounters *newer, const IrisCounters *older)
{
  for (guint i = 0; i < iris_n_counter_infos; i++)
    {
      const IrisCounterInfo *info = &iris_counter_infos[i];
      guint64 before = iris_counters_get (older, info), after = iris_counters_get (newer, info);

      if (info->how == IRIS_COUNTER_SUM)
        iris_counters_set (newer, info, after - MIN (before, after));
    }
}

/**
 * iris_stats_diff:
 * @older: a snapshot
 * @newer: a later snapshot of the same scheduler
 *
 * What happened between two snapshots, as a snapshot. The most items of a steal cannot be told
 * apart, and remain those of @newer.
 *
 * Returns: (transfer full): the difference
 *
 * Since: 0.1
 */
IrisStats *
iris_stats_diff (const IrisStats *older, const IrisStats *newer)
{
  IrisStats *diff;

  g_return_val_if_fail (older != NULL, NULL);
  g_return_val_if_fail (newer != NULL, NULL);
  g_return_val_if_fail (older->to_ns <= newer->to_ns, NULL);

  diff = iris_stats_copy (newer);
  diff->from_ns = older->to_ns;
  subtract (&diff->total, &older->total);
  for (guint i = 0; i < MIN (older->n_places, newer->n_places); i++)
    subtract (&diff->places[i], &older->places[i]);
  for (guint i = 0; i < MIN (older->n_workers, newer->n_workers); i++)
    subtract (&diff->workers[i], &older->workers[i]);
  for (guint i = 0; i < IRIS_STATS_DELAY_BUCKETS; i++)
    {
      diff->delay[i] -= MIN (older->delay[i], diff->delay[i]);
      diff->run[i] -= MIN (older->run[i], diff->run[i]);
    }

  return diff;
}

/**
 * iris_stats_get_span:
 * @self: a snapshot
 *
 * The time that the snapshot tells of: since the scheduler was made, or between two snapshots.
 *
 * Returns: nanoseconds
 *
 * Since: 0.1
 */
guint64
iris_stats_get_span (const IrisStats *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->to_ns > self->from_ns ? (guint64) (self->to_ns - self->from_ns) : 0;
}

/* The upper end of the bucket in which the quantile lies. */
static guint64
quantile_of (const guint64 *histogram, gdouble quantile)
{
  guint64 n = 0, seen = 0;
  guint i;

  for (i = 0; i < IRIS_STATS_DELAY_BUCKETS; i++)
    n += histogram[i];
  if (n == 0)
    return 0;

  for (i = 0; i < IRIS_STATS_DELAY_BUCKETS - 1; i++)
    {
      seen += histogram[i];
      if (seen >= quantile * n && seen > 0)
        break;
    }

  return G_GUINT64_CONSTANT (2) << i;
}

/**
 * iris_stats_delay_quantile:
 * @self: a snapshot
 * @quantile: from 0 to 1; 0.5 is the median, 1 the maximum
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
  g_return_val_if_fail (self != NULL, 0);
  g_return_val_if_fail (quantile >= 0 && quantile <= 1, 0);

  return quantile_of (self->delay, quantile);
}

/**
 * iris_stats_run_quantile:
 * @self: a snapshot
 * @quantile: from 0 to 1; 0.5 is the median, 1 the maximum
 *
 * The time that this part of the sampled items did not exceed in running, their destroy notify
 * included: the upper end of the bucket in which the quantile lies.
 *
 * Returns: nanoseconds, or 0 when nothing was sampled
 *
 * Since: 0.1
 */
guint64
iris_stats_run_quantile (const IrisStats *self, gdouble quantile)
{
  g_return_val_if_fail (self != NULL, 0);
  g_return_val_if_fail (quantile >= 0 && quantile <= 1, 0);

  return quantile_of (self->run, quantile);
}

static gdouble
divide (gdouble n, gdouble by)
{
  return by > 0 ? n / by : 0;
}

/**
 * iris_counters_get_steal_ratio:
 * @self: counters of a worker, of a place or of all
 *
 * The steals-to-tasks ratio: successful steals for each item run. Exact.
 *
 * Source: V. Kumar and others, "Work-stealing without the baggage" (OOPSLA 2012), which also says
 * that it is the rate of steals, not this ratio, that goes with their overhead.
 *
 * Returns: from 0 to 1 while every steal brings an item that is run; 0 when none was run
 *
 * Since: 0.1
 */
gdouble
iris_counters_get_steal_ratio (const IrisCounters *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return divide (self->steals, self->executed);
}

/**
 * iris_counters_get_steal_rate:
 * @self: counters of a worker, of a place or of all
 * @span_ns: the time they tell of; see iris_stats_get_span()
 *
 * The steal rate: successful steals in each second of the span. Exact.
 *
 * Returns: steals per second; 0 for an empty span
 *
 * Since: 0.1
 */
gdouble
iris_counters_get_steal_rate (const IrisCounters *self, guint64 span_ns)
{
  g_return_val_if_fail (self != NULL, 0);

  return divide ((gdouble) self->steals * 1e9, span_ns);
}

/**
 * iris_counters_get_steal_overhead:
 * @self: counters of a worker, of a place or of all
 *
 * The steal overhead: of the time in which workers were awake, the share in which they had no work
 * and looked for some. Time asleep is left out, because it costs no processor. Exact.
 *
 * Returns: from 0 to 1; 0 when no worker was awake
 *
 * Since: 0.1
 */
gdouble
iris_counters_get_steal_overhead (const IrisCounters *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return divide (self->searching_ns, (gdouble) self->searching_ns + self->busy_ns);
}

/**
 * iris_counters_get_items_per_steal:
 * @self: counters of a worker, of a place or of all
 *
 * Items that a successful steal took on average; `steal_most` is the most. Exact.
 *
 * Returns: items; 0 when nothing was stolen
 *
 * Since: 0.1
 */
gdouble
iris_counters_get_items_per_steal (const IrisCounters *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return divide ((gdouble) self->stolen_in + self->stolen_inside, self->steals);
}

/**
 * iris_counters_get_verdict:
 * @self: counters of a worker, a place, or all
 * @verdict: a verdict
 *
 * How often a look at a victim ended in this way.
 *
 * Returns: a count since the scheduler was made
 *
 * Since: 0.1
 */
guint64
iris_counters_get_verdict (const IrisCounters *self, IrisStealVerdict verdict)
{
  g_return_val_if_fail (self != NULL, 0);

  switch (verdict)
    {
    case IRIS_STEAL_VERDICT_TAKEN:
      return self->steals;
    case IRIS_STEAL_VERDICT_EMPTY:
      return self->steal_empties;
    case IRIS_STEAL_VERDICT_LOST:
      return self->steal_fails;
    case IRIS_STEAL_VERDICT_BACKLOG:
      return self->refused_backlog;
    case IRIS_STEAL_VERDICT_SIZE:
      return self->refused_size;
    case IRIS_STEAL_VERDICT_DISTANCE:
      return self->refused_distance;
    case IRIS_STEAL_VERDICT_APART:
      return self->refused_apart;
    }
  g_return_val_if_reached (0);
}
