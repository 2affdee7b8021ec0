/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Tells whoever started irisd that it is ready, or ending.
 */
#include "daemon/base/irisd-readiness.h"

#include "daemon/base/irisd-log.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/**
 * irisd_notify_ready_fd:
 * @fd: a descriptor that the starter handed down, or -1
 * @endpoints: the front door's endpoints, separated by spaces
 *
 * Writes the line `ready ENDPOINTS` and closes @fd, so that a script can wait for it.
 */
void
irisd_notify_ready_fd (int fd, const char *endpoints)
{
  if (fd < 0)
    return;
  g_autofree char *line = g_strdup_printf ("ready %s\n", endpoints);
  size_t len = strlen (line);
  if (write (fd, line, len) != (ssize_t) len)
    irisd_log (IRISD_LOG_WARNING, "nobody reads the descriptor %d given by --ready-fd: %s", fd,
               g_strerror (errno));
  if (fd > STDERR_FILENO)
    close (fd);
}

/**
 * irisd_notify_service_manager:
 * @state: assignments of the service manager's notification protocol, such as `READY=1`
 *
 * Sends @state to the socket named by `NOTIFY_SOCKET`; does nothing when there is none.
 */
void
irisd_notify_service_manager (const char *state)
{
  const char *path = g_getenv ("NOTIFY_SOCKET");
  if (path == NULL || (path[0] != '/' && path[0] != '@'))
    return;

  struct sockaddr_un address = { .sun_family = AF_UNIX };
  size_t len = strlen (path);
  if (len >= sizeof address.sun_path)
    return;
  memcpy (address.sun_path, path, len);
  /* A leading @ stands for the abstract namespace, whose names begin with a zero byte. */
  if (path[0] == '@')
    address.sun_path[0] = '\0';

  int fd = socket (AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0)
    return;
  socklen_t size = G_STRUCT_OFFSET (struct sockaddr_un, sun_path) + len;
  if (sendto (fd, state, strlen (state), MSG_NOSIGNAL, (struct sockaddr *) &address, size) < 0)
    irisd_log (IRISD_LOG_WARNING, "cannot reach the service manager at %s: %s", path,
               g_strerror (errno));
  close (fd);
}
