/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The goals, as a table, and how a row of it is held against the results.
 *
 * A figure is that of one contender, or compares two of the same load round by round; it is judged
 * by the median. A row whose load is a pattern stands for each load of the workload that fits it;
 * these are judged by where the median lies with a confidence of 95 %, so that noise is told from a
 * figure that is reached or missed. Where several could stand for a side (a peer with two idioms,
 * iris's schedulers between which a program chooses by one line) the fastest does, and is named.
 */
#include "tests/bench/report/bench-report.h"

#include <math.h>
#include <string.h>

typedef enum
{
  FACTOR,   /* how many times as fast as the other; at least */
  SLOWER,   /* percent by which it is slower than the other; at most */
  OWN,      /* what its series is compared by: percent of the ideal, overhead, cost of a task */
  PER_ITEM, /* nanoseconds; at most */
  TIMES,    /* how many times as long as the other takes; at most */
  RATE,     /* items a second; at least */
  SAMPLE,   /* the sample itself, in its unit; at most */
  WITHIN,   /* percent by which it differs from the other, in either direction; at most */
  WORST,    /* the largest sample of all of iris's contenders; at most */
} Measure;

typedef struct
{
  const char *workload;
  const char *load;
  const char *subject; /* contenders to choose from, divided by bars; "" for any of iris's */
  const char *other;   /* of the peers, or of iris's; NULL: none */
  Measure measure;
  gboolean at_least;
  gdouble limit; /* NAN: shown, not judged */
  const char *unit;
} Goal;

#define TBB "onetbb|onetbb-for"

static const Goal goals[] = {
  { "recursive", "items", "work-stealing", TBB, FACTOR, TRUE, 10, "x" },
  { "recursive", "items", "work-stealing", "default", FACTOR, TRUE, 9.1, "x" },
  { "recursive", "items", "work-stealing", NULL, PER_ITEM, FALSE, 5, " ns" },
  { "external", "1 producer", "", TBB, FACTOR, TRUE, 3, "x" },
  { "external", "1 producer", "", "gthreadpool", FACTOR, TRUE, 3, "x" },
  { "external", "1 producer", "", "gasyncqueue", FACTOR, TRUE, 3, "x" },
  { "external", "4 producers", "", TBB, FACTOR, TRUE, 3, "x" },
  { "external", "4 producers", "", "gthreadpool", FACTOR, TRUE, 3, "x" },
  { "external", "4 producers", "", "gasyncqueue", FACTOR, TRUE, 3, "x" },
  { "fib", "1 worker", "fork-join", NULL, OWN, FALSE, 1.5e-9, " ns" },
  { "jacobi", "1 worker", "work-stealing", NULL, OWN, FALSE, 3, " %" },
  { "lud", "1 worker", "work-stealing", NULL, OWN, FALSE, 3, " %" },
  { "heat", "1 worker", "work-stealing", NULL, OWN, FALSE, 3, " %" },
  { "jacobi", "1 worker", "fork-join", NULL, OWN, FALSE, 3, " %" },
  { "lud", "1 worker", "fork-join", NULL, OWN, FALSE, 3, " %" },
  { "heat", "1 worker", "fork-join", NULL, OWN, FALSE, 3, " %" },
  { "imbalance", "imbalance", "work-stealing", NULL, OWN, TRUE, 95, " %" },
  { "wake", "median", "work-stealing", "gthreadpool", FACTOR, TRUE, 1, "x" },
  { "round-trip", "1 under way", "iris-task", "gtask", FACTOR, TRUE, 1, "x" },
  { "round-trip", "100 under way", "iris-task", "gtask", FACTOR, TRUE, 1, "x" },
  { "recursive", "items", "places:layout=workers|places", "work-stealing", SLOWER, FALSE, 5, " %" },
  { "grain", "inside, 0 µs", "places:layout=shared", "work-stealing", SLOWER, FALSE, NAN, " %" },
  { "grain", "inside, 1 µs", "places:layout=shared", "work-stealing", SLOWER, FALSE, NAN, " %" },
  { "grain", "inside, 10 µs", "places:layout=shared", "work-stealing", SLOWER, FALSE, 5, " %" },
  { "grain", "inside, 100 µs", "places:layout=shared", "work-stealing", SLOWER, FALSE, 5, " %" },
  { "idle", "processor use", "", NULL, WORST, FALSE, 0.049, " %" },
  { "idle", "wake-ups", "", NULL, WORST, FALSE, 0, "/s" },
  { "locks", "* threads", "lock:adaptive", "lock:off|lock:always", SLOWER, FALSE, 3, " %" },
  { "locks", "* items", "lock:adaptive", "lock:off|lock:always", SLOWER, FALSE, 3, " %" },
  { "locks", "multiple_ctr, 32 threads", "lock:off", "gmutex", FACTOR, TRUE, NAN, "x" },
  { "recursive", "messages", "work-stealing", NULL, PER_ITEM, FALSE, 12, " ns" },
  { "recursive", "messages", "work-stealing", "default", FACTOR, TRUE, 9.1, "x" },
  { "ping-pong", "actors", "work-stealing", NULL, PER_ITEM, FALSE, 80, " ns" },
  { "fan-in", "actors", "work-stealing", NULL, PER_ITEM, FALSE, 20, " ns" },
  { "ring", "actors", "work-stealing", NULL, PER_ITEM, FALSE, NAN, " ns" },
  { "coordinate", "arbiter", "work-stealing", NULL, PER_ITEM, FALSE, 225, " ns" },
  { "queues", "deque, 1 thread", "split", "chase-lev", FACTOR, TRUE, NAN, "x" },
  { "queues", "steal", "split", "chase-lev", FACTOR, TRUE, NAN, "x" },
};

/* What the daemon is held against, whatever the schedulers are. */
static const Goal daemon_goals[] = {
  { "daemon", "durable, 1 client", "irisd", NULL, RATE, TRUE, 1500, "/s" },
  { "daemon", "durable, 8 clients", "irisd", NULL, RATE, TRUE, 6000, "/s" },
  { "daemon", "durable, pipelined", "irisd", NULL, RATE, TRUE, 60000, "/s" },
  { "daemon", "durable, pipelined", "irisd", "beanstalkd -f0", FACTOR, TRUE, 10, "x" },
  { "daemon", "durable, slow disk", "irisd", NULL, RATE, TRUE, 5000, "/s" },
  { "daemon", "durable, slow disk", "irisd", "beanstalkd -f0", FACTOR, TRUE, NAN, "x" },
  { "daemon", "relaxed, pipelined", "irisd", "beanstalkd", FACTOR, TRUE, 2, "x" },
  { "daemon", "echo, median", "irisd", "zeromq", TIMES, FALSE, 1.3, "x" },
  { "daemon", "echo, 99th percentile", "irisd", "zeromq", TIMES, FALSE, 2, "x" },
  { "daemon", "volatile, 4 clients", "irisd", NULL, RATE, TRUE, 300000, "/s" },
  { "daemon", "volatile, 4 clients", "irisd", "gearmand", FACTOR, TRUE, 10, "x" },
  { "daemon", "command", "irisd", "posix_spawn", FACTOR, TRUE, 0.8, "x" },
  { "daemon", "flood, 99th percentile", "irisd", "irisd, quiet", TIMES, FALSE, 3, "x" },
  { "daemon", "flood, 99th percentile", "zeromq", "zeromq, quiet", TIMES, FALSE, NAN, "x" },
  { "daemon", "flood of batches, 99th percentile", "irisd", "irisd, quiet", TIMES, FALSE, 3, "x" },
  { "daemon", "flood of batches, 99th percentile", "zeromq", "zeromq, quiet", TIMES, FALSE, NAN,
    "x" },
  { "backlog", "memory above the payload", "irisd", NULL, SAMPLE, FALSE, 400, " B" },
  { "backlog", "start after a kill", "irisd", NULL, SAMPLE, FALSE, 5, " s" },
  { "backlog", "the same, behind busy workers", "irisd", NULL, SAMPLE, FALSE, 400, " B" },
  { "backlog", "start with those", "irisd", NULL, SAMPLE, FALSE, 5, " s" },
};

/* Of workloads that redo a figure of a paper: held against those that took part. */
static const Goal paper_goals[] = {
  { "simulated", "*1 worker", "simulated", "real", WITHIN, FALSE, 10, " %" },
  { "simulated", "*2 workers", "simulated", "real", WITHIN, FALSE, 10, " %" },
};

const char *
bench_verdict_name (BenchVerdict verdict)
{
  static const char *const names[] = { "yes", "NO", "shown", "unknown", "noise" };

  return names[verdict];
}

static void
goal_free (gpointer data)
{
  BenchGoal *self = data;

  g_free (self->figure);
  g_free (self->goal);
  g_free (self->measured);
  g_free (self);
}

static const BenchResult *
find_result (GPtrArray *results, const char *name)
{
  for (guint i = 0; i < results->len; i++)
    {
      const BenchResult *result = g_ptr_array_index (results, i);

      if (g_str_equal (result->name, name))
        return result;
    }

  return NULL;
}

static gboolean
is_among (const BenchSeries *series, const char *names)
{
  g_auto (GStrv) list = g_strsplit (names, "|", -1);

  if (*names == '\0')
    return series->kind == BENCH_IRIS;

  return g_strv_contains ((const char *const *) list, series->contender);
}

/* The fastest of those that the names allow. */
static const BenchSeries *
find_series (const BenchResult *result, const char *load, const char *names)
{
  const BenchSeries *best = NULL;

  for (guint i = 0; i < result->series->len; i++)
    {
      const BenchSeries *series = g_ptr_array_index (result->series, i);

      if (g_str_equal (series->load, load) && is_among (series, names)
          && (best == NULL
              || bench_series_summary (series).median < bench_series_summary (best).median))
        best = series;
    }

  return best;
}

static gdouble
worst_sample (const BenchResult *result, const char *load)
{
  gdouble worst = NAN;

  for (guint i = 0; i < result->series->len; i++)
    {
      const BenchSeries *series = g_ptr_array_index (result->series, i);

      if (g_str_equal (series->load, load) && series->kind == BENCH_IRIS)
        worst = fmax (worst, bench_series_summary (series).max);
    }

  return worst;
}

static BenchSummary
compare_with (const BenchSeries *subject, const BenchSeries *other, BenchRelation relation)
{
  BenchSeries pair = *subject;

  pair.base = other;
  pair.relation = relation;

  return bench_series_compared (&pair);
}

/* What was measured in seconds, the other way round: the least is the largest. */
static BenchSummary
invert (BenchSummary summary, gdouble by)
{
  return (BenchSummary){ by / summary.median, by / summary.max, by / summary.min,
                         by / summary.high_quartile, by / summary.low_quartile };
}

static BenchSummary
measure (const Goal *goal, const BenchSeries *subject, const BenchSeries *other)
{
  BenchSummary summary = bench_series_summary (subject);

  switch (goal->measure)
    {
    case FACTOR:
      return compare_with (subject, other, BENCH_FACTOR);
    case SLOWER:
    case WITHIN:
      return compare_with (subject, other, BENCH_OVERHEAD);
    case OWN:
      return bench_series_compared (subject);
    case TIMES:
      return invert (compare_with (subject, other, BENCH_FACTOR), 1);
    case RATE:
      return invert (summary, (gdouble) subject->n_items);
    case SAMPLE:
      return summary;
    default:
      summary.median *= 1e9 / subject->n_items;
      summary.min *= 1e9 / subject->n_items;
      summary.max *= 1e9 / subject->n_items;
      return summary;
    }
}

static BenchVerdict
judge (const Goal *goal, gdouble value)
{
  if (isnan (value))
    return BENCH_UNKNOWN;
  if (isnan (goal->limit))
    return BENCH_SHOWN;

  return (goal->at_least ? value >= goal->limit : value <= goal->limit) ? BENCH_REACHED
                                                                        : BENCH_MISSED;
}

/* Of a figure that is to be at most the limit, or not further than that from 0: the interval of the
 * median, and what it says. */
static BenchVerdict
judge_interval (const Goal *goal,
                const BenchSeries *subject,
                const BenchSeries *other,
                gdouble *low,
                gdouble *high)
{
  BenchSeries pair = *subject;
  BenchEstimate estimate;

  bench_series_compare (&pair, other, BENCH_OVERHEAD);
  estimate = bench_series_estimate_compared (&pair);
  *low = estimate.low;
  *high = estimate.high;
  if (*high <= goal->limit && (goal->measure != WITHIN || *low >= -goal->limit))
    return BENCH_REACHED;
  if (*low > goal->limit || (goal->measure == WITHIN && *high < -goal->limit))
    return BENCH_MISSED;

  return BENCH_NOISE;
}

/* Costs of tasks are kept in seconds. */
static gdouble
shown (const Goal *goal, gdouble value)
{
  return goal->measure == OWN && g_str_equal (goal->unit, " ns") ? value * 1e9 : value;
}

static void
check_pair (const Goal *goal, const BenchResult *result, gboolean by_interval, BenchGoal *self)
{
  const BenchSeries *subject = find_series (result, goal->load, goal->subject);
  const BenchSeries *other = goal->other != NULL ? find_series (result, goal->load, goal->other)
                                                 : NULL;
  BenchSummary summary;

  if (subject == NULL || (goal->other != NULL && other == NULL))
    {
      self->verdict = BENCH_UNKNOWN;
      self->measured = g_strdup_printf ("%s took no part",
                                        subject == NULL ? goal->subject : goal->other);
      return;
    }
  summary = measure (goal, subject, other);
  self->verdict = by_interval ? judge_interval (goal, subject, other, &summary.min, &summary.max)
                              : judge (goal, summary.median);
  self->measured = g_strdup_printf (
      "%.2f%s (%s%.2f to %.2f), %s%s%s", shown (goal, summary.median), goal->unit,
      by_interval ? "95 %: " : "", shown (goal, summary.min), shown (goal, summary.max),
      subject->contender, other != NULL ? " against " : "", other != NULL ? other->contender : "");
}

static char *
describe_figure (const Goal *goal)
{
  const char *subject = *goal->subject != '\0' ? goal->subject : "iris";
  const char *load = g_str_equal (goal->load, goal->workload) ? "" : goal->load;
  g_autoptr (GString) text = g_string_new (NULL);

  g_string_printf (text, "%s%s%s, %s", goal->workload, *load != '\0' ? ", " : "", load, subject);
  if (goal->other != NULL)
    g_string_append_printf (text, " against %s", goal->other);

  return g_strdup (text->str);
}

static char *
describe_limit (const Goal *goal)
{
  if (isnan (goal->limit))
    return g_strdup ("-");

  return g_strdup_printf ("%s %g%s",
                          goal->measure == WITHIN ? "within"
                          : goal->at_least        ? ">="
                                                  : "<=",
                          shown (goal, goal->limit), goal->unit);
}

static BenchGoal *
check_goal (const Goal *goal, const BenchResult *result, gboolean by_interval)
{
  BenchGoal *self = g_new0 (BenchGoal, 1);

  self->figure = describe_figure (goal);
  self->goal = describe_limit (goal);
  if (result == NULL)
    {
      self->verdict = BENCH_UNKNOWN;
      self->measured = g_strdup ("not run");
    }
  else if (goal->measure == WORST)
    {
      gdouble worst = worst_sample (result, goal->load);

      self->verdict = judge (goal, worst);
      self->measured = g_strdup_printf ("%.3f%s at worst", worst, goal->unit);
    }
  else
    check_pair (goal, result, by_interval, self);

  return self;
}

/* A goal for each load that the pattern fits, in the order in which they were run. */
static void
check_pattern (const Goal *goal, const BenchResult *result, GPtrArray *checked)
{
  const char *last = "";

  for (guint i = 0; i < result->series->len; i++)
    {
      const BenchSeries *series = g_ptr_array_index (result->series, i);
      Goal one = *goal;

      if (g_str_equal (series->load, last) || !g_pattern_match_simple (goal->load, series->load))
        continue;
      last = one.load = series->load;
      g_ptr_array_add (checked, check_goal (&one, result, TRUE));
    }
}

GPtrArray *
bench_goals_check (GPtrArray *results, BenchSuite suite)
{
  static const struct
  {
    const Goal *goals;
    guint n;
  } tables[BENCH_N_SUITES] = {
    [BENCH_SUITE_COMPARE] = { goals, G_N_ELEMENTS (goals) },
    [BENCH_SUITE_DAEMON] = { daemon_goals, G_N_ELEMENTS (daemon_goals) },
    [BENCH_SUITE_PAPER] = { paper_goals, G_N_ELEMENTS (paper_goals) },
  };
  GPtrArray *checked = g_ptr_array_new_with_free_func (goal_free);

  for (guint i = 0; i < tables[suite].n; i++)
    {
      const Goal *goal = &tables[suite].goals[i];
      const BenchResult *result = find_result (results, goal->workload);

      if (result != NULL && strchr (goal->load, '*') != NULL)
        check_pattern (goal, result, checked);
      else if (result != NULL || suite != BENCH_SUITE_PAPER)
        g_ptr_array_add (checked, check_goal (goal, result, FALSE));
    }

  return checked;
}
