/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A gateway's persistent items: on their way into the journal, to the workers, and to their end.
 */
#pragma once

#include "daemon/items/irisd-items.h"

G_BEGIN_DECLS

gboolean irisd_persistent_check (IrisdItems *self,
                                 const IrisdPeer *peer,
                                 const IrisWireMessage *item,
                                 GError **error);
gboolean
irisd_persistent_check_keep_ms (IrisdItems *self, const IrisWireMessage *item, GError **error);
void irisd_persistent_keep (IrisdItems *self, IrisdJob *job, const IrisWireMessage *item);
void irisd_persistent_keep_with (IrisdItems *self,
                                 IrisdJob *job,
                                 const IrisWireMessage *item,
                                 IrisdRecordChange *change);
void irisd_persistent_await_end (IrisdItems *self,
                                 IrisdPeer *peer,
                                 const guint8 *request_id,
                                 guint64 item,
                                 guint64 wait_ms);
void irisd_persistent_take_request (IrisdItems *self, IrisdJournalRequest *request);

/* A BATCH, of which some items are read in a turn. */
void irisd_persistent_batch_resume (IrisdItems *self, IrisdPersistentBatch *batch, guint n_items);
IrisdPersistentBatch *irisd_persistent_batch_pause (IrisdItems *self);
void irisd_persistent_batch_close (IrisdItems *self,
                                   IrisdPersistentBatch *batch,
                                   IrisdPeer *peer,
                                   const guint8 *request_id,
                                   gboolean quiet,
                                   guint accepted);
void irisd_persistent_flush (IrisdItems *self);

G_END_DECLS
