/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Makes a disk slow: loaded into a server before its libraries, it adds 5 ms to each sync.
 */
#include <dlfcn.h>
#include <time.h>
#include <unistd.h>

#define ADDED_NS 5000000

#define SEEN_OUTSIDE __attribute__ ((visibility ("default")))

static int
sync_slowly (const char *name, int fd)
{
  int (*original) (int) = (int (*) (int)) dlsym (RTLD_NEXT, name);
  struct timespec added = { 0, ADDED_NS };

  nanosleep (&added, NULL);

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
