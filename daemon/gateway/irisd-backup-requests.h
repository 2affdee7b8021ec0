/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * BACKUP: a copy of the journal while irisd runs.
 */
#pragma once

#include "daemon/gateway/irisd-gateway-private.h"

G_BEGIN_DECLS

void irisd_backup_requests_begin (IrisdGateway *self,
                                  const IrisdCaller *caller,
                                  const IrisWireMessage *request);
void irisd_backup_requests_take_answer (IrisdGateway *self, IrisdJournalRequest *answer);

G_END_DECLS
