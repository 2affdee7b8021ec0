/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The frame of a tile: the worker that drew it, and whether it was stolen.
 */
#pragma once

#include "picture.h"

#include <gtk/gtk.h>

/* Returns the frame as something to draw over the tile; @widget lends its font. */
GskRenderNode *tile_frame_new (GtkWidget *widget, const Tile *tile);

/* The colour that stands for a worker. */
GdkRGBA tile_frame_colour (gint worker);
