/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The tile source: a view of the set, cut into tiles, and tiles gathered into bands.
 *
 * A picture is what the window wants to show now. When the view moves, it becomes stale, and each
 * handler that meets one of its tiles drops it. Pictures, tiles and bands are counted references,
 * which any thread may take and drop; messages carry them as boxed values.
 */
#pragma once

#include <glib-object.h>

#define PICTURE_MIN_DEPTH   50
#define PICTURE_MAX_DEPTH   20000
#define PICTURE_USUAL_DEPTH 500
#define PICTURE_N_PALETTES  4
#define PICTURE_HOME_X      (-0.65)
#define PICTURE_HOME_Y      0.0
#define PICTURE_HOME_HEIGHT 2.5 /* of the plane, that is shown at least */
#define PICTURE_HOME_WIDTH  3.2
#define PICTURE_MIN_SCALE   1e-16 /* below it, doubles tell neighbouring pixels no longer apart */
#define PICTURE_MAX_SCALE   0.1

/**
 * View:
 * @x: the point of the plane at the middle
 * @y: see @x
 * @scale: how much of the plane a pixel is wide
 * @depth: the most iterations at a point
 * @palette: which colours, below %PICTURE_N_PALETTES
 */
typedef struct
{
  double x, y, scale;
  guint depth;
  guint palette;
} View;

typedef struct
{
  gatomicrefcount refs;
  gint stale; /* atomic */
  guint generation;
  View view;
  gint width, height, tile_size; /* pixels */
  guint n_columns, n_rows;
} Picture;

/* How a tile came to the worker that drew it. */
typedef enum
{
  TILE_OWN,             /* from its own queue, or from one that all share */
  TILE_STOLEN_INSIDE,   /* from another worker of the same place */
  TILE_STOLEN_FROM_FAR, /* from another place */
} TileOrigin;

typedef struct
{
  gatomicrefcount refs;
  Picture *picture;
  guint index; /* row by row */
  gint x, y, width, height;

  /* Whom it was given to; the worker is -1 for a scheduler that has none. */
  gint dealt_place, dealt_worker;

  /* Filled in by the worker that draws it. */
  gint place, worker;
  TileOrigin origin;
  GBytes *pixels; /* GDK_MEMORY_DEFAULT */
} Tile;

/* Neighbouring tiles that go to one place together. */
typedef struct
{
  gatomicrefcount refs;
  Picture *picture;
  gint place;
  guint first, n;
} Band;

#define TYPE_TILE (tile_get_type ())
GType tile_get_type (void);
#define TYPE_BAND (band_get_type ())
GType band_get_type (void);

Picture *picture_new (const View *view, gint width, gint height, gint tile_size, guint generation);
Picture *picture_ref (Picture *self);
void picture_unref (Picture *self);
guint picture_get_n_tiles (const Picture *self);
void picture_set_stale (Picture *self);
gboolean picture_is_stale (Picture *self);

Tile *tile_new (Picture *picture, guint index);
Tile *tile_ref (Tile *self);
void tile_unref (Tile *self);

Band *band_new (Picture *picture, guint index, guint n_bands, gint place);
Band *band_ref (Band *self);
void band_unref (Band *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (Picture, picture_unref)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Tile, tile_unref)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Band, band_unref)
