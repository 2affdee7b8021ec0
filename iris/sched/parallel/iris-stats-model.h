/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Statistics as a list, for programs that show them.
 */
#pragma once

#include <gio/gio.h>
#include <iris/sched/iris-scheduler.h>

G_BEGIN_DECLS

/**
 * IrisStatsOf:
 * @IRIS_STATS_OF_PLACES: a row for each place
 * @IRIS_STATS_OF_WORKERS: a row for each worker
 *
 * What the rows of an #IrisStatsModel are.
 */
typedef enum
{
  IRIS_STATS_OF_PLACES,
  IRIS_STATS_OF_WORKERS,
} IrisStatsOf;

#define IRIS_TYPE_STATS_OF (iris_stats_of_get_type ())
IRIS_AVAILABLE_IN_ALL GType iris_stats_of_get_type (void);

#define IRIS_TYPE_STATS_ROW (iris_stats_row_get_type ())
IRIS_AVAILABLE_IN_ALL
G_DECLARE_FINAL_TYPE (IrisStatsRow, iris_stats_row, IRIS, STATS_ROW, GObject)

IRIS_AVAILABLE_IN_ALL guint iris_stats_row_get_index (IrisStatsRow *self);
IRIS_AVAILABLE_IN_ALL gint iris_stats_row_get_place (IrisStatsRow *self);
IRIS_AVAILABLE_IN_ALL const IrisCounters *iris_stats_row_get_counters (IrisStatsRow *self);

#define IRIS_TYPE_STATS_MODEL (iris_stats_model_get_type ())
IRIS_AVAILABLE_IN_ALL
G_DECLARE_FINAL_TYPE (IrisStatsModel, iris_stats_model, IRIS, STATS_MODEL, GObject)

IRIS_AVAILABLE_IN_ALL IrisStatsModel *
iris_stats_model_new (IrisScheduler *scheduler, IrisStatsOf of);
IRIS_AVAILABLE_IN_ALL void iris_stats_model_refresh (IrisStatsModel *self);

G_END_DECLS
