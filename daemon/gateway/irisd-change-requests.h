/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Requests that change items: CANCEL, KICK and BURY.
 */
#pragma once

#include "daemon/gateway/irisd-gateway-private.h"

G_BEGIN_DECLS

void irisd_change_requests_cancel (IrisdGateway *self,
                                   const IrisdCaller *caller,
                                   const IrisWireMessage *request);
void irisd_change_requests_kick (IrisdGateway *self,
                                 const IrisdCaller *caller,
                                 const IrisWireMessage *request);
void irisd_change_requests_bury (IrisdGateway *self,
                                 const IrisdCaller *caller,
                                 const IrisWireMessage *request);
void irisd_change_requests_take_answer (IrisdGateway *self, IrisdJournalRequest *request);

G_END_DECLS
