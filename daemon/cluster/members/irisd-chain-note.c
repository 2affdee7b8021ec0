/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the cluster's thread is told, or asked, of the chain of a schedule.
 */
#include "daemon/cluster/members/irisd-chain-note.h"

#include <string.h>

/* @chain: (nullable): its id. */
void
irisd_chain_note_init (IrisdChainNote *self, IrisdChainNoteKind kind, const guint8 *chain)
{
  memset (self, 0, sizeof *self);
  self->message.kind = IRISD_MESSAGE_CHAIN;
  self->kind = kind;
  if (chain != NULL)
    memcpy (self->chain, chain, IRIS_WIRE_ID_SIZE);
}

void
irisd_chain_note_clear (IrisdChainNote *self)
{
  g_clear_pointer (&self->packed, g_bytes_unref);
  g_clear_pointer (&self->run, irisd_later_note_free);
  if (self->has_found)
    irisd_run_chain_clear (&self->found);
}

/* The cluster's thread has done with it. One that asks goes back; others were allocated alone. */
void
irisd_chain_note_return (IrisdChainNote *self)
{
  if (self->done != NULL)
    {
      self->done (self);
      return;
    }
  irisd_chain_note_clear (self);
  g_free (self);
}
