/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Who else is in the process group of a command.
 */
#include "irisd-command-group.h"

#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The process group of a process that lives: field 5 of its stat, behind a name in parentheses that
 * may hold anything. */
static pid_t
read_group (pid_t pid)
{
  char path[64], text[512];
  g_snprintf (path, sizeof path, "/proc/%ld/stat", (long) pid);
  int fd = open (path, O_RDONLY | O_CLOEXEC);
  ssize_t n = fd >= 0 ? read (fd, text, sizeof text - 1) : -1;
  if (fd >= 0)
    close (fd);
  if (n <= 0)
    return -1;
  text[n] = '\0';
  /* ") S 1 1234 ": the state, the parent, the group */
  const char *rest = strrchr (text, ')');
  if (rest == NULL || strlen (rest) < 4 || rest[2] == 'Z' || rest[2] == 'X')
    return -1;
  char *behind_parent, *behind_group;
  g_ascii_strtoll (rest + 3, &behind_parent, 10);
  gint64 group = g_ascii_strtoll (behind_parent, &behind_group, 10);
  return behind_group != behind_parent ? (pid_t) group : -1;
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
