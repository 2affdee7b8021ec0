/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The tables of an SQLite store, the versions that they had, and the statements that use them.
 */
#include "daemon/store/sqlite/irisd-sqlite-private.h"

#include "daemon/base/irisd-error.h"

/* "IRSJ": tells other programs that the file is irisd's. */
#define APPLICATION_ID 0x4952534a

/* Rows of version 1 are read; the first start of this release raises the version, so that the
 * release before does not misread rows of this one. */
#define SCHEMA_VERSION 2
#define OLDEST_VERSION 1

#define COLUMNS "SELECT id, state, head, body, crc FROM items"

/* Of the tally; version 1 has none. */
#define TALLY_COLUMNS(before)                                                                    \
  before "sequence INTEGER NOT NULL DEFAULT 0" before "n_rows INTEGER NOT NULL DEFAULT 0" before \
         "id_sum INTEGER NOT NULL DEFAULT 0" before "n_put INTEGER NOT NULL DEFAULT 0" before    \
         "crc INTEGER NOT NULL DEFAULT 0"

static const char schema[] =
    "CREATE TABLE items (id INTEGER PRIMARY KEY, state INTEGER NOT NULL, head BLOB NOT NULL,"
    " body BLOB NOT NULL, crc INTEGER NOT NULL);"
    "CREATE TABLE damaged (id INTEGER, state INTEGER, head BLOB, body BLOB, crc INTEGER);"
    "CREATE TABLE mark (next_id INTEGER NOT NULL" TALLY_COLUMNS (
        ", ") ");"
              "INSERT INTO mark (next_id) VALUES (1);";

static const char from_version_1[] = "BEGIN; SELECT 1" TALLY_COLUMNS (
    "; ALTER TABLE mark ADD COLUMN ");

/* A single number from a statement. */
int
irisd_sqlite_ask (IrisdSqlite *self, const char *sql, gint64 *number)
{
  sqlite3_stmt *statement = NULL;
  int rc = sqlite3_prepare_v2 (self->db, sql, -1, &statement, NULL);
  if (rc == SQLITE_OK)
    rc = sqlite3_step (statement);
  *number = rc == SQLITE_ROW ? sqlite3_column_int64 (statement, 0) : 0;
  sqlite3_finalize (statement);
  return rc == SQLITE_ROW || rc == SQLITE_DONE ? SQLITE_OK : rc;
}

int
irisd_sqlite_run (IrisdSqlite *self, const char *sql)
{
  return sqlite3_exec (self->db, sql, NULL, NULL, NULL);
}

static int
make_schema (IrisdSqlite *self)
{
  g_autofree char *sql = g_strdup_printf ("BEGIN; %s PRAGMA application_id=%d;"
                                          " PRAGMA user_version=%d; COMMIT;",
                                          schema, APPLICATION_ID, SCHEMA_VERSION);
  int rc = irisd_sqlite_run (self, sql);
  if (rc != SQLITE_OK)
    irisd_sqlite_run (self, "ROLLBACK");
  return rc;
}

static gboolean
raise_version (IrisdSqlite *self, GError **error)
{
  g_autofree char *sql = g_strdup_printf ("%s; PRAGMA user_version=%d; COMMIT;", from_version_1,
                                          SCHEMA_VERSION);
  int rc = irisd_sqlite_run (self, sql);
  gboolean raised = irisd_sqlite_judge (self, rc, "cannot be brought to this release's form", error)
                    == IRISD_STORE_OK;
  if (!raised)
    irisd_sqlite_run (self, "ROLLBACK");
  return raised;
}

/* A new file gets the schema, one of irisd's must have it. */
gboolean
irisd_sqlite_check_schema (IrisdSqlite *self, GError **error)
{
  gint64 application = 0, version = 0, tables = 0;
  int rc = irisd_sqlite_ask (self, "PRAGMA application_id", &application);
  if (rc == SQLITE_OK)
    rc = irisd_sqlite_ask (self, "PRAGMA user_version", &version);
  if (rc == SQLITE_OK)
    rc = irisd_sqlite_ask (self, "SELECT count(*) FROM sqlite_master", &tables);
  if (rc == SQLITE_OK && tables == 0 && application == 0)
    {
      rc = make_schema (self);
      version = SCHEMA_VERSION;
      application = APPLICATION_ID;
    }
  if (rc != SQLITE_OK)
    {
      g_set_error (error, IRISD_ERROR, IRISD_ERROR_FAILED,
                   "cannot use the journal %s: %s; if it cannot be restored, move it away to begin "
                   "with an empty one",
                   self->path, sqlite3_errmsg (self->db));
      return FALSE;
    }
  if (application != APPLICATION_ID || version < OLDEST_VERSION || version > SCHEMA_VERSION)
    {
      self->wrong_make = TRUE;
      g_set_error (error, IRISD_ERROR, IRISD_ERROR_FAILED,
                   application != APPLICATION_ID ? "cannot use %s: it is not a journal of irisd; "
                                                   "choose another directory with --journal"
                                                 : "cannot use the journal %s: another release of "
                                                   "irisd wrote it; use that release, or "
                                                   "another directory with --journal",
                   self->path);
      return FALSE;
    }
  return version == SCHEMA_VERSION || raise_version (self, error);
}

/* An unreadable or wrong tally is made anew from the rows. */
static void
read_mark (IrisdSqlite *self)
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

gboolean
irisd_sqlite_prepare (IrisdSqlite *self, GError **error)
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
  };
  for (guint i = 0; i < IRISD_SQL_N; i++)
    {
      int rc = sqlite3_prepare_v3 (self->db, sql[i], -1, SQLITE_PREPARE_PERSISTENT,
                                   &self->statements[i], NULL);
      if (irisd_sqlite_judge (self, rc, "cannot be used", error) != IRISD_STORE_OK)
        return FALSE;
    }
  read_mark (self);
  return TRUE;
}
