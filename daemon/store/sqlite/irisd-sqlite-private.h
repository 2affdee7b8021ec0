/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The inside of the SQLite store, for the files that are parts of it.
 */
#pragma once

#include "daemon/store/sqlite/irisd-sqlite-tally.h"

#include <sqlite3.h>

G_BEGIN_DECLS

#define IRISD_SQLITE_NAME "items.sqlite"

enum
{
  IRISD_SQL_BEGIN,
  IRISD_SQL_COMMIT,
  IRISD_SQL_ROLLBACK,
  IRISD_SQL_PUT,
  IRISD_SQL_REMOVE,
  IRISD_SQL_READ,
  IRISD_SQL_AFTER,
  IRISD_SQL_BEFORE,
  IRISD_SQL_MARK,
  IRISD_SQL_ASIDE,
  IRISD_SQL_PUT_RECORD,
  IRISD_SQL_REMOVE_RECORD,
  IRISD_SQL_HAS_RECORD,
  IRISD_SQL_READ_RECORD,
  IRISD_SQL_N,
};

struct _IrisdStore
{
  char *path;
  sqlite3 *db;
  sqlite3_stmt *statements[IRISD_SQL_N];
  guint64 highest;   /* the greatest number stored or found */
  guint64 opened_at; /* the remembered number at the opening */
  IrisdTally tally;  /* after the last transaction */
  IrisdTally next;   /* after the transaction in progress */
  gboolean touched;  /* the transaction in progress has changed something */
  guint64 n_bytes;   /* of the rows stored in the transaction in progress */
  int tally_fd;
  gboolean mark_damaged; /* the tally in the database could not be read */
  IrisdTally from_mark;  /* its value at the opening; sequence 0: unknown */
  IrisdTally from_file;  /* the other copy */
  int log_pages;
  int most_log_pages;
  gboolean copying; /* the last write was to the database, not to the log */
  gboolean broken;
  gboolean tail_damaged;
  gboolean wrong_make; /* a whole file that is no journal of this release */
  gboolean salvaged;   /* SQLite could not open it; rebuilt from its pages */
  guint64 n_bad;       /* rows whose checksum did not fit at the opening */
};

gboolean irisd_sqlite_open (IrisdStore *self, const char *path, GError **error);
void irisd_sqlite_close (IrisdStore *self);
void irisd_sqlite_get_row (sqlite3_stmt *statement, IrisdRow *row);
IrisdStoreOutcome irisd_sqlite_write_tally (IrisdStore *self, GError **error);
IrisdStoreOutcome
irisd_sqlite_step (IrisdStore *self, sqlite3_stmt *statement, const char *doing, GError **error);

/* irisd-sqlite-salvage.c */
IrisdStoreOutcome irisd_sqlite_rebuild (IrisdStore *self, GError **error);

/* irisd-sqlite-records.c */
gboolean
irisd_sqlite_has_record (IrisdStore *self, guint32 kind, const guint8 *name, gsize name_size);
gboolean irisd_sqlite_visit_records (IrisdStore *self,
                                     IrisdNamedRecordFunc func,
                                     IrisdNamedRecordFunc damaged,
                                     gpointer user_data);
guint irisd_sqlite_load_records (IrisdStore *self, IrisdNamedRecordFunc func, gpointer user_data);

G_END_DECLS
