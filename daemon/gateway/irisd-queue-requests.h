/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Requests about named queues: QUEUE and QUEUES.
 */
#pragma once

#include "daemon/gateway/irisd-gateway-private.h"

G_BEGIN_DECLS

void irisd_queue_requests_change (IrisdGateway *self,
                                  const IrisdCaller *caller,
                                  const IrisWireMessage *request);
void irisd_queue_requests_list (IrisdGateway *self,
                                const IrisdCaller *caller,
                                const IrisWireMessage *request);

void irisd_queue_requests_load (IrisdGateway *self, const IrisdNamedRecord *record);
void irisd_queue_requests_open (IrisdCore *core);

G_END_DECLS
