/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The workloads. Each returns its result, or NULL and why there is none.
 */
#pragma once

#include "tests/bench/measure/bench-result.h"

typedef struct
{
  const char *name;
  const char *summary;
  BenchResult *(*run) (const BenchOptions *options, GError **error);
  gboolean apart; /* no part of compare: it measures the daemon */
} BenchWorkload;

const BenchWorkload *bench_workload_find (const char *name);
/* In the order in which they are listed; NULL behind the last one. */
const BenchWorkload *bench_workload_nth (guint n);

BenchResult *bench_recursive (const BenchOptions *options, GError **error);
BenchResult *bench_external (const BenchOptions *options, GError **error);
BenchResult *bench_grain (const BenchOptions *options, GError **error);
BenchResult *bench_imbalance (const BenchOptions *options, GError **error);
BenchResult *bench_wake (const BenchOptions *options, GError **error);
BenchResult *bench_round_trip (const BenchOptions *options, GError **error);
BenchResult *bench_idle (const BenchOptions *options, GError **error);
BenchResult *bench_fib (const BenchOptions *options, GError **error);
BenchResult *bench_jacobi (const BenchOptions *options, GError **error);
BenchResult *bench_lud (const BenchOptions *options, GError **error);
BenchResult *bench_heat (const BenchOptions *options, GError **error);
BenchResult *bench_locks (const BenchOptions *options, GError **error);
/* Whether the contenders that were chosen are those of locks. */
gboolean bench_locks_check (const BenchOptions *options, GError **error);
BenchResult *bench_ping_pong (const BenchOptions *options, GError **error);
BenchResult *bench_fan_in (const BenchOptions *options, GError **error);
BenchResult *bench_actor_ring (const BenchOptions *options, GError **error);
BenchResult *bench_coordinate (const BenchOptions *options, GError **error);
BenchResult *bench_queues (const BenchOptions *options, GError **error);
BenchResult *bench_daemon (const BenchOptions *options, GError **error);
BenchResult *bench_backlog (const BenchOptions *options, GError **error);
/* Whether the rows that were chosen are those of daemon. */
gboolean bench_daemon_check (const BenchOptions *options, GError **error);
