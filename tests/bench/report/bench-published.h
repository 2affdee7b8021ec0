/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A published figure and ours, side by side.
 */
#pragma once

#include "tests/bench/workloads/bench-workload.h"

/* Ours, and how either is written. */
typedef struct
{
  const BenchSeries *series; /* NULL: it took no part, or nothing of ours can be held against it */
  BenchEstimate ours;
  const char *unit;  /* "x", " %"; "": unknown */
  guint digits;      /* behind the point */
  gdouble factor;    /* from ours to what is written */
  gboolean is_count; /* of a counter, which the hardware may not have */
} BenchOurs;

BenchOurs bench_published_find (const BenchPublished *self, const BenchResult *result);

/* "1.20 to 1.55x"; "-" if no number was published. */
char *bench_published_describe (const BenchPublished *self, const BenchOurs *ours);
/* One of its numbers: "1.31x"; "-" if it is none. */
char *bench_ours_describe (const BenchOurs *self, gdouble value);
/* "1.28 to 1.36x" */
char *bench_ours_describe_interval (const BenchOurs *self);
