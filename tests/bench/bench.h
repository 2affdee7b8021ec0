/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the benchmarks share: the machine, series of samples, and the report.
 */
#pragma once

#include <iris/iris.h>
#include <json-glib/json-glib.h>

/* A sample is one timed run, in seconds. */
typedef struct
{
  const char *load;      /* what was run: "items", "messages" */
  const char *scheduler; /* on what */
  guint64 n_items;       /* in one run */
  GArray *seconds;       /* of gdouble */
} BenchSeries;

typedef struct
{
  guint workers;
  guint rounds;
  guint outer;
  guint inner;
  gboolean json;
  char **schedulers; /* NULL: all */
} BenchOptions;

BenchSeries *bench_series_new (const char *load, const char *scheduler, guint64 n_items);
void bench_series_free (BenchSeries *self);
void bench_series_add (BenchSeries *self, gdouble seconds);
gdouble bench_series_median (const BenchSeries *self);
gdouble bench_series_min (const BenchSeries *self);
gdouble bench_series_max (const BenchSeries *self);

char *bench_machine_describe (void);

void bench_report (const char *title,
                   const BenchOptions *options,
                   GPtrArray *series,
                   const char *baseline);

guint bench_n_schedulers (void);
const char *bench_scheduler_name (guint index);
IrisScheduler *bench_scheduler_new (guint index, guint workers, GError **error);
gboolean bench_scheduler_is_wanted (const BenchOptions *options, guint index);

int bench_recursive (const BenchOptions *options);
