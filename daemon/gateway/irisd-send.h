/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A gateway's messages on their way out.
 */
#pragma once

#include "daemon/gateway/irisd-gateway-private.h"

G_BEGIN_DECLS

void irisd_send_init (IrisdGateway *self);
void irisd_send_clear (IrisdGateway *self);
void irisd_send_message (IrisdGateway *self,
                         const IrisdRoute *route,
                         IrisdPeer *peer,
                         IrisWireMessage *message,
                         zmq_msg_t *body);
void irisd_send_answer (IrisdGateway *self, const IrisdCaller *caller, IrisWireMessage *message);
void irisd_send_answer_bytes (IrisdGateway *self,
                              const IrisdCaller *caller,
                              IrisWireMessage *message,
                              GBytes *body,
                              const GError *error);
void irisd_send_refusal (IrisdGateway *self,
                         const IrisdCaller *caller,
                         const guint8 *request_id,
                         const GError *error);
void irisd_send_limit_refusal (IrisdGateway *self,
                               const IrisdCaller *caller,
                               const guint8 *request_id,
                               const char *name,
                               guint64 value,
                               const char *what);
void irisd_send_accepted (IrisdGateway *self,
                          IrisdPeer *peer,
                          const guint8 *request_id,
                          guint count,
                          guint64 first_id);
void irisd_send_changed (IrisdGateway *self,
                         const IrisdCaller *caller,
                         const guint8 *request_id,
                         guint count);
void irisd_send_completion (IrisdGateway *self,
                            IrisdPeer *peer,
                            IrisWireMessage *completion,
                            zmq_msg_t *body);
void irisd_send_bundle (IrisdGateway *self, IrisdPeer *peer);
void irisd_send_drop_bundle (IrisdPeer *peer);
void irisd_send_bundles (IrisdGateway *self);
void irisd_send_outbox (IrisdGateway *self, IrisdPeer *peer);
void irisd_send_retry_outboxes (IrisdGateway *self);
gboolean irisd_send_probe (IrisdGateway *self, IrisdPeer *peer);
void irisd_send_offer (IrisdGateway *self, IrisdPeer *peer, IrisWireMessage *message);

G_END_DECLS
