/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Makes a disk slow: loaded into a server before its libraries, it adds 5 ms to each sync.
 */
#include <dlfcn.h>
#include <poll.h>
#include <unistd.h>

#define ADDED_MS 5

#define SEEN_OUTSIDE __attribute__ ((visibility ("default")))

static int
sync_slowly (const char *name, int fd)
{
  int (*original) (int) = (int (*) (int)) dlsym (RTLD_NEXT, name);

  poll (NULL, 0, ADDED_MS);

  return original (fd);
}

SEEN_OUTSIDE int
fsync (int fd)
{
  return sync_slowly ("fsync", fd);
}

SEEN_OUTSIDE int
fdatasync (int fd)
{
  return sync_slowly ("fdatasync", fd);
}
