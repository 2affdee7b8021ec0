/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A connection to irisd-web: reads the head of its request before libsoup does.
 *
 * Two streams: the connection, and its input, which gives the bytes of the head again and then
 * those of the socket. libsoup wants a pollable input.
 */
#include "clients/web/http/web-connection.h"

#include <string.h>

/* Method, version and the spaces of a request line. */
#define AROUND_PATH 32

#define WEB_TYPE_INPUT (web_input_get_type ())
G_DECLARE_FINAL_TYPE (WebInput, web_input, WEB, INPUT, GInputStream)

struct _WebInput
{
  GInputStream parent;
  GInputStream *base;
  GByteArray *head;
  gsize given; /* of the head */
};

struct _WebConnection
{
  GIOStream parent;
  GSocketConnection *socket;
  GIOStream *base; /* the same, or TLS on it */
  WebInput *input;
  const WebLimits *limits;
  GCancellable *cancellable;
  gsize scanned;    /* bytes of the head that whole lines have */
  gsize first_line; /* bytes of the request line; 0 while it has not come */
  guint n_headers;
  WebConnectionHead head;
  gpointer user_data;
  guint8 buffer[2048];
};

static void web_input_pollable_init (GPollableInputStreamInterface *iface);

G_DEFINE_FINAL_TYPE_WITH_CODE (WebInput,
                               web_input,
                               G_TYPE_INPUT_STREAM,
                               G_IMPLEMENT_INTERFACE (G_TYPE_POLLABLE_INPUT_STREAM,
                                                      web_input_pollable_init))
G_DEFINE_FINAL_TYPE (WebConnection, web_connection, G_TYPE_IO_STREAM)

static gssize
give_head (WebInput *self, void *buffer, gsize count)
{
  gsize n = MIN (count, self->head->len - self->given);

  memcpy (buffer, self->head->data + self->given, n);
  self->given += n;

  return (gssize) n;
}

static gssize
web_input_read (GInputStream *stream,
                void *buffer,
                gsize count,
                GCancellable *cancellable,
                GError **error)
{
  WebInput *self = WEB_INPUT (stream);

  if (self->given < self->head->len)
    return give_head (self, buffer, count);

  return g_input_stream_read (self->base, buffer, count, cancellable, error);
}

static gssize
web_input_read_nonblocking (GPollableInputStream *stream, void *buffer, gsize count, GError **error)
{
  WebInput *self = WEB_INPUT (stream);

  if (self->given < self->head->len)
    return give_head (self, buffer, count);

  return g_pollable_input_stream_read_nonblocking (G_POLLABLE_INPUT_STREAM (self->base), buffer,
                                                   count, NULL, error);
}

static gboolean
web_input_is_readable (GPollableInputStream *stream)
{
  WebInput *self = WEB_INPUT (stream);

  return self->given < self->head->len
         || g_pollable_input_stream_is_readable (G_POLLABLE_INPUT_STREAM (self->base));
}

static GSource *
web_input_create_source (GPollableInputStream *stream, GCancellable *cancellable)
{
  WebInput *self = WEB_INPUT (stream);
  g_autoptr (GSource) child = self->given < self->head->len
                                  ? g_timeout_source_new (0)
                                  : g_pollable_input_stream_create_source (
                                      G_POLLABLE_INPUT_STREAM (self->base), NULL);

  return g_pollable_source_new_full (stream, child, cancellable);
}

static void
web_input_pollable_init (GPollableInputStreamInterface *iface)
{
  iface->is_readable = web_input_is_readable;
  iface->create_source = web_input_create_source;
  iface->read_nonblocking = web_input_read_nonblocking;
}

static void
web_input_finalize (GObject *object)
{
  WebInput *self = WEB_INPUT (object);

  g_object_unref (self->base);
  g_byte_array_unref (self->head);
  G_OBJECT_CLASS (web_input_parent_class)->finalize (object);
}

static void
web_input_class_init (WebInputClass *klass)
{
  G_INPUT_STREAM_CLASS (klass)->read_fn = web_input_read;
  G_OBJECT_CLASS (klass)->finalize = web_input_finalize;
}

static void
web_input_init (WebInput *self)
{
  self->head = g_byte_array_new ();
}

static GInputStream *
web_connection_get_input (GIOStream *stream)
{
  return G_INPUT_STREAM (WEB_CONNECTION (stream)->input);
}

static GOutputStream *
web_connection_get_output (GIOStream *stream)
{
  return g_io_stream_get_output_stream (WEB_CONNECTION (stream)->base);
}

/* Without TLS's good-bye, which could wait for the peer: each answer tells its length. */
static gboolean
web_connection_close (GIOStream *stream, GCancellable *cancellable, GError **error)
{
  WebConnection *self = WEB_CONNECTION (stream);

  g_cancellable_cancel (self->cancellable);

  return g_io_stream_close (G_IO_STREAM (self->socket), cancellable, error);
}

static void
web_connection_finalize (GObject *object)
{
  WebConnection *self = WEB_CONNECTION (object);

  g_clear_object (&self->input);
  g_clear_object (&self->base);
  g_clear_object (&self->socket);
  g_clear_object (&self->cancellable);
  G_OBJECT_CLASS (web_connection_parent_class)->finalize (object);
}

static void
web_connection_class_init (WebConnectionClass *klass)
{
  G_IO_STREAM_CLASS (klass)->get_input_stream = web_connection_get_input;
  G_IO_STREAM_CLASS (klass)->get_output_stream = web_connection_get_output;
  G_IO_STREAM_CLASS (klass)->close_fn = web_connection_close;
  G_OBJECT_CLASS (klass)->finalize = web_connection_finalize;
}

static void
web_connection_init (WebConnection *self)
{
  self->cancellable = g_cancellable_new ();
}

static void
tell (WebConnection *self, guint status, const char *why)
{
  WebConnectionHead head = g_steal_pointer (&self->head);

  if (head != NULL)
    head (self, status, why, self->user_data);
}

/* Looks at the lines that have come. TRUE if the head is whole. */
static gboolean
scan (WebConnection *self)
{
  const GByteArray *head = self->input->head;
  const guint8 *newline;

  while ((newline = memchr (head->data + self->scanned, '\n', head->len - self->scanned)) != NULL)
    {
      gsize length = (gsize) (newline - (head->data + self->scanned));

      if (length > 0 && newline[-1] == '\r')
        length--;
      self->scanned = (gsize) (newline + 1 - head->data);
      if (length == 0)
        return TRUE;
      if (self->first_line == 0)
        self->first_line = self->scanned;
      else
        self->n_headers++;
    }

  return FALSE;
}

static void
tell_too_large (WebConnection *self)
{
  const WebLimits *limits = self->limits;
  gsize in_first = self->first_line != 0 ? self->first_line : self->input->head->len;
  g_autofree char *why = NULL;

  if (in_first > limits->request_line_bytes + AROUND_PATH)
    {
      why = g_strdup_printf ("the request was not read: its path has more than %u bytes (limit "
                             "request-line-bytes); send a shorter one",
                             limits->request_line_bytes);
      tell (self, 414, why);
      return;
    }
  why = g_strdup_printf ("the request was not read: it may have %u headers (limit headers) with %u "
                         "bytes (limit header-bytes); send fewer",
                         limits->headers, limits->header_bytes);
  tell (self, 431, why);
}

static gboolean
is_too_large (const WebConnection *self)
{
  const WebLimits *limits = self->limits;
  gsize all = self->input->head->len;
  gsize in_first = self->first_line != 0 ? self->first_line : all;

  return in_first > limits->request_line_bytes + AROUND_PATH || self->n_headers > limits->headers
         || all - in_first > (gsize) limits->header_bytes + limits->body_bytes;
}

static void read_on (WebConnection *self);

static void
read_done (GObject *source, GAsyncResult *result, gpointer user_data)
{
  g_autoptr (WebConnection) self = user_data;
  gssize n = g_input_stream_read_finish (G_INPUT_STREAM (source), result, NULL);
  gboolean whole;

  if (n <= 0)
    {
      tell (self, 1, NULL);
      return;
    }
  g_byte_array_append (self->input->head, self->buffer, (guint) n);
  whole = scan (self);
  if (is_too_large (self)
      || (whole && self->scanned - self->first_line > self->limits->header_bytes))
    tell_too_large (self);
  else if (whole && self->first_line == 0)
    tell (self, 400,
          "the request was not read: its first line is empty; send METHOD PATH HTTP/1.1");
  else if (whole)
    tell (self, 0, NULL);
  else
    read_on (self);
}

static void
read_on (WebConnection *self)
{
  g_input_stream_read_async (self->input->base, self->buffer, sizeof self->buffer,
                             G_PRIORITY_DEFAULT, self->cancellable, read_done, g_object_ref (self));
}

static void
shook_hands (GObject *source, GAsyncResult *result, gpointer user_data)
{
  g_autoptr (WebConnection) self = user_data;

  if (g_tls_connection_handshake_finish (G_TLS_CONNECTION (source), result, NULL))
    read_on (self);
  else
    tell (self, 1, NULL);
}

WebConnection *
web_connection_new (GSocketConnection *base,
                    GTlsCertificate *certificate,
                    const WebLimits *limits,
                    WebConnectionHead head,
                    gpointer user_data)
{
  WebConnection *self = g_object_new (WEB_TYPE_CONNECTION, NULL);

  self->socket = g_object_ref (base);
  self->base = certificate != NULL
                   ? g_tls_server_connection_new (G_IO_STREAM (base), certificate, NULL)
                   : g_object_ref (G_IO_STREAM (base));
  if (self->base == NULL)
    {
      g_object_unref (self);
      return NULL;
    }
  self->limits = limits;
  self->head = head;
  self->user_data = user_data;
  self->input = g_object_new (WEB_TYPE_INPUT, NULL);
  self->input->base = g_object_ref (g_io_stream_get_input_stream (self->base));
  if (certificate != NULL)
    g_tls_connection_handshake_async (G_TLS_CONNECTION (self->base), G_PRIORITY_DEFAULT,
                                      self->cancellable, shook_hands, g_object_ref (self));
  else
    read_on (self);

  return self;
}

GSocket *
web_connection_get_socket (WebConnection *self)
{
  return g_socket_connection_get_socket (self->socket);
}

GSocketAddress *
web_connection_get_address (WebConnection *self)
{
  return g_socket_connection_get_remote_address (self->socket, NULL);
}
