/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A row of statistics, as its model sees it.
 */
#pragma once

#include "iris/sched/stats/iris-stats-private.h"
#include "iris/sched/parallel/iris-stats-model.h"

IrisStatsRow *iris_stats_row_new (guint index, gint place);

/* @lately is what happened in the @span_ns that the measures tell of. */
void iris_stats_row_update (IrisStatsRow *self,
                            const IrisCounters *counters,
                            const IrisCounters *lately,
                            guint64 span_ns);
