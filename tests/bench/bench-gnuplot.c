/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Drawing by gnuplot: a script with its data goes in, the picture comes out.
 *
 * Names come from JSON of unknown origin, and gnuplot is a programming language: they are only
 * ever written between single quotes, with quotes doubled and control characters taken out.
 * Numbers are written in the C locale.
 */
#include "bench-chart.h"
#include "bench-error.h"

#include <gio/gio.h>
#include <math.h>
#include <string.h>

/* Pixels. */
#define WIDTH        1000
#define HEADER       86
#define TITLE        34  /* of a panel */
#define AXIS         62  /* below it, with its label */
#define BARS_FRAME   100 /* both, and a little air */
#define BAR          24
#define LINES_HEIGHT 420
#define LEFT         280
#define LINES_LEFT   100
#define RIGHT        40
#define LEGEND       300

/* More panels than this stand in two columns. */
#define ONE_COLUMN 6

/* An axis from the least to the most by more than this is logarithmic. */
#define LOG_FROM 30

typedef struct
{
  const char *kind;
  const char *label;
  guint color;
} Kind;

static const Kind kinds[] = {
  { "iris", "iris", 0x3584e4 },
  { "peer", "peers", 0xe66100 },
  { "plain", "plain C", 0x77767b },
};

/* Lines of iris are cold, of peers warm. */
static const guint cold[] = { 0x1a5fb4, 0x2ec27e, 0x9141ac, 0x00a0a0, 0x62a0ea,
                              0x26a269, 0x613583, 0x99c1f1, 0x8ff0a4, 0xdc8add };
static const guint warm[] = { 0xe66100, 0xc01c28, 0xe5a50a, 0x865e3c, 0xf66151 };

gboolean
bench_gnuplot_check (GError **error)
{
  g_autofree char *path = g_find_program_in_path ("gnuplot");

  if (path == NULL)
    g_set_error_literal (error, BENCH_ERROR, BENCH_ERROR_MACHINE,
                         "gnuplot draws the charts and is not installed; install it (Debian: "
                         "gnuplot-nox), or save --json now and draw it elsewhere");

  return path != NULL;
}

static void
append_quoted (GString *script, const char *text)
{
  g_string_append_c (script, '\'');
  for (; *text != '\0'; text++)
    if (*text == '\'')
      g_string_append (script, "''");
    else if (!g_ascii_iscntrl (*text))
      g_string_append_c (script, *text);
  g_string_append_c (script, '\'');
}

static void
append_number (GString *script, gdouble value)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];

  g_string_append_printf (script, " %s", g_ascii_formatd (text, sizeof text, "%.9g", value));
}

/* set WHAT 'text' REST */
static void
append_setting (GString *script, const char *what, const char *text, const char *rest)
{
  g_string_append_printf (script, "set %s ", what);
  append_quoted (script, text);
  g_string_append_printf (script, " %s\n", rest);
}

/* --- the axis of values ----------------------------------------------------------------------- */

typedef struct
{
  gdouble from;
  gdouble to;
  gboolean is_log;
} Axis;

static Axis
choose_axis (const BenchPanel *panel, gboolean room_for_labels)
{
  gdouble least = INFINITY, most = -INFINITY;

  for (guint i = 0; i < panel->points->len; i++)
    {
      const BenchPoint *point = &g_array_index (panel->points, BenchPoint, i);

      least = fmin (least, point->low);
      most = fmax (most, point->high);
    }
  if (panel->is_time && least > 0 && most / least > LOG_FROM)
    return (Axis){ least / 2, most * (room_for_labels ? pow (most / least, 0.18) : 1.5), TRUE };
  if (least == most && least == 0)
    most = 1;

  return (Axis){ fmin (0, least * 1.2), most * (room_for_labels ? 1.18 : 1.08), FALSE };
}

static void
append_axis (GString *script, const char *name, const Axis *axis, const char *label)
{
  g_autofree char *full = g_strconcat (label, axis->is_log ? " (logarithmic)" : "", NULL);
  g_autofree char *setting = g_strconcat (name, "label", NULL);

  g_string_append_printf (script, "%s logscale %s\nset %srange [", axis->is_log ? "set" : "unset",
                          name, name);
  append_number (script, axis->from);
  g_string_append (script, ":");
  append_number (script, axis->to);
  g_string_append_printf (script, "]\nset %stics autofreq\nset grid %stics\n", name, name);
  append_setting (script, setting, full, "");
}

/* --- bars ------------------------------------------------------------------------------------- */

static guint
color_of_kind (const char *kind)
{
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    if (g_str_equal (kinds[i].kind, kind))
      return kinds[i].color;

  return 0;
}

/* height on the axis, value, low, high, color, value as text */
static void
append_bars_data (GString *script, const BenchPanel *panel, guint number)
{
  g_string_append_printf (script, "$bars%u << EOD\n", number);
  for (guint i = 0; i < panel->points->len; i++)
    {
      const BenchPoint *point = &g_array_index (panel->points, BenchPoint, i);
      char text[G_ASCII_DTOSTR_BUF_SIZE];

      g_string_append_printf (script, "%u", panel->points->len - 1 - i);
      append_number (script, point->value);
      append_number (script, point->low);
      append_number (script, point->high);
      g_string_append_printf (script, " %u \"%s\"\n", color_of_kind (point->kind),
                              g_ascii_formatd (text, sizeof text,
                                               fabs (point->value) < 1000 ? "%.3g" : "%.0f",
                                               point->value));
    }
  g_string_append (script, "EOD\n");
}

static void
append_names (GString *script, const BenchPanel *panel)
{
  g_string_append (script, "set ytics (");
  for (guint i = 0; i < panel->points->len; i++)
    {
      append_quoted (script, g_array_index (panel->points, BenchPoint, i).name);
      g_string_append_printf (script, " %u%s", panel->points->len - 1 - i,
                              i + 1 < panel->points->len ? ", " : "");
    }
  g_string_append (script, ") scale 0\n");
}

static void
append_bars (GString *script, const BenchPanel *panel, guint number)
{
  Axis axis = choose_axis (panel, TRUE);

  append_bars_data (script, panel, number);
  g_string_append (script, "unset key\nunset logscale y\nset grid noytics\nset ylabel ''\n");
  append_axis (script, "x", &axis, panel->value_label);
  append_names (script, panel);
  g_string_append_printf (script, "set yrange [-0.7:%u.7]\nbase =", panel->points->len - 1);
  append_number (script, axis.is_log ? axis.from : 0);
  g_string_append_printf (
      script,
      "\nplot $bars%u using 2:1:(base):2:($1-0.36):($1+0.36):5 with boxxyerror "
      "linecolor rgb variable fillstyle solid 0.85 noborder, "
      "'' using 2:1:3:4 with xerrorbars pointtype 0 linewidth 1.5 linecolor rgb '#241f31', "
      "'' using ($4>0?$4:0):1:6 with labels left offset 0.6,0\n",
      number);
}

/* --- lines ------------------------------------------------------------------------------------ */

static int
compare_numbers (gconstpointer a, gconstpointer b)
{
  gdouble x = *(const gdouble *) a, y = *(const gdouble *) b;

  return x < y ? -1 : x > y;
}

/* The places on the axis lie at equal distances, so that 0 can be one of them. */
static GArray *
find_places (const BenchPanel *panel)
{
  GArray *places = g_array_new (FALSE, FALSE, sizeof (gdouble));

  for (guint i = 0; i < panel->points->len; i++)
    {
      gdouble x = g_array_index (panel->points, BenchPoint, i).x;
      gboolean known = FALSE;

      for (guint j = 0; j < places->len; j++)
        known = known || g_array_index (places, gdouble, j) == x;
      if (!known)
        g_array_append_val (places, x);
    }
  g_array_sort (places, compare_numbers);

  return places;
}

static guint
place_of (GArray *places, gdouble x)
{
  guint i = 0;

  while (i + 1 < places->len && g_array_index (places, gdouble, i) != x)
    i++;

  return i;
}

static void
append_places (GString *script, GArray *places, const char *label)
{
  g_string_append (script, "set xtics (");
  for (guint i = 0; i < places->len; i++)
    {
      g_string_append_printf (script, "%s'", i > 0 ? ", " : "");
      append_number (script, g_array_index (places, gdouble, i));
      g_string_append_printf (script, "' %u", i);
    }
  g_string_append_printf (script, ")\nunset logscale x\nset xrange [-0.3:%u.3]\n", places->len - 1);
  append_setting (script, "xlabel", label, "");
}

static GPtrArray *
find_names (const BenchPanel *panel)
{
  GPtrArray *names = g_ptr_array_new ();

  for (guint i = 0; i < panel->points->len; i++)
    {
      BenchPoint *point = &g_array_index (panel->points, BenchPoint, i);

      if (!g_ptr_array_find_with_equal_func (names, point->name, g_str_equal, NULL))
        g_ptr_array_add (names, point->name);
    }

  return names;
}

/* The data of one line, and which kind of contender it is of. */
static const char *
append_line_data (GString *script,
                  const BenchPanel *panel,
                  GArray *places,
                  const char *name,
                  const char *block)
{
  const char *kind = "";

  g_string_append_printf (script, "$%s << EOD\n", block);
  for (guint i = 0; i < panel->points->len; i++)
    {
      const BenchPoint *point = &g_array_index (panel->points, BenchPoint, i);

      if (!g_str_equal (point->name, name))
        continue;
      kind = point->kind;
      g_string_append_printf (script, "%u", place_of (places, point->x));
      append_number (script, point->value);
      append_number (script, point->low);
      append_number (script, point->high);
      g_string_append_c (script, '\n');
    }
  g_string_append (script, "EOD\n");

  return kind;
}

static guint
color_of_line (const char *kind, guint *n_cold, guint *n_warm)
{
  if (g_str_equal (kind, "iris"))
    return cold[(*n_cold)++ % G_N_ELEMENTS (cold)];
  if (g_str_equal (kind, "peer"))
    return warm[(*n_warm)++ % G_N_ELEMENTS (warm)];

  return color_of_kind (kind);
}

static void
append_lines (GString *script, const BenchPanel *panel, guint number)
{
  g_autoptr (GArray) places = find_places (panel);
  g_autoptr (GPtrArray) names = find_names (panel);
  g_autoptr (GString) plot = g_string_new ("plot ");
  Axis axis = choose_axis (panel, FALSE);
  guint n_cold = 0, n_warm = 0;

  for (guint i = 0; i < names->len; i++)
    {
      const char *name = g_ptr_array_index (names, i);
      g_autofree char *block = g_strdup_printf ("line%u_%u", number, i);
      const char *kind = append_line_data (script, panel, places, name, block);
      /* Lines over each other are moved apart a little, so that their bars can be seen. */
      gdouble shift = (i - (names->len - 1) / 2.0) * 0.018;

      g_string_append_printf (plot, "%s$%s using ($1+", i > 0 ? ", " : "", block);
      append_number (plot, shift);
      g_string_append_printf (plot,
                              "):2:3:4 with yerrorlines linewidth 1.6 pointtype %u pointsize 0.7 "
                              "linecolor rgb '#%06x' title ",
                              g_str_equal (kind, "peer") ? 5 : 7,
                              color_of_line (kind, &n_cold, &n_warm));
      append_quoted (plot, name);
    }
  g_string_append (script, "set grid noxtics\n");
  append_axis (script, "y", &axis, panel->value_label);
  append_places (script, places, panel->x_label);
  g_string_append_printf (script, "%s\n", plot->str);
}

/* --- the whole picture ------------------------------------------------------------------------ */

static guint
panel_height (const BenchPanel *panel)
{
  return panel->x_label != NULL ? LINES_HEIGHT : BARS_FRAME + BAR * panel->points->len;
}

/* Where a panel lies, in pixels from the upper left corner. */
typedef struct
{
  guint left;
  guint top;
  guint height;
} Place;

typedef struct
{
  Place *places; /* of the panels */
  guint width;
  guint height;
} Layout;

/* In columns, each panel in the one that is shortest so far. */
static Layout
lay_out (const BenchChart *chart)
{
  guint n_columns = chart->panels->len > ONE_COLUMN ? 2 : 1;
  guint tops[2] = { HEADER, HEADER };
  Layout layout = { g_new (Place, chart->panels->len), n_columns * WIDTH, 0 };

  for (guint i = 0; i < chart->panels->len; i++)
    {
      guint height = panel_height (g_ptr_array_index (chart->panels, i));
      guint column = n_columns > 1 && tops[1] < tops[0] ? 1 : 0;

      layout.places[i] = (Place){ column * WIDTH, tops[column], height };
      tops[column] += height;
    }
  layout.height = MAX (tops[0], tops[1]);

  return layout;
}

static void
append_label (GString *script,
              const Layout *layout,
              guint number,
              const char *text,
              guint x,
              guint y)
{
  g_string_append_printf (script, "set label %u ", number);
  append_quoted (script, text);
  g_string_append (script, " at screen");
  append_number (script, (gdouble) x / layout->width);
  g_string_append (script, ",");
  append_number (script, 1 - (gdouble) y / layout->height);
}

static void
append_header (GString *script, const BenchChart *chart, const Layout *layout)
{
  g_string_append (script, "set multiplot\n");
  append_label (script, layout, 1, chart->title, 20, 22);
  g_string_append (script, " font ',16'\n");
  append_label (script, layout, 2, chart->subtitle, 20, 44);
  g_string_append (script, " font ',10' textcolor rgb '#5e5c64'\n");
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    {
      g_autofree char *text = g_strconcat ("■ ", kinds[i].label, NULL);

      append_label (script, layout, 3 + i, text, 20 + 70 * i, 68);
      g_string_append_printf (script, " textcolor rgb '#%06x'\n", kinds[i].color);
    }
}

static void
append_margin (GString *script, const char *name, gdouble share)
{
  g_string_append_printf (script, "set %smargin at screen", name);
  append_number (script, share);
  g_string_append_c (script, '\n');
}

static void
append_panel (GString *script, const BenchPanel *panel, guint number, const Layout *layout)
{
  const Place *place = &layout->places[number];
  gboolean is_line = panel->x_label != NULL;
  gdouble width = layout->width, height = layout->height;

  append_setting (script, "title", panel->title, "font ',13'");
  append_margin (script, "l", (place->left + (is_line ? LINES_LEFT : LEFT)) / width);
  append_margin (script, "r", (place->left + WIDTH - (is_line ? LEGEND : RIGHT)) / width);
  append_margin (script, "t", 1 - (place->top + TITLE) / height);
  append_margin (script, "b", 1 - (place->top + place->height - AXIS) / height);
  if (is_line)
    {
      g_string_append (script, "set key left top vertical Left reverse at screen");
      append_number (script, (place->left + WIDTH - LEGEND + 16) / width);
      g_string_append_c (script, ',');
      append_number (script, 1 - (place->top + TITLE) / height);
      g_string_append_c (script, '\n');
      append_lines (script, panel, number);
    }
  else
    append_bars (script, panel, number);
  /* The header is drawn once, with the first panel. */
  if (number == 0)
    g_string_append (script, "unset label\n");
}

static char *
write_script (const BenchChart *chart, const char *format)
{
  GString *script = g_string_new ("set encoding utf8\n");
  Layout layout = lay_out (chart);

  g_string_append_printf (
      script, "set terminal %s size %u,%u noenhanced %s background rgb 'white'\n",
      g_str_equal (format, "svg") ? "svg" : "pngcairo", layout.width, layout.height,
      g_str_equal (format, "svg") ? "dynamic font 'sans-serif,12'" : "font 'sans,10'");
  g_string_append (script, "set border 3 linecolor rgb '#5e5c64'\nset tics nomirror out\n"
                           "set grid linecolor rgb '#deddda' linetype 1\nset bars 0.6\n");
  append_header (script, chart, &layout);
  for (guint i = 0; i < chart->panels->len; i++)
    append_panel (script, g_ptr_array_index (chart->panels, i), i, &layout);
  g_string_append (script, "unset multiplot\n");
  g_free (layout.places);

  return g_string_free (script, FALSE);
}

GBytes *
bench_gnuplot_draw (const BenchChart *chart, const char *format, GError **error)
{
  g_autofree char *script = write_script (chart, format);
  g_autoptr (GBytes) input = g_bytes_new (script, strlen (script));
  g_autoptr (GBytes) picture = NULL, complaint = NULL;
  g_autoptr (GSubprocess) process = NULL;

  if (!bench_gnuplot_check (error))
    return NULL;
  process = g_subprocess_new (G_SUBPROCESS_FLAGS_STDIN_PIPE | G_SUBPROCESS_FLAGS_STDOUT_PIPE
                                  | G_SUBPROCESS_FLAGS_STDERR_PIPE,
                              error, "gnuplot", "-d", "-", NULL);
  if (process == NULL
      || !g_subprocess_communicate (process, input, NULL, &picture, &complaint, error))
    return NULL;
  if (g_subprocess_get_successful (process) && g_bytes_get_size (picture) > 0)
    return g_steal_pointer (&picture);
  g_set_error (error, BENCH_ERROR, BENCH_ERROR_MACHINE, "gnuplot could not draw the chart: %.*s",
               (int) g_bytes_get_size (complaint),
               (const char *) g_bytes_get_data (complaint, NULL));

  return NULL;
}
