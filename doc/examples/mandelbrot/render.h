/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The renderer: computes the pixels of a tile, and the colours of workers.
 */
#pragma once

#include "picture.h"

/* Draws a tile on the calling thread. FALSE when its picture became stale, and it was left undrawn.
 */
gboolean render_tile (Tile *tile);

/* A colour for each worker, far from those of its neighbours; white for -1, no worker. */
void render_worker_colour (gint worker, guint8 rgb[3]);
