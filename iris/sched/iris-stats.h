/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a scheduler's workers did, as a snapshot that costs them nothing.
 */
#pragma once

#include <iris/sched/iris-presence.h>
#include <glib-object.h>

G_BEGIN_DECLS

/**
 * IRIS_STATS_DELAY_BUCKETS:
 *
 * Buckets of the queue delay histogram; bucket i counts delays of [2^i, 2^(i+1)) nanoseconds.
 */
#define IRIS_STATS_DELAY_BUCKETS 40

/**
 * IrisCounters:
 * @executed: items run
 * @queued: items queued by this worker or by the workers of this place; the total counts those
 *   queued from outside as well
 * @hinted: of a place: items whose hint named it; of a worker: those that it queued itself, at its
 *   own place
 * @stolen_in: items taken from other places
 * @stolen_out: of a place: items that others took from it; of a worker: 0
 * @stolen_inside: items taken from siblings of the same place
 * @steals: successful steals (each of one item or more)
 * @steal_tries: victims looked at
 * @steal_fails: victims at which another thief was quicker
 * @parks: times a worker went to sleep
 * @wakes: times a worker was woken for work
 * @cancelled: items whose work was not run, but whose destroy notify was
 *
 * Counts since the scheduler was made.
 */
typedef struct
{
  guint64 executed;
  guint64 queued;
  guint64 hinted;
  guint64 stolen_in;
  guint64 stolen_out;
  guint64 stolen_inside;
  guint64 steals;
  guint64 steal_tries;
  guint64 steal_fails;
  guint64 parks;
  guint64 wakes;
  guint64 cancelled;
} IrisCounters;

/**
 * IrisStats:
 * @n_places: length of @places
 * @n_workers: length of @workers
 * @total: sums over all workers, and what happened outside them
 * @places: (array length=n_places): per place, in order of id
 * @workers: (array length=n_workers): per worker, in order of index; spare workers, if any were
 *   made, come last
 * @worker_place: (array length=n_workers): the place of each worker
 * @delay: histogram of the time from queueing to running, of a sample of the items
 * @presence: how many workers take part, and what was decided about that
 *
 * A snapshot of a scheduler's statistics; see iris_scheduler_get_stats().
 */
typedef struct
{
  guint n_places;
  guint n_workers;
  IrisCounters total;
  IrisCounters *places;
  IrisCounters *workers;
  gint *worker_place;
  guint64 delay[IRIS_STATS_DELAY_BUCKETS];
  IrisPresence presence;
} IrisStats;

#define IRIS_TYPE_STATS (iris_stats_get_type ())

IRIS_AVAILABLE_IN_ALL
GType iris_stats_get_type (void);
IRIS_AVAILABLE_IN_ALL
IrisStats *iris_stats_copy (const IrisStats *self);
IRIS_AVAILABLE_IN_ALL
void iris_stats_free (IrisStats *self);
IRIS_AVAILABLE_IN_ALL
guint64 iris_stats_delay_quantile (const IrisStats *self, gdouble quantile);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (IrisStats, iris_stats_free)

G_END_DECLS
