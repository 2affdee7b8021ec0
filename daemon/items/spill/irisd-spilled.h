/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Spilled items: waiting persistent items of which only the journal's entry is in memory.
 */
#pragma once

#include "daemon/gateway/irisd-gateway-private.h"

G_BEGIN_DECLS

static inline IrisdPersistentItem *
irisd_persistent_item_of_timer (IrisdTimer *timer)
{
  return (IrisdPersistentItem *) (void *) ((char *) timer
                                           - G_STRUCT_OFFSET (IrisdPersistentItem, timer));
}

/* irisd-spilled.c */
gboolean irisd_spill_job (IrisdGateway *self, IrisdJob *job);
gboolean irisd_spilled_recover (IrisdGateway *self,
                                const IrisdRecord *record,
                                IrisdPersistentItem *persistent);
void irisd_spilled_put_away (IrisdGateway *self, IrisdJob *job);
void irisd_spilled_put_off (IrisdGateway *self, IrisdPersistentItem *persistent);
void irisd_spilled_put_off_all (IrisdGateway *self);
void irisd_spilled_forget_all (IrisdGateway *self);
IrisdTimes irisd_spilled_get_soon (IrisdGateway *self, const IrisdTimes *now);
gboolean irisd_spilled_is_counted (IrisdGateway *self, const IrisdPeer *peer);
void irisd_spilled_uncount (IrisdGateway *self,
                            const IrisdPersistentItem *persistent,
                            const IrisdPeer *peer);

/* irisd-reload.c */
gboolean irisd_reload_may_begin (IrisdGateway *self);
void irisd_reload_for_message (IrisdGateway *self, guint64 item, IrisdMessage *entry);
void irisd_reload_for_flow (IrisdGateway *self, guint64 item, IrisdSpilledFlow *flow);
void irisd_reload_due (IrisdGateway *self);
gint64 irisd_reload_get_delay (IrisdGateway *self, const IrisdTimes *now);
guint irisd_reload_kick (IrisdGateway *self, gint64 view, guint most);
void irisd_reload_take_answer (IrisdGateway *self, IrisdJournalRequest *request);
void irisd_reload_put_off_all (IrisdGateway *self);

/* irisd-spilled-flow.c */
void irisd_spilled_flows_init (IrisdGateway *self);
gboolean irisd_spilled_flow_add (IrisdGateway *self, IrisdJob *job);
void irisd_spilled_flow_recover (IrisdGateway *self,
                                 IrisdPersistentItem *persistent,
                                 gint home,
                                 const IrisWireMessage *item,
                                 gboolean for_workers);
void irisd_spilled_flow_leave (IrisdGateway *self, IrisdJob *job);
void irisd_spilled_flows_feed (IrisdGateway *self);
IrisdSpilledFlow *irisd_spilled_flow_take (IrisdGateway *self,
                                           IrisdSpilledFlow *called_for,
                                           IrisdPersistentItem *persistent);
void irisd_spilled_flow_return (IrisdGateway *self,
                                IrisdSpilledFlow *flow,
                                IrisdJob *job,
                                gint64 delay_us);
void irisd_spilled_flow_settle (IrisdGateway *self, IrisdSpilledFlow *flow);
void irisd_spilled_flows_put_off (IrisdGateway *self, gboolean all);
void irisd_spilled_flows_forget (IrisdGateway *self);

/* irisd-restore.c */
IrisdPeer *irisd_restore_get_peer (IrisdGateway *self);
gint irisd_restore_choose_home (IrisdGateway *self,
                                const IrisWireMessage *item,
                                const IrisdPersistentItem *persistent);
const IrisdService *
irisd_restore_find_service (IrisdGateway *self, gint64 owner, const IrisWireMessage *item);
gboolean irisd_restore_read (IrisdGateway *self,
                             guint64 number,
                             IrisWireFrame header,
                             IrisWireFrame body,
                             IrisWireMessage *item);
IrisdJob *irisd_restore_job (IrisdGateway *self, IrisdJournalRequest *request, IrisdPeer *peer);
void irisd_restore_take_recovered (IrisdGateway *self,
                                   IrisdJournalRequest *request,
                                   const IrisdLeased *leased);

G_END_DECLS
