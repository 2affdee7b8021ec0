/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The statistics pane: a table of totals, and a bar for each worker out of an IrisStatsModel.
 *
 * The model's rows count since the scheduler was made. The bars show how busy a worker was while
 * this picture was drawn, so a line remembers where its row stood when that began. Nothing is
 * refreshed while nothing happens.
 */
#include "stats-pane.h"

#include "tile-frame.h"

#define REFRESH_MS 250

enum
{
  FACT_RATE,
  FACT_PAUSE,
  FACT_PAUSE_EVER,
  FACT_TILES,
  FACT_TIME,
  FACT_STOLEN,
  FACT_EXECUTED,
  FACT_WAKES,
  FACT_LATE,
  N_FACTS
};

static const struct
{
  const char *name, *tooltip;
} facts[N_FACTS] = {
  [FACT_RATE] = { "Frame rate", "Frames that the window's frame clock counted, while it draws" },
  [FACT_PAUSE] = { "Longest pause", "The longest time, in the last 5 seconds, in which the main "
                                    "loop did not answer, and "
                                    "how much of that it computed; the rest it waited for a "
                                    "processor or the display" },
  [FACT_PAUSE_EVER] = { "Longest ever", "The longest such time since the window was first drawn" },
  [FACT_TILES] = { "Tiles", "Tiles of this picture that are there" },
  [FACT_TIME] = { "Drawn in", "From the wish for this picture to its last tile" },
  [FACT_STOLEN] = { "Stolen tiles", "Tiles of this picture that were drawn by another worker than "
                                    "the one they were given to, and those from other places" },
  [FACT_EXECUTED] = { "Messages", "Messages that this scheduler handled, bands and tiles" },
  [FACT_WAKES] = { "Tiles a wake-up",
                   "Tiles that came to the main loop for each time it was woken" },
  [FACT_LATE] = { "Late tiles", "Tiles that were finished after the view had moved" },
};

typedef struct
{
  IrisStatsRow *row;
  GtkLevelBar *bar;
  GtkLabel *executed, *stolen;
  guint64 busy_ns, alive_ns; /* when the picture was begun */
} Line;

struct _StatsPane
{
  GtkBox parent_instance;

  Canvas *canvas;
  Mail *mail;
  PauseMeter *meter;
  IrisScheduler *scheduler;
  IrisStatsModel *model;
  GtkLabel *values[N_FACTS];
  GtkListBox *list;
  GPtrArray *lines; /* of Line, in the order of the model's rows */
  guint timer;
  double rate; /* frames a second, when last there was work */
};

G_DEFINE_FINAL_TYPE (StatsPane, stats_pane, GTK_TYPE_BOX)

static void
line_free (gpointer data)
{
  Line *line = data;

  g_object_unref (line->row);
  g_free (line);
}

static void
line_refresh (Line *line)
{
  const IrisCounters *now = iris_stats_row_get_counters (line->row);
  guint64 busy = now->busy_ns - MIN (line->busy_ns, now->busy_ns);
  guint64 alive = now->alive_ns - MIN (line->alive_ns, now->alive_ns);
  guint64 stolen = now->stolen_in + now->stolen_inside;
  g_autofree char *executed = g_strdup_printf ("%" G_GUINT64_FORMAT, now->executed);
  g_autofree char *taken = g_strdup_printf ("%" G_GUINT64_FORMAT, stolen);

  gtk_level_bar_set_value (line->bar, alive > 0 ? MIN ((double) busy / (double) alive, 1) : 0);
  gtk_label_set_text (line->executed, executed);
  gtk_label_set_text (line->stolen, taken);
}

static void
line_begin (Line *line)
{
  const IrisCounters *now = iris_stats_row_get_counters (line->row);

  line->busy_ns = now->busy_ns;
  line->alive_ns = now->alive_ns;
}

static void
draw_swatch (GtkDrawingArea *area, cairo_t *cr, gint width, gint height, gpointer worker)
{
  GdkRGBA colour = tile_frame_colour (GPOINTER_TO_INT (worker));

  gdk_cairo_set_source_rgba (cr, &colour);
  cairo_arc (cr, width / 2., height / 2., MIN (width, height) / 2., 0, 2 * G_PI);
  cairo_fill (cr);
}

static GtkLabel *
append_label (GtkBox *box, const char *text, gint width_chars, float xalign, const char *tooltip)
{
  GtkWidget *label = gtk_label_new (text);

  gtk_label_set_width_chars (GTK_LABEL (label), width_chars);
  gtk_label_set_xalign (GTK_LABEL (label), xalign);
  gtk_widget_add_css_class (label, "numeric");
  gtk_widget_set_tooltip_text (label, tooltip);
  gtk_box_append (box, label);

  return GTK_LABEL (label);
}

/* The widget for a row of the model. */
static GtkWidget *
line_new (gpointer item, gpointer data)
{
  StatsPane *self = data;
  IrisStatsRow *row = item;
  GtkBox *box = GTK_BOX (gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 6));
  GtkWidget *swatch = gtk_drawing_area_new ();
  gint index = (gint) iris_stats_row_get_index (row);
  g_autofree char *number = g_strdup_printf ("%d", index);
  g_autofree char *place = g_strdup_printf ("P%d", iris_stats_row_get_place (row));
  Line *line = g_new0 (Line, 1);

  if (IRIS_IS_GMAINSCHEDULER (self->scheduler))
    index = -1;
  line->row = g_object_ref (row);
  gtk_drawing_area_set_content_width (GTK_DRAWING_AREA (swatch), 12);
  gtk_drawing_area_set_content_height (GTK_DRAWING_AREA (swatch), 12);
  gtk_drawing_area_set_draw_func (GTK_DRAWING_AREA (swatch), draw_swatch, GINT_TO_POINTER (index),
                                  NULL);
  gtk_widget_set_valign (swatch, GTK_ALIGN_CENTER);
  gtk_box_append (box, swatch);
  append_label (box, index < 0 ? "main" : number, 2, 1, "Worker");
  append_label (box, place, 3, 0, "The place of this worker");
  line->bar = GTK_LEVEL_BAR (gtk_level_bar_new ());
  gtk_level_bar_remove_offset_value (line->bar, GTK_LEVEL_BAR_OFFSET_LOW);
  gtk_level_bar_remove_offset_value (line->bar, GTK_LEVEL_BAR_OFFSET_HIGH);
  gtk_level_bar_remove_offset_value (line->bar, GTK_LEVEL_BAR_OFFSET_FULL);
  gtk_widget_set_hexpand (GTK_WIDGET (line->bar), TRUE);
  gtk_widget_set_valign (GTK_WIDGET (line->bar), GTK_ALIGN_CENTER);
  gtk_widget_set_tooltip_text (GTK_WIDGET (line->bar),
                               "How busy this worker was while this picture was drawn");
  gtk_box_append (box, GTK_WIDGET (line->bar));
  line->executed = append_label (box, "0", 7, 1, "Messages that it handled");
  line->stolen = append_label (box, "0", 6, 1, "Messages that it stole");
  g_ptr_array_add (self->lines, line);
  line_refresh (line);

  return GTK_WIDGET (box);
}

static void G_GNUC_PRINTF (3, 4) set_fact (StatsPane *self, guint fact, const char *format, ...)
{
  g_autofree char *text = NULL;
  va_list args;

  va_start (args, format);
  text = g_strdup_vprintf (format, args);
  va_end (args);
  gtk_label_set_text (self->values[fact], text);
}

static void
refresh_facts (StatsPane *self)
{
  GdkFrameClock *clock = gtk_widget_get_frame_clock (GTK_WIDGET (self->canvas));
  double rate = clock != NULL ? gdk_frame_clock_get_fps (clock) : 0;
  CanvasProgress progress;
  Pause lately, ever;
  guint64 wakes, tiles;

  canvas_get_progress (self->canvas, &progress);
  pause_meter_get (self->meter, &lately, &ever);
  mail_get_counts (self->mail, &wakes, &tiles);
  if (canvas_is_complete (self->canvas))
    set_fact (self, FACT_RATE, "at rest, %.0f /s before", self->rate);
  else
    {
      self->rate = rate;
      set_fact (self, FACT_RATE, "%.0f /s", rate);
    }
  set_fact (self, FACT_PAUSE, "%.1f ms, %.1f computing", (double) lately.time / 1000,
            (double) lately.computing / 1000);
  set_fact (self, FACT_PAUSE_EVER, "%.1f ms, %.1f computing", (double) ever.time / 1000,
            (double) ever.computing / 1000);
  set_fact (self, FACT_TILES, "%u of %u", progress.n_done, progress.n_tiles);
  set_fact (self, FACT_TIME, "%.2f s", (double) progress.time / G_USEC_PER_SEC);
  set_fact (self, FACT_STOLEN, "%u, %u from afar",
            progress.n_stolen_inside + progress.n_stolen_from_far, progress.n_stolen_from_far);
  set_fact (self, FACT_WAKES, "%.1f", wakes > 0 ? (double) tiles / (double) wakes : 0);
  set_fact (self, FACT_LATE, "%u", progress.n_late);
}

static void
stats_pane_refresh (StatsPane *self)
{
  guint64 executed = 0;

  refresh_facts (self);
  if (self->model == NULL)
    return;
  iris_stats_model_refresh (self->model);
  for (guint i = 0; i < self->lines->len; i++)
    {
      Line *line = g_ptr_array_index (self->lines, i);

      line_refresh (line);
      executed += iris_stats_row_get_counters (line->row)->executed;
    }
  set_fact (self, FACT_EXECUTED, "%" G_GUINT64_FORMAT, executed);
}

static gboolean
stats_pane_tick (gpointer data)
{
  StatsPane *self = data;
  gboolean rests = canvas_is_complete (self->canvas);

  pause_meter_set_busy (self->meter, !rests);
  /* The end of the picture was shown when it came. */
  if (rests)
    refresh_facts (self);
  else
    stats_pane_refresh (self);
  if (!rests)
    return G_SOURCE_CONTINUE;
  self->timer = 0;

  return G_SOURCE_REMOVE;
}

static void
stats_pane_dispose (GObject *object)
{
  StatsPane *self = MANDELBROT_STATS_PANE (object);

  g_clear_handle_id (&self->timer, g_source_remove);
  g_clear_object (&self->model);
  g_clear_object (&self->scheduler);

  G_OBJECT_CLASS (stats_pane_parent_class)->dispose (object);
}

static void
stats_pane_finalize (GObject *object)
{
  g_ptr_array_unref (MANDELBROT_STATS_PANE (object)->lines);

  G_OBJECT_CLASS (stats_pane_parent_class)->finalize (object);
}

static void
stats_pane_class_init (StatsPaneClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = stats_pane_dispose;
  G_OBJECT_CLASS (klass)->finalize = stats_pane_finalize;
}

static GtkWidget *
make_facts (StatsPane *self)
{
  GtkGrid *grid = GTK_GRID (gtk_grid_new ());

  gtk_grid_set_column_spacing (grid, 12);
  gtk_grid_set_row_spacing (grid, 2);
  for (gint i = 0; i < N_FACTS; i++)
    {
      GtkWidget *name = gtk_label_new (facts[i].name);
      GtkWidget *value = gtk_label_new ("–");

      gtk_label_set_xalign (GTK_LABEL (name), 0);
      gtk_widget_add_css_class (name, "dim-label");
      gtk_label_set_xalign (GTK_LABEL (value), 1);
      gtk_widget_add_css_class (value, "numeric");
      gtk_widget_set_hexpand (value, TRUE);
      gtk_widget_set_tooltip_text (name, facts[i].tooltip);
      gtk_widget_set_tooltip_text (value, facts[i].tooltip);
      gtk_grid_attach (grid, name, 0, i, 1, 1);
      gtk_grid_attach (grid, value, 1, i, 1, 1);
      self->values[i] = GTK_LABEL (value);
    }

  return GTK_WIDGET (grid);
}

static void
stats_pane_init (StatsPane *self)
{
  GtkWidget *scrolled = gtk_scrolled_window_new ();
  GtkWidget *title = gtk_label_new ("Worker, place, busy, handled, stolen");

  self->lines = g_ptr_array_new_with_free_func (line_free);
  gtk_orientable_set_orientation (GTK_ORIENTABLE (self), GTK_ORIENTATION_VERTICAL);
  gtk_box_set_spacing (GTK_BOX (self), 8);
  gtk_box_append (GTK_BOX (self), make_facts (self));
  gtk_label_set_xalign (GTK_LABEL (title), 0);
  gtk_widget_add_css_class (title, "heading");
  gtk_box_append (GTK_BOX (self), title);

  self->list = GTK_LIST_BOX (gtk_list_box_new ());
  gtk_list_box_set_selection_mode (self->list, GTK_SELECTION_NONE);
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (scrolled), GTK_WIDGET (self->list));
  gtk_scrolled_window_set_policy (GTK_SCROLLED_WINDOW (scrolled), GTK_POLICY_NEVER,
                                  GTK_POLICY_AUTOMATIC);
  gtk_scrolled_window_set_has_frame (GTK_SCROLLED_WINDOW (scrolled), TRUE);
  gtk_widget_set_vexpand (scrolled, TRUE);
  gtk_widget_set_size_request (scrolled, -1, 90);
  gtk_box_append (GTK_BOX (self), scrolled);
}

StatsPane *
stats_pane_new (Canvas *canvas, Mail *mail, PauseMeter *meter)
{
  StatsPane *self = g_object_new (TYPE_STATS_PANE, NULL);

  self->canvas = canvas;
  self->mail = mail;
  self->meter = meter;
  g_signal_connect_object (canvas, "completed", G_CALLBACK (stats_pane_refresh), self,
                           G_CONNECT_SWAPPED);

  return self;
}

void
stats_pane_set_scheduler (StatsPane *self, IrisScheduler *scheduler)
{
  gtk_list_box_bind_model (self->list, NULL, NULL, NULL, NULL);
  g_ptr_array_set_size (self->lines, 0);
  g_clear_object (&self->model);
  g_set_object (&self->scheduler, scheduler);
  if (scheduler == NULL)
    return;
  self->model = iris_stats_model_new (scheduler, IRIS_STATS_OF_WORKERS);
  gtk_list_box_bind_model (self->list, G_LIST_MODEL (self->model), line_new, self, NULL);
}

void
stats_pane_begin (StatsPane *self)
{
  if (self->model != NULL)
    iris_stats_model_refresh (self->model);
  g_ptr_array_foreach (self->lines, (GFunc) line_begin, NULL);
  stats_pane_watch (self);
}

void
stats_pane_watch (StatsPane *self)
{
  pause_meter_set_busy (self->meter, TRUE);
  if (self->timer == 0)
    self->timer = g_timeout_add (REFRESH_MS, stats_pane_tick, self);
}

void
stats_pane_stop (StatsPane *self)
{
  g_clear_handle_id (&self->timer, g_source_remove);
  stats_pane_set_scheduler (self, NULL);
}

gboolean
stats_pane_rests (StatsPane *self)
{
  return self->timer == 0;
}
