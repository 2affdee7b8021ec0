/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Panels of a chart as SVG inside of a page.
 *
 * A drawing is 400 units wide, which is its width on a small screen, so its text stays readable
 * there; the page lets it grow by half at most. Colours, light or dark, are classes of the style.
 */
#include "tests/bench/page/bench-svg.h"

#include <math.h>
#include <string.h>

#define WIDTH BENCH_SVG_WIDTH

/* Bars. */
#define ROW 27.0 /* a name and its bar */
#define BAR 7.0

/* Lines. */
#define HEIGHT 240.0
#define LEFT   46.0
#define RIGHT  390.0
#define TOP    10.0
#define BOTTOM 196.0

/* Of a legend: a line, and how many characters fit beside another name. */
#define LINE      16.0
#define LONG_NAME 28

#define TICKS       5
#define MANY_POWERS 200 /* from the least to the most: only powers of ten are ticks */
#define LOG_FROM \
  30 /* an axis of times from the least to the most by more than this is logarithmic */

/* --- numbers and text ------------------------------------------------------------------------- */

/* Digits in groups of three, with narrow spaces that do not break. */
static void
append_grouped (GString *out, const char *digits)
{
  guint n = (guint) strspn (digits, "-0123456789");

  for (guint i = 0; digits[i] != '\0'; i++)
    {
      if (i > 0 && i < n && (n - i) % 3 == 0 && digits[i - 1] != '-')
        g_string_append (out, "\u202f");
      g_string_append_c (out, digits[i]);
    }
}

void
bench_svg_append_number (GString *out, gdouble value)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];

  if (fabs (value) < 999.5)
    g_string_append (out, g_ascii_formatd (text, sizeof text, "%.3g", value));
  else
    append_grouped (out, g_ascii_formatd (text, sizeof text, "%.0f", value));
}

void
bench_svg_append_text (GString *out, const char *text)
{
  g_autofree char *escaped = g_markup_escape_text (text, -1);

  g_string_append (out, escaped);
}

/* NAME="VALUE" */
static void
append (GString *out, const char *name, gdouble value)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];

  g_string_append_printf (out, " %s=\"%s\"", name,
                          g_ascii_formatd (text, sizeof text, "%.2f", value));
}

static void
append_line (GString *out, const char *class, gdouble x1, gdouble y1, gdouble x2, gdouble y2)
{
  g_string_append_printf (out, "<line class=\"%s\"", class);
  append (out, "x1", x1);
  append (out, "y1", y1);
  append (out, "x2", x2);
  append (out, "y2", y2);
  g_string_append (out, "/>");
}

static void
append_rect (GString *out, const char *class, gdouble x, gdouble y, gdouble width, gdouble height)
{
  g_string_append_printf (out, "<rect class=\"%s\" rx=\"2\"", class);
  append (out, "x", x);
  append (out, "y", y);
  append (out, "width", fmax (width, 0));
  append (out, "height", height);
  g_string_append (out, "/>");
}

static void
append_words (GString *out, const char *class, gdouble x, gdouble y, const char *text)
{
  g_string_append_printf (out, "<text class=\"%s\"", class);
  append (out, "x", x);
  append (out, "y", y);
  g_string_append_c (out, '>');
  bench_svg_append_text (out, text);
  g_string_append (out, "</text>");
}

static void
append_value (GString *out, const char *class, gdouble x, gdouble y, gdouble value)
{
  g_autoptr (GString) text = g_string_new (NULL);

  bench_svg_append_number (text, value);
  append_words (out, class, x, y, text->str);
}

/* What a pointer over it shows. */
static void
append_title (GString *out, const BenchPoint *point)
{
  g_string_append (out, "<title>");
  bench_svg_append_text (out, point->name);
  g_string_append (out, ": ");
  bench_svg_append_number (out, point->value);
  g_string_append (out, " (");
  bench_svg_append_number (out, point->low);
  g_string_append (out, " to ");
  bench_svg_append_number (out, point->high);
  g_string_append (out, ")</title>");
}

/* --- the axis of values ----------------------------------------------------------------------- */

static BenchScale
choose_scale (const BenchPanel *panel)
{
  BenchScale scale = { INFINITY, -INFINITY, FALSE, NAN };

  for (guint i = 0; i < panel->points->len; i++)
    {
      const BenchPoint *point = &g_array_index (panel->points, BenchPoint, i);

      scale.from = fmin (scale.from, fmin (point->low, point->value));
      scale.to = fmax (scale.to, fmax (point->high, point->value));
    }
  if (panel->is_time && scale.from > 0 && scale.to / scale.from > LOG_FROM)
    return (BenchScale){ scale.from / 1.3, scale.to * 1.3, TRUE, NAN };
  scale.from = fmin (scale.from, 0);
  scale.to = fmax (scale.to, 0);
  if (scale.to - scale.from <= 0)
    scale.to = scale.from + 1;

  return scale;
}

/* From 0 to 1; what lies outside is at an end. */
static gdouble
place (const BenchScale *scale, gdouble value)
{
  gdouble share = scale->is_log ? log (value / scale->from) / log (scale->to / scale->from)
                                : (value - scale->from) / (scale->to - scale->from);

  return isnan (share) ? 0 : fmin (fmax (share, 0), 1);
}

/* 1, 2 or 5 times a power of ten, of which about TICKS fit. */
static gdouble
choose_step (gdouble range)
{
  gdouble power = pow (10, floor (log10 (range / TICKS))), times = range / TICKS / power;

  return power * (times > 5 ? 10 : times > 2 ? 5 : times > 1 ? 2 : 1);
}

/* Powers of ten, and between few of them also 2 and 5 times these. */
static void
add_powers (GArray *ticks, const BenchScale *scale)
{
  static const gdouble times[] = { 1, 2, 5 };
  guint n = scale->to / scale->from > MANY_POWERS ? 1 : G_N_ELEMENTS (times);
  gint first = (gint) floor (log10 (scale->from)), last = (gint) floor (log10 (scale->to));

  for (gint power = first; power <= last; power++)
    for (guint i = 0; i < n; i++)
      {
        gdouble tick = pow (10, power) * times[i];

        if (tick >= scale->from && tick <= scale->to)
          g_array_append_val (ticks, tick);
      }
}

static GArray *
choose_ticks (const BenchScale *scale)
{
  GArray *ticks = g_array_new (FALSE, FALSE, sizeof (gdouble));
  gdouble step = choose_step (scale->to - scale->from);

  if (scale->is_log)
    add_powers (ticks, scale);
  else
    for (gint i = 0; i <= 2 * TICKS; i++)
      {
        gdouble tick = (ceil (scale->from / step) + i) * step;

        if (tick <= scale->to)
          g_array_append_val (ticks, tick);
      }

  return ticks;
}

static void
open_drawing (GString *out, gdouble height, const char *label)
{
  g_string_append_printf (out, "<svg role=\"img\" viewBox=\"0 0 400 %u\" aria-label=\"",
                          (guint) height);
  bench_svg_append_text (out, label);
  g_string_append (out, "\">");
}

/* --- bars ------------------------------------------------------------------------------------- */

static void
append_dot (GString *out, const char *class, gdouble x, gdouble y)
{
  g_string_append_printf (out, "<circle class=\"%s\" r=\"4.5\"", class);
  append (out, "cx", x);
  append (out, "cy", y);
  g_string_append (out, "/>");
}

static void
append_bar (GString *out, const BenchPoint *point, const BenchScale *scale, gdouble y)
{
  gdouble zero = scale->is_log ? 0 : place (scale, 0) * WIDTH;
  gdouble x = place (scale, point->value) * WIDTH, middle = y + 15 + BAR / 2;
  g_autofree char *class = g_strconcat ("k-", point->kind, NULL);

  append_words (out, "l", 0, y + 11, point->name);
  append_value (out, "v", WIDTH, y + 11, point->value);
  append_rect (out, "track", 0, y + 15, WIDTH, BAR);
  g_string_append (out, "<g>");
  append_title (out, point);
  /* A length says nothing on a logarithmic axis. */
  if (scale->is_log)
    append_dot (out, class, x, middle);
  else
    append_rect (out, class, fmin (zero, x), y + 15, fabs (x - zero), BAR);
  append_line (out, "i", place (scale, point->low) * WIDTH, middle,
               place (scale, point->high) * WIDTH, middle);
  g_string_append (out, "</g>");
}

static gdouble
draw_bars (GString *out, const BenchPanel *panel)
{
  BenchScale scale = choose_scale (panel);
  gdouble bottom = panel->points->len * ROW;
  g_autoptr (GArray) ticks = choose_ticks (&scale);

  for (guint i = 0; i < ticks->len; i++)
    {
      gdouble tick = g_array_index (ticks, gdouble, i), x = place (&scale, tick) * WIDTH;

      append_line (out, "g", x, 0, x, bottom);
      append_value (out, x < 12 ? "a start" : x > WIDTH - 12 ? "a end" : "a", x, bottom + 12, tick);
    }
  for (guint i = 0; i < panel->points->len; i++)
    append_bar (out, &g_array_index (panel->points, BenchPoint, i), &scale, i * ROW);

  return bottom + 16;
}

/* --- lines ------------------------------------------------------------------------------------ */

static int
compare_numbers (gconstpointer a, gconstpointer b)
{
  gdouble x = *(const gdouble *) a, y = *(const gdouble *) b;

  return x < y ? -1 : x > y;
}

/* The places on the axis, at equal distances, so that 0 can be one of them. */
static GArray *
find_places (const BenchPanel *panel)
{
  g_autoptr (GArray) all = g_array_new (FALSE, FALSE, sizeof (gdouble));
  GArray *places = g_array_new (FALSE, FALSE, sizeof (gdouble));

  for (guint i = 0; i < panel->points->len; i++)
    g_array_append_val (all, g_array_index (panel->points, BenchPoint, i).x);
  g_array_sort (all, compare_numbers);
  for (guint i = 0; i < all->len; i++)
    if (i == 0 || g_array_index (all, gdouble, i) > g_array_index (all, gdouble, i - 1))
      g_array_append_vals (places, &g_array_index (all, gdouble, i), 1);

  return places;
}

static gdouble
x_of (const GArray *places, gdouble x)
{
  guint i = 0;

  while (i + 1 < places->len && g_array_index (places, gdouble, i) < x)
    i++;

  return LEFT + (RIGHT - LEFT) * (places->len < 2 ? 0.5 : 0.04 + 0.92 * i / (places->len - 1));
}

static gdouble
y_of (const BenchScale *scale, gdouble value)
{
  return BOTTOM - place (scale, value) * (BOTTOM - TOP);
}

static void
append_point (GString *out,
              const BenchPoint *point,
              const GArray *places,
              const BenchScale *scale,
              const char *class)
{
  gdouble x = x_of (places, point->x);

  g_string_append_printf (out, "<g class=\"%s\">", class);
  append_title (out, point);
  append_line (out, "w", x, y_of (scale, point->low), x, y_of (scale, point->high));
  g_string_append (out, "<circle r=\"2.6\"");
  append (out, "cx", x);
  append (out, "cy", y_of (scale, point->value));
  g_string_append (out, "/></g>");
}

static void
append_one_line (GString *out,
                 const BenchPanel *panel,
                 const char *name,
                 const GArray *places,
                 const BenchScale *scale,
                 const char *class)
{
  g_string_append_printf (out, "<polyline class=\"%s\" points=\"", class);
  for (guint i = 0; i < panel->points->len; i++)
    {
      const BenchPoint *point = &g_array_index (panel->points, BenchPoint, i);
      char x[G_ASCII_DTOSTR_BUF_SIZE], y[G_ASCII_DTOSTR_BUF_SIZE];

      if (g_str_equal (point->name, name))
        g_string_append_printf (out, "%s,%s ",
                                g_ascii_formatd (x, sizeof x, "%.2f", x_of (places, point->x)),
                                g_ascii_formatd (y, sizeof y, "%.2f", y_of (scale, point->value)));
    }
  g_string_append (out, "\"/>");
  for (guint i = 0; i < panel->points->len; i++)
    {
      const BenchPoint *point = &g_array_index (panel->points, BenchPoint, i);

      if (g_str_equal (point->name, name))
        append_point (out, point, places, scale, class);
    }
}

/* Lines of iris are cold, of peers warm, plain C grey. */
static char *
line_class (const char *kind, guint *n_cold, guint *n_warm)
{
  if (g_str_equal (kind, "iris"))
    return g_strdup_printf ("c%u", (*n_cold)++ % 8);
  if (g_str_equal (kind, "peer"))
    return g_strdup_printf ("w%u", (*n_warm)++ % 4);

  return g_strdup ("p");
}

static void
append_axes (GString *out, const BenchPanel *panel, const GArray *places, const BenchScale *scale)
{
  g_autoptr (GArray) ticks = choose_ticks (scale);

  for (guint i = 0; i < ticks->len; i++)
    {
      gdouble tick = g_array_index (ticks, gdouble, i), y = y_of (scale, tick);

      append_line (out, "g", LEFT, y, RIGHT, y);
      append_value (out, "a end", LEFT - 6, y + 3.5, tick);
    }
  for (guint i = 0; i < places->len; i++)
    append_value (out, "a", x_of (places, g_array_index (places, gdouble, i)), BOTTOM + 15,
                  g_array_index (places, gdouble, i));
  append_words (out, "a", (LEFT + RIGHT) / 2, BOTTOM + 32, panel->x_label);
}

/* A name and the class of its line. */
typedef struct
{
  const char *name;
  char *class;
} Key;

static void
key_clear (gpointer data)
{
  g_free (((Key *) data)->class);
}

static gboolean
has_key (const GArray *keys, const char *name)
{
  for (guint i = 0; i < keys->len; i++)
    if (g_str_equal (g_array_index (keys, Key, i).name, name))
      return TRUE;

  return FALSE;
}

/* In the order in which they appear. */
static GArray *
list_keys (const BenchPanel *panel)
{
  GArray *keys = g_array_new (FALSE, FALSE, sizeof (Key));
  guint n_cold = 0, n_warm = 0;

  g_array_set_clear_func (keys, key_clear);
  for (guint i = 0; i < panel->points->len; i++)
    {
      const BenchPoint *point = &g_array_index (panel->points, BenchPoint, i);
      Key key = { point->name, NULL };

      if (has_key (keys, point->name))
        continue;
      key.class = line_class (point->kind, &n_cold, &n_warm);
      g_array_append_val (keys, key);
    }

  return keys;
}

static gdouble
draw_lines (GString *out, const BenchPanel *panel, const GArray *keys)
{
  BenchScale scale = choose_scale (panel);
  g_autoptr (GArray) places = find_places (panel);

  append_axes (out, panel, places, &scale);
  for (guint i = 0; i < keys->len; i++)
    append_one_line (out, panel, g_array_index (keys, Key, i).name, places, &scale,
                     g_array_index (keys, Key, i).class);

  return HEIGHT;
}

/* HTML wraps a legend by itself. */
static void
append_legend (GString *out, const GArray *keys)
{
  g_string_append (out, "<p class=\"legend\">");
  for (guint i = 0; i < keys->len; i++)
    {
      g_string_append_printf (out, "<span><i class=\"%s\"></i>",
                              g_array_index (keys, Key, i).class);
      bench_svg_append_text (out, g_array_index (keys, Key, i).name);
      g_string_append (out, "</span> ");
    }
  g_string_append (out, "</p>");
}

/* Two columns, or one where a name is long. */
static gdouble
draw_legend (GString *out, const GArray *keys, gdouble y)
{
  glong longest = 0;
  guint columns, n_rows;

  for (guint i = 0; i < keys->len; i++)
    longest = MAX (longest, g_utf8_strlen (g_array_index (keys, Key, i).name, -1));
  columns = longest > LONG_NAME ? 1 : 2;
  n_rows = (keys->len + columns - 1) / columns;
  for (guint i = 0; i < keys->len; i++)
    {
      const Key *key = &g_array_index (keys, Key, i);
      guint row = i / columns, column = i % columns;
      gdouble x = column * WIDTH / 2, at = y + row * LINE;

      g_string_append_printf (out, "<g class=\"%s\">", key->class);
      append_rect (out, "key", x, at, 10, 10);
      append_words (out, "l", x + 15, at + 9, key->name);
      g_string_append (out, "</g>");
    }

  return y + n_rows * LINE;
}

gboolean
bench_svg_is_logarithmic (const BenchPanel *panel)
{
  return choose_scale (panel).is_log;
}

void
bench_svg_panel (GString *out, const BenchPanel *panel)
{
  g_autoptr (GString) inner = g_string_new (NULL);
  g_autoptr (GArray) keys = list_keys (panel);
  gboolean is_lines = panel->x_label != NULL;
  gdouble height = is_lines ? draw_lines (inner, panel, keys) : draw_bars (inner, panel);

  open_drawing (out, height, panel->title);
  g_string_append_printf (out, "%s</svg>", inner->str);
  if (is_lines)
    append_legend (out, keys);
}

gdouble
bench_svg_draw (GString *out, const BenchPanel *panel)
{
  g_autoptr (GArray) keys = list_keys (panel);

  if (panel->x_label == NULL)
    return draw_bars (out, panel);

  return draw_legend (out, keys, draw_lines (out, panel, keys));
}

/* --- strips ----------------------------------------------------------------------------------- */

#define STRIP 22.0

void
bench_svg_strip (GString *out,
                 const BenchScale *scale,
                 const gdouble published[2],
                 const gdouble ours[3])
{
  gdouble middle = STRIP / 2;

  open_drawing (out, STRIP, "published range and our interval");
  append_rect (out, "track", 0, middle - 1, WIDTH, 2);
  if (!isnan (scale->same))
    append_line (out, "same", place (scale, scale->same) * WIDTH, 2,
                 place (scale, scale->same) * WIDTH, STRIP - 2);
  if (!isnan (published[0]) && !isnan (published[1]))
    {
      gdouble from = place (scale, published[0]) * WIDTH, to = place (scale, published[1]) * WIDTH;

      append_rect (out, "theirs", fmin (from, WIDTH - 4) - (to - from < 4 ? 2 : 0), 4,
                   fmax (to - from, 4), STRIP - 8);
    }
  if (!isnan (ours[1]))
    {
      append_line (out, "ours", place (scale, ours[0]) * WIDTH, middle,
                   place (scale, ours[2]) * WIDTH, middle);
      g_string_append (out, "<circle class=\"ours\" r=\"5\"");
      append (out, "cx", fmin (fmax (place (scale, ours[1]) * WIDTH, 5), WIDTH - 5));
      append (out, "cy", middle);
      g_string_append (out, "/>");
    }
  g_string_append (out, "</svg>");
}
