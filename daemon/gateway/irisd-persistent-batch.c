/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A gateway's batches with persistent items, whose ACCEPTED waits for the journal.
 *
 * A batch is pending as often as there are journal requests of it on their way: one for each item
 * that the journal has to accept, and one for all durable ones that were done at once.
 */
#include "daemon/gateway/irisd-gateway-private.h"
#include "daemon/store/irisd-journal.h"

#include <string.h>

/**
 * IrisdPersistentBatch:
 * @pending: journal requests of which the journal has not told yet
 * @accepted: items that were accepted
 * @open: more may come
 * @done: durable items that were done at once
 *
 * A BATCH with persistent items. The gateway's own.
 */
struct _IrisdPersistentBatch
{
  IrisdPeer *peer;
  guint8 request_id[IRIS_WIRE_ID_SIZE];
  guint pending;
  guint accepted;
  guint64 first;
  guint64 next;
  gboolean open;
  gboolean quiet;
  IrisdJournalRequest *done;
};

/**
 * irisd_persistent_batch_take_number:
 * @self: the gateway
 *
 * Returns: the number of the persistent item that is being read. Those of a batch are consecutive
 */
guint64
irisd_persistent_batch_take_number (IrisdGateway *self)
{
  if (self->batch_size == 0)
    return irisd_core_new_item_id (self->core);
  if (self->batch == NULL)
    {
      self->batch = g_new0 (IrisdPersistentBatch, 1);
      self->batch->open = TRUE;
      self->batch->first = irisd_core_new_item_ids (self->core, self->batch_size);
      self->batch->next = self->batch->first;
    }
  return self->batch->next++;
}

static void
finish (IrisdGateway *self, IrisdPersistentBatch *batch)
{
  if (batch->open || batch->pending > 0)
    return;
  if (!batch->quiet)
    irisd_submit_tell_accepted (self, batch->peer, batch->request_id, batch->accepted,
                                batch->first);
  irisd_peer_unref (batch->peer);
  g_free (batch);
}

/**
 * irisd_persistent_batch_get_done:
 * @self: the gateway
 * @durable: whether they are
 *
 * Returns: (transfer none): where those items are gathered that are done at once. Durable ones of a
 *   batch wait for the disk anyway, and so for the end of their batch
 */
IrisdJournalRequest **
irisd_persistent_batch_get_done (IrisdGateway *self, gboolean durable)
{
  return durable && self->batch != NULL ? &self->batch->done : &self->done[durable];
}

/**
 * irisd_persistent_batch_expect:
 * @self: the gateway
 *
 * Returns: (nullable): the batch that is being read, which from now on waits for a journal request
 * more
 */
IrisdPersistentBatch *
irisd_persistent_batch_expect (IrisdGateway *self)
{
  if (self->batch != NULL)
    self->batch->pending++;
  return self->batch;
}

/**
 * irisd_persistent_batch_note:
 * @self: the gateway
 * @batch: (nullable): what irisd_persistent_batch_expect() gave; may be gone afterwards
 *
 * A journal request of the batch is back.
 */
void
irisd_persistent_batch_note (IrisdGateway *self, IrisdPersistentBatch *batch)
{
  if (batch == NULL)
    return;
  batch->pending--;
  finish (self, batch);
}

/**
 * irisd_persistent_batch_tell:
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
irisd_persistent_batch_tell (IrisdGateway *self,
                             IrisdPersistentBatch *batch,
                             IrisdPeer *peer,
                             const guint8 *request_id,
                             gboolean quiet,
                             guint64 item)
{
  if (batch != NULL)
    batch->accepted++;
  else if (!quiet)
    irisd_submit_tell_accepted (self, peer, request_id, 1, item);
}

/**
 * irisd_persistent_batch_close:
 * @self: the gateway
 * @batch: (transfer full): the persistent items of a BATCH that was read
 * @peer: who sent it
 * @request_id: under which id
 * @quiet: whether it is not told
 * @accepted: items of it that are not kept and were accepted
 *
 * ACCEPTED is sent when the journal has told of all.
 */
void
irisd_persistent_batch_close (IrisdGateway *self,
                              IrisdPersistentBatch *batch,
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
