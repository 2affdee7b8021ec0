/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A gateway's items on their way in.
 */
#pragma once

#include "daemon/gateway/irisd-gateway-private.h"

G_BEGIN_DECLS

void irisd_submit_item (IrisdGateway *self,
                        const IrisdCaller *caller,
                        const IrisWireMessage *item,
                        zmq_msg_t *body);
gboolean irisd_submit_begin_batch (IrisdGateway *self,
                                   const IrisdCaller *caller,
                                   const IrisWireMessage *batch,
                                   zmq_msg_t *body);
void irisd_submit_read_batch (IrisdGateway *self, IrisdPeer *peer);
void irisd_submit_end_batch (IrisdGateway *self, IrisdPeer *peer);
gboolean irisd_submit_check (IrisdGateway *self,
                             const IrisdCaller *caller,
                             const IrisdService *service,
                             const IrisWireMessage *item,
                             GError **error);
gboolean irisd_submit_may_ask (IrisdGateway *self,
                               const IrisdCaller *caller,
                               const IrisWireMessage *request,
                               gboolean answer_counts);
void irisd_submit_tell_full (IrisdGateway *self,
                             const IrisdCaller *caller,
                             const IrisWireMessage *item,
                             IrisdFull full,
                             guint64 value);

gboolean irisd_submit_check_run (IrisdGateway *self,
                                 const IrisdCaller *caller,
                                 const IrisWireMessage *item,
                                 GError **error);
gboolean irisd_submit_route_run (IrisdGateway *self,
                                 IrisdPeer *peer,
                                 const IrisWireMessage *item,
                                 IrisWireMessage *routed,
                                 GError **error);

G_END_DECLS
