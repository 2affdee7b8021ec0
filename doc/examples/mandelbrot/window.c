/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The window: puts the parts together, and swaps the scheduler while they run.
 *
 * A change is made in three steps, none of which waits: a new engine is made on another thread;
 * when it is there it draws all tiles anew; and the old one, whose tiles are stale by then, runs
 * dry on another thread. Only the last of several quick changes is made.
 */
#include "window.h"

#include "controls.h"
#include "shortcuts.h"
#include "stats-pane.h"

#define PANE_WIDTH 290

struct _Viewer
{
  GtkApplicationWindow parent_instance;

  Mail *mail;
  PauseMeter *meter;
  Canvas *canvas;
  Controls *controls;
  StatsPane *pane;
  GtkLabel *refusal;

  Engine *engine;
  gboolean making;   /* an engine is on its way */
  gboolean outdated; /* and another one is wanted already */
  guint n_closing;
  gboolean drawn; /* at least once */
  gboolean finished;
  char *refused;
};

G_DEFINE_FINAL_TYPE (Viewer, viewer, GTK_TYPE_APPLICATION_WINDOW)

static void viewer_make_engine (Viewer *self);

static void
post_picture (Picture *picture, gpointer data)
{
  Viewer *self = data;

  stats_pane_begin (self->pane);
  if (self->engine != NULL)
    engine_post (self->engine, picture);
}

static void
tile_came (Tile *tile, gpointer data)
{
  canvas_take_tile (MANDELBROT_VIEWER (data)->canvas, tile);
}

static void
engine_closed (GObject *source, GAsyncResult *result, gpointer data)
{
  Viewer *self = data;

  self->n_closing--;
  g_object_unref (self);
}

static void
viewer_close_engine (Viewer *self)
{
  if (self->engine == NULL)
    return;
  stats_pane_set_scheduler (self->pane, NULL);
  self->n_closing++;
  engine_close_async (g_steal_pointer (&self->engine), engine_closed, g_object_ref (self));
}

static void
viewer_refuse (Viewer *self, const char *why)
{
  g_free (self->refused);
  self->refused = g_strdup (why);
  gtk_label_set_text (self->refusal, why != NULL ? why : "");
  gtk_widget_set_visible (GTK_WIDGET (self->refusal), why != NULL);
}

static void
engine_made (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (Viewer) self = data;
  g_autoptr (GError) error = NULL;
  Engine *engine = engine_new_finish (result, &error);

  self->making = FALSE;
  if (engine != NULL)
    {
      viewer_close_engine (self);
      self->engine = engine;
    }
  if (self->finished)
    {
      viewer_close_engine (self);
      return;
    }
  if (engine != NULL)
    {
      stats_pane_set_scheduler (self->pane, engine_get_scheduler (engine));
      canvas_redraw (self->canvas);
    }
  viewer_refuse (self, error != NULL ? error->message : NULL);
  if (self->outdated)
    viewer_make_engine (self);
}

static void
viewer_make_engine (Viewer *self)
{
  EngineConfig config;

  self->outdated = self->making;
  if (self->making)
    return;
  self->making = TRUE;
  controls_get_config (self->controls, &config);
  engine_new_async (&config, self->mail, engine_made, g_object_ref (self));
}

static void
reset_view (GtkWidget *widget, const char *name, GVariant *parameter)
{
  canvas_reset (MANDELBROT_VIEWER (widget)->canvas);
}

static void
draw_again (GtkWidget *widget, const char *name, GVariant *parameter)
{
  canvas_redraw (MANDELBROT_VIEWER (widget)->canvas);
}

static void
forget_pauses (GtkWidget *widget, const char *name, GVariant *parameter)
{
  Viewer *self = MANDELBROT_VIEWER (widget);

  pause_meter_reset (self->meter);
  stats_pane_watch (self->pane);
}

static void
viewer_dispose (GObject *object)
{
  Viewer *self = MANDELBROT_VIEWER (object);

  g_clear_pointer (&self->refused, g_free);

  G_OBJECT_CLASS (viewer_parent_class)->dispose (object);
}

static void
viewer_class_init (ViewerClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = viewer_dispose;
  gtk_widget_class_install_action (widget_class, "view.reset", NULL, reset_view);
  gtk_widget_class_install_action (widget_class, "view.again", NULL, draw_again);
  gtk_widget_class_install_action (widget_class, "view.forget-pauses", NULL, forget_pauses);
  gtk_widget_class_add_binding_action (widget_class, GDK_KEY_0, GDK_CONTROL_MASK, "view.reset",
                                       NULL);
  gtk_widget_class_add_binding_action (widget_class, GDK_KEY_r, GDK_CONTROL_MASK, "view.again",
                                       NULL);
  gtk_widget_class_add_binding_action (widget_class, GDK_KEY_F5, 0, "view.again", NULL);
  gtk_widget_class_add_binding_action (widget_class, GDK_KEY_p, GDK_CONTROL_MASK,
                                       "view.forget-pauses", NULL);
}

static void
viewer_init (Viewer *self)
{
}

static void
header_add (GtkWidget *bar,
            const char *icon,
            const char *label,
            const char *action,
            const char *tooltip)
{
  GtkWidget *button = icon != NULL ? gtk_button_new_from_icon_name (icon)
                                   : gtk_button_new_with_label (label);

  gtk_actionable_set_action_name (GTK_ACTIONABLE (button), action);
  gtk_widget_set_tooltip_text (button, tooltip);
  gtk_header_bar_pack_start (GTK_HEADER_BAR (bar), button);
}

/* A program that begins reads themes and fonts: what counts is how it goes on from there. */
static void
frame_painted (Viewer *self)
{
  if (!self->drawn && !self->finished)
    pause_meter_reset (self->meter);
  self->drawn = TRUE;
}

static void
viewer_watch_frames (Viewer *self)
{
  GdkFrameClock *clock = gtk_widget_get_frame_clock (GTK_WIDGET (self));

  g_signal_connect_object (clock, "after-paint", G_CALLBACK (frame_painted), self,
                           G_CONNECT_SWAPPED);
}

static void
viewer_make_header (Viewer *self)
{
  GtkWidget *bar = gtk_header_bar_new ();

  header_add (bar, NULL, "Whole set", "view.reset", "Back to the whole set (Ctrl+0)");
  header_add (bar, NULL, "Draw again", "view.again", "Draw all tiles again (F5)");
  header_add (bar, NULL, "Forget pauses", "view.forget-pauses",
              "Forget the longest pauses (Ctrl+P)");
  header_add (bar, NULL, "Keys", "win.show-help-overlay", "Keyboard shortcuts (Ctrl+?)");
  gtk_window_set_titlebar (GTK_WINDOW (self), bar);
}

Viewer *
viewer_new (GtkApplication *application, const EngineConfig *config, guint depth)
{
  Viewer *self = g_object_new (TYPE_VIEWER, "application", application, "title",
                               "Mandelbrot by messages", NULL);
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 0);
  GtkWidget *scrolled = gtk_scrolled_window_new ();
  GtkWidget *side = gtk_box_new (GTK_ORIENTATION_VERTICAL, 12);

  self->mail = mail_new (tile_came, self);
  self->meter = pause_meter_new ();
  self->canvas = canvas_new (post_picture, self);
  canvas_set_depth (self->canvas, depth);
  self->controls = controls_new (self->canvas, config);
  self->pane = stats_pane_new (self->canvas, self->mail, self->meter);
  self->refusal = GTK_LABEL (gtk_label_new (NULL));
  gtk_label_set_wrap (self->refusal, TRUE);
  gtk_label_set_xalign (self->refusal, 0);
  gtk_label_set_max_width_chars (self->refusal, 30);
  gtk_widget_add_css_class (GTK_WIDGET (self->refusal), "error");

  gtk_widget_set_size_request (side, PANE_WIDTH, -1);
  gtk_widget_set_margin_start (side, 12);
  gtk_widget_set_margin_end (side, 12);
  gtk_widget_set_margin_top (side, 12);
  gtk_widget_set_margin_bottom (side, 12);
  gtk_box_append (GTK_BOX (side), GTK_WIDGET (self->controls));
  gtk_box_append (GTK_BOX (side), GTK_WIDGET (self->refusal));
  gtk_box_append (GTK_BOX (side), gtk_separator_new (GTK_ORIENTATION_HORIZONTAL));
  gtk_box_append (GTK_BOX (side), GTK_WIDGET (self->pane));
  gtk_box_append (GTK_BOX (box), GTK_WIDGET (self->canvas));
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (scrolled), side);
  gtk_scrolled_window_set_policy (GTK_SCROLLED_WINDOW (scrolled), GTK_POLICY_NEVER,
                                  GTK_POLICY_AUTOMATIC);
  gtk_widget_set_hexpand (scrolled, FALSE);
  gtk_box_append (GTK_BOX (box), scrolled);
  gtk_window_set_child (GTK_WINDOW (self), box);
  viewer_make_header (self);
  shortcuts_attach (GTK_APPLICATION_WINDOW (self));
  viewer_refuse (self, NULL);

  g_signal_connect_swapped (self->controls, "engine-changed", G_CALLBACK (viewer_make_engine),
                            self);
  g_signal_connect (self, "realize", G_CALLBACK (viewer_watch_frames), NULL);
  gtk_window_set_focus (GTK_WINDOW (self), GTK_WIDGET (self->canvas));
  viewer_make_engine (self);

  return self;
}

Canvas *
viewer_get_canvas (Viewer *self)
{
  return self->canvas;
}

PauseMeter *
viewer_get_meter (Viewer *self)
{
  return self->meter;
}

void
viewer_choose (Viewer *self, const EngineConfig *config)
{
  controls_set_config (self->controls, config);
}

const EngineConfig *
viewer_get_config (Viewer *self)
{
  return self->engine != NULL ? engine_get_config (self->engine) : NULL;
}

const char *
viewer_get_refusal (Viewer *self)
{
  return self->refused;
}

gboolean
viewer_is_changing (Viewer *self)
{
  return self->making || self->n_closing > 0;
}

gboolean
viewer_is_at_rest (Viewer *self)
{
  return self->engine != NULL && canvas_is_complete (self->canvas) && stats_pane_rests (self->pane);
}

void
viewer_finish (Viewer *self)
{
  if (self->finished)
    return;
  self->finished = TRUE;
  self->outdated = FALSE;
  canvas_set_fly (self->canvas, FALSE);
  canvas_stop (self->canvas);
  viewer_close_engine (self);
  while (viewer_is_changing (self))
    g_main_context_iteration (NULL, TRUE);
  stats_pane_stop (self->pane);
  g_clear_pointer (&self->mail, mail_free);
  g_clear_pointer (&self->meter, pause_meter_free);
}
