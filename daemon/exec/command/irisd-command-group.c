/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Who else is in the process group of a command.
 */
#include "daemon/exec/command/irisd-command-group.h"

#include "daemon/base/irisd-proc.h"

#include <sys/syscall.h>
#include <unistd.h>

/* The process group of a process that lives. */
static pid_t
read_group (pid_t pid)
{
  IrisdProc proc;
  return irisd_proc_read (&proc, pid) && irisd_proc_lives (&proc) ? proc.group : -1;
}

/**
 * irisd_command_group_find:
 * @group: the number of a process group, which is that of a process that was not reaped
 *
 * Looks through the processes of the machine, so it is for what happens seldom.
 *
 * Returns: a descriptor of somebody else of the group who lives, or -1 if there is nobody
 */
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
      /* Still the same process? Then the descriptor is one of it. */
      if (fd >= 0 && read_group (pid) == group)
        return fd;
      if (fd >= 0)
        close (fd);
    }
  return -1;
}
