/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * FOLLOW: the output of a persistent command, from its beginning, for as many connections as ask.
 */
#pragma once

#include "daemon/gateway/irisd-gateway-private.h"

G_BEGIN_DECLS

void irisd_follow_requests_follow (IrisdGateway *self,
                                   const IrisdCaller *caller,
                                   const IrisWireMessage *request);
void irisd_follow_requests_take_answer (IrisdGateway *self, IrisdJournalRequest *answer);
void irisd_follow_requests_take_message (IrisdGateway *self, IrisdMessage *message);
gboolean irisd_follow_requests_grant (IrisdGateway *self,
                                      const IrisdCaller *caller,
                                      const IrisWireMessage *more);
gboolean irisd_follow_requests_go_on (IrisdGateway *self);
void irisd_follow_requests_drop_all_of (IrisdGateway *self, IrisdPeer *peer);
void irisd_follow_requests_clear (IrisdGateway *self);

G_END_DECLS
