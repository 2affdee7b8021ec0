/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A directory of irisd, for its sockets or its journal, and the lock that reserves it for one
 * irisd.
 *
 * ZeroMQ unlinks an ipc path before it binds it, so a second daemon would silently take over the
 * sockets of a running one. So the lock is taken first, and held until the sockets are removed.
 */
#include "daemon/base/irisd-runtime-dir.h"

#include "daemon/base/irisd-error.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

struct _IrisdRuntimeDir
{
  char *path;
  int lock_fd;
  GPtrArray *sockets; /* paths to remove at the end */
};

/* Only a directory closed to others protects a socket until its mode is set. */
static gboolean
check_directory (const char *path, const char *option, gboolean shared, GError **error)
{
  struct stat st;
  if (lstat (path, &st) != 0)
    {
      g_set_error (error, IRISD_ERROR, IRISD_ERROR_FAILED, "cannot examine %s: %s", path,
                   g_strerror (errno));
      return FALSE;
    }
  if (!S_ISDIR (st.st_mode))
    {
      g_set_error (error, IRISD_ERROR, IRISD_ERROR_FAILED,
                   "%s is not a directory; choose another with %s", path, option);
      return FALSE;
    }
  if (shared && st.st_uid == geteuid () && (st.st_mode & 022) == 0)
    {
      if ((st.st_mode & 0111) == 0111 || chmod (path, (st.st_mode & 07777) | 0111) == 0)
        return TRUE;
      g_set_error (error, IRISD_ERROR, IRISD_ERROR_FAILED,
                   "cannot open %s to the users under [access]: %s; chmod 711 it, or choose "
                   "another with --dir",
                   path, g_strerror (errno));
      return FALSE;
    }
  if (shared)
    {
      g_set_error (error, IRISD_ERROR, IRISD_ERROR_FAILED,
                   "%s has to belong to you and be writable by you only (it has mode %04o and "
                   "owner %u); chmod 711 it, or choose another with --dir",
                   path, (guint) (st.st_mode & 07777), (guint) st.st_uid);
      return FALSE;
    }
  if (st.st_uid != geteuid () || (st.st_mode & 077) != 0)
    {
      g_set_error (error, IRISD_ERROR, IRISD_ERROR_FAILED,
                   "%s has to belong to you and be closed to others (it has mode %04o and "
                   "owner %u); chmod 700 it, or choose another with %s",
                   path, (guint) (st.st_mode & 07777), (guint) st.st_uid, option);
      return FALSE;
    }
  return TRUE;
}

static void
set_busy_error (int fd, const char *path, const char *option, GError **error)
{
  char pid[32] = "";
  ssize_t n = pread (fd, pid, sizeof pid - 1, 0);
  if (n > 0)
    g_strchomp (pid);
  g_set_error (error, IRISD_ERROR, IRISD_ERROR_ALREADY_RUNNING,
               "another irisd (process %s) serves %s already; stop that one, or give this one a "
               "directory of its own with %s",
               n > 0 ? pid : "unknown", path, option);
}

/* An irisd that was killed just after a fork leaves a process that holds the lock until it executes
 * its program: worth waiting for. */
static gboolean
holder_is_gone (int fd)
{
  char text[32] = "";
  ssize_t n = pread (fd, text, sizeof text - 1, 0);
  gint64 pid = n > 0 ? g_ascii_strtoll (text, NULL, 10) : 0;
  return pid > 0 && kill ((pid_t) pid, 0) != 0 && errno == ESRCH;
}

/* The holder removes the file when it ends. A process that opened it just before holds the lock of
 * a removed file, and has to open the present one. */
static gboolean
lock_is_current (int fd, const char *lock_path)
{
  struct stat held, there;
  return fstat (fd, &held) == 0 && stat (lock_path, &there) == 0 && held.st_dev == there.st_dev
         && held.st_ino == there.st_ino;
}

static int
take_lock (const char *path, const char *option, GError **error)
{
  g_autofree char *lock_path = g_build_filename (path, IRISD_LOCK_NAME, NULL);
  for (;;)
    {
      int fd = open (lock_path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
      if (fd < 0)
        {
          g_set_error (error, IRISD_ERROR, IRISD_ERROR_FAILED, "cannot open %s: %s", lock_path,
                       g_strerror (errno));
          return -1;
        }
      if (flock (fd, LOCK_EX | LOCK_NB) != 0 && (!holder_is_gone (fd) || flock (fd, LOCK_EX) != 0))
        {
          set_busy_error (fd, path, option, error);
          close (fd);
          return -1;
        }
      if (lock_is_current (fd, lock_path))
        {
          char pid[32];
          int len = g_snprintf (pid, sizeof pid, "%ld\n", (long) getpid ());
          if (ftruncate (fd, 0) != 0 || pwrite (fd, pid, len, 0) != len)
            {
              g_set_error (error, IRISD_ERROR, IRISD_ERROR_FAILED, "cannot write %s: %s", lock_path,
                           g_strerror (errno));
              close (fd);
              return -1;
            }
          return fd;
        }
      close (fd);
    }
}

/**
 * irisd_runtime_dir_open:
 * @path: an absolute path; its parent has to exist
 * @option: the option by which the user chooses another one
 * @shared: whether other users are to reach what is in it
 * @error: return location for a #GError
 *
 * Makes the directory if it is missing, checks that it is private enough, and locks it.
 *
 * Returns: (transfer full): the locked directory
 */
IrisdRuntimeDir *
irisd_runtime_dir_open (const char *path, const char *option, gboolean shared, GError **error)
{
  if (mkdir (path, shared ? 0711 : 0700) != 0 && errno != EEXIST)
    {
      g_set_error (error, IRISD_ERROR, IRISD_ERROR_FAILED,
                   "cannot make the directory %s: %s; choose another with %s", path,
                   g_strerror (errno), option);
      return NULL;
    }
  if (!check_directory (path, option, shared, error))
    return NULL;

  int fd = take_lock (path, option, error);
  if (fd < 0)
    return NULL;

  IrisdRuntimeDir *self = g_new0 (IrisdRuntimeDir, 1);
  self->path = g_strdup (path);
  self->lock_fd = fd;
  self->sockets = g_ptr_array_new_with_free_func (g_free);
  return self;
}

/* Removes the sockets and the lock. The directory stays. */
void
irisd_runtime_dir_close (IrisdRuntimeDir *self)
{
  if (self == NULL)
    return;
  for (guint i = 0; i < self->sockets->len; i++)
    unlink (g_ptr_array_index (self->sockets, i));
  g_autofree char *lock_path = g_build_filename (self->path, IRISD_LOCK_NAME, NULL);
  unlink (lock_path);
  close (self->lock_fd);
  g_ptr_array_unref (self->sockets);
  g_free (self->path);
  g_free (self);
}

const char *
irisd_runtime_dir_get_path (const IrisdRuntimeDir *self)
{
  return self->path;
}

/* Removes the socket's file, of an endpoint of `ipc:`, when the directory is closed. */
void
irisd_runtime_dir_add_endpoint (IrisdRuntimeDir *self, const char *endpoint)
{
  if (g_str_has_prefix (endpoint, "ipc://"))
    g_ptr_array_add (self->sockets, g_strdup (endpoint + strlen ("ipc://")));
}
