/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A slip: a question of a gateway on its way to the journal, and its answer on the way back.
 */
#include "irisd-bury.h"
#include "irisd-journal.h"
#include "irisd-peer.h"

IrisdSlip *
irisd_slip_new (IrisdSlipKind kind, IrisdMailbox *home)
{
  IrisdSlip *self = g_new0 (IrisdSlip, 1);
  self->letter.kind = IRISD_LETTER_SLIP;
  self->kind = kind;
  self->home = home;
  if (kind == IRISD_SLIP_DONE)
    self->made_us = g_get_monotonic_time ();
  zmq_msg_init (&self->body);
  return self;
}

/**
 * irisd_slip_free:
 * @self: (transfer full): a slip
 *
 * Only the gateway may call this, or whoever is left when the gateways have gone.
 */
void
irisd_slip_free (IrisdSlip *self)
{
  zmq_msg_close (&self->body);
  g_clear_pointer (&self->peer, irisd_peer_unref);
  g_clear_pointer (&self->items, g_array_unref);
  g_clear_pointer (&self->jobs, g_ptr_array_unref);
  g_clear_pointer (&self->kepts, g_ptr_array_unref);
  g_clear_pointer (&self->sheet, irisd_sheet_unref);
  g_clear_pointer (&self->round, irisd_round_free);
  g_clear_pointer (&self->list, iris_wire_kept_free);
  g_clear_pointer (&self->filter, irisd_kept_filter_free);
  g_clear_error (&self->error);
  g_free (self->header.data);
  g_free (self->sentence);
  g_free (self);
}
