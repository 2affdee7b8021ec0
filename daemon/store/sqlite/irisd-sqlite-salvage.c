/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Salvage: a damaged SQLite store is rebuilt from the rows that can be read.
 *
 * The new file gets the rows that SQLite reaches, then those that only the pages show. The old file
 * stays beside it, unchanged.
 */
#include "daemon/store/sqlite/irisd-sqlite-walk.h"

#include "daemon/base/irisd-error.h"
#include "daemon/store/sqlite/irisd-sqlite-pages.h"

#include <errno.h>
#include <glib/gstdio.h>

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

static void
take_stray (const IrisdRow *row, gpointer user_data)
{
  Walk *walk = user_data;
  irisd_walk_take (walk, row, !g_hash_table_contains (walk->seen, GSIZE_TO_POINTER (row->id)));
}

/* The new store's tally continues the old one's. */
static IrisdStoreOutcome
finish_copy (const IrisdSqlite *self, IrisdSqlite *copy, GError **error)
{
  const IrisdTally *mark = &self->from_mark, *file = &self->from_file;
  copy->next.sequence = MAX (mark->sequence, file->sequence);
  copy->next.n_put = MAX (copy->next.n_put, MAX (mark->n_put, file->n_put));
  copy->next.next_id = MAX (copy->next.next_id, MAX (mark->next_id, file->next_id));
  copy->touched = TRUE;
  return irisd_store_commit (&copy->store, error);
}

/* Fills a new store with the rows of `walk` and the pages. `self` is open, or has only a path. */
static IrisdStoreOutcome
fill_copy (IrisdSqlite *self, Walk *walk, const char *path, GError **error)
{
  IrisdPagesReport report;
  walk->outcome = irisd_store_begin (&walk->copy->store, error);
  if (walk->outcome != IRISD_STORE_OK)
    return walk->outcome;
  if (self->db != NULL)
    irisd_walk_all (walk);
  irisd_pages_scan (path, take_stray, walk, &report);
  if (self->from_mark.sequence == 0)
    self->from_mark = report.mark;
  if (self->db == NULL)
    g_array_append_vals (walk->bad, report.bad->data, report.bad->len);
  irisd_pages_report_clear (&report);
  if (walk->outcome == IRISD_STORE_OK)
    walk->outcome = finish_copy (self, walk->copy, &walk->error);
  if (walk->error != NULL)
    g_propagate_error (error, g_steal_pointer (&walk->error));
  return walk->outcome;
}

/* Copies what can be read into a new file, and closes both. */
static IrisdStoreOutcome
make_copy (IrisdSqlite *self, Walk *walk, const char *path, const char *fresh, GError **error)
{
  g_autofree char *fresh_log = g_strconcat (fresh, "-wal", NULL);
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);
  IrisdSqlite copy = { .tally_fd = -1 };
  g_unlink (fresh);
  g_unlink (fresh_log);
  walk->copy = &copy;
  walk->seen = seen;
  IrisdStoreOutcome outcome = IRISD_STORE_BROKEN;
  if (irisd_sqlite_open (&copy, fresh, error))
    outcome = fill_copy (self, walk, path, error);
  walk->copy = NULL;
  walk->seen = NULL;
  irisd_sqlite_close (&copy);
  g_free (copy.path);
  if (self->db != NULL)
    sqlite3_db_config (self->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
  return outcome;
}

/**
 * irisd_sqlite_rebuild:
 * @self: an open store, of which a page cannot be read
 * @walk: the walk that met it; it reports the rows that it has not reported yet
 * @told: the number up to which it has
 * @error: return location for a #GError
 *
 * Returns: whether @self is open again, with all rows that can be read
 */
IrisdStoreOutcome
irisd_sqlite_rebuild (IrisdSqlite *self, Walk *walk, guint64 told, GError **error)
{
  g_autofree char *path = g_strdup (self->path);
  g_autofree char *fresh = g_strconcat (path, ".new", NULL);
  walk->told = told;
  g_array_set_size (walk->bad, 0);
  IrisdStoreOutcome outcome = make_copy (self, walk, path, fresh, error);
  if (outcome != IRISD_STORE_OK)
    return outcome;
  irisd_sqlite_close (self);
  self->n_bad += walk->bad->len;
  g_array_set_size (walk->bad, 0);
  return change_places (path, fresh, error) && irisd_sqlite_open (self, path, error)
             ? IRISD_STORE_OK
             : IRISD_STORE_BROKEN;
}

/* Rebuilds the database @path, which SQLite cannot open, from its pages, if anything shows that it
 * was one. Returns whether @self is open now. */
gboolean
irisd_sqlite_salvage (IrisdSqlite *self, const char *path, GError **error)
{
  g_autofree char *fresh = g_strconcat (path, ".new", NULL);
  g_autoptr (GArray) bad = g_array_new (FALSE, FALSE, sizeof (guint64));
  Walk walk = { .store = self, .bad = bad };
  IrisdStoreOutcome outcome = make_copy (self, &walk, path, fresh, error);
  gboolean ours = walk.found.n_rows > 0 || self->from_mark.sequence > 0
                  || self->from_file.sequence > 0;
  if (outcome != IRISD_STORE_OK || !ours)
    {
      g_unlink (fresh);
      return FALSE;
    }
  if (!change_places (path, fresh, error) || !irisd_sqlite_open (self, path, error))
    return FALSE;
  self->salvaged = TRUE;
  self->n_bad = bad->len;
  return TRUE;
}
