/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A gateway's worker processes. Everything here is called by the gateway's own thread.
 */
#pragma once

#include "irisd-gateway-private.h"
#include "irisd-outside.h"

G_BEGIN_DECLS

/* irisd-outside-gateway.c: what is said. */
void irisd_gateway_hear_worker (IrisdGateway *self,
                                const IrisdCaller *caller,
                                const IrisWireMessage *request,
                                zmq_msg_t *body);
void irisd_gateway_notice (IrisdGateway *self, IrisdNotice *notice);
void irisd_gateway_dismiss (IrisdGateway *self, IrisdPeer *peer);
void irisd_gateway_tell_workers_the_end (IrisdGateway *self);
void irisd_gateway_answer_workers (IrisdGateway *self,
                                   const IrisdCaller *caller,
                                   const IrisWireMessage *request);

/* irisd-outside-watch.c: who is still there. */
void irisd_gateway_watch_connections (IrisdGateway *self);
void irisd_gateway_unwatch_connections (IrisdGateway *self);
void irisd_gateway_note_disconnects (IrisdGateway *self);
void irisd_gateway_watch_reader (IrisdGateway *self, IrisdPeer *peer);
void irisd_gateway_unwatch_reader (IrisdGateway *self, IrisdPeer *peer);
void irisd_gateway_mark_heard (IrisdGateway *self, IrisdPeer *peer);
gint64 irisd_gateway_get_watch_deadline (IrisdGateway *self);
IrisdPeer **irisd_gateway_list_workers (IrisdGateway *self, guint *n);
void irisd_gateway_check_workers (IrisdGateway *self, gboolean heard_all);

G_END_DECLS
