/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Statistics for people, as a table, and for programs, as JSON.
 */
#include "iris/sched/stats/iris-stats-private.h"

#include <string.h>

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
  const IrisCounterInfo *info = &iris_counter_infos[column];

  if (column >= iris_n_counter_infos)
    return g_strdup_printf (
        "%.4g", iris_measure_infos[column - iris_n_counter_infos].get (counters, span_ns));
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
 * @self: a snapshot
 *
 * A table for people: all, each place, and each worker with its place in parentheses. Its form may
 * change; programs read iris_stats_to_json().
 *
 * Returns: (transfer full): the text, with a newline at its end
 *
 * Since: 0.1
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
 * @self: a snapshot
 *
 * Prints iris_stats_to_string() with g_print().
 *
 * Since: 0.1
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
 * @self: a snapshot
 *
 * The snapshot as one JSON object on one line. Members may be added to it in later versions.
 *
 * `span_ns` is the time that it tells of. `total`, and each object in `places` and `workers`, has
 * the members of #IrisCounters by name, and `steal_ratio`, `steal_rate` (per second),
 * `steal_overhead` and `items_per_steal`. `delay` and `run` have `samples`, the quantiles `p50_ns`,
 * `p90_ns`, `p99_ns`, `p99_9_ns` and `max_ns`, and the `buckets` they come from.
 *
 * Returns: (transfer full): the text, without a newline
 *
 * Since: 0.1
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
