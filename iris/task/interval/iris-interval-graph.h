/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The graph: intervals that may wait for each other, and the scheduler that runs them.
 */
#pragma once

#include <iris/sched/iris-scheduler.h>

G_BEGIN_DECLS

/**
 * IrisIntervalGraph:
 *
 * Intervals that may wait for each other, and the scheduler that runs them.
 *
 * It allows no edge that would close a cycle.
 */
#define IRIS_TYPE_INTERVAL_GRAPH (iris_interval_graph_get_type ())
IRIS_AVAILABLE_IN_ALL
G_DECLARE_FINAL_TYPE (IrisIntervalGraph, iris_interval_graph, IRIS, INTERVAL_GRAPH, GObject)

IRIS_AVAILABLE_IN_ALL IrisIntervalGraph *iris_interval_graph_new (IrisScheduler *scheduler);
IRIS_AVAILABLE_IN_ALL IrisScheduler *iris_interval_graph_get_scheduler (IrisIntervalGraph *self);
IRIS_AVAILABLE_IN_ALL void iris_interval_graph_wait (IrisIntervalGraph *self);
IRIS_AVAILABLE_IN_ALL char *iris_interval_graph_to_dot (IrisIntervalGraph *self);

G_END_DECLS
