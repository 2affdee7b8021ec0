/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Fibonacci numbers by recursion, a task for each call that has two halves.
 */
#pragma once

#include "tests/bench/peers/bench-contender.h"

/* A run function: the load is a guint, which number is computed; the result is checked. */
gboolean bench_fib_run (const BenchRun *run, gdouble *samples, GError **error);
/* The usual number, scaled. */
guint bench_fib_choose (const BenchOptions *options);
guint64 bench_fib_count_tasks (guint n);
