/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * From a report in JSON, fresh or saved, to the panels of a chart.
 *
 * A load is a panel of bars; loads that lie on an axis ("inside, 1 µs", "inside, 10 µs") are one
 * panel of lines together, named after what is before their comma.
 */
#include "tests/bench/report/bench-json-reader.h"
#include "tests/bench/report/bench-report.h"

#include <math.h>
#include <string.h>

/* --- panels ----------------------------------------------------------------------------------- */

static void
point_clear (gpointer data)
{
  BenchPoint *self = data;

  g_free (self->name);
  g_free (self->kind);
}

static void
panel_free (gpointer data)
{
  BenchPanel *self = data;

  g_array_unref (self->points);
  g_free (self->title);
  g_free (self->value_label);
  g_free (self->x_label);
  g_free (self);
}

static BenchPanel *
find_panel (BenchChart *chart, const char *title, const char *value_label, const char *x_label)
{
  BenchPanel *panel;

  for (guint i = 0; i < chart->panels->len; i++)
    {
      panel = g_ptr_array_index (chart->panels, i);
      if (g_str_equal (panel->title, title) && g_str_equal (panel->value_label, value_label))
        return panel;
    }
  panel = g_new0 (BenchPanel, 1);
  panel->title = g_strdup (title);
  panel->value_label = g_strdup (value_label);
  panel->x_label = g_strdup (x_label);
  panel->points = g_array_new (FALSE, FALSE, sizeof (BenchPoint));
  g_array_set_clear_func (panel->points, point_clear);
  g_ptr_array_add (chart->panels, panel);

  return panel;
}

/* What a series shows: three numbers, a factor for them, and their label. */
typedef struct
{
  JsonObject *numbers;
  gdouble factor;
  const char *label;
  gboolean is_time;
  gboolean is_per_item; /* the label lacks its name */
} Shown;

static Shown
show_comparison (JsonObject *series)
{
  static const struct
  {
    const char *as;
    gdouble factor;
    const char *label;
  } relations[] = {
    { "factor", 1, "times as fast as plain C" },
    { "overhead_percent", 1, "overhead over plain C, %" },
    { "ideal_percent", 1, "share of the ideal speed, %" },
    { "extra_s_per_item", 1e9, "cost of a task, ns" },
  };
  JsonObject *compared = bench_json_object (series, "compared");
  const char *as = compared != NULL ? bench_json_text (compared, "as") : NULL;

  for (guint i = 0; as != NULL && i < G_N_ELEMENTS (relations); i++)
    if (g_str_equal (as, relations[i].as))
      return (Shown){ compared, relations[i].factor, relations[i].label };

  return (Shown){ 0 };
}

static Shown
show_series (JsonObject *series, const char *show)
{
  const char *unit = bench_json_text (series, "unit");
  gdouble items = bench_json_number (series, "items");

  if (g_strcmp0 (show, "compared") == 0)
    return show_comparison (series);
  if (g_strcmp0 (show, "ns_per_item") == 0)
    return items > 0 ? (Shown){ series, 1e9 / items, NULL, TRUE, TRUE } : (Shown){ 0 };
  if (g_strcmp0 (unit, "s") == 0)
    return items > 0 ? (Shown){ series, 1e3, "time, ms", TRUE }
                     : (Shown){ series, 1e6, "latency, µs", TRUE };

  return (Shown){ series, 1, g_strcmp0 (unit, "%") == 0 ? "processor use, %" : "wake-ups per s" };
}

/* Of a line, what is before the comma names the panel, and the number is on the axis. */
static char *
panel_title (const char *workload, const char *load, gboolean is_line)
{
  const char *comma = is_line ? strstr (load, ", ") : NULL;
  g_autofree char *name = comma != NULL ? g_strndup (load, comma - load) : g_strdup (load);

  return g_str_equal (workload, name) ? g_steal_pointer (&name)
                                      : g_strdup_printf ("%s: %s", workload, name);
}

static gboolean
add_series (BenchChart *chart, JsonObject *result, JsonObject *series)
{
  const char *workload = bench_json_text (result, "workload"),
             *load = bench_json_text (series, "load");
  const char *name = bench_json_text (series, "contender"),
             *kind = bench_json_text (series, "kind");
  gdouble x = bench_json_number (series, "x");
  Shown shown = show_series (series, bench_json_text (series, "show"));
  const char *item = bench_json_text (result, "item");
  g_autofree char *title = NULL, *label = NULL;
  BenchPoint point;
  BenchPanel *panel;

  if (workload == NULL || load == NULL || name == NULL || kind == NULL)
    return FALSE;
  if (shown.numbers == NULL)
    return TRUE;
  point = (BenchPoint){ NULL,
                        NULL,
                        x,
                        bench_json_number (shown.numbers, "median") * shown.factor,
                        bench_json_number (shown.numbers, "low_quartile") * shown.factor,
                        bench_json_number (shown.numbers, "high_quartile") * shown.factor };
  if (!isfinite (point.value) || !isfinite (point.low) || !isfinite (point.high))
    return FALSE;
  title = panel_title (workload, load, isfinite (x));
  label = shown.is_per_item ? g_strdup_printf ("time per %s, ns", item != NULL ? item : "item")
                            : g_strdup (shown.label);
  panel = find_panel (chart, title, label,
                      isfinite (x) ? bench_json_text (result, "x_label") : NULL);
  panel->is_time = shown.is_time;
  point.name = g_strdup (name);
  point.kind = g_strdup (kind);
  g_array_append_val (panel->points, point);

  return TRUE;
}

static gboolean
add_result (BenchChart *chart, JsonObject *result)
{
  JsonArray *series = result != NULL ? bench_json_array (result, "series") : NULL;

  if (series == NULL)
    return FALSE;
  for (guint i = 0; i < json_array_get_length (series); i++)
    {
      JsonObject *object = bench_json_object_at (series, i);

      if (object == NULL || !add_series (chart, result, object))
        return FALSE;
    }

  return TRUE;
}

/* --- the chart -------------------------------------------------------------------------------- */

static void
describe (BenchChart *chart, JsonObject *report, JsonArray *results)
{
  JsonObject *machine = bench_json_object (report, "machine");
  const char *description = machine != NULL ? bench_json_text (machine, "description") : NULL;
  JsonObject *first = json_array_get_length (results) == 1 ? bench_json_object_at (results, 0)
                                                           : NULL;
  const char *name = bench_json_text (report, "benchmark");
  const char *title = first != NULL ? bench_json_text (first, "title") : NULL;

  chart->title = g_strdup_printf ("iris-bench %s%s%s", name != NULL ? name : "",
                                  title != NULL ? ": " : "", title != NULL ? title : "");
  chart->subtitle = g_strdup_printf (
      "%s; %.0f workers; median and middle half of %.0f rounds%s",
      description != NULL ? description : "unknown machine", bench_json_number (report, "workers"),
      bench_json_number (report, "rounds"),
      bench_json_flag (machine, "had_other_work") ? "; the machine had other work" : "");
}

static gboolean
read_report (BenchChart *chart, JsonNode *root)
{
  JsonObject *report = root != NULL && JSON_NODE_HOLDS_OBJECT (root) ? json_node_get_object (root)
                                                                     : NULL;
  JsonArray *results = report != NULL ? bench_json_array (report, "results") : NULL;

  if (results == NULL)
    return FALSE;
  for (guint i = 0; i < json_array_get_length (results); i++)
    if (!add_result (chart, bench_json_object_at (results, i)))
      return FALSE;
  describe (chart, report, results);

  return chart->panels->len > 0;
}

static const char *
format_of (const char *file)
{
  if (g_str_has_suffix (file, ".svg"))
    return "svg";

  return g_str_has_suffix (file, ".png") ? "png" : NULL;
}

gboolean
bench_chart_check (const char *file, GError **error)
{
  if (format_of (file) != NULL)
    return bench_gnuplot_check (error);
  g_set_error (error, BENCH_ERROR, BENCH_ERROR_ARGUMENT,
               "%s ends neither in .svg nor in .png, and a chart is one of these", file);

  return FALSE;
}

gboolean
bench_chart_write (JsonNode *report, const char *file, GError **error)
{
  BenchChart chart = { .panels = g_ptr_array_new_with_free_func (panel_free) };
  g_autoptr (GBytes) picture = NULL;

  if (read_report (&chart, report))
    picture = bench_gnuplot_draw (&chart, format_of (file), error);
  else
    g_set_error_literal (error, BENCH_ERROR, BENCH_ERROR_MACHINE,
                         "this is not what iris-bench --json prints; nothing was drawn");
  g_ptr_array_unref (chart.panels);
  g_free (chart.title);
  g_free (chart.subtitle);
  if (picture == NULL)
    return FALSE;

  return g_file_set_contents (file, g_bytes_get_data (picture, NULL),
                              (gssize) g_bytes_get_size (picture), error);
}
