/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What is in an SQLite store, and what is not any more.
 *
 * Rows are walked upwards. Where a page cannot be read the walk seeks past it, in strides that
 * double, and comes back downwards to the far edge of the gap, so that only what lies on damaged
 * pages is lost. Rows whose checksum does not fit go into a table of their own, where people can
 * look at them. If pages are damaged the whole rows are copied into a new file, because nothing may
 * be written into the old one, which stays beside it.
 */
#include "irisd-store-sqlite-private.h"

#include "irisd-error.h"

#include <errno.h>
#include <glib/gstdio.h>

/* A walk gives up seeking after this many doublings. */
#define MOST_DOUBLINGS 40

typedef struct
{
  IrisdSqlite *store;
  IrisdRowFunc func;
  gpointer user_data;
  GArray *bad; /* guint64: rows whose checksum does not fit */
  guint64 n_gaps;
} Walk;

static void
visit (Walk *walk, sqlite3_stmt *statement)
{
  IrisdRow row;
  irisd_sqlite_get_row (statement, &row);
  walk->store->highest = MAX (walk->store->highest, row.id);
  if ((gint64) irisd_row_checksum (&row) == sqlite3_column_int64 (statement, 4))
    walk->func (&row, walk->user_data);
  else
    g_array_append_val (walk->bad, row.id);
}

/* Visits the rows above `*last`. Returns whether the walk came to the end. */
static gboolean
walk_up (Walk *walk, guint64 *last)
{
  sqlite3_stmt *statement = walk->store->statements[IRISD_SQL_AFTER];
  sqlite3_bind_int64 (statement, 1, (sqlite3_int64) *last);
  int rc;
  while ((rc = sqlite3_step (statement)) == SQLITE_ROW)
    {
      visit (walk, statement);
      *last = (guint64) sqlite3_column_int64 (statement, 0);
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

/* Finds a row beyond the gap that begins above `last`; 0 if there is none to be found. */
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

static void
walk_all (Walk *walk)
{
  guint64 last = 0;
  while (!walk_up (walk, &last))
    {
      walk->n_gaps++;
      guint64 found = seek_past (walk, last);
      walk_down (walk, found != 0 ? found : (guint64) G_MAXINT64, last);
      if (found == 0)
        return;
      last = found - 1;
    }
}

/* That a row could not be set aside, on a full disk perhaps, is no harm: it is found again. */
static void
set_aside (IrisdSqlite *self, const GArray *ids)
{
  if (ids->len == 0 || self->store.klass->begin (&self->store, NULL) != IRISD_STORE_OK)
    return;
  gboolean good = TRUE;
  for (guint i = 0; i < ids->len && good; i++)
    {
      guint64 id = g_array_index (ids, guint64, i);
      sqlite3_stmt *statement = self->statements[IRISD_SQL_ASIDE];
      sqlite3_bind_int64 (statement, 1, (sqlite3_int64) id);
      good = sqlite3_step (statement) == SQLITE_DONE;
      sqlite3_reset (statement);
      good = good && irisd_store_remove (&self->store, id, NULL) == IRISD_STORE_OK;
    }
  if (!good || irisd_store_commit (&self->store, NULL) != IRISD_STORE_OK)
    irisd_store_rollback (&self->store);
}

/* What was copied, and whether all of it could be. */
typedef struct
{
  IrisdSqlite store;
  IrisdStoreOutcome outcome;
  GError *error;
} Copy;

static void
copy_row (const IrisdRow *row, gpointer user_data)
{
  Copy *copy = user_data;
  if (copy->outcome == IRISD_STORE_OK)
    copy->outcome = irisd_store_put (&copy->store.store, row, &copy->error);
}

static IrisdStoreOutcome
fill_copy (IrisdSqlite *self, Copy *copy, const char *path, GError **error)
{
  g_autoptr (GArray) bad = g_array_new (FALSE, FALSE, sizeof (guint64));
  Walk walk = { .store = self, .func = copy_row, .user_data = copy, .bad = bad };
  if (!irisd_sqlite_open (&copy->store, path, error))
    return IRISD_STORE_BROKEN;
  copy->outcome = irisd_store_begin (&copy->store.store, &copy->error);
  if (copy->outcome == IRISD_STORE_OK)
    walk_all (&walk);
  copy->store.highest = MAX (copy->store.highest, self->mark);
  if (copy->outcome == IRISD_STORE_OK)
    copy->outcome = irisd_store_commit (&copy->store.store, &copy->error);
  if (copy->error != NULL)
    g_propagate_error (error, g_steal_pointer (&copy->error));
  return copy->outcome;
}

static gboolean
move_file (const char *from, const char *to, GError **error)
{
  if (g_rename (from, to) == 0 || errno == ENOENT)
    return TRUE;
  g_set_error (error, IRISD_ERROR, IRISD_ERROR_FAILED, "cannot rename %s to %s: %s", from, to,
               g_strerror (errno));
  return FALSE;
}

/* Puts the copy in the file's place. Both databases are closed. */
static gboolean
change_places (const char *path, const char *fresh, GError **error)
{
  g_autofree char *old = g_strdup_printf ("%s.damaged-%" G_GINT64_FORMAT, path,
                                          g_get_real_time () / G_USEC_PER_SEC);
  g_autofree char *log = g_strconcat (path, "-wal", NULL);
  g_autofree char *old_log = g_strconcat (old, "-wal", NULL);
  return move_file (path, old, error) && move_file (log, old_log, error)
         && move_file (fresh, path, error);
}

static IrisdStoreOutcome
rebuild (IrisdSqlite *self, GError **error)
{
  g_autofree char *path = g_strdup (self->path);
  g_autofree char *fresh = g_strconcat (path, ".new", NULL);
  g_autofree char *fresh_log = g_strconcat (fresh, "-wal", NULL);
  g_unlink (fresh);
  g_unlink (fresh_log);

  Copy copy = { .outcome = IRISD_STORE_OK };
  IrisdStoreOutcome outcome = fill_copy (self, &copy, fresh, error);
  irisd_sqlite_close (&copy.store);
  g_free (copy.store.path);
  if (outcome != IRISD_STORE_OK)
    return outcome;
  sqlite3_db_config (self->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
  irisd_sqlite_close (self);
  if (!change_places (path, fresh, error) || !irisd_sqlite_open (self, path, error))
    return IRISD_STORE_BROKEN;
  return IRISD_STORE_OK;
}

IrisdStoreOutcome
irisd_sqlite_scan (IrisdStore *store,
                   IrisdRowFunc func,
                   gpointer user_data,
                   IrisdStoreDamage *damage,
                   GError **error)
{
  IrisdSqlite *self = (IrisdSqlite *) store;
  g_autoptr (GArray) bad = g_array_new (FALSE, FALSE, sizeof (guint64));
  Walk walk = { .store = self, .func = func, .user_data = user_data, .bad = bad };
  walk_all (&walk);
  *damage = (IrisdStoreDamage){ .rows = bad->len, .gaps = walk.n_gaps, .tail = self->tail_damaged };
  if (walk.n_gaps > 0)
    return rebuild (self, error);
  set_aside (self, bad);
  return IRISD_STORE_OK;
}
