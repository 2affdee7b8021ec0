/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The canvas: the widget that shows a view of the set, tile by tile.
 */
#pragma once

#include "picture.h"

#include <gtk/gtk.h>

#define CANVAS_MIN_TILE 16
#define CANVAS_MAX_TILE 256

#define TYPE_CANVAS (canvas_get_type ())
G_DECLARE_FINAL_TYPE (Canvas, canvas, MANDELBROT, CANVAS, GtkWidget)

/* Called with a picture whose tiles are wanted; canvas_take_tile() brings them. */
typedef void (*CanvasPostFunc) (Picture *picture, gpointer data);

typedef struct
{
  guint n_tiles, n_done;
  guint n_stolen_inside, n_stolen_from_far;
  guint n_late; /* tiles of stale pictures that came nevertheless, since the canvas was made */
  gint64 time;  /* microseconds that the picture took, or has taken so far */
} CanvasProgress;

Canvas *canvas_new (CanvasPostFunc post, gpointer data);

/* The next frame asks for a new picture; any number of changes before it make one. */
void canvas_redraw (Canvas *self);
void canvas_reset (Canvas *self);
void canvas_pan (Canvas *self, double dx, double dy);
void canvas_zoom (Canvas *self, double factor, double x, double y);
void canvas_zoom_middle (Canvas *self, double factor);
void canvas_set_depth (Canvas *self, guint depth);
void canvas_set_palette (Canvas *self, guint palette);
void canvas_set_tile_size (Canvas *self, gint tile_size);
void canvas_set_show_frames (Canvas *self, gboolean show);
/* Whether to fly on, into the set, each time a picture is complete. */
void canvas_set_fly (Canvas *self, gboolean fly);

const View *canvas_get_view (Canvas *self);
void canvas_get_progress (Canvas *self, CanvasProgress *progress);
/* How many tiles of the picture a worker drew; -1 is no worker. */
guint canvas_count_tiles (Canvas *self, gint worker);
/* Nothing is wanted, on its way, or not yet drawn. */
gboolean canvas_is_complete (Canvas *self);

/* Wants nothing any more. */
void canvas_stop (Canvas *self);

/* Takes the tile. */
void canvas_take_tile (Canvas *self, Tile *tile);
