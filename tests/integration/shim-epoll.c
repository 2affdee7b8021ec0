/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A shim between irisd and the C library (LD_PRELOAD): while the file named by IRIS_NO_WATCHES
 * exists, epoll refuses pipes and processes. Sockets and event descriptors work.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

static int
is_of_a_command (int fd)
{
  char name[64], target[64];
  snprintf (name, sizeof name, "/proc/self/fd/%d", fd);
  ssize_t n = readlink (name, target, sizeof target - 1);
  target[n > 0 ? n : 0] = '\0';
  return strncmp (target, "pipe:", 5) == 0 || strstr (target, "pidfd") != NULL;
}

__attribute__ ((visibility ("default"))) int
epoll_ctl (int epoll_fd, int operation, int fd, struct epoll_event *event)
{
  static int (*real) (int, int, int, struct epoll_event *);
  const char *path = getenv ("IRIS_NO_WATCHES");
  if (real == NULL)
    real = (int (*) (int, int, int, struct epoll_event *)) dlsym (RTLD_NEXT, "epoll_ctl");
  if (operation != EPOLL_CTL_ADD || path == NULL || access (path, F_OK) != 0
      || !is_of_a_command (fd))
    return real (epoll_fd, operation, fd, event);
  errno = ENOSPC;
  return -1;
}
