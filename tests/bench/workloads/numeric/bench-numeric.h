/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the numeric workloads share: trials against plain C, and the check of every result.
 */
#pragma once

#include "tests/bench/peers/bench-contender.h"

/* A function that is not inlined. It and its loops begin cache lines (see meson.build). */
#define BENCH_KERNEL G_NO_INLINE static void

/*
 * A computation, once as plain C and once in tiles. It computes in place, from a start that can be
 * restored; the tiles must come to exactly the numbers of the plain run.
 *
 * What a tile does is a BENCH_KERNEL, and plain C is loops around it: so both run the same machine
 * code, and the scheduler is measured, not the compiler.
 */
typedef struct
{
  gpointer problem;
  GDestroyNotify free;
  void (*restart) (gpointer problem);
  void (*plain) (gpointer problem);
  BenchPhases phases;
  /* What was computed, and how much of it. */
  const gdouble *(*values) (gpointer problem, gsize *n);
  /* Does the plain run solve the problem, by what is known of it on paper? */
  gboolean (*check_plain) (gpointer problem, GError **error);
} BenchNumeric;

/* The problems: of so many points along an edge, in tiles of so many rows; or of so many rows, in
 * blocks of so many. */
BenchNumeric bench_jacobi_new (guint size, guint steps, guint tile);
BenchNumeric bench_heat_new (guint size, guint steps, guint tile);
BenchNumeric bench_lud_new (guint size, guint tile);

/* A problem whose plain run was done and checked; the result owns it from now on. NULL: it is
 * wrong. */
typedef struct _BenchSolved BenchSolved;

const BenchSolved *
bench_numeric_solve (BenchResult *result, const BenchNumeric *numeric, GError **error);
guint64 bench_solved_count_tiles (const BenchSolved *self);
/* Run functions: the load is the solved problem, with which each run is compared. */
gboolean bench_solved_run_plain (const BenchRun *run, gdouble *samples, GError **error);
/* The tiles one after the other, without a scheduler: what dividing the loops costs. */
gboolean bench_solved_run_tiles (const BenchRun *run, gdouble *samples, GError **error);
gboolean bench_solved_run_contender (const BenchRun *run, gdouble *samples, GError **error);

/* Trials against plain C with one worker and with all; the result owns the problem from now on. */
gboolean bench_numeric_plan (BenchResult *result,
                             const BenchOptions *options,
                             const BenchNumeric *numeric,
                             GError **error);

/* Zeros from the beginning of a cache line, wherever the heap has room; for g_aligned_free(). */
gdouble *bench_numbers_new (gsize n);
/* Numbers that no compiler knows, the same in every run: uniform in [-1, 1). */
void bench_fill_random (gdouble *values, gsize n);
