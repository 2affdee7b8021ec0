/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Flows: spilled items that wait for their turn.
 */
#pragma once

#include "daemon/items/irisd-items.h"

G_BEGIN_DECLS

void irisd_spilled_flows_init (IrisdItems *self);
void irisd_spilled_flows_put_off (IrisdItems *self);
void irisd_spilled_flows_forget (IrisdItems *self);
gboolean irisd_spilled_flow_add (IrisdItems *self, IrisdJob *job);
void irisd_spilled_flow_recover (IrisdItems *self,
                                 IrisdPersistentItem *persistent,
                                 gint home,
                                 const IrisWireMessage *item,
                                 IrisdNamedQueue *queue,
                                 gboolean for_workers);
void irisd_spilled_flow_leave (IrisdItems *self, IrisdJob *job);
IrisdPersistentItem *irisd_spilled_flow_call (IrisdItems *self, IrisdSpilledFlow **flow);
IrisdSpilledFlow *irisd_spilled_flow_take (IrisdItems *self,
                                           IrisdSpilledFlow *called_for,
                                           IrisdPersistentItem *persistent);
void irisd_spilled_flow_return (IrisdItems *self,
                                IrisdSpilledFlow *flow,
                                IrisdJob *job,
                                gint64 delay_us);
void irisd_spilled_flow_settle (IrisdItems *self, IrisdSpilledFlow *flow);

G_END_DECLS
