/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A walk over the rows of an SQLite store.
 *
 * Where a page cannot be read the walk seeks past it, in strides that double, and comes back
 * downwards to the far edge of the gap, so that it misses only rows on damaged pages or below them.
 */
#include "daemon/store/sqlite/irisd-sqlite-walk.h"

/* A walk gives up seeking after this many doublings. */
#define MOST_DOUBLINGS 40

/* @row is whole; @fresh: it was not reported yet, whatever its number is. */
void
irisd_walk_take (Walk *walk, const IrisdRow *row, gboolean fresh)
{
  if (walk->copy != NULL)
    {
      if (!g_hash_table_add (walk->seen, GSIZE_TO_POINTER (row->id))
          || walk->outcome != IRISD_STORE_OK)
        return;
      walk->outcome = irisd_store_put (&walk->copy->store, row, &walk->error);
    }
  if (row->id <= walk->told && !fresh)
    return;
  irisd_tally_add (&walk->found, row->id);
  if (walk->func != NULL)
    walk->func (row, walk->user_data);
}

static void
visit (Walk *walk, sqlite3_stmt *statement)
{
  IrisdRow row;
  irisd_sqlite_get_row (statement, &row);
  walk->store->highest = MAX (walk->store->highest, row.id);
  if ((gint64) irisd_row_checksum (&row) == sqlite3_column_int64 (statement, 4))
    irisd_walk_take (walk, &row, FALSE);
  else
    g_array_append_val (walk->bad, row.id);
}

/* Visits the rows above `*last`. Numbers that do not rise mean a wrong page. Returns whether the
 * walk came to the end. */
gboolean
irisd_walk_up (Walk *walk, guint64 *last)
{
  sqlite3_stmt *statement = walk->store->statements[IRISD_SQL_AFTER];
  sqlite3_bind_int64 (statement, 1, (sqlite3_int64) *last);
  int rc;
  while ((rc = sqlite3_step (statement)) == SQLITE_ROW)
    {
      guint64 id = (guint64) sqlite3_column_int64 (statement, 0);
      if (id <= *last)
        break;
      visit (walk, statement);
      *last = id;
    }
  sqlite3_reset (statement);
  return rc == SQLITE_DONE;
}

/* Visits the rows from below `top` down to above `bottom`, as far as they can be read. */
static void
walk_down (Walk *walk, guint64 top, guint64 bottom)
{
  sqlite3_stmt *statement = walk->store->statements[IRISD_SQL_BEFORE];
  sqlite3_bind_int64 (statement, 1, (sqlite3_int64) top);
  while (sqlite3_step (statement) == SQLITE_ROW
         && (guint64) sqlite3_column_int64 (statement, 0) > bottom)
    visit (walk, statement);
  sqlite3_reset (statement);
}

/* Finds a row beyond the gap that begins above `last`; 0 if it finds none. */
static guint64
seek_past (Walk *walk, guint64 last)
{
  sqlite3_stmt *statement = walk->store->statements[IRISD_SQL_AFTER];
  guint64 stride = 1, found = 0;
  int rc = SQLITE_CORRUPT;
  for (guint i = 0; i < MOST_DOUBLINGS && rc != SQLITE_ROW && rc != SQLITE_DONE; i++, stride *= 2)
    {
      guint64 probe = last + stride;
      sqlite3_bind_int64 (statement, 1, (sqlite3_int64) probe);
      rc = sqlite3_step (statement);
      if (rc == SQLITE_ROW)
        found = (guint64) sqlite3_column_int64 (statement, 0);
      sqlite3_reset (statement);
    }
  return found;
}

void
irisd_walk_all (Walk *walk)
{
  guint64 last = 0;
  while (!irisd_walk_up (walk, &last))
    {
      guint64 found = seek_past (walk, last);
      walk_down (walk, found != 0 ? found : (guint64) G_MAXINT64, last);
      if (found == 0)
        return;
      last = found - 1;
    }
}
