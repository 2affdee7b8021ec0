/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Tables and figures of the papers, and the workloads that redo them.
 */
#pragma once

#include "tests/bench/measure/bench-counters.h"

G_BEGIN_DECLS

/*
 * A figure that was published. Ours is what the comparison of one of our series says, in the terms
 * of its relation (a factor, or percent), or what the flag and the counter choose instead.
 */
typedef struct
{
  const char *what;      /* "best placement against worst, 2 arrays of 4 MB" */
  const char *load;      /* of our series; NULL: nothing of ours can be held against it */
  const char *contender; /* of our series */
  gdouble low, high;     /* as published; equal if it was one number; NAN: it has none */
  gboolean is_sample;    /* the sample itself, in its unit, not its comparison */
  const char *base;      /* the contender that ours is compared with; NULL: that of the series */
  BenchCounter counter;  /* how many times as many of these the base has; of hits: this has */
} BenchPublished;

/* A table or a figure of a paper that a workload redoes. */
typedef struct
{
  const char *row;                 /* how it is named on the command line: "B9"; or several */
  const char *title;               /* as the paper calls it */
  const char *source;              /* authors, title, year, section */
  const char *machine;             /* on which it was measured */
  const char *differs;             /* what differs here in method, in a line */
  const BenchPublished *published; /* the last one has no `what`; or NULL */
} BenchFigure;

/* Papers that several workloads redo, each followed by its section, and their machines. */
#define BENCH_LASSI         "Th. Weibel, An Advanced Scheduler for Intervals, ETH Zürich, 2010"
#define BENCH_LASSI_MACHINE "2 Intel Nehalem processors of 4 cores, an L3 of 8 MB each, HotSpot 1.6"
#define BENCH_FAST                                                                       \
  "S. Sridharan, B. Keck, R. Murphy, S. Chandra, P. Kogge, Thread Migration to Improve " \
  "Synchronization Performance"
#define BENCH_FAST_MACHINE \
  "HP rx4640, 4 Itanium 2 of 1.5 GHz, 256 KB L2 and 4 MB L3 each, one bus; Linux 2.6.9"

/* The rows of all workloads in their order, each once: (element-type utf8). */
GPtrArray *bench_figure_rows (void);
gboolean bench_figure_has_row (const BenchFigure *self, const char *row);

/*
 * The workloads (element-type BenchWorkload) that redo the rows, in whatever case they are written;
 * "all" is all of them; in the order of the rows. NULL, and an error that names the rows, if there
 * is no such row.
 */
GPtrArray *bench_figure_choose (const char *const *rows, GError **error);

G_END_DECLS
