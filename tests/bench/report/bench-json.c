/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The report as JSON, with every sample.
 */
#include "tests/bench/report/bench-published.h"
#include "tests/bench/report/bench-report.h"

#include <math.h>

static void
add_number (JsonBuilder *builder, const char *name, gdouble value)
{
  json_builder_set_member_name (builder, name);
  if (!isfinite (value))
    json_builder_add_null_value (builder);
  else
    json_builder_add_double_value (builder, value);
}

static void
add_count (JsonBuilder *builder, const char *name, guint64 value)
{
  json_builder_set_member_name (builder, name);
  json_builder_add_int_value (builder, (gint64) value);
}

static void
add_string (JsonBuilder *builder, const char *name, const char *value)
{
  json_builder_set_member_name (builder, name);
  if (value == NULL)
    json_builder_add_null_value (builder);
  else
    json_builder_add_string_value (builder, value);
}

static void
add_summary (JsonBuilder *builder, BenchSummary summary)
{
  add_number (builder, "median", summary.median);
  add_number (builder, "min", summary.min);
  add_number (builder, "max", summary.max);
  add_number (builder, "low_quartile", summary.low_quartile);
  add_number (builder, "high_quartile", summary.high_quartile);
}

static void
add_estimate (JsonBuilder *builder, BenchEstimate estimate)
{
  add_number (builder, "median_low", estimate.low);
  add_number (builder, "median_high", estimate.high);
  add_number (builder, "mean_of_best", estimate.best);
}

static void
add_comparison (JsonBuilder *builder, const BenchSeries *series)
{
  json_builder_set_member_name (builder, "compared");
  json_builder_begin_object (builder);
  add_string (builder, "with_load", series->base->load);
  add_string (builder, "with", series->base->contender);
  add_string (builder, "as", bench_relation_name (series->relation));
  add_summary (builder, bench_series_compared (series));
  add_estimate (builder, bench_series_estimate_compared (series));
  json_builder_end_object (builder);
}

/* One number a round of what was counted. */
static void
add_counts (JsonBuilder *builder, const BenchSeries *series)
{
  json_builder_set_member_name (builder, "counters");
  json_builder_begin_object (builder);
  for (guint c = BENCH_CYCLES; c < BENCH_N_COUNTERS; c++)
    {
      if (!isfinite (bench_series_estimate_count (series, c).median))
        continue;
      json_builder_set_member_name (builder, bench_counter_name (c));
      json_builder_begin_array (builder);
      for (guint i = 0; i < series->counts->len; i++)
        json_builder_add_double_value (builder,
                                       g_array_index (series->counts, BenchCounts, i).values[c]);
      json_builder_end_array (builder);
    }
  json_builder_end_object (builder);
}

static void
add_series (JsonBuilder *builder, const BenchSeries *series)
{
  static const char *const shows[] = { "ns_per_item", "sample", "compared" };

  json_builder_begin_object (builder);
  add_string (builder, "load", series->load);
  add_number (builder, "x", series->x);
  add_string (builder, "contender", series->contender);
  add_string (builder, "kind", bench_kind_name (series->kind));
  add_count (builder, "workers", series->workers);
  add_count (builder, "items", series->n_items);
  add_string (builder, "unit", bench_unit_name (series->unit));
  add_summary (builder, bench_series_summary (series));
  add_estimate (builder, bench_series_estimate (series));
  add_number (builder, "ns_per_item", bench_series_per_item (series) * 1e9);
  add_string (builder, "show", shows[series->show]);
  if (series->base != NULL)
    add_comparison (builder, series);
  if (series->counts != NULL)
    add_counts (builder, series);
  json_builder_set_member_name (builder, "samples");
  json_builder_begin_array (builder);
  for (guint i = 0; i < series->samples->len; i++)
    json_builder_add_double_value (builder, g_array_index (series->samples, gdouble, i));
  json_builder_end_array (builder);
  json_builder_end_object (builder);
}

static void
add_published (JsonBuilder *builder, const BenchPublished *published, const BenchResult *result)
{
  BenchOurs ours = bench_published_find (published, result);

  json_builder_begin_object (builder);
  add_string (builder, "what", published->what);
  add_number (builder, "published_low", published->low);
  add_number (builder, "published_high", published->high);
  add_string (builder, "load", published->load);
  add_string (builder, "contender", published->contender);
  add_number (builder, "median", ours.ours.median * ours.factor);
  add_number (builder, "median_low", ours.ours.low * ours.factor);
  add_number (builder, "median_high", ours.ours.high * ours.factor);
  add_number (builder, "mean_of_best", ours.ours.best * ours.factor);
  add_string (builder, "unit", ours.unit);
  add_count (builder, "digits", ours.digits);
  add_string (builder, "counter", ours.is_count ? bench_counter_name (published->counter) : NULL);
  json_builder_end_object (builder);
}

static void
add_figure (JsonBuilder *builder, const BenchFigure *figure, const BenchResult *result)
{
  json_builder_set_member_name (builder, "figure");
  json_builder_begin_object (builder);
  add_string (builder, "row", figure->row);
  add_string (builder, "title", figure->title);
  add_string (builder, "source", figure->source);
  add_string (builder, "machine", figure->machine);
  add_string (builder, "differs", figure->differs);
  json_builder_set_member_name (builder, "published");
  json_builder_begin_array (builder);
  for (const BenchPublished *p = figure->published; p != NULL && p->what != NULL; p++)
    add_published (builder, p, result);
  json_builder_end_array (builder);
  json_builder_end_object (builder);
}

static void
add_result (JsonBuilder *builder, const BenchResult *result)
{
  const BenchWorkload *workload = bench_workload_find (result->name);

  json_builder_begin_object (builder);
  add_string (builder, "workload", result->name);
  add_string (builder, "title", result->title);
  add_count (builder, "workers", result->workers);
  add_count (builder, "rounds", result->rounds);
  add_string (builder, "item", result->item);
  add_string (builder, "x_label", result->x_label);
  add_number (builder, "seconds", result->seconds);
  if (workload != NULL && workload->figure != NULL)
    add_figure (builder, workload->figure, result);
  json_builder_set_member_name (builder, "series");
  json_builder_begin_array (builder);
  for (guint i = 0; i < result->series->len; i++)
    add_series (builder, g_ptr_array_index (result->series, i));
  json_builder_end_array (builder);
  json_builder_end_object (builder);
}

static void
add_strings (JsonBuilder *builder, const char *name, const GPtrArray *strings)
{
  json_builder_set_member_name (builder, name);
  json_builder_begin_array (builder);
  for (guint i = 0; i < strings->len; i++)
    json_builder_add_string_value (builder, g_ptr_array_index (strings, i));
  json_builder_end_array (builder);
}

static void
add_machine (JsonBuilder *builder, const BenchMachine *machine)
{
  json_builder_set_member_name (builder, "machine");
  json_builder_begin_object (builder);
  add_string (builder, "description", machine->description);
  json_builder_set_member_name (builder, "load_at_start");
  json_builder_begin_array (builder);
  for (guint i = 0; i < G_N_ELEMENTS (machine->load); i++)
    json_builder_add_double_value (builder, machine->load[i]);
  json_builder_end_array (builder);
  json_builder_set_member_name (builder, "had_other_work");
  json_builder_add_boolean_value (builder, machine->is_busy);
  add_count (builder, "processors", machine->n_processors);
  add_count (builder, "cores", machine->n_cores);
  add_string (builder, "governor", machine->governor);
  add_number (builder, "slowest_mhz", machine->slowest);
  add_number (builder, "fastest_mhz", machine->fastest);
  add_number (builder, "others_percent", machine->others);
  add_number (builder, "stolen_percent", machine->stolen);
  add_strings (builder, "warnings", machine->warnings);
  json_builder_end_object (builder);
}

static void
add_goals (JsonBuilder *builder, GPtrArray *goals)
{
  json_builder_set_member_name (builder, "goals");
  json_builder_begin_array (builder);
  for (guint i = 0; i < goals->len; i++)
    {
      const BenchGoal *goal = g_ptr_array_index (goals, i);

      json_builder_begin_object (builder);
      add_string (builder, "figure", goal->figure);
      add_string (builder, "goal", goal->goal);
      add_string (builder, "reached", bench_verdict_name (goal->verdict));
      add_string (builder, "measured", goal->measured);
      json_builder_end_object (builder);
    }
  json_builder_end_array (builder);
}

static void
add_sweep (JsonBuilder *builder, const GArray *workers)
{
  json_builder_set_member_name (builder, "sweep");
  json_builder_begin_array (builder);
  for (guint i = 0; i < workers->len; i++)
    json_builder_add_int_value (builder, g_array_index (workers, guint, i));
  json_builder_end_array (builder);
}

JsonNode *
bench_report_to_json (const BenchReport *self)
{
  static const char *const countings[] = { "none", "hardware", "all" };
  g_autoptr (JsonBuilder) builder = json_builder_new ();

  json_builder_begin_object (builder);
  add_string (builder, "benchmark", self->name);
  add_string (builder, "version", IRIS_VERSION);
  add_string (builder, "date", self->date);
  add_machine (builder, self->machine);
  add_count (builder, "workers", self->options->workers);
  add_sweep (builder, self->workers);
  add_count (builder, "rounds", self->options->rounds);
  json_builder_set_member_name (builder, "quick");
  json_builder_add_boolean_value (builder, self->options->quick);
  add_strings (builder, "failures", self->failures);
  add_string (builder, "counters", countings[self->options->counting]);
  add_string (builder, "no_counters", self->no_counters);
  json_builder_set_member_name (builder, "results");
  json_builder_begin_array (builder);
  for (guint i = 0; i < self->results->len; i++)
    add_result (builder, g_ptr_array_index (self->results, i));
  json_builder_end_array (builder);
  if (self->goals != NULL)
    add_goals (builder, self->goals);
  json_builder_end_object (builder);

  return json_builder_get_root (builder);
}
