/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Trials of items from outside and of items that items make.
 */
#pragma once

#include "tests/bench/peers/bench-contender.h"
#include "tests/bench/measure/bench-result.h"

/* Every contender in turn under one load; compared with the base, or with the first of them. */
void bench_spray_add_trials (BenchResult *result,
                             const BenchOptions *options,
                             const char *load,
                             const BenchSpray *spray,
                             const BenchSeries *base,
                             BenchRelation relation);

/* The same work in one plain loop: what all that is not work is measured by. */
BenchSeries *bench_spray_add_plain (BenchResult *result, const char *load, const BenchSpray *spray);
