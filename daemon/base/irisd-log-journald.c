/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * journald's socket: takes entries of irisd's log with all their fields.
 *
 * An entry is one datagram. One that is too long for a datagram goes into a sealed memfd, whose
 * descriptor is sent instead. The socket is not connected, so it outlives a restart of journald.
 * Only one thread at a time sends: the log's writer or, before it starts, the thread that logs.
 */
#include "daemon/base/irisd-log-journald.h"

#include "daemon/base/irisd-error.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static struct
{
  int fd;
  struct sockaddr_un address;
  guint timeout_ms; /* that the socket has */
} journald = { .fd = -1 };

/* Returns whether standard error is a stream of journald's: `$JOURNAL_STREAM` names the stream that
 * the service manager made, and a redirection changes standard error only. */
gboolean
irisd_log_journald_is_stderr (void)
{
  const char *stream = g_getenv ("JOURNAL_STREAM");
  struct stat st;
  if (stream == NULL || fstat (STDERR_FILENO, &st) != 0)
    return FALSE;
  g_autofree char *own = g_strdup_printf ("%" G_GUINT64_FORMAT ":%" G_GUINT64_FORMAT,
                                          (guint64) st.st_dev, (guint64) st.st_ino);
  return strcmp (stream, own) == 0;
}

/* Returns whether entries can be sent to the socket @path. */
gboolean
irisd_log_journald_open (const char *path, GError **error)
{
  irisd_log_journald_close ();
  struct stat st;
  journald.address = (struct sockaddr_un){ .sun_family = AF_UNIX };
  if (g_strlcpy (journald.address.sun_path, path, sizeof journald.address.sun_path)
      >= sizeof journald.address.sun_path)
    errno = ENAMETOOLONG;
  else if (stat (path, &st) == 0)
    journald.fd = socket (AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (journald.fd >= 0)
    return TRUE;
  return irisd_fail (error, IRISD_ERROR, IRISD_ERROR_FAILED,
                     "cannot log to journald at %s: %s; start journald, or choose "
                     "--log-format lines or json",
                     path, g_strerror (errno));
}

void
irisd_log_journald_close (void)
{
  if (journald.fd >= 0)
    close (journald.fd);
  journald.fd = -1;
  journald.timeout_ms = 0;
}

static int
make_sealed_file (const char *entry, gsize size)
{
  int fd = memfd_create ("irisd-log", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  gsize written = 0;
  while (fd >= 0 && written < size)
    {
      ssize_t n = write (fd, entry + written, size - written);
      if (n < 0 && errno == EINTR)
        continue;
      if (n <= 0)
        break;
      written += (gsize) n;
    }
  if (fd >= 0 && written == size
      && fcntl (fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) == 0)
    return fd;
  if (fd >= 0)
    close (fd);
  return -1;
}

static gboolean
send_descriptor (int fd)
{
  union
  {
    struct cmsghdr header;
    char bytes[CMSG_SPACE (sizeof (int))];
  } control = { 0 };
  const struct msghdr message = { .msg_name = &journald.address,
                                  .msg_namelen = sizeof journald.address,
                                  .msg_control = &control,
                                  .msg_controllen = sizeof control.bytes };
  struct cmsghdr *header = CMSG_FIRSTHDR (&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN (sizeof fd);
  memcpy (CMSG_DATA (header), &fd, sizeof fd);
  return sendmsg (journald.fd, &message, MSG_NOSIGNAL) >= 0;
}

/* Waits at most @timeout_ms. Returns whether journald has @entry; sets @busy if it only did not
 * read in time. */
gboolean
irisd_log_journald_send (const char *entry, gsize size, guint timeout_ms, gboolean *busy)
{
  struct timeval timeout = { timeout_ms / 1000, (suseconds_t) (timeout_ms % 1000) * 1000 };
  if (journald.timeout_ms != timeout_ms
      && setsockopt (journald.fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout) == 0)
    journald.timeout_ms = timeout_ms;
  struct iovec part = { (char *) entry, size };
  struct msghdr message = { .msg_name = &journald.address,
                            .msg_namelen = sizeof journald.address,
                            .msg_iov = &part,
                            .msg_iovlen = 1 };
  gboolean sent = sendmsg (journald.fd, &message, MSG_NOSIGNAL) >= 0;
  if (!sent && (errno == EMSGSIZE || errno == ENOBUFS))
    {
      int fd = make_sealed_file (entry, size);
      sent = fd >= 0 && send_descriptor (fd);
      if (fd >= 0)
        close (fd);
    }
  *busy = !sent && (errno == EAGAIN || errno == EINTR);
  return sent;
}
