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

/* "IRSJ": tells other programs that the file is irisd's. */
#define APPLICATION_ID 0x4952534a

/* Rows of versions 1 and 2 are read; the first start of this release raises the version, so that
 * the release before does not misread rows of this one. */
#define SCHEMA_VERSION 3
#define OLDEST_VERSION 1

#define COLUMNS "SELECT id, state, head, body, crc FROM items"

/* Of the tally; version 1 has none. */
#define TALLY_COLUMNS(before)                                                                    \
  before "sequence INTEGER NOT NULL DEFAULT 0" before "n_rows INTEGER NOT NULL DEFAULT 0" before \
         "id_sum INTEGER NOT NULL DEFAULT 0" before "n_put INTEGER NOT NULL DEFAULT 0" before    \
         "crc INTEGER NOT NULL DEFAULT 0"

/* What version 3 added: named records other than items. */
#define RECORDS                                                                          \
  "CREATE TABLE records (kind INTEGER NOT NULL, name BLOB NOT NULL, body BLOB NOT NULL," \
  " crc INTEGER NOT NULL, PRIMARY KEY (kind, name)) WITHOUT ROWID;"

static const char schema[] =
    "CREATE TABLE items (id INTEGER PRIMARY KEY, state INTEGER NOT NULL, head BLOB NOT NULL,"
    " body BLOB NOT NULL, crc INTEGER NOT NULL);"
    "CREATE TABLE damaged (id INTEGER, state INTEGER, head BLOB, body BLOB, crc INTEGER);"
    "CREATE TABLE mark (next_id INTEGER NOT NULL" TALLY_COLUMNS (
        ", ") ");"
              "INSERT INTO mark (next_id) VALUES (1);" RECORDS;

static const char from_version_1[] = "SELECT 1" TALLY_COLUMNS (
    "; ALTER TABLE mark ADD COLUMN ") ";";

/* Why the last write of a file failed. A commit writes the log; copying it into the database is
 * another call. Not sqlite3_system_errno(), which some releases do not set when a commit fails. */
static int
get_write_errno (IrisdStore *self)
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
is_over_quota (IrisdStore *self, int rc)
{
  return rc == SQLITE_IOERR_WRITE && get_write_errno (self) == EDQUOT;
}

static const char *
explain (IrisdStore *self, int rc)
{
  if (rc == SQLITE_IOERR_FSYNC)
    return "the disk could not be synced";
  return is_over_quota (self, rc) ? g_strerror (EDQUOT) : sqlite3_errstr (rc);
}

/* Maps SQLite's answer to a write. */
static IrisdStoreOutcome
judge (IrisdStore *self, int rc, const char *doing, GError **error)
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
judge_read (IrisdStore *self, int rc, GError **error)
{
  gboolean doubtful = (rc & 0xff) == SQLITE_CORRUPT || (rc & 0xff) == SQLITE_NOTADB;
  g_set_error (error, IRISD_ERROR, IRISD_ERROR_FAILED, "%s: cannot read an item: %s", self->path,
               sqlite3_errstr (rc));
  return doubtful ? IRISD_STORE_DOUBTFUL : IRISD_STORE_UNREADABLE;
}

/* Runs a statement that writes, and makes it ready to run again. */
IrisdStoreOutcome
irisd_sqlite_step (IrisdStore *self, sqlite3_stmt *statement, const char *doing, GError **error)
{
  int rc = sqlite3_step (statement);
  int reset = sqlite3_reset (statement);
  sqlite3_clear_bindings (statement);
  return judge (self, rc == SQLITE_DONE ? reset : rc, doing, error);
}

/* A single number from a statement. */
static int
ask (IrisdStore *self, const char *sql, gint64 *number)
{
  sqlite3_stmt *statement = NULL;
  int rc = sqlite3_prepare_v2 (self->db, sql, -1, &statement, NULL);
  if (rc == SQLITE_OK)
    rc = sqlite3_step (statement);
  *number = rc == SQLITE_ROW ? sqlite3_column_int64 (statement, 0) : 0;
  sqlite3_finalize (statement);
  return rc == SQLITE_ROW || rc == SQLITE_DONE ? SQLITE_OK : rc;
}

static int
run (IrisdStore *self, const char *sql)
{
  return sqlite3_exec (self->db, sql, NULL, NULL, NULL);
}

IrisdStoreOutcome
irisd_store_begin (IrisdStore *self, GError **error)
{
  self->next = self->tally;
  self->touched = FALSE;
  self->n_bytes = 0;
  return irisd_sqlite_step (self, self->statements[IRISD_SQL_BEGIN], "cannot begin to write",
                            error);
}

void
irisd_store_rollback (IrisdStore *self)
{
  /* SQLite may have rolled back by itself. */
  if (!sqlite3_get_autocommit (self->db))
    irisd_sqlite_step (self, self->statements[IRISD_SQL_ROLLBACK], "cannot roll back", NULL);
}

IrisdStoreOutcome
irisd_store_put (IrisdStore *self, const IrisdRow *row, GError **error)
{
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
  return irisd_sqlite_step (self, statement, "cannot write an item", error);
}

IrisdStoreOutcome
irisd_store_remove (IrisdStore *self, guint64 id, GError **error)
{
  sqlite3_stmt *statement = self->statements[IRISD_SQL_REMOVE];
  sqlite3_bind_int64 (statement, 1, (sqlite3_int64) id);
  return irisd_sqlite_step (self, statement, "cannot remove an item", error);
}

static IrisdStoreOutcome
set_mark (IrisdStore *self, const IrisdTally *tally, GError **error)
{
  sqlite3_stmt *statement = self->statements[IRISD_SQL_MARK];
  sqlite3_bind_int64 (statement, 1, (sqlite3_int64) tally->next_id);
  sqlite3_bind_int64 (statement, 2, (sqlite3_int64) tally->sequence);
  sqlite3_bind_int64 (statement, 3, (sqlite3_int64) tally->n_rows);
  sqlite3_bind_int64 (statement, 4, (sqlite3_int64) tally->id_sum);
  sqlite3_bind_int64 (statement, 5, (sqlite3_int64) tally->n_put);
  sqlite3_bind_int64 (statement, 6, irisd_tally_checksum (tally));
  return irisd_sqlite_step (self, statement, "cannot write the mark", error);
}

/* A log that fills the disk could not be copied into a database that has to grow; then nothing
 * could be written or removed any more. */
IrisdStoreOutcome
irisd_store_check_room (IrisdStore *self, GError **error)
{
  struct statvfs fs;
  struct stat st;
  gint64 n_pages = 0, page_size = 0;
  guint64 log_size = self->n_bytes + self->n_bytes / LOG_EXTRA_OF_ROWS + LOG_EXTRA;
  if (self->n_bytes == 0 || statvfs (self->path, &fs) != 0 || stat (self->path, &st) != 0)
    return IRISD_STORE_OK;
  guint64 room = (guint64) fs.f_bavail * fs.f_frsize;
  if (room / 2 >= log_size)
    return IRISD_STORE_OK;
  int rc = ask (self, "PRAGMA page_count", &n_pages);
  if (rc == SQLITE_OK)
    rc = ask (self, "PRAGMA page_size", &page_size);
  if (rc != SQLITE_OK)
    return judge (self, rc, "cannot be measured", error);
  gint64 growth = MAX (n_pages * page_size - (gint64) st.st_size, 0);
  if (room >= log_size + (guint64) growth)
    return IRISD_STORE_OK;
  g_set_error (error, IRISD_ERROR, IRISD_ERROR_FAILED,
               "%s: cannot write: the disk has no room for the transaction", self->path);
  return IRISD_STORE_FULL;
}

void
irisd_store_get_size (IrisdStore *self, IrisdStoreSize *size)
{
  struct statvfs fs;
  struct stat st;
  g_autofree char *log = g_strconcat (self->path, "-wal", NULL);
  *size = (IrisdStoreSize){ 0 };
  if (stat (self->path, &st) == 0)
    size->file = (guint64) st.st_size;
  if (stat (log, &st) == 0)
    size->log = (guint64) st.st_size;
  if (statvfs (self->path, &fs) == 0)
    size->free = (guint64) fs.f_bavail * fs.f_frsize;
}

IrisdStoreOutcome
irisd_store_commit (IrisdStore *self, GError **error)
{
  IrisdStoreOutcome outcome = IRISD_STORE_OK;
  if (self->touched)
    {
      self->next.sequence++;
      if (self->highest >= self->next.next_id)
        self->next.next_id = self->highest + STRIDE;
      outcome = set_mark (self, &self->next, error);
    }
  if (outcome == IRISD_STORE_OK)
    outcome = irisd_sqlite_step (self, self->statements[IRISD_SQL_COMMIT], "cannot commit", error);
  if (outcome != IRISD_STORE_OK || !self->touched)
    return outcome;
  self->tally = self->next;
  irisd_tally_write_file (self->tally_fd, &self->tally);
  return IRISD_STORE_OK;
}

/* Writes the tally. */
IrisdStoreOutcome
irisd_sqlite_write_tally (IrisdStore *self, GError **error)
{
  IrisdStoreOutcome outcome = irisd_store_begin (self, error);
  self->touched = TRUE;
  if (outcome == IRISD_STORE_OK)
    outcome = irisd_store_commit (self, error);
  if (outcome != IRISD_STORE_OK)
    irisd_store_rollback (self);
  return outcome;
}

static IrisdStoreOutcome
copy_log (IrisdStore *self, int mode, GError **error)
{
  int rc = sqlite3_wal_checkpoint_v2 (self->db, NULL, mode, NULL, NULL);
  self->log_pages = 0;
  self->copying = TRUE;
  IrisdStoreOutcome outcome = judge (self, rc, "cannot copy the log into the database", error);
  self->copying = FALSE;
  return outcome;
}

/* The file is cut: SQLite would leave it at its greatest size so far. */
IrisdStoreOutcome
irisd_store_empty_log (IrisdStore *self, GError **error)
{
  return copy_log (self, SQLITE_CHECKPOINT_TRUNCATE, error);
}

/* The file keeps its size, because writing over an old log costs less than letting the file
 * grow. */
IrisdStoreOutcome
irisd_store_tidy (IrisdStore *self, GError **error)
{
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

IrisdStoreOutcome
irisd_store_read (IrisdStore *self,
                  guint64 id,
                  IrisdRowFunc func,
                  gpointer user_data,
                  GError **error)
{
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

guint64
irisd_store_get_next_id (IrisdStore *self)
{
  return MAX (self->tally.next_id, self->highest + 1);
}

/* Frees pages in one transaction, and empties the log, which holds the moved pages. */
static IrisdStoreOutcome
shrink_by (IrisdStore *self, guint pages, GError **error)
{
  g_autofree char *sql = g_strdup_printf ("PRAGMA incremental_vacuum(%u)", pages);
  g_autoptr (GError) local = NULL;
  IrisdStoreOutcome outcome = judge (self, run (self, sql), "cannot give room back", &local);
  /* Also after a failure: the failed write has made the log larger. */
  if (outcome == IRISD_STORE_OK || outcome == IRISD_STORE_FULL)
    {
      IrisdStoreOutcome emptied = irisd_store_empty_log (self, local == NULL ? &local : NULL);
      outcome = emptied != IRISD_STORE_OK ? emptied : outcome;
    }
  if (local != NULL)
    g_propagate_error (error, g_steal_pointer (&local));
  return outcome;
}

/* The fuller the disk, the fewer pages at a time. */
IrisdStoreOutcome
irisd_store_shrink (IrisdStore *self, GError **error)
{
  gint64 before = 0, after = 0;
  guint pages = SHRINK_PAGES;
  IrisdStoreOutcome outcome = IRISD_STORE_OK;
  int rc = ask (self, "PRAGMA freelist_count", &before);
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
      rc = ask (self, "PRAGMA freelist_count", &after);
      if (after >= before)
        break;
      before = after;
    }
  return rc != SQLITE_OK ? judge (self, rc, "cannot give room back", error) : outcome;
}

/* Needed because SQLite distinguishes an added row from an updated one. */
static void
on_update (void *data, int kind, const char *database, const char *table, sqlite3_int64 id)
{
  IrisdStore *self = data;
  if (strcmp (table, "items") != 0)
    return;
  self->touched = TRUE;
  if (kind == SQLITE_INSERT)
    irisd_tally_add (&self->next, (guint64) id);
  else if (kind == SQLITE_DELETE)
    irisd_tally_remove (&self->next, (guint64) id);
}

static int
on_commit (void *data, sqlite3 *db, const char *name, int pages)
{
  IrisdStore *self = data;
  self->log_pages = pages;
  return SQLITE_OK;
}

static gboolean
refuse_unusable (IrisdStore *self, GError **error)
{
  return irisd_fail (error, IRISD_ERROR, IRISD_ERROR_FAILED,
                     "cannot use the journal %s: %s; if it cannot be restored, move it away to "
                     "begin with an empty one",
                     self->path, sqlite3_errmsg (self->db));
}

static int
make_schema (IrisdStore *self)
{
  g_autofree char *sql = g_strdup_printf ("BEGIN; %s PRAGMA application_id=%d;"
                                          " PRAGMA user_version=%d; COMMIT;",
                                          schema, APPLICATION_ID, SCHEMA_VERSION);
  int rc = run (self, sql);
  if (rc != SQLITE_OK)
    run (self, "ROLLBACK");
  return rc;
}

static gboolean
raise_version (IrisdStore *self, gint64 version, GError **error)
{
  g_autofree char *sql = g_strdup_printf ("BEGIN; %s" RECORDS " PRAGMA user_version=%d; COMMIT;",
                                          version == 1 ? from_version_1 : "", SCHEMA_VERSION);
  int rc = run (self, sql);
  gboolean raised = judge (self, rc, "cannot be brought to this release's form", error)
                    == IRISD_STORE_OK;
  if (!raised)
    run (self, "ROLLBACK");
  return raised;
}

/* A new file gets the schema, one of irisd's must have it. */
static gboolean
check_schema (IrisdStore *self, GError **error)
{
  gint64 application = 0, version = 0, tables = 0;
  int rc = ask (self, "PRAGMA application_id", &application);
  if (rc == SQLITE_OK)
    rc = ask (self, "PRAGMA user_version", &version);
  if (rc == SQLITE_OK)
    rc = ask (self, "SELECT count(*) FROM sqlite_master", &tables);
  if (rc == SQLITE_OK && tables == 0 && application == 0)
    {
      rc = make_schema (self);
      version = SCHEMA_VERSION;
      application = APPLICATION_ID;
    }
  if (rc != SQLITE_OK)
    return refuse_unusable (self, error);
  if (application != APPLICATION_ID || version < OLDEST_VERSION || version > SCHEMA_VERSION)
    {
      self->wrong_make = TRUE;
      return irisd_fail (error, IRISD_ERROR, IRISD_ERROR_FAILED,
                         application != APPLICATION_ID
                             ? "cannot use %s: it is not a journal of irisd; "
                               "choose another directory with --journal"
                             : "cannot use the journal %s: another release of "
                               "irisd wrote it; use that release, or "
                               "another directory with --journal",
                         self->path);
    }
  return version == SCHEMA_VERSION || raise_version (self, version, error);
}

/* An unreadable or wrong tally is made anew from the rows. */
static void
read_mark (IrisdStore *self)
{
  static const char sql[] = "SELECT next_id, sequence, n_rows, id_sum, n_put, crc FROM mark";
  sqlite3_stmt *statement = NULL;
  IrisdTally tally = { .next_id = 1 };
  guint32 checksum = 0;
  int rc = sqlite3_prepare_v2 (self->db, sql, -1, &statement, NULL);
  if (rc == SQLITE_OK)
    rc = sqlite3_step (statement);
  if (rc == SQLITE_ROW)
    {
      tally = (IrisdTally){
        .next_id = (guint64) MAX (sqlite3_column_int64 (statement, 0), 1),
        .sequence = (guint64) sqlite3_column_int64 (statement, 1),
        .n_rows = (guint64) sqlite3_column_int64 (statement, 2),
        .id_sum = (guint64) sqlite3_column_int64 (statement, 3),
        .n_put = (guint64) sqlite3_column_int64 (statement, 4),
      };
      checksum = (guint32) sqlite3_column_int64 (statement, 5);
    }
  sqlite3_finalize (statement);
  self->mark_damaged = rc != SQLITE_ROW
                       || (tally.sequence > 0 && checksum != irisd_tally_checksum (&tally));
  self->tally = self->mark_damaged ? (IrisdTally){ .next_id = 1 } : tally;
  self->opened_at = self->tally.next_id;
}

static const char put_sql[] =
    "INSERT INTO items VALUES (?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET"
    " state = excluded.state, head = excluded.head, body = excluded.body,"
    " crc = excluded.crc";

static const char mark_sql[] = "UPDATE mark SET next_id = ?, sequence = ?, n_rows = ?, id_sum = ?,"
                               " n_put = ?, crc = ?";

static gboolean
prepare (IrisdStore *self, GError **error)
{
  static const char *const sql[IRISD_SQL_N] = {
    [IRISD_SQL_BEGIN] = "BEGIN IMMEDIATE",
    [IRISD_SQL_COMMIT] = "COMMIT",
    [IRISD_SQL_ROLLBACK] = "ROLLBACK",
    [IRISD_SQL_PUT] = put_sql,
    [IRISD_SQL_REMOVE] = "DELETE FROM items WHERE id = ?",
    [IRISD_SQL_READ] = COLUMNS " WHERE id = ?",
    [IRISD_SQL_AFTER] = COLUMNS " WHERE id > ? ORDER BY id",
    [IRISD_SQL_BEFORE] = COLUMNS " WHERE id < ? ORDER BY id DESC",
    [IRISD_SQL_MARK] = mark_sql,
    [IRISD_SQL_ASIDE] = "INSERT INTO damaged SELECT * FROM items WHERE id = ?",
    [IRISD_SQL_PUT_RECORD] = "INSERT OR REPLACE INTO records VALUES (?, ?, ?, ?)",
    [IRISD_SQL_REMOVE_RECORD] = "DELETE FROM records WHERE kind = ? AND name = ?",
    [IRISD_SQL_HAS_RECORD] = "SELECT 1 FROM records WHERE kind = ? AND name = ?",
    [IRISD_SQL_READ_RECORD] =
        "SELECT kind, name, body, crc FROM records WHERE kind = ? AND name = ?",
  };
  for (guint i = 0; i < IRISD_SQL_N; i++)
    {
      int rc = sqlite3_prepare_v3 (self->db, sql[i], -1, SQLITE_PREPARE_PERSISTENT,
                                   &self->statements[i], NULL);
      if (judge (self, rc, "cannot be used", error) != IRISD_STORE_OK)
        return FALSE;
    }
  read_mark (self);
  return TRUE;
}

void
irisd_sqlite_close (IrisdStore *self)
{
  if (self->broken && self->db != NULL)
    sqlite3_db_config (self->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (self->statements); i++)
    g_clear_pointer (&self->statements[i], sqlite3_finalize);
  g_clear_pointer (&self->db, sqlite3_close_v2);
}

static gboolean
set_modes (IrisdStore *self, GError **error)
{
  /* Space of removed rows is given back on request: a file that keeps its greatest size would keep
   * a full disk full. Settable only before the first page of a new file is written.
   *
   * Exclusive, so that the log's index is kept in memory: a full disk has no room for it.
   *
   * Removed data is overwritten only where that writes no further page. Some builds of SQLite
   * overwrite all of it by default: a removal's log would be as large as what is removed, and would
   * find no room on a full disk. */
  int rc = run (self, "PRAGMA locking_mode=EXCLUSIVE;"
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
  return refuse_unusable (self, error);
}

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
irisd_sqlite_open (IrisdStore *self, const char *path, GError **error)
{
  g_free (self->path);
  self->path = g_strdup (path);
  int rc = sqlite3_open_v2 (path, &self->db,
                            SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL);
  if (judge (self, rc, "cannot be opened", error) != IRISD_STORE_OK)
    return FALSE;
  sqlite3_extended_result_codes (self->db, 1);
  self->most_log_pages = get_most_log_pages (path);
  return set_modes (self, error) && check_schema (self, error) && prepare (self, error);
}

void
irisd_store_close (IrisdStore *self)
{
  /* An orderly end leaves no stride of numbers unused. */
  if (self->highest > 0 && !self->broken)
    {
      self->tally.next_id = MAX (self->highest + 1, self->opened_at);
      irisd_sqlite_write_tally (self, NULL);
    }
  irisd_sqlite_close (self);
  if (self->tally_fd >= 0)
    close (self->tally_fd);
  g_free (self->path);
  g_free (self);
}
