/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * One ZeroMQ connection, and what its monitor tells about it.
 *
 * A DEALER socket by itself never says that the other side is gone: it connects again in the
 * background and would send the rest of a conversation to a daemon that knows nothing of its
 * beginning. So a link lives for one connection only: the socket's monitor tells when it stands,
 * when it is refused and when it is lost, nothing is sent before it stands, and the owner closes
 * the link and makes a new one when it is lost.
 *
 * What had arrived before the connection was lost is still read and handed over: a daemon that
 * stops sends its last results and hangs up at once. That is also why ZMQ_IMMEDIATE is not used to
 * keep messages from a dead endpoint: with it, libzmq 4.3.4 drops what was received and not read
 * when the connection goes (seen in 15 of 300 runs of twenty messages and a close; without it in
 * none).
 *
 * libzmq 4.3.4 has a known crash when several contexts come and go in one process, so all links
 * share one. It is made for the first link and ended with the last: a program that has no client
 * left has no thread of ours left either. Making and ending are serialised by a lock.
 *
 * A link belongs to one thread, the one that runs its context. Any function of the owner that it
 * calls may close it; the references taken around those calls keep the memory until they return.
 */
#include "iris-client-link-private.h"
#include "iris-client-curve-private.h"
#include <iris-client/base/iris-client-error-private.h>
#include <iris-client/base/iris-client-source-private.h>

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <zmq.h>

/* Refused this often, the endpoint counts as dead. More than once, because a daemon whose backlog
 * of connections is full refuses too, and because it may be starting this very moment. */
#define REFUSED_MAX 4

#define RECONNECT_MS     20
#define RECONNECT_MAX_MS 100

/* Frames of a message that are kept; one more than a message has, so that a longer one is noticed.
 */
#define STORED_FRAMES (IRIS_WIRE_N_FRAMES + 1)

struct _IrisClientLink
{
  void *socket;
  void *monitor;
  GSource *source;
  GSource *monitor_source;
  const IrisClientLinkFuncs *funcs;
  gpointer user_data;
  guint refused;
  gboolean connected;
  gboolean refusal_told;
  gboolean closed;
};

static GMutex zmq_lock;
static void *zmq_context;
static guint zmq_users;

void *
iris_client_zmq_ref (void)
{
  void *context;

  g_mutex_lock (&zmq_lock);
  if (zmq_users++ == 0)
    zmq_context = zmq_ctx_new ();
  context = zmq_context;
  g_mutex_unlock (&zmq_lock);
  return context;
}

/* After the sockets have been closed. The last one waits until what their lingering allows has been
 * sent. */
void
iris_client_zmq_unref (void)
{
  g_mutex_lock (&zmq_lock);
  g_assert (zmq_users > 0);
  if (--zmq_users == 0)
    {
      zmq_ctx_term (zmq_context);
      zmq_context = NULL;
    }
  g_mutex_unlock (&zmq_lock);
}

static void
iris_client_link_clear (gpointer data)
{
}

static void
iris_client_link_release (IrisClientLink *self)
{
  g_rc_box_release_full (self, iris_client_link_clear);
}

/* Takes one message, of whatever number of frames. */
static gboolean
iris_client_link_read (void *socket, gpointer user_data)
{
  IrisClientLink *self = user_data;
  IrisWireFrame frames[STORED_FRAMES];
  zmq_msg_t parts[STORED_FRAMES];
  guint n = 0;
  gboolean more = TRUE;

  while (more)
    {
      zmq_msg_t extra;
      zmq_msg_t *part = n < STORED_FRAMES ? &parts[n] : &extra;

      zmq_msg_init (part);
      if (zmq_msg_recv (part, socket, ZMQ_DONTWAIT) < 0)
        {
          zmq_msg_close (part);
          break;
        }
      more = zmq_msg_more (part);
      if (part == &extra)
        zmq_msg_close (part);
      else
        n++;
    }
  if (n == 0)
    return FALSE;

  for (guint i = 0; i < n; i++)
    frames[i] = (IrisWireFrame){ zmq_msg_data (&parts[i]), zmq_msg_size (&parts[i]) };
  self->funcs->message (frames, n, self->user_data);
  /* The link may be closed by now; the parts are our own. */
  for (guint i = 0; i < n; i++)
    zmq_msg_close (&parts[i]);
  return TRUE;
}

static gboolean
iris_client_link_write (void *socket, gpointer user_data)
{
  IrisClientLink *self = user_data;

  iris_client_source_set_wants_write (self->source, FALSE);
  self->funcs->writable (self->user_data);
  return TRUE;
}

static void
iris_client_link_lose (IrisClientLink *self, IrisClientLinkLoss loss)
{
  g_rc_box_acquire (self);
  if (loss == IRIS_CLIENT_LINK_CLOSED)
    while (!self->closed && iris_client_link_read (self->socket, self))
      ;
  if (!self->closed)
    self->funcs->lost (loss, self->user_data);
  iris_client_link_release (self);
}

/* An event of the monitor is a frame of 16 bits of event and 32 of value, then one with the
 * address. */
static gboolean
iris_client_link_monitor (void *monitor, gpointer user_data)
{
  IrisClientLink *self = user_data;
  guint8 event_frame[6];
  char address[256];
  guint16 event;

  if (zmq_recv (monitor, event_frame, sizeof event_frame, ZMQ_DONTWAIT) != sizeof event_frame)
    return FALSE;
  zmq_recv (monitor, address, sizeof address, ZMQ_DONTWAIT);

  memcpy (&event, event_frame, sizeof event);
  if (event == ZMQ_EVENT_HANDSHAKE_SUCCEEDED)
    {
      self->connected = TRUE;
      self->funcs->writable (self->user_data);
    }
  else if (event == ZMQ_EVENT_HANDSHAKE_FAILED_AUTH)
    iris_client_link_lose (self, IRIS_CLIENT_LINK_DENIED);
  else if (event == ZMQ_EVENT_DISCONNECTED)
    iris_client_link_lose (self,
                           self->connected ? IRIS_CLIENT_LINK_CLOSED : IRIS_CLIENT_LINK_DROPPED);
  else if (event == ZMQ_EVENT_CONNECT_RETRIED && ++self->refused >= REFUSED_MAX
           && !self->refusal_told)
    {
      self->refusal_told = TRUE;
      iris_client_link_lose (self, IRIS_CLIENT_LINK_REFUSED);
    }
  return TRUE;
}

static void
set_int (void *socket, int option, int value)
{
  int rc = zmq_setsockopt (socket, option, &value, sizeof value);

  g_assert (rc == 0);
}

/* Without its monitor a link would never know that it is connected. */
static gboolean
iris_client_link_start_monitor (IrisClientLink *self, void *zmq, GMainContext *context)
{
  static _Atomic guint counter;
  char address[48];

  /* Only distinctness matters, so the count needs no order. */
  g_snprintf (address, sizeof address, "inproc://iris-client-monitor-%u",
              atomic_fetch_add_explicit (&counter, 1, memory_order_relaxed));
  if (zmq_socket_monitor (self->socket, address,
                          ZMQ_EVENT_HANDSHAKE_SUCCEEDED | ZMQ_EVENT_HANDSHAKE_FAILED_AUTH
                              | ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL | ZMQ_EVENT_CONNECT_RETRIED
                              | ZMQ_EVENT_DISCONNECTED)
      != 0)
    return FALSE;
  self->monitor = zmq_socket (zmq, ZMQ_PAIR);
  if (self->monitor == NULL)
    return FALSE;
  set_int (self->monitor, ZMQ_LINGER, 0);
  zmq_connect (self->monitor, address);
  self->monitor_source = iris_client_source_new (self->monitor, iris_client_link_monitor, NULL,
                                                 self);
  g_source_attach (self->monitor_source, context);
  return TRUE;
}

/* What a program gives as the address: an endpoint, a directory, or NULL for the usual one. */
char *
iris_client_link_find_endpoint (const char *address, GError **error)
{
  g_autoptr (GError) local = NULL;
  g_autofree char *dir = NULL;

  if (address != NULL && strstr (address, "://") != NULL)
    return g_strdup (address);
  dir = iris_wire_endpoint_dir (address, &local);
  if (dir != NULL)
    return iris_wire_endpoint_front (dir);
  g_set_error_literal (error, IRIS_CLIENT_ERROR, IRIS_CLIENT_ERROR_NOT_CONNECTED, local->message);
  return NULL;
}

/* Starts connecting. NULL if the endpoint cannot be used. */
IrisClientLink *
iris_client_link_new (const char *endpoint,
                      GMainContext *context,
                      const IrisClientLinkFuncs *funcs,
                      gpointer user_data,
                      GError **error)
{
  void *zmq = iris_client_zmq_ref ();
  IrisClientLink *self = g_rc_box_new0 (IrisClientLink);
  g_autofree char *plain = NULL;

  self->funcs = funcs;
  self->user_data = user_data;
  self->socket = zmq_socket (zmq, ZMQ_DEALER);
  if (self->socket == NULL || !iris_client_link_start_monitor (self, zmq, context))
    {
      g_set_error (error, IRIS_CLIENT_ERROR, IRIS_CLIENT_ERROR_NOT_CONNECTED,
                   "cannot make a socket: %s; raise the limit on open files (ulimit -n)",
                   zmq_strerror (errno));
      iris_client_link_close (self, 0);
      return NULL;
    }
  set_int (self->socket, ZMQ_LINGER, 0);
  set_int (self->socket, ZMQ_RECONNECT_IVL, RECONNECT_MS);
  set_int (self->socket, ZMQ_RECONNECT_IVL_MAX, RECONNECT_MAX_MS);
  plain = iris_client_curve_set_up (self->socket, endpoint, error);
  if (plain == NULL)
    {
      iris_client_link_close (self, 0);
      return NULL;
    }
  if (zmq_connect (self->socket, plain) != 0)
    {
      g_set_error (error, IRIS_CLIENT_ERROR, IRIS_CLIENT_ERROR_NOT_CONNECTED,
                   "cannot connect to %s: %s; an endpoint is ipc://PATH or tcp://HOST:PORT",
                   endpoint, zmq_strerror (errno));
      iris_client_link_close (self, 0);
      return NULL;
    }
  self->source = iris_client_source_new (self->socket, iris_client_link_read,
                                         iris_client_link_write, self);
  g_source_attach (self->source, context);
  return self;
}

/* Sends all of a message or nothing: FALSE if it cannot be sent now. `writable` is called once it
 * can, also for the first time, when the connection stands. */
gboolean
iris_client_link_send (IrisClientLink *self, const IrisWireFrame *frames, guint n)
{
  if (!self->connected)
    return FALSE;
  /* Only the first frame of a message can be refused for lack of room. */
  for (guint i = 0; i < n; i++)
    {
      int flags = ZMQ_DONTWAIT | (i + 1 < n ? ZMQ_SNDMORE : 0);
      int rc;

      do
        rc = zmq_send (self->socket, frames[i].data, frames[i].size, flags);
      while (rc < 0 && errno == EINTR);
      if (rc < 0)
        {
          iris_client_source_set_wants_write (self->source, TRUE);
          return FALSE;
        }
    }
  return TRUE;
}

/* Whether a message has arrived that was not handed over yet. */
gboolean
iris_client_link_has_input (IrisClientLink *self)
{
  int events = 0;
  size_t size = sizeof events;

  return zmq_getsockopt (self->socket, ZMQ_EVENTS, &events, &size) == 0 && (events & ZMQ_POLLIN);
}

/* None of its functions is called any more. Sent messages may be on their way for @linger_ms. */
void
iris_client_link_close (IrisClientLink *self, int linger_ms)
{
  g_return_if_fail (!self->closed);

  self->closed = TRUE;
  iris_client_source_clear (&self->source);
  iris_client_source_clear (&self->monitor_source);
  if (self->socket != NULL)
    {
      zmq_socket_monitor (self->socket, NULL, 0);
      set_int (self->socket, ZMQ_LINGER, linger_ms);
      zmq_close (self->socket);
    }
  if (self->monitor != NULL)
    zmq_close (self->monitor);
  iris_client_zmq_unref ();
  iris_client_link_release (self);
}
