/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The way back: finished tiles from any worker to the main loop, one wake-up for many.
 */
#pragma once

#include "picture.h"

typedef struct _Mail Mail;

/* Called on the main loop with each tile, which it owns. */
typedef void (*MailFunc) (Tile *tile, gpointer data);

/* For the thread's main context. */
Mail *mail_new (MailFunc func, gpointer data);
/* After the last sender. */
void mail_free (Mail *self);
/* Any thread; takes the tile. */
void mail_send (Mail *self, Tile *tile);
/* How often the main loop was woken, and for how many tiles. */
void mail_get_counts (Mail *self, guint64 *n_wakes, guint64 *n_tiles);
