/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Reports: tables for people, JSON and CSV for programs, charts from that JSON.
 */
#pragma once

#include "tests/bench/report/bench-goals.h"
#include "tests/bench/measure/bench-measure.h"

#include <json-glib/json-glib.h>

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
