/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Socket activation: the front door's socket, which the service manager has bound before irisd was
 * started.
 *
 * How many places there are is known to irisd alone, so it binds their sockets itself, and clients
 * learn them from the front door. A connection that arrives while irisd is not there waits in the
 * socket's backlog. The socket's file belongs to the service manager: irisd does not remove it.
 */
#include "daemon/net/irisd-activation.h"

#include "daemon/base/irisd-error.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* The first descriptor that is passed (sd_listen_fds(3)). */
#define FIRST_FD 3

static gboolean
is_for_us (guint *n)
{
  const char *pid_text = g_getenv ("LISTEN_PID");
  const char *n_text = g_getenv ("LISTEN_FDS");
  guint64 pid = 0, number = 0;
  if (pid_text == NULL || n_text == NULL
      || !g_ascii_string_to_unsigned (pid_text, 10, 1, G_MAXINT, &pid, NULL)
      || pid != (guint64) getpid ()
      || !g_ascii_string_to_unsigned (n_text, 10, 1, G_MAXINT, &number, NULL))
    return FALSE;
  *n = (guint) number;
  return TRUE;
}

static gboolean
is_listening (int fd)
{
  int value = 0;
  socklen_t size = sizeof value;
  return getsockopt (fd, SOL_SOCKET, SO_ACCEPTCONN, &value, &size) == 0 && value != 0;
}

/* Returns the socket's endpoint; NULL if it is no listening stream socket with a file. */
static char *
find_endpoint (int fd)
{
  struct sockaddr_un address = { 0 };
  socklen_t size = sizeof address - 1;
  if (!is_listening (fd) || getsockname (fd, (struct sockaddr *) &address, &size) != 0
      || address.sun_family != AF_UNIX || address.sun_path[0] != '/')
    return NULL;
  return g_strconcat ("ipc://", address.sun_path, NULL);
}

/* Takes what the service manager has passed. Call this while there is one thread. */
gboolean
irisd_activation_take (IrisdActivation *self, GError **error)
{
  guint n = 0;
  gboolean passed = is_for_us (&n);
  *self = (IrisdActivation){ .fd = -1 };
  /* A command of irisd must not take them for its own. */
  g_unsetenv ("LISTEN_PID");
  g_unsetenv ("LISTEN_FDS");
  g_unsetenv ("LISTEN_FDNAMES");
  if (!passed)
    return TRUE;
  if (n != 1)
    return irisd_fail (error, IRISD_ERROR, IRISD_ERROR_USAGE,
                       "the service manager passed %u sockets, and irisd takes one, the front "
                       "door's: write one ListenStream= in irisd.socket",
                       n);
  self->endpoint = find_endpoint (FIRST_FD);
  if (self->endpoint == NULL)
    return irisd_fail (error, IRISD_ERROR, IRISD_ERROR_USAGE,
                       "the service manager passed no socket that can be the front door: in "
                       "irisd.socket write ListenStream= with an absolute path, and Accept=no");
  /* Else ZeroMQ's thread would wait in accept(2) for a connection that ended meanwhile. */
  if (fcntl (FIRST_FD, F_SETFD, FD_CLOEXEC) != 0
      || fcntl (FIRST_FD, F_SETFL, fcntl (FIRST_FD, F_GETFL) | O_NONBLOCK) != 0)
    return irisd_fail (error, IRISD_ERROR, IRISD_ERROR_FAILED,
                       "cannot use the socket that the service manager passed: %s",
                       g_strerror (errno));
  self->fd = FIRST_FD;
  return TRUE;
}

void
irisd_activation_clear (IrisdActivation *self)
{
  g_clear_pointer (&self->endpoint, g_free);
}
