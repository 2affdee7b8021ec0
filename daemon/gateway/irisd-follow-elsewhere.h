/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * FOLLOW of an item at another node.
 */
#pragma once

#include "daemon/gateway/irisd-gateway-private.h"

G_BEGIN_DECLS

void irisd_follow_elsewhere_begin (IrisdGateway *self,
                                   const IrisdCaller *caller,
                                   const IrisWireMessage *request);
gboolean irisd_follow_elsewhere_grant (IrisdGateway *self,
                                       const IrisdCaller *caller,
                                       const IrisWireMessage *more);
void irisd_follow_elsewhere_drop_all_of (IrisdPeer *peer);

G_END_DECLS
