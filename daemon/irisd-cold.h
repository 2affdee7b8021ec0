/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Cold items: kept ones that wait, and of which nothing is in memory but for what.
 */
#pragma once

#include "irisd-gateway-private.h"

G_BEGIN_DECLS

static inline IrisdKept *
irisd_kept_of_waiter (IrisdWaiter *waiter)
{
  return (IrisdKept *) (void *) ((char *) waiter - G_STRUCT_OFFSET (IrisdKept, waiter));
}

/* irisd-cold.c */
gboolean irisd_gateway_set_aside (IrisdGateway *self, IrisdJob *job);
gboolean
irisd_gateway_recover_cold (IrisdGateway *self, const IrisdRecord *record, IrisdKept *kept);
void irisd_gateway_put_away (IrisdGateway *self, IrisdJob *job);
void irisd_gateway_put_off (IrisdGateway *self, IrisdKept *kept);
void irisd_gateway_put_off_cold (IrisdGateway *self);
void irisd_gateway_forget_cold (IrisdGateway *self);
IrisdTimes irisd_gateway_get_soon (IrisdGateway *self, const IrisdTimes *now);
gboolean irisd_gateway_is_cold_counted (IrisdGateway *self, const IrisdPeer *peer);
void irisd_gateway_uncount_cold (IrisdGateway *self, const IrisdKept *kept, const IrisdPeer *peer);

/* irisd-cold-call.c */
gboolean irisd_gateway_may_call (IrisdGateway *self);
void irisd_gateway_call_back (IrisdGateway *self, guint64 item, IrisdLetter *errand);
void irisd_gateway_call_for_lane (IrisdGateway *self, guint64 item, IrisdLane *lane);
void irisd_gateway_call_due (IrisdGateway *self);
gint64 irisd_gateway_get_call_delay (IrisdGateway *self, const IrisdTimes *now);
guint irisd_gateway_kick_cold (IrisdGateway *self, gint64 view, guint most);
void irisd_gateway_take_called (IrisdGateway *self, IrisdSlip *slip);
void irisd_gateway_put_off_calls (IrisdGateway *self);

/* irisd-cold-lane.c */
void irisd_lanes_init (IrisdGateway *self);
gboolean irisd_gateway_keep_in_lane (IrisdGateway *self, IrisdJob *job);
void irisd_gateway_recover_in_lane (IrisdGateway *self,
                                    IrisdKept *kept,
                                    gint home,
                                    const IrisWireMessage *item,
                                    gboolean outside);
void irisd_gateway_leave_lane (IrisdGateway *self, IrisdJob *job);
void irisd_gateway_feed_lanes (IrisdGateway *self);
IrisdLane *
irisd_gateway_take_from_lane (IrisdGateway *self, IrisdLane *called_for, IrisdKept *kept);
void
irisd_gateway_return_to_lane (IrisdGateway *self, IrisdLane *lane, IrisdJob *job, gint64 delay_us);
void irisd_gateway_settle_lane (IrisdGateway *self, IrisdLane *lane);
void irisd_gateway_put_off_lanes (IrisdGateway *self, gboolean all);
void irisd_gateway_forget_lanes (IrisdGateway *self);

/* irisd-kept-again.c */
IrisdPeer *irisd_gateway_get_nobody (IrisdGateway *self);
gint irisd_gateway_choose_home_again (IrisdGateway *self,
                                      const IrisWireMessage *item,
                                      const IrisdKept *kept);
const IrisdService *
irisd_gateway_find_service_again (IrisdGateway *self, gint64 owner, const IrisWireMessage *item);
gboolean irisd_gateway_read_kept (IrisdGateway *self,
                                  guint64 number,
                                  IrisWireFrame header,
                                  IrisWireFrame body,
                                  IrisWireMessage *item);
IrisdJob *irisd_gateway_make_again (IrisdGateway *self, IrisdSlip *slip, IrisdPeer *peer);
void irisd_gateway_take_recovered (IrisdGateway *self, IrisdSlip *slip, const IrisdLeased *leased);

G_END_DECLS
