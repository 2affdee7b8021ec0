/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Active workers: how many of a scheduler's workers take part at the moment.
 */
#pragma once

#include <iris/base/iris-version-macros.h>

G_BEGIN_DECLS

/**
 * IRIS_DEFAULT_MAX_SPARES:
 *
 * How many spare workers a place may have while others block; see IrisScheduler:max-spares.
 */
#define IRIS_DEFAULT_MAX_SPARES 16

/**
 * IRIS_MAX_SPARES_LIMIT:
 *
 * What IrisScheduler:max-spares may be at most.
 */
#define IRIS_MAX_SPARES_LIMIT 1024

/**
 * IrisActiveWorkers:
 * @n_active: workers that take part now, spares and blocking ones included
 * @n_out: workers that wait, without using the processor, until they are needed again
 * @n_blocking: workers that are in a blocking section now
 * @n_spares: spare workers made so far; they stay until the scheduler ends
 * @went_out: times that a worker went out
 * @came_back: times that a worker that was out came back
 * @blocking_sections: blocking sections begun, nested ones not counted
 * @blocking_ns: nanoseconds spent in those that have ended, over all workers
 * @spares_started: times that a blocking section was met by making a worker
 * @spares_reused: times that it was met by one that was out
 * @spares_refused: times that it was not met, because its place had IrisScheduler:max-spares
 *   workers blocking already, or the system refused a thread
 * @contention_samples: times that the contention controller looked
 * @contention_out: its decisions to take a worker out
 * @contention_back: its decisions to bring one back
 * @contention_by_delay: of @contention_out, those because of delay in the run queue
 * @contention_by_switches: of @contention_out, those because of involuntary switches
 * @contention_by_pressure: of @contention_out, those because of the system's pressure (PSI)
 *
 * Who takes part in a scheduler's work, and what was decided about it so far; part of #IrisStats.
 */
typedef struct
{
  guint n_active;
  guint n_out;
  guint n_blocking;
  guint n_spares;
  guint64 went_out;
  guint64 came_back;
  guint64 blocking_sections;
  guint64 blocking_ns;
  guint64 spares_started;
  guint64 spares_reused;
  guint64 spares_refused;
  guint64 contention_samples;
  guint64 contention_out;
  guint64 contention_back;
  guint64 contention_by_delay;
  guint64 contention_by_switches;
  guint64 contention_by_pressure;
} IrisActiveWorkers;

G_END_DECLS
