/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Requests that have items wait or go on: SUSPEND and RESUME, and their answers.
 */
#pragma once

#include "daemon/gateway/irisd-gateway-private.h"

G_BEGIN_DECLS

/* How often a request looks for an item that waits, and that a gateway which has just started has
 * not taken from the journal yet. */
#define IRISD_SUSPEND_MOST_LOOKS 20000

void irisd_suspend_requests_handle (IrisdGateway *self,
                                    const IrisdCaller *caller,
                                    const IrisWireMessage *request);
void irisd_suspend_requests_take_answer (IrisdGateway *self, IrisdJournalRequest *request);

G_END_DECLS
