/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * How connections are accepted when descriptors run out.
 *
 * libzmq 4.3 aborts the process when accept4(2) on an ipc socket fails with EMFILE (errno_assert in
 * ipc_listener.cpp, 4.3.4), and on a TCP socket it tries again at once for as long as the
 * connection waits, which takes a whole processor. So enough connections could end irisd.
 *
 * libzmq calls accept4() through the dynamic linker, which finds the one of the program first: this
 * one. It leaves the last descriptors to the rest of irisd. When no descriptor is left it closes
 * its spare one, to accept the connection and close it. Either way libzmq is told ECONNABORTED, the
 * error of a connection that ended before it was accepted. ZeroMQ's clients connect again by
 * themselves.
 */
#include "daemon/net/irisd-accept.h"

#include "daemon/base/irisd-error.h"
#include "daemon/base/irisd-log.h"
#include "daemon/net/irisd-unfinished-messages.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static pthread_mutex_t spare_lock = PTHREAD_MUTEX_INITIALIZER;
static int spare_fd = -1; /* under the lock */

static int
open_spare (void)
{
  return open ("/dev/null", O_RDONLY | O_CLOEXEC);
}

gboolean
irisd_accept_init (GError **error)
{
  pthread_mutex_lock (&spare_lock);
  if (spare_fd < 0)
    spare_fd = open_spare ();
  gboolean held = spare_fd >= 0;
  int saved = errno;
  pthread_mutex_unlock (&spare_lock);
  if (!held)
    g_set_error (error, IRISD_ERROR, IRISD_ERROR_FAILED, "cannot open /dev/null: %s",
                 g_strerror (saved));
  return held;
}

void
irisd_accept_clear (void)
{
  pthread_mutex_lock (&spare_lock);
  if (spare_fd >= 0)
    close (spare_fd);
  spare_fd = -1;
  pthread_mutex_unlock (&spare_lock);
}

/* Says whether a connection would be accepted after irisd has opened @more descriptors. */
gboolean
irisd_accept_check_room (guint more, GError **error)
{
  struct rlimit limit;
  int fd = open_spare ();
  gboolean room = fd >= 0 && getrlimit (RLIMIT_NOFILE, &limit) == 0;
  rlim_t least = room ? (rlim_t) fd + more + IRISD_SPARE_DESCRIPTORS + 1 : 0;
  if (fd >= 0)
    close (fd);
  if (room && least <= limit.rlim_cur)
    return TRUE;
  if (room)
    return irisd_fail (error, IRISD_ERROR, IRISD_ERROR_FAILED,
                       "cannot accept connections: irisd may open %" G_GUINT64_FORMAT
                       " descriptors, and needs %" G_GUINT64_FORMAT
                       " to accept a first one; raise its limit (LimitNOFILE=, ulimit -n)",
                       (guint64) limit.rlim_cur, (guint64) least);
  return irisd_fail (error, IRISD_ERROR, IRISD_ERROR_FAILED,
                     "cannot open a descriptor: %s; raise irisd's limit (LimitNOFILE=, ulimit -n)",
                     g_strerror (errno));
}

static int
accept_one (int fd, struct sockaddr *address, socklen_t *size, int flags)
{
  return (int) syscall (SYS_accept4, fd, address, size, flags);
}

/* Accepts a connection in place of the spare descriptor, and closes it. If another thread takes
 * that place first, the connection waits for the next call. */
static void
turn_away (int fd)
{
  pthread_mutex_lock (&spare_lock);
  if (spare_fd >= 0)
    close (spare_fd);
  int got = accept_one (fd, NULL, NULL, SOCK_CLOEXEC);
  if (got >= 0)
    close (got);
  spare_fd = open_spare ();
  pthread_mutex_unlock (&spare_lock);
}

static gboolean
is_among_the_last (int fd)
{
  struct rlimit limit;
  return getrlimit (RLIMIT_NOFILE, &limit) == 0
         && (rlim_t) fd + IRISD_SPARE_DESCRIPTORS >= limit.rlim_cur;
}

/* Replaces the C library's function; libzmq calls it. */
__attribute__ ((visibility ("default"))) int
accept4 (int fd, struct sockaddr *address, socklen_t *size, int flags)
{
  static IrisdLogSite site;
  int got = accept_one (fd, address, size, flags);
  if (got < 0 && errno != EMFILE && errno != ENFILE)
    return got;
  if (got >= 0 && !is_among_the_last (got))
    {
      irisd_unfinished_enter (got);
      return got;
    }
  if (got >= 0)
    close (got);
  else
    turn_away (fd);
  irisd_log_limited (&site, IRISD_LOG_WARNING,
                     "cannot accept a connection: no descriptor is left for it; close some, or "
                     "raise irisd's limit (LimitNOFILE=, ulimit -n)");
  errno = ECONNABORTED;
  return -1;
}
