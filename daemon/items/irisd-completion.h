/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Items that have ended: told to their client, kept by the journal, or buried.
 */
#pragma once

#include "daemon/items/irisd-items.h"

G_BEGIN_DECLS

void irisd_completion_describe (const IrisdJob *job, IrisWireMessage *message);
void irisd_completion_end_job (IrisdItems *self, IrisdJob *job);
void irisd_completion_cancel_withdrawn (IrisdItems *self, IrisdJob *job);
void irisd_completion_end_cancelled (IrisdItems *self, IrisdJob *job);
void irisd_completion_release_job (IrisdItems *self, IrisdJob *job);
void irisd_completion_bury (IrisdItems *self,
                            IrisdJob *job,
                            IrisWireError code,
                            const char *reason,
                            IrisdBroadcast *broadcast);
void irisd_completion_take_end (IrisdItems *self, IrisdJournalRequest *request);
void irisd_completion_take_burial (IrisdItems *self, IrisdJournalRequest *request);

G_END_DECLS
