/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A gateway's batches with persistent items, whose ACCEPTED waits for the journal.
 *
 * A batch is pending as often as it has journal requests on their way: one for each item that the
 * journal has to accept, and one for all durable ones that were done at once.
 */
#include "daemon/gateway/irisd-gateway-private.h"
#include "daemon/store/irisd-journal.h"

#include <string.h>

/**
 * IrisdPersistentBatch:
 * @pending: journal requests without an answer yet
 * @accepted: items that were accepted
 * @open: more may come
 * @done: durable items that were done at once
 *
 * A BATCH with persistent items. For its gateway's thread.
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

/* Returns the number of the persistent item in hand. Those of a batch are consecutive. */
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

/* Returns the journal request that collects items that run at once. Durable ones of a batch wait
 * for the disk anyway, so they are collected until its end. */
IrisdJournalRequest **
irisd_persistent_batch_get_done (IrisdGateway *self, gboolean durable)
{
  return durable && self->batch != NULL ? &self->batch->done : &self->done[durable];
}

/* Returns the batch in hand, or NULL. It now waits for one more journal request. */
IrisdPersistentBatch *
irisd_persistent_batch_expect (IrisdGateway *self)
{
  if (self->batch != NULL)
    self->batch->pending++;
  return self->batch;
}

/* A journal request that irisd_persistent_batch_expect() counted is back. This may free @batch. */
void
irisd_persistent_batch_note (IrisdGateway *self, IrisdPersistentBatch *batch)
{
  if (batch == NULL)
    return;
  batch->pending--;
  finish (self, batch);
}

/* An item is accepted: answers, or lets its batch answer. @quiet: no answer is wanted. */
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

/* All persistent items of a BATCH were read; @accepted counts its accepted volatile items. ACCEPTED
 * is sent when the journal has answered for all; not if @quiet. */
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
