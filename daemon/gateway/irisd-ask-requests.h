/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Requests about other nodes, and those that other nodes have sent.
 */
#pragma once

#include "daemon/gateway/irisd-gateway-private.h"

G_BEGIN_DECLS

gboolean irisd_ask_requests_concern (const IrisWireMessage *request);
/* @answer is NULL if there is an error. @caller is still there. */
typedef void (*IrisdAskAnswerFunc) (IrisdGateway *self,
                                    const IrisdCaller *caller,
                                    const guint8 *request_id,
                                    const IrisWireMessage *answer,
                                    const GError *error);

void irisd_ask_requests_ask (IrisdGateway *self,
                             const IrisdCaller *caller,
                             const IrisWireMessage *request,
                             IrisdAskAnswerFunc answered);
/* Takes the answer of the other node, which borrows, or why there is none. */
typedef void (*IrisdAskFunc) (IrisdGateway *self,
                              const IrisWireMessage *answer,
                              const GError *error,
                              gpointer user_data);

void irisd_ask_requests_ask_for (IrisdGateway *self,
                                 IrisdPeer *peer,
                                 gint64 view,
                                 const IrisWireMessage *request,
                                 IrisdAskFunc func,
                                 gpointer user_data);
void irisd_ask_requests_take_answer (IrisdGateway *self,
                                     const IrisdCaller *caller,
                                     const IrisWireMessage *answer);
void irisd_ask_requests_lose_bridge (IrisdGateway *self, IrisdPeer *peer);
void irisd_ask_requests_clear (IrisdGateway *self);

G_END_DECLS
