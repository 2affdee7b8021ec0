/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A GSource over a ZeroMQ socket.
 *
 * The file descriptor that ZeroMQ gives out (ZMQ_FD) is not the connection's: it is a mailbox
 * through which the I/O thread wakes the socket's thread, and it is edge triggered. It becomes
 * readable when the socket's state *may* have changed, and any call on the socket, a send as well
 * as a receive, may swallow that edge. A source that reads one message for each G_IO_IN therefore
 * stops dead with messages waiting.
 *
 * So the descriptor is used only to end poll(). Whether there is something to do is asked of
 * ZMQ_EVENTS, in prepare (an edge that was swallowed by a send since then is found before the
 * loop sleeps) and again in check. An edge that comes after prepare ends the poll, because asking
 * for ZMQ_EVENTS left the descriptor unreadable only if nothing was pending. One dispatch takes a
 * bounded number of messages, so that a quick peer cannot starve the other sources of the loop;
 * the next prepare finds the rest.
 *
 * The socket belongs to the thread that runs the source's context, as every ZeroMQ socket belongs
 * to one thread.
 */
#include "iris-client-source-private.h"

#include <errno.h>
#include <zmq.h>

typedef struct
{
  GSource source;
  void *socket;
  IrisClientSourceFunc read;
  IrisClientSourceFunc write;
  gpointer user_data;
  int wanted;
} IrisClientSource;

static int
iris_client_source_events (IrisClientSource *self)
{
  int events = 0;
  size_t size = sizeof events;

  /* A socket whose context is being terminated reports ETERM: let the read function see it. */
  if (zmq_getsockopt (self->socket, ZMQ_EVENTS, &events, &size) != 0)
    return errno == EINTR ? 0 : ZMQ_POLLIN;
  return events & self->wanted;
}

static gboolean
iris_client_source_prepare (GSource *source, int *timeout)
{
  *timeout = -1;
  return iris_client_source_events ((IrisClientSource *) source) != 0;
}

static gboolean
iris_client_source_check (GSource *source)
{
  return iris_client_source_events ((IrisClientSource *) source) != 0;
}

static gboolean
iris_client_source_dispatch (GSource *source, GSourceFunc callback, gpointer user_data)
{
  IrisClientSource *self = (IrisClientSource *) source;
  int events = iris_client_source_events (self);

  if ((events & ZMQ_POLLOUT) && self->write != NULL)
    self->write (self->socket, self->user_data);
  for (guint i = 0; i < IRIS_CLIENT_SOURCE_BUDGET && !g_source_is_destroyed (source); i++)
    if (!self->read (self->socket, self->user_data))
      break;
  return G_SOURCE_CONTINUE;
}

static GSourceFuncs iris_client_source_funcs = {
  iris_client_source_prepare,
  iris_client_source_check,
  iris_client_source_dispatch,
  NULL,
  NULL,
  NULL,
};

/* Not attached yet. Destroy it before the socket is closed. */
GSource *
iris_client_source_new (void *socket,
                        IrisClientSourceFunc read,
                        IrisClientSourceFunc write,
                        gpointer user_data)
{
  GSource *source = g_source_new (&iris_client_source_funcs, sizeof (IrisClientSource));
  IrisClientSource *self = (IrisClientSource *) source;
  int fd = -1;
  size_t size = sizeof fd;

  self->socket = socket;
  self->read = read;
  self->write = write;
  self->user_data = user_data;
  self->wanted = ZMQ_POLLIN;
  if (zmq_getsockopt (socket, ZMQ_FD, &fd, &size) == 0)
    g_source_add_unix_fd (source, fd, G_IO_IN);
  g_source_set_static_name (source, "IrisClientSource");
  return source;
}

/* To be switched on only while something waits to be sent: a socket that can send is the normal
 * state, and would keep the loop spinning. */
void
iris_client_source_set_wants_write (GSource *source, gboolean wants_write)
{
  IrisClientSource *self = (IrisClientSource *) source;

  self->wanted = ZMQ_POLLIN | (wants_write ? ZMQ_POLLOUT : 0);
}
