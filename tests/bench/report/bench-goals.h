/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The goals that iris has set itself, held against what was measured.
 */
#pragma once

#include "tests/bench/workloads/bench-workload.h"

typedef enum
{
  BENCH_REACHED,
  BENCH_MISSED,
  BENCH_SHOWN,   /* a figure without a limit */
  BENCH_UNKNOWN, /* what it takes was not measured */
} BenchVerdict;

typedef struct
{
  char *figure;   /* what was measured, of whom */
  char *goal;     /* "<= 3 %" */
  char *measured; /* the figure with its range, or why there is none */
  BenchVerdict verdict;
} BenchGoal;

/* All goals of a suite, in the order in which they were set: (element-type BenchGoal). */
GPtrArray *bench_goals_check (GPtrArray *results, BenchSuite suite);
const char *bench_verdict_name (BenchVerdict verdict);
