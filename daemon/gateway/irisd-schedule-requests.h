/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Requests about schedules: SCHEDULE and SCHEDULES.
 */
#pragma once

#include "daemon/gateway/irisd-gateway-private.h"

G_BEGIN_DECLS

void irisd_schedule_requests_change (IrisdGateway *self,
                                     const IrisdCaller *caller,
                                     const IrisWireMessage *request);
void irisd_schedule_requests_list (IrisdGateway *self,
                                   const IrisdCaller *caller,
                                   const IrisWireMessage *request);

G_END_DECLS
