/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The journal's part in burying and kicking.
 *
 * The row of a buried item is the one written at its acceptance, with another state and the reason.
 * It is read first, from the store or from the rows not written yet, and written again; that costs
 * a copy of the payload, once for each burial and each kick.
 */
#include "daemon/store/irisd-journal-private.h"

/* Writes again what a journal request has read. */
static void
write_again (IrisdJournal *self,
             IrisdPersistentItem *persistent,
             IrisdJournalRequest *read,
             IrisWireState state)
{
  irisd_persistent_item_set_row (
      persistent, state, read->type, (IrisWireFrame){ read->header.data, read->header.size },
      (IrisWireFrame){ zmq_msg_data (&read->body), zmq_msg_size (&read->body) });
  if (irisd_journal_get_health (self) != IRISD_JOURNAL_FAILED)
    irisd_journal_mark_dirty (self, persistent);
}

void
irisd_journal_bury (IrisdJournal *self, IrisdJournalRequest *request)
{
  IrisdPersistentItem *persistent = request->persistent;
  gboolean durable = persistent->klass == IRIS_WIRE_CLASS_DURABLE;
  if (durable && irisd_journal_get_health (self) == IRISD_JOURNAL_FAILED)
    request->error = g_error_new (IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_JOURNAL_FAILED,
                                  "cannot write that the item is buried, so it runs again when "
                                  "irisd is started again: %s",
                                  irisd_journal_get_reason (self));
  else if (irisd_journal_read_row (self, persistent, request))
    {
      persistent->attempts = request->count;
      irisd_persistent_item_set_reason (persistent, request->code, request->reason);
      write_again (self, persistent, request, IRIS_WIRE_STATE_BURIED);
      if (durable)
        {
          irisd_journal_attend (self, request);
          return;
        }
    }
  irisd_journal_settle (self, request);
}

/* Takes @request, a BURY whose transaction is committed or failed. From now on the item counts as
 * buried. */
void
irisd_journal_settle_bury (IrisdJournal *self, IrisdJournalRequest *request)
{
  if (request->error == NULL)
    {
      irisd_persistent_item_advance (request->persistent, IRISD_EVENT_BURY);
      irisd_journal_wake_waits (self, request->persistent);
      return;
    }
  irisd_persistent_item_set_state (request->persistent, IRIS_WIRE_STATE_QUEUED);
  irisd_persistent_item_set_reason (request->persistent, 0, NULL);
}

/* Takes @request, RETRY. Writes soon how often the item has failed and until when it pauses. After
 * a crash before that the item is tried once more, which does no harm. */
void
irisd_journal_retry (IrisdJournal *self, IrisdJournalRequest *request)
{
  IrisdPersistentItem *persistent = request->persistent;
  persistent->attempts = request->count;
  persistent->crashes = 0;
  persistent->due_ms = request->due_ms;
  if (irisd_journal_get_health (self) != IRISD_JOURNAL_FAILED
      && irisd_journal_read_row (self, persistent, request))
    write_again (self, persistent, request, IRIS_WIRE_STATE_QUEUED);
  irisd_journal_request_free (request);
}

/* Sends a buried item to the requesting gateway, to be run. */
static gboolean
unearth (IrisdJournal *self, IrisdPersistentItem *persistent, IrisdJournalRequest *asked)
{
  IrisdJournalRequest *request = irisd_journal_request_new (IRISD_JOURNAL_REQUEST_RECOVERED,
                                                            asked->home);
  request->item = persistent->item;
  request->persistent = persistent;
  if (!irisd_journal_read_row (self, persistent, request))
    {
      g_clear_error (&asked->error);
      asked->error = g_steal_pointer (&request->error);
      irisd_journal_request_free (request);
      return FALSE;
    }
  persistent->attempts = persistent->crashes = 0;
  persistent->due_ms = 0;
  irisd_persistent_item_set_reason (persistent, 0, NULL);
  irisd_persistent_item_advance (persistent, IRISD_EVENT_KICK);
  write_again (self, persistent, request, IRIS_WIRE_STATE_QUEUED);
  irisd_journal_answer (self, request);
  return TRUE;
}

static guint
unearth_some (IrisdJournal *self, IrisdJournalRequest *request)
{
  guint n = 0;
  IrisdPersistentItem *persistent = irisd_persistent_table_get_first (&self->table, request->view,
                                                                      FALSE);
  for (; persistent != NULL && n < request->count;
       persistent = irisd_persistent_item_get_next (persistent, request->view, FALSE))
    if (irisd_persistent_item_get_state (persistent) == IRIS_WIRE_STATE_BURIED)
      n += (guint) unearth (self, persistent, request);
  if (n > 0)
    g_clear_error (&request->error);
  return n;
}

/* Takes @request, KICK. Changes are on the disk before it is answered. The answer for an item that
 * is not buried gives its state and is `pending`: the gateway may find the item itself. */
void
irisd_journal_kick (IrisdJournal *self, IrisdJournalRequest *request)
{
  IrisdPersistentItem *persistent = request->item != 0
                                        ? irisd_journal_look_up (self, request->item, request->view)
                                        : NULL;
  guint n = 0;
  if (request->item != 0
      && (persistent == NULL
          || irisd_persistent_item_get_state (persistent) != IRIS_WIRE_STATE_BURIED))
    {
      irisd_journal_look_where (self, request);
      return;
    }
  if (irisd_journal_get_health (self) == IRISD_JOURNAL_FAILED)
    request->error = g_error_new (IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_JOURNAL_FAILED,
                                  "cannot kick items: %s", irisd_journal_get_reason (self));
  else
    n = persistent != NULL ? (guint) unearth (self, persistent, request)
                           : unearth_some (self, request);
  request->count = n;
  if (n > 0)
    irisd_journal_attend (self, request);
  else
    irisd_journal_answer (self, request);
}

/* Takes @request, CANCEL, with the end to be written. The answer for an item that is not buried
 * gives its state and is `pending`. */
void
irisd_journal_cancel_buried (IrisdJournal *self, IrisdJournalRequest *request)
{
  IrisdPersistentItem *persistent = irisd_journal_look_up (self, request->item, request->view);
  if (persistent == NULL || irisd_persistent_item_get_state (persistent) != IRIS_WIRE_STATE_BURIED)
    {
      irisd_journal_look_where (self, request);
      return;
    }
  persistent->ended_ms = irisd_unix_ms ();
  irisd_persistent_item_set_reason (persistent, 0, NULL);
  irisd_persistent_item_set_row (persistent, IRIS_WIRE_STATE_CANCELLED, request->type,
                                 (IrisWireFrame){ request->header.data, request->header.size },
                                 (IrisWireFrame){ 0 });
  irisd_persistent_item_advance (persistent, IRISD_EVENT_WRITE_END);
  irisd_journal_apply_end (self, persistent, IRIS_WIRE_STATE_CANCELLED);
  irisd_journal_wake_waits (self, persistent);
  if (irisd_journal_get_health (self) != IRISD_JOURNAL_FAILED)
    irisd_journal_mark_dirty (self, persistent);
  if (persistent->klass == IRIS_WIRE_CLASS_DURABLE
      && irisd_journal_get_health (self) != IRISD_JOURNAL_FAILED)
    irisd_journal_attend (self, request);
  else
    irisd_journal_answer (self, request);
}

/* Takes @request, KICK, CANCEL or BURY_ITEM of one item, and answers with its state. */
void
irisd_journal_look_where (IrisdJournal *self, IrisdJournalRequest *request)
{
  IrisdPersistentItem *persistent = irisd_journal_look_up (self, request->item, request->view);
  if (persistent == NULL)
    request->error = irisd_journal_no_such_item (request->item);
  else
    request->state = (guint32) irisd_persistent_item_get_state (persistent);
  request->pending = persistent != NULL;
  irisd_journal_answer (self, request);
}
