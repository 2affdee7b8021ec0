/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The inside of the SQLite store, for the files that are parts of it.
 */
#pragma once

#include "irisd-store.h"

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
  guint64 mark;      /* the remembered number, ahead of all that are in use */
  guint64 opened_at; /* what it was when the store was opened */
  int log_pages;
  int most_log_pages;
  gboolean copying; /* it is the database that was written, and not the log */
  gboolean broken;
  gboolean tail_damaged;
} IrisdSqlite;

gboolean irisd_sqlite_open (IrisdSqlite *self, const char *path, GError **error);
void irisd_sqlite_close (IrisdSqlite *self);
void irisd_sqlite_get_row (sqlite3_stmt *statement, IrisdRow *row);

/* irisd-store-scan.c: what is there, and what is not any more. */
IrisdStoreOutcome irisd_sqlite_scan (IrisdStore *store,
                                     IrisdRowFunc func,
                                     gpointer user_data,
                                     IrisdStoreDamage *damage,
                                     GError **error);

/* irisd-store-log.c: the log, before SQLite sees it. */
gboolean irisd_sqlite_mend_log (const char *path);

G_END_DECLS
