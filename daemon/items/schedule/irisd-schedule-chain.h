/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the cluster's thread is told of the schedules of irisd whose runs go to other nodes.
 */
#pragma once

#include "daemon/exec/irisd-core.h"
#include "daemon/items/schedule/irisd-recurring.h"

G_BEGIN_DECLS

void irisd_schedule_chain_init (IrisdCore *core, IrisdRecurring *entry);
void irisd_schedule_chain_name (const IrisdRecurring *entry, guint64 due_ms, IrisWireMessage *run);
gboolean irisd_schedule_chain_keep (IrisdCore *core,
                                    IrisdRecurring *entry,
                                    guint64 due_ms,
                                    IrisWireMessage *run);
void irisd_schedule_chain_drop (IrisdCore *core, IrisdRecurring *entry);
void irisd_schedule_chain_rest (IrisdCore *core);

G_END_DECLS
