/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Counters of the processor and the kernel over all threads of a run, by perf_event_open (2).
 *
 * An event is opened once, before the process has a second thread, and inherited by every thread
 * from then on; a run's count is what was added between its begin and its end. Events that share a
 * register are scaled by the share of time in which they counted.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef enum
{
  BENCH_NO_COUNTER,
  BENCH_CYCLES,
  BENCH_INSTRUCTIONS,
  BENCH_LL_REFERENCES, /* of the last level of caches */
  BENCH_LL_MISSES,
  BENCH_LL_HITS, /* references that were no misses */
  BENCH_L2_REFERENCES,
  BENCH_L2_MISSES,
  BENCH_TASK_CLOCK, /* nanoseconds of processor time */
  BENCH_PAGE_FAULTS,
  BENCH_SWITCHES, /* of context */
  BENCH_MIGRATIONS,
  BENCH_N_COUNTERS,
} BenchCounter;

typedef enum
{
  BENCH_COUNT_NOTHING,
  BENCH_COUNT_HARDWARE,
  BENCH_COUNT_ALL, /* and what the kernel counts by itself */
} BenchCounting;

typedef struct
{
  gdouble values[BENCH_N_COUNTERS]; /* NAN: it was not counted */
} BenchCounts;

/* Returns whether one of the hardware's counters counts; @why is why not, or what is limited. */
gboolean bench_counters_open (BenchCounting what, char **why);
void bench_counters_close (void);
gboolean bench_counters_are_open (void);
gboolean bench_counters_has (BenchCounter counter);

/* Of a run; a workload that prepares or checks much may call them again closer to its clock. */
void bench_counters_begin (void);
void bench_counters_end (void);
BenchCounts bench_counters_last (void);

const char *bench_counter_name (BenchCounter counter);  /* "ll_misses" */
const char *bench_counter_label (BenchCounter counter); /* "last-level misses" */

G_END_DECLS
