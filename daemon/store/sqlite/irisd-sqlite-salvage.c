/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Opens an SQLite store, whole or damaged, and reads all its rows once.
 *
 * Rows are visited in the order of their numbers. Where a page cannot be read the walk seeks past
 * it, in strides that double, and comes back downwards to the far edge of the gap, so that it
 * misses only rows on damaged pages or below them. Rows whose checksum does not fit go into a table
 * of their own, for a person to look at.
 *
 * If a page cannot be read, or SQLite cannot open the file, the store is rebuilt: a new file gets
 * the rows that SQLite reaches, then those that only the pages show (irisd-sqlite-pages.c). The old
 * file stays beside it, unchanged. Then the rows are counted and compared with the tally, which
 * says how many there should be.
 */
#include "daemon/store/sqlite/irisd-sqlite-private.h"

#include "daemon/base/irisd-error.h"
#include "daemon/store/sqlite/irisd-sqlite-pages.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <sys/stat.h>

/* A walk gives up seeking after this many doublings. */
#define MOST_DOUBLINGS 40

/* A walk over the rows of a store. */
typedef struct
{
  IrisdStore *store;
  IrisdRowFunc func; /* called for each whole row that was not reported yet */
  gpointer user_data;
  GArray *bad;               /* guint64: rows whose checksum does not fit */
  IrisdTally found;          /* the number and sum of the rows reported */
  guint64 told;              /* rows up to this number were reported before */
  IrisdStore *copy;          /* NULL, or a store that all whole rows are copied into */
  GHashTable *seen;          /* the rows that are in it */
  IrisdStoreOutcome outcome; /* of the copying */
  GError *error;             /* why it failed */
} Walk;

/* @row is whole; @fresh: it was not reported yet, whatever its number is. */
static void
take (Walk *walk, const IrisdRow *row, gboolean fresh)
{
  if (walk->copy != NULL)
    {
      if (!g_hash_table_add (walk->seen, GSIZE_TO_POINTER (row->id))
          || walk->outcome != IRISD_STORE_OK)
        return;
      walk->outcome = irisd_store_put (walk->copy, row, &walk->error);
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
    take (walk, &row, FALSE);
  else
    g_array_append_val (walk->bad, row.id);
}

/* Visits the rows above `*last`. Numbers that do not rise mean a wrong page. Returns whether the
 * walk came to the end. */
static gboolean
walk_up (Walk *walk, guint64 *last)
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

static void
walk_all (Walk *walk)
{
  guint64 last = 0;
  while (!walk_up (walk, &last))
    {
      guint64 found = seek_past (walk, last);
      walk_down (walk, found != 0 ? found : (guint64) G_MAXINT64, last);
      if (found == 0)
        return;
      last = found - 1;
    }
}

static gboolean
move_file (const char *from, const char *to, GError **error)
{
  if (g_rename (from, to) == 0 || errno == ENOENT)
    return TRUE;
  return irisd_fail (error, IRISD_ERROR, IRISD_ERROR_FAILED, "cannot rename %s to %s: %s", from, to,
                     g_strerror (errno));
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
  take (walk, row, !g_hash_table_contains (walk->seen, GSIZE_TO_POINTER (row->id)));
}

/* The first one of a name stays: what SQLite reached is newer than what a lost page has. */
static void
copy_record (const IrisdNamedRecord *record, gpointer user_data)
{
  Walk *walk = user_data;
  if (walk->outcome == IRISD_STORE_OK
      && !irisd_sqlite_has_record (walk->copy, record->kind, record->name, record->name_size))
    walk->outcome = irisd_store_put_record (walk->copy, record, &walk->error);
}

/* The new store's tally continues the old one's. */
static IrisdStoreOutcome
finish_copy (const IrisdStore *self, IrisdStore *copy, GError **error)
{
  const IrisdTally *mark = &self->from_mark, *file = &self->from_file;
  copy->next.sequence = MAX (mark->sequence, file->sequence);
  copy->next.n_put = MAX (copy->next.n_put, MAX (mark->n_put, file->n_put));
  copy->next.next_id = MAX (copy->next.next_id, MAX (mark->next_id, file->next_id));
  copy->touched = TRUE;
  return irisd_store_commit (copy, error);
}

/* Fills a new store with the rows of `walk` and the pages. `self` is open, or has only a path. */
static IrisdStoreOutcome
fill_copy (IrisdStore *self, Walk *walk, const char *path, GError **error)
{
  IrisdPagesReport report;
  walk->outcome = irisd_store_begin (walk->copy, error);
  if (walk->outcome != IRISD_STORE_OK)
    return walk->outcome;
  if (self->db != NULL)
    {
      walk_all (walk);
      irisd_sqlite_visit_records (self, copy_record, NULL, walk);
    }
  irisd_pages_scan (path, take_stray, copy_record, walk, &report);
  if (self->from_mark.sequence == 0)
    self->from_mark = report.mark;
  if (self->db == NULL)
    g_array_append_vals (walk->bad, report.bad->data, report.bad->len);
  g_array_unref (report.bad);
  if (walk->outcome == IRISD_STORE_OK)
    walk->outcome = finish_copy (self, walk->copy, &walk->error);
  if (walk->error != NULL)
    g_propagate_error (error, g_steal_pointer (&walk->error));
  return walk->outcome;
}

/* Copies what can be read into a new file, and closes both. */
static IrisdStoreOutcome
make_copy (IrisdStore *self, Walk *walk, const char *path, const char *fresh, GError **error)
{
  g_autofree char *fresh_log = g_strconcat (fresh, "-wal", NULL);
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);
  IrisdStore copy = { .tally_fd = -1 };
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

/* Rebuilds an open store of which @walk met a page that cannot be read; the walk reports the rows
 * that it has not reported yet, above the number @told. On success @self is open again, with all
 * rows that can be read. */
static IrisdStoreOutcome
rebuild (IrisdStore *self, Walk *walk, guint64 told, GError **error)
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

/* Rebuilds an open store of which a page with named records cannot be read. */
IrisdStoreOutcome
irisd_sqlite_rebuild (IrisdStore *self, GError **error)
{
  g_autoptr (GArray) bad = g_array_new (FALSE, FALSE, sizeof (guint64));
  Walk walk = { .store = self, .bad = bad };
  return rebuild (self, &walk, G_MAXUINT64, error);
}

/* Rebuilds the database @path, which SQLite cannot open, from its pages, if anything shows that it
 * was one. Returns whether @self is open now. */
static gboolean
salvage (IrisdStore *self, const char *path, GError **error)
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

/* A row that could not be set aside, on a full disk perhaps, is found again by the next scan. */
static void
set_aside (IrisdStore *self, const GArray *ids)
{
  if (ids->len == 0 || irisd_store_begin (self, NULL) != IRISD_STORE_OK)
    return;
  gboolean good = TRUE;
  for (guint i = 0; i < ids->len && good; i++)
    {
      guint64 id = g_array_index (ids, guint64, i);
      sqlite3_stmt *statement = self->statements[IRISD_SQL_ASIDE];
      sqlite3_bind_int64 (statement, 1, (sqlite3_int64) id);
      good = sqlite3_step (statement) == SQLITE_DONE;
      sqlite3_reset (statement);
      good = good && irisd_store_remove (self, id, NULL) == IRISD_STORE_OK;
    }
  if (!good || irisd_store_commit (self, NULL) != IRISD_STORE_OK)
    irisd_store_rollback (self);
}

/* The tally goes on from the rows found, so that a loss is reported once. On a full disk it is
 * right in memory, and is written with the next transaction. */
static void
take_stock (IrisdStore *self, const Walk *walk)
{
  const IrisdTally *mark = &self->from_mark, *file = &self->from_file;
  guint64 n_rows = walk->found.n_rows + (self->salvaged ? 0 : walk->bad->len);
  guint64 id_sum = walk->found.id_sum;
  for (guint i = 0; i < walk->bad->len && !self->salvaged; i++)
    id_sum += g_array_index (walk->bad, guint64, i);
  gboolean differs = self->tally.n_rows != n_rows || self->tally.id_sum != id_sum
                     || self->tally.sequence == 0 || file->sequence > self->tally.sequence;
  self->tally.n_rows = n_rows;
  self->tally.id_sum = id_sum;
  self->tally.sequence = MAX (self->tally.sequence, MAX (mark->sequence, file->sequence));
  self->tally.n_put = MAX (n_rows, MAX (self->tally.n_put, MAX (mark->n_put, file->n_put)));
  self->tally.next_id = MAX (self->tally.next_id, MAX (mark->next_id, file->next_id));
  if (walk->bad->len > 0 && !self->salvaged)
    set_aside (self, walk->bad);
  else if (differs)
    irisd_sqlite_write_tally (self, NULL);
  irisd_tally_write_file (self->tally_fd, &self->tally);
}

IrisdStoreOutcome
irisd_store_scan (IrisdStore *self,
                  IrisdRowFunc func,
                  gpointer user_data,
                  IrisdStoreDamage *damage,
                  GError **error)
{
  g_autoptr (GArray) bad = g_array_new (FALSE, FALSE, sizeof (guint64));
  Walk walk = { .store = self, .func = func, .user_data = user_data, .bad = bad };
  guint64 last = 0;
  gboolean whole = walk_up (&walk, &last);
  gboolean mark_damaged = self->mark_damaged;
  *damage = (IrisdStoreDamage){ .tail = self->tail_damaged, .gaps = self->salvaged || !whole };
  if (!whole || mark_damaged)
    {
      IrisdStoreOutcome outcome = rebuild (self, &walk, last, error);
      if (outcome != IRISD_STORE_OK)
        return outcome;
    }
  damage->rows = bad->len + self->n_bad;
  damage->mark = mark_damaged || (self->salvaged && self->from_mark.sequence == 0);
  irisd_tally_judge (&self->from_mark, &self->from_file, &walk.found, damage);
  take_stock (self, &walk);
  return IRISD_STORE_OK;
}

/* Whether SQLite's answer means that the file is not what was written. */
static gboolean
seems_damaged (IrisdStore *self)
{
  int rc = self->db != NULL ? sqlite3_errcode (self->db) & 0xff : SQLITE_OK;
  return rc == SQLITE_CORRUPT || rc == SQLITE_NOTADB || rc == SQLITE_ERROR;
}

/* SQLite takes an empty file for a new database, and deletes its log. */
static gboolean
lost_its_head (const char *path)
{
  g_autofree char *log_path = g_strconcat (path, "-wal", NULL);
  struct stat st, log_st;
  return (stat (path, &st) != 0 || st.st_size == 0) && stat (log_path, &log_st) == 0
         && log_st.st_size > 0;
}

static gboolean
open_whole (IrisdStore *self, const char *path, GError **error)
{
  gboolean open = irisd_sqlite_open (self, path, error);
  self->from_mark = self->tally;
  return open;
}

static gboolean
open_or_salvage (IrisdStore *self, const char *path, GError **error)
{
  g_autoptr (GError) why = NULL, local = NULL;
  if (lost_its_head (path))
    return salvage (self, path, &local) || open_whole (self, path, error);
  if (open_whole (self, path, &why))
    return TRUE;
  gboolean damaged = seems_damaged (self) && !self->wrong_make;
  irisd_sqlite_close (self);
  if (damaged && salvage (self, path, &local))
    return TRUE;
  g_propagate_error (error, local != NULL ? g_steal_pointer (&local) : g_steal_pointer (&why));
  return FALSE;
}

/* Opens the store of @dir, a directory for this store alone, or makes one. */
IrisdStore *
irisd_store_open_sqlite (const char *dir, GError **error)
{
  g_autofree char *path = g_build_filename (dir, IRISD_SQLITE_NAME, NULL);
  IrisdStore *self = g_new0 (IrisdStore, 1);
  self->tally_fd = -1;
  irisd_tally_read_file (path, &self->from_file);
  self->tail_damaged = irisd_sqlite_mend_log (path);
  if (open_or_salvage (self, path, error))
    {
      self->tally_fd = irisd_tally_open_file (path);
      return self;
    }
  self->broken = TRUE;
  irisd_store_close (self);
  return NULL;
}

static void
visit_nothing (const IrisdNamedRecord *record, gpointer user_data)
{
}

/* Visits all named records, in the order of kinds and names, with @func (nullable), and sets aside
 * damaged ones, which @n_damaged counts. After irisd_store_scan(), and before the first
 * transaction. A store of which not all can be reached is rebuilt first. */
IrisdStoreOutcome
irisd_store_load_records (IrisdStore *self,
                          IrisdNamedRecordFunc func,
                          gpointer user_data,
                          guint64 *n_damaged,
                          GError **error)
{
  *n_damaged = 0;
  if (!irisd_sqlite_visit_records (self, visit_nothing, NULL, NULL))
    {
      IrisdStoreOutcome outcome = irisd_sqlite_rebuild (self, error);
      if (outcome != IRISD_STORE_OK)
        return outcome;
      *n_damaged = 1; /* at least: what the lost page had is not known */
    }
  *n_damaged += irisd_sqlite_load_records (self, func, user_data);
  return IRISD_STORE_OK;
}
