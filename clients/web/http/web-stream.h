/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A connection on which frames are sent of which only the latest counts.
 *
 * A SoupMessageBody grows without bound while its reader is slow. Here at most one frame is being
 * written, and at most one waits: a newer frame takes its place. What the peer sends is read and
 * dropped, so that its end is noticed.
 */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

typedef struct _WebStream WebStream;
typedef void (*WebStreamClosed) (WebStream *self, gpointer user_data);

/* @socket is that of @io. @closed is called once, and never from within a call. */
WebStream *
web_stream_new (GIOStream *io, GSocket *socket, WebStreamClosed closed, gpointer user_data);
/* Calls nothing afterwards. */
void web_stream_free (WebStream *self);
/* The first frame is the whole of the answer's head. */
void web_stream_send (WebStream *self, GBytes *frame);
/* No more frames: ends the connection when all is written and the peer has closed it too. */
void web_stream_end (WebStream *self);
/* Since when the frame that is being written waits for the reader; 0 if none does. */
gint64 web_stream_get_waiting_since_us (WebStream *self);

G_END_DECLS
