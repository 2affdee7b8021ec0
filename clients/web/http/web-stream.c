/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A connection on which frames are sent of which only the latest counts.
 *
 * The asynchronous read and the write hold a reference each. web_stream_free() cancels both, and
 * the last of them frees.
 */
#include "clients/web/http/web-stream.h"

#include <sys/socket.h>

/* What the kernel keeps for a reader that sleeps; without it some megabytes of old states. */
#define SEND_BUFFER_BYTES 65536

struct _WebStream
{
  GIOStream *io;
  GSocket *socket;
  GCancellable *cancellable;
  GBytes *writing;
  GBytes *waiting;
  gint64 since_us;
  gboolean ending;
  gboolean over;
  WebStreamClosed closed; /* NULL once it was called, or the stream is freed */
  gpointer user_data;
  char dropped[512];
};

static void read_on (WebStream *self);
static void write_on (WebStream *self);

static void
web_stream_clear (gpointer data)
{
  WebStream *self = data;

  g_clear_object (&self->io);
  g_clear_object (&self->socket);
  g_clear_object (&self->cancellable);
  g_clear_pointer (&self->writing, g_bytes_unref);
  g_clear_pointer (&self->waiting, g_bytes_unref);
}

static void
shut_down (WebStream *self)
{
  self->over = TRUE;
  g_cancellable_cancel (self->cancellable);
  g_socket_shutdown (self->socket, TRUE, TRUE, NULL);
}

static void
tell_closed (WebStream *self)
{
  WebStreamClosed closed = g_steal_pointer (&self->closed);

  shut_down (self);
  if (closed != NULL)
    closed (self, self->user_data);
}

static void
read_done (GObject *source, GAsyncResult *result, gpointer user_data)
{
  WebStream *self = user_data;
  gssize n = g_input_stream_read_finish (G_INPUT_STREAM (source), result, NULL);

  if (n > 0 && !self->over)
    read_on (self);
  else
    tell_closed (self);
  g_rc_box_release_full (self, web_stream_clear);
}

static void
read_on (WebStream *self)
{
  g_input_stream_read_async (g_io_stream_get_input_stream (self->io), self->dropped,
                             sizeof self->dropped, G_PRIORITY_DEFAULT, self->cancellable, read_done,
                             g_rc_box_acquire (self));
}

static void
write_done (GObject *source, GAsyncResult *result, gpointer user_data)
{
  WebStream *self = user_data;
  gboolean ok = g_output_stream_write_all_finish (G_OUTPUT_STREAM (source), result, NULL, NULL);

  g_clear_pointer (&self->writing, g_bytes_unref);
  self->since_us = 0;
  if (!ok)
    tell_closed (self);
  else if (!self->over && self->waiting != NULL)
    write_on (self);
  else if (!self->over && self->ending)
    g_socket_shutdown (self->socket, FALSE, TRUE, NULL);
  g_rc_box_release_full (self, web_stream_clear);
}

static void
write_on (WebStream *self)
{
  gsize size;
  gconstpointer data;

  self->writing = g_steal_pointer (&self->waiting);
  self->since_us = g_get_monotonic_time ();
  data = g_bytes_get_data (self->writing, &size);
  g_output_stream_write_all_async (g_io_stream_get_output_stream (self->io), data, size,
                                   G_PRIORITY_DEFAULT, self->cancellable, write_done,
                                   g_rc_box_acquire (self));
}

WebStream *
web_stream_new (GIOStream *io, GSocket *socket, WebStreamClosed closed, gpointer user_data)
{
  WebStream *self = g_rc_box_new0 (WebStream);

  self->cancellable = g_cancellable_new ();
  self->closed = closed;
  self->user_data = user_data;
  self->io = g_object_ref (io);
  self->socket = g_object_ref (socket);
  g_socket_set_option (socket, SOL_SOCKET, SO_SNDBUF, SEND_BUFFER_BYTES, NULL);
  read_on (self);

  return self;
}

void
web_stream_free (WebStream *self)
{
  self->closed = NULL;
  shut_down (self);
  g_rc_box_release_full (self, web_stream_clear);
}

void
web_stream_send (WebStream *self, GBytes *frame)
{
  if (self->over || self->ending)
    return;
  g_clear_pointer (&self->waiting, g_bytes_unref);
  self->waiting = g_bytes_ref (frame);
  if (self->writing == NULL)
    write_on (self);
}

void
web_stream_end (WebStream *self)
{
  self->ending = TRUE;
  if (self->writing == NULL && !self->over)
    g_socket_shutdown (self->socket, FALSE, TRUE, NULL);
}

gint64
web_stream_get_waiting_since_us (WebStream *self)
{
  return self->since_us;
}
