/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * All connections to irisd-web: where it listens, how many there are, and how long each may take.
 *
 * The record of a connection is data of its WebConnection and goes with it; libsoup's messages lead
 * to it by the peer's address, an object that only that connection has. A connection is in one of
 * these phases, the first and the third with `request-ms`: the request arrives, irisd-web works on
 * the answer (bounded by `answer-ms`), the answer is read. One that is over its time is shut down.
 * One timer looks at all records while there are any.
 */
#include "clients/web/http/web-connections.h"

#include "clients/web/http/web-connection.h"
#include "clients/web/http/web-reply.h"

#include <string.h>
#include <sys/socket.h>

/* Of an answer in the kernel; it would take megabytes for a reader that sleeps. */
#define SEND_BUFFER_BYTES (256 * 1024)

/* Times are kept to this part of the limit. */
#define LOOKS_PER_LIMIT 4

typedef enum
{
  PHASE_ARRIVES,
  PHASE_IS_MADE,
  PHASE_IS_READ,
  PHASE_TAKEN,
} Phase;

typedef struct
{
  WebConnections *owner; /* NULL when that is freed */
  GSocket *socket;       /* owned by the connection that owns this */
  GList link;
  Phase phase;
  gint64 since_us;
} Record;

struct _WebConnections
{
  SoupServer *server;
  const WebLimits *limits;
  GTlsCertificate *certificate;
  GSocketService *service;
  GQueue all;
  GPtrArray *refused; /* streams of refused requests, until their peers close them */
  guint timer;
};

static GQuark
record_quark (void)
{
  return g_quark_from_static_string ("web-connection-record");
}

static void
stop_timer (WebConnections *self)
{
  if (self->timer != 0)
    g_source_remove (self->timer);
  self->timer = 0;
}

static void
record_free (Record *record)
{
  if (record->owner != NULL)
    {
      g_queue_unlink (&record->owner->all, &record->link);
      if (record->owner->all.length == 0)
        stop_timer (record->owner);
    }
  g_free (record);
}

static gboolean
look_at_all (gpointer user_data)
{
  WebConnections *self = user_data;
  gint64 now = g_get_monotonic_time ();

  for (GList *l = self->all.head; l != NULL; l = l->next)
    {
      Record *record = l->data;

      if ((record->phase == PHASE_ARRIVES || record->phase == PHASE_IS_READ)
          && now - record->since_us > (gint64) self->limits->request_ms * 1000)
        g_socket_shutdown (record->socket, TRUE, TRUE, NULL);
    }

  return G_SOURCE_CONTINUE;
}

static Record *
find (SoupServerMessage *message)
{
  GSocketAddress *address = soup_server_message_get_remote_address (message);
  WebConnection *connection = address != NULL
                                  ? g_object_get_qdata (G_OBJECT (address), record_quark ())
                                  : NULL;

  return connection != NULL ? g_object_get_qdata (G_OBJECT (connection), record_quark ()) : NULL;
}

static void
enter (Record *record, Phase phase)
{
  if (record == NULL || record->phase == PHASE_TAKEN)
    return;
  record->phase = phase;
  record->since_us = g_get_monotonic_time ();
}

static void
got_body (SoupServerMessage *message, gpointer user_data)
{
  enter (find (message), PHASE_IS_MADE);
}

static void
wrote_headers (SoupServerMessage *message, gpointer user_data)
{
  enter (find (message), PHASE_IS_READ);
}

static void
request_started (SoupServer *server, SoupServerMessage *message, gpointer user_data)
{
  g_signal_connect (message, "got-body", G_CALLBACK (got_body), NULL);
  g_signal_connect (message, "wrote-headers", G_CALLBACK (wrote_headers), NULL);
}

static void
refused_closed (WebStream *stream, gpointer user_data)
{
  WebConnections *self = user_data;

  g_ptr_array_remove_fast (self->refused, stream);
}

static void
refuse (WebConnections *self, WebStream *stream, guint status, const char *name, const char *text)
{
  GString *body = web_reply_error_text (name, text);
  g_autofree char *answer = g_strdup_printf (
      "HTTP/1.1 %u %s\r\nContent-Type: application/json\r\nContent-Length: %" G_GSIZE_FORMAT
      "\r\nConnection: close\r\nCache-Control: no-store\r\n\r\n%s\n",
      status, web_reply_get_phrase (status), body->len + 1, body->str);
  g_autoptr (GBytes) bytes = g_bytes_new (answer, strlen (answer));

  g_ptr_array_add (self->refused, stream);
  web_stream_send (stream, bytes);
  web_stream_end (stream);
  g_string_free (body, TRUE);
}

static void
connection_ended (gpointer data, GObject *where_the_connection_was)
{
  g_object_set_qdata (data, record_quark (), NULL);
  g_object_unref (data);
}

/* libsoup's messages lead from the address to the connection, which may end first. */
static void
give_to_soup (WebConnections *self, WebConnection *connection, Record *record)
{
  g_autoptr (GSocketAddress) address = web_connection_get_address (connection);
  g_autoptr (GSocketAddress) own = g_socket_get_local_address (record->socket, NULL);

  if (address == NULL || own == NULL)
    return;
  g_object_set_qdata (G_OBJECT (address), record_quark (), connection);
  g_object_weak_ref (G_OBJECT (connection), connection_ended, g_object_ref (address));
  soup_server_accept_iostream (self->server, G_IO_STREAM (connection), own, address, NULL);
}

static void
head_came (WebConnection *connection, guint status, const char *why, gpointer user_data)
{
  WebConnections *self = user_data;
  Record *record = g_object_get_qdata (G_OBJECT (connection), record_quark ());

  if (record->owner == NULL)
    status = 1;
  if (status == 0)
    give_to_soup (self, connection, record);
  else if (status >= 400)
    {
      enter (record, PHASE_IS_READ);
      refuse (self, web_stream_new (G_IO_STREAM (connection), record->socket, refused_closed, self),
              status, status == 400 ? "bad-request" : "too-large", why);
    }
  /* The reference of the one that reads; libsoup or the stream has its own. */
  g_object_unref (connection);
}

static gboolean
incoming (GSocketService *service, GSocketConnection *base, GObject *source, gpointer user_data)
{
  WebConnections *self = user_data;
  WebConnection *connection;
  Record *record;

  if (self->all.length >= self->limits->connections)
    return TRUE; /* and closed */
  connection = web_connection_new (base, self->certificate, self->limits, head_came, self);
  if (connection == NULL)
    return TRUE;
  record = g_new0 (Record, 1);
  record->owner = self;
  record->socket = web_connection_get_socket (connection);
  record->link.data = record;
  g_socket_set_option (record->socket, SOL_SOCKET, SO_SNDBUF, SEND_BUFFER_BYTES, NULL);
  enter (record, PHASE_ARRIVES);
  g_queue_push_tail_link (&self->all, &record->link);
  g_object_set_qdata_full (G_OBJECT (connection), record_quark (), record,
                           (GDestroyNotify) record_free);
  if (self->timer == 0)
    self->timer = g_timeout_add (CLAMP (self->limits->request_ms / LOOKS_PER_LIMIT, 2, 1000),
                                 look_at_all, self);

  return TRUE;
}

WebConnections *
web_connections_new (SoupServer *server, const WebLimits *limits, GTlsCertificate *certificate)
{
  WebConnections *self = g_new0 (WebConnections, 1);

  self->server = g_object_ref (server);
  self->limits = limits;
  self->certificate = certificate != NULL ? g_object_ref (certificate) : NULL;
  self->service = g_socket_service_new ();
  /* GIO's 10 make a burst of clients wait for a second. */
  g_socket_listener_set_backlog (G_SOCKET_LISTENER (self->service), (int) limits->connections);
  self->refused = g_ptr_array_new_with_free_func ((GDestroyNotify) web_stream_free);
  g_queue_init (&self->all);
  g_signal_connect (server, "request-started", G_CALLBACK (request_started), self);
  g_signal_connect (self->service, "incoming", G_CALLBACK (incoming), self);

  return self;
}

void
web_connections_free (WebConnections *self)
{
  GList *link;

  g_signal_handlers_disconnect_by_data (self->server, self);
  g_signal_handlers_disconnect_by_data (self->service, self);
  g_socket_service_stop (self->service);
  g_socket_listener_close (G_SOCKET_LISTENER (self->service));
  g_ptr_array_unref (self->refused);
  while ((link = g_queue_pop_head_link (&self->all)) != NULL)
    {
      Record *record = link->data;

      record->owner = NULL;
      g_socket_shutdown (record->socket, TRUE, TRUE, NULL);
    }
  stop_timer (self);
  g_object_unref (self->service);
  g_clear_object (&self->certificate);
  g_object_unref (self->server);
  g_free (self);
}

GSocketAddress *
web_connections_listen (WebConnections *self, GSocketAddress *address, GError **error)
{
  GSocketAddress *used = NULL;

  if (!g_socket_listener_add_address (G_SOCKET_LISTENER (self->service), address,
                                      G_SOCKET_TYPE_STREAM, G_SOCKET_PROTOCOL_TCP, NULL, &used,
                                      error))
    return NULL;

  return used;
}

guint
web_connections_count (WebConnections *self)
{
  return self->all.length;
}

WebStream *
web_connections_take (SoupServerMessage *message, WebStreamClosed closed, gpointer user_data)
{
  Record *record = find (message);
  g_autoptr (GSocket) socket = g_object_ref (record->socket);
  g_autoptr (GIOStream) stream = NULL;

  record->phase = PHASE_TAKEN;
  stream = soup_server_message_steal_connection (message);

  return web_stream_new (stream, socket, closed, user_data);
}

void
web_connections_refuse (WebConnections *self,
                        SoupServerMessage *message,
                        guint status,
                        const char *name,
                        const char *text)
{
  Record *record = find (message);
  WebStream *stream = web_connections_take (message, refused_closed, self);

  record->phase = PHASE_IS_READ;
  record->since_us = g_get_monotonic_time ();
  refuse (self, stream, status, name, text);
}
