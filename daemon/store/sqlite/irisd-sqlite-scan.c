/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The scan of an SQLite store at its opening: which rows it has, and how many are missing.
 *
 * Rows are visited in the order of their numbers. Rows whose checksum does not fit go into a table
 * of their own, for a person to look at. If a page cannot be read, all whole rows are copied into a
 * new file (irisd-sqlite-salvage.c). Then the rows are counted and compared with the tally, which
 * says how many there should be.
 */
#include "daemon/store/sqlite/irisd-sqlite-walk.h"

/* A row that could not be set aside, on a full disk perhaps, is found again by the next scan. */
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

/* The tally goes on from the rows found, so that a loss is reported once. On a full disk it is
 * right in memory, and is written with the next transaction. */
static void
take_stock (IrisdSqlite *self, const Walk *walk)
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

static const IrisdTally *
known (const IrisdTally *tally)
{
  return tally->sequence > 0 ? tally : NULL;
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
  guint64 last = 0;
  gboolean whole = irisd_walk_up (&walk, &last);
  gboolean mark_damaged = self->mark_damaged;
  *damage = (IrisdStoreDamage){ .tail = self->tail_damaged, .gaps = self->salvaged || !whole };
  if (!whole || mark_damaged)
    {
      IrisdStoreOutcome outcome = irisd_sqlite_rebuild (self, &walk, last, error);
      if (outcome != IRISD_STORE_OK)
        return outcome;
    }
  damage->rows = bad->len + self->n_bad;
  damage->mark = mark_damaged || (self->salvaged && self->from_mark.sequence == 0);
  irisd_tally_judge (known (&self->from_mark), known (&self->from_file), &walk.found, damage);
  take_stock (self, &walk);
  return IRISD_STORE_OK;
}
