/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * SQLite's view of the file system, with faults that a test switches on.
 *
 * A shim over the ordinary VFS (https://www.sqlite.org/vfs.html, section 2.3). It is of version 1,
 * which has no shared memory: enough for a database that is opened exclusively.
 */
#include "faulty-vfs.h"

#include <errno.h>
#include <sqlite3.h>

FaultyVfs faulty_vfs;

typedef struct
{
  sqlite3_file base;
  sqlite3_file *real;
  gboolean over_quota;
} File;

static sqlite3_vfs *ordinary;

static struct
{
  GMutex lock;
  GCond changed;
  gboolean closed;
  gboolean held;
} gate;

void
faulty_vfs_hold (void)
{
  g_mutex_lock (&gate.lock);
  gate.closed = TRUE;
  gate.held = FALSE;
  g_mutex_unlock (&gate.lock);
}

/* Waits until a thread syncs and is held. */
void
faulty_vfs_wait_held (void)
{
  g_mutex_lock (&gate.lock);
  while (!gate.held)
    g_cond_wait (&gate.changed, &gate.lock);
  g_mutex_unlock (&gate.lock);
}

void
faulty_vfs_let_go (void)
{
  g_mutex_lock (&gate.lock);
  gate.closed = FALSE;
  g_cond_broadcast (&gate.changed);
  g_mutex_unlock (&gate.lock);
}

#define REAL(file) (((File *) (file))->real)

static gboolean
is_full (void)
{
  const char *path = atomic_load (&faulty_vfs.full_while);
  return path != NULL && g_file_test (path, G_FILE_TEST_EXISTS);
}

static int
file_close (sqlite3_file *file)
{
  int rc = REAL (file)->pMethods != NULL ? REAL (file)->pMethods->xClose (REAL (file)) : SQLITE_OK;
  g_free (REAL (file));
  return rc;
}

static int
file_read (sqlite3_file *file, void *data, int size, sqlite3_int64 at)
{
  int failure = atomic_exchange (&faulty_vfs.fail_read, SQLITE_OK);
  return failure != SQLITE_OK ? failure
                              : REAL (file)->pMethods->xRead (REAL (file), data, size, at);
}

static int
file_write (sqlite3_file *file, const void *data, int size, sqlite3_int64 at)
{
  if (!is_full ())
    return REAL (file)->pMethods->xWrite (REAL (file), data, size, at);
  if (!atomic_load (&faulty_vfs.over_quota))
    return SQLITE_FULL;
  /* As the ordinary VFS does, which tells the number when it is asked. */
  ((File *) file)->over_quota = TRUE;
  return SQLITE_IOERR_WRITE;
}

static int
file_truncate (sqlite3_file *file, sqlite3_int64 size)
{
  return REAL (file)->pMethods->xTruncate (REAL (file), size);
}

static int
file_sync (sqlite3_file *file, int flags)
{
  atomic_fetch_add (&faulty_vfs.n_syncs, 1);
  g_mutex_lock (&gate.lock);
  gate.held = gate.closed;
  g_cond_broadcast (&gate.changed);
  while (gate.closed)
    g_cond_wait (&gate.changed, &gate.lock);
  g_mutex_unlock (&gate.lock);
  if (atomic_load (&faulty_vfs.fail_sync) > 0 && atomic_fetch_sub (&faulty_vfs.fail_sync, 1) == 1)
    return SQLITE_IOERR_FSYNC;
  return REAL (file)->pMethods->xSync (REAL (file), flags);
}

static int
file_size (sqlite3_file *file, sqlite3_int64 *size)
{
  return REAL (file)->pMethods->xFileSize (REAL (file), size);
}

static int
file_lock (sqlite3_file *file, int level)
{
  return REAL (file)->pMethods->xLock (REAL (file), level);
}

static int
file_unlock (sqlite3_file *file, int level)
{
  return REAL (file)->pMethods->xUnlock (REAL (file), level);
}

static int
file_check_lock (sqlite3_file *file, int *held)
{
  return REAL (file)->pMethods->xCheckReservedLock (REAL (file), held);
}

static int
file_control (sqlite3_file *file, int operation, void *argument)
{
  if (operation == SQLITE_FCNTL_LAST_ERRNO && ((File *) file)->over_quota)
    {
      *(int *) argument = EDQUOT;
      return SQLITE_OK;
    }
  return REAL (file)->pMethods->xFileControl (REAL (file), operation, argument);
}

static int
file_sector_size (sqlite3_file *file)
{
  return REAL (file)->pMethods->xSectorSize (REAL (file));
}

static int
file_characteristics (sqlite3_file *file)
{
  return REAL (file)->pMethods->xDeviceCharacteristics (REAL (file));
}

static const sqlite3_io_methods methods = {
  .iVersion = 1,
  .xClose = file_close,
  .xRead = file_read,
  .xWrite = file_write,
  .xTruncate = file_truncate,
  .xSync = file_sync,
  .xFileSize = file_size,
  .xLock = file_lock,
  .xUnlock = file_unlock,
  .xCheckReservedLock = file_check_lock,
  .xFileControl = file_control,
  .xSectorSize = file_sector_size,
  .xDeviceCharacteristics = file_characteristics,
};

static int
vfs_open (sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out_flags)
{
  File *self = (File *) file;
  self->real = g_malloc0 ((gsize) ordinary->szOsFile);
  int rc = ordinary->xOpen (ordinary, name, self->real, flags, out_flags);
  self->over_quota = FALSE;
  self->base.pMethods = rc == SQLITE_OK ? &methods : NULL;
  if (rc != SQLITE_OK)
    g_free (self->real);
  return rc;
}

void
faulty_vfs_install (void)
{
  static sqlite3_vfs vfs;
  if (ordinary == NULL)
    {
      ordinary = sqlite3_vfs_find (NULL);
      vfs = *ordinary;
      vfs.iVersion = 1;
      vfs.zName = "faulty";
      vfs.szOsFile = sizeof (File);
      vfs.xOpen = vfs_open;
      sqlite3_vfs_register (&vfs, 1);
    }
  atomic_store (&faulty_vfs.n_syncs, 0);
  atomic_store (&faulty_vfs.fail_sync, 0);
  atomic_store (&faulty_vfs.fail_read, SQLITE_OK);
  atomic_store (&faulty_vfs.full_while, NULL);
  atomic_store (&faulty_vfs.over_quota, FALSE);
}
