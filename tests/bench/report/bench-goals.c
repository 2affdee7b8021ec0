/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The goals, as a table, and how a row of it is held against the results.
 *
 * A figure is that of one contender, or compares two of the same load round by round; it is judged
 * by where the median lies with a confidence of 95 %, so that noise is told from a figure that is
 * reached or missed. The daemon has too few rounds for that, and is judged by the median. A row
 * whose load is a pattern stands for each load of the workload that fits it. Where several could
 * stand for a side (a peer with two idioms, iris's schedulers between which a program chooses by
 * one line) the fastest does, and is named.
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

static const Goal compare_goals[] = {
  { "recursive", "items", "work-stealing", TBB, FACTOR, TRUE, 10, "x" },
  { "recursive", "items", "work-stealing", "default", FACTOR, TRUE, 9.1, "x" },
  { "recursive", "items", "work-stealing", NULL, PER_ITEM, FALSE, 5, " ns" },
  { "external", "1 producer", "", NULL, PER_ITEM, FALSE, 40, " ns" },
  { "external", "1 producer", "", TBB, FACTOR, TRUE, 3, "x" },
  { "external", "1 producer", "", "gthreadpool", FACTOR, TRUE, 3, "x" },
  { "external", "1 producer", "", "gasyncqueue", FACTOR, TRUE, 3, "x" },
  { "external", "4 producers", "", TBB, FACTOR, TRUE, 3, "x" },
  { "external", "4 producers", "", "gthreadpool", FACTOR, TRUE, 3, "x" },
  { "external", "4 producers", "", "gasyncqueue", FACTOR, TRUE, 3, "x" },
  { "aged", "memory after", "work-stealing", NULL, OWN, FALSE, 20, " %" },
  { "aged", "memory after", "places", NULL, OWN, FALSE, 20, " %" },
  { "aged", "memory after", "default", NULL, OWN, FALSE, 20, " %" },
  { "aged", "memory after", "gthreadpool", NULL, OWN, FALSE, NAN, " %" },
  { "aged", "push, aged", "work-stealing", NULL, OWN, FALSE, 5, " %" },
  { "aged", "push, aged", "default", NULL, OWN, FALSE, 5, " %" },
  { "aged", "push, aged", "gthreadpool", NULL, OWN, FALSE, NAN, " %" },
  { "aged", "items from items, aged", "work-stealing", NULL, OWN, FALSE, 5, " %" },
  { "aged", "messages, aged", "work-stealing", NULL, OWN, FALSE, 5, " %" },
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

/*
 * Of the workloads that only the papers have. Linked elements by turns are the form of the Cache
 * Stress Test in which this machine can show an effect; the published one is shown. A hint that is
 * right must not lose.
 */
static const Goal paper_goals[] = {
  { "cache-threads", "linked, by turns", "best", "worst", FACTOR, TRUE, 1.2, "x" },
  { "cache-threads", "in order, *", "best", "worst", FACTOR, TRUE, NAN, "x" },
  { "cache-threads", "*", "best", "ignorant", SLOWER, FALSE, 0, " %" },
  { "cache-intervals", "linked, by turns", "best", "worst", FACTOR, TRUE, 1.2, "x" },
  { "cache-intervals", "in order, *", "best", "worst", FACTOR, TRUE, NAN, "x" },
  { "cache-intervals", "*", "best", "ignorant", SLOWER, FALSE, 0, " %" },
  { "merge-sort", "sort", "best", "worst", FACTOR, TRUE, NAN, "x" },
  { "merge-sort", "sort", "best", "ignorant", SLOWER, FALSE, 2, " %" },
  { "block-matrix", "product", "best", "worst", FACTOR, TRUE, NAN, "x" },
  { "block-matrix", "product", "best", "ignorant", SLOWER, FALSE, 2, " %" },
  { "no-hints", "*", "places", "work-stealing", SLOWER, FALSE, 3, " %" },
  { "grande", "*", "places", "work-stealing", SLOWER, FALSE, 3, " %" },
  { "grande", "*", "2 places", "work-stealing", SLOWER, FALSE, 3, " %" },
  { "overhead", "jacobi", "fork-join", "plain", SLOWER, FALSE, 3, " %" },
  { "overhead", "lud", "fork-join", "plain", SLOWER, FALSE, 3, " %" },
  { "overhead", "heat", "fork-join", "plain", SLOWER, FALSE, 3, " %" },
  { "overhead", "tasks of 20 ns", "fork-join", "plain", TIMES, FALSE, 1.5, "x" },
  { "simulated", "*1 worker", "simulated", "real", WITHIN, FALSE, 10, " %" },
  { "simulated", "*2 workers", "simulated", "real", WITHIN, FALSE, 10, " %" },
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
  { "daemon", "volatile, watched", "irisd, watched", "irisd", FACTOR, TRUE, 0.98, "x" },
  { "daemon", "volatile over TCP, pipelined", "irisd, encrypted", "irisd", FACTOR, TRUE, 0.7, "x" },
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

/* The range is that of the rounds, or the interval of the median. */
static BenchSummary
summarize (const BenchSeries *series, gboolean is_compared, gboolean by_interval)
{
  BenchSummary self = is_compared ? bench_series_compared (series) : bench_series_summary (series);
  BenchEstimate estimate;

  if (!by_interval)
    return self;
  estimate = is_compared ? bench_series_estimate_compared (series) : bench_series_estimate (series);
  self.min = estimate.low;
  self.max = estimate.high;

  return self;
}

static BenchSummary
compare_with (const BenchSeries *subject,
              const BenchSeries *other,
              BenchRelation relation,
              gboolean by_interval)
{
  BenchSeries pair = *subject;

  pair.base = other;
  pair.relation = relation;

  return summarize (&pair, TRUE, by_interval);
}

/* What was measured in seconds, the other way round: the least is the largest. */
static BenchSummary
invert (BenchSummary summary, gdouble by)
{
  return (BenchSummary){ by / summary.median, by / summary.max, by / summary.min,
                         by / summary.high_quartile, by / summary.low_quartile };
}

static BenchSummary
measure (const Goal *goal,
         const BenchSeries *subject,
         const BenchSeries *other,
         gboolean by_interval)
{
  BenchSummary summary = summarize (subject, goal->measure == OWN, by_interval);

  switch (goal->measure)
    {
    case FACTOR:
      return compare_with (subject, other, BENCH_FACTOR, by_interval);
    case SLOWER:
    case WITHIN:
      return compare_with (subject, other, BENCH_OVERHEAD, by_interval);
    case TIMES:
      return invert (compare_with (subject, other, BENCH_FACTOR, by_interval), 1);
    case RATE:
      return invert (summary, (gdouble) subject->n_items);
    case PER_ITEM:
      summary.median *= 1e9 / subject->n_items;
      summary.min *= 1e9 / subject->n_items;
      summary.max *= 1e9 / subject->n_items;
      return summary;
    default:
      return summary;
    }
}

static gboolean
is_within (const Goal *goal, gdouble value)
{
  if (goal->measure == WITHIN)
    return fabs (value) <= goal->limit;

  return goal->at_least ? value >= goal->limit : value <= goal->limit;
}

/* Of a figure that lies between the two. */
static BenchVerdict
judge (const Goal *goal, gdouble low, gdouble high)
{
  if (isnan (low) || isnan (high))
    return BENCH_UNKNOWN;
  if (isnan (goal->limit))
    return BENCH_SHOWN;
  if (is_within (goal, low) && is_within (goal, high))
    return BENCH_REACHED;
  /* Both ends may lie outside, on either side. */
  if (goal->measure == WITHIN && low < 0 && high > 0)
    return BENCH_NOISE;

  return is_within (goal, low) || is_within (goal, high) ? BENCH_NOISE : BENCH_MISSED;
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
  summary = measure (goal, subject, other, by_interval);
  self->verdict = by_interval ? judge (goal, summary.min, summary.max)
                              : judge (goal, summary.median, summary.median);
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

      self->verdict = judge (goal, worst, worst);
      self->measured = g_strdup_printf ("%.3f%s at worst", worst, goal->unit);
    }
  else
    check_pair (goal, result, by_interval, self);

  return self;
}

/* A goal for each load that the pattern fits, in the order in which they were run. */
static void
check_pattern (const Goal *goal,
               const BenchResult *result,
               gboolean by_interval,
               GPtrArray *checked)
{
  const char *last = "";

  for (guint i = 0; i < result->series->len; i++)
    {
      const BenchSeries *series = g_ptr_array_index (result->series, i);
      Goal one = *goal;

      if (g_str_equal (series->load, last) || !g_pattern_match_simple (goal->load, series->load))
        continue;
      last = one.load = series->load;
      g_ptr_array_add (checked, check_goal (&one, result, by_interval));
    }
}

static const struct
{
  const Goal *goals;
  guint n;
} tables[BENCH_N_SUITES] = {
  [BENCH_SUITE_COMPARE] = { compare_goals, G_N_ELEMENTS (compare_goals) },
  [BENCH_SUITE_DAEMON] = { daemon_goals, G_N_ELEMENTS (daemon_goals) },
  [BENCH_SUITE_PAPER] = { paper_goals, G_N_ELEMENTS (paper_goals) },
};

static gboolean
is_chosen (const Goal *goal, GPtrArray *workloads)
{
  const BenchWorkload *workload = bench_workload_find (goal->workload);

  return workloads == NULL || g_ptr_array_find (workloads, workload, NULL);
}

static void
check_table (BenchSuite suite, GPtrArray *results, GPtrArray *workloads, GPtrArray *checked)
{
  for (guint i = 0; i < tables[suite].n; i++)
    {
      const Goal *goal = &tables[suite].goals[i];
      const BenchResult *result = find_result (results, goal->workload);
      gboolean by_interval = suite != BENCH_SUITE_DAEMON;

      if (!is_chosen (goal, workloads))
        continue;
      if (result != NULL && strchr (goal->load, '*') != NULL)
        check_pattern (goal, result, by_interval, checked);
      else
        g_ptr_array_add (checked, check_goal (goal, result, by_interval));
    }
}

GPtrArray *
bench_goals_check (GPtrArray *results, BenchSuite suite)
{
  GPtrArray *checked = g_ptr_array_new_with_free_func (goal_free);

  check_table (suite, results, NULL, checked);

  return checked;
}

GPtrArray *
bench_goals_check_rows (GPtrArray *results, GPtrArray *workloads)
{
  GPtrArray *checked = g_ptr_array_new_with_free_func (goal_free);

  for (guint suite = 0; suite < BENCH_N_SUITES; suite++)
    check_table (suite, results, workloads, checked);

  return checked;
}
