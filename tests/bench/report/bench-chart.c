/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * From a report in JSON, fresh or saved, to the panels of a chart.
 *
 * A load is a panel of bars; loads that lie on an axis ("inside, 1 µs", "inside, 10 µs") are one
 * panel of lines together, named after what they have in common.
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
  char *label;
  gboolean is_time;
} Shown;

static Shown
show_comparison (JsonObject *series)
{
  static const struct
  {
    const char *as;
    gdouble factor;
    const char *label;
    gboolean has_base;
  } relations[] = {
    { "factor", 1, "times as fast as ", TRUE },
    { "overhead_percent", 1, "overhead over ", TRUE },
    { "ideal_percent", 1, "share of the ideal speed, %", FALSE },
    { "extra_s_per_item", 1e9, "cost of a task, ns", FALSE },
  };
  JsonObject *compared = bench_json_object (series, "compared");
  const char *as = bench_json_text (compared, "as"), *with = bench_json_text (compared, "with");

  for (guint i = 0; as != NULL && with != NULL && i < G_N_ELEMENTS (relations); i++)
    if (g_str_equal (as, relations[i].as))
      return (Shown){ compared, relations[i].factor,
                      g_strconcat (relations[i].label,
                                   !relations[i].has_base        ? ""
                                   : g_str_equal (with, "plain") ? "plain C"
                                                                 : with,
                                   i == 1 ? ", %" : "", NULL) };

  return (Shown){ 0 };
}

static Shown
show_series (JsonObject *series, const char *show, const char *item)
{
  const char *unit = bench_json_text (series, "unit");
  gdouble items = bench_json_number (series, "items");
  gboolean is_sample = g_strcmp0 (show, "sample") == 0;

  if (g_strcmp0 (show, "compared") == 0)
    return show_comparison (series);
  if (!is_sample && items > 0)
    return (Shown){ series, 1e9 / items,
                    g_strdup_printf ("time per %s, ns", item != NULL ? item : "item"), TRUE };
  if (g_strcmp0 (unit, "s") == 0)
    return items > 0 || !is_sample ? (Shown){ series, 1e3, g_strdup ("time, ms"), TRUE }
                                   : (Shown){ series, 1e6, g_strdup ("latency, µs"), TRUE };

  return (Shown){ series, 1,
                  g_strdup (g_strcmp0 (unit, "%") == 0   ? "percent"
                            : g_strcmp0 (unit, "B") == 0 ? "bytes"
                                                         : "per second") };
}

/* "2 workers", of workloads that have a load for each number. */
static gboolean
is_number_of_workers (const char *load)
{
  const char *word = strchr (load, ' ');

  return g_ascii_isdigit (*load) && word != NULL && g_str_has_prefix (word, " worker");
}

/* Where the number stands in the load as a word; NULL: nowhere. */
static const char *
find_number (const char *load, gdouble x, gsize *length)
{
  char number[G_ASCII_DTOSTR_BUF_SIZE];

  g_ascii_formatd (number, sizeof number, "%g", x);
  *length = strlen (number);
  for (const char *at = strstr (load, number); at != NULL; at = strstr (at + 1, number))
    if ((at == load || at[-1] == ' ') && at[*length] == ' ')
      return at;

  return NULL;
}

/* A load without the number that is on the axis, nor its unit, which is the label's last word. */
static char *
without_number (const char *load, gdouble x, const char *x_label)
{
  gsize length;
  const char *number = find_number (load, x, &length), *word, *unit;
  g_autofree char *first = NULL;

  if (number == NULL)
    return g_strndup (load, strcspn (load, ","));
  unit = x_label != NULL && strrchr (x_label, ' ') != NULL ? strrchr (x_label, ' ') + 1 : x_label;
  word = number + length + 1;
  first = g_strndup (word, strcspn (word, " ,:"));
  if (unit == NULL || !g_str_has_prefix (unit, first))
    return g_strdup_printf ("%.*s%s", (int) (number - load), load, word);
  word += strlen (first);
  if (number == load)
    return g_strdup (word + strspn (word, ", "));

  return g_strdup_printf ("%.*s%s", (int) (number - load - (number - load >= 2 ? 2 : 0)), load,
                          word);
}

/* Of a line, the number is on the axis and the rest names the panel; in a sweep the number of
 * workers is on it. */
static char *
panel_title (const BenchChart *chart,
             const char *workload,
             const char *load,
             gdouble x,
             const char *x_label)
{
  g_autofree char *name = isfinite (x) && !chart->is_sweep ? without_number (load, x, x_label)
                                                           : g_strdup (load);

  return *name == '\0' || g_str_equal (workload, name)
                 || (chart->is_sweep && is_number_of_workers (load))
             ? g_strdup (workload)
             : g_strdup_printf ("%s: %s", workload, name);
}

static gdouble
find_x (const BenchChart *chart, JsonObject *result, JsonObject *series)
{
  gboolean is_own = is_number_of_workers (bench_json_text (series, "load"));

  if (!chart->is_sweep)
    return bench_json_number (series, "x");

  return bench_json_number (is_own ? series : result, "workers");
}

/* A sweep may come to a load several times. */
static gboolean
has_point (const BenchPanel *panel, const char *name, gdouble x)
{
  for (guint i = 0; isfinite (x) && i < panel->points->len; i++)
    {
      const BenchPoint *point = &g_array_index (panel->points, BenchPoint, i);

      if (g_str_equal (point->name, name) && point->x == x)
        return TRUE;
    }

  return FALSE;
}

static gboolean
add_point (BenchChart *chart, JsonObject *result, JsonObject *series, const Shown *shown)
{
  const char *name = bench_json_text (series, "contender"),
             *kind = bench_json_text (series, "kind");
  gdouble x = find_x (chart, result, series);
  g_autofree char *title = panel_title (chart, bench_json_text (result, "workload"),
                                        bench_json_text (series, "load"), x,
                                        bench_json_text (result, "x_label"));
  BenchPoint point = { NULL,
                       NULL,
                       x,
                       bench_json_number (shown->numbers, "median") * shown->factor,
                       bench_json_number (shown->numbers, "low_quartile") * shown->factor,
                       bench_json_number (shown->numbers, "high_quartile") * shown->factor };
  const char *x_label = chart->is_sweep ? "workers" : bench_json_text (result, "x_label");
  BenchPanel *panel;

  if (!isfinite (point.value) || !isfinite (point.low) || !isfinite (point.high))
    return FALSE;
  panel = find_panel (chart, title, shown->label, isfinite (x) ? x_label : NULL);
  panel->is_time = shown->is_time;
  if (has_point (panel, name, x))
    return TRUE;
  point.name = g_strdup (name);
  point.kind = g_strdup (kind);
  g_array_append_val (panel->points, point);

  return TRUE;
}

static gboolean
add_series (BenchChart *chart, JsonObject *result, JsonObject *series)
{
  Shown shown;
  gboolean good;

  if (bench_json_text (result, "workload") == NULL || bench_json_text (series, "load") == NULL
      || bench_json_text (series, "contender") == NULL || bench_json_text (series, "kind") == NULL)
    return FALSE;
  shown = show_series (series, bench_json_text (series, "show"), bench_json_text (result, "item"));
  good = shown.numbers == NULL || add_point (chart, result, series, &shown);
  g_free (shown.label);

  return good;
}

static gboolean
add_result (BenchChart *chart, JsonObject *result)
{
  JsonArray *series = bench_json_array (result, "series");

  if (series == NULL)
    return FALSE;
  for (guint i = 0; i < json_array_get_length (series); i++)
    if (!add_series (chart, result, bench_json_object_at (series, i)))
      return FALSE;

  return TRUE;
}

/* --- the chart -------------------------------------------------------------------------------- */

/* "2 workers", or all numbers of a sweep. */
static char *
describe_workers (JsonObject *report)
{
  JsonArray *sweep = bench_json_array (report, "sweep");
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < bench_json_length (sweep); i++)
    g_string_append_printf (text, "%s%.0f", i > 0 ? ", " : "", bench_json_number_at (sweep, i));
  if (text->len == 0)
    g_string_append_printf (text, "%.0f", bench_json_number (report, "workers"));
  g_string_append (text, " workers");

  return g_string_free (text, FALSE);
}

static void
describe (BenchChart *chart, JsonObject *report, JsonArray *results)
{
  JsonObject *machine = bench_json_object (report, "machine");
  const char *description = bench_json_text (machine, "description");
  JsonObject *first = bench_json_length (results) == 1 ? bench_json_object_at (results, 0) : NULL;
  const char *name = bench_json_text (report, "benchmark");
  const char *title = bench_json_text (first, "title");
  g_autofree char *workers = describe_workers (report);

  chart->title = g_strdup_printf ("iris-bench %s%s%s", name != NULL ? name : "",
                                  title != NULL ? ": " : "", title != NULL ? title : "");
  chart->subtitle = g_strdup_printf (
      "%s; %s; median and middle half of %.0f rounds%s",
      description != NULL ? description : "unknown machine", workers,
      bench_json_number (report, "rounds"),
      bench_json_flag (machine, "had_other_work") ? "; the machine had other work" : "");
}

BenchChart *
bench_chart_new (JsonNode *root, const char *workload)
{
  JsonObject *report = bench_json_report (root);
  JsonArray *results = bench_json_array (report, "results");
  BenchChart *self = g_new0 (BenchChart, 1);
  gboolean good = report != NULL;

  self->panels = g_ptr_array_new_with_free_func (panel_free);
  self->is_sweep = bench_json_length (bench_json_array (report, "sweep")) > 1;
  for (guint i = 0; good && i < bench_json_length (results); i++)
    {
      JsonObject *result = bench_json_object_at (results, i);

      if (workload == NULL || g_strcmp0 (workload, bench_json_text (result, "workload")) == 0)
        good = add_result (self, result);
    }
  if (good)
    {
      describe (self, report, results);
      return self;
    }
  bench_chart_free (self);

  return NULL;
}

void
bench_chart_free (BenchChart *self)
{
  g_ptr_array_unref (self->panels);
  g_free (self->title);
  g_free (self->subtitle);
  g_free (self);
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
               "%s ends neither in .svg nor in .png nor in .html, and a chart is one of these",
               file);

  return FALSE;
}

gboolean
bench_chart_write (JsonNode *report, const char *file, GError **error)
{
  BenchChart *chart = bench_chart_new (report, NULL);
  g_autoptr (GBytes) picture = NULL;

  if (chart != NULL && chart->panels->len > 0)
    picture = bench_gnuplot_draw (chart, format_of (file), error);
  else
    g_set_error_literal (error, BENCH_ERROR, BENCH_ERROR_MACHINE,
                         "this is not what iris-bench --json prints; nothing was drawn");
  g_clear_pointer (&chart, bench_chart_free);

  return picture != NULL
         && g_file_set_contents (file, g_bytes_get_data (picture, NULL),
                                 (gssize) g_bytes_get_size (picture), error);
}
