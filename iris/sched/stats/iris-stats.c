/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Snapshots of a scheduler's statistics.
 */
#include "iris/sched/stats/iris-stats-private.h"

#include "iris/base/iris-clock-private.h"

#include <string.h>

#define INFO(member, from, how) \
  { #member, G_STRUCT_OFFSET (IrisCounters, member), IRIS_COUNTER_##how },
const IrisCounterInfo iris_counter_infos[] = { IRIS_EACH_COUNTER (INFO) };
const guint iris_n_counter_infos = G_N_ELEMENTS (iris_counter_infos);

/* A member without a line in the list would be missing everywhere. */
G_STATIC_ASSERT (sizeof (IrisCounters) == G_N_ELEMENTS (iris_counter_infos) * sizeof (guint64));

static gdouble
steal_ratio (const IrisCounters *counters, guint64 span_ns)
{
  return iris_counters_get_steal_ratio (counters);
}

static gdouble
steal_overhead (const IrisCounters *counters, guint64 span_ns)
{
  return iris_counters_get_steal_overhead (counters);
}

static gdouble
items_per_steal (const IrisCounters *counters, guint64 span_ns)
{
  return iris_counters_get_items_per_steal (counters);
}

const IrisMeasureInfo iris_measure_infos[] = {
  { "steal_ratio", steal_ratio },
  { "steal_rate", iris_counters_get_steal_rate },
  { "steal_overhead", steal_overhead },
  { "items_per_steal", items_per_steal },
};
const guint iris_n_measure_infos = G_N_ELEMENTS (iris_measure_infos);

G_DEFINE_BOXED_TYPE (IrisStats, iris_stats, iris_stats_copy, iris_stats_free)

IrisStats *
iris_stats_new (guint n_places, guint n_workers)
{
  IrisStats *self = g_new0 (IrisStats, 1);

  self->n_places = n_places;
  self->n_workers = n_workers;
  self->places = g_new0 (IrisCounters, n_places);
  self->workers = g_new0 (IrisCounters, n_workers);
  self->worker_place = g_new0 (gint, n_workers);
  self->steals = g_new0 (IrisSteals, (gsize) n_places * n_places);
  self->from_ns = self->to_ns = iris_clock_ns ();

  return self;
}

/**
 * iris_stats_copy:
 *
 * Returns: (transfer full): a copy of the snapshot
 */
IrisStats *
iris_stats_copy (const IrisStats *self)
{
  IrisStats *copy;

  g_return_val_if_fail (self != NULL, NULL);

  copy = iris_stats_new (self->n_places, self->n_workers);
  copy->total = self->total;
  copy->active_workers = self->active_workers;
  memcpy (copy->places, self->places, self->n_places * sizeof *self->places);
  memcpy (copy->workers, self->workers, self->n_workers * sizeof *self->workers);
  memcpy (copy->worker_place, self->worker_place, self->n_workers * sizeof *self->worker_place);
  copy->from_ns = self->from_ns;
  copy->to_ns = self->to_ns;
  memcpy (copy->delay, self->delay, sizeof self->delay);
  memcpy (copy->run, self->run, sizeof self->run);
  memcpy (copy->steals, self->steals,
          (gsize) self->n_places * self->n_places * sizeof *self->steals);

  return copy;
}

/**
 * iris_stats_free:
 * @self: (transfer full) (nullable): a snapshot
 *
 * Frees the snapshot.
 */
void
iris_stats_free (IrisStats *self)
{
  if (self == NULL)
    return;

  g_free (self->places);
  g_free (self->workers);
  g_free (self->worker_place);
  g_free (self->steals);
  g_free (self);
}

/* Counters only grow; where one was read a moment too early, the difference is nothing. */
static void
subtract (IrisCounters *newer, const IrisCounters *older)
{
  for (guint i = 0; i < iris_n_counter_infos; i++)
    {
      const IrisCounterInfo *info = &iris_counter_infos[i];
      guint64 before = iris_counters_get (older, info), after = iris_counters_get (newer, info);

      if (info->how == IRIS_COUNTER_SUM)
        iris_counters_set (newer, info, after - MIN (before, after));
    }
}

static void
subtract_steals (IrisStats *newer, const IrisStats *older)
{
  if (newer->n_places != older->n_places)
    return;
  for (guint i = 0; i < newer->n_places * newer->n_places; i++)
    {
      newer->steals[i].steals -= MIN (older->steals[i].steals, newer->steals[i].steals);
      newer->steals[i].items -= MIN (older->steals[i].items, newer->steals[i].items);
    }
}

/**
 * iris_stats_diff:
 * @older: a snapshot
 * @newer: a later snapshot of the same scheduler
 *
 * What happened between two snapshots, as a snapshot. The most items of a steal cannot be told
 * apart, and remain those of @newer.
 *
 * Returns: (transfer full): the difference
 */
IrisStats *
iris_stats_diff (const IrisStats *older, const IrisStats *newer)
{
  IrisStats *diff;

  g_return_val_if_fail (older != NULL, NULL);
  g_return_val_if_fail (newer != NULL, NULL);
  g_return_val_if_fail (older->to_ns <= newer->to_ns, NULL);

  diff = iris_stats_copy (newer);
  diff->from_ns = older->to_ns;
  subtract (&diff->total, &older->total);
  for (guint i = 0; i < MIN (older->n_places, newer->n_places); i++)
    subtract (&diff->places[i], &older->places[i]);
  for (guint i = 0; i < MIN (older->n_workers, newer->n_workers); i++)
    subtract (&diff->workers[i], &older->workers[i]);
  for (guint i = 0; i < IRIS_STATS_DELAY_BUCKETS; i++)
    {
      diff->delay[i] -= MIN (older->delay[i], diff->delay[i]);
      diff->run[i] -= MIN (older->run[i], diff->run[i]);
    }
  subtract_steals (diff, older);

  return diff;
}

/**
 * iris_stats_get_steals:
 * @to: the place whose workers took
 * @from: the place that they took from; @to itself for steals between its workers
 *
 * Which place took work from which, exactly: for each place the items of its row but its own add up
 * to `stolen_in`, those of its column to `stolen_out`.
 *
 * Returns: (transfer none): how often, and how many items
 */
const IrisSteals *
iris_stats_get_steals (const IrisStats *self, guint to, guint from)
{
  g_return_val_if_fail (self != NULL, NULL);
  g_return_val_if_fail (to < self->n_places && from < self->n_places, NULL);

  return &self->steals[to * self->n_places + from];
}

/**
 * iris_stats_get_span:
 *
 * The time that the snapshot tells of: since the scheduler was made, or between two snapshots.
 *
 * Returns: nanoseconds
 */
guint64
iris_stats_get_span (const IrisStats *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->to_ns > self->from_ns ? (guint64) (self->to_ns - self->from_ns) : 0;
}

/* The upper end of the bucket in which the quantile lies. */
static guint64
quantile_of (const guint64 *histogram, gdouble quantile)
{
  guint64 n = 0, seen = 0;
  guint i;

  for (i = 0; i < IRIS_STATS_DELAY_BUCKETS; i++)
    n += histogram[i];
  if (n == 0)
    return 0;

  for (i = 0; i < IRIS_STATS_DELAY_BUCKETS - 1; i++)
    {
      seen += histogram[i];
      if (seen >= quantile * n && seen > 0)
        break;
    }

  return G_GUINT64_CONSTANT (2) << i;
}

/**
 * iris_stats_delay_quantile:
 * @quantile: from 0 to 1; 0.5 is the median, 1 the maximum
 *
 * The time from queueing to running that this part of the sampled items did not exceed, as far as
 * the histogram can tell: the upper end of the bucket in which the quantile lies.
 *
 * Returns: nanoseconds, or 0 when nothing was sampled
 */
guint64
iris_stats_delay_quantile (const IrisStats *self, gdouble quantile)
{
  g_return_val_if_fail (self != NULL, 0);
  g_return_val_if_fail (quantile >= 0 && quantile <= 1, 0);

  return quantile_of (self->delay, quantile);
}

/**
 * iris_stats_run_quantile:
 * @quantile: from 0 to 1; 0.5 is the median, 1 the maximum
 *
 * The time that this part of the sampled items did not exceed in running, their destroy notify
 * included: the upper end of the bucket in which the quantile lies.
 *
 * Returns: nanoseconds, or 0 when nothing was sampled
 */
guint64
iris_stats_run_quantile (const IrisStats *self, gdouble quantile)
{
  g_return_val_if_fail (self != NULL, 0);
  g_return_val_if_fail (quantile >= 0 && quantile <= 1, 0);

  return quantile_of (self->run, quantile);
}

static gdouble
divide (gdouble n, gdouble by)
{
  return by > 0 ? n / by : 0;
}

/**
 * iris_counters_get_steal_ratio:
 * @self: counters of a worker, of a place or of all
 *
 * The steals-to-tasks ratio: successful steals for each item run. Exact.
 *
 * Source: V. Kumar and others, "Work-stealing without the baggage" (OOPSLA 2012), which also says
 * that it is the rate of steals, not this ratio, that goes with their overhead.
 *
 * Returns: from 0 to 1 while every steal brings an item that is run; 0 when none was run
 */
gdouble
iris_counters_get_steal_ratio (const IrisCounters *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return divide (self->steals, self->executed);
}

/**
 * iris_counters_get_steal_rate:
 * @self: counters of a worker, of a place or of all
 * @span_ns: the time they tell of; see iris_stats_get_span()
 *
 * The steal rate: successful steals in each second of the span. Exact.
 *
 * Returns: steals per second; 0 for an empty span
 */
gdouble
iris_counters_get_steal_rate (const IrisCounters *self, guint64 span_ns)
{
  g_return_val_if_fail (self != NULL, 0);

  return divide ((gdouble) self->steals * 1e9, span_ns);
}

/**
 * iris_counters_get_steal_overhead:
 * @self: counters of a worker, of a place or of all
 *
 * The steal overhead: of the time in which workers were awake, the share in which they had no work
 * and looked for some. Time asleep is left out, because it costs no processor. Exact.
 *
 * Returns: from 0 to 1; 0 when no worker was awake
 */
gdouble
iris_counters_get_steal_overhead (const IrisCounters *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return divide (self->searching_ns, (gdouble) self->searching_ns + self->busy_ns);
}

/**
 * iris_counters_get_items_per_steal:
 * @self: counters of a worker, of a place or of all
 *
 * Items that a successful steal took on average; `steal_most` is the most. Exact.
 *
 * Returns: items; 0 when nothing was stolen
 */
gdouble
iris_counters_get_items_per_steal (const IrisCounters *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return divide ((gdouble) self->stolen_in + self->stolen_inside, self->steals);
}

/**
 * iris_counters_get_verdict:
 * @self: counters of a worker, a place, or all
 *
 * Returns: how often a look at a victim ended in this way, since the scheduler was made
 */
guint64
iris_counters_get_verdict (const IrisCounters *self, IrisStealVerdict verdict)
{
  g_return_val_if_fail (self != NULL, 0);

  switch (verdict)
    {
    case IRIS_STEAL_VERDICT_TAKEN:
      return self->steals;
    case IRIS_STEAL_VERDICT_EMPTY:
      return self->steal_empties;
    case IRIS_STEAL_VERDICT_LOST:
      return self->steal_fails;
    case IRIS_STEAL_VERDICT_BACKLOG:
      return self->refused_backlog;
    case IRIS_STEAL_VERDICT_SIZE:
      return self->refused_size;
    case IRIS_STEAL_VERDICT_DISTANCE:
      return self->refused_distance;
    case IRIS_STEAL_VERDICT_APART:
      return self->refused_apart;
    }
  g_return_val_if_reached (0);
}

/* Columns of a table side by side; those behind them follow below. */
#define COLUMNS 8

static const struct
{
  const char *label, *key;
  gdouble quantile;
} quantiles[] = {
  { "p50", "p50_ns", 0.5 },       { "p90", "p90_ns", 0.9 }, { "p99", "p99_ns", 0.99 },
  { "p99.9", "p99_9_ns", 0.999 }, { "max", "max_ns", 1 },
};

typedef guint64 (*QuantileFunc) (const IrisStats *stats, gdouble quantile);

/* A column: a counter, or what is worked out from counters. */
static guint
n_columns (void)
{
  return iris_n_counter_infos + iris_n_measure_infos;
}

static const char *
column_name (guint column)
{
  return column < iris_n_counter_infos ? iris_counter_infos[column].name
                                       : iris_measure_infos[column - iris_n_counter_infos].name;
}

/* Times are told in seconds. */
static char *
column_title (guint column)
{
  const char *name = column_name (column);
  char *title;

  if (g_str_has_suffix (name, "_ns"))
    title = g_strdup_printf ("%.*s_s", (int) strlen (name) - 3, name);
  else
    title = g_strdup (name);

  return g_strdelimit (title, "_", ' ');
}

static char *
column_text (guint column, const IrisCounters *counters, guint64 span_ns)
{
  const IrisCounterInfo *info;

  if (column >= iris_n_counter_infos)
    return g_strdup_printf (
        "%.4g", iris_measure_infos[column - iris_n_counter_infos].get (counters, span_ns));
  info = &iris_counter_infos[column];
  if (g_str_has_suffix (info->name, "_ns"))
    return g_strdup_printf ("%.6f", (gdouble) iris_counters_get (counters, info) / 1e9);

  return g_strdup_printf ("%" G_GUINT64_FORMAT, iris_counters_get (counters, info));
}

static guint
n_rows (const IrisStats *self)
{
  return 1 + self->n_places + self->n_workers;
}

static const IrisCounters *
row_counters (const IrisStats *self, guint row)
{
  if (row == 0)
    return &self->total;

  return row <= self->n_places ? &self->places[row - 1] : &self->workers[row - 1 - self->n_places];
}

static char *
row_title (const IrisStats *self, guint row)
{
  guint worker = row - 1 - self->n_places;

  if (row == 0)
    return g_strdup ("total");
  if (row <= self->n_places)
    return g_strdup_printf ("place %u", row - 1);

  return g_strdup_printf ("worker %u (%d)", worker, self->worker_place[worker]);
}

static void
add_row (GString *text, const IrisStats *self, gint row, guint from, guint to)
{
  g_autofree char *title = row < 0 ? g_strdup ("") : row_title (self, (guint) row);

  g_string_append_printf (text, "%-14s", title);
  for (guint column = from; column < to; column++)
    {
      g_autofree char *head = column_title (column);
      g_autofree char *cell = row < 0 ? g_strdup (head)
                                      : column_text (column, row_counters (self, (guint) row),
                                                     iris_stats_get_span (self));

      g_string_append_printf (text, " %*s", (int) MAX (strlen (head), 10), cell);
    }
  g_string_append_c (text, '\n');
}

static guint64
count_samples (const guint64 *histogram)
{
  guint64 n = 0;

  for (guint i = 0; i < IRIS_STATS_DELAY_BUCKETS; i++)
    n += histogram[i];

  return n;
}

static void
add_quantiles (GString *text,
               const char *title,
               const IrisStats *self,
               const guint64 *histogram,
               QuantileFunc get)
{
  g_string_append_printf (text, "%-14s", title);
  for (guint i = 0; i < G_N_ELEMENTS (quantiles); i++)
    g_string_append_printf (text, " %s < %" G_GUINT64_FORMAT " ns,", quantiles[i].label,
                            get (self, quantiles[i].quantile));
  g_string_append_printf (text, " of %" G_GUINT64_FORMAT " samples\n", count_samples (histogram));
}

/**
 * iris_stats_to_string:
 *
 * A table for people: all, each place, and each worker with its place in parentheses. Its form may
 * change; programs read iris_stats_to_json().
 *
 * Returns: (transfer full): the text, with a newline at its end
 */
char *
iris_stats_to_string (const IrisStats *self)
{
  GString *text;

  g_return_val_if_fail (self != NULL, NULL);

  text = g_string_new (NULL);
  g_string_append_printf (text, "%.3f s, %u places, %u workers\n",
                          (gdouble) iris_stats_get_span (self) / 1e9, self->n_places,
                          self->n_workers);
  for (guint from = 0; from < n_columns (); from += COLUMNS)
    {
      guint to = MIN (from + COLUMNS, n_columns ());

      for (gint row = -1; row < (gint) n_rows (self); row++)
        add_row (text, self, row, from, to);
      g_string_append_c (text, '\n');
    }
  add_quantiles (text, "queue delay", self, self->delay, iris_stats_delay_quantile);
  add_quantiles (text, "run time", self, self->run, iris_stats_run_quantile);

  return g_string_free (text, FALSE);
}

/**
 * iris_stats_print:
 *
 * Prints iris_stats_to_string() with g_print().
 */
void
iris_stats_print (const IrisStats *self)
{
  g_autofree char *text = NULL;

  g_return_if_fail (self != NULL);

  text = iris_stats_to_string (self);
  g_print ("%s", text);
}

/* The members of a row, without its braces. */
static void
add_json_counters (GString *json, const IrisCounters *counters, guint64 span_ns)
{
  for (guint i = 0; i < iris_n_counter_infos; i++)
    g_string_append_printf (json, "\"%s\":%" G_GUINT64_FORMAT ",", iris_counter_infos[i].name,
                            iris_counters_get (counters, &iris_counter_infos[i]));
  for (guint i = 0; i < iris_n_measure_infos; i++)
    {
      char number[G_ASCII_DTOSTR_BUF_SIZE];

      g_ascii_dtostr (number, sizeof number, iris_measure_infos[i].get (counters, span_ns));
      g_string_append_printf (json, "%s\"%s\":%s", i == 0 ? "" : ",", iris_measure_infos[i].name,
                              number);
    }
}

/* Of the place @to: what it took, by the place that it took from. */
static void
add_json_steals (GString *json, const IrisStats *self, guint to)
{
  g_string_append (json, ",\"steals_from\":[");
  for (guint from = 0; from < self->n_places; from++)
    g_string_append_printf (json, "%s%" G_GUINT64_FORMAT, from == 0 ? "" : ",",
                            iris_stats_get_steals (self, to, from)->steals);
  g_string_append (json, "],\"stolen_from\":[");
  for (guint from = 0; from < self->n_places; from++)
    g_string_append_printf (json, "%s%" G_GUINT64_FORMAT, from == 0 ? "" : ",",
                            iris_stats_get_steals (self, to, from)->items);
  g_string_append_c (json, ']');
}

static void
add_json_times (GString *json,
                const char *name,
                const IrisStats *self,
                const guint64 *histogram,
                QuantileFunc get)
{
  g_string_append_printf (json, ",\"%s\":{\"samples\":%" G_GUINT64_FORMAT, name,
                          count_samples (histogram));
  for (guint i = 0; i < G_N_ELEMENTS (quantiles); i++)
    g_string_append_printf (json, ",\"%s\":%" G_GUINT64_FORMAT, quantiles[i].key,
                            get (self, quantiles[i].quantile));
  g_string_append (json, ",\"buckets\":[");
  for (guint i = 0; i < IRIS_STATS_DELAY_BUCKETS; i++)
    g_string_append_printf (json, "%s%" G_GUINT64_FORMAT, i == 0 ? "" : ",", histogram[i]);
  g_string_append (json, "]}");
}

/**
 * iris_stats_to_json:
 *
 * The snapshot as one JSON object on one line. Members may be added to it in later versions.
 *
 * `span_ns` is the time that it tells of. `total`, and each object in `places` and `workers`, has
 * the members of #IrisCounters by name, and `steal_ratio`, `steal_rate` (per second),
 * `steal_overhead` and `items_per_steal`. An object in `places` has the arrays `steals_from` and
 * `stolen_from` too: steals and items by the place that they were taken from. `delay` and `run`
 * have `samples`, the quantiles `p50_ns`, `p90_ns`, `p99_ns`, `p99_9_ns` and `max_ns`, and the
 * `buckets` they come from.
 *
 * Returns: (transfer full): the text, without a newline
 */
char *
iris_stats_to_json (const IrisStats *self)
{
  GString *json;
  guint64 span;

  g_return_val_if_fail (self != NULL, NULL);

  span = iris_stats_get_span (self);
  json = g_string_new (NULL);
  g_string_append_printf (json, "{\"span_ns\":%" G_GUINT64_FORMAT ",\"total\":{", span);
  add_json_counters (json, &self->total, span);
  g_string_append (json, "},\"places\":[");
  for (guint i = 0; i < self->n_places; i++)
    {
      g_string_append_printf (json, "%s{\"id\":%u,", i == 0 ? "" : ",", i);
      add_json_counters (json, &self->places[i], span);
      add_json_steals (json, self, i);
      g_string_append_c (json, '}');
    }
  g_string_append (json, "],\"workers\":[");
  for (guint i = 0; i < self->n_workers; i++)
    {
      g_string_append_printf (json, "%s{\"index\":%u,\"place\":%d,", i == 0 ? "" : ",", i,
                              self->worker_place[i]);
      add_json_counters (json, &self->workers[i], span);
      g_string_append_c (json, '}');
    }
  g_string_append_c (json, ']');
  add_json_times (json, "delay", self, self->delay, iris_stats_delay_quantile);
  add_json_times (json, "run", self, self->run, iris_stats_run_quantile);
  g_string_append_c (json, '}');

  return g_string_free (json, FALSE);
}
