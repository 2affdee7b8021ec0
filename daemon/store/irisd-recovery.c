/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Recovery: the journal's items when irisd starts, ends to be fetched and items to be run again.
 *
 * It is finished before other threads start.
 */
#include "daemon/store/irisd-journal-private.h"

#include "daemon/base/irisd-log.h"

typedef struct
{
  IrisdJournal *journal;
  IrisdRunAgainFunc run_again;
  gpointer user_data;
  guint64 n_unreadable;
  guint64 n_again;
  guint64 n_buried;
  guint64 n_running; /* when irisd crashed */
  guint64 n_poison;  /* of those: buried now */
} Recovery;

/* A row that is whole and makes no sense comes from another version. */
static gboolean
is_sensible (const IrisdRecord *record)
{
  gboolean ended = record->state >= IRIS_WIRE_STATE_DONE
                   && record->state <= IRIS_WIRE_STATE_CANCELLED;
  return record->item != 0
         && (ended ? record->type == IRIS_WIRE_RESULT || record->type == IRIS_WIRE_ERROR_REPLY
                   : record->type == IRIS_WIRE_SUBMIT
                         && (record->state == IRIS_WIRE_STATE_QUEUED
                             || record->state == IRIS_WIRE_STATE_SUSPENDED
                             || record->state == IRIS_WIRE_STATE_BURIED));
}

/* Why an item that ran when irisd crashed is not run again; NULL if it is. */
static char *
explain_burial (const IrisdPersistentItem *persistent, pid_t stuck, guint64 max_crashes)
{
  if (stuck != 0)
    return g_strdup_printf ("processes of group %ld are left of it from before irisd crashed, and "
                            "do not end: end them",
                            (long) stuck);
  if (max_crashes == 0 || persistent->crashes < max_crashes)
    return NULL;
  return g_strdup_printf ("irisd crashed %u times while this item ran, which is the limit "
                          "max-crashes; see the log for the reason",
                          persistent->crashes);
}

/* Counts the crash for an item that ran then. The count is written before anything runs, so that an
 * item that ends irisd at once is counted. */
static void
count_crash (Recovery *recovery, IrisdRecord *record, IrisdPersistentItem *persistent)
{
  IrisdJournal *self = recovery->journal;
  pid_t stuck = 0;
  if (self->find_run == NULL || !self->find_run (record->item, &stuck, self->find_run_data)
      || record->state == IRIS_WIRE_STATE_BURIED)
    return;
  persistent->crashes++;
  recovery->n_running++;
  g_autofree char *reason = explain_burial (persistent, stuck, self->limits->max_crashes);
  if (reason != NULL)
    {
      recovery->n_poison++;
      irisd_persistent_item_set_reason (persistent, IRIS_WIRE_ERROR_SERVICE_FAILED, reason);
      record->state = IRIS_WIRE_STATE_BURIED;
      irisd_persistent_item_advance (persistent, IRISD_EVENT_BURY);
      const IrisdLogSubject subject = { .item = record->item, .service = persistent->service };
      irisd_log_about (&subject, IRISD_LOG_ERROR, "item %" G_GUINT64_FORMAT " (%s) is buried: %s",
                       record->item, persistent->service, reason);
    }
  irisd_persistent_item_set_row (persistent, record->state, record->type, record->header,
                                 record->body);
  irisd_journal_mark_dirty (self, persistent);
}

static void
take_row (const IrisdRow *row, gpointer user_data)
{
  Recovery *recovery = user_data;
  IrisdJournal *self = recovery->journal;
  IrisdRecord record;
  if (!irisd_record_unpack (&record, row) || !is_sensible (&record)
      || irisd_persistent_table_lookup (&self->table, record.item) != NULL)
    {
      recovery->n_unreadable++;
      return;
    }
  IrisdPersistentItem *persistent = irisd_persistent_item_new (
      &record, TAILQ_LAST (&self->table.all, _IrisdPersistentItems));
  persistent->written = TRUE;
  irisd_persistent_table_add (&self->table, persistent);
  if (irisd_persistent_item_has_ended (persistent))
    return;
  count_crash (recovery, &record, persistent);
  if (record.state == IRIS_WIRE_STATE_BURIED)
    {
      recovery->n_buried++;
      irisd_count (&self->counters.buried, 1);
    }
  else
    {
      recovery->n_again++;
      /* Clients may ask before the gateway of its place, which lets it wait, has begun. */
      if (record.state == IRIS_WIRE_STATE_QUEUED && record.due_ms > irisd_unix_ms ())
        irisd_persistent_item_set_state (persistent, IRIS_WIRE_STATE_DELAYED);
    }
  recovery->run_again (&record, persistent, recovery->user_data);
}

static void
report (IrisdJournal *self, const Recovery *recovery, const IrisdStoreDamage *damage)
{
  if (self->table.n_items > 0)
    irisd_log (IRISD_LOG_INFO,
               "the journal holds %u items: %" G_GUINT64_FORMAT " run again, %" G_GUINT64_FORMAT
               " are buried, %u have ended and can be fetched",
               self->table.n_items, recovery->n_again, recovery->n_buried, self->table.n_ended);
  if (recovery->n_running > 0)
    irisd_log (IRISD_LOG_WARNING,
               "%" G_GUINT64_FORMAT " items were running when irisd crashed; %" G_GUINT64_FORMAT
               " of them are buried, the others run again",
               recovery->n_running, recovery->n_poison);
  g_autofree char *reason = irisd_store_describe_damage (damage, recovery->n_unreadable, TRUE);
  if (reason != NULL)
    irisd_log (IRISD_LOG_ERROR, "%s; the rest is served", reason);
}

/* @attempts are the items that ran when irisd crashed, or NULL; only irisd_journal_recover() uses
 * them. */
void
irisd_journal_blame (IrisdJournal *self, IrisdFindRunFunc find_run, gpointer user_data)
{
  self->find_run = find_run;
  self->find_run_data = user_data;
}

static gboolean
is_in_table (guint64 item, gpointer user_data)
{
  IrisdJournal *self = user_data;
  return irisd_persistent_table_lookup (&self->table, item) != NULL;
}

/* Reads the store and calls @run_again for each item that has not ended. Returns whether it could
 * be read; a damaged one can. */
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
  irisd_journal_count (self);
  atomic_store_explicit (&self->n_damaged, irisd_store_count_lost (&damage) + recovery.n_unreadable,
                         memory_order_relaxed);
  report (self, &recovery, &damage);
  irisd_outputs_retain (self->outputs, is_in_table, self);
  if (self->n_dirty > 0)
    irisd_journal_commit (self);
  return TRUE;
}
