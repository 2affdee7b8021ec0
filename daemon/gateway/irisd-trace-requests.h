/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Requests about what happened: TRACE and SPANS.
 */
#pragma once

#include "daemon/exec/irisd-tracer.h"
#include "daemon/gateway/irisd-gateway-private.h"

G_BEGIN_DECLS

void irisd_trace_requests_begin (IrisdGateway *self,
                                 const IrisdCaller *caller,
                                 const IrisWireMessage *request);
void irisd_trace_requests_answer_spans (IrisdGateway *self,
                                        const IrisdCaller *caller,
                                        const IrisWireMessage *request);
void irisd_trace_requests_take (IrisdGateway *self, IrisdTrace *trace);

G_END_DECLS
