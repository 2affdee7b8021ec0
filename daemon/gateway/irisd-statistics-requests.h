/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Requests about what irisd counts: STATISTICS.
 */
#pragma once

#include "daemon/gateway/irisd-gateway-private.h"

G_BEGIN_DECLS

void irisd_statistics_requests_answer (IrisdGateway *self,
                                       const IrisdCaller *caller,
                                       const IrisWireMessage *request);

G_END_DECLS
