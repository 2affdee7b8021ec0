/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Walking over the rows of an SQLite store.
 */
#pragma once

#include "daemon/store/sqlite/irisd-sqlite-private.h"

G_BEGIN_DECLS

/**
 * Walk:
 * @store: whose rows they are
 * @func: called for each whole row that was not reported yet
 * @user_data: for @func
 * @bad: (element-type guint64): rows whose checksum does not fit
 * @found: the number and sum of the rows reported
 * @told: rows up to this number were reported before
 * @copy: (nullable): a store that all whole rows are copied into
 * @seen: (nullable): the rows that are in @copy
 * @outcome: of the copying
 * @error: (nullable): why it failed
 */
typedef struct
{
  IrisdSqlite *store;
  IrisdRowFunc func;
  gpointer user_data;
  GArray *bad;
  IrisdTally found;
  guint64 told;
  IrisdSqlite *copy;
  GHashTable *seen;
  IrisdStoreOutcome outcome;
  GError *error;
} Walk;

/* irisd-sqlite-walk.c */
gboolean irisd_walk_up (Walk *walk, guint64 *last);
void irisd_walk_all (Walk *walk);
void irisd_walk_take (Walk *walk, const IrisdRow *row, gboolean fresh);

/* irisd-sqlite-salvage.c */
IrisdStoreOutcome
irisd_sqlite_rebuild (IrisdSqlite *self, Walk *walk, guint64 told, GError **error);

G_END_DECLS
