/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The report as CSV (RFC 4180), for spreadsheets and statistics programs: a line for each series,
 * or for each sample.
 */
#include "tests/bench/report/bench-json-reader.h"
#include "tests/bench/report/bench-report.h"

#include <math.h>

static void
append_text (GString *line, const char *text)
{
  g_auto (GStrv) parts = g_strsplit (text, "\"", -1);
  g_autofree char *doubled = g_strjoinv ("\"\"", parts);

  g_string_append_printf (line, "%s\"%s\"", line->len > 0 ? "," : "", doubled);
}

/* What is no number is an empty field. */
static void
append_number (GString *line, gdouble value)
{
  char digits[G_ASCII_DTOSTR_BUF_SIZE] = "";

  if (isfinite (value))
    g_ascii_formatd (digits, sizeof digits, "%.12g", value);
  g_string_append_printf (line, ",%s", digits);
}

static void
append_summary (GString *line, BenchSummary summary)
{
  append_number (line, summary.median);
  append_number (line, summary.min);
  append_number (line, summary.max);
  append_number (line, summary.low_quartile);
  append_number (line, summary.high_quartile);
}

/* --- samples ---------------------------------------------------------------------------------- */

/* A line for each sample of a series, with what was counted in its run. */
static void
append_samples (GString *out, JsonObject *result, JsonObject *series)
{
  static const char *const texts[] = { "load", "contender", "kind", "unit" };
  JsonObject *counters = bench_json_object (series, "counters");
  JsonArray *samples = bench_json_array (series, "samples");
  const char *row = bench_json_text (bench_json_object (result, "figure"), "row");

  for (guint i = 0; i < bench_json_length (samples); i++)
    {
      g_autoptr (GString) line = g_string_new (NULL);
      const char *workload = bench_json_text (result, "workload");

      append_text (line, workload != NULL ? workload : "");
      append_text (line, row != NULL ? row : "");
      for (guint j = 0; j < G_N_ELEMENTS (texts); j++)
        {
          const char *text = bench_json_text (series, texts[j]);

          append_text (line, text != NULL ? text : "");
        }
      append_number (line, bench_json_number (series, "workers"));
      append_number (line, bench_json_number (series, "items"));
      append_number (line, i + 1);
      append_number (line, bench_json_number_at (samples, i));
      for (guint c = BENCH_CYCLES; c < BENCH_N_COUNTERS; c++)
        append_number (
            line, bench_json_number_at (bench_json_array (counters, bench_counter_name (c)), i));
      g_string_append_printf (out, "%s\r\n", line->str);
    }
}

char *
bench_csv_of_samples (JsonNode *report)
{
  JsonArray *results = bench_json_array (bench_json_report (report), "results");
  GString *out = g_string_new ("workload,row,load,contender,kind,unit,workers,items,round,sample");

  for (guint c = BENCH_CYCLES; c < BENCH_N_COUNTERS; c++)
    g_string_append_printf (out, ",%s", bench_counter_name (c));
  g_string_append (out, "\r\n");
  for (guint i = 0; i < bench_json_length (results); i++)
    {
      JsonObject *result = bench_json_object_at (results, i);
      JsonArray *series = bench_json_array (result, "series");

      for (guint j = 0; j < bench_json_length (series); j++)
        append_samples (out, result, bench_json_object_at (series, j));
    }

  return g_string_free (out, FALSE);
}

/* --- series ----------------------------------------------------------------------------------- */

static void
print_series (const BenchResult *result, const BenchSeries *series)
{
  g_autoptr (GString) line = g_string_new (NULL);
  gdouble low, high;

  bench_median_interval (series->samples, &low, &high);
  append_text (line, result->name);
  append_text (line, series->load);
  append_number (line, series->x);
  append_text (line, series->contender);
  append_text (line, bench_kind_name (series->kind));
  append_number (line, series->workers);
  append_number (line, (gdouble) series->n_items);
  append_text (line, bench_unit_name (series->unit));
  append_number (line, series->samples->len);
  append_summary (line, bench_series_summary (series));
  append_number (line, low);
  append_number (line, high);
  append_number (line, bench_mean_of_best (series->samples, BENCH_BEST));
  append_number (line, bench_series_per_item (series) * 1e9);
  append_text (line, series->base != NULL ? series->base->contender : "");
  append_text (line, series->base != NULL ? bench_relation_name (series->relation) : "");
  append_number (line, bench_series_compared (series).median);
  for (guint c = BENCH_CYCLES; c < BENCH_N_COUNTERS; c++)
    append_number (line, bench_series_estimate_count (series, c).median);
  g_print ("%s\r\n", line->str);
}

void
bench_report_print_csv (const BenchReport *self)
{
  g_print ("workload,load,x,contender,kind,workers,items,unit,rounds,median,min,max,low_quartile,"
           "high_quartile,median_low,median_high,mean_of_best,ns_per_item,compared_with,"
           "compared_as,compared");
  for (guint c = BENCH_CYCLES; c < BENCH_N_COUNTERS; c++)
    g_print (",%s", bench_counter_name (c));
  g_print ("\r\n");
  for (guint i = 0; i < self->results->len; i++)
    {
      const BenchResult *result = g_ptr_array_index (self->results, i);

      for (guint j = 0; j < result->series->len; j++)
        print_series (result, g_ptr_array_index (result->series, j));
    }
}
