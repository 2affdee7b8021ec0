/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The tile source: pictures, tiles and bands, and the owners of their references.
 */
#include "picture.h"

G_DEFINE_BOXED_TYPE (Tile, tile, tile_ref, tile_unref)
G_DEFINE_BOXED_TYPE (Band, band, band_ref, band_unref)

Picture *
picture_new (const View *view, gint width, gint height, gint tile_size, guint generation)
{
  Picture *self = g_new0 (Picture, 1);

  g_atomic_ref_count_init (&self->refs);
  self->generation = generation;
  self->view = *view;
  self->width = width;
  self->height = height;
  self->tile_size = tile_size;
  self->n_columns = (guint) ((width + tile_size - 1) / tile_size);
  self->n_rows = (guint) ((height + tile_size - 1) / tile_size);

  return self;
}

Picture *
picture_ref (Picture *self)
{
  g_atomic_ref_count_inc (&self->refs);
  return self;
}

void
picture_unref (Picture *self)
{
  if (g_atomic_ref_count_dec (&self->refs))
    g_free (self);
}

guint
picture_get_n_tiles (const Picture *self)
{
  return self->n_columns * self->n_rows;
}

void
picture_set_stale (Picture *self)
{
  g_atomic_int_set (&self->stale, TRUE);
}

gboolean
picture_is_stale (Picture *self)
{
  return g_atomic_int_get (&self->stale);
}

Tile *
tile_new (Picture *picture, guint index)
{
  Tile *self = g_new0 (Tile, 1);

  g_atomic_ref_count_init (&self->refs);
  self->picture = picture_ref (picture);
  self->index = index;
  self->x = (gint) (index % picture->n_columns) * picture->tile_size;
  self->y = (gint) (index / picture->n_columns) * picture->tile_size;
  self->width = MIN (picture->tile_size, picture->width - self->x);
  self->height = MIN (picture->tile_size, picture->height - self->y);

  return self;
}

Tile *
tile_ref (Tile *self)
{
  g_atomic_ref_count_inc (&self->refs);
  return self;
}

void
tile_unref (Tile *self)
{
  if (!g_atomic_ref_count_dec (&self->refs))
    return;
  picture_unref (self->picture);
  g_clear_pointer (&self->pixels, g_bytes_unref);
  g_free (self);
}

/* Band @index of @n_bands that share the tiles of a picture evenly, row by row. */
Band *
band_new (Picture *picture, guint index, guint n_bands, gint place)
{
  Band *self = g_new0 (Band, 1);
  guint n_tiles = picture_get_n_tiles (picture);

  g_atomic_ref_count_init (&self->refs);
  self->picture = picture_ref (picture);
  self->place = place;
  self->first = index * n_tiles / n_bands;
  self->n = (index + 1) * n_tiles / n_bands - self->first;

  return self;
}

Band *
band_ref (Band *self)
{
  g_atomic_ref_count_inc (&self->refs);
  return self;
}

void
band_unref (Band *self)
{
  if (!g_atomic_ref_count_dec (&self->refs))
    return;
  picture_unref (self->picture);
  g_free (self);
}
