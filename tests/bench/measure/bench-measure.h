/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * How iris-bench measures: what the user may choose, items that count themselves, threads, samples
 * and their statistics, and rounds of trials.
 */
#pragma once

#include "tests/bench/measure/bench-counters.h"

G_BEGIN_DECLS

/* --- errors ----------------------------------------------------------------------------------- */

#define BENCH_ERROR (bench_error_quark ())

/*
 * BENCH_ERROR_ARGUMENT: what the user asked for cannot be; exit status 2
 * BENCH_ERROR_NO_CONTENDER: no contender that was chosen can run a workload; exit status 2
 * BENCH_ERROR_RESULT: a run lost items or computed something else; exit status 1
 * BENCH_ERROR_MACHINE: the machine does not offer what the run needs; exit status 1
 */
typedef enum
{
  BENCH_ERROR_ARGUMENT,
  BENCH_ERROR_NO_CONTENDER,
  BENCH_ERROR_RESULT,
  BENCH_ERROR_MACHINE,
} BenchError;

GQuark bench_error_quark (void);

/* --- what the user may choose ----------------------------------------------------------------- */

/* Which settings of a scheduler's properties take part beside its usual ones. */
typedef enum
{
  BENCH_VARIANTS_NONE, /* none */
  BENCH_VARIANTS_ONE,  /* those that differ in one property */
  BENCH_VARIANTS_ALL,  /* every combination */
} BenchVariants;

/* Of several workloads: which of them this is, from 1, and when the first began. */
typedef struct
{
  guint nth, n_all;
  gint64 began;
} BenchProgress;

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
  gboolean quick; /* paper: sizes that only show that results are right */
  BenchCounting counting;
  /* Is called behind each round; or NULL. */
  void (*each_round) (gpointer data);
  gpointer each_round_data;
  BenchProgress progress;
  BenchVariants variants;
  const char *irisd; /* daemon: which one; NULL: that of this build, or the installed one */
  const char *costs; /* sizes, simulated: a file of them; NULL: the usual ones, or measured */
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

/* Whether a run is only to show that results are right. */
static inline gboolean
bench_is_quick (const BenchOptions *options)
{
  return options->quick || options->scale < 0.1;
}

/* Whether every name of --only is among these, of a workload. */
gboolean bench_check_chosen (const BenchOptions *options,
                             const char *of,
                             const char *const *names,
                             GError **error);

/* --- items ------------------------------------------------------------------------------------ */

/* Every contender calls the same functions. A thread counts on a cache line of its own, so counting
 * costs all of them the same nanosecond, and after the run the sums say whether every item ran. */
typedef void (*BenchFunc) (gpointer data);

/* Busy work of a certain length. Its result is known, so that a contender cannot leave some of it
 * out. */
typedef struct
{
  guint64 steps;  /* 0: nothing but to count */
  guint64 result; /* what one item adds to the sum */
} BenchWork;

BenchWork bench_work_new (gdouble microseconds);
BenchWork bench_work_of_steps (guint64 steps);
/* The work alone, without counting. */
void bench_work_do (const BenchWork *self);

/* An item: data is a BenchWork. */
void bench_item_run (gpointer data);

/* Before and after a run. */
void bench_counts_reset (void);
void bench_count_one (void);
gboolean bench_counts_check (guint64 n_items, guint64 sum, GError **error);

/* --- time and threads ------------------------------------------------------------------------- */

/* Monotonic time in nanoseconds. */
gint64 bench_now (void);
gdouble bench_seconds_since (gint64 begin);

/* Processor time of all threads but this one, in seconds. */
gdouble bench_time_of_others (void);

/* Runs func (data, index) in n threads that start together; in the calling one if n is 1. Returns
 * when they began, once all have ended. */
typedef void (*BenchThreadFunc) (gpointer data, guint index);
gint64 bench_threads_run (guint n, BenchThreadFunc func, gpointer data);

/* Waits until all threads of this process but the caller's sleep, and until @is_idle says that
 * those behind the handle wait for work; it may be NULL. */
gboolean bench_wait_asleep (gboolean (*is_idle) (gpointer handle), gpointer handle, GError **error);

/* Closed until it is opened; a thread that waits for it sleeps. */
typedef struct
{
  GMutex lock;
  GCond over;
  gboolean is_over;
} BenchGate;

void bench_gate_init (BenchGate *self);
void bench_gate_open (BenchGate *self);
void bench_gate_wait (BenchGate *self);
void bench_gate_clear (BenchGate *self);

/* --- samples ---------------------------------------------------------------------------------- */

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
  BENCH_FACTOR,
  BENCH_OVERHEAD,
  BENCH_IDEAL,
  BENCH_EXTRA,
  BENCH_NOT_COMPARED,
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

/* A figure: its median, where that lies with a confidence of 95 %, and the mean of the best. */
typedef struct
{
  gdouble median;
  gdouble low;
  gdouble high;
  gdouble best;
} BenchEstimate;

/* A series: the samples of one contender under one load. */
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
  GArray *counts;          /* of BenchCounts, one a round, if they were wanted */
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
void bench_series_add_counts (BenchSeries *self, BenchCounts counts);
BenchSummary bench_series_summary (const BenchSeries *self);
/* What the comparison says of each round: (element-type gdouble). */
GArray *bench_series_compare_all (const BenchSeries *self);
BenchSummary bench_series_compared (const BenchSeries *self);
BenchEstimate bench_series_estimate (const BenchSeries *self);
/* What the comparison says; the best rounds of both are compared by their means. */
BenchEstimate bench_series_estimate_compared (const BenchSeries *self);
gdouble bench_series_per_item (const BenchSeries *self);
/* What the rounds counted, by the median; and how many times as many the base had, of hits how many
 * times as many this has. */
BenchEstimate bench_series_estimate_count (const BenchSeries *self, BenchCounter counter);
BenchEstimate bench_series_compare_counts (const BenchSeries *self, BenchCounter counter);
const char *bench_kind_name (BenchKind kind);
const char *bench_unit_name (BenchUnit unit);
const char *bench_relation_name (BenchRelation relation);

/* Whether --only names it; where that names nothing, all but peers that are not wanted. */
gboolean bench_is_wanted (const BenchOptions *options, const char *name, BenchKind kind);

/* --- statistics ------------------------------------------------------------------------------- */

/* Sorts the numbers; the quantile lies between two of them. NAN of none. */
gdouble bench_quantile (GArray *numbers, gdouble quantile);
BenchSummary bench_summarize (GArray *numbers);

/* Where the median lies with a confidence of 95 %, by a bootstrap that gives the same interval each
 * time. */
void bench_median_interval (const GArray *numbers, gdouble *low, gdouble *high);

/* Where the second's median divided by the first's lies, in the same way. */
void bench_ratio_interval (const GArray *a, const GArray *b, gdouble *low, gdouble *high);

/* How likely two sets of numbers from one source differ at least as much in their ranks. */
gdouble bench_rank_test (const GArray *a, const GArray *b);

/* Which of many tests say something if of those that do at most this share may be wrong: those with
 * probabilities up to the returned one. Sorts them. */
gdouble bench_discoveries (GArray *probabilities, gdouble share);

/* The mean of the smallest ones, as papers give it of ten runs. */
gdouble bench_mean_of_best (const GArray *numbers, guint n);
#define BENCH_BEST 3

/* --- results and rounds ----------------------------------------------------------------------- */

typedef struct
{
  char *name;  /* the workload */
  char *title; /* what was run, in a sentence */
  guint workers;
  guint rounds;
  const char *item;    /* what one of its items is called: "item", "task" */
  const char *x_label; /* of the chart, where loads lie on an axis; or NULL */
  gdouble seconds;     /* that all of it took */
  GPtrArray *series;
  GArray *trials;
  GPtrArray *owned; /* what the trials use */
  void (*each_round) (gpointer data);
  gpointer each_round_data;
  BenchProgress progress;
  gint64 began; /* the first round */
  gint64 shown; /* the progress */
} BenchResult;

typedef struct _BenchContender BenchContender;

/* One timed run: it writes a sample for each of its series, and checks what the run did. */
typedef struct
{
  const BenchContender *contender; /* NULL: the workload runs it by itself */
  guint workers;
  gconstpointer load; /* the workload's own */
} BenchRun;

typedef gboolean (*BenchRunFunc) (const BenchRun *run, gdouble *samples, GError **error);

/* What a run measures besides, as a load of its own: a sample that is compared with none. */
typedef struct
{
  const char *load;
  BenchUnit unit;
} BenchExtra;

#define BENCH_MAX_EXTRAS 3

/* A load, how it is run, and how it is shown. What is zero is as usual. */
typedef struct
{
  const char *load;
  const char *second; /* what a run measures besides, a load of its own; or NULL */
  guint workers;      /* 0: as many as the user chose */
  guint64 n_items;    /* in a sample; 0: it has none */
  gdouble x;          /* where it lies on the chart's axis; 0: it has none */
  BenchUnit unit, second_unit;
  BenchExtra extras[BENCH_MAX_EXTRAS]; /* their samples come last */
  BenchShow show;
  BenchRelation relation;
  const BenchSeries *base; /* NULL: the first series of the load */
  BenchRunFunc run;
  gconstpointer data; /* for BenchRun.load */
  gsize size;         /* of the data, which is copied; 0: it is borrowed */
} BenchCase;

BenchResult *bench_result_new (const char *name, const BenchOptions *options);
void bench_result_free (BenchResult *self);
void bench_result_set_title (BenchResult *self, const char *format, ...) G_GNUC_PRINTF (2, 3);

/* Frees the data behind the last round. Returns it. */
gpointer bench_result_own (BenchResult *self, gpointer data, GDestroyNotify notify);

/* A series for each load of the case, compared with the base, and a trial that fills them. Returns
 * the first of them. */
BenchSeries *bench_result_add (BenchResult *self,
                               const BenchCase *what,
                               const char *name,
                               BenchKind kind,
                               const BenchContender *contender);

/* The two halves of that. */
BenchSeries *bench_result_add_series (BenchResult *self, BenchSeries *series);
void bench_result_add_trial (BenchResult *self,
                             BenchRunFunc func,
                             const BenchRun *run,
                             BenchSeries *first,
                             BenchSeries *second);

/* Runs every trial once a round. */
gboolean bench_result_measure (BenchResult *self, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (BenchResult, bench_result_free)

G_END_DECLS
