/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * How many items the journal may keep, and how many it has or will have.
 *
 * Gateways judge an item before the journal has it, so they count it ahead: `n_taken` is what is
 * kept, but for cancelled items, and what was reserved and is on the way. What was reserved becomes
 * kept without a change of it, so at each moment it is exact, and a client that was told that its
 * item is accepted finds what it would have found later. It is relaxed: a sum that nothing else
 * depends on.
 */
#include "daemon/store/irisd-journal-private.h"

/**
 * irisd_journal_reserve:
 * @self: the journal
 * @request: KEEP or DONE, which was not posted yet
 *
 * Counts one more item of the journal request's, until the journal has refused it or lets go of it.
 */
void
irisd_journal_reserve (IrisdJournal *self, IrisdJournalRequest *request)
{
  request->n_reserved++;
  atomic_fetch_add_explicit (&self->n_taken, 1, memory_order_relaxed);
}

/**
 * irisd_journal_get_n_taken:
 * @self: the journal
 *
 * Returns: how many items are kept and do not give way to others, those that are on their way
 *   among them
 */
guint64
irisd_journal_get_n_taken (IrisdJournal *self)
{
  return atomic_load_explicit (&self->n_taken, memory_order_relaxed);
}

/**
 * irisd_journal_release:
 * @self: the journal
 *
 * Takes back what was reserved of the journal request that is handled, and is not kept.
 */
void
irisd_journal_release (IrisdJournal *self)
{
  atomic_fetch_sub_explicit (&self->n_taken, self->n_releasing, memory_order_relaxed);
  self->n_releasing = 0;
}

/**
 * irisd_journal_count:
 * @self: the journal, whose table has changed
 *
 * Tells other threads how many items there are.
 */
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

/**
 * irisd_journal_has_room:
 * @self: the journal
 *
 * Returns: whether an item more may be kept. For the journal's thread
 */
gboolean
irisd_journal_has_room (IrisdJournal *self)
{
  return self->table.n_items - self->table.n_cancelled < self->limits->persistent_items;
}

/**
 * irisd_journal_make_room:
 * @self: the journal
 *
 * Forgets ends of cancelled items, which have no result, as long as more is kept than may be.
 */
void
irisd_journal_make_room (IrisdJournal *self)
{
  IrisdPersistentItem *cancelled;
  while (self->table.n_items > self->limits->persistent_items
         && (cancelled = irisd_persistent_table_get_cancelled (&self->table)) != NULL)
    irisd_journal_discard (self, cancelled);
}
