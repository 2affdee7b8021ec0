/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The pages of an SQLite store, read without SQLite.
 */
#pragma once

#include "daemon/store/sqlite/irisd-sqlite-tally.h"

G_BEGIN_DECLS

/**
 * IrisdSqliteLog:
 * @data: (nullable): the file, repaired as far as possible
 * @n_frames: how many frames fit in it
 * @n_used: frames up to the end of the last transaction
 * @damaged: it was damaged, other than by a crash
 */
typedef struct
{
  guint8 *data;
  gsize size;
  gsize page_size;
  gboolean big_endian;
  gsize n_frames;
  gsize n_used;
  gboolean damaged;
} IrisdSqliteLog;

/* irisd-sqlite-log.c: the log, before SQLite sees it. */
void irisd_sqlite_log_load (IrisdSqliteLog *self, const char *path);
void irisd_sqlite_log_clear (IrisdSqliteLog *self);
const guint8 *
irisd_sqlite_log_get (const IrisdSqliteLog *self, gsize index, guint32 *number, guint32 *n_pages);
gboolean irisd_sqlite_mend_log (const char *path);

/**
 * IrisdPagesReport:
 * @mark: the tally that the database holds; its sequence is 0 if there is none
 * @n_pages: pages of the database
 * @n_unreadable: pages that should hold a part of a table and make no sense
 * @bad: (element-type guint64): rows whose checksum does not fit
 * @log_damaged: the log was damaged, other than by a crash
 */
typedef struct
{
  IrisdTally mark;
  guint32 n_pages;
  guint32 n_unreadable;
  GArray *bad;
  gboolean log_damaged;
} IrisdPagesReport;

gboolean irisd_pages_scan (const char *path,
                           IrisdRowFunc func,
                           gpointer user_data,
                           IrisdPagesReport *report);
void irisd_pages_report_clear (IrisdPagesReport *self);

G_END_DECLS
