/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The kernels of the Java Grande Forum's multithreaded suite (L. A. Smith, J. M. Bull, J.
 * Obdrzalek, "A Parallel Java Grande Benchmark Suite", 2001), written anew in C.
 */
#pragma once

#include "tests/bench/measure/bench-measure.h"

/* How large a problem is, and in how many parts its loops are split; 1: a sequential program. */
typedef struct
{
  char letter;   /* size A or B */
  gdouble scale; /* of that size */
  guint parts;
} BenchGrandeSize;

/*
 * A kernel. It runs in phases: the tiles of one phase may run at the same time, the next phase
 * starts when all of them are done.
 */
typedef struct
{
  const char *name;

  gpointer (*create) (const BenchGrandeSize *size);
  void (*free) (gpointer problem);
  void (*restart) (gpointer problem);
  guint (*n_phases) (gpointer problem);
  guint (*n_tiles) (gpointer problem, guint phase);
  void (*tile) (gpointer problem, guint phase, guint tile);
  /* What was computed: the same bytes, however it was split; NULL: sums differ in their last bits.
   */
  gconstpointer (*result) (gpointer problem, gsize *size);
  /* Whether a run came to the published values, or to what is known of every size. */
  gboolean (*check) (gpointer problem, GError **error);
} BenchGrandeKernel;

extern const BenchGrandeKernel bench_grande_crypt;
extern const BenchGrandeKernel bench_grande_lufact;
extern const BenchGrandeKernel bench_grande_moldyn;
extern const BenchGrandeKernel bench_grande_montecarlo;
extern const BenchGrandeKernel bench_grande_raytracer;
extern const BenchGrandeKernel bench_grande_series;
extern const BenchGrandeKernel bench_grande_sor;
extern const BenchGrandeKernel bench_grande_sparse;

/* The number of a size, scaled; never less than the least that makes sense. */
guint bench_grande_scale (const BenchGrandeSize *size, guint a, guint b, guint least);

/* The first index of a part of n, and the end of it is the first of the next. */
static inline guint
bench_grande_first (guint n, guint part, guint parts)
{
  return (guint) ((guint64) n * part / parts);
}

/* What was published for a problem of a certain size. */
typedef struct
{
  guint n;
  gdouble value;
} BenchGrandeValue;

/* FALSE if nothing was. */
gboolean
bench_grande_published (const BenchGrandeValue *values, guint n_values, guint n, gdouble *value);

/* Sets an error unless the value is as close to what was expected. */
gboolean bench_grande_expect (const char *what,
                              gdouble value,
                              gdouble expected,
                              gdouble tolerance,
                              GError **error);
