/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * One IRS1 connection of the cluster thread to its own irisd.
 *
 * The descriptor that ZeroMQ gives out (ZMQ_FD) is edge triggered, and each call on the socket, a
 * send too, may take the edge away. So it only ends poll(); whether there is something to read is
 * asked of ZMQ_EVENTS, and one dispatch reads a bounded number of messages. Asking costs two system
 * calls, so it is done when the answer may be another one: in prepare if the socket was used since,
 * in check if poll() reports the descriptor. After ZMQ_EVENTS has said no, ZeroMQ has no command
 * left, and the descriptor stays readable from the next one on until the socket is used.
 *
 * Nothing is dropped for lack of room: the socket has no high-water mark. What bounds its queue is
 * that irisd always reads, and that the bridge has a bounded number of items.
 *
 * irisd is in the same process, and so is the connection: it is lost only when irisd starts, stops,
 * or has closed it, for instance because the cluster thread was silent for too long. The first
 * shows as silence: a PING without an answer. The last shows as `hello-required`, because ZeroMQ
 * has connected again by itself. Either way the socket is replaced, so that nothing that was queued
 * for the old connection reaches the new one.
 */
#include "irisd-bridge-link.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <zmq.h>

/* Messages of one dispatch, so that a quick irisd does not starve the sources of NATS. */
#define BUDGET 256

/* Until irisd says otherwise: a third of its default. */
#define FIRST_SILENCE_MS 10000

/* The pause before a connection is made again. */
#define AGAIN_MS 200

/* Kept frames of a message: one more than a message has, so that a longer one is noticed. */
#define STORED_FRAMES (IRIS_WIRE_N_FRAMES + 1)

typedef enum
{
  LINK_DOWN, /* waits before it connects again */
  LINK_HELLO,
  LINK_UP,
} LinkState;

struct _IrisdBridgeLink
{
  const IrisdBridgeLinkFuncs *funcs;
  gpointer user_data;
  void *zmq;
  GMainContext *context;
  char *endpoint;
  char *token;
  char *name;
  guint64 features;

  void *socket;
  GSource *source;
  GSource *timer; /* of PING, or of the next connection */
  LinkState state;
  gboolean freed;
  gboolean two_frames;
  gboolean heard; /* since the last PING */
  gboolean used;  /* the socket, since ZMQ_EVENTS was asked */
  gboolean rests; /* until the ready time of the source */
  guint64 silence_ms;
  guint64 last_id;
  IrisWireEncoder encoder;
};

typedef struct
{
  GSource source;
  IrisdBridgeLink *link;
  gpointer fd; /* the tag of ZMQ_FD */
} LinkSource;

static void irisd_bridge_link_connect (IrisdBridgeLink *self);

static void
clear_source (GSource **source)
{
  if (*source == NULL)
    return;
  g_source_destroy (*source);
  g_source_unref (*source);
  *source = NULL;
}

static void
irisd_bridge_link_clear (gpointer data)
{
  IrisdBridgeLink *self = data;

  iris_wire_encoder_clear (&self->encoder);
  g_main_context_unref (self->context);
  g_free (self->token);
  g_free (self->endpoint);
  g_free (self->name);
}

static void
irisd_bridge_link_release (IrisdBridgeLink *self)
{
  g_rc_box_release_full (self, irisd_bridge_link_clear);
}

static void
irisd_bridge_link_set_timer (IrisdBridgeLink *self, guint64 ms, GSourceFunc func)
{
  clear_source (&self->timer);
  self->timer = g_timeout_source_new ((guint) CLAMP (ms, 1, G_MAXINT));
  g_source_set_callback (self->timer, func, self, NULL);
  g_source_set_static_name (self->timer, "irisd-bridge-link");
  g_source_attach (self->timer, self->context);
}

static void
irisd_bridge_link_disconnect (IrisdBridgeLink *self, int linger_ms)
{
  clear_source (&self->source);
  clear_source (&self->timer);
  if (self->socket == NULL)
    return;
  zmq_setsockopt (self->socket, ZMQ_LINGER, &linger_ms, sizeof linger_ms);
  zmq_close (self->socket);
  self->socket = NULL;
}

static gboolean
on_again (gpointer data)
{
  irisd_bridge_link_connect (data);
  return G_SOURCE_REMOVE;
}

static void
irisd_bridge_link_lose (IrisdBridgeLink *self, const char *why)
{
  gboolean was_up = self->state == LINK_UP;

  irisd_bridge_link_disconnect (self, 0);
  self->state = LINK_DOWN;
  irisd_bridge_link_set_timer (self, AGAIN_MS, on_again);
  if (was_up && self->funcs->down != NULL)
    self->funcs->down (why, self->user_data);
}

/* irisd counts silence from what it hears, so a link that has sent something need not ask. Whether
 * irisd still lives shows from what it says, so a link that hears nothing asks anyway. */
static gboolean
on_tick (gpointer data)
{
  IrisdBridgeLink *self = data;

  if (!self->heard)
    {
      irisd_bridge_link_lose (self, "irisd did not answer");
      return G_SOURCE_REMOVE;
    }
  self->heard = FALSE;
  if (self->state == LINK_UP)
    {
      IrisWireMessage ping;

      iris_wire_message_init (&ping, IRIS_WIRE_PING, NULL);
      irisd_bridge_link_send (self, &ping);
    }
  return G_SOURCE_CONTINUE;
}

static void
irisd_bridge_link_welcome (IrisdBridgeLink *self, const IrisWireMessage *message)
{
  if (self->state != LINK_HELLO)
    return;
  self->state = LINK_UP;
  self->two_frames = (message->features & IRIS_WIRE_FEATURE_TWO_FRAMES) != 0;
  self->funcs->up (message, self->user_data);
}

static void
irisd_bridge_link_take (IrisdBridgeLink *self, const IrisWireFrame *frames, guint n)
{
  g_autoptr (GError) error = NULL;
  IrisWireLimits limits = *iris_wire_limits_default ();
  IrisWireMessage message;

  /* What irisd sends is within its own limits, whatever those are. */
  limits.max_body = G_MAXSIZE;
  limits.max_header = limits.max_string = G_MAXINT;
  limits.max_args = limits.max_batch = limits.max_entries = G_MAXINT;
  if (!iris_wire_decode (frames, n, &limits, &message, &error))
    {
      irisd_bridge_link_lose (self, error->message);
      return;
    }
  self->heard = TRUE;
  if (message.type == IRIS_WIRE_WELCOME)
    irisd_bridge_link_welcome (self, &message);
  else if (message.type == IRIS_WIRE_ERROR_REPLY && message.code == IRIS_WIRE_ERROR_HELLO_REQUIRED)
    irisd_bridge_link_lose (self, "irisd does not know the connection any more");
  else if (self->state == LINK_HELLO
           && (message.type == IRIS_WIRE_ERROR_REPLY || message.type == IRIS_WIRE_BUSY))
    irisd_bridge_link_lose (self, "irisd does not take the connection");
  else if (message.type != IRIS_WIRE_PONG && self->state == LINK_UP)
    self->funcs->message (&message, self->user_data);
}

/* FALSE when there is no message. */
static gboolean
irisd_bridge_link_read (IrisdBridgeLink *self)
{
  IrisWireFrame frames[STORED_FRAMES];
  zmq_msg_t parts[STORED_FRAMES];
  gboolean more = TRUE;
  guint n = 0;

  while (more)
    {
      zmq_msg_t extra;
      zmq_msg_t *part = n < STORED_FRAMES ? &parts[n] : &extra;

      zmq_msg_init (part);
      if (zmq_msg_recv (part, self->socket, ZMQ_DONTWAIT) < 0)
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
    {
      self->used = FALSE; /* as after ZMQ_EVENTS has said no */
      return FALSE;
    }
  for (guint i = 0; i < n; i++)
    frames[i] = (IrisWireFrame){ zmq_msg_data (&parts[i]), zmq_msg_size (&parts[i]) };
  irisd_bridge_link_take (self, frames, n);
  for (guint i = 0; i < n; i++)
    zmq_msg_close (&parts[i]);
  return TRUE;
}

static gboolean
has_input (IrisdBridgeLink *self)
{
  int events = 0;
  size_t size = sizeof events;

  if (zmq_getsockopt (self->socket, ZMQ_EVENTS, &events, &size) != 0)
    return FALSE;
  /* If there is something it may not be read before the next question. */
  self->used = (events & ZMQ_POLLIN) != 0;
  return self->used;
}

static gboolean
link_source_prepare (GSource *source, int *timeout)
{
  IrisdBridgeLink *self = ((LinkSource *) source)->link;

  *timeout = -1;
  return !self->rests && self->used && has_input (self);
}

static gboolean
link_source_check (GSource *source)
{
  const LinkSource *self = (LinkSource *) source;

  return !self->link->rests && g_source_query_unix_fd (source, self->fd) != 0
         && has_input (self->link);
}

static gboolean
link_source_dispatch (GSource *source, GSourceFunc callback, gpointer user_data)
{
  IrisdBridgeLink *self = g_rc_box_acquire (((LinkSource *) source)->link);

  self->used = TRUE;
  if (self->rests)
    {
      self->rests = FALSE;
      g_source_set_ready_time (source, -1);
      g_source_modify_unix_fd (source, ((LinkSource *) source)->fd, G_IO_IN);
    }
  for (guint i = 0; i < BUDGET && !g_source_is_destroyed (source); i++)
    if (!irisd_bridge_link_read (self))
      break;
  if (!self->freed && self->funcs->drained != NULL)
    self->funcs->drained (self->user_data);
  irisd_bridge_link_release (self);
  return G_SOURCE_CONTINUE;
}

static GSourceFuncs link_source_funcs = {
  link_source_prepare, link_source_check, link_source_dispatch, NULL, NULL, NULL,
};

static void
irisd_bridge_link_watch (IrisdBridgeLink *self)
{
  int fd = -1;
  size_t size = sizeof fd;

  self->source = g_source_new (&link_source_funcs, sizeof (LinkSource));
  ((LinkSource *) self->source)->link = self;
  if (zmq_getsockopt (self->socket, ZMQ_FD, &fd, &size) == 0)
    ((LinkSource *) self->source)->fd = g_source_add_unix_fd (self->source, fd, G_IO_IN);
  self->used = TRUE;
  self->rests = FALSE;
  g_source_set_static_name (self->source, "irisd-bridge-link");
  g_source_attach (self->source, self->context);
}

/* Each connection has a routing id of its own: irisd may not know yet that the last one ended. */
static void
irisd_bridge_link_show_token (IrisdBridgeLink *self)
{
  static _Atomic guint n_connections;
  g_autofree char *route = NULL;

  if (self->token == NULL)
    return;
  route = g_strdup_printf ("%s-%u", self->token,
                           atomic_fetch_add_explicit (&n_connections, 1, memory_order_relaxed));
  zmq_setsockopt (self->socket, ZMQ_ROUTING_ID, route, strlen (route));
}

static void
irisd_bridge_link_connect (IrisdBridgeLink *self)
{
  int zero = 0;
  IrisWireMessage hello;

  irisd_bridge_link_disconnect (self, 0);
  self->socket = zmq_socket (self->zmq, ZMQ_DEALER);
  if (self->socket != NULL)
    {
      zmq_setsockopt (self->socket, ZMQ_LINGER, &zero, sizeof zero);
      zmq_setsockopt (self->socket, ZMQ_SNDHWM, &zero, sizeof zero);
      zmq_setsockopt (self->socket, ZMQ_RCVHWM, &zero, sizeof zero);
      irisd_bridge_link_show_token (self);
    }
  if (self->socket == NULL || zmq_connect (self->socket, self->endpoint) != 0)
    {
      g_warning ("the cluster thread cannot connect to %s: %s; it tries again", self->endpoint,
                 zmq_strerror (errno));
      irisd_bridge_link_lose (self, "no socket");
      return;
    }
  self->state = LINK_HELLO;
  self->two_frames = FALSE;
  self->heard = TRUE;
  irisd_bridge_link_watch (self);
  irisd_bridge_link_set_silence (self, self->silence_ms);
  iris_wire_message_init (&hello, IRIS_WIRE_HELLO, NULL);
  iris_wire_message_set_uint (&hello, IRIS_WIRE_KEY_VERSION_MIN, IRIS_WIRE_VERSION);
  iris_wire_message_set_uint (&hello, IRIS_WIRE_KEY_VERSION_MAX, IRIS_WIRE_VERSION);
  iris_wire_message_set_uint (&hello, IRIS_WIRE_KEY_FEATURES,
                              self->features | IRIS_WIRE_FEATURE_TWO_FRAMES);
  iris_wire_message_set_string (&hello, IRIS_WIRE_KEY_NAME, self->name, -1);
  irisd_bridge_link_new_id (self, hello.request_id);
  irisd_bridge_link_send (self, &hello);
}

/* Begins to connect; none of @funcs is called before the context runs. @token shows
 * irisd that the connection is its own, and may be NULL. */
IrisdBridgeLink *
irisd_bridge_link_new (void *zmq,
                       GMainContext *context,
                       const char *endpoint,
                       const char *token,
                       const char *name,
                       guint64 features,
                       const IrisdBridgeLinkFuncs *funcs,
                       gpointer user_data)
{
  IrisdBridgeLink *self = g_rc_box_new0 (IrisdBridgeLink);

  self->zmq = zmq;
  self->context = g_main_context_ref (context);
  self->endpoint = g_strdup (endpoint);
  self->token = g_strdup (token);
  self->name = g_strdup (name);
  self->features = features;
  self->funcs = funcs;
  self->user_data = user_data;
  self->silence_ms = FIRST_SILENCE_MS;
  IrisWireLimits limits = *iris_wire_limits_default ();
  limits.max_body = IRIS_WIRE_MOST_BYTES;
  iris_wire_encoder_init (&self->encoder, &limits);
  irisd_bridge_link_connect (self);
  return self;
}

void
irisd_bridge_link_free (IrisdBridgeLink *self)
{
  irisd_bridge_link_disconnect (self, 0);
  self->state = LINK_DOWN;
  self->freed = TRUE;
  irisd_bridge_link_release (self);
}

gboolean
irisd_bridge_link_is_up (const IrisdBridgeLink *self)
{
  return self->state == LINK_UP;
}

/* FALSE if it could not be sent: the link is not up, or the message breaks a limit of the protocol.
 * Its body is copied. */
gboolean
irisd_bridge_link_send (IrisdBridgeLink *self, const IrisWireMessage *message)
{
  g_autoptr (GError) error = NULL;
  const IrisWireFrame *frames = self->encoder.frames;
  guint n = IRIS_WIRE_N_FRAMES;

  if (self->socket == NULL || (self->state != LINK_UP && message->type != IRIS_WIRE_HELLO))
    return FALSE;
  if (!iris_wire_encode (&self->encoder, message, &error))
    {
      g_warning ("the cluster thread cannot send %s to irisd: %s",
                 iris_wire_type_name (message->type), error->message);
      return FALSE;
    }
  if (self->two_frames)
    {
      frames = self->encoder.two_frames;
      n = G_N_ELEMENTS (self->encoder.two_frames);
    }
  self->used = TRUE;
  for (guint i = 0; i < n; i++)
    {
      int flags = ZMQ_DONTWAIT | (i + 1 < n ? ZMQ_SNDMORE : 0);
      int rc;

      do
        rc = zmq_send (self->socket, frames[i].data, frames[i].size, flags);
      while (rc < 0 && errno == EINTR);
      if (rc < 0)
        return FALSE;
    }
  return TRUE;
}

/* Reads nothing before @until, in monotonic time, so that what comes meanwhile is read together and
 * wakes the thread once. */
void
irisd_bridge_link_rest (IrisdBridgeLink *self, gint64 until)
{
  LinkSource *source = (LinkSource *) self->source;

  if (source == NULL || source->fd == NULL || self->state != LINK_UP)
    return;
  self->rests = TRUE;
  g_source_modify_unix_fd (self->source, source->fd, 0);
  g_source_set_ready_time (self->source, until);
}

/* irisd takes the connection for lost after so long; a PING comes each third of it. */
void
irisd_bridge_link_set_silence (IrisdBridgeLink *self, guint64 silence_ms)
{
  self->silence_ms = MAX (silence_ms, 3);
  irisd_bridge_link_set_timer (self, self->silence_ms / 3, on_tick);
}

/* Makes a request id that this connection has not used. */
void
irisd_bridge_link_new_id (IrisdBridgeLink *self, guint8 *id)
{
  guint64 number = ++self->last_id;

  memset (id, 0, IRIS_WIRE_ID_SIZE);
  memcpy (id, &number, sizeof number);
}

/* Ends the connection in good order. What was sent before has up to a second to leave. */
void
irisd_bridge_link_say_bye (IrisdBridgeLink *self)
{
  IrisWireMessage bye;

  iris_wire_message_init (&bye, IRIS_WIRE_BYE, NULL);
  irisd_bridge_link_send (self, &bye);
  irisd_bridge_link_disconnect (self, 1000);
  self->state = LINK_DOWN;
}
