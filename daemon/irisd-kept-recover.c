/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the journal finds when irisd starts: ends to be fetched, and items to be run again.
 *
 * All of it happens before any other thread is there.
 */
#include "irisd-journal-private.h"

#include "irisd-log.h"

typedef struct
{
  IrisdJournal *journal;
  IrisdRunAgainFunc run_again;
  gpointer user_data;
  guint64 n_unreadable;
  guint64 n_again;
  guint64 n_buried;
} Recovery;

/* A row that is whole and says nothing that makes sense can only be of another make. */
static gboolean
is_sensible (const IrisdRecord *record)
{
  gboolean ended = record->state >= IRIS_WIRE_STATE_DONE
                   && record->state <= IRIS_WIRE_STATE_CANCELLED;
  return record->item != 0
         && (ended ? record->type == IRIS_WIRE_RESULT || record->type == IRIS_WIRE_ERROR_REPLY
                   : record->type == IRIS_WIRE_SUBMIT
                         && (record->state == IRIS_WIRE_STATE_QUEUED
                             || record->state == IRIS_WIRE_STATE_BURIED));
}

static void
take_row (const IrisdRow *row, gpointer user_data)
{
  Recovery *recovery = user_data;
  IrisdJournal *self = recovery->journal;
  IrisdRecord record;
  if (!irisd_record_unpack (&record, row) || !is_sensible (&record)
      || irisd_kept_table_lookup (&self->table, record.item) != NULL)
    {
      recovery->n_unreadable++;
      return;
    }
  IrisdKept *kept = irisd_kept_new (&record, self->table.last);
  kept->written = TRUE;
  irisd_kept_table_add (&self->table, kept);
  if (irisd_kept_has_ended (kept))
    return;
  if (record.state == IRIS_WIRE_STATE_BURIED)
    recovery->n_buried++;
  else
    recovery->n_again++;
  recovery->run_again (&record, kept, recovery->user_data);
}

static void
report (IrisdJournal *self, const Recovery *recovery, const IrisdStoreDamage *damage)
{
  if (self->table.n_items > 0)
    irisd_log (IRISD_LOG_INFO,
               "the journal holds %u items: %" G_GUINT64_FORMAT " run again, %" G_GUINT64_FORMAT
               " are buried, %u have ended and can be fetched",
               self->table.n_items, recovery->n_again, recovery->n_buried, self->table.n_ended);
  g_autofree char *sentence = irisd_store_describe_damage (damage, recovery->n_unreadable, TRUE);
  if (sentence != NULL)
    irisd_log (IRISD_LOG_ERROR, "%s; the rest is served", sentence);
}

/**
 * irisd_journal_recover:
 * @self: a journal that was not started
 * @run_again: (scope call): called for each item that has not ended
 * @user_data: for @run_again
 * @error: return location for a #GError
 *
 * Reads the store.
 *
 * Returns: whether it could be read; a damaged one can
 */
gboolean
irisd_journal_recover (IrisdJournal *self,
                       IrisdRunAgainFunc run_again,
                       gpointer user_data,
                       GError **error)
{
  Recovery recovery = { .journal = self, .run_again = run_again, .user_data = user_data };
  IrisdStoreDamage damage = { 0 };
  if (irisd_store_scan (self->store, take_row, &recovery, &damage, error) != IRISD_STORE_OK)
    return FALSE;
  atomic_store_explicit (&self->n_kept, self->table.n_items, memory_order_relaxed);
  atomic_store_explicit (&self->n_kept_ended, self->table.n_ended, memory_order_relaxed);
  atomic_store_explicit (&self->n_damaged, irisd_store_count_lost (&damage) + recovery.n_unreadable,
                         memory_order_relaxed);
  report (self, &recovery, &damage);
  return TRUE;
}
