/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A process as /proc describes it.
 */
#include "daemon/base/irisd-proc.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* @stat is the contents of /proc/PID/stat; its end may be missing. Returns whether it could be
 * read. */
gboolean
irisd_proc_parse (IrisdProc *self, const char *stat)
{
  /* The name, in parentheses, may hold anything; after it come field 3 (the state) and numbers. */
  const char *rest = strrchr (stat, ')');
  *self = (IrisdProc){ .pid = (pid_t) g_ascii_strtoll (stat, NULL, 10) };
  if (self->pid <= 0 || rest == NULL || strlen (rest) < 4)
    return FALSE;
  self->state = rest[2];
  char *at = (char *) rest + 3;
  for (guint field = 4; field <= 22; field++)
    {
      char *end;
      guint64 number = g_ascii_strtoull (at, &end, 10);
      if (end == at)
        return FALSE;
      at = end;
      if (field == 5)
        self->group = (pid_t) number;
      else if (field == 6)
        self->session = (pid_t) number;
      else if (field == 22)
        self->start = number;
    }
  return TRUE;
}

/* Returns whether there is a process @pid. */
gboolean
irisd_proc_read (IrisdProc *self, pid_t pid)
{
  char path[64], text[512];
  g_snprintf (path, sizeof path, "/proc/%ld/stat", (long) pid);
  int fd = open (path, O_RDONLY | O_CLOEXEC);
  ssize_t n = fd >= 0 ? read (fd, text, sizeof text - 1) : -1;
  if (fd >= 0)
    close (fd);
  if (n <= 0)
    return FALSE;
  text[n] = '\0';
  return irisd_proc_parse (self, text);
}

/* Returns whether the process had not ended when it was read. */
gboolean
irisd_proc_lives (const IrisdProc *self)
{
  return self->state != 'Z' && self->state != 'X';
}
