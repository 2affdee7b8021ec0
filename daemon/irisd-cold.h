/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Cold items: kept ones that wait for their time and of which nothing is in memory but that.
 */
#pragma once

#include "irisd-gateway-private.h"

G_BEGIN_DECLS

/* irisd-cold.c */
gboolean irisd_gateway_set_aside (IrisdGateway *self, IrisdJob *job);
gboolean
irisd_gateway_recover_cold (IrisdGateway *self, const IrisdRecord *record, IrisdKept *kept);
void irisd_gateway_call_back (IrisdGateway *self, guint64 item, IrisdLetter *errand);
void irisd_gateway_call_due (IrisdGateway *self);
gint64 irisd_gateway_get_call_delay (IrisdGateway *self, const IrisdTimes *now);
guint irisd_gateway_kick_cold (IrisdGateway *self, guint most);
void irisd_gateway_take_called (IrisdGateway *self, IrisdSlip *slip);
void irisd_gateway_put_off_cold (IrisdGateway *self);
void irisd_gateway_forget_cold (IrisdGateway *self);

/* irisd-kept-again.c */
IrisdPeer *irisd_gateway_get_nobody (IrisdGateway *self);
gint irisd_gateway_choose_home_again (IrisdGateway *self,
                                      const IrisWireMessage *item,
                                      const IrisdKept *kept);
const IrisdService *
irisd_gateway_find_service_again (IrisdGateway *self, const IrisWireMessage *item);
gboolean irisd_gateway_read_kept (IrisdGateway *self,
                                  guint64 number,
                                  IrisWireFrame header,
                                  IrisWireFrame body,
                                  IrisWireMessage *item);
IrisdJob *irisd_gateway_make_again (IrisdGateway *self, IrisdSlip *slip, IrisdPeer *peer);
void irisd_gateway_take_recovered (IrisdGateway *self, IrisdSlip *slip);

G_END_DECLS
