/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A journal request: from a gateway to the journal, and back with the answer.
 */
#include "daemon/net/irisd-peer.h"
#include "daemon/store/irisd-journal.h"

IrisdJournalRequest *
irisd_journal_request_new (IrisdJournalRequestKind kind, IrisdMailbox *home)
{
  IrisdJournalRequest *self = g_new0 (IrisdJournalRequest, 1);
  self->message.kind = IRISD_MESSAGE_JOURNAL_REQUEST;
  self->kind = kind;
  self->home = home;
  if (kind == IRISD_JOURNAL_REQUEST_DONE)
    self->made_us = g_get_monotonic_time ();
  zmq_msg_init (&self->body);
  return self;
}

/* For the gateway that made it; after the gateways have ended, for the thread that frees them. */
void
irisd_journal_request_free (IrisdJournalRequest *self)
{
  zmq_msg_close (&self->body);
  g_clear_pointer (&self->peer, irisd_peer_unref);
  g_clear_pointer (&self->items, g_array_unref);
  g_clear_pointer (&self->jobs, g_ptr_array_unref);
  g_clear_pointer (&self->persistents, g_ptr_array_unref);
  g_clear_pointer (&self->row_batch, irisd_row_batch_unref);
  if (self->broadcast != NULL)
    self->broadcast->klass->free (self->broadcast);
  g_clear_pointer (&self->list, iris_wire_persistent_list_free);
  g_clear_pointer (&self->filter, irisd_persistent_filter_free);
  g_clear_error (&self->error);
  g_free (self->header.data);
  g_free (self->reason);
  g_free (self);
}
