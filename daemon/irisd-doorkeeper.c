/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The doorkeeper: a thread that ZeroMQ asks about every new connection (ZAP, RFC 27).
 *
 * ZeroMQ asks if its sockets have a domain and somebody listens at the address of ZAP; a connection
 * that comes before somebody does is let in. So the doorkeeper's socket is bound before irisd's
 * own are, and what is asked before the thread runs waits. The question about a connection over
 * ipc has the user whom the kernel names as its other end; TCP has no such thing, and what is done
 * for whoever comes that way is decided elsewhere.
 *
 * Who is refused here has not had a single message read, and sends no second time.
 */
#include "irisd-access.h"
#include "irisd-error.h"
#include "irisd-log.h"

#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <zmq.h>

#define ZAP_ENDPOINT "inproc://zeromq.zap.01"

/* Frames of a question: version, id, domain, address, routing id, mechanism; keys go beyond. */
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

struct _IrisdDoorkeeper
{
  const IrisdAccess *access;
  void *socket;
  int end_fd;
  GThread *thread;
};

/* Frames that are longer or more than any of ours are cut and left out. */
static guint
receive (IrisdDoorkeeper *self, Frame *frames)
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
answer (IrisdDoorkeeper *self, const Frame *id, gboolean allowed)
{
  const char *const code = allowed ? "200" : "400";
  const char *const text = allowed ? "OK" : "this user is not let in";
  zmq_send (self->socket, "1.0", 3, ZMQ_SNDMORE);
  zmq_send (self->socket, id->text, id->size, ZMQ_SNDMORE);
  zmq_send (self->socket, code, 3, ZMQ_SNDMORE);
  zmq_send (self->socket, text, strlen (text), ZMQ_SNDMORE);
  zmq_send (self->socket, "", 0, ZMQ_SNDMORE);
  zmq_send (self->socket, "", 0, 0);
}

static void
handle_question (IrisdDoorkeeper *self)
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
                       "refused a connection of the user %" G_GINT64_FORMAT
                       ": name users that are let in under [access] users",
                       uid);
  answer (self, &frames[ID], allowed);
}

static gpointer
run_thread (gpointer data)
{
  IrisdDoorkeeper *self = data;
  for (;;)
    {
      zmq_pollitem_t items[] = {
        { .socket = self->socket, .events = ZMQ_POLLIN },
        { .fd = self->end_fd, .events = ZMQ_POLLIN },
      };
      if (zmq_poll (items, G_N_ELEMENTS (items), -1) < 0 && errno != EINTR)
        g_error ("zmq_poll failed: %s", zmq_strerror (errno));
      if (items[1].revents != 0)
        return NULL;
      if (items[0].revents != 0)
        handle_question (self);
    }
}

/**
 * irisd_doorkeeper_new:
 * @context: the ZeroMQ context
 * @access: who is let in
 * @error: return location for a #GError
 *
 * Call this before any other socket of the context is bound.
 *
 * Returns: (transfer full): a doorkeeper; questions wait until it is started
 */
IrisdDoorkeeper *
irisd_doorkeeper_new (void *context, const IrisdAccess *access, GError **error)
{
  IrisdDoorkeeper *self = g_new0 (IrisdDoorkeeper, 1);
  int none = 0;
  self->access = access;
  self->end_fd = eventfd (0, EFD_CLOEXEC | EFD_NONBLOCK);
  self->socket = zmq_socket (context, ZMQ_REP);
  if (self->end_fd >= 0 && self->socket != NULL
      && zmq_setsockopt (self->socket, ZMQ_LINGER, &none, sizeof none) == 0
      && zmq_bind (self->socket, ZAP_ENDPOINT) == 0)
    return self;
  g_set_error (error, IRISD_ERROR, IRISD_ERROR_FAILED, "cannot guard the sockets: %s",
               zmq_strerror (errno));
  irisd_doorkeeper_free (self);
  return NULL;
}

void
irisd_doorkeeper_start (IrisdDoorkeeper *self)
{
  self->thread = g_thread_new ("irisd-door", run_thread, self);
}

/**
 * irisd_doorkeeper_free:
 * @self: (transfer full) (nullable): a doorkeeper without doors
 */
void
irisd_doorkeeper_free (IrisdDoorkeeper *self)
{
  if (self == NULL)
    return;
  if (self->thread != NULL)
    {
      eventfd_write (self->end_fd, 1);
      g_thread_join (self->thread);
    }
  if (self->socket != NULL)
    zmq_close (self->socket);
  if (self->end_fd >= 0)
    close (self->end_fd);
  g_free (self);
}
