/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * How many items the journal may hold, and how many it holds or has promised to hold.
 *
 * A gateway accepts an item before the journal has it, so it counts the item ahead: `n_taken` is
 * the number of items held, except cancelled ones, and of items reserved and on their way. It does
 * not change when a reserved item arrives, so it is exact at each moment, and an acceptance needs
 * no answer of the journal. It is relaxed: nothing else depends on the sum.
 */
#include "daemon/store/irisd-journal-private.h"

/* Counts one more item of @request, KEEP or DONE and not posted yet, until the journal has refused
 * or removed it. */
void
irisd_journal_reserve (IrisdJournal *self, IrisdJournalRequest *request)
{
  request->n_reserved++;
  atomic_fetch_add_explicit (&self->n_taken, 1, memory_order_relaxed);
}

/* Returns how many items are held and do not give way to others, with those on their way. */
guint64
irisd_journal_get_n_taken (IrisdJournal *self)
{
  return atomic_load_explicit (&self->n_taken, memory_order_relaxed);
}

/* Takes back what the current journal request had reserved and does not use. */
void
irisd_journal_release (IrisdJournal *self)
{
  atomic_fetch_sub_explicit (&self->n_taken, self->n_releasing, memory_order_relaxed);
  self->n_releasing = 0;
}

/* Publishes the number of items for other threads, after a change of the table. */
void
irisd_journal_count (IrisdJournal *self)
{
  guint n = self->table.n_items - self->table.n_cancelled;
  guint reserved = n > self->n_counted ? MIN (n - self->n_counted, self->n_releasing) : 0;
  gint64 change = (gint64) n - self->n_counted - reserved;
  self->n_counted = n;
  self->n_releasing -= reserved;
  if (change != 0)
    atomic_fetch_add_explicit (&self->n_taken, (guint64) change, memory_order_relaxed);
  atomic_store_explicit (&self->n_persistent, self->table.n_items, memory_order_relaxed);
  atomic_store_explicit (&self->n_persistent_ended, self->table.n_ended, memory_order_relaxed);
}

/* Returns whether one more item may be held. For the journal's thread. */
gboolean
irisd_journal_has_room (IrisdJournal *self)
{
  return self->table.n_items - self->table.n_cancelled < self->limits->persistent_items;
}

/* Removes cancelled items, which have no result, while more items are held than the limit. */
void
irisd_journal_make_room (IrisdJournal *self)
{
  IrisdPersistentItem *cancelled;
  while (self->table.n_items > self->limits->persistent_items
         && (cancelled = irisd_persistent_table_get_cancelled (&self->table)) != NULL)
    irisd_journal_discard (self, cancelled);
}
