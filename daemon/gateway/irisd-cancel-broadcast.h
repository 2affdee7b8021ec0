/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A cancel broadcast: a CANCEL for an item of any connection, on its way from gateway to gateway.
 */
#pragma once

#include "daemon/gateway/irisd-gateway-private.h"

G_BEGIN_DECLS

typedef struct _IrisdCancelBroadcast IrisdCancelBroadcast;

IrisdCancelBroadcast *irisd_cancel_broadcast_from_message (IrisdMessage *message);
void irisd_cancel_broadcast_free (IrisdCancelBroadcast *self);

/* Asks all connections of this gateway, then those of the others, for @request's target; the answer
 * goes to @caller. */
void irisd_cancel_broadcast_by_request (IrisdGateway *self,
                                        const IrisdCaller *caller,
                                        const IrisWireMessage *request);

/* Cancels the item of a number, of any connection and gateway. */
void irisd_cancel_broadcast_by_number (IrisdGateway *self,
                                       const IrisdCaller *caller,
                                       const IrisWireMessage *request);

/* @self has come to this gateway: from another one, or back. */
void irisd_cancel_broadcast_run (IrisdGateway *self, IrisdCancelBroadcast *broadcast);

/* Its item is spilled and cannot be read for now: it goes back. */
void irisd_cancel_broadcast_fail (IrisdCancelBroadcast *broadcast, const GError *error);

/* Its item was spilled here, and is not any more. */
void irisd_cancel_broadcast_resume (IrisdGateway *self, IrisdCancelBroadcast *broadcast);

G_END_DECLS
