/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A report as Markdown: machine, goals, published figures beside ours, and medians.
 *
 * Made of the report's JSON, as the page is.
 */
#include "tests/bench/page/bench-markdown.h"
#include "tests/bench/page/bench-svg.h"
#include "tests/bench/report/bench-json-reader.h"

#include <math.h>

/* --- cells ------------------------------------------------------------------------------------ */

/* What means something to Markdown, or to HTML in it, means nothing here. */
static void
append_text (GString *out, const char *text)
{
  for (const char *c = text != NULL ? text : "–"; *c != '\0'; c++)
    if (*c == '<')
      g_string_append (out, "&lt;");
    else if (*c == '&')
      g_string_append (out, "&amp;");
    else if (*c == '\n')
      g_string_append_c (out, ' ');
    else
      {
        if (*c == '|' || *c == '*' || *c == '_' || *c == '`' || *c == '[' || *c == '\\')
          g_string_append_c (out, '\\');
        g_string_append_c (out, *c);
      }
}

static void
append_cell (GString *out, const char *text)
{
  g_string_append (out, " ");
  append_text (out, text);
  g_string_append (out, " |");
}

static void
append_number (GString *out, gdouble value)
{
  g_string_append_c (out, ' ');
  if (isfinite (value))
    bench_svg_append_number (out, value);
  g_string_append (out, " |");
}

/* The unit stands once. */
static void
append_range (GString *out, JsonObject *object, const char *low_name, const char *high_name)
{
  int digits = (int) fmin (fmax (bench_json_number (object, "digits"), 0), 6);
  gdouble low = bench_json_number (object, low_name), high = bench_json_number (object, high_name);
  const char *unit = bench_json_text (object, "unit");
  g_autofree char *text = NULL;

  if (isnan (low) || isnan (high))
    text = g_strdup ("–");
  else if (low == high)
    text = g_strdup_printf ("%.*f%s", digits, low, unit != NULL ? unit : "");
  else
    text = g_strdup_printf ("%.*f to %.*f%s", digits, low, digits, high, unit != NULL ? unit : "");
  append_cell (out, text);
}

static void
append_line (GString *out, const char *label, const char *text)
{
  if (text == NULL)
    return;
  g_string_append_printf (out, "* %s: ", label);
  append_text (out, text);
  g_string_append (out, "\n");
}

/* --- parts ------------------------------------------------------------------------------------ */

static void
append_goals (GString *out, JsonArray *goals)
{
  static const char *const columns[] = { "figure", "goal", "reached", "measured" };

  if (bench_json_length (goals) == 0)
    return;
  g_string_append (out, "\n## Goals\n\nyes and NO: the whole interval of 95 % lies on that side; "
                        "noise: the limit lies in it.\n\n"
                        "| figure | goal | reached | measured |\n|---|---|---|---|\n");
  for (guint i = 0; i < bench_json_length (goals); i++)
    {
      g_string_append (out, "|");
      for (guint j = 0; j < G_N_ELEMENTS (columns); j++)
        append_cell (out, bench_json_text (bench_json_object_at (goals, i), columns[j]));
      g_string_append (out, "\n");
    }
}

static void
append_published (GString *out, JsonArray *all)
{
  if (bench_json_length (all) == 0)
    return;
  g_string_append (out, "\n| figure | published | here | 95 % | best 3 |\n|---|---|---|---|---|\n");
  for (guint i = 0; i < bench_json_length (all); i++)
    {
      JsonObject *one = bench_json_object_at (all, i);
      gboolean is_missing = bench_json_text (one, "counter") != NULL
                            && isnan (bench_json_number (one, "median"));

      g_string_append (out, "|");
      append_cell (out, bench_json_text (one, "what"));
      append_range (out, one, "published_low", "published_high");
      if (is_missing)
        append_cell (out, "not counted");
      else
        append_range (out, one, "median", "median");
      append_range (out, one, "median_low", "median_high");
      append_range (out, one, "mean_of_best", "mean_of_best");
      g_string_append (out, "\n");
    }
}

static void
append_comparison (GString *out, JsonObject *series)
{
  JsonObject *compared = bench_json_object (series, "compared");
  const char *as = bench_json_text (compared, "as");
  gdouble value = bench_json_number (compared, "median");

  g_string_append_c (out, ' ');
  if (as != NULL && isfinite (value))
    {
      bench_svg_append_number (out, g_str_has_prefix (as, "extra") ? value * 1e9 : value);
      g_string_append (out, g_str_equal (as, "factor")         ? "x "
                            : g_str_has_suffix (as, "percent") ? " % "
                                                               : " ns ");
      append_text (out, bench_json_text (compared, "with"));
    }
  g_string_append (out, " |");
}

/* Times in milliseconds. */
static void
append_series (GString *out, JsonArray *all)
{
  g_string_append (out, "\n<details><summary>All series</summary>\n\n"
                        "| load | contender | unit | median | from | to (95 %) | ns an item | "
                        "against |\n|---|---|---|---|---|---|---|---|\n");
  for (guint i = 0; i < bench_json_length (all); i++)
    {
      JsonObject *series = bench_json_object_at (all, i);
      gboolean is_time = g_strcmp0 (bench_json_text (series, "unit"), "s") == 0;
      gdouble factor = is_time ? 1e3 : 1;

      g_string_append (out, "|");
      append_cell (out, bench_json_text (series, "load"));
      append_cell (out, bench_json_text (series, "contender"));
      append_cell (out, is_time ? "ms" : bench_json_text (series, "unit"));
      append_number (out, bench_json_number (series, "median") * factor);
      append_number (out, bench_json_number (series, "median_low") * factor);
      append_number (out, bench_json_number (series, "median_high") * factor);
      append_number (out, bench_json_number (series, "ns_per_item"));
      append_comparison (out, series);
      g_string_append (out, "\n");
    }
  g_string_append (out, "\n</details>\n");
}

static void
append_result (GString *out, JsonObject *result, gboolean is_sweep)
{
  JsonObject *figure = bench_json_object (result, "figure");
  const char *workload = bench_json_text (result, "workload");

  g_string_append (out, "\n## ");
  if (figure != NULL)
    {
      append_text (out, bench_json_text (figure, "row"));
      g_string_append (out, ": ");
      append_text (out, bench_json_text (figure, "title"));
      g_string_append (out, " (");
    }
  append_text (out, workload);
  g_string_append (out, figure != NULL ? ")" : "");
  if (is_sweep)
    g_string_append_printf (out, ", %.0f workers", bench_json_number (result, "workers"));
  g_string_append (out, "\n\n");
  append_line (out, "Run", bench_json_text (result, "title"));
  append_line (out, "Source", bench_json_text (figure, "source"));
  append_line (out, "There", bench_json_text (figure, "machine"));
  append_line (out, "Here", bench_json_text (figure, "differs"));
  append_published (out, bench_json_array (figure, "published"));
  if (workload != NULL)
    g_string_append_printf (out, "\n![%s](charts/%s.svg)\n", workload, workload);
  append_series (out, bench_json_array (result, "series"));
}

static void
append_list (GString *out, const char *label, JsonArray *texts)
{
  for (guint i = 0; i < bench_json_length (texts); i++)
    append_line (out, label, bench_json_text_at (texts, i));
}

static void
append_head (GString *out, JsonObject *report)
{
  JsonObject *machine = bench_json_object (report, "machine");
  const char *name = bench_json_text (report, "benchmark");
  const char *no_counters = bench_json_text (report, "no_counters");
  g_autofree char *how = g_strdup_printf (
      "%.0f workers, %.0f rounds in turn after one that warms up, iris-bench %s",
      bench_json_number (report, "workers"), bench_json_number (report, "rounds"),
      bench_json_text (report, "version") != NULL ? bench_json_text (report, "version") : "");

  g_string_append (out, "<!-- SPDX-License-"
                        "Identifier: LGPL-2.1-or-later -->\n# iris-bench ");
  append_text (out, name);
  g_string_append (out, "\n\n");
  append_line (out, "Machine", bench_json_text (machine, "description"));
  append_line (out, "Run", how);
  append_line (out, "Date", bench_json_text (report, "date"));
  append_line (out, "No hardware counters", no_counters);
  if (bench_json_flag (report, "quick"))
    append_line (out, "Quick sizes", "they show that results are right, and nothing of speed");
  append_list (out, "Doubtful", bench_json_array (machine, "warnings"));
  append_list (out, "Not measured", bench_json_array (report, "failures"));
}

char *
bench_markdown_new (JsonNode *root)
{
  JsonObject *report = bench_json_report (root);
  JsonArray *results = bench_json_array (report, "results");
  gboolean is_sweep = bench_json_length (bench_json_array (report, "sweep")) > 1;
  GString *out;

  if (report == NULL)
    return NULL;
  out = g_string_new (NULL);
  append_head (out, report);
  append_goals (out, bench_json_array (report, "goals"));
  for (guint i = 0; i < bench_json_length (results); i++)
    append_result (out, bench_json_object_at (results, i), is_sweep);

  return g_string_free (out, FALSE);
}
