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
  IRISD_SQL_N,
};

typedef struct
{
  IrisdStore store;
  char *path;
  sqlite3 *db;
  sqlite3_stmt *statements[IRISD_SQL_N];
  guint64 highest;   /* number that was put or found */
  guint64 opened_at; /* the remembered number when the store was opened */
  IrisdTally tally;  /* as of the last transaction */
  IrisdTally next;   /* as of the one under way */
  gboolean touched;  /* the one under way has changed something */
  guint64 n_bytes;   /* of the rows that the one under way has put */
  int tally_fd;
  gboolean mark_damaged; /* the tally in the database could not be read */
  IrisdTally from_mark;  /* what it was when the store was opened; sequence 0: not known */
  IrisdTally from_file;  /* the other copy */
  int log_pages;
  int most_log_pages;
  gboolean copying; /* it is the database that was written, and not the log */
  gboolean broken;
  gboolean tail_damaged;
  gboolean wrong_make; /* it is whole, and not a journal of this release */
  gboolean salvaged;   /* SQLite could not open it, and it was made anew from its pages */
  guint64 n_bad;       /* rows whose checksum did not fit then */
} IrisdSqlite;

gboolean irisd_sqlite_open (IrisdSqlite *self, const char *path, GError **error);
void irisd_sqlite_close (IrisdSqlite *self);
void irisd_sqlite_get_row (sqlite3_stmt *statement, IrisdRow *row);
IrisdStoreOutcome irisd_sqlite_write_tally (IrisdSqlite *self, GError **error);

/* irisd-sqlite-scan.c: what is there, and what is not any more. */
IrisdStoreOutcome irisd_sqlite_scan (IrisdStore *store,
                                     IrisdRowFunc func,
                                     gpointer user_data,
                                     IrisdStoreDamage *damage,
                                     GError **error);

IrisdStoreOutcome irisd_sqlite_judge (IrisdSqlite *self, int rc, const char *doing, GError **error);

/* irisd-sqlite-schema.c */
int irisd_sqlite_ask (IrisdSqlite *self, const char *sql, gint64 *number);
int irisd_sqlite_run (IrisdSqlite *self, const char *sql);
gboolean irisd_sqlite_check_schema (IrisdSqlite *self, GError **error);
gboolean irisd_sqlite_prepare (IrisdSqlite *self, GError **error);

/* irisd-sqlite-salvage.c */
gboolean irisd_sqlite_salvage (IrisdSqlite *self, const char *path, GError **error);

G_END_DECLS
