/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A journal request: a question of a gateway on its way to the journal, and its answer on the way
 * back.
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

/**
 * irisd_journal_request_free:
 * @self: (transfer full): a journal request
 *
 * Only the gateway may call this, or whoever is left when the gateways have gone.
 */
void
irisd_journal_request_free (IrisdJournalRequest *self)
{
  zmq_msg_close (&self->body);
  g_clear_pointer (&self->peer, irisd_peer_unref);
  g_clear_pointer (&self->items, g_array_unref);
  g_clear_pointer (&self->jobs, g_ptr_array_unref);
  g_clear_pointer (&self->kepts, g_ptr_array_unref);
  g_clear_pointer (&self->row_batch, irisd_row_batch_unref);
  if (self->broadcast != NULL)
    self->broadcast->klass->free (self->broadcast);
  g_clear_pointer (&self->list, iris_wire_persistent_list_free);
  g_clear_pointer (&self->filter, irisd_persistent_filter_free);
  g_clear_error (&self->error);
  g_free (self->header.data);
  g_free (self->sentence);
  g_free (self);
}
