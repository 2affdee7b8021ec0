/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A cancel broadcast: a CANCEL for an item of any connection, on its way from gateway to gateway.
 */
#pragma once

#include "daemon/gateway/irisd-gateway-private.h"

G_BEGIN_DECLS

/* Asks all connections of this gateway, then those of the others, for @request's target; the answer
 * goes to @caller. */
void irisd_cancel_broadcast_by_request (IrisdGateway *self,
                                        const IrisdCaller *caller,
                                        const IrisWireMessage *request);

/* Cancels the item of a number, of any connection and gateway. */
void irisd_cancel_broadcast_by_number (IrisdGateway *self,
                                       const IrisdCaller *caller,
                                       const IrisWireMessage *request);

G_END_DECLS
