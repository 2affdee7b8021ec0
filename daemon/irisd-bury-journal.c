/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The journal's part in burying and kicking.
 *
 * The row of a buried item is the one that was written when it was accepted, with another state and
 * the reason. To write it again it is read first, from the store or from what waits to be written;
 * that costs a copy of the payload, once for each burial and each kick.
 */
#include "irisd-journal-private.h"

/* Sets what is to be written to what was read into a slip. */
static void
write_again (IrisdJournal *self, IrisdKept *kept, IrisdSlip *read, IrisWireState state)
{
  irisd_kept_set_row (kept, state, read->type,
                      (IrisWireFrame){ read->header.data, read->header.size },
                      (IrisWireFrame){ zmq_msg_data (&read->body), zmq_msg_size (&read->body) });
  if (irisd_journal_get_health (self) != IRISD_JOURNAL_FAILED)
    irisd_journal_mark_dirty (self, kept);
}

/**
 * irisd_journal_bury:
 * @self: the journal
 * @slip: (transfer full): BURY
 */
void
irisd_journal_bury (IrisdJournal *self, IrisdSlip *slip)
{
  IrisdKept *kept = slip->kept;
  gboolean durable = kept->klass == IRIS_WIRE_CLASS_DURABLE;
  if (durable && irisd_journal_get_health (self) == IRISD_JOURNAL_FAILED)
    slip->error = g_error_new (
        IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_JOURNAL_FAILED,
        "that the item is buried could not be written, so it runs again when "
        "irisd is started again: %s",
        irisd_journal_get_sentence (self));
  else if (irisd_journal_read_row (self, kept, slip))
    {
      kept->attempts = slip->count;
      irisd_kept_set_reason (kept, slip->code, slip->sentence);
      write_again (self, kept, slip, IRIS_WIRE_STATE_BURIED);
      if (durable)
        {
          irisd_journal_attend (self, slip);
          return;
        }
    }
  irisd_journal_settle (self, slip);
}

/**
 * irisd_journal_settle_bury:
 * @self: the journal
 * @slip: BURY, whose transaction is through, or failed
 *
 * From now on the item is buried for whoever asks.
 */
void
irisd_journal_settle_bury (IrisdJournal *self, IrisdSlip *slip)
{
  if (slip->error == NULL)
    {
      irisd_kept_set_state (slip->kept, IRIS_WIRE_STATE_BURIED);
      irisd_journal_wake_waits (self, slip->kept);
      return;
    }
  irisd_kept_set_state (slip->kept, IRIS_WIRE_STATE_QUEUED);
  irisd_kept_set_reason (slip->kept, 0, NULL);
}

/**
 * irisd_journal_retry:
 * @self: the journal
 * @slip: (transfer full): RETRY
 *
 * Writes down how often an item has failed and until when it pauses, soon: should irisd crash
 * before, the item is tried once more than it would have been, which is no harm.
 */
void
irisd_journal_retry (IrisdJournal *self, IrisdSlip *slip)
{
  IrisdKept *kept = slip->kept;
  kept->attempts = slip->count;
  kept->crashes = 0;
  kept->due_ms = slip->due_ms;
  if (irisd_journal_get_health (self) != IRISD_JOURNAL_FAILED
      && irisd_journal_read_row (self, kept, slip))
    write_again (self, kept, slip, IRIS_WIRE_STATE_QUEUED);
  irisd_slip_free (slip);
}

/* Sends a buried item to the gateway that asks, to be run. */
static gboolean
unearth (IrisdJournal *self, IrisdKept *kept, IrisdSlip *asked)
{
  IrisdSlip *slip = irisd_slip_new (IRISD_SLIP_RECOVERED, asked->home);
  slip->item = kept->item;
  slip->kept = kept;
  if (!irisd_journal_read_row (self, kept, slip))
    {
      g_clear_error (&asked->error);
      asked->error = g_steal_pointer (&slip->error);
      irisd_slip_free (slip);
      return FALSE;
    }
  kept->attempts = kept->crashes = 0;
  kept->due_ms = 0;
  irisd_kept_set_reason (kept, 0, NULL);
  irisd_kept_set_state (kept, IRIS_WIRE_STATE_QUEUED);
  write_again (self, kept, slip, IRIS_WIRE_STATE_QUEUED);
  irisd_journal_answer (self, slip);
  return TRUE;
}

static guint
unearth_some (IrisdJournal *self, IrisdSlip *slip)
{
  guint n = 0;
  IrisdKept *kept = irisd_kept_table_get_first (&self->table, slip->view, FALSE);
  for (; kept != NULL && n < slip->count; kept = irisd_kept_get_next (kept, slip->view, FALSE))
    if (irisd_kept_get_state (kept) == IRIS_WIRE_STATE_BURIED)
      n += (guint) unearth (self, kept, slip);
  if (n > 0)
    g_clear_error (&slip->error);
  return n;
}

/**
 * irisd_journal_kick:
 * @self: the journal
 * @slip: (transfer full): KICK
 *
 * What was changed is on the disk before it is told. An item that is not buried is told with its
 * state, as pending: its gateway can do something about it.
 */
void
irisd_journal_kick (IrisdJournal *self, IrisdSlip *slip)
{
  IrisdKept *kept = slip->item != 0 ? irisd_journal_look_up (self, slip->item, slip->view) : NULL;
  guint n = 0;
  if (slip->item != 0 && (kept == NULL || irisd_kept_get_state (kept) != IRIS_WIRE_STATE_BURIED))
    {
      irisd_journal_look_where (self, slip);
      return;
    }
  if (irisd_journal_get_health (self) == IRISD_JOURNAL_FAILED)
    slip->error = g_error_new (IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_JOURNAL_FAILED,
                               "nothing was kicked: %s", irisd_journal_get_sentence (self));
  else
    n = kept != NULL ? (guint) unearth (self, kept, slip) : unearth_some (self, slip);
  slip->count = n;
  if (n > 0)
    irisd_journal_attend (self, slip);
  else
    irisd_journal_answer (self, slip);
}

/**
 * irisd_journal_cancel_buried:
 * @self: the journal
 * @slip: (transfer full): CANCEL, with the end that is to be written
 *
 * An item that is not buried is told with its state, as pending.
 */
void
irisd_journal_cancel_buried (IrisdJournal *self, IrisdSlip *slip)
{
  IrisdKept *kept = irisd_journal_look_up (self, slip->item, slip->view);
  if (kept == NULL || irisd_kept_get_state (kept) != IRIS_WIRE_STATE_BURIED)
    {
      irisd_journal_look_where (self, slip);
      return;
    }
  kept->ended_ms = irisd_unix_ms ();
  irisd_kept_set_reason (kept, 0, NULL);
  irisd_kept_set_row (kept, IRIS_WIRE_STATE_CANCELLED, slip->type,
                      (IrisWireFrame){ slip->header.data, slip->header.size },
                      (IrisWireFrame){ 0 });
  irisd_journal_apply_end (self, kept, IRIS_WIRE_STATE_CANCELLED);
  irisd_journal_wake_waits (self, kept);
  if (irisd_journal_get_health (self) != IRISD_JOURNAL_FAILED)
    irisd_journal_mark_dirty (self, kept);
  if (kept->klass == IRIS_WIRE_CLASS_DURABLE
      && irisd_journal_get_health (self) != IRISD_JOURNAL_FAILED)
    irisd_journal_attend (self, slip);
  else
    irisd_journal_answer (self, slip);
}

/**
 * irisd_journal_look_where:
 * @self: the journal
 * @slip: (transfer full): KICK, CANCEL or INTER of an item
 *
 * Tells its state.
 */
void
irisd_journal_look_where (IrisdJournal *self, IrisdSlip *slip)
{
  IrisdKept *kept = irisd_journal_look_up (self, slip->item, slip->view);
  if (kept == NULL)
    slip->error = irisd_journal_no_such_item (slip->item);
  else
    slip->state = (guint32) irisd_kept_get_state (kept);
  slip->pending = kept != NULL;
  irisd_journal_answer (self, slip);
}
