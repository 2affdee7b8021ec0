/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Readiness: tells the starting process that irisd is ready, or ending.
 */
#include "daemon/base/irisd-readiness.h"

#include "daemon/base/irisd-log.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* Writes the line `ready ENDPOINTS` to @fd, an inherited descriptor or -1, and closes it, so that a
 * script can wait for it. @endpoints are those of the front gateway, separated by spaces. */
void
irisd_notify_ready_fd (int fd, const char *endpoints)
{
  if (fd < 0)
    return;
  g_autofree char *line = g_strdup_printf ("ready %s\n", endpoints);
  size_t len = strlen (line);
  if (write (fd, line, len) != (ssize_t) len)
    irisd_log (IRISD_LOG_WARNING, "cannot write to the descriptor %d of --ready-fd: %s", fd,
               g_strerror (errno));
  if (fd > STDERR_FILENO)
    close (fd);
}

/* Sends @state, such as `READY=1`, to the socket in `NOTIFY_SOCKET`, if that is set. */
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
  /* A leading @ means the abstract namespace, whose names begin with a zero byte. */
  if (path[0] == '@')
    address.sun_path[0] = '\0';

  int fd = socket (AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0)
    return;
  socklen_t size = G_STRUCT_OFFSET (struct sockaddr_un, sun_path) + len;
  if (sendto (fd, state, strlen (state), MSG_NOSIGNAL, (struct sockaddr *) &address, size) < 0)
    irisd_log (
        IRISD_LOG_WARNING,
        "cannot reach the service manager at %s: %s; set NOTIFY_SOCKET to its socket, or unset it",
        path, g_strerror (errno));
  close (fd);
}

/* Sends @state, or nothing if that is NULL, with a sentence for `systemctl status`. */
void
irisd_notify_status (const char *state, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  g_autofree char *status = g_strdup_vprintf (format, args);
  va_end (args);
  g_autofree char *text = g_strdup_printf ("%s%sSTATUS=%s", state != NULL ? state : "",
                                           state != NULL ? "\n" : "", status);
  irisd_notify_service_manager (text);
}

/* The configuration is read again; `READY=1` ends that. */
void
irisd_notify_reloading (void)
{
  g_autofree char *text = g_strdup_printf ("RELOADING=1\nMONOTONIC_USEC=%" G_GINT64_FORMAT,
                                           g_get_monotonic_time ());
  irisd_notify_service_manager (text);
}
