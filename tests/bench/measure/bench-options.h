/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the user may choose; one place for all workloads.
 */
#pragma once

#include <glib.h>

/* Which settings of a scheduler's properties take part beside its usual ones. */
typedef enum
{
  BENCH_VARIANTS_NONE, /* none */
  BENCH_VARIANTS_ONE,  /* those that differ in one property */
  BENCH_VARIANTS_ALL,  /* every combination */
} BenchVariants;

/* A number that is 0 is the workload's own choice. */
typedef struct
{
  guint workers;
  guint rounds;
  gdouble scale;   /* of the workloads' own sizes */
  guint outer;     /* recursive */
  guint inner;     /* recursive */
  guint items;     /* external, grain, imbalance, locks, queues, wake */
  guint producers; /* external */
  gdouble work;    /* imbalance: microseconds of work in an item */
  guint size;      /* jacobi, lud, heat, fib */
  guint steps;     /* jacobi, heat */
  guint tile;      /* jacobi, lud, heat */
  gdouble seconds; /* idle */
  char **only;     /* contenders; NULL: all */
  gboolean peers;
  BenchVariants variants;
  const char *irisd; /* daemon: which one; NULL: that of this build, or the installed one */
  char *places;      /* a level of the topology or a number; NULL: the library's choice */
} BenchOptions;

/* What the user chose, or what is usual here, scaled; never less than the least that makes sense.
 */
static inline guint
bench_choose (const BenchOptions *options, guint chosen, guint usual, guint least)
{
  gdouble scaled = usual * options->scale;

  return chosen != 0 ? MAX (chosen, least) : (guint) CLAMP (scaled, least, 1e9);
}
