/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Charts of a report as SVG files that stand alone.
 *
 * A picture that a page of another program shows knows the reader's colour scheme, but not the
 * colour behind it, so it brings a card of its own.
 */
#include "tests/bench/page/bench-drawing.h"
#include "tests/bench/page/bench-page.h"
#include "tests/bench/page/bench-svg.h"
#include "tests/bench/report/bench-json-reader.h"

#include <math.h>
#include <string.h>

#define COLUMNS 2
#define EDGE    22.0 /* around all, and between columns */
#define HEAD    34.0 /* of a panel: its title, and what its axis shows */
#define GAP     26.0 /* below a panel */

/* --- a sheet ---------------------------------------------------------------------------------- */

typedef struct
{
  GString *body;
  gdouble bottoms[COLUMNS];
  guint n_columns, n_panels;
} Sheet;

static void
sheet_write (Sheet *self, const char *class, gdouble x, gdouble y, const char *text)
{
  g_string_append_printf (self->body, "<text class=\"%s\" x=\"%.0f\" y=\"%.0f\">", class, x, y);
  bench_svg_append_text (self->body, text);
  g_string_append (self->body, "</text>\n");
}

static Sheet
sheet_new (guint n_panels, const char *title, const char *subtitle)
{
  Sheet self = { .body = g_string_new (NULL), .n_columns = MIN (n_panels, COLUMNS) };

  sheet_write (&self, "title", EDGE, EDGE + 16, title);
  sheet_write (&self, "sub", EDGE, EDGE + 36, subtitle);
  for (guint i = 0; i < COLUMNS; i++)
    self.bottoms[i] = EDGE + 62;

  return self;
}

/* From left to right; a row begins below the one before. */
static void
sheet_add (Sheet *self, const BenchPanel *panel)
{
  guint column = self->n_panels++ % self->n_columns;
  gdouble x = EDGE + column * (BENCH_SVG_WIDTH + EDGE), y;
  g_autofree char *below = g_strconcat (
      panel->value_label, bench_svg_is_logarithmic (panel) ? ", logarithmic" : "", NULL);

  if (column == 0)
    self->bottoms[0] = self->bottoms[1] = fmax (self->bottoms[0], self->bottoms[1]);
  y = self->bottoms[column];
  sheet_write (self, "head", x, y + 10, panel->title);
  sheet_write (self, "sub", x, y + 26, below);
  g_string_append_printf (self->body, "<g transform=\"translate(%.0f %.0f)\">", x, y + HEAD);
  self->bottoms[column] += HEAD + bench_svg_draw (self->body, panel) + GAP;
  g_string_append (self->body, "</g>\n");
}

static const char extra[] = ".card{fill:var(--card);stroke:var(--line)}svg text.title{font-size:"
                            "19px;font-weight:650}svg text.head{font-size:13.5px;font-weight:600}"
                            "svg text.sub{font-size:11.5px;fill:var(--dim)}\n";

/* What "var(--NAME)" stands for in a scheme; what has no such colour stays as it is. */
static gboolean
name_colour (const GMatchInfo *match, GString *out, gpointer data)
{
  const char *scheme = data;
  g_autofree char *name = g_match_info_fetch (match, 1);
  g_autofree char *key = g_strconcat (name, ":", NULL);
  const char *found = strstr (scheme, key);
  gsize begin = found != NULL ? strlen (key) : 0;

  if (found != NULL)
    g_string_append_len (out, found + begin, (gssize) strcspn (found + begin, ";}"));

  return FALSE;
}

static void
append_style (GString *out, const char *scheme)
{
  g_autoptr (GRegex) variable = g_regex_new ("var\\((--[a-z0-9]+)\\)", 0, 0, NULL);
  g_autofree char *rules = g_strconcat (bench_page_drawing, extra, NULL);
  g_autofree char *named = g_regex_replace_eval (variable, rules, -1, 0, 0, name_colour,
                                                 (gpointer) scheme, NULL);

  g_string_append (out, named);
}

/* Not all that draws SVG knows variables of CSS, so there is a set of rules for each scheme. */
static void
append_styles (GString *out)
{
  const char *dark = strstr (bench_page_colours, "@media(prefers-color-scheme:dark)");

  g_string_append (out, "<style>\n");
  append_style (out, bench_page_colours);
  g_string_append (out, "@media(prefers-color-scheme:dark){\n");
  append_style (out, dark != NULL ? dark : bench_page_colours);
  g_string_append (out, "}\n</style>\n");
}

static char *
sheet_free (Sheet *self, const char *label)
{
  gdouble width = EDGE + self->n_columns * (BENCH_SVG_WIDTH + EDGE);
  gdouble height = fmax (self->bottoms[0], self->bottoms[1]) - GAP + EDGE;
  GString *out = g_string_new (NULL);

  g_string_append_printf (out,
                          "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"%.0f\" "
                          "height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" aria-label=\"",
                          width, height, width, height);
  bench_svg_append_text (out, label);
  g_string_append (out, "\">\n");
  append_styles (out);
  g_string_append_printf (out,
                          "<rect class=\"card\" x=\"0.5\" y=\"0.5\" width=\"%.0f\" "
                          "height=\"%.0f\" rx=\"12\"/>\n%s</svg>\n",
                          width - 1, height - 1, self->body->str);
  g_string_free (self->body, TRUE);

  return g_string_free (out, FALSE);
}

/* --- a workload ------------------------------------------------------------------------------- */

/* When and on what; a machine that was busy is not kept back. */
static char *
describe (JsonObject *report)
{
  JsonObject *machine = bench_json_object (report, "machine");
  const char *description = bench_json_text (machine, "description");
  const char *comma = description != NULL ? strchr (description, ',') : NULL;
  g_autofree char *model = comma != NULL ? g_strndup (description, (gsize) (comma - description))
                                         : g_strdup ("unknown machine");
  const char *date = bench_json_text (report, "date");

  return g_strdup_printf (
      "%s, %.0f workers; medians of %.0f rounds%s%s%s", model,
      bench_json_number (report, "workers"), bench_json_number (report, "rounds"),
      date != NULL ? "; " : "", date != NULL ? date : "",
      bench_json_length (bench_json_array (machine, "warnings")) > 0 ? "; doubtful: see the report"
                                                                     : "");
}

char *
bench_drawing_new (JsonNode *root, const char *workload)
{
  BenchChart *chart = bench_chart_new (root, workload);
  JsonObject *report = bench_json_report (root);
  g_autofree char *below = NULL;
  char *drawn = NULL;

  if (chart == NULL)
    return NULL;
  below = describe (report);
  if (chart->panels->len > 0)
    {
      Sheet sheet = sheet_new (chart->panels->len, workload, below);

      for (guint i = 0; i < chart->panels->len; i++)
        sheet_add (&sheet, g_ptr_array_index (chart->panels, i));
      drawn = sheet_free (&sheet, workload);
    }
  bench_chart_free (chart);

  return drawn;
}

/* --- the summary ------------------------------------------------------------------------------ */

static const struct
{
  const char *workload;
  const char *panel; /* as a chart calls it */
  const char *title;
  const char *label; /* what the axis shows */
} loads[] = {
  { "recursive", "recursive: items", "Items that items make",
    "nanoseconds an item; less is better" },
  { "external", "external: 1 producer", "Items from one thread outside",
    "nanoseconds an item; less is better" },
  { "external", "external: 4 producers", "The same from four threads",
    "nanoseconds an item; less is better" },
  { "fan-in", "fan-in: actors", "Messages from 8 senders to one receiver",
    "nanoseconds a message; less is better" },
  { "wake", "wake: median", "Waking a thread that sleeps",
    "microseconds to the first instruction; less is better" },
  { "imbalance", "imbalance", "All work made by one worker",
    "percent of the speed that all workers could reach; more is better" },
};

/* In this order; of the names of one line, the faster one that took part. */
static const struct
{
  const char *names[3];
  const char *label;
} lines[] = {
  { { "gasyncqueue" }, "GAsyncQueue and threads" },
  { { "gthreadpool" }, "GThreadPool" },
  { { "onetbb", "onetbb-for" }, "oneTBB" },
  { { "default" }, "iris: one queue for all" },
  { { "lock-free" }, "iris: lock-free" },
  { { "work-stealing" }, "iris: work stealing" },
  { { "places" }, "iris: places" },
};

static const BenchPanel *
find_panel (const BenchChart *chart, const char *title)
{
  for (guint i = 0; i < chart->panels->len; i++)
    {
      const BenchPanel *panel = g_ptr_array_index (chart->panels, i);

      if (g_str_equal (panel->title, title))
        return panel;
    }

  return NULL;
}

static const BenchPoint *
find_point (const BenchPanel *panel, const char *const *names)
{
  const BenchPoint *best = NULL;

  for (guint i = 0; i < panel->points->len; i++)
    {
      const BenchPoint *point = &g_array_index (panel->points, BenchPoint, i);

      if (g_strv_contains (names, point->name) && (best == NULL || point->value < best->value))
        best = point;
    }

  return best;
}

static gboolean
add_load (Sheet *sheet, JsonNode *root, guint at)
{
  BenchChart *chart = bench_chart_new (root, loads[at].workload);
  const BenchPanel *panel = chart != NULL ? find_panel (chart, loads[at].panel) : NULL;
  g_autoptr (GArray) points = g_array_new (FALSE, FALSE, sizeof (BenchPoint));
  /* Lengths are to be seen, so no axis is logarithmic. */
  BenchPanel shown = { (char *) loads[at].title, (char *) loads[at].label, NULL, FALSE, points };

  for (guint i = 0; panel != NULL && i < G_N_ELEMENTS (lines); i++)
    {
      const BenchPoint *point = find_point (panel, lines[i].names);
      BenchPoint named;

      if (point == NULL)
        continue;
      named = *point;
      named.name = (char *) lines[i].label;
      g_array_append_val (points, named);
    }
  if (points->len > 0)
    sheet_add (sheet, &shown);
  if (chart != NULL)
    bench_chart_free (chart);

  return points->len > 0;
}

char *
bench_drawing_summary (JsonNode *root)
{
  JsonObject *report = bench_json_report (root);
  g_autofree char *below = NULL, *drawn = NULL;
  gboolean has_any = FALSE;
  Sheet sheet;

  if (report == NULL || bench_json_length (bench_json_array (report, "sweep")) > 1)
    return NULL;
  below = describe (report);
  sheet = sheet_new (COLUMNS, "The same work, another scheduler", below);
  for (guint i = 0; i < G_N_ELEMENTS (loads); i++)
    has_any = add_load (&sheet, root, i) || has_any;
  drawn = sheet_free (&sheet, "time per item on GAsyncQueue, on pools, and on iris's schedulers");

  return has_any ? g_steal_pointer (&drawn) : NULL;
}
