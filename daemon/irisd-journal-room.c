/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * How many items the journal may keep, and how many it has or will have.
 *
 * Gateways judge an item before the journal counts it, so they count it ahead: reserved by the
 * gateway, released by the journal's thread once it has the item or has refused it. The counters
 * are relaxed: each is a sum that nothing else depends on.
 */
#include "irisd-journal-private.h"

/**
 * irisd_journal_reserve:
 * @self: the journal
 * @slip: KEEP or DONE, which was not posted yet
 *
 * Counts one more item of the slip's, until the journal has it or has refused it.
 */
void
irisd_journal_reserve (IrisdJournal *self, IrisdSlip *slip)
{
  slip->n_reserved++;
  atomic_fetch_add_explicit (&self->n_reserved, 1, memory_order_relaxed);
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
  guint64 cancelled = atomic_load_explicit (&self->n_cancelled, memory_order_relaxed);
  guint64 kept = irisd_journal_get_n_kept (self);
  return kept - MIN (kept, cancelled)
         + atomic_load_explicit (&self->n_reserved, memory_order_relaxed);
}

/**
 * irisd_journal_release:
 * @self: the journal
 * @n: items that were reserved
 *
 * Takes back irisd_journal_reserve(), when the items count among the kept, or were refused. In
 * between they may count twice, which keeps an item out for a moment; not at all would let in too
 * many.
 */
void
irisd_journal_release (IrisdJournal *self, guint n)
{
  atomic_fetch_sub_explicit (&self->n_reserved, n, memory_order_relaxed);
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
  return self->table.n_items - self->table.n_cancelled < self->limits->kept_items;
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
  IrisdKept *cancelled;
  while (self->table.n_items > self->limits->kept_items
         && (cancelled = irisd_kept_table_get_cancelled (&self->table)) != NULL)
    irisd_journal_discard (self, cancelled);
}
