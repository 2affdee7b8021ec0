/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the numeric workloads share: trials against plain C, and the check of every result.
 */
#pragma once

#include "bench-contender.h"
#include "bench-result.h"

/*
 * A computation, once as plain C and once in tiles. It computes in place, from a start that can be
 * restored; the tiles must come to exactly the numbers of the plain run.
 *
 * What a tile does is a function that is not inlined, and plain C is loops around it: so both run
 * the same machine code, and the scheduler is measured, not the compiler.
 */
typedef struct
{
  const char *name;
  char *title;
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

/* Takes the numeric over. */
BenchResult *bench_numeric_run (BenchNumeric *numeric, const BenchOptions *options, GError **error);

/* Numbers that no compiler knows, the same in every run: uniform in [-1, 1). */
void bench_fill_random (gdouble *values, gsize n);
