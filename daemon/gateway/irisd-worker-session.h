/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A gateway's worker processes. Everything here is called by the gateway's own thread.
 */
#pragma once

#include "daemon/exec/worker/irisd-worker-processes.h"
#include "daemon/gateway/irisd-gateway-private.h"

G_BEGIN_DECLS

void irisd_worker_session_handle (IrisdGateway *self,
                                  const IrisdCaller *caller,
                                  const IrisWireMessage *request,
                                  zmq_msg_t *body);
void irisd_worker_session_take_event (IrisdGateway *self, IrisdWorkerEvent *event);
void irisd_worker_session_dismiss (IrisdGateway *self, IrisdPeer *peer);
void irisd_worker_session_end_all (IrisdGateway *self);
void irisd_worker_session_answer_workers (IrisdGateway *self,
                                          const IrisdCaller *caller,
                                          const IrisWireMessage *request);

/* Which are still connected. */
void irisd_worker_watch_add_reader (IrisdGateway *self, IrisdPeer *peer);
void irisd_worker_watch_remove_reader (IrisdGateway *self, IrisdPeer *peer);
void irisd_worker_watch_mark_heard (IrisdGateway *self, IrisdPeer *peer);
gint64 irisd_worker_watch_get_deadline (IrisdGateway *self);
void irisd_worker_watch_check (IrisdGateway *self, gboolean heard_all);

G_END_DECLS
