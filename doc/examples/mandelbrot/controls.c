/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The controls: drop-downs, spin buttons and switches, and what they do to the canvas.
 */
#include "controls.h"

struct _Controls
{
  GtkGrid parent_instance;

  Canvas *canvas;
  GtkDropDown *scheduler, *level, *palette;
  GtkSpinButton *workers, *depth, *tile_size;
  gint n_rows;
  gint niceness;
  gboolean quiet; /* while several are set at once */
};

G_DEFINE_FINAL_TYPE (Controls, controls, GTK_TYPE_GRID)

enum
{
  ENGINE_CHANGED,
  N_SIGNALS
};

static guint signals[N_SIGNALS];

static const char *const palette_names[PICTURE_N_PALETTES + 1] = { "Dusk", "Ember", "Lagoon",
                                                                   "Grey", NULL };

static void
controls_class_init (ControlsClass *klass)
{
  signals[ENGINE_CHANGED] = g_signal_new ("engine-changed", TYPE_CONTROLS, G_SIGNAL_RUN_LAST, 0,
                                          NULL, NULL, NULL, G_TYPE_NONE, 0);
}

static void
controls_init (Controls *self)
{
  gtk_grid_set_row_spacing (GTK_GRID (self), 6);
  gtk_grid_set_column_spacing (GTK_GRID (self), 12);
}

static void
engine_changed (Controls *self)
{
  guint kind = gtk_drop_down_get_selected (self->scheduler);

  if (kind < n_engine_kinds)
    {
      gtk_widget_set_sensitive (GTK_WIDGET (self->level), engine_kinds[kind].has_places);
      gtk_widget_set_sensitive (GTK_WIDGET (self->workers), engine_kinds[kind].has_workers);
    }
  if (!self->quiet)
    g_signal_emit (self, signals[ENGINE_CHANGED], 0);
}

static void
palette_changed (Controls *self)
{
  canvas_set_palette (self->canvas, gtk_drop_down_get_selected (self->palette));
}

static void
depth_changed (Controls *self)
{
  canvas_set_depth (self->canvas, (guint) gtk_spin_button_get_value_as_int (self->depth));
}

static void
tile_size_changed (Controls *self)
{
  canvas_set_tile_size (self->canvas, gtk_spin_button_get_value_as_int (self->tile_size));
}

static void
frames_switched (Controls *self, GParamSpec *pspec, GtkSwitch *toggle)
{
  canvas_set_show_frames (self->canvas, gtk_switch_get_active (toggle));
}

static void
fly_switched (Controls *self, GParamSpec *pspec, GtkSwitch *toggle)
{
  canvas_set_fly (self->canvas, gtk_switch_get_active (toggle));
}

static void
add_row (Controls *self, const char *mnemonic, GtkWidget *widget, const char *tooltip)
{
  GtkWidget *label = gtk_label_new_with_mnemonic (mnemonic);

  gtk_label_set_mnemonic_widget (GTK_LABEL (label), widget);
  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_widget_set_tooltip_text (label, tooltip);
  gtk_widget_set_tooltip_text (widget, tooltip);
  gtk_widget_set_hexpand (widget, TRUE);
  gtk_grid_attach (GTK_GRID (self), label, 0, self->n_rows, 1, 1);
  gtk_grid_attach (GTK_GRID (self), widget, 1, self->n_rows++, 1, 1);
}

static GtkDropDown *
add_drop_down (Controls *self,
               const char *mnemonic,
               const char *const *names,
               guint selected,
               GCallback changed,
               const char *tooltip)
{
  GtkWidget *widget = gtk_drop_down_new_from_strings (names);

  gtk_drop_down_set_selected (GTK_DROP_DOWN (widget), selected);
  add_row (self, mnemonic, widget, tooltip);
  g_signal_connect_swapped (widget, "notify::selected", changed, self);

  return GTK_DROP_DOWN (widget);
}

static GtkSpinButton *
add_spin (Controls *self,
          const char *mnemonic,
          double value,
          double from,
          double to,
          double step,
          GCallback changed,
          const char *tooltip)
{
  GtkWidget *widget = gtk_spin_button_new_with_range (from, to, step);

  gtk_spin_button_set_numeric (GTK_SPIN_BUTTON (widget), TRUE);
  gtk_spin_button_set_value (GTK_SPIN_BUTTON (widget), value);
  add_row (self, mnemonic, widget, tooltip);
  g_signal_connect_swapped (widget, "value-changed", changed, self);

  return GTK_SPIN_BUTTON (widget);
}

static void
add_switch (Controls *self,
            const char *mnemonic,
            gboolean active,
            GCallback changed,
            const char *tooltip)
{
  GtkWidget *widget = gtk_switch_new ();

  gtk_switch_set_active (GTK_SWITCH (widget), active);
  gtk_widget_set_halign (widget, GTK_ALIGN_END);
  add_row (self, mnemonic, widget, tooltip);
  g_signal_connect_swapped (widget, "notify::active", changed, self);
}

Controls *
controls_new (Canvas *canvas, const EngineConfig *config)
{
  Controls *self = g_object_new (TYPE_CONTROLS, NULL);
  g_autofree const char **titles = g_new0 (const char *, n_engine_kinds + 1);

  self->canvas = canvas;
  self->niceness = config->niceness;
  self->quiet = TRUE;
  for (guint i = 0; i < n_engine_kinds; i++)
    titles[i] = engine_kinds[i].title;
  self->scheduler = add_drop_down (self, "_Scheduler", titles, config->kind,
                                   G_CALLBACK (engine_changed), "Who runs the messages");
  self->level = add_drop_down (
      self, "_Places", engine_levels, config->level, G_CALLBACK (engine_changed),
      "Which parts of the machine are places; “synthetic” is made up: four caches on two sockets");
  self->workers = add_spin (self, "_Workers", config->n_workers, 1, ENGINE_MAX_WORKERS, 1,
                            G_CALLBACK (engine_changed), "How many threads draw");
  self->depth = add_spin (self, "_Iterations", canvas_get_view (canvas)->depth, PICTURE_MIN_DEPTH,
                          PICTURE_MAX_DEPTH, 250, G_CALLBACK (depth_changed),
                          "The most iterations at a point: detail, and work");
  self->tile_size = add_spin (self, "_Tile size", 64, CANVAS_MIN_TILE, CANVAS_MAX_TILE, 16,
                              G_CALLBACK (tile_size_changed),
                              "The edge of a tile, in pixels: a tile is a message");
  self->palette = add_drop_down (self, "_Colours", palette_names, 0, G_CALLBACK (palette_changed),
                                 "Another palette; all tiles are drawn again");
  add_switch (self, "_Frames", TRUE, G_CALLBACK (frames_switched),
              "Frame each tile in the colour of the worker that drew it; thick if it was stolen");
  add_switch (self, "Fl_y", FALSE, G_CALLBACK (fly_switched),
              "Zoom on by itself: full load for as long as you look");
  engine_changed (self);
  self->quiet = FALSE;

  return self;
}

void
controls_get_config (Controls *self, EngineConfig *config)
{
  config->kind = MIN (gtk_drop_down_get_selected (self->scheduler), n_engine_kinds - 1);
  config->level = MIN (gtk_drop_down_get_selected (self->level), n_engine_levels - 1);
  config->niceness = self->niceness;
  config->n_workers = (guint) gtk_spin_button_get_value_as_int (self->workers);
}

void
controls_set_config (Controls *self, const EngineConfig *config)
{
  EngineConfig now;

  controls_get_config (self, &now);
  if (now.kind == config->kind && now.level == config->level && now.n_workers == config->n_workers)
    return;
  self->quiet = TRUE;
  gtk_drop_down_set_selected (self->scheduler, config->kind);
  gtk_drop_down_set_selected (self->level, config->level);
  gtk_spin_button_set_value (self->workers, config->n_workers);
  self->quiet = FALSE;
  engine_changed (self);
}
