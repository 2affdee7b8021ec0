/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Items of the journal that become jobs again.
 */
#pragma once

#include "daemon/items/irisd-items.h"

G_BEGIN_DECLS

void
irisd_restore_run (IrisdItems *self, const IrisdRecord *record, IrisdPersistentItem *persistent);
IrisdJob *irisd_restore_job (IrisdItems *self, IrisdJournalRequest *request, IrisdPeer *peer);
void irisd_restore_take_recovered (IrisdItems *self,
                                   IrisdJournalRequest *request,
                                   const IrisdLeased *leased);

G_END_DECLS
