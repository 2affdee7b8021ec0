/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Copies of a store: one of a store in use, in steps, and the mending of one that is not.
 *
 * A copy is made by SQLite through the store's own connection, so that what is written between two
 * steps is in the copy as well: it shows the store at the moment of its last step. It is a
 * directory of its own, which irisd can use as a journal.
 *
 * Mending is what irisd does when it starts with a damaged store; here the files are first copied
 * as they are.
 */
#include "daemon/store/sqlite/irisd-sqlite-private.h"

#include "daemon/base/irisd-error.h"

#include <errno.h>
#include <fcntl.h>
#include <gio/gio.h>
#include <glib/gstdio.h>
#include <unistd.h>

/* Pages of one step: some milliseconds of a slow disk. */
#define STEP_PAGES 256

struct _IrisdStoreCopy
{
  IrisdStore *store;
  char *dir;
  char *path;
  sqlite3 *db;
  sqlite3_backup *backup;
  gboolean done;
};

static gboolean
fail (IrisdStoreCopy *self, const char *why, GError **error)
{
  return irisd_fail (error, IRISD_ERROR, IRISD_ERROR_FAILED, "cannot copy the journal to %s: %s",
                     self->dir, why);
}

static gboolean
open_copy (IrisdStoreCopy *self, GError **error)
{
  int rc = sqlite3_open_v2 (self->path, &self->db,
                            SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL);
  /* Nothing of an unfinished copy is kept. */
  if (rc == SQLITE_OK)
    rc = sqlite3_exec (self->db, "PRAGMA journal_mode=OFF", NULL, NULL, NULL);
  if (rc == SQLITE_OK)
    self->backup = sqlite3_backup_init (self->db, "main", self->store->db, "main");
  return self->backup != NULL
         || fail (self, self->db != NULL ? sqlite3_errmsg (self->db) : sqlite3_errstr (rc), error);
}

/* Begins a copy of @store in @dir, which must not be there. */
IrisdStoreCopy *
irisd_store_copy_begin (IrisdStore *store, const char *dir, GError **error)
{
  IrisdStoreCopy *self = g_new0 (IrisdStoreCopy, 1);
  self->store = store;
  self->dir = g_strdup (dir);
  self->path = g_build_filename (dir, IRISD_SQLITE_NAME, NULL);
  if (g_mkdir (dir, 0700) != 0)
    {
      fail (self,
            errno == EEXIST ? "it is there, and a backup is a new directory" : g_strerror (errno),
            error);
      self->done = TRUE; /* it is not ours to remove */
    }
  else if (open_copy (self, error))
    return self;
  irisd_store_copy_free (self);
  return NULL;
}

static gboolean
sync_path (const char *path)
{
  int fd = open (path, O_RDONLY | O_CLOEXEC);
  gboolean synced = fd >= 0 && fsync (fd) == 0;
  if (fd >= 0)
    close (fd);
  return synced;
}

/* The copy is whole: its count of items is written beside it, and all of it to the disk. */
static gboolean
finish (IrisdStoreCopy *self, GError **error)
{
  g_autofree char *parent = g_path_get_dirname (self->dir);
  sqlite3_backup_finish (g_steal_pointer (&self->backup));
  int rc = sqlite3_close (g_steal_pointer (&self->db));
  int fd = irisd_tally_open_file (self->path);
  irisd_tally_write_file (fd, &self->store->tally);
  gboolean synced = fd >= 0 && fsync (fd) == 0;
  if (fd >= 0)
    close (fd);
  if (rc != SQLITE_OK)
    return fail (self, sqlite3_errstr (rc), error);
  self->done = synced && sync_path (self->path) && sync_path (self->dir) && sync_path (parent);
  return self->done || fail (self, g_strerror (errno), error);
}

/* Copies some pages, between two transactions. Returns FALSE if that failed; @done says whether all
 * of the copy is on the disk. */
gboolean
irisd_store_copy_step (IrisdStoreCopy *self, gboolean *done, GError **error)
{
  *done = FALSE;
  int rc = sqlite3_backup_step (self->backup, STEP_PAGES);
  if (rc == SQLITE_OK)
    return TRUE;
  if (rc != SQLITE_DONE)
    return fail (self, sqlite3_errstr (rc), error);
  *done = finish (self, error);
  return *done;
}

/* How many rows a copy has that is done, until its store is written to. */
guint64
irisd_store_copy_get_n_rows (IrisdStoreCopy *self)
{
  return self->store->tally.n_rows;
}

/* Takes @self; an unfinished copy is removed. */
void
irisd_store_copy_free (IrisdStoreCopy *self)
{
  if (self == NULL)
    return;
  g_clear_pointer (&self->backup, sqlite3_backup_finish);
  g_clear_pointer (&self->db, sqlite3_close);
  if (!self->done)
    {
      g_autofree char *count = g_strconcat (self->path, IRISD_TALLY_SUFFIX, NULL);
      g_unlink (count);
      g_unlink (self->path);
      g_rmdir (self->dir);
    }
  g_free (self->path);
  g_free (self->dir);
  g_free (self);
}

/* Copies the file that @name begins and @suffix ends, if there is one. */
static gboolean
set_copy_beside (const char *name, const char *suffix, const char *mark, GError **error)
{
  g_autofree char *from = g_strconcat (name, suffix, NULL);
  g_autofree char *to = g_strconcat (name, mark, suffix, NULL);
  g_autoptr (GFile) source = g_file_new_for_path (from);
  g_autoptr (GFile) target = g_file_new_for_path (to);
  g_autoptr (GError) local = NULL;
  if (g_file_copy (source, target, G_FILE_COPY_NONE, NULL, NULL, NULL, &local))
    return TRUE;
  if (g_error_matches (local, G_IO_ERROR, G_IO_ERROR_NOT_FOUND))
    return TRUE;
  return irisd_fail (error, IRISD_ERROR, IRISD_ERROR_FAILED,
                     "cannot keep %s as it is, so it was not repaired: %s", from, local->message);
}

/* Mends the store in @dir, which is not open, after a copy of its files was made. Returns whether
 * it was done; @kept is the name by which the old database is found. */
gboolean
irisd_store_repair (const char *dir, char **kept, GError **error)
{
  g_autofree char *path = g_build_filename (dir, IRISD_SQLITE_NAME, NULL);
  g_autofree char *mark = g_strdup_printf (".before-repair-%" G_GINT64_FORMAT,
                                           g_get_real_time () / G_USEC_PER_SEC);
  static const char *const suffixes[] = { "", "-wal", IRISD_TALLY_SUFFIX };
  IrisdStoreDamage damage;
  for (guint i = 0; i < G_N_ELEMENTS (suffixes); i++)
    if (!set_copy_beside (path, suffixes[i], mark, error))
      return FALSE;
  IrisdStore *store = irisd_store_open_sqlite (dir, error);
  if (store == NULL)
    return FALSE;
  guint64 n_damaged;
  gboolean mended = irisd_store_scan (store, NULL, NULL, &damage, error) == IRISD_STORE_OK
                    && irisd_store_load_records (store, NULL, NULL, &n_damaged, error)
                           == IRISD_STORE_OK
                    && irisd_store_empty_log (store, error) == IRISD_STORE_OK;
  irisd_store_close (store);
  *kept = g_strconcat (path, mark, NULL);
  return mended;
}
