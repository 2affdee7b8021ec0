/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The report as CSV (RFC 4180): a line for each series, for spreadsheets and statistics programs.
 */
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
  g_print ("%s\r\n", line->str);
}

void
bench_report_print_csv (const BenchReport *self)
{
  g_print ("workload,load,x,contender,kind,workers,items,unit,rounds,median,min,max,low_quartile,"
           "high_quartile,median_low,median_high,mean_of_best,ns_per_item,compared_with,"
           "compared_as,compared\r\n");
  for (guint i = 0; i < self->results->len; i++)
    {
      const BenchResult *result = g_ptr_array_index (self->results, i);

      for (guint j = 0; j < result->series->len; j++)
        print_series (result, g_ptr_array_index (result->series, j));
    }
}
