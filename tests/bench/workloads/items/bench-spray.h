/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Trials of items from outside and of items that items make.
 */
#pragma once

#include "tests/bench/peers/bench-contender.h"

/* Every contender in turn under one load, compared with the first of them; or, where the relation
 * is BENCH_IDEAL, with the same work in one plain loop. */
void bench_spray_add (BenchResult *result,
                      const BenchOptions *options,
                      const BenchCase *what,
                      const BenchSpray *spray);

/* The same with messages, which only iris's own pools have; its load is a BenchSpray. */
gboolean bench_spray_run_messages (const BenchRun *run, gdouble *samples, GError **error);
