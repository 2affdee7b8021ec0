/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A series: the samples of one contender under one load, and how they compare with another series.
 */
#pragma once

#include <glib.h>

typedef enum
{
  BENCH_IRIS,
  BENCH_PEER,
  BENCH_PLAIN, /* plain C, without any scheduler */
} BenchKind;

typedef enum
{
  BENCH_SECONDS,
  BENCH_PERCENT,
  BENCH_PER_SECOND,
  BENCH_BYTES,
} BenchUnit;

/*
 * How a series is compared with its base, sample by sample: those of one round belong together.
 *
 * BENCH_FACTOR: base / this: how many times as fast
 * BENCH_OVERHEAD: (this / base - 1) * 100: what it costs over the base, in percent
 * BENCH_IDEAL: base / (workers * this) * 100: percent of the speed that all workers could reach
 * BENCH_EXTRA: (this - base) / items: seconds that an item takes longer
 */
typedef enum
{
  BENCH_NOT_COMPARED,
  BENCH_FACTOR,
  BENCH_OVERHEAD,
  BENCH_IDEAL,
  BENCH_EXTRA,
} BenchRelation;

/* What a chart shows of a series. */
typedef enum
{
  BENCH_SHOW_PER_ITEM, /* nanoseconds an item */
  BENCH_SHOW_SAMPLE,   /* the samples themselves */
  BENCH_SHOW_COMPARED, /* what the comparison says */
} BenchShow;

typedef struct
{
  gdouble median;
  gdouble min;
  gdouble max;
  gdouble low_quartile; /* between the two lies the middle half */
  gdouble high_quartile;
} BenchSummary;

typedef struct _BenchSeries BenchSeries;

struct _BenchSeries
{
  char *load;      /* what was run: "items", "4 producers" */
  char *contender; /* on what */
  BenchKind kind;
  BenchUnit unit;  /* of the samples */
  gdouble x;       /* where the load lies on the chart's axis; NAN: it has none */
  guint64 n_items; /* in one sample; 0: it has none */
  guint workers;
  GArray *samples;         /* of gdouble, one a round */
  const BenchSeries *base; /* unowned; of the same result */
  BenchRelation relation;
  BenchShow show;
};

BenchSeries *bench_series_new (const char *load,
                               const char *contender,
                               BenchKind kind,
                               guint workers,
                               guint64 n_items);
void bench_series_free (BenchSeries *self);
void bench_series_compare (BenchSeries *self, const BenchSeries *base, BenchRelation relation);
void bench_series_add (BenchSeries *self, gdouble sample);
BenchSummary bench_series_summary (const BenchSeries *self);
BenchSummary bench_series_compared (const BenchSeries *self);
gdouble bench_series_per_item (const BenchSeries *self);
const char *bench_kind_name (BenchKind kind);
const char *bench_unit_name (BenchUnit unit);
const char *bench_relation_name (BenchRelation relation);

/* The quantile of numbers, which it sorts. */
gdouble bench_quantile (GArray *numbers, gdouble quantile);
