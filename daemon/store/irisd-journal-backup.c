/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Backup of the journal while irisd runs.
 *
 * The journal's thread copies the store some pages at a time, between transactions, so no item
 * waits for longer than a step takes. A thread of its own then reads the copy as --check-journal
 * does: the client has its answer when the copy is on the disk and was found whole. There is one
 * backup at a time.
 */
#include "daemon/store/irisd-journal-private.h"

#include "daemon/base/irisd-log.h"

static void
answer (IrisdJournal *self, IrisdJournalRequest *request, IrisWireError code, const char *why)
{
  if (why != NULL)
    request->error = g_error_new_literal (IRIS_WIRE_ERROR, (gint) code, why);
  /* What follows needs nothing of this backup. */
  atomic_store_explicit (&self->backing_up, FALSE, memory_order_release);
  irisd_journal_answer (self, request);
}

static gpointer
verify (gpointer data)
{
  IrisdJournal *self = data;
  IrisdJournalRequest *request = g_steal_pointer (&self->backup);
  g_autoptr (GError) error = NULL;
  g_autofree char *report = NULL;
  gboolean whole = irisd_store_check (request->reason, &report, &error);
  if (!whole)
    irisd_log (IRISD_LOG_ERROR, "the backup %s is not whole: %s", request->reason,
               error != NULL ? error->message : report);
  answer (self, request, IRIS_WIRE_ERROR_JOURNAL_FAILED,
          whole           ? NULL
          : error != NULL ? error->message
                          : "the copy is not whole; check the disk, and see irisd's log");
  return NULL;
}

/* Takes @request, BACKUP, and answers it when the copy is there. */
void
irisd_journal_begin_backup (IrisdJournal *self, IrisdJournalRequest *request)
{
  g_autoptr (GError) error = NULL;
  if (atomic_load_explicit (&self->backing_up, memory_order_acquire))
    {
      request->error = g_error_new_literal (IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BAD_ARGUMENT,
                                            "another backup is being made; ask again when that is "
                                            "done");
      irisd_journal_answer (self, request);
      return;
    }
  irisd_journal_join_backup (self);
  self->copy = irisd_store_copy_begin (self->store, request->reason, &error);
  if (self->copy == NULL)
    {
      request->error = g_error_new_literal (IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BAD_ARGUMENT,
                                            error->message);
      irisd_journal_answer (self, request);
      return;
    }
  self->backup = request;
  atomic_store_explicit (&self->backing_up, TRUE, memory_order_relaxed);
}

/* Copies some more of the journal. Returns whether there is more to copy. */
gboolean
irisd_journal_go_on_with_backup (IrisdJournal *self, gboolean stopping)
{
  g_autoptr (GError) error = NULL;
  gboolean done = FALSE;
  if (self->copy == NULL)
    return FALSE;
  if (!stopping && irisd_store_copy_step (self->copy, &done, &error) && !done)
    return TRUE;
  if (done)
    self->backup->count = (guint32) irisd_store_copy_get_n_rows (self->copy);
  g_clear_pointer (&self->copy, irisd_store_copy_free);
  if (done)
    self->backup_thread = g_thread_new ("irisd-backup", verify, self);
  else
    answer (self, g_steal_pointer (&self->backup),
            stopping ? IRIS_WIRE_ERROR_SHUTTING_DOWN : IRIS_WIRE_ERROR_JOURNAL_FAILED,
            stopping ? "irisd was stopped before the backup was made" : error->message);
  return FALSE;
}

void
irisd_journal_join_backup (IrisdJournal *self)
{
  if (self->backup_thread != NULL)
    g_thread_join (g_steal_pointer (&self->backup_thread));
}
