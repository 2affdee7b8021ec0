/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Reports: tables for people, JSON and CSV for programs, charts from that JSON, and goals.
 */
#pragma once

#include "tests/bench/report/bench-machine.h"
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
/* Those of workloads (element-type BenchWorkload) of any suite, such as rows of the papers. */
GPtrArray *bench_goals_check_rows (GPtrArray *results, GPtrArray *workloads);
const char *bench_verdict_name (BenchVerdict verdict);

/* --- report ----------------------------------------------------------------------------------- */

/* What one command measured. */
typedef struct
{
  const char *name; /* of the workload, or "compare" */
  const BenchOptions *options;
  char *date;      /* of its start, UTC, as in ISO 8601 */
  GArray *workers; /* of guint: every workload was run with each of these */
  BenchMachine *machine;
  GPtrArray *results;  /* of BenchResult */
  GPtrArray *goals;    /* of BenchGoal; or NULL */
  GPtrArray *failures; /* of char *: which workload could not be run, and why */
  char *no_counters;   /* why the hardware's counters were not read; or NULL */
} BenchReport;

/* Warns where rounds differ too much to say much. */
void bench_report_judge_spread (const BenchReport *self);
void bench_report_print (const BenchReport *self);
/* The rows of the papers, what they are and where they come from. */
void bench_figures_print (void);
void bench_report_print_csv (const BenchReport *self);
/* A line for each sample; of a report in JSON. */
char *bench_csv_of_samples (JsonNode *report);
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
  gboolean is_sweep; /* over numbers of workers */
} BenchChart;

/* Of one workload, or of all if it is NULL; NULL if the report is none. */
BenchChart *bench_chart_new (JsonNode *report, const char *workload);
void bench_chart_free (BenchChart *self);

/* The picture, as "svg" or "png". */
GBytes *bench_gnuplot_draw (const BenchChart *chart, const char *format, GError **error);
/* Is it there? */
gboolean bench_gnuplot_check (GError **error);
