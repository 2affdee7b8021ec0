/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a scheduler's workers did, as a snapshot that costs them nothing.
 */
#pragma once

#include <iris/sched/stats/iris-active-workers.h>
#include <iris/sched/stats/iris-steal-verdict.h>
#include <glib-object.h>

G_BEGIN_DECLS

/**
 * IRIS_STATS_DELAY_BUCKETS:
 *
 * Buckets of the histograms; bucket i counts times of [2^i, 2^(i+1)) nanoseconds, the first also
 * shorter ones and the last also longer ones.
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
 * @steal_empties: victims that had nothing
 * @refused_backlog: victims left alone because what they had drains sooner than any move
 * @refused_size: victims left alone for the memory that their items declare
 * @refused_distance: victims left alone because they are far
 * @refused_apart: inboxes left alone because an item there is to be kept apart
 * @refusals_lapsed: steals from a place that had been refused before, because it did not get on as
 *   expected, or came to have more
 * @backoffs: times a worker slept for a moment because it refused all that it saw
 * @parks: times a worker went to sleep
 * @wakes: times a worker was woken for work
 * @kept_apart: of a place: items that were dealt to it because it had the least declared footprint
 *   (%IRIS_ITEM_KEEP_APART); of a worker: 0
 * @cancelled: items whose work was not run, but whose destroy notify was
 * @steal_most: the most items that one steal took, since the scheduler was made
 * @searching_ns: nanoseconds in which a worker had no work and looked for some, at other places and
 *   their workers above all; also in a join whose task another worker had taken
 * @parked_ns: nanoseconds in which a worker slept, using no processor; also in such a join
 * @alive_ns: nanoseconds in which the thread of a worker was there
 * @busy_ns: what is left of @alive_ns: running items and taking them from one's own queues
 *
 * What a worker, the workers of a place, or all did since the scheduler was made, or, in a snapshot
 * by iris_stats_diff(), between two snapshots. All are exact, none is a sample; times of several
 * workers add up, so that two that sleep for a second make two seconds. A worker that searches or
 * sleeps at the moment of the snapshot counts up to that moment.
 *
 * Times are by the clock on the wall: a worker that the kernel made wait for a processor goes on
 * being busy. Schedulers whose workers wait in a queue of another library (iris_scheduler_new())
 * cannot tell searching; #IrisGMainScheduler has no workers and keeps no times.
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
  guint64 steal_empties;
  guint64 refused_backlog;
  guint64 refused_size;
  guint64 refused_distance;
  guint64 refused_apart;
  guint64 refusals_lapsed;
  guint64 backoffs;
  guint64 parks;
  guint64 wakes;
  guint64 kept_apart;
  guint64 cancelled;
  guint64 steal_most;
  guint64 searching_ns;
  guint64 parked_ns;
  guint64 alive_ns;
  guint64 busy_ns;
} IrisCounters;

/**
 * IrisSteals:
 * @steals: successful steals
 * @items: items that they took
 *
 * What the workers of one place took from another, or, for a place and itself, from siblings.
 */
typedef struct
{
  guint64 steals;
  guint64 items;
} IrisSteals;

/**
 * IrisStats:
 * @n_places: length of @places
 * @n_workers: length of @workers
 * @total: sums over all workers, and what happened outside them
 * @places: (array length=n_places): per place, in order of id
 * @workers: (array length=n_workers): per worker, in order of index; spare workers, if any were
 *   made, come last
 * @worker_place: (array length=n_workers): the place of each worker
 * @from_ns: when counting began, in nanoseconds of the clock of g_get_monotonic_time()
 * @to_ns: when the snapshot was taken
 * @delay: histogram of the time from queueing to running, of a sample of the items
 * @run: histogram of the time that running took, of the same sample
 * @active_workers: how many workers take part, and what was decided about that
 *
 * A snapshot of a scheduler's statistics; see iris_scheduler_get_stats().
 *
 * The sample is every 256th item that a worker queues, and the first and then every 256th of those
 * that come from outside; with `exact` in the environment variable `IRIS_DEBUG` it is every item.
 */
typedef struct
{
  guint n_places;
  guint n_workers;
  IrisCounters total;
  IrisCounters *places;
  IrisCounters *workers;
  gint *worker_place;
  gint64 from_ns;
  gint64 to_ns;
  guint64 delay[IRIS_STATS_DELAY_BUCKETS];
  guint64 run[IRIS_STATS_DELAY_BUCKETS];
  IrisActiveWorkers active_workers;

  /*< private >*/
  IrisSteals *steals; /* a row for each place that took, with a column for each that it took from */
} IrisStats;

#define IRIS_TYPE_STATS (iris_stats_get_type ())

IRIS_AVAILABLE_IN_ALL GType iris_stats_get_type (void);
IRIS_AVAILABLE_IN_ALL IrisStats *iris_stats_copy (const IrisStats *self);
IRIS_AVAILABLE_IN_ALL void iris_stats_free (IrisStats *self);
IRIS_AVAILABLE_IN_ALL IrisStats *iris_stats_diff (const IrisStats *older, const IrisStats *newer);
IRIS_AVAILABLE_IN_ALL const IrisSteals *
iris_stats_get_steals (const IrisStats *self, guint to, guint from);
IRIS_AVAILABLE_IN_ALL guint64 iris_stats_get_span (const IrisStats *self);
IRIS_AVAILABLE_IN_ALL guint64 iris_stats_delay_quantile (const IrisStats *self, gdouble quantile);
IRIS_AVAILABLE_IN_ALL guint64 iris_counters_get_verdict (const IrisCounters *self,
                                                         IrisStealVerdict verdict);
IRIS_AVAILABLE_IN_ALL guint64 iris_stats_run_quantile (const IrisStats *self, gdouble quantile);
IRIS_AVAILABLE_IN_ALL char *iris_stats_to_string (const IrisStats *self);
IRIS_AVAILABLE_IN_ALL char *iris_stats_to_json (const IrisStats *self);
IRIS_AVAILABLE_IN_ALL void iris_stats_print (const IrisStats *self);

IRIS_AVAILABLE_IN_ALL gdouble iris_counters_get_steal_ratio (const IrisCounters *self);
IRIS_AVAILABLE_IN_ALL gdouble iris_counters_get_steal_rate (const IrisCounters *self,
                                                            guint64 span_ns);
IRIS_AVAILABLE_IN_ALL gdouble iris_counters_get_steal_overhead (const IrisCounters *self);
IRIS_AVAILABLE_IN_ALL gdouble iris_counters_get_items_per_steal (const IrisCounters *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (IrisStats, iris_stats_free)

G_END_DECLS
