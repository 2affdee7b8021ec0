/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A report as one page of HTML that needs no other file.
 *
 * The page is made of the report's JSON, so that a saved one can be drawn again. All of its text
 * is escaped: names in a file are of unknown origin.
 */
#include "tests/bench/page/bench-page.h"
#include "tests/bench/measure/bench-measure.h"
#include "tests/bench/report/bench-json-reader.h"
#include "tests/bench/page/bench-svg.h"

#include <math.h>
#include <string.h>

static const char *
or_dash (const char *text)
{
  return text != NULL ? text : "–";
}

static void
append_element (GString *out, const char *open, const char *text, const char *close)
{
  g_string_append (out, open);
  bench_svg_append_text (out, or_dash (text));
  g_string_append (out, close);
}

/* --- published and ours ----------------------------------------------------------------------- */

/* The unit stands once. */
static char *
write_range (JsonObject *published, const char *low_name, const char *high_name)
{
  int digits = (int) fmin (fmax (bench_json_number (published, "digits"), 0), 6);
  gdouble low = bench_json_number (published, low_name);
  gdouble high = bench_json_number (published, high_name);
  g_autofree char *from = g_strdup_printf ("%.*f", digits, low);
  g_autofree char *to = g_strdup_printf ("%.*f", digits, high);
  const char *unit = bench_json_text (published, "unit");
  gboolean is_ours = g_str_equal (low_name, "median");

  if (isnan (low) || isnan (high))
    return g_strdup (is_ours && bench_json_text (published, "counter") != NULL ? "not counted"
                                                                               : "–");
  if (g_strcmp0 (unit, "x") == 0)
    unit = "×";
  if (g_str_equal (from, to))
    return g_strconcat (to, unit, NULL);

  return g_strconcat (from, low < 0 ? " to " : "–", to, unit, NULL);
}

static void
append_number_of (GString *out, const char *label, const char *class, char *text)
{
  g_string_append_printf (out, "<span class=\"%s\"><small>%s</small>", class, label);
  bench_svg_append_text (out, text);
  g_string_append (out, "</span>");
  g_free (text);
}

/* All numbers of one unit share an axis; factors and times on a logarithmic one, where half is as
 * far as double. */
static BenchScale
choose_scale (JsonArray *published, const char *unit)
{
  static const char *const names[] = { "published_low", "published_high", "median_low",
                                       "median_high" };
  gboolean is_factor = g_strcmp0 (unit, "x") == 0, is_time = g_strcmp0 (unit, " s") == 0;
  BenchScale scale = { INFINITY, -INFINITY, is_factor || is_time, is_factor ? 1 : NAN };

  if (g_strcmp0 (unit, " %") == 0)
    scale.same = 0;
  for (guint i = 0; i < bench_json_length (published); i++)
    for (guint j = 0; j < G_N_ELEMENTS (names); j++)
      {
        JsonObject *object = bench_json_object_at (published, i);
        gdouble value = bench_json_number (object, names[j]);

        if (g_strcmp0 (bench_json_text (object, "unit"), unit) != 0)
          continue;
        scale.from = fmin (scale.from, value);
        scale.to = fmax (scale.to, value);
        scale.is_log = scale.is_log && !(value <= 0);
      }
  scale.from = fmin (scale.from, scale.same);
  scale.to = fmax (scale.to, scale.same);
  if (scale.is_log)
    return (BenchScale){ scale.from / 1.15, scale.to * 1.15, TRUE, scale.same };

  gdouble air = fmax ((scale.to - scale.from) * 0.06, 1e-9);

  return (BenchScale){ scale.from - air, scale.to + air, FALSE, scale.same };
}

static void
append_published (GString *out, JsonArray *all, JsonObject *published)
{
  BenchScale scale = choose_scale (all, bench_json_text (published, "unit"));
  const gdouble theirs[] = { bench_json_number (published, "published_low"),
                             bench_json_number (published, "published_high") };
  const gdouble ours[] = { bench_json_number (published, "median_low"),
                           bench_json_number (published, "median"),
                           bench_json_number (published, "median_high") };

  append_element (out, "<div class=\"pub\"><div>", bench_json_text (published, "what"),
                  "</div><div class=\"nums\">");
  append_number_of (out, "published", "",
                    write_range (published, "published_low", "published_high"));
  append_number_of (out, "here", "here", write_range (published, "median", "median"));
  append_number_of (out, "95 %", "", write_range (published, "median_low", "median_high"));
  append_number_of (out, "best 3", "", write_range (published, "mean_of_best", "mean_of_best"));
  g_string_append (out, "</div>");
  if (isfinite (scale.from) && isfinite (scale.to))
    bench_svg_strip (out, &scale, theirs, ours);
  g_string_append (out, "</div>");
}

static void
append_all_published (GString *out, JsonObject *result, gboolean is_sweep)
{
  JsonArray *all = bench_json_array (bench_json_object (result, "figure"), "published");

  if (bench_json_length (all) == 0)
    return;
  if (is_sweep)
    g_string_append_printf (out, "<h3>Workers: %.0f</h3>", bench_json_number (result, "workers"));
  g_string_append (out, "<div class=\"pubs\">");
  for (guint i = 0; i < bench_json_length (all); i++)
    append_published (out, all, bench_json_object_at (all, i));
  g_string_append (out, "</div>");
}

/* --- tables ----------------------------------------------------------------------------------- */

static void
append_cell (GString *out, gdouble value)
{
  g_string_append (out, "<td>");
  if (isfinite (value))
    bench_svg_append_number (out, value);
  g_string_append (out, "</td>");
}

static gboolean
has_counter (JsonArray *series, const char *name)
{
  for (guint i = 0; i < bench_json_length (series); i++)
    if (bench_json_array (bench_json_object (bench_json_object_at (series, i), "counters"), name)
        != NULL)
      return TRUE;

  return FALSE;
}

static gdouble
median_of (JsonArray *array)
{
  g_autoptr (GArray) numbers = g_array_new (FALSE, FALSE, sizeof (gdouble));

  for (guint i = 0; i < bench_json_length (array); i++)
    {
      gdouble value = bench_json_number_at (array, i);

      g_array_append_val (numbers, value);
    }

  return bench_quantile (numbers, 0.5);
}

static void
append_comparison (GString *out, JsonObject *series)
{
  JsonObject *compared = bench_json_object (series, "compared");
  const char *as = bench_json_text (compared, "as");
  gdouble value = bench_json_number (compared, "median");

  g_string_append (out, "<td>");
  if (as != NULL && isfinite (value))
    {
      bench_svg_append_number (out, g_str_has_prefix (as, "extra") ? value * 1e9 : value);
      g_string_append (out, g_str_equal (as, "factor")         ? "x "
                            : g_str_has_suffix (as, "percent") ? " % "
                                                               : " ns ");
      bench_svg_append_text (out, or_dash (bench_json_text (compared, "with")));
    }
  g_string_append (out, "</td>");
}

static void
append_row (GString *out, JsonArray *all, JsonObject *series)
{
  static const char *const numbers[] = { "median",       "median_low", "median_high",
                                         "mean_of_best", "min",        "max" };
  gboolean is_time = g_strcmp0 (bench_json_text (series, "unit"), "s") == 0;

  append_element (out, "<tr><td>", bench_json_text (series, "load"), "</td><td>");
  append_element (out, "", bench_json_text (series, "contender"), "</td>");
  append_element (out, "<td>", is_time ? "ms" : bench_json_text (series, "unit"), "</td>");
  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    append_cell (out, bench_json_number (series, numbers[i]) * (is_time ? 1e3 : 1));
  append_cell (out, bench_json_number (series, "ns_per_item"));
  append_comparison (out, series);
  for (guint c = BENCH_CYCLES; c < BENCH_N_COUNTERS; c++)
    if (has_counter (all, bench_counter_name (c)))
      append_cell (out, median_of (bench_json_array (bench_json_object (series, "counters"),
                                                     bench_counter_name (c))));
  g_string_append (out, "</tr>\n");
}

static void
append_table (GString *out, JsonObject *result)
{
  JsonArray *series = bench_json_array (result, "series");

  g_string_append_printf (out,
                          "<details><summary>All %u series (workers: %.0f, rounds: "
                          "%.0f, %.0f s)</summary><p class=\"dim\">",
                          bench_json_length (series), bench_json_number (result, "workers"),
                          bench_json_number (result, "rounds"),
                          fmax (bench_json_number (result, "seconds"), 0));
  bench_svg_append_text (out, or_dash (bench_json_text (result, "title")));
  g_string_append (out, "</p><div class=\"scroll\"><table><tr><th>load</th><th>contender</th>"
                        "<th>unit</th><th>median</th><th>from</th><th>to (95 %)</th>"
                        "<th>best 3</th><th>least</th><th>most</th><th>ns/");
  bench_svg_append_text (out, or_dash (bench_json_text (result, "item")));
  g_string_append (out, "</th><th>against</th>");
  for (guint c = BENCH_CYCLES; c < BENCH_N_COUNTERS; c++)
    if (has_counter (series, bench_counter_name (c)))
      append_element (out, "<th>", bench_counter_label (c), "</th>");
  g_string_append (out, "</tr>\n");
  for (guint i = 0; i < bench_json_length (series); i++)
    append_row (out, series, bench_json_object_at (series, i));
  g_string_append (out, "</table></div></details>");
}

/* --- workloads -------------------------------------------------------------------------------- */

static gboolean
append_charts (GString *out, JsonNode *root, const char *workload)
{
  BenchChart *chart = bench_chart_new (root, workload);

  if (chart == NULL)
    return FALSE;
  g_string_append (out, "<div class=\"charts\">");
  for (guint i = 0; i < chart->panels->len; i++)
    {
      const BenchPanel *panel = g_ptr_array_index (chart->panels, i);

      append_element (out, "<figure><figcaption><h4>", panel->title, "</h4>");
      append_element (out, "<span>", panel->value_label,
                      bench_svg_is_logarithmic (panel) ? ", logarithmic</span></figcaption>"
                                                       : "</span></figcaption>");
      bench_svg_panel (out, panel);
      g_string_append (out, "</figure>");
    }
  g_string_append (out, "</div>");
  bench_chart_free (chart);

  return TRUE;
}

/* The results of one workload lie together: one for each number of workers. */
static gboolean
append_workload (GString *out, JsonNode *root, JsonArray *results, guint first)
{
  JsonObject *result = bench_json_object_at (results, first);
  JsonObject *figure = bench_json_object (result, "figure");
  const char *workload = bench_json_text (result, "workload");
  gboolean is_sweep = bench_json_length (bench_json_array (bench_json_report (root), "sweep")) > 1;

  append_element (out, "<article id=\"", workload, "\">");
  if (figure != NULL)
    {
      append_element (out, "<span class=\"row\">", bench_json_text (figure, "row"), "</span>");
      append_element (out, "<h2>", bench_json_text (figure, "title"), "</h2>");
      append_element (out, "<p class=\"src\">", bench_json_text (figure, "source"), "<br>");
      append_element (out, "There: ", bench_json_text (figure, "machine"), "<br>");
      append_element (out, "Here: ", bench_json_text (figure, "differs"), "</p>");
    }
  else
    {
      append_element (out, "<h2>", workload, "</h2>");
      append_element (out, "<p class=\"src\">", bench_json_text (result, "title"), "</p>");
    }
  for (guint i = first; i < bench_json_length (results); i++)
    if (g_strcmp0 (bench_json_text (bench_json_object_at (results, i), "workload"), workload) == 0)
      append_all_published (out, bench_json_object_at (results, i), is_sweep);
  if (!append_charts (out, root, workload))
    return FALSE;
  for (guint i = first; i < bench_json_length (results); i++)
    if (g_strcmp0 (bench_json_text (bench_json_object_at (results, i), "workload"), workload) == 0)
      append_table (out, bench_json_object_at (results, i));
  g_string_append (out, "</article>\n");

  return TRUE;
}

static gboolean
is_first_of_workload (JsonArray *results, guint index)
{
  const char *workload = bench_json_text (bench_json_object_at (results, index), "workload");

  for (guint i = 0; i < index; i++)
    if (g_strcmp0 (bench_json_text (bench_json_object_at (results, i), "workload"), workload) == 0)
      return FALSE;

  return TRUE;
}

/* --- the head --------------------------------------------------------------------------------- */

/* What says most of a figure: a comparison, with a published number beside it. */
static guint
telling (JsonObject *published)
{
  if (!isfinite (bench_json_number (published, "median")))
    return 0;

  return 1 + 2 * isfinite (bench_json_number (published, "published_low"))
         + (g_strcmp0 (bench_json_text (published, "unit"), " s") != 0);
}

static void
append_tile (GString *out, JsonObject *result)
{
  JsonObject *figure = bench_json_object (result, "figure");
  JsonArray *all = bench_json_array (figure, "published");
  JsonObject *shown = NULL;

  if (figure == NULL)
    return;
  for (guint i = 0; i < bench_json_length (all); i++)
    if (telling (bench_json_object_at (all, i)) > telling (shown))
      shown = bench_json_object_at (all, i);
  append_element (out, "<a class=\"tile\" href=\"#", bench_json_text (result, "workload"), "\">");
  append_element (out, "<span class=\"row\">", bench_json_text (figure, "row"), "</span>");
  append_element (out, "<b>", bench_json_text (figure, "title"), "</b>");
  if (shown != NULL)
    {
      g_autofree char *ours = write_range (shown, "median", "median");
      g_autofree char *theirs = write_range (shown, "published_low", "published_high");

      append_element (out, "<span class=\"big\">", ours, "</span>");
      append_element (out, "<small>published ", theirs, "<br>");
      append_element (out, "", bench_json_text (shown, "what"), "</small>");
    }
  g_string_append (out, "</a>");
}

static void
append_tiles (GString *out, JsonArray *results)
{
  g_string_append (out, "<div class=\"tiles\">");
  for (guint i = 0; i < bench_json_length (results); i++)
    if (is_first_of_workload (results, i))
      append_tile (out, bench_json_object_at (results, i));
  g_string_append (out, "</div>\n");
}

static void
append_list (GString *out, const char *head, JsonArray *texts)
{
  if (bench_json_length (texts) == 0)
    return;
  g_string_append_printf (out, "<div class=\"warn\"><b>%s</b><ul>", head);
  for (guint i = 0; i < bench_json_length (texts); i++)
    append_element (out, "<li>", bench_json_text_at (texts, i), "</li>");
  g_string_append (out, "</ul></div>");
}

static void
append_fact (GString *out, const char *label, const char *format, ...) G_GNUC_PRINTF (3, 4);

static void
append_fact (GString *out, const char *label, const char *format, ...)
{
  va_list args;
  g_autofree char *text = NULL;

  va_start (args, format);
  text = g_strdup_vprintf (format, args);
  va_end (args);
  g_string_append_printf (out, "<div><b>%s</b>", label);
  bench_svg_append_text (out, text);
  g_string_append (out, "</div>");
}

static char *
describe_workers (JsonObject *report)
{
  JsonArray *sweep = bench_json_array (report, "sweep");
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < bench_json_length (sweep); i++)
    g_string_append_printf (text, "%s%.0f", i > 0 ? ", " : "", bench_json_number_at (sweep, i));
  if (text->len == 0)
    g_string_append_printf (text, "%.0f", bench_json_number (report, "workers"));

  return g_string_free (text, FALSE);
}

static void
append_facts (GString *out, JsonObject *report)
{
  JsonObject *machine = bench_json_object (report, "machine");
  JsonArray *load = bench_json_array (machine, "load_at_start");
  const char *counting = bench_json_text (report, "counters");
  const char *no_counters = bench_json_text (report, "no_counters");
  g_autofree char *workers = describe_workers (report);

  g_string_append (out, "<div class=\"facts\">");
  append_fact (out, "Machine", "%s", or_dash (bench_json_text (machine, "description")));
  if (isfinite (bench_json_number (machine, "cores")))
    append_fact (out, "Processors", "%.0f on %.0f cores", bench_json_number (machine, "processors"),
                 bench_json_number (machine, "cores"));
  append_fact (out, "Workers", "%s", workers);
  append_fact (out, "Rounds", "%.0f, in turn, after one that warms up",
               bench_json_number (report, "rounds"));
  append_fact (out, "Load at the start", "%.2f", bench_json_number_at (load, 0));
  if (isfinite (bench_json_number (machine, "others_percent")))
    append_fact (out, "Meanwhile", "other processes took %.0f %%; %.1f %% was stolen",
                 bench_json_number (machine, "others_percent"),
                 bench_json_number (machine, "stolen_percent"));
  if (counting != NULL && !g_str_equal (counting, "none"))
    append_fact (out, "Hardware counters", "%s",
                 no_counters != NULL ? no_counters : "in the tables");
  append_fact (out, "Program", "iris-bench %s", or_dash (bench_json_text (report, "version")));
  append_fact (out, "Date", "%s", or_dash (bench_json_text (report, "date")));
  g_string_append (out, "</div>");
}

static void
append_head (GString *out, JsonObject *report, gboolean is_paper)
{
  const char *name = bench_json_text (report, "benchmark");

  g_string_append (out, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
                        "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">"
                        "<title>");
  append_element (out, "iris-bench ", name, "</title>\n<style>\n");
  g_string_append_printf (out, "%s%s%s</style></head>\n<body><main>\n", bench_page_colours,
                          bench_page_drawing, bench_page_style);
  if (is_paper)
    g_string_append (out, "<h1>The papers, redone</h1><p>Work stealing, places, return barriers "
                          "and hot locks: the figures that were published, and what iris "
                          "measures on this machine.</p>");
  else
    append_element (out, "<h1>iris-bench ", name, "</h1>");
  append_facts (out, report);
  if (bench_json_flag (report, "quick"))
    g_string_append (out, "<div class=\"warn\"><b>Quick sizes</b><p>They show that results are "
                          "right, and nothing of speed.</p></div>");
  append_list (out, "These figures are doubtful",
               bench_json_array (bench_json_object (report, "machine"), "warnings"));
  append_list (out, "Not measured", bench_json_array (report, "failures"));
}

static void
append_goal (GString *out, JsonObject *goal)
{
  static const char *const columns[] = { "figure", "goal", "reached", "measured" };

  g_string_append (out, "<tr>");
  for (guint i = 0; i < G_N_ELEMENTS (columns); i++)
    append_element (out, "<td>", bench_json_text (goal, columns[i]), "</td>");
  g_string_append (out, "</tr>\n");
}

static gboolean
is_verdict (JsonObject *goal, const char *verdict)
{
  return g_strcmp0 (bench_json_text (goal, "reached"), verdict) == 0;
}

/* What was missed is never folded away. */
static void
append_goals (GString *out, JsonArray *goals)
{
  static const char *const verdicts[][2] = { { "yes", "reached" },
                                             { "noise", "within noise" },
                                             { "NO", "missed" },
                                             { "unknown", "not measured" },
                                             { "shown", "shown" } };
  static const char head[] = "<div class=\"scroll\"><table class=\"goals\"><tr><th>figure</th>"
                             "<th>goal</th><th>reached</th><th>measured</th></tr>\n";
  guint n = bench_json_length (goals), counts[G_N_ELEMENTS (verdicts)] = { 0 };

  if (n == 0)
    return;
  for (guint i = 0; i < n; i++)
    for (guint j = 0; j < G_N_ELEMENTS (verdicts); j++)
      counts[j] += is_verdict (bench_json_object_at (goals, i), verdicts[j][0]);
  g_string_append (out, "<article><h2>Goals</h2><p class=\"verdicts\">");
  for (guint j = 0; j < G_N_ELEMENTS (verdicts); j++)
    if (counts[j] > 0)
      g_string_append_printf (out, "<span class=\"v-%s\"><b>%u</b> %s</span>", verdicts[j][0],
                              counts[j], verdicts[j][1]);
  g_string_append (out, "</p>");
  if (counts[2] > 0)
    g_string_append (out, head);
  for (guint i = 0; i < n; i++)
    if (is_verdict (bench_json_object_at (goals, i), "NO"))
      append_goal (out, bench_json_object_at (goals, i));
  g_string_append_printf (out, "%s<details><summary>All %u goals</summary>%s",
                          counts[2] > 0 ? "</table></div>" : "", n, head);
  for (guint i = 0; i < n; i++)
    append_goal (out, bench_json_object_at (goals, i));
  g_string_append (out, "</table></div></details></article>\n");
}

char *
bench_page_new (JsonNode *root)
{
  JsonObject *report = bench_json_report (root);
  JsonArray *results = bench_json_array (report, "results");
  gboolean is_paper = g_strcmp0 (bench_json_text (report, "benchmark"), "paper") == 0;
  g_autoptr (GString) out = g_string_new (NULL);
  guint n = bench_json_length (results);

  if (report == NULL)
    return NULL;
  append_head (out, report, is_paper);
  append_tiles (out, results);
  append_goals (out, bench_json_array (report, "goals"));
  g_string_append_printf (
      out,
      "<p class=\"key dim\"><span class=\"k\"><i style=\"color:var(--iris)\"></i>"
      "iris</span> &nbsp; <i style=\"color:var(--peer)\"></i>peers &nbsp; "
      "<i style=\"color:var(--plain)\"></i>plain C &nbsp; "
      "%s</p>\n",
      is_paper ? "<i class=\"t\"></i>published &nbsp; ┊ no difference" : "");
  for (guint i = 0; i < n; i++)
    if (is_first_of_workload (results, i) && !append_workload (out, root, results, i))
      return NULL;
  g_string_append_printf (out, "<article><h2>Method</h2>%s</article>\n</main></body></html>\n",
                          bench_page_method);

  return g_strdup (out->str);
}

/* --- the file --------------------------------------------------------------------------------- */

gboolean
bench_page_save (JsonNode *report, const char *file, GError **error)
{
  g_autofree char *page = bench_page_new (report);

  if (page != NULL)
    return g_file_set_contents (file, page, -1, error);
  g_set_error_literal (error, BENCH_ERROR, BENCH_ERROR_MACHINE,
                       "this is not what iris-bench --json prints; no page was written");

  return FALSE;
}
