/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The ZAP handler: a thread that ZeroMQ asks about every new connection (ZAP, RFC 27).
 *
 * ZeroMQ asks if its sockets have a domain and a socket is bound to the address of ZAP; it admits
 * connections that come before. So the ZAP handler's socket is bound before irisd's others, and
 * requests wait until the thread runs. The request about an ipc connection names the user that the
 * kernel reports for the other end; TCP has no such user, and its clients are treated in
 * irisd-access.c.
 *
 * A refused connection has had no message read and is not made again. An admitted one that sends no
 * HELLO within hello-ms is closed: events of the sockets tell which connections were accepted.
 */
#include "daemon/base/irisd-error.h"
#include "daemon/base/irisd-log.h"
#include "daemon/config/irisd-access.h"
#include "daemon/net/irisd-pending-connections.h"

#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <zmq.h>

#define ZAP_ENDPOINT "inproc://zeromq.zap.01"

/* Frames of a request: version, id, domain, address, routing id, mechanism; credentials follow. */
enum
{
  VERSION,
  ID,
  DOMAIN_NAME,
  ADDRESS,
  ROUTE,
  MECHANISM,
  N_FRAMES
};

#define MAX_FRAME 256

typedef struct
{
  char text[MAX_FRAME]; /* with a NUL behind it */
  gsize size;
} Frame;

struct _IrisdZapHandler
{
  const IrisdAccess *access;
  void *context;
  void *socket;
  GPtrArray *doors; /* sockets that receive the events of others */
  IrisdPendingConnections *pending_connections;
  int end_fd;
  GThread *thread;
};

/* What the thread polls; the doors follow. */
enum
{
  POLL_QUESTIONS,
  POLL_END,
  POLL_PENDING_CONNECTIONS,
  POLL_DOORS
};

/* Of an event: number and value. The next frame holds the endpoint. */
#define EVENT_SIZE 6

/* Requests are answered in between. */
#define EVENTS_PER_TURN 64

/* Frames beyond the longest and the last one in use are cut and left out. */
static guint
receive (IrisdZapHandler *self, Frame *frames)
{
  guint n = 0;
  int more = 1;
  while (more != 0)
    {
      Frame spare;
      Frame *frame = n < N_FRAMES ? &frames[n] : &spare;
      int size = zmq_recv (self->socket, frame->text, MAX_FRAME - 1, 0);
      if (size < 0)
        return 0;
      frame->size = MIN ((gsize) size, MAX_FRAME - 1);
      frame->text[frame->size] = '\0';
      n += n < N_FRAMES;
      gsize length = sizeof more;
      zmq_getsockopt (self->socket, ZMQ_RCVMORE, &more, &length);
    }
  return n;
}

static void
answer (IrisdZapHandler *self, const Frame *id, gboolean allowed)
{
  const char *const code = allowed ? "200" : "400";
  const char *const text = allowed ? "OK" : "this user is not admitted";
  zmq_send (self->socket, "1.0", 3, ZMQ_SNDMORE);
  zmq_send (self->socket, id->text, id->size, ZMQ_SNDMORE);
  zmq_send (self->socket, code, 3, ZMQ_SNDMORE);
  zmq_send (self->socket, text, strlen (text), ZMQ_SNDMORE);
  zmq_send (self->socket, "", 0, ZMQ_SNDMORE);
  zmq_send (self->socket, "", 0, 0);
}

static void
handle_question (IrisdZapHandler *self)
{
  static IrisdLogSite site;
  Frame frames[N_FRAMES] = { 0 };
  guint n = receive (self, frames);
  if (n == 0)
    return;
  gboolean over_ipc = g_str_has_prefix (frames[ADDRESS].text, "localhost:");
  gint64 uid = irisd_access_parse_address (frames[ADDRESS].text);
  gboolean allowed = n == N_FRAMES && strcmp (frames[VERSION].text, "1.0") == 0
                     && (!over_ipc || irisd_access_allows (self->access, IRISD_ACCESS_ENTER, uid));
  if (!allowed)
    irisd_log_limited (&site, IRISD_LOG_WARNING,
                       "refused a connection of user %" G_GINT64_FORMAT
                       ": it is not admitted; add it under [access] users",
                       uid);
  answer (self, &frames[ID], allowed);
}

static gboolean
handle_event (IrisdZapHandler *self, void *door)
{
  guint8 event[EVENT_SIZE];
  char endpoint[MAX_FRAME];
  gint32 fd;
  int size = zmq_recv (door, event, sizeof event, ZMQ_DONTWAIT);
  if (size < 0)
    return FALSE;
  int length = zmq_recv (door, endpoint, sizeof endpoint - 1, 0);
  endpoint[CLAMP (length, 0, MAX_FRAME - 1)] = '\0';
  memcpy (&fd, event + sizeof (guint16), sizeof fd);
  if (size == EVENT_SIZE)
    irisd_pending_connections_enter (self->pending_connections, fd, endpoint,
                                     g_get_monotonic_time ());
  return TRUE;
}

static void
handle_events (IrisdZapHandler *self, void *door)
{
  for (guint i = 0; i < EVENTS_PER_TURN && handle_event (self, door); i++)
    ;
}

static int
time_left_ms (gint64 until_us)
{
  if (until_us == 0)
    return -1;
  return (int) CLAMP ((until_us - g_get_monotonic_time ()) / 1000 + 1, 0, G_MAXINT);
}

static gpointer
run_thread (gpointer data)
{
  IrisdZapHandler *self = data;
  guint n = POLL_DOORS + self->doors->len;
  g_autofree zmq_pollitem_t *items = g_new0 (zmq_pollitem_t, n);
  items[POLL_QUESTIONS].socket = self->socket;
  items[POLL_END].fd = self->end_fd;
  items[POLL_PENDING_CONNECTIONS].fd = irisd_pending_connections_get_wake_fd (
      self->pending_connections);
  for (guint i = POLL_DOORS; i < n; i++)
    items[i].socket = g_ptr_array_index (self->doors, i - POLL_DOORS);
  for (guint i = 0; i < n; i++)
    items[i].events = ZMQ_POLLIN;
  for (gint64 next = 0; items[POLL_END].revents == 0;)
    {
      guint64 wakes;
      if (zmq_poll (items, (int) n, time_left_ms (next)) < 0)
        {
          if (errno != EINTR)
            g_error ("cannot wait for connections: zmq_poll failed: %s", zmq_strerror (errno));
          continue; /* the poll items are of the time before */
        }
      if (items[POLL_QUESTIONS].revents != 0)
        handle_question (self);
      if (items[POLL_PENDING_CONNECTIONS].revents != 0)
        eventfd_read (items[POLL_PENDING_CONNECTIONS].fd, &wakes);
      for (guint i = POLL_DOORS; i < n; i++)
        if (items[i].revents != 0)
          handle_events (self, items[i].socket);
      next = irisd_pending_connections_sweep (self->pending_connections, g_get_monotonic_time ());
    }
  return NULL;
}

/* Call this before any other socket of the context is bound. Returns a ZAP handler; requests wait
 * until it is started. */
IrisdZapHandler *
irisd_zap_handler_new (void *context,
                       const IrisdAccess *access,
                       const IrisdLimits *limits,
                       GError **error)
{
  IrisdZapHandler *self = g_new0 (IrisdZapHandler, 1);
  int none = 0;
  self->access = access;
  self->context = context;
  self->doors = g_ptr_array_new ();
  self->pending_connections = irisd_pending_connections_new (limits);
  self->end_fd = eventfd (0, EFD_CLOEXEC | EFD_NONBLOCK);
  self->socket = zmq_socket (context, ZMQ_REP);
  if (self->end_fd >= 0 && self->socket != NULL
      && zmq_setsockopt (self->socket, ZMQ_LINGER, &none, sizeof none) == 0
      && zmq_bind (self->socket, ZAP_ENDPOINT) == 0)
    return self;
  g_set_error (error, IRISD_ERROR, IRISD_ERROR_FAILED, "cannot start the ZAP handler: %s",
               zmq_strerror (errno));
  irisd_zap_handler_free (self);
  return NULL;
}

/* Makes connections accepted by @socket, which is not bound yet, known to the ZAP handler, which is
 * not started yet. */
gboolean
irisd_zap_handler_watch (IrisdZapHandler *self, void *socket, GError **error)
{
  g_autofree char *name = g_strdup_printf ("inproc://irisd-door-%u", self->doors->len);
  void *door = zmq_socket (self->context, ZMQ_PAIR);
  int none = 0;
  if (door != NULL)
    g_ptr_array_add (self->doors, door);
  /* Without a high-water mark, at which ZeroMQ's own thread would wait. */
  if (door != NULL && zmq_setsockopt (door, ZMQ_LINGER, &none, sizeof none) == 0
      && zmq_setsockopt (door, ZMQ_RCVHWM, &none, sizeof none) == 0
      && zmq_socket_monitor (socket, name, ZMQ_EVENT_ACCEPTED) == 0
      && zmq_connect (door, name) == 0)
    return TRUE;
  g_set_error (error, IRISD_ERROR, IRISD_ERROR_FAILED, "cannot watch a socket: %s",
               zmq_strerror (errno));
  return FALSE;
}

IrisdPendingConnections *
irisd_zap_handler_get_pending_connections (IrisdZapHandler *self)
{
  return self->pending_connections;
}

void
irisd_zap_handler_start (IrisdZapHandler *self)
{
  self->thread = g_thread_new ("irisd-door", run_thread, self);
}

/* Call this when it watches no socket any more. */
void
irisd_zap_handler_free (IrisdZapHandler *self)
{
  if (self == NULL)
    return;
  if (self->thread != NULL)
    {
      eventfd_write (self->end_fd, 1);
      g_thread_join (self->thread);
    }
  for (guint i = 0; i < self->doors->len; i++)
    zmq_close (g_ptr_array_index (self->doors, i));
  g_ptr_array_unref (self->doors);
  irisd_pending_connections_free (self->pending_connections);
  if (self->socket != NULL)
    zmq_close (self->socket);
  if (self->end_fd >= 0)
    close (self->end_fd);
  g_free (self);
}
