/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Requests that use the SUBMIT of an item once more: EDIT changes it, AGAIN submits it anew.
 */
#pragma once

#include "daemon/gateway/irisd-gateway-private.h"

G_BEGIN_DECLS

void irisd_edit_requests_edit (IrisdGateway *self,
                               const IrisdCaller *caller,
                               const IrisWireMessage *request);
void irisd_edit_requests_again (IrisdGateway *self,
                                const IrisdCaller *caller,
                                const IrisWireMessage *request);
void irisd_edit_requests_take_submission (IrisdGateway *self, IrisdJournalRequest *request);

G_END_DECLS
