/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What can go wrong with a benchmark.
 */
#pragma once

#include <glib.h>

#define BENCH_ERROR (bench_error_quark ())

/*
 * BENCH_ERROR_ARGUMENT: what the user asked for cannot be; exit status 2
 * BENCH_ERROR_NOBODY: no contender that was chosen can run a workload; exit status 2
 * BENCH_ERROR_RESULT: a run lost items or computed something else; exit status 1
 * BENCH_ERROR_MACHINE: the machine does not offer what the run needs; exit status 1
 */
typedef enum
{
  BENCH_ERROR_ARGUMENT,
  BENCH_ERROR_NOBODY,
  BENCH_ERROR_RESULT,
  BENCH_ERROR_MACHINE,
} BenchError;

GQuark bench_error_quark (void);
