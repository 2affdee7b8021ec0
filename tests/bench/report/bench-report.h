/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Reports: tables for people, JSON and CSV for programs, charts from that JSON, and goals.
 */
#pragma once

#include "tests/bench/workloads/bench-workload.h"

#include <json-glib/json-glib.h>

/* --- goals ------------------------------------------------------------------------------------ */

typedef enum
{
  BENCH_REACHED,
  BENCH_MISSED,
  BENCH_SHOWN,   /* a figure without a limit */
  BENCH_UNKNOWN, /* what it takes was not measured */
  BENCH_NOISE,   /* the limit lies within the interval of the median */
} BenchVerdict;

typedef struct
{
  char *figure;   /* what was measured, of whom */
  char *goal;     /* "<= 3 %" */
  char *measured; /* the figure with its range, or why there is none */
  BenchVerdict verdict;
} BenchGoal;

/* All goals of a suite, in the order in which they were set: (element-type BenchGoal). */
GPtrArray *bench_goals_check (GPtrArray *results, BenchSuite suite);
const char *bench_verdict_name (BenchVerdict verdict);

/* --- report ----------------------------------------------------------------------------------- */

/* Above this mean of the last minute the machine is said to have had other work. */
#define BENCH_BUSY_LOAD 0.5

typedef struct
{
  char *description;
  gdouble load[3]; /* means of the last 1, 5 and 15 minutes, at the start; -1: unknown */
  gboolean is_busy;
} BenchMachine;

BenchMachine *bench_machine_new (void);
void bench_machine_free (BenchMachine *self);

/* What one command measured. */
typedef struct
{
  const char *name; /* of the workload, or "compare" */
  const BenchOptions *options;
  BenchMachine *machine;
  GPtrArray *results; /* of BenchResult */
  GPtrArray *goals;   /* of BenchGoal; or NULL */
} BenchReport;

void bench_report_print (const BenchReport *self);
void bench_report_print_csv (const BenchReport *self);
JsonNode *bench_report_to_json (const BenchReport *self);

/* The ending of the file's name chooses between SVG and PNG. */
gboolean bench_chart_check (const char *file, GError **error);
gboolean bench_chart_write (JsonNode *report, const char *file, GError **error);

/* --- chart ------------------------------------------------------------------------------------ */

typedef struct
{
  char *name; /* of the contender */
  char *kind; /* "iris", "peer", "plain" */
  gdouble x;  /* of a line */
  gdouble value;
  gdouble low; /* the middle half of the rounds is from here */
  gdouble high;
} BenchPoint;

/* Bars: a point each. Lines: points of one name belong together, in order of x. */
typedef struct
{
  char *title;
  char *value_label; /* with its unit */
  char *x_label;     /* lines; NULL: bars */
  gboolean is_time;  /* so a logarithmic axis may be best */
  GArray *points;    /* of BenchPoint */
} BenchPanel;

typedef struct
{
  char *title;
  char *subtitle;
  GPtrArray *panels;
} BenchChart;

/* The picture, as "svg" or "png". */
GBytes *bench_gnuplot_draw (const BenchChart *chart, const char *format, GError **error);
/* Is it there? */
gboolean bench_gnuplot_check (GError **error);
