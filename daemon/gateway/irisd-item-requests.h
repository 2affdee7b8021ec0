/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a connection asks about items.
 */
#pragma once

#include "daemon/gateway/irisd-gateway-private.h"
#include "daemon/exec/command/irisd-command.h"

G_BEGIN_DECLS

void irisd_item_requests_fetch (IrisdGateway *self,
                                const IrisdCaller *caller,
                                const IrisWireMessage *request);
void irisd_item_requests_show (IrisdGateway *self,
                               const IrisdCaller *caller,
                               const IrisWireMessage *request);
void irisd_item_requests_list (IrisdGateway *self,
                               const IrisdCaller *caller,
                               const IrisWireMessage *request);
void irisd_item_requests_acknowledge (IrisdGateway *self,
                                      const IrisdCaller *caller,
                                      const IrisWireMessage *request);
void irisd_item_requests_grant (IrisdGateway *self,
                                const IrisdCaller *caller,
                                const IrisWireMessage *request);
gboolean irisd_item_requests_may_ask (IrisdGateway *self,
                                      const IrisdCaller *caller,
                                      const IrisWireMessage *request);
void irisd_item_requests_take_answer (IrisdGateway *self, IrisdJournalRequest *request);
void irisd_item_requests_send_output (IrisdGateway *self, IrisdOutput *output);

G_END_DECLS
