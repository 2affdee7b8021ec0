/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The report: a table for people, or JSON with every sample.
 */
#include "bench.h"

/* The series of the same load on the baseline scheduler, or NULL. */
static const BenchSeries *
find_baseline (GPtrArray *series, const BenchSeries *of, const char *baseline)
{
  for (guint i = 0; i < series->len; i++)
    {
      const BenchSeries *candidate = g_ptr_array_index (series, i);

      if (g_str_equal (candidate->load, of->load) && g_str_equal (candidate->scheduler, baseline))
        return candidate;
    }

  return NULL;
}

static gdouble
nanoseconds_per_item (const BenchSeries *series)
{
  return bench_series_median (series) * 1e9 / series->n_items;
}

static void
report_text (const char *title,
             const BenchOptions *options,
             GPtrArray *series,
             const char *baseline)
{
  g_autofree char *machine = bench_machine_describe ();

  g_print ("%s\n%s\n%u workers, %u rounds in turn; the median, and its factor over %s\n\n", title,
           machine, options->workers, options->rounds, baseline);
  g_print ("%-10s %-14s %10s %10s %10s %9s %9s\n", "load", "scheduler", "median ms", "min ms",
           "max ms", "ns/item", "factor");
  for (guint i = 0; i < series->len; i++)
    {
      const BenchSeries *row = g_ptr_array_index (series, i);
      const BenchSeries *base = find_baseline (series, row, baseline);
      g_autofree char *factor = base != NULL ? g_strdup_printf (
                                    "%.1f", bench_series_median (base) / bench_series_median (row))
                                             : g_strdup ("-");

      g_print ("%-10s %-14s %10.2f %10.2f %10.2f %9.2f %9s\n", row->load, row->scheduler,
               bench_series_median (row) * 1e3, bench_series_min (row) * 1e3,
               bench_series_max (row) * 1e3, nanoseconds_per_item (row), factor);
    }
}

static void
add_number (JsonBuilder *builder, const char *name, gdouble value)
{
  json_builder_set_member_name (builder, name);
  json_builder_add_double_value (builder, value);
}

static void
add_string (JsonBuilder *builder, const char *name, const char *value)
{
  json_builder_set_member_name (builder, name);
  json_builder_add_string_value (builder, value);
}

static void
add_series (JsonBuilder *builder, const BenchSeries *row, const BenchSeries *base)
{
  json_builder_begin_object (builder);
  add_string (builder, "load", row->load);
  add_string (builder, "scheduler", row->scheduler);
  add_number (builder, "items", row->n_items);
  add_number (builder, "median_s", bench_series_median (row));
  add_number (builder, "min_s", bench_series_min (row));
  add_number (builder, "max_s", bench_series_max (row));
  add_number (builder, "ns_per_item", nanoseconds_per_item (row));
  if (base != NULL)
    add_number (builder, "factor", bench_series_median (base) / bench_series_median (row));
  json_builder_set_member_name (builder, "samples_s");
  json_builder_begin_array (builder);
  for (guint i = 0; i < row->seconds->len; i++)
    json_builder_add_double_value (builder, g_array_index (row->seconds, gdouble, i));
  json_builder_end_array (builder);
  json_builder_end_object (builder);
}

static void
report_json (const char *title,
             const BenchOptions *options,
             GPtrArray *series,
             const char *baseline)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  g_autoptr (JsonGenerator) generator = json_generator_new ();
  g_autoptr (JsonNode) root = NULL;
  g_autofree char *machine = bench_machine_describe ();
  g_autofree char *text = NULL;

  json_builder_begin_object (builder);
  add_string (builder, "benchmark", title);
  add_string (builder, "machine", machine);
  add_string (builder, "baseline", baseline);
  add_number (builder, "workers", options->workers);
  add_number (builder, "rounds", options->rounds);
  json_builder_set_member_name (builder, "series");
  json_builder_begin_array (builder);
  for (guint i = 0; i < series->len; i++)
    {
      const BenchSeries *row = g_ptr_array_index (series, i);

      add_series (builder, row, find_baseline (series, row, baseline));
    }
  json_builder_end_array (builder);
  json_builder_end_object (builder);

  root = json_builder_get_root (builder);
  json_generator_set_pretty (generator, TRUE);
  json_generator_set_root (generator, root);
  text = json_generator_to_data (generator, NULL);
  g_print ("%s\n", text);
}

void
bench_report (const char *title,
              const BenchOptions *options,
              GPtrArray *series,
              const char *baseline)
{
  if (options->json)
    report_json (title, options, series, baseline);
  else
    report_text (title, options, series, baseline);
}
