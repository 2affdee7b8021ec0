/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The journal's named records: what irisd remembers other than items, such as its schedules.
 *
 * The journal does not hold them: they are given out once, at the start. A change is listed, and
 * written in the next transaction. A change that comes with an item, as part of KEEP, is in the
 * transaction of the item, so that both survive or neither.
 *
 * On a full disk a record that would be put is refused, as a new item is; removals are written.
 */
#include "daemon/store/irisd-journal-private.h"

static void
unlist (IrisdJournal *self, IrisdRecordChange *change)
{
  TAILQ_REMOVE (&self->changes, change, next);
  change->listed = FALSE;
  self->n_changes--;
  irisd_record_change_unref (change);
}

/* Takes @change, which is to be written with the next transaction. */
void
irisd_journal_add_change (IrisdJournal *self, IrisdRecordChange *change)
{
  if (irisd_journal_get_health (self) == IRISD_JOURNAL_FAILED)
    {
      irisd_record_change_unref (change);
      return;
    }
  TAILQ_INSERT_TAIL (&self->changes, change, next);
  change->listed = TRUE;
  self->n_changes++;
  irisd_journal_commit_for (self, g_get_monotonic_time ());
}

/* The change of @request, if it has one, is to be written with the next transaction. */
void
irisd_journal_list_change (IrisdJournal *self, IrisdJournalRequest *request)
{
  if (request->change != NULL)
    irisd_journal_add_change (self, g_atomic_rc_box_acquire (request->change));
}

/* The disk is full: what is kept behind the ends of items is left out. */
void
irisd_journal_drop_submissions (IrisdJournal *self)
{
  IrisdRecordChange *next;
  for (IrisdRecordChange *change = TAILQ_FIRST (&self->changes); change != NULL; change = next)
    {
      next = TAILQ_NEXT (change, next);
      if (change->kind == IRISD_RECORD_SUBMISSION && !change->removes)
        unlist (self, change);
    }
}

/* The change of @request will not be written. */
void
irisd_journal_drop_change (IrisdJournal *self, IrisdJournalRequest *request)
{
  if (request->change != NULL && request->change->listed)
    unlist (self, request->change);
}

/* They were written, or never will be. */
void
irisd_journal_clear_changes (IrisdJournal *self)
{
  while (!TAILQ_EMPTY (&self->changes))
    unlist (self, TAILQ_FIRST (&self->changes));
}

/* Writes all changes, as part of a transaction. */
IrisdStoreOutcome
irisd_journal_write_changes (IrisdJournal *self, GError **error)
{
  IrisdStoreOutcome outcome = IRISD_STORE_OK;
  IrisdRecordChange *change;
  TAILQ_FOREACH (change, &self->changes, next)
  {
    const IrisdNamedRecord record = { change->kind, change->name.data, change->name.size,
                                      change->body.data, change->body.size };
    outcome = change->removes ? irisd_store_remove_record (self->store, &record, error)
                              : irisd_store_put_record (self->store, &record, error);
    if (outcome != IRISD_STORE_OK)
      return outcome;
    self->n_rows++;
    self->n_bytes += record.name_size + record.body_size;
  }
  return outcome;
}
