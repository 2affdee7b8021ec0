/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The pages of an SQLite store, read without SQLite.
 */
#pragma once

#include "daemon/store/sqlite/irisd-sqlite-tally.h"

G_BEGIN_DECLS

gboolean irisd_sqlite_mend_log (const char *path);

typedef struct
{
  IrisdTally mark;       /* the tally that the database holds; its sequence is 0 if there is none */
  guint32 n_pages;       /* pages of the database */
  guint32 n_unreadable;  /* pages that should hold a part of a table and make no sense */
  GArray *bad;           /* guint64: rows whose checksum does not fit */
  guint64 n_records;     /* named records that are whole */
  guint64 n_bad_records; /* and those whose checksum does not fit */
  gboolean log_damaged;  /* the log was damaged, other than by a crash */
} IrisdPagesReport;

gboolean irisd_pages_scan (const char *path,
                           IrisdRowFunc func,
                           IrisdNamedRecordFunc record_func,
                           gpointer user_data,
                           IrisdPagesReport *report);

G_END_DECLS
