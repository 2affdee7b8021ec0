/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A store in an SQLite database.
 *
 * Write-ahead logging with `synchronous=FULL`: a commit appends to the log and syncs it once. The
 * log's own checksums find a tail that a crash tore off; pages of the database have none, so each
 * row carries a CRC-32 over all of it.
 *
 * irisd_store_tidy() copies the log into the database, and SQLite itself never does: SQLite ignores
 * a failed sync there and tries it again later, which proves nothing, because after a failed sync
 * the kernel may count lost pages as clean.
 *
 * Numbers are not used twice, not even after the row with the greatest one is removed: the database
 * remembers a number greater than those in use, and raises it in long strides.
 */
#include "daemon/store/sqlite/irisd-sqlite-private.h"

#include "daemon/base/irisd-error.h"
#include "daemon/store/sqlite/irisd-sqlite-pages.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <zlib.h>

/* Pages of the log after which it is copied into the database; on a small disk, the part of the
 * disk that the log may take. */
#define LOG_PAGES   1000
#define LOG_OF_DISK 64

/* Pages freed in one transaction, for which the log needs space, and the most such transactions in
 * a row. */
#define SHRINK_PAGES 512
#define SHRINK_STEPS 8

/* Size of the log beyond its rows: this much, and a part of their size. */
#define LOG_EXTRA         (64 * 1024)
#define LOG_EXTRA_OF_ROWS 8

/* How far the remembered number is raised. */
#define STRIDE 65536

guint32
irisd_row_checksum (const IrisdRow *row)
{
  const guint64 fixed[] = { GUINT64_TO_LE (row->id), GUINT64_TO_LE ((guint64) row->state),
                            GUINT64_TO_LE ((guint64) row->head_size),
                            GUINT64_TO_LE ((guint64) row->body_size) };
  uLong crc = crc32_z (0, (const Bytef *) fixed, sizeof fixed);
  if (row->head_size > 0)
    crc = crc32_z (crc, row->head, row->head_size);
  if (row->body_size > 0)
    crc = crc32_z (crc, row->body, row->body_size);
  return (guint32) crc;
}

/* Why the last write of a file failed. A commit writes the log; copying it into the database is
 * another call. Not sqlite3_system_errno(), which some releases do not set when a commit fails. */
static int
get_write_errno (IrisdSqlite *self)
{
  sqlite3_file *file = NULL;
  int number = 0;
  sqlite3_file_control (self->db, "main",
                        self->copying ? SQLITE_FCNTL_FILE_POINTER : SQLITE_FCNTL_JOURNAL_POINTER,
                        &file);
  if (file != NULL && file->pMethods != NULL)
    file->pMethods->xFileControl (file, SQLITE_FCNTL_LAST_ERRNO, &number);
  return number;
}

/* A write that found no space changed nothing. SQLite reports this for a full disk only; an
 * exhausted quota is a disk error to it. */
static gboolean
is_over_quota (IrisdSqlite *self, int rc)
{
  return rc == SQLITE_IOERR_WRITE && get_write_errno (self) == EDQUOT;
}

static const char *
explain (IrisdSqlite *self, int rc)
{
  if (rc == SQLITE_IOERR_FSYNC)
    return "the disk could not be synced";
  return is_over_quota (self, rc) ? g_strerror (EDQUOT) : sqlite3_errstr (rc);
}

/* Maps SQLite's answer to a write. */
IrisdStoreOutcome
irisd_sqlite_judge (IrisdSqlite *self, int rc, const char *doing, GError **error)
{
  if (rc == SQLITE_OK || rc == SQLITE_DONE || rc == SQLITE_ROW)
    return IRISD_STORE_OK;
  IrisdStoreOutcome outcome = IRISD_STORE_BROKEN;
  if ((rc & 0xff) == SQLITE_FULL || is_over_quota (self, rc))
    outcome = IRISD_STORE_FULL;
  else if ((rc & 0xff) == SQLITE_CORRUPT || rc == SQLITE_IOERR_READ)
    outcome = IRISD_STORE_DAMAGED;
  else
    self->broken = TRUE;
  g_set_error (error, IRISD_ERROR, IRISD_ERROR_FAILED, "%s: %s: %s", self->path, doing,
               explain (self, rc));
  return outcome;
}

/* Maps SQLite's answer to a read. Nothing was changed, so it means nothing for writing. Shortage of
 * memory or descriptors and a disk that does not answer may pass. SQLite reports EIO as corruption
 * too (SQLITE_IOERR_CORRUPTFS), so only a checksum proves that a row is damaged. */
static IrisdStoreOutcome
judge_read (IrisdSqlite *self, int rc, GError **error)
{
  gboolean doubtful = (rc & 0xff) == SQLITE_CORRUPT || (rc & 0xff) == SQLITE_NOTADB;
  g_set_error (error, IRISD_ERROR, IRISD_ERROR_FAILED, "%s: cannot read an item: %s", self->path,
               sqlite3_errstr (rc));
  return doubtful ? IRISD_STORE_DOUBTFUL : IRISD_STORE_UNREADABLE;
}

static IrisdStoreOutcome
step (IrisdSqlite *self, sqlite3_stmt *statement, const char *doing, GError **error)
{
  int rc = sqlite3_step (statement);
  int reset = sqlite3_reset (statement);
  sqlite3_clear_bindings (statement);
  return irisd_sqlite_judge (self, rc == SQLITE_DONE ? reset : rc, doing, error);
}

static IrisdStoreOutcome
begin (IrisdStore *store, GError **error)
{
  IrisdSqlite *self = (IrisdSqlite *) store;
  self->next = self->tally;
  self->touched = FALSE;
  self->n_bytes = 0;
  return step (self, self->statements[IRISD_SQL_BEGIN], "cannot begin to write", error);
}

static void
rollback (IrisdStore *store)
{
  IrisdSqlite *self = (IrisdSqlite *) store;
  /* SQLite may have rolled back by itself. */
  if (!sqlite3_get_autocommit (self->db))
    step (self, self->statements[IRISD_SQL_ROLLBACK], "cannot roll back", NULL);
}

static IrisdStoreOutcome
put (IrisdStore *store, const IrisdRow *row, GError **error)
{
  IrisdSqlite *self = (IrisdSqlite *) store;
  sqlite3_stmt *statement = self->statements[IRISD_SQL_PUT];
  sqlite3_bind_int64 (statement, 1, (sqlite3_int64) row->id);
  sqlite3_bind_int64 (statement, 2, row->state);
  sqlite3_bind_blob64 (statement, 3, row->head_size > 0 ? (const void *) row->head : "",
                       row->head_size, SQLITE_STATIC);
  sqlite3_bind_blob64 (statement, 4, row->body_size > 0 ? (const void *) row->body : "",
                       row->body_size, SQLITE_STATIC);
  sqlite3_bind_int64 (statement, 5, irisd_row_checksum (row));
  self->highest = MAX (self->highest, row->id);
  self->n_bytes += row->head_size + row->body_size;
  return step (self, statement, "cannot write an item", error);
}

static IrisdStoreOutcome
remove_row (IrisdStore *store, guint64 id, GError **error)
{
  IrisdSqlite *self = (IrisdSqlite *) store;
  sqlite3_stmt *statement = self->statements[IRISD_SQL_REMOVE];
  sqlite3_bind_int64 (statement, 1, (sqlite3_int64) id);
  return step (self, statement, "cannot remove an item", error);
}

static IrisdStoreOutcome
set_mark (IrisdSqlite *self, const IrisdTally *tally, GError **error)
{
  sqlite3_stmt *statement = self->statements[IRISD_SQL_MARK];
  sqlite3_bind_int64 (statement, 1, (sqlite3_int64) tally->next_id);
  sqlite3_bind_int64 (statement, 2, (sqlite3_int64) tally->sequence);
  sqlite3_bind_int64 (statement, 3, (sqlite3_int64) tally->n_rows);
  sqlite3_bind_int64 (statement, 4, (sqlite3_int64) tally->id_sum);
  sqlite3_bind_int64 (statement, 5, (sqlite3_int64) tally->n_put);
  sqlite3_bind_int64 (statement, 6, irisd_tally_checksum (tally));
  return step (self, statement, "cannot write the mark", error);
}

/* A log that fills the disk could not be copied into a database that has to grow; then nothing
 * could be written or removed any more. */
static IrisdStoreOutcome
check_room (IrisdStore *store, GError **error)
{
  IrisdSqlite *self = (IrisdSqlite *) store;
  struct statvfs fs;
  struct stat st;
  gint64 n_pages = 0, page_size = 0;
  guint64 log_size = self->n_bytes + self->n_bytes / LOG_EXTRA_OF_ROWS + LOG_EXTRA;
  if (self->n_bytes == 0 || statvfs (self->path, &fs) != 0 || stat (self->path, &st) != 0)
    return IRISD_STORE_OK;
  guint64 room = (guint64) fs.f_bavail * fs.f_frsize;
  if (room / 2 >= log_size)
    return IRISD_STORE_OK;
  int rc = irisd_sqlite_ask (self, "PRAGMA page_count", &n_pages);
  if (rc == SQLITE_OK)
    rc = irisd_sqlite_ask (self, "PRAGMA page_size", &page_size);
  if (rc != SQLITE_OK)
    return irisd_sqlite_judge (self, rc, "cannot be measured", error);
  gint64 growth = MAX (n_pages * page_size - (gint64) st.st_size, 0);
  if (room >= log_size + (guint64) growth)
    return IRISD_STORE_OK;
  g_set_error (error, IRISD_ERROR, IRISD_ERROR_FAILED,
               "%s: cannot write: the disk has no room for the transaction", self->path);
  return IRISD_STORE_FULL;
}

static IrisdStoreOutcome
commit (IrisdStore *store, GError **error)
{
  IrisdSqlite *self = (IrisdSqlite *) store;
  IrisdStoreOutcome outcome = IRISD_STORE_OK;
  if (self->touched)
    {
      self->next.sequence++;
      if (self->highest >= self->next.next_id)
        self->next.next_id = self->highest + STRIDE;
      outcome = set_mark (self, &self->next, error);
    }
  if (outcome == IRISD_STORE_OK)
    outcome = step (self, self->statements[IRISD_SQL_COMMIT], "cannot commit", error);
  if (outcome != IRISD_STORE_OK || !self->touched)
    return outcome;
  self->tally = self->next;
  irisd_tally_write_file (self->tally_fd, &self->tally);
  return IRISD_STORE_OK;
}

/* Writes the tally. */
IrisdStoreOutcome
irisd_sqlite_write_tally (IrisdSqlite *self, GError **error)
{
  IrisdStoreOutcome outcome = begin (&self->store, error);
  self->touched = TRUE;
  if (outcome == IRISD_STORE_OK)
    outcome = commit (&self->store, error);
  if (outcome != IRISD_STORE_OK)
    rollback (&self->store);
  return outcome;
}

/* Needed because SQLite distinguishes an added row from an updated one. */
static void
on_update (void *data, int kind, const char *database, const char *table, sqlite3_int64 id)
{
  IrisdSqlite *self = data;
  if (strcmp (table, "items") != 0)
    return;
  self->touched = TRUE;
  if (kind == SQLITE_INSERT)
    irisd_tally_add (&self->next, (guint64) id);
  else if (kind == SQLITE_DELETE)
    irisd_tally_remove (&self->next, (guint64) id);
}

static IrisdStoreOutcome
copy_log (IrisdSqlite *self, int mode, GError **error)
{
  int rc = sqlite3_wal_checkpoint_v2 (self->db, NULL, mode, NULL, NULL);
  self->log_pages = 0;
  self->copying = TRUE;
  IrisdStoreOutcome outcome = irisd_sqlite_judge (self, rc, "cannot copy the log into the database",
                                                  error);
  self->copying = FALSE;
  return outcome;
}

/* The file is cut: SQLite would leave it at its greatest size so far. */
static IrisdStoreOutcome
empty_log (IrisdStore *store, GError **error)
{
  return copy_log ((IrisdSqlite *) store, SQLITE_CHECKPOINT_TRUNCATE, error);
}

/* The file keeps its size, because writing over an old log costs less than letting the file
 * grow. */
static IrisdStoreOutcome
tidy (IrisdStore *store, GError **error)
{
  IrisdSqlite *self = (IrisdSqlite *) store;
  return self->log_pages < self->most_log_pages ? IRISD_STORE_OK
                                                : copy_log (self, SQLITE_CHECKPOINT_PASSIVE, error);
}

void
irisd_sqlite_get_row (sqlite3_stmt *statement, IrisdRow *row)
{
  *row = (IrisdRow){
    .id = (guint64) sqlite3_column_int64 (statement, 0),
    .state = (guint32) sqlite3_column_int64 (statement, 1),
    .head = sqlite3_column_blob (statement, 2),
    .head_size = (gsize) sqlite3_column_bytes (statement, 2),
    .body = sqlite3_column_blob (statement, 3),
    .body_size = (gsize) sqlite3_column_bytes (statement, 3),
  };
}

static IrisdStoreOutcome
read_row (IrisdStore *store, guint64 id, IrisdRowFunc func, gpointer user_data, GError **error)
{
  IrisdSqlite *self = (IrisdSqlite *) store;
  sqlite3_stmt *statement = self->statements[IRISD_SQL_READ];
  sqlite3_bind_int64 (statement, 1, (sqlite3_int64) id);
  int rc = sqlite3_step (statement);
  IrisdStoreOutcome outcome = IRISD_STORE_ABSENT;
  if (rc == SQLITE_ROW)
    {
      IrisdRow row;
      irisd_sqlite_get_row (statement, &row);
      outcome = (gint64) irisd_row_checksum (&row) == sqlite3_column_int64 (statement, 4)
                    ? IRISD_STORE_OK
                    : IRISD_STORE_DAMAGED;
      if (outcome == IRISD_STORE_OK)
        func (&row, user_data);
      else
        g_set_error (error, IRISD_ERROR, IRISD_ERROR_FAILED,
                     "%s: item %" G_GUINT64_FORMAT " is not what was written", self->path, id);
    }
  else if (rc != SQLITE_DONE)
    outcome = judge_read (self, rc, error);
  sqlite3_reset (statement);
  return outcome;
}

static guint64
get_next_id (IrisdStore *store)
{
  IrisdSqlite *self = (IrisdSqlite *) store;
  return MAX (self->tally.next_id, self->highest + 1);
}

static void
close_database (IrisdSqlite *self)
{
  if (self->broken && self->db != NULL)
    sqlite3_db_config (self->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (self->statements); i++)
    g_clear_pointer (&self->statements[i], sqlite3_finalize);
  g_clear_pointer (&self->db, sqlite3_close_v2);
}

static void
close_store (IrisdStore *store)
{
  IrisdSqlite *self = (IrisdSqlite *) store;
  /* An orderly end leaves no stride of numbers unused. */
  if (self->highest > 0 && !self->broken)
    {
      self->tally.next_id = MAX (self->highest + 1, self->opened_at);
      irisd_sqlite_write_tally (self, NULL);
    }
  close_database (self);
  if (self->tally_fd >= 0)
    close (self->tally_fd);
  g_free (self->path);
  g_free (self);
}

static int
on_commit (void *data, sqlite3 *db, const char *name, int pages)
{
  IrisdSqlite *self = data;
  self->log_pages = pages;
  return SQLITE_OK;
}

/* Frees pages in one transaction, and empties the log, which holds the moved pages. */
static IrisdStoreOutcome
shrink_by (IrisdSqlite *self, guint pages, GError **error)
{
  g_autofree char *sql = g_strdup_printf ("PRAGMA incremental_vacuum(%u)", pages);
  g_autoptr (GError) local = NULL;
  IrisdStoreOutcome outcome = irisd_sqlite_judge (self, irisd_sqlite_run (self, sql),
                                                  "cannot give room back", &local);
  /* Also after a failure: the failed write has made the log larger. */
  if (outcome == IRISD_STORE_OK || outcome == IRISD_STORE_FULL)
    {
      IrisdStoreOutcome emptied = empty_log (&self->store, local == NULL ? &local : NULL);
      outcome = emptied != IRISD_STORE_OK ? emptied : outcome;
    }
  if (local != NULL)
    g_propagate_error (error, g_steal_pointer (&local));
  return outcome;
}

/* The fuller the disk, the fewer pages at a time. */
static IrisdStoreOutcome
shrink (IrisdStore *store, GError **error)
{
  IrisdSqlite *self = (IrisdSqlite *) store;
  gint64 before = 0, after = 0;
  guint pages = SHRINK_PAGES;
  IrisdStoreOutcome outcome = IRISD_STORE_OK;
  int rc = irisd_sqlite_ask (self, "PRAGMA freelist_count", &before);
  for (guint i = 0; i < SHRINK_STEPS && before > 0 && rc == SQLITE_OK; i++)
    {
      g_clear_error (error);
      outcome = shrink_by (self, pages, error);
      if (outcome == IRISD_STORE_FULL && pages > 1)
        {
          pages = MAX (pages / 4, 1);
          continue;
        }
      if (outcome != IRISD_STORE_OK)
        return outcome;
      rc = irisd_sqlite_ask (self, "PRAGMA freelist_count", &after);
      if (after >= before)
        break;
      before = after;
    }
  return rc != SQLITE_OK ? irisd_sqlite_judge (self, rc, "cannot give room back", error) : outcome;
}

static gboolean
set_modes (IrisdSqlite *self, GError **error)
{
  /* Space of removed rows is given back on request: a file that keeps its greatest size would keep
   * a full disk full. Settable only before the first page of a new file is written.
   *
   * Exclusive, so that the log's index is kept in memory: a full disk has no room for it.
   *
   * Removed data is overwritten only where that writes no further page. Some builds of SQLite
   * overwrite all of it by default: a removal's log would be as large as what is removed, and would
   * find no room on a full disk. */
  int rc = irisd_sqlite_run (self, "PRAGMA locking_mode=EXCLUSIVE;"
                                   "PRAGMA auto_vacuum=INCREMENTAL; PRAGMA journal_mode=WAL;"
                                   "PRAGMA synchronous=FULL; PRAGMA wal_autocheckpoint=0;"
                                   "PRAGMA cache_size=-16384; PRAGMA temp_store=MEMORY;"
                                   "PRAGMA cell_size_check=ON; PRAGMA secure_delete=FAST;");
  if (rc == SQLITE_OK)
    {
      sqlite3_wal_hook (self->db, on_commit, self);
      sqlite3_update_hook (self->db, on_update, self);
      return TRUE;
    }
  g_set_error (error, IRISD_ERROR, IRISD_ERROR_FAILED,
               "cannot use the journal %s: %s; if it cannot be restored, move it away to begin "
               "with an empty one",
               self->path, sqlite3_errmsg (self->db));
  return FALSE;
}

static const IrisdStoreClass sqlite_class = {
  .begin = begin,
  .put = put,
  .remove = remove_row,
  .check_room = check_room,
  .commit = commit,
  .rollback = rollback,
  .tidy = tidy,
  .empty_log = empty_log,
  .shrink = shrink,
  .read = read_row,
  .scan = irisd_sqlite_scan,
  .get_next_id = get_next_id,
  .close = close_store,
};

static int
get_most_log_pages (const char *path)
{
  struct statvfs fs;
  if (statvfs (path, &fs) != 0)
    return LOG_PAGES;
  guint64 pages = (guint64) fs.f_blocks * fs.f_frsize / LOG_OF_DISK / 4096;
  return (int) CLAMP (pages, 1, LOG_PAGES);
}

gboolean
irisd_sqlite_open (IrisdSqlite *self, const char *path, GError **error)
{
  self->store.klass = &sqlite_class;
  g_free (self->path);
  self->path = g_strdup (path);
  int rc = sqlite3_open_v2 (path, &self->db,
                            SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL);
  if (irisd_sqlite_judge (self, rc, "cannot be opened", error) != IRISD_STORE_OK)
    return FALSE;
  sqlite3_extended_result_codes (self->db, 1);
  self->most_log_pages = get_most_log_pages (path);
  return set_modes (self, error) && irisd_sqlite_check_schema (self, error)
         && irisd_sqlite_prepare (self, error);
}

void
irisd_sqlite_close (IrisdSqlite *self)
{
  close_database (self);
}

/* Whether SQLite's answer means that the file is not what was written. */
static gboolean
seems_damaged (IrisdSqlite *self)
{
  int rc = self->db != NULL ? sqlite3_errcode (self->db) & 0xff : SQLITE_OK;
  return rc == SQLITE_CORRUPT || rc == SQLITE_NOTADB || rc == SQLITE_ERROR;
}

/* SQLite takes an empty file for a new database, and deletes its log. */
static gboolean
lost_its_head (const char *path)
{
  g_autofree char *log_path = g_strconcat (path, "-wal", NULL);
  struct stat st, log_st;
  return (stat (path, &st) != 0 || st.st_size == 0) && stat (log_path, &log_st) == 0
         && log_st.st_size > 0;
}

static gboolean
open_whole (IrisdSqlite *self, const char *path, GError **error)
{
  gboolean open = irisd_sqlite_open (self, path, error);
  self->from_mark = self->tally;
  return open;
}

static gboolean
open_or_salvage (IrisdSqlite *self, const char *path, GError **error)
{
  g_autoptr (GError) why = NULL, local = NULL;
  if (lost_its_head (path))
    return irisd_sqlite_salvage (self, path, &local) || open_whole (self, path, error);
  if (open_whole (self, path, &why))
    return TRUE;
  gboolean damaged = seems_damaged (self) && !self->wrong_make;
  close_database (self);
  if (damaged && irisd_sqlite_salvage (self, path, &local))
    return TRUE;
  g_propagate_error (error, local != NULL ? g_steal_pointer (&local) : g_steal_pointer (&why));
  return FALSE;
}

/**
 * irisd_store_open_sqlite:
 * @dir: a directory for this store alone
 * @error: return location for a #GError of the domain %IRISD_ERROR
 *
 * Opens the store of a directory, or makes one.
 *
 * Returns: (transfer full): the store
 */
IrisdStore *
irisd_store_open_sqlite (const char *dir, GError **error)
{
  g_autofree char *path = g_build_filename (dir, IRISD_SQLITE_NAME, NULL);
  IrisdSqlite *self = g_new0 (IrisdSqlite, 1);
  self->tally_fd = -1;
  if (!irisd_tally_read_file (path, &self->from_file))
    self->from_file.sequence = 0;
  self->tail_damaged = irisd_sqlite_mend_log (path);
  if (open_or_salvage (self, path, error))
    {
      self->tally_fd = irisd_tally_open_file (path);
      return &self->store;
    }
  self->broken = TRUE;
  close_store (&self->store);
  return NULL;
}
