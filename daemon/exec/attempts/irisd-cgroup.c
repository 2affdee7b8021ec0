/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Control groups: one for each command, if irisd may make some.
 *
 * A process cannot leave its control group by leaving its process group or session, or by changing
 * its environment, and `cgroup.kill` ends all that are in it at once. This takes version 2 and a
 * group that was delegated to irisd: by systemd with Delegate=yes, which marks the group with an
 * extended attribute, or by giving it to irisd's user. Elsewhere commands have process groups only.
 *
 * irisd stays in its own group and makes others below it. It enables no controllers for them, so
 * what a command uses counts as irisd's, as without.
 *
 * A command that ends by itself may leave processes behind; its control group is removed when they
 * have gone, at the end of a later command or when irisd is started again.
 */
#include "daemon/exec/attempts/irisd-cgroup.h"

#include "daemon/base/irisd-error.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#define PREFIX "irisd-"

struct _IrisdCgroups
{
  char *path;
  pthread_mutex_t lock; /* a POSIX one, because ThreadSanitizer knows those */
  GQueue lingering;     /* under the lock: paths of groups that were not empty */
};

/* The mount of version 2 and its root: field 4 of a line of mountinfo is the root of the mount,
 * field 5 the directory, and the type follows " - ". */
static char *
find_mount (char **root)
{
  g_autofree char *text = NULL;
  if (!g_file_get_contents ("/proc/self/mountinfo", &text, NULL, NULL))
    return NULL;
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  for (guint i = 0; lines[i] != NULL; i++)
    {
      const char *type = strstr (lines[i], " - ");
      if (type == NULL || !g_str_has_prefix (type, " - cgroup2 "))
        continue;
      g_auto (GStrv) fields = g_strsplit (lines[i], " ", 6);
      if (g_strv_length (fields) < 6)
        continue;
      *root = g_strdup (fields[3]);
      return g_strdup (fields[4]);
    }
  return NULL;
}

/* irisd's own control group of version 2, as a directory. */
static char *
find_own (void)
{
  g_autofree char *root = NULL, *mount = find_mount (&root), *text = NULL;
  if (mount == NULL || !g_file_get_contents ("/proc/self/cgroup", &text, NULL, NULL))
    return NULL;
  const char *line = g_str_has_prefix (text, "0::") ? text : strstr (text, "\n0::");
  if (line == NULL)
    return NULL;
  line = strchr (line, '/');
  if (line == NULL)
    return NULL;
  g_autofree char *path = g_strndup (line, strcspn (line, "\n"));
  /* In a container the mount may show only a part. */
  const char *below = strcmp (root, "/") != 0 && g_str_has_prefix (path, root)
                          ? path + strlen (root)
                          : path;
  return g_build_filename (mount, below, NULL);
}

static gboolean
has_mark (const char *path, const char *name)
{
  char value[4] = "";
  return getxattr (path, name, value, sizeof value - 1) > 0 && value[0] == '1';
}

/* Root can write everywhere, which does not make a group irisd's. */
static gboolean
is_delegated (const char *path)
{
  return access (path, W_OK) == 0
         && (geteuid () != 0 || has_mark (path, "trusted.delegate")
             || has_mark (path, "user.delegate"));
}

/* Whether groups can be made there, and ended at once (Linux 5.14). */
static gboolean
is_usable (const char *path)
{
  g_autofree char *probe = g_build_filename (path, PREFIX "probe-XXXXXX", NULL);
  if (mkdtemp (probe) == NULL)
    return FALSE;
  g_autofree char *kill_file = g_build_filename (probe, "cgroup.kill", NULL);
  gboolean usable = access (kill_file, W_OK) == 0;
  rmdir (probe);
  return usable;
}

/* Removes empty groups of earlier commands. */
static void
sweep (const char *path)
{
  g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);
  for (const char *name; dir != NULL && (name = g_dir_read_name (dir)) != NULL;)
    if (g_str_has_prefix (name, PREFIX))
      {
        g_autofree char *child = g_build_filename (path, name, NULL);
        rmdir (child);
      }
}

/* @setting is `auto`, `none`, or the directory of a control group of version 2. Returns NULL
 * without an error if commands get no control groups. */
IrisdCgroups *
irisd_cgroups_new (const char *setting, GError **error)
{
  gboolean given = g_path_is_absolute (setting);
  g_autofree char *path = NULL;
  if (strcmp (setting, "none") == 0)
    return NULL;
  path = given ? g_strdup (setting) : find_own ();
  if (path == NULL || (!given && !is_delegated (path)))
    return NULL;
  if (!is_usable (path))
    {
      if (given)
        g_set_error (error, IRISD_ERROR, IRISD_ERROR_FAILED,
                     "cannot make control groups with cgroup.kill in %s; give irisd a group of "
                     "version 2 that it may write, or leave the key cgroup out",
                     path);
      return NULL;
    }
  sweep (path);
  IrisdCgroups *self = g_new0 (IrisdCgroups, 1);
  self->path = g_steal_pointer (&path);
  pthread_mutex_init (&self->lock, NULL);
  g_queue_init (&self->lingering);
  return self;
}

void
irisd_cgroups_free (IrisdCgroups *self)
{
  if (self == NULL)
    return;
  g_queue_clear_full (&self->lingering, g_free);
  pthread_mutex_destroy (&self->lock);
  g_free (self->path);
  g_free (self);
}

const char *
irisd_cgroups_get_path (IrisdCgroups *self)
{
  return self != NULL ? self->path : "";
}

/* Returns the directory of group @name in @path. */
char *
irisd_cgroup_path (const char *path, const char *name)
{
  return g_strconcat (path, "/" PREFIX, name, NULL);
}

/* Makes a group with @name after a common prefix. A process that writes "0" to @procs_fd enters it.
 * Returns its directory, for irisd_cgroups_let_go(); NULL if none could be made. */
char *
irisd_cgroups_make (IrisdCgroups *self, const char *name, int *procs_fd)
{
  *procs_fd = -1;
  if (self == NULL)
    return NULL;
  g_autofree char *path = irisd_cgroup_path (self->path, name);
  if (mkdir (path, 0755) != 0)
    return NULL;
  g_autofree char *procs = g_build_filename (path, "cgroup.procs", NULL);
  *procs_fd = open (procs, O_WRONLY | O_CLOEXEC);
  if (*procs_fd >= 0)
    return g_steal_pointer (&path);
  rmdir (path);
  return NULL;
}

/* Takes @cgroup, whose command has ended, or NULL. Removes the group now if it is empty, else
 * later. */
void
irisd_cgroups_let_go (IrisdCgroups *self, char *cgroup)
{
  if (cgroup == NULL)
    return;
  gboolean removed = rmdir (cgroup) == 0;
  pthread_mutex_lock (&self->lock);
  /* Each call tries to remove the oldest one too. */
  char *oldest = g_queue_pop_head (&self->lingering);
  if (oldest != NULL && rmdir (oldest) != 0 && errno == EBUSY)
    g_queue_push_tail (&self->lingering, g_steal_pointer (&oldest));
  if (!removed)
    g_queue_push_tail (&self->lingering, g_steal_pointer (&cgroup));
  pthread_mutex_unlock (&self->lock);
  g_free (oldest);
  g_free (cgroup);
}

static gboolean
write_file (const char *cgroup, const char *name, const char *text)
{
  g_autofree char *path = g_build_filename (cgroup, name, NULL);
  int fd = open (path, O_WRONLY | O_CLOEXEC);
  gboolean written = fd >= 0 && write (fd, text, strlen (text)) == (ssize_t) strlen (text);
  if (fd >= 0)
    close (fd);
  return written;
}

/* The processes in a group, as numbers, without zombies. */
static char **
list_processes (const char *cgroup)
{
  g_autofree char *path = g_build_filename (cgroup, "cgroup.procs", NULL);
  g_autofree char *text = NULL;
  if (!g_file_get_contents (path, &text, NULL, NULL))
    return g_new0 (char *, 1);
  return g_strsplit (text, "\n", -1);
}

/* A descriptor of a process in the group; checked, because its number may have been reused since
 * the group was read. */
static int
open_process (const char *cgroup, const char *number)
{
  pid_t pid = (pid_t) g_ascii_strtoll (number, NULL, 10);
  int fd = pid > 0 ? (int) syscall (SYS_pidfd_open, pid, 0) : -1;
  g_autofree char *path = g_strdup_printf ("/proc/%ld/cgroup", (long) pid);
  g_autofree char *text = NULL, *name = g_path_get_basename (cgroup);
  if (fd >= 0 && g_file_get_contents (path, &text, NULL, NULL) && strstr (text, name) != NULL)
    return fd;
  if (fd >= 0)
    close (fd);
  return -1;
}

/* Sends a signal to all processes of a group, except those in process group @but. */
void
irisd_cgroup_signal (const char *cgroup, int signal_number, pid_t but)
{
  g_auto (GStrv) numbers = list_processes (cgroup);
  for (guint i = 0; numbers[i] != NULL; i++)
    {
      int fd = open_process (cgroup, numbers[i]);
      if (fd < 0)
        continue;
      if (getpgid ((pid_t) g_ascii_strtoll (numbers[i], NULL, 10)) != but)
        syscall (SYS_pidfd_send_signal, fd, signal_number, NULL, 0);
      close (fd);
    }
}

/* Stops all processes of a group, or continues them. Returns FALSE if the kernel cannot. */
gboolean
irisd_cgroup_freeze (const char *cgroup, gboolean frozen)
{
  return write_file (cgroup, "cgroup.freeze", frozen ? "1" : "0");
}

/* Kills all processes of a group, which may be gone, and those that they have just started. */
void
irisd_cgroup_kill (const char *cgroup)
{
  write_file (cgroup, "cgroup.kill", "1");
}

/* Returns a descriptor of a process in the group, which may be gone; -1 if it is empty. */
int
irisd_cgroup_find (const char *cgroup)
{
  g_auto (GStrv) numbers = list_processes (cgroup);
  int fd = -1;
  for (guint i = 0; numbers[i] != NULL && fd < 0; i++)
    fd = open_process (cgroup, numbers[i]);
  return fd;
}
