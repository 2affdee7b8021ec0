/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Requests about irisd and its places.
 */
#pragma once

#include "daemon/gateway/irisd-gateway-private.h"

G_BEGIN_DECLS

void irisd_place_requests_answer_map (IrisdGateway *self,
                                      const IrisdCaller *caller,
                                      const IrisWireMessage *request);
void irisd_place_requests_answer_status (IrisdGateway *self,
                                         const IrisdCaller *caller,
                                         const IrisWireMessage *request);
void irisd_place_requests_answer_services (IrisdGateway *self,
                                           const IrisdCaller *caller,
                                           const IrisWireMessage *request);
guint64 irisd_place_requests_get_busy_ns (const IrisdCore *core, guint id, const IrisStats *stats);
guint64 irisd_place_requests_get_backlog (IrisdCore *core, guint id);
void irisd_place_requests_change (IrisdGateway *self,
                                  const IrisdCaller *caller,
                                  const IrisWireMessage *request);

G_END_DECLS
