/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A gateway's sessions: HELLO, BYE, and connections that end without.
 */
#pragma once

#include "daemon/gateway/irisd-gateway-private.h"

G_BEGIN_DECLS

void
irisd_session_open (IrisdGateway *self, IrisdCaller *caller, const IrisWireMessage *hello, int fd);
void irisd_session_tell_going (IrisdGateway *self);
void irisd_session_follow_settings (IrisdGateway *self);
void irisd_session_leave_settings (IrisdGateway *self);
void irisd_session_close (IrisdGateway *self, IrisdPeer *peer, gboolean still_there);
gboolean irisd_session_lose_ended (IrisdGateway *self);
void
irisd_session_lose (IrisdGateway *self, IrisdPeer *peer, const char *why, gboolean still_there);

void irisd_session_leave_backlog (IrisdGateway *self, IrisdPeer *peer);

G_END_DECLS
