/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The named records of an SQLite store: what irisd remembers other than items.
 *
 * They are few beside the items, so all are read at the start. Each has a checksum of its own, over
 * kind, name and body. A damaged one is set aside as a damaged item is, with the number 0.
 */
#include "daemon/store/sqlite/irisd-sqlite-private.h"

IrisdStoreOutcome
irisd_store_put_record (IrisdStore *self, const IrisdNamedRecord *record, GError **error)
{
  sqlite3_stmt *statement = self->statements[IRISD_SQL_PUT_RECORD];
  sqlite3_bind_int64 (statement, 1, record->kind);
  sqlite3_bind_blob64 (statement, 2, record->name_size > 0 ? (const void *) record->name : "",
                       record->name_size, SQLITE_STATIC);
  sqlite3_bind_blob64 (statement, 3, record->body_size > 0 ? (const void *) record->body : "",
                       record->body_size, SQLITE_STATIC);
  sqlite3_bind_int64 (statement, 4, irisd_named_record_checksum (record));
  self->n_bytes += record->name_size + record->body_size;
  return irisd_sqlite_step (self, statement, "cannot write a record", error);
}

static void
bind_name (sqlite3_stmt *statement, guint32 kind, const guint8 *name, gsize name_size)
{
  sqlite3_bind_int64 (statement, 1, kind);
  sqlite3_bind_blob64 (statement, 2, name_size > 0 ? (const void *) name : "", name_size,
                       SQLITE_STATIC);
}

/* Removes the record of that kind and name; it need not be there. */
IrisdStoreOutcome
irisd_store_remove_record (IrisdStore *self, const IrisdNamedRecord *record, GError **error)
{
  sqlite3_stmt *statement = self->statements[IRISD_SQL_REMOVE_RECORD];
  bind_name (statement, record->kind, record->name, record->name_size);
  return irisd_sqlite_step (self, statement, "cannot remove a record", error);
}

gboolean
irisd_sqlite_has_record (IrisdStore *self, guint32 kind, const guint8 *name, gsize name_size)
{
  sqlite3_stmt *statement = self->statements[IRISD_SQL_HAS_RECORD];
  bind_name (statement, kind, name, name_size);
  gboolean has = sqlite3_step (statement) == SQLITE_ROW;
  sqlite3_reset (statement);
  return has;
}

/* Reads kind, name, body and checksum. Returns whether the checksum fits. */
static gboolean
read_record (sqlite3_stmt *statement, IrisdNamedRecord *record)
{
  *record = (IrisdNamedRecord){
    .kind = (guint32) sqlite3_column_int64 (statement, 0),
    .name = sqlite3_column_blob (statement, 1),
    .name_size = (gsize) sqlite3_column_bytes (statement, 1),
    .body = sqlite3_column_blob (statement, 2),
    .body_size = (gsize) sqlite3_column_bytes (statement, 2),
  };
  return (gint64) irisd_named_record_checksum (record) == sqlite3_column_int64 (statement, 3);
}

/* Visits the record with kind and name of @record, if there is one and it is whole. Returns whether
 * there was. */
gboolean
irisd_store_read_record (IrisdStore *self,
                         const IrisdNamedRecord *record,
                         IrisdNamedRecordFunc func,
                         gpointer user_data)
{
  sqlite3_stmt *statement = self->statements[IRISD_SQL_READ_RECORD];
  IrisdNamedRecord found;
  bind_name (statement, record->kind, record->name, record->name_size);
  gboolean whole = sqlite3_step (statement) == SQLITE_ROW && read_record (statement, &found);
  if (whole)
    func (&found, user_data);
  sqlite3_reset (statement);
  return whole;
}

/* Visits all records, in the order of kinds and names, as far as SQLite reaches them; @damaged
 * (nullable) those whose checksum does not fit. Returns whether it came to the end. */
gboolean
irisd_sqlite_visit_records (IrisdStore *self,
                            IrisdNamedRecordFunc func,
                            IrisdNamedRecordFunc damaged,
                            gpointer user_data)
{
  static const char sql[] = "SELECT kind, name, body, crc FROM records ORDER BY kind, name";
  sqlite3_stmt *statement = NULL;
  int rc = sqlite3_prepare_v2 (self->db, sql, -1, &statement, NULL);
  while (rc == SQLITE_OK || rc == SQLITE_ROW)
    {
      IrisdNamedRecord record;
      rc = sqlite3_step (statement);
      if (rc != SQLITE_ROW)
        break;
      if (read_record (statement, &record))
        func (&record, user_data);
      else if (damaged != NULL)
        damaged (&record, user_data);
    }
  sqlite3_finalize (statement);
  return rc == SQLITE_DONE;
}

/* What irisd_sqlite_load_records() finds. */
typedef struct
{
  IrisdNamedRecordFunc func;
  gpointer user_data;
  GArray *kinds;    /* guint32: of the damaged ones */
  GPtrArray *names; /* GBytes: likewise */
} Load;

static void
pass_on (const IrisdNamedRecord *record, gpointer user_data)
{
  Load *load = user_data;
  if (load->func != NULL)
    load->func (record, load->user_data);
}

static void
note_damaged (const IrisdNamedRecord *record, gpointer user_data)
{
  Load *load = user_data;
  g_array_append_val (load->kinds, record->kind);
  g_ptr_array_add (load->names, g_bytes_new (record->name, record->name_size));
}

/* On a full disk they stay, and are found again at the next start. */
static void
set_aside (IrisdStore *self, const Load *load)
{
  static const char sql[] = "INSERT INTO damaged SELECT 0, kind, name, body, crc FROM records"
                            " WHERE kind = ? AND name = ?";
  sqlite3_stmt *statement = NULL;
  if (load->names->len == 0 || irisd_store_begin (self, NULL) != IRISD_STORE_OK)
    return;
  gboolean good = sqlite3_prepare_v2 (self->db, sql, -1, &statement, NULL) == SQLITE_OK;
  for (guint i = 0; i < load->names->len && good; i++)
    {
      IrisdNamedRecord record = { .kind = g_array_index (load->kinds, guint32, i) };
      record.name = g_bytes_get_data (g_ptr_array_index (load->names, i), &record.name_size);
      bind_name (statement, record.kind, record.name, record.name_size);
      good = sqlite3_step (statement) == SQLITE_DONE && sqlite3_reset (statement) == SQLITE_OK
             && irisd_store_remove_record (self, &record, NULL) == IRISD_STORE_OK;
    }
  sqlite3_finalize (statement);
  if (!good || irisd_store_commit (self, NULL) != IRISD_STORE_OK)
    irisd_store_rollback (self);
}

/* Visits all records that SQLite reaches, in the order of kinds and names, with @func (nullable).
 * Sets aside damaged ones, and returns their number. */
guint
irisd_sqlite_load_records (IrisdStore *self, IrisdNamedRecordFunc func, gpointer user_data)
{
  g_autoptr (GArray) kinds = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func ((GDestroyNotify) g_bytes_unref);
  Load load = { func, user_data, kinds, names };
  irisd_sqlite_visit_records (self, pass_on, note_damaged, &load);
  set_aside (self, &load);
  return names->len;
}
