/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The frame of a tile: a border in the colour of the worker that drew it, and a badge with its
 * number. A stolen tile has a thick border, and its badge says from whom.
 */
#include "tile-frame.h"

#include "render.h"

#define SMALLEST_WITH_BADGE 40 /* pixels */

GdkRGBA
tile_frame_colour (gint worker)
{
  guint8 rgb[3];

  render_worker_colour (worker, rgb);

  return (GdkRGBA){ (float) rgb[0] / 255, (float) rgb[1] / 255, (float) rgb[2] / 255, 1 };
}

static void
append_badge (GtkSnapshot *snapshot, GtkWidget *widget, const Tile *tile, const GdkRGBA *colour)
{
  g_autoptr (PangoLayout) layout = gtk_widget_create_pango_layout (widget, NULL);
  PangoFontDescription *font = pango_font_description_from_string ("Sans Bold");
  g_autofree char *text = NULL;
  GdkRGBA dark = { .05F, .05F, .07F, 1 };
  gboolean stolen = tile->origin != TILE_OWN;
  gint width, height;

  if (tile->worker < 0)
    text = g_strdup ("main");
  else if (tile->origin == TILE_STOLEN_INSIDE)
    text = g_strdup_printf ("%d ← %d", tile->worker, tile->dealt_worker);
  else if (tile->origin == TILE_STOLEN_FROM_FAR)
    text = g_strdup_printf ("%d ← P%d", tile->worker, tile->dealt_place);
  else
    text = g_strdup_printf ("%d", tile->worker);

  pango_font_description_set_absolute_size (font, 10 * PANGO_SCALE);
  pango_layout_set_font_description (layout, font);
  pango_font_description_free (font);
  pango_layout_set_text (layout, text, -1);
  pango_layout_get_pixel_size (layout, &width, &height);

  /* Stolen: the colours change places. */
  gtk_snapshot_append_color (snapshot, stolen ? &dark : colour,
                             &GRAPHENE_RECT_INIT (0, 0, (float) width + 8, (float) height + 2));
  gtk_snapshot_translate (snapshot, &GRAPHENE_POINT_INIT (4, 1));
  gtk_snapshot_append_layout (snapshot, layout, stolen ? colour : &dark);
}

GskRenderNode *
tile_frame_new (GtkWidget *widget, const Tile *tile)
{
  GtkSnapshot *snapshot = gtk_snapshot_new ();
  GdkRGBA colour = tile_frame_colour (tile->worker);
  float edge = tile->origin == TILE_OWN ? 1 : 3;
  GskRoundedRect outline;

  gsk_rounded_rect_init_from_rect (&outline,
                                   &GRAPHENE_RECT_INIT ((float) tile->x, (float) tile->y,
                                                        (float) tile->width, (float) tile->height),
                                   0);
  gtk_snapshot_append_border (snapshot, &outline, (float[4]){ edge, edge, edge, edge },
                              (GdkRGBA[4]){ colour, colour, colour, colour });
  if (tile->width >= SMALLEST_WITH_BADGE && tile->height >= SMALLEST_WITH_BADGE / 2)
    {
      gtk_snapshot_translate (
          snapshot, &GRAPHENE_POINT_INIT ((float) tile->x + edge, (float) tile->y + edge));
      append_badge (snapshot, widget, tile, &colour);
    }

  return gtk_snapshot_free_to_node (snapshot);
}
