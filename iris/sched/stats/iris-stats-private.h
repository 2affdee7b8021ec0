/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Making a snapshot of statistics, and the one list of what is counted.
 */
#pragma once

#include "iris/sched/stats/iris-stats.h"

#include <stdint.h>

/* Every counter, in the order of IrisCounters: workers' cells, snapshots, sums, differences, the
 * table, JSON and the model follow this list. To add one, add a member to IrisCounters, with its
 * line of documentation, and a line here. The parts of a line:
 *   member  of IrisCounters
 *   from    WORKER: a cell of each worker, written by it alone with iris_counter_add();
 *           WATCH: a stopwatch of each worker (iris-clock-private.h), in nanoseconds
 *           OTHER: the thread that counts it adds it to the snapshot (add_stats of
 * IrisWorkerPoolOps) how     SUM, or MAX: how the figures of several workers become one */
#define IRIS_EACH_COUNTER(_)        \
  _ (executed, WORKER, SUM)         \
  _ (queued, WORKER, SUM)           \
  _ (hinted, WORKER, SUM)           \
  _ (stolen_in, WORKER, SUM)        \
  _ (stolen_out, OTHER, SUM)        \
  _ (stolen_inside, WORKER, SUM)    \
  _ (steals, WORKER, SUM)           \
  _ (steal_tries, WORKER, SUM)      \
  _ (steal_fails, WORKER, SUM)      \
  _ (steal_empties, WORKER, SUM)    \
  _ (refused_backlog, WORKER, SUM)  \
  _ (refused_size, WORKER, SUM)     \
  _ (refused_distance, WORKER, SUM) \
  _ (refused_apart, WORKER, SUM)    \
  _ (refusals_lapsed, WORKER, SUM)  \
  _ (backoffs, WORKER, SUM)         \
  _ (parks, WORKER, SUM)            \
  _ (wakes, WORKER, SUM)            \
  _ (kept_apart, OTHER, SUM)        \
  _ (cancelled, WORKER, SUM)        \
  _ (steal_most, WORKER, MAX)       \
  _ (searching_ns, WATCH, SUM)      \
  _ (parked_ns, WATCH, SUM)         \
  _ (alive_ns, WATCH, SUM)          \
  _ (busy_ns, OTHER, SUM)

typedef enum
{
  IRIS_COUNTER_SUM,
  IRIS_COUNTER_MAX,
} IrisCounterHow;

typedef struct
{
  const char *name; /* the member's, which is its name in JSON and in the model too */
  gsize offset;     /* in IrisCounters */
  IrisCounterHow how;
} IrisCounterInfo;

extern const IrisCounterInfo iris_counter_infos[];
extern const guint iris_n_counter_infos;

static inline guint64
iris_counters_get (const IrisCounters *self, const IrisCounterInfo *info)
{
  return G_STRUCT_MEMBER (guint64, self, info->offset);
}

static inline void
iris_counters_set (IrisCounters *self, const IrisCounterInfo *info, guint64 n)
{
  G_STRUCT_MEMBER (guint64, self, info->offset) = n;
}

#define IRIS_JOIN_SUM(a, b)          ((a) + (b))
#define IRIS_JOIN_MAX(a, b)          MAX (a, b)
#define IRIS_JOIN(member, from, how) sum->member = IRIS_JOIN_##how (sum->member, more->member);

/* Makes the figures of one more worker part of a sum. */
static inline void
iris_counters_join (IrisCounters *sum, const IrisCounters *more)
{
  IRIS_EACH_COUNTER (IRIS_JOIN)
}

/* What is worked out from the counters of a worker, of a place or of all. */
typedef struct
{
  const char *name;
  gdouble (*get) (const IrisCounters *counters, guint64 span_ns);
} IrisMeasureInfo;

extern const IrisMeasureInfo iris_measure_infos[];
extern const guint iris_n_measure_infos;

IrisStats *iris_stats_new (guint n_places, guint n_workers);
