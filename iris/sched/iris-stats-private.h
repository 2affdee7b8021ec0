/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Making a snapshot of statistics.
 */
#pragma once

#define IRIS_INSIDE
#include "iris/sched/iris-stats.h"
#undef IRIS_INSIDE

IrisStats *iris_stats_new (guint n_places, guint n_workers);
