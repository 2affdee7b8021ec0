/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The other processes in the process group of a command.
 */
#include "daemon/exec/command/irisd-command-group.h"

#include "daemon/base/irisd-proc.h"

#include <sys/syscall.h>
#include <unistd.h>

/* The process group of a living process. */
static pid_t
read_group (pid_t pid)
{
  IrisdProc proc;
  return irisd_proc_read (&proc, pid) && irisd_proc_lives (&proc) ? proc.group : -1;
}

/* @group is the number of a group whose leader was not reaped. Returns a descriptor of another
 * living process in it, or -1. Reads all processes of the machine, so it is for rare events. */
int
irisd_command_group_find (pid_t group)
{
  g_autoptr (GDir) dir = g_dir_open ("/proc", 0, NULL);
  for (const char *name; dir != NULL && (name = g_dir_read_name (dir)) != NULL;)
    {
      pid_t pid = (pid_t) g_ascii_strtoull (name, NULL, 10);
      if (pid <= 0 || pid == group || read_group (pid) != group)
        continue;
      int fd = (int) syscall (SYS_pidfd_open, pid, 0);
      /* If the process is still the same, the descriptor is that process's. */
      if (fd >= 0 && read_group (pid) == group)
        return fd;
      if (fd >= 0)
        close (fd);
    }
  return -1;
}
