/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * iris's schedulers as contenders, in every setting of their properties.
 */
#pragma once

#include "tests/bench/peers/bench-contender.h"

#include <iris/iris.h>

guint bench_iris_n_schedulers (void);
const char *bench_iris_scheduler_name (guint index);
/* It has one thread, whatever is asked for. */
gboolean bench_iris_is_main_context (guint index);

/* Adds the scheduler in the settings that the options ask for. */
void bench_iris_add_variants (GPtrArray *contenders, const BenchOptions *options, guint index);
/* A contender for a name such as "places:layout=shared", or NULL and an error. */
BenchContender *bench_iris_parse (const char *name, GError **error);

/* One of iris's schedulers with threads of its own: all but main-context. */
gboolean bench_iris_is_pool (const BenchContender *self);

/* What --places says: a level of the topology, or a number of places without hardware; NULL: the
 * library's choice. */
IrisPlaces *
bench_iris_places_new (const char *places, guint workers, IrisBind bind, GError **error);

/* Starts the scheduler's threads by an item, which it counts, and waits until they sleep. */
gboolean bench_iris_start (IrisScheduler *scheduler, GError **error);
/* A scheduler whose threads sleep; not for main-context, whose thread is not its own. */
IrisScheduler *bench_iris_open (const BenchContender *self, guint workers, GError **error);

gboolean bench_iris_fib (const BenchContender *self,
                         guint n,
                         guint workers,
                         guint64 *value,
                         gdouble *seconds,
                         GError **error);
