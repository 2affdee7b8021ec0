/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The ZAP handler: a thread that ZeroMQ asks about every new connection (ZAP, RFC 27).
 *
 * ZeroMQ asks if its sockets have a domain and a socket is bound to the address of ZAP; it admits
 * connections that come before. So the ZAP handler's socket is bound before irisd's others, and
 * requests wait until the thread runs. The request about an ipc connection names the user that the
 * kernel reports for the other end. TCP has no such user: with CURVE the request has the public key
 * of the client, which must be one of the configuration's (irisd-keys.h); without, its clients are
 * guests. The answer names the owner of the key and the key itself, OWNER:KEY, as the User-Id that
 * comes with each message.
 *
 * A refused connection has had no message read and is not made again. An admitted one that sends no
 * HELLO within hello-ms is closed: events of the sockets tell which connections were accepted.
 *
 * ZeroMQ has one monitor for a socket: a second one ends the first. So the ZAP handler's thread
 * reads all events, and passes the end of a connection on to the socket's gateway. A monitor ends
 * before its socket is closed (irisd_socket_close()): libzmq 4.3 forgets to free an event that it
 * cannot deliver, and its I/O thread waits where the other end of the monitor's pipe has been
 * closed.
 */
#include "daemon/net/irisd-zap-handler.h"

#include "daemon/base/irisd-error.h"
#include "daemon/base/irisd-log.h"

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
  CREDENTIAL, /* of CURVE alone */
  N_FRAMES
};

#define KEY_BYTES 32

#define MAX_FRAME 256

typedef struct
{
  char text[MAX_FRAME]; /* with a NUL behind it */
  gsize size;
} Frame;

/* The events of one socket. */
typedef struct
{
  void *socket;
  IrisdEndedFunc ended;
  gpointer user_data;
} Door;

struct _IrisdZapHandler
{
  IrisdSettings *settings;
  guint reader;
  void *context;
  void *socket;
  GArray *doors; /* of Door */
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
answer (IrisdZapHandler *self, const Frame *id, gboolean allowed, const char *user_id)
{
  const char *const code = allowed ? "200" : "400";
  const char *const text = allowed ? "OK" : "this user is not admitted";
  zmq_send (self->socket, "1.0", 3, ZMQ_SNDMORE);
  zmq_send (self->socket, id->text, id->size, ZMQ_SNDMORE);
  zmq_send (self->socket, code, 3, ZMQ_SNDMORE);
  zmq_send (self->socket, text, strlen (text), ZMQ_SNDMORE);
  zmq_send (self->socket, user_id, strlen (user_id), ZMQ_SNDMORE);
  zmq_send (self->socket, "", 0, 0);
}

/* Over ipc, and over TCP without keys. */
static gboolean
admits_user (IrisdZapHandler *self, const Frame *frames)
{
  static IrisdLogSite site;
  const IrisdConfig *settings = irisd_settings_get (self->settings);
  gint64 uid = irisd_access_parse_address (frames[ADDRESS].text);
  if (!g_str_has_prefix (frames[ADDRESS].text, "localhost:"))
    return settings->server_key == NULL;
  if (irisd_access_allows (&settings->access, IRISD_ACCESS_ENTER, uid))
    return TRUE;
  irisd_log_limited (&site, IRISD_LOG_WARNING,
                     "refused a connection of user %" G_GINT64_FORMAT
                     ": it is not admitted; add it under [access] users",
                     uid);
  return FALSE;
}

/* Returns the User-Id of the client with that key; NULL if it is not admitted. */
static char *
admit_key (IrisdZapHandler *self, const Frame *frames)
{
  static IrisdLogSite site;
  const IrisdConfig *settings = irisd_settings_get (self->settings);
  char text[IRISD_KEY_TEXT + 1];
  if (frames[CREDENTIAL].size != KEY_BYTES
      || zmq_z85_encode (text, (const guint8 *) frames[CREDENTIAL].text, KEY_BYTES) == NULL)
    return NULL;
  const IrisdKey *key = irisd_keys_find_public (settings->keys, text);
  if (key != NULL)
    return g_strdup_printf ("%" G_GINT64_FORMAT ":%s", key->owner, text);
  irisd_log_limited (&site, IRISD_LOG_WARNING,
                     "refused a connection from %s: its key %s is not admitted; irisctl key allow "
                     "admits it",
                     frames[ADDRESS].text, text);
  return NULL;
}

static void
handle_question (IrisdZapHandler *self)
{
  Frame frames[N_FRAMES] = { 0 };
  guint n = receive (self, frames);
  if (n == 0)
    return;
  g_autofree char *user_id = NULL;
  gboolean known = strcmp (frames[VERSION].text, "1.0") == 0;
  if (known && n == CREDENTIAL && strcmp (frames[MECHANISM].text, "NULL") == 0)
    user_id = admits_user (self, frames) ? g_strdup ("") : NULL;
  else if (known && n == N_FRAMES && strcmp (frames[MECHANISM].text, "CURVE") == 0)
    user_id = admit_key (self, frames);
  answer (self, &frames[ID], user_id != NULL, user_id != NULL ? user_id : "");
}

static gboolean
handle_event (IrisdZapHandler *self, const Door *door)
{
  guint8 event[EVENT_SIZE];
  char endpoint[MAX_FRAME];
  guint16 kind;
  gint32 fd;
  int size = zmq_recv (door->socket, event, sizeof event, ZMQ_DONTWAIT);
  if (size < 0)
    return FALSE;
  int length = zmq_recv (door->socket, endpoint, sizeof endpoint - 1, 0);
  endpoint[CLAMP (length, 0, MAX_FRAME - 1)] = '\0';
  memcpy (&kind, event, sizeof kind);
  memcpy (&fd, event + sizeof kind, sizeof fd);
  if (size != EVENT_SIZE)
    return TRUE;
  if (kind == ZMQ_EVENT_ACCEPTED)
    irisd_pending_connections_enter (self->pending_connections, fd, endpoint,
                                     g_get_monotonic_time ());
  else if (door->ended != NULL)
    door->ended (door->user_data);
  return TRUE;
}

static void
handle_events (IrisdZapHandler *self, const Door *door)
{
  for (guint i = 0; i < EVENTS_PER_TURN && handle_event (self, door); i++)
    ;
}

static const Door *
get_door (IrisdZapHandler *self, guint i)
{
  return &g_array_index (self->doors, Door, i);
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
    items[i].socket = get_door (self, i - POLL_DOORS)->socket;
  for (guint i = 0; i < n; i++)
    items[i].events = ZMQ_POLLIN;
  for (gint64 next = 0; items[POLL_END].revents == 0;)
    {
      guint64 wakes;
      irisd_settings_pass (self->settings, self->reader);
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
          handle_events (self, get_door (self, i - POLL_DOORS));
      next = irisd_pending_connections_sweep (self->pending_connections, g_get_monotonic_time ());
    }
  return NULL;
}

/* Call this before any other socket of the context is bound. The ZAP handler is number @reader of
 * the readers of @settings. Returns it; requests wait until it is started. */
IrisdZapHandler *
irisd_zap_handler_new (void *context, IrisdSettings *settings, guint reader, GError **error)
{
  IrisdZapHandler *self = g_new0 (IrisdZapHandler, 1);
  int none = 0;
  self->settings = settings;
  self->reader = reader;
  self->context = context;
  self->doors = g_array_new (FALSE, FALSE, sizeof (Door));
  self->pending_connections = irisd_pending_connections_new (
      &irisd_settings_get (settings)->limits);
  self->end_fd = eventfd (0, EFD_CLOEXEC | EFD_NONBLOCK);
  self->socket = zmq_socket (context, ZMQ_REP);
  if (self->end_fd >= 0 && self->socket != NULL
      && zmq_setsockopt (self->socket, ZMQ_LINGER, &none, sizeof none) == 0
      && zmq_bind (self->socket, ZAP_ENDPOINT) == 0)
    return self;
  g_set_error (error, IRISD_ERROR, IRISD_ERROR_FAILED,
               "cannot start the ZAP handler: %s; raise the limit on open files (ulimit -n)",
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
  const Door watched = { .socket = zmq_socket (self->context, ZMQ_PAIR) };
  void *door = watched.socket;
  int none = 0;
  if (door != NULL)
    g_array_append_val (self->doors, watched);
  /* Without a high-water mark, at which ZeroMQ's own thread would wait. */
  if (door != NULL && zmq_setsockopt (door, ZMQ_LINGER, &none, sizeof none) == 0
      && zmq_setsockopt (door, ZMQ_RCVHWM, &none, sizeof none) == 0
      && zmq_socket_monitor (socket, name, ZMQ_EVENT_ACCEPTED | ZMQ_EVENT_DISCONNECTED) == 0
      && zmq_connect (door, name) == 0)
    return TRUE;
  return irisd_fail (error, IRISD_ERROR, IRISD_ERROR_FAILED,
                     "cannot watch a socket: %s; raise the limit on open files (ulimit -n)",
                     zmq_strerror (errno));
}

/* Has @ended called in the ZAP handler's thread, which does not run yet, after a connection of the
 * socket has ended that was watched as number @door. @user_data has to live until the ZAP handler
 * is stopped. */
void
irisd_zap_handler_tell (IrisdZapHandler *self, guint door, IrisdEndedFunc ended, gpointer user_data)
{
  Door *told = &g_array_index (self->doors, Door, door);
  told->ended = ended;
  told->user_data = user_data;
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

/* Has the thread pass its point (irisd-settings.h). */
void
irisd_zap_handler_wake (IrisdZapHandler *self)
{
  eventfd_write (irisd_pending_connections_get_wake_fd (self->pending_connections), 1);
}

/* Ends the thread, if it was started: no new connection is let in, and no end of one is told. */
void
irisd_zap_handler_stop (IrisdZapHandler *self)
{
  if (self == NULL || self->thread == NULL)
    return;
  eventfd_write (self->end_fd, 1);
  g_thread_join (g_steal_pointer (&self->thread));
}

/* The sockets that it watched are closed. */
void
irisd_zap_handler_free (IrisdZapHandler *self)
{
  if (self == NULL)
    return;
  irisd_zap_handler_stop (self);
  for (guint i = 0; i < self->doors->len; i++)
    zmq_close (get_door (self, i)->socket);
  g_array_unref (self->doors);
  irisd_pending_connections_free (self->pending_connections);
  if (self->socket != NULL)
    zmq_close (self->socket);
  if (self->end_fd >= 0)
    close (self->end_fd);
  g_free (self);
}
