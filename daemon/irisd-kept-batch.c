/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A gateway's batches with kept items, whose ACCEPTED waits for the journal.
 *
 * A batch is pending as often as there are slips of it on their way: one for each item that the
 * journal has to accept, and one for all that were done at once.
 */
#include "irisd-gateway-private.h"

#include <string.h>

/**
 * IrisdKeptBatch:
 * @pending: slips of which the journal has not told yet
 * @accepted: items that were accepted
 * @open: more may come
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
tell_accepted (IrisdGateway *self,
               IrisdPeer *peer,
               const guint8 *request_id,
               guint count,
               guint64 item)
{
  const IrisdCaller caller = { .route = peer->route, .peer = peer };
  IrisWireMessage accepted;
  iris_wire_message_init (&accepted, IRIS_WIRE_ACCEPTED, request_id);
  iris_wire_message_set_uint (&accepted, IRIS_WIRE_KEY_COUNT, count);
  if (item != 0)
    iris_wire_message_set_uint (&accepted, IRIS_WIRE_KEY_ITEM, item);
  if (!irisd_peer_is_gone (peer))
    irisd_gateway_answer (self, &caller, &accepted);
}

static void
finish (IrisdGateway *self, IrisdKeptBatch *batch)
{
  if (batch->open || batch->pending > 0)
    return;
  if (!batch->quiet)
    tell_accepted (self, batch->peer, batch->request_id, batch->accepted, batch->first);
  irisd_peer_unref (batch->peer);
  g_free (batch);
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
    tell_accepted (self, peer, request_id, 1, item);
}

/**
 * irisd_gateway_close_batch:
 * @self: the gateway
 * @caller: who sent the batch
 * @message: the batch
 * @accepted: items of it that are not kept and were accepted
 *
 * Returns: %FALSE if the batch had no kept items; otherwise ACCEPTED is sent when the journal has
 *   told of all
 */
gboolean
irisd_gateway_close_batch (IrisdGateway *self,
                           const IrisdCaller *caller,
                           const IrisWireMessage *message,
                           guint accepted)
{
  IrisdKeptBatch *batch = self->batch;
  self->batch_size = 0;
  if (batch == NULL)
    return FALSE;
  batch->peer = irisd_peer_ref (caller->peer);
  memcpy (batch->request_id, message->request_id, IRIS_WIRE_ID_SIZE);
  batch->quiet = message->quiet;
  batch->accepted += accepted;
  irisd_gateway_hand_in_done (self);
  self->batch = NULL;
  batch->open = FALSE;
  finish (self, batch);
  return TRUE;
}
