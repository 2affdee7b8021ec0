/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * irisd's ROUTER sockets: their options, and where they are bound.
 *
 * Every option is set on purpose:
 *  - ROUTER_MANDATORY: ZeroMQ reports that a connection has ended or its pipe is full, instead of
 * dropping messages.
 *  - MAXMSGSIZE: bounds one frame, before it is read. It lies above our own limit, so that a frame
 *    that is somewhat too large gets an answer, and only one that is far too large costs the
 *    connection.
 *  - SNDHWM, RCVHWM: count whole messages of one connection. Unfinished messages have bounds of
 * irisd's own (irisd-unfinished-messages.c).
 *  - LINGER: 0 until irisd ends; the gateway then sets how long its last replies may take.
 *  - HANDSHAKE_IVL: ZeroMQ closes a connection that sends no greeting.
 *  - ZAP_DOMAIN: has ZeroMQ ask the ZAP handler about every connection (irisd-zap-handler.c).
 *  - Heartbeats stay off: a client whose connection is reset while a ping waits unread makes ZeroMQ
 *    4.3 abort the process. TCP has keep-alive instead, and clients may ping.
 */
#include "daemon/net/irisd-socket.h"

#include "daemon/base/irisd-error.h"
#include "daemon/net/irisd-unfinished-messages.h"
#include "daemon/net/irisd-zap-handler.h"

#include <errno.h>
#include <gio/gio.h>
#include <string.h>
#include <sys/stat.h>
#include <zmq.h>

#define SEND_HIGH_WATER       1000
#define RECEIVE_HIGH_WATER    256
#define HANDSHAKE_INTERVAL_MS 5000 /* unless hello-ms is less */
#define LISTEN_BACKLOG        1024

/* Attempts to find ports in a row when the system may choose. */
#define PORT_TRIES 50

static gboolean
set_int (void *socket, int option, int value)
{
  return zmq_setsockopt (socket, option, &value, sizeof value) == 0;
}

/* Returns a ROUTER that is not bound yet. */
void *
irisd_socket_new (void *context, const IrisdLimits *limits, GError **error)
{
  void *socket = zmq_socket (context, ZMQ_ROUTER);
  irisd_unfinished_set_limits (limits);
  int handshake_ms = (int) MIN (HANDSHAKE_INTERVAL_MS, limits->hello_ms);
  gint64 max_frame = 2 * (gint64) MAX (limits->max_body, limits->max_header);
  if (socket != NULL && set_int (socket, ZMQ_ROUTER_MANDATORY, 1)
      && set_int (socket, ZMQ_SNDHWM, SEND_HIGH_WATER)
      && set_int (socket, ZMQ_RCVHWM, RECEIVE_HIGH_WATER) && set_int (socket, ZMQ_LINGER, 0)
      && set_int (socket, ZMQ_HANDSHAKE_IVL, handshake_ms)
      && set_int (socket, ZMQ_BACKLOG, LISTEN_BACKLOG) && set_int (socket, ZMQ_TCP_KEEPALIVE, 1)
      && set_int (socket, ZMQ_IPV6, 1)
      && zmq_setsockopt (socket, ZMQ_ZAP_DOMAIN, IRISD_ACCESS_DOMAIN, strlen (IRISD_ACCESS_DOMAIN))
             == 0
      && zmq_setsockopt (socket, ZMQ_MAXMSGSIZE, &max_frame, sizeof max_frame) == 0)
    return socket;

  g_set_error (
      error, IRISD_ERROR, IRISD_ERROR_FAILED,
      "cannot make a ZeroMQ socket: %s; see the limits of memory and descriptors (ulimit -a)",
      zmq_strerror (errno));
  irisd_socket_close (socket);
  return NULL;
}

/* Ends the monitor of @socket, which may be NULL, first, so that no event is on its way when the
 * monitor's reader goes. */
void
irisd_socket_close (void *socket)
{
  if (socket == NULL)
    return;
  zmq_socket_monitor (socket, NULL, 0);
  zmq_close (socket);
}

/* Binds @socket to @endpoint in the locked directory @dir, with mode 0600, or 0666 if it is @shared
 * with other users. The mode follows the umask of the whole process: call this before other threads
 * make files. */
gboolean
irisd_socket_bind_ipc (void *socket,
                       IrisdRuntimeDir *dir,
                       const char *endpoint,
                       gboolean shared,
                       GError **error)
{
  irisd_unfinished_listen (endpoint);
  mode_t before = umask (shared ? 0111 : 0177);
  int rc = zmq_bind (socket, endpoint);
  int saved = errno;
  umask (before);
  if (rc == 0)
    {
      irisd_runtime_dir_add_endpoint (dir, endpoint);
      return TRUE;
    }
  return irisd_fail (error, IRISD_ERROR, IRISD_ERROR_FAILED, "cannot listen on %s: %s", endpoint,
                     zmq_strerror (saved));
}

/* Has @socket accept connections at @fd, which listens at @endpoint already. ZeroMQ owns @fd from
 * then on, and leaves the file of @endpoint alone. */
gboolean
irisd_socket_bind_fd (void *socket, int fd, const char *endpoint, GError **error)
{
  irisd_unfinished_listen (endpoint);
  gboolean bound = set_int (socket, ZMQ_USE_FD, fd) && zmq_bind (socket, endpoint) == 0;
  int saved = errno;
  /* The option holds for all later binds of the socket. */
  if (bound && set_int (socket, ZMQ_USE_FD, -1))
    return TRUE;
  return irisd_fail (error, IRISD_ERROR, IRISD_ERROR_FAILED,
                     "cannot listen on %s, which the service manager has bound: %s", endpoint,
                     zmq_strerror (saved));
}

/* What @socket is bound to from now on takes connections with CURVE alone; what it was bound to
 * goes on without. @secret is irisd's key, in Z85. */
gboolean
irisd_socket_use_curve (void *socket, const char *secret, GError **error)
{
  if (set_int (socket, ZMQ_CURVE_SERVER, 1)
      && zmq_setsockopt (socket, ZMQ_CURVE_SECRETKEY, secret, IRISD_KEY_TEXT + 1) == 0)
    return TRUE;
  return irisd_fail (error, IRISD_ERROR, IRISD_ERROR_FAILED,
                     "cannot encrypt TCP: %s; this ZeroMQ needs CURVE (zmq_has), or leave out "
                     "server-key",
                     zmq_strerror (errno));
}

static char *
tcp_endpoint (const char *host, guint port)
{
  return strchr (host, ':') != NULL ? g_strdup_printf ("tcp://[%s]:%u", host, port)
                                    : g_strdup_printf ("tcp://%s:%u", host, port);
}

/* Binds socket i to port + i; undoes what it did when one of them is taken. */
static char **
bind_in_a_row (void **sockets, guint n, const char *host, guint port, GError **error)
{
  g_auto (GStrv) endpoints = g_new0 (char *, n + 1);
  for (guint i = 0; i < n; i++)
    {
      endpoints[i] = tcp_endpoint (host, port + i);
      irisd_unfinished_listen (endpoints[i]);
      if (port + i <= G_MAXUINT16 && zmq_bind (sockets[i], endpoints[i]) == 0)
        continue;
      g_set_error (
          error, IRISD_ERROR, IRISD_ERROR_FAILED,
          "cannot listen on %s: %s; irisd needs %u ports in a row, from the one given with "
          "--tcp on",
          endpoints[i], port + i > G_MAXUINT16 ? "there is no such port" : zmq_strerror (errno), n);
      while (i-- > 0)
        zmq_unbind (sockets[i], endpoints[i]);
      return NULL;
    }
  return g_steal_pointer (&endpoints);
}

/* Lets the system choose a port; those behind it are probably free. Uses a plain socket, because
 * ZeroMQ releases a port only some time after it is asked to. */
static guint
find_port (const char *host)
{
  g_autoptr (GSocketAddress) wanted = g_inet_socket_address_new_from_string (host, 0);
  g_autoptr (GSocket) socket = g_socket_new (g_socket_address_get_family (wanted),
                                             G_SOCKET_TYPE_STREAM, G_SOCKET_PROTOCOL_TCP, NULL);
  if (socket == NULL || !g_socket_bind (socket, wanted, TRUE, NULL))
    return 0;
  g_autoptr (GSocketAddress) bound = g_socket_get_local_address (socket, NULL);
  return bound != NULL ? g_inet_socket_address_get_port (G_INET_SOCKET_ADDRESS (bound)) : 0;
}

/* Binds @n @sockets, the front socket and then the places in order, to @n ports in a row from @port
 * on at the address @host; port 0: the system chooses. Returns the endpoint of each
 * socket. */
char **
irisd_socket_bind_tcp (void **sockets, guint n, const char *host, guint16 port, GError **error)
{
  if (port != 0)
    return bind_in_a_row (sockets, n, host, port, error);
  for (guint i = 0; i < PORT_TRIES; i++)
    {
      guint found = find_port (host);
      char **endpoints = found != 0 ? bind_in_a_row (sockets, n, host, found, NULL) : NULL;
      if (endpoints != NULL)
        return endpoints;
    }
  g_set_error (
      error, IRISD_ERROR, IRISD_ERROR_FAILED,
      "cannot listen: found no %u free ports in a row on %s; name the first one with --tcp", n,
      host);
  return NULL;
}
