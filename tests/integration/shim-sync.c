/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A shim between irisd and the C library (LD_PRELOAD): while the named pipe IRIS_HOLD_SYNCS exists,
 * a sync writes a line into it and never returns.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

static int
sync_unless_held (const char *name, int fd)
{
  const char *gate = getenv ("IRIS_HOLD_SYNCS");
  int out = gate != NULL ? open (gate, O_WRONLY | O_CLOEXEC) : -1;
  if (out < 0)
    return ((int (*) (int)) dlsym (RTLD_NEXT, name)) (fd);
  if (write (out, "\n", 1) == 1)
    close (out);
  for (;;)
    pause ();
}

__attribute__ ((visibility ("default"))) int
fsync (int fd)
{
  return sync_unless_held ("fsync", fd);
}

__attribute__ ((visibility ("default"))) int
fdatasync (int fd)
{
  return sync_unless_held ("fdatasync", fd);
}
