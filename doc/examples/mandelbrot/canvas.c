/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The canvas: turns finished tiles into render nodes, a bounded number at each frame.
 *
 * What the last picture showed stays behind the new one, moved and scaled to the new view, until
 * the new tiles cover it: so panning and zooming answer at once, whatever the workers do. A tile
 * becomes a node for its image and a node for its frame once; a frame of the window only lines them
 * up.
 */
#include "canvas.h"

#include "canvas-input.h"
#include "tile-frame.h"

/* Tiles that become textures at one frame, at most. */
#define UPLOADS_PER_FRAME 32

/* Where it flies to. */
#define FLY_X      (-0.743643887037151)
#define FLY_Y      0.131825904205330
#define FLY_FACTOR 0.85
#define FLY_DEEP   1e-13

typedef struct
{
  Tile *tile;
  GskRenderNode *image, *frame;
} Slot;

struct _Canvas
{
  GtkWidget parent_instance;

  CanvasPostFunc post;
  gpointer data;

  View view;
  gint tile_size;
  gboolean show_frames, fly;
  gboolean at_home; /* the view was not moved */
  gboolean dirty, stopped;
  guint tick;

  Picture *picture;
  GArray *slots; /* of Slot, one for each tile of the picture */
  GQueue arrived;
  CanvasProgress progress;
  gint64 begun, drawn; /* when the picture was wanted, when it was complete */

  GskRenderNode *backdrop; /* the images of the last picture, at its own pixels */
  View backdrop_view;
  gint backdrop_width, backdrop_height;
};

G_DEFINE_FINAL_TYPE (Canvas, canvas, GTK_TYPE_WIDGET)

enum
{
  COMPLETED,
  N_SIGNALS
};

static guint signals[N_SIGNALS];

static void
slot_clear (gpointer data)
{
  Slot *slot = data;

  g_clear_pointer (&slot->tile, tile_unref);
  g_clear_pointer (&slot->image, gsk_render_node_unref);
  g_clear_pointer (&slot->frame, gsk_render_node_unref);
}

/* Keeps the images behind the next picture, if they show more than what is there already. */
static void
canvas_keep_backdrop (Canvas *self)
{
  g_autoptr (GPtrArray) images = NULL;

  if (self->progress.n_done == 0
      || (self->backdrop != NULL && self->progress.n_done < self->progress.n_tiles / 2))
    return;

  images = g_ptr_array_new ();
  for (guint i = 0; i < self->slots->len; i++)
    if (g_array_index (self->slots, Slot, i).image != NULL)
      g_ptr_array_add (images, g_array_index (self->slots, Slot, i).image);
  g_clear_pointer (&self->backdrop, gsk_render_node_unref);
  self->backdrop = gsk_container_node_new ((GskRenderNode **) images->pdata, images->len);
  self->backdrop_view = self->picture->view;
  self->backdrop_width = self->picture->width;
  self->backdrop_height = self->picture->height;
}

static void
canvas_forget_picture (Canvas *self)
{
  Tile *tile;

  if (self->picture != NULL)
    picture_set_stale (self->picture);
  g_clear_pointer (&self->picture, picture_unref);
  while ((tile = g_queue_pop_head (&self->arrived)) != NULL)
    {
      self->progress.n_late++;
      tile_unref (tile);
    }
  g_array_set_size (self->slots, 0);
}

static void
canvas_begin_picture (Canvas *self)
{
  static guint generation;
  gint width = gtk_widget_get_width (GTK_WIDGET (self));
  gint height = gtk_widget_get_height (GTK_WIDGET (self));
  CanvasProgress *progress = &self->progress;

  if (width <= 0 || height <= 0)
    return;

  self->dirty = FALSE;
  if (self->picture != NULL)
    canvas_keep_backdrop (self);
  canvas_forget_picture (self);
  self->picture = picture_new (&self->view, width, height, self->tile_size, ++generation);
  *progress = (CanvasProgress){ .n_late = progress->n_late };
  progress->n_tiles = picture_get_n_tiles (self->picture);
  g_array_set_size (self->slots, progress->n_tiles);
  self->begun = g_get_monotonic_time ();
  self->drawn = 0;
  self->post (self->picture, self->data);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

static void
canvas_upload (Canvas *self, Tile *tile)
{
  Slot *slot = &g_array_index (self->slots, Slot, tile->index);
  g_autoptr (GdkTexture) texture = gdk_memory_texture_new (
      tile->width, tile->height, GDK_MEMORY_DEFAULT, tile->pixels, (gsize) tile->width * 4);
  graphene_rect_t area = GRAPHENE_RECT_INIT (tile->x, tile->y, tile->width, tile->height);

  if (slot->tile != NULL)
    g_error ("Tile %u came twice", tile->index);
  slot->tile = tile;
  slot->image = gsk_texture_node_new (texture, &area);
  slot->frame = tile_frame_new (GTK_WIDGET (self), tile);
  self->progress.n_done++;
  self->progress.n_stolen_inside += tile->origin == TILE_STOLEN_INSIDE;
  self->progress.n_stolen_from_far += tile->origin == TILE_STOLEN_FROM_FAR;
}

static void
canvas_fly (Canvas *self)
{
  if (self->view.scale < FLY_DEEP)
    canvas_reset (self);
  self->view.x += (FLY_X - self->view.x) * .5;
  self->view.y += (FLY_Y - self->view.y) * .5;
  self->view.scale *= FLY_FACTOR;
  self->at_home = FALSE;
  self->dirty = TRUE;
}

static void
canvas_complete (Canvas *self)
{
  self->drawn = g_get_monotonic_time ();
  g_clear_pointer (&self->backdrop, gsk_render_node_unref);
  g_signal_emit (self, signals[COMPLETED], 0);
  if (self->fly)
    canvas_fly (self);
}

/* Once a frame, as long as something is to come. */
static gboolean
canvas_tick (GtkWidget *widget, GdkFrameClock *clock, gpointer data)
{
  Canvas *self = MANDELBROT_CANVAS (widget);
  guint n = 0;
  Tile *tile;

  if (self->dirty)
    canvas_begin_picture (self);
  for (; n < UPLOADS_PER_FRAME && (tile = g_queue_pop_head (&self->arrived)) != NULL; n++)
    canvas_upload (self, tile);
  if (n > 0)
    gtk_widget_queue_draw (widget);
  if (self->picture != NULL && self->drawn == 0 && self->progress.n_done == self->progress.n_tiles)
    canvas_complete (self);
  if (!canvas_is_complete (self))
    return G_SOURCE_CONTINUE;
  self->tick = 0;

  return G_SOURCE_REMOVE;
}

static void
canvas_ensure_tick (Canvas *self)
{
  if (self->tick == 0 && !self->stopped)
    self->tick = gtk_widget_add_tick_callback (GTK_WIDGET (self), canvas_tick, NULL, NULL);
}

/* Shows the whole set, whatever the form of the window. */
static void
canvas_go_home (Canvas *self, gint width, gint height)
{
  self->view.x = PICTURE_HOME_X;
  self->view.y = PICTURE_HOME_Y;
  self->view.scale = MAX (PICTURE_HOME_HEIGHT / MAX (height, 1),
                          PICTURE_HOME_WIDTH / MAX (width, 1));
  self->at_home = TRUE;
}

static void
canvas_size_allocate (GtkWidget *widget, gint width, gint height, gint baseline)
{
  Canvas *self = MANDELBROT_CANVAS (widget);

  if (self->at_home)
    canvas_go_home (self, width, height);
  if (self->picture == NULL || self->picture->width != width || self->picture->height != height)
    canvas_redraw (self);
}

static void
canvas_snapshot_backdrop (Canvas *self, GtkSnapshot *snapshot)
{
  const View *from = &self->backdrop_view, *to = &self->view;
  double ratio = from->scale / to->scale;
  gint width = gtk_widget_get_width (GTK_WIDGET (self));
  gint height = gtk_widget_get_height (GTK_WIDGET (self));

  gtk_snapshot_save (snapshot);
  gtk_snapshot_translate (
      snapshot, &GRAPHENE_POINT_INIT ((float) (width / 2. + (from->x - to->x) / to->scale),
                                      (float) (height / 2. + (from->y - to->y) / to->scale)));
  gtk_snapshot_scale (snapshot, (float) ratio, (float) ratio);
  gtk_snapshot_translate (
      snapshot, &GRAPHENE_POINT_INIT (-self->backdrop_width / 2.F, -self->backdrop_height / 2.F));
  gtk_snapshot_append_node (snapshot, self->backdrop);
  gtk_snapshot_restore (snapshot);
}

static void
canvas_snapshot (GtkWidget *widget, GtkSnapshot *snapshot)
{
  Canvas *self = MANDELBROT_CANVAS (widget);
  graphene_rect_t all = GRAPHENE_RECT_INIT (0, 0, (float) gtk_widget_get_width (widget),
                                            (float) gtk_widget_get_height (widget));

  gtk_snapshot_push_clip (snapshot, &all);
  gtk_snapshot_append_color (snapshot, &(GdkRGBA){ .06F, .06F, .08F, 1 }, &all);
  if (self->backdrop != NULL)
    canvas_snapshot_backdrop (self, snapshot);
  for (guint i = 0; i < self->slots->len; i++)
    if (g_array_index (self->slots, Slot, i).image != NULL)
      gtk_snapshot_append_node (snapshot, g_array_index (self->slots, Slot, i).image);
  for (guint i = 0; self->show_frames && i < self->slots->len; i++)
    if (g_array_index (self->slots, Slot, i).frame != NULL)
      gtk_snapshot_append_node (snapshot, g_array_index (self->slots, Slot, i).frame);
  gtk_snapshot_pop (snapshot);
}

static void
canvas_dispose (GObject *object)
{
  Canvas *self = MANDELBROT_CANVAS (object);

  canvas_forget_picture (self);
  g_clear_pointer (&self->backdrop, gsk_render_node_unref);

  G_OBJECT_CLASS (canvas_parent_class)->dispose (object);
}

static void
canvas_finalize (GObject *object)
{
  g_array_unref (MANDELBROT_CANVAS (object)->slots);

  G_OBJECT_CLASS (canvas_parent_class)->finalize (object);
}

static void
canvas_class_init (CanvasClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = canvas_dispose;
  G_OBJECT_CLASS (klass)->finalize = canvas_finalize;
  widget_class->size_allocate = canvas_size_allocate;
  widget_class->snapshot = canvas_snapshot;

  /* All tiles of the picture are there. */
  signals[COMPLETED] = g_signal_new ("completed", TYPE_CANVAS, G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                                     NULL, G_TYPE_NONE, 0);
}

static void
canvas_init (Canvas *self)
{
  self->view.depth = PICTURE_USUAL_DEPTH;
  self->at_home = TRUE;
  self->tile_size = 64;
  self->show_frames = TRUE;
  self->slots = g_array_new (FALSE, TRUE, sizeof (Slot));
  g_array_set_clear_func (self->slots, slot_clear);
  g_queue_init (&self->arrived);
  gtk_widget_set_focusable (GTK_WIDGET (self), TRUE);
  gtk_widget_set_hexpand (GTK_WIDGET (self), TRUE);
  gtk_widget_set_vexpand (GTK_WIDGET (self), TRUE);
  gtk_widget_set_size_request (GTK_WIDGET (self), 160, 120);
  gtk_widget_set_cursor_from_name (GTK_WIDGET (self), "grab");
  canvas_input_attach (self);
}

Canvas *
canvas_new (CanvasPostFunc post, gpointer data)
{
  Canvas *self = g_object_new (TYPE_CANVAS, NULL);

  self->post = post;
  self->data = data;

  return self;
}

void
canvas_redraw (Canvas *self)
{
  self->dirty = TRUE;
  canvas_ensure_tick (self);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

void
canvas_reset (Canvas *self)
{
  canvas_go_home (self, gtk_widget_get_width (GTK_WIDGET (self)),
                  gtk_widget_get_height (GTK_WIDGET (self)));
  canvas_redraw (self);
}

void
canvas_pan (Canvas *self, double dx, double dy)
{
  self->at_home = FALSE;
  self->view.x = CLAMP (self->view.x - dx * self->view.scale, -4, 4);
  self->view.y = CLAMP (self->view.y - dy * self->view.scale, -4, 4);
  canvas_redraw (self);
}

/* The point at (@x, @y) of the widget stays where it is. */
void
canvas_zoom (Canvas *self, double factor, double x, double y)
{
  double scale = CLAMP (self->view.scale * factor, PICTURE_MIN_SCALE, PICTURE_MAX_SCALE);
  double moved = self->view.scale - scale;

  self->view.x += (x - gtk_widget_get_width (GTK_WIDGET (self)) / 2.) * moved;
  self->view.y += (y - gtk_widget_get_height (GTK_WIDGET (self)) / 2.) * moved;
  self->view.scale = scale;
  self->at_home = FALSE;
  canvas_redraw (self);
}

void
canvas_zoom_middle (Canvas *self, double factor)
{
  canvas_zoom (self, factor, gtk_widget_get_width (GTK_WIDGET (self)) / 2.,
               gtk_widget_get_height (GTK_WIDGET (self)) / 2.);
}

void
canvas_set_depth (Canvas *self, guint depth)
{
  self->view.depth = CLAMP (depth, PICTURE_MIN_DEPTH, PICTURE_MAX_DEPTH);
  canvas_redraw (self);
}

void
canvas_set_palette (Canvas *self, guint palette)
{
  self->view.palette = palette % PICTURE_N_PALETTES;
  canvas_redraw (self);
}

void
canvas_set_tile_size (Canvas *self, gint tile_size)
{
  self->tile_size = CLAMP (tile_size, CANVAS_MIN_TILE, CANVAS_MAX_TILE);
  canvas_redraw (self);
}

void
canvas_set_show_frames (Canvas *self, gboolean show)
{
  self->show_frames = show;
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

void
canvas_set_fly (Canvas *self, gboolean fly)
{
  self->fly = fly;
  if (fly && canvas_is_complete (self))
    {
      canvas_fly (self);
      canvas_redraw (self);
    }
}

const View *
canvas_get_view (Canvas *self)
{
  return &self->view;
}

void
canvas_get_progress (Canvas *self, CanvasProgress *progress)
{
  *progress = self->progress;
  if (self->picture != NULL)
    progress->time = (self->drawn != 0 ? self->drawn : g_get_monotonic_time ()) - self->begun;
}

guint
canvas_count_tiles (Canvas *self, gint worker)
{
  guint n = 0;

  for (guint i = 0; i < self->slots->len; i++)
    {
      const Tile *tile = g_array_index (self->slots, Slot, i).tile;

      n += tile != NULL && tile->worker == worker;
    }

  return n;
}

gboolean
canvas_is_complete (Canvas *self)
{
  return !self->dirty && self->picture != NULL && self->drawn != 0;
}

void
canvas_stop (Canvas *self)
{
  self->stopped = TRUE;
  if (self->tick != 0)
    gtk_widget_remove_tick_callback (GTK_WIDGET (self), self->tick);
  self->tick = 0;
  canvas_forget_picture (self);
}

void
canvas_take_tile (Canvas *self, Tile *tile)
{
  if (tile->picture != self->picture)
    {
      self->progress.n_late++;
      tile_unref (tile);
      return;
    }
  g_queue_push_tail (&self->arrived, tile);
  canvas_ensure_tick (self);
}
