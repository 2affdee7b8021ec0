/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The result of one workload: its trials, the series that they fill, and how to show them.
 */
#pragma once

#include "tests/bench/measure/bench-error.h"
#include "tests/bench/measure/bench-options.h"
#include "tests/bench/measure/bench-series.h"

typedef struct
{
  char *name;  /* the workload */
  char *title; /* what was run, in a sentence */
  guint workers;
  guint rounds;
  const char *item; /* what one of its items is called: "item", "task" */
  char *x_label;    /* of the chart, where loads lie on an axis; or NULL */
  GPtrArray *series;
  GPtrArray *trials;
} BenchResult;

/*
 * One timed run: it writes a sample for each of its series, and checks what the run did. Trials
 * with the same data may follow each other; the data belongs to the trial that was made with it.
 */
typedef gboolean (*BenchTrialFunc) (gpointer data, gdouble *samples, GError **error);

#define BENCH_TRIAL_MAX_SERIES 2

BenchResult *bench_result_new (const char *name, const BenchOptions *options, char *title);
void bench_result_free (BenchResult *self);
BenchSeries *bench_result_add_series (BenchResult *self, BenchSeries *series);
void bench_result_add_trial (BenchResult *self,
                             BenchTrialFunc func,
                             gpointer data,
                             GDestroyNotify notify,
                             BenchSeries *first,
                             BenchSeries *second);
gboolean bench_result_measure (BenchResult *self, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (BenchResult, bench_result_free)
