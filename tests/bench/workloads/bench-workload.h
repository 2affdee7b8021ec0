/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The workloads. A new one is a file that defines its BenchWorkload, and a line of the table below;
 * timing, rounds, statistics and reports are those of all.
 */
#pragma once

#include "tests/bench/measure/bench-measure.h"
#include "tests/bench/workloads/bench-figure.h"

/* What is run together, by its name, and held against the goals of it. */
typedef enum
{
  BENCH_SUITE_COMPARE,
  BENCH_SUITE_DAEMON,
  BENCH_SUITE_PAPER, /* figures of the papers only */
  BENCH_N_SUITES,
} BenchSuite;

typedef struct
{
  const char *name;
  const char *summary; /* for --help */
  BenchSuite suite;
  const char *item;    /* what one of its items is called; NULL: "item" */
  const char *x_label; /* of a chart, where its loads lie on an axis; or NULL */
  guint max_rounds;    /* 0: as many as the user wants */

  /* Gives the result a title and its trials; nothing is timed yet. */
  gboolean (*plan) (BenchResult *result, const BenchOptions *options, GError **error);
  const BenchFigure *figure; /* NULL: of no paper */
  /* Whether --only names contenders of its; NULL: they are the schedulers and their peers. */
  gboolean (*check) (const BenchOptions *options, GError **error);
} BenchWorkload;

#ifdef HAVE_SIM
#define BENCH_SIMULATED(ROW) ROW (sizes) ROW (simulated)
#else
#define BENCH_SIMULATED(ROW)
#endif

/* In the order in which they are listed and run. */
#define BENCH_WORKLOADS(ROW) \
  ROW (recursive)            \
  ROW (no_hints)             \
  ROW (external)             \
  ROW (aged)                 \
  ROW (grain)                \
  ROW (imbalance)            \
  ROW (wake)                 \
  ROW (round_trip)           \
  ROW (idle)                 \
  ROW (fib)                  \
  ROW (jacobi)               \
  ROW (lud)                  \
  ROW (heat)                 \
  ROW (overhead)             \
  ROW (steals)               \
  ROW (grande)               \
  ROW (locks)                \
  ROW (lock_data)            \
  ROW (ping_pong)            \
  ROW (fan_in)               \
  ROW (ring)                 \
  ROW (coordinate)           \
  ROW (queues)               \
  ROW (splash)               \
  ROW (refused)              \
  ROW (contention)           \
  ROW (footprint)            \
  ROW (data)                 \
  BENCH_SIMULATED (ROW)      \
  ROW (daemon)               \
  ROW (backlog)              \
  ROW (cache_latency)        \
  ROW (cache_threads)        \
  ROW (cache_intervals)      \
  ROW (merge_sort)           \
  ROW (block_matrix)

#define BENCH_WORKLOAD_DECLARE(name) extern const BenchWorkload bench_workload_##name;
BENCH_WORKLOADS (BENCH_WORKLOAD_DECLARE)

const char *bench_suite_name (BenchSuite suite);
const BenchWorkload *bench_workload_find (const char *name);
/* NULL behind the last one. */
const BenchWorkload *bench_workload_nth (guint n);

gboolean
bench_workload_check (const BenchWorkload *self, const BenchOptions *options, GError **error);
/* NULL, and why there is no result. */
BenchResult *
bench_workload_run (const BenchWorkload *self, const BenchOptions *options, GError **error);
