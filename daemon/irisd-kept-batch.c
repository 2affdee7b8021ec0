/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A gateway's batches with kept items, whose ACCEPTED waits for the journal.
 *
 * A batch is pending as often as there are slips of it on their way: one for each item that the
 * journal has to accept, and one for all durable ones that were done at once.
 */
#include "irisd-gateway-private.h"
#include "irisd-journal.h"

#include <string.h>

/**
 * IrisdKeptBatch:
 * @pending: slips of which the journal has not told yet
 * @accepted: items that were accepted
 * @open: more may come
 * @done: durable items that were done at once
 *
 * A BATCH with kept items. The gateway's own.
 */
struct _IrisdKeptBatch
{
  IrisdPeer *peer;
  guint8 request_id[IRIS_WIRE_ID_SIZE];
  guint pending;
  guint accepted;
  guint64 first;
  guint64 next;
  gboolean open;
  gboolean quiet;
  IrisdSlip *done;
};

/**
 * irisd_gateway_take_kept_number:
 * @self: the gateway
 *
 * Returns: the number of the kept item that is being read. Those of a batch are consecutive
 */
guint64
irisd_gateway_take_kept_number (IrisdGateway *self)
{
  if (self->batch_size == 0)
    return irisd_core_new_item_id (self->core);
  if (self->batch == NULL)
    {
      self->batch = g_new0 (IrisdKeptBatch, 1);
      self->batch->open = TRUE;
      self->batch->first = irisd_core_new_item_ids (self->core, self->batch_size);
      self->batch->next = self->batch->first;
    }
  return self->batch->next++;
}

static void
finish (IrisdGateway *self, IrisdKeptBatch *batch)
{
  if (batch->open || batch->pending > 0)
    return;
  if (!batch->quiet)
    irisd_gateway_tell_accepted (self, batch->peer, batch->request_id, batch->accepted,
                                 batch->first);
  irisd_peer_unref (batch->peer);
  g_free (batch);
}

/**
 * irisd_gateway_get_done:
 * @self: the gateway
 * @durable: whether they are
 *
 * Returns: (transfer none): where those items are gathered that are done at once. Durable ones of a
 *   batch wait for the disk anyway, and so for the end of their batch
 */
IrisdSlip **
irisd_gateway_get_done (IrisdGateway *self, gboolean durable)
{
  return durable && self->batch != NULL ? &self->batch->done : &self->done[durable];
}

/**
 * irisd_gateway_expect_slip:
 * @self: the gateway
 *
 * Returns: (nullable): the batch that is being read, which from now on waits for a slip more
 */
IrisdKeptBatch *
irisd_gateway_expect_slip (IrisdGateway *self)
{
  if (self->batch != NULL)
    self->batch->pending++;
  return self->batch;
}

/**
 * irisd_gateway_note_slip:
 * @self: the gateway
 * @batch: (nullable): what irisd_gateway_expect_slip() gave; may be gone afterwards
 *
 * A slip of the batch is back.
 */
void
irisd_gateway_note_slip (IrisdGateway *self, IrisdKeptBatch *batch)
{
  if (batch == NULL)
    return;
  batch->pending--;
  finish (self, batch);
}

/**
 * irisd_gateway_tell_kept:
 * @self: the gateway
 * @batch: (nullable): what the item came in
 * @peer: whose it is
 * @request_id: under which id
 * @quiet: whether nobody wants to hear it
 * @item: its number
 *
 * An item is accepted: says so, or has its batch say so.
 */
void
irisd_gateway_tell_kept (IrisdGateway *self,
                         IrisdKeptBatch *batch,
                         IrisdPeer *peer,
                         const guint8 *request_id,
                         gboolean quiet,
                         guint64 item)
{
  if (batch != NULL)
    batch->accepted++;
  else if (!quiet)
    irisd_gateway_tell_accepted (self, peer, request_id, 1, item);
}

/**
 * irisd_gateway_close_batch:
 * @self: the gateway
 * @batch: (transfer full): the kept items of a BATCH that was read
 * @peer: who sent it
 * @request_id: under which id
 * @quiet: whether it is not told
 * @accepted: items of it that are not kept and were accepted
 *
 * ACCEPTED is sent when the journal has told of all.
 */
void
irisd_gateway_close_batch (IrisdGateway *self,
                           IrisdKeptBatch *batch,
                           IrisdPeer *peer,
                           const guint8 *request_id,
                           gboolean quiet,
                           guint accepted)
{
  batch->peer = irisd_peer_ref (peer);
  memcpy (batch->request_id, request_id, IRIS_WIRE_ID_SIZE);
  batch->quiet = quiet;
  batch->accepted += accepted;
  if (batch->done != NULL)
    {
      batch->pending++;
      batch->done->batch = batch;
      irisd_journal_post (self->core->journal, g_steal_pointer (&batch->done));
    }
  batch->open = FALSE;
  finish (self, batch);
}
