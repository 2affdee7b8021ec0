/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A gateway's messages on their way in.
 */
#pragma once

#include "daemon/gateway/irisd-gateway-private.h"

G_BEGIN_DECLS

void irisd_receive_handle (IrisdGateway *self, zmq_msg_t *route, zmq_msg_t *frames, guint n_frames);
gboolean irisd_receive_go_on (IrisdGateway *self);
void irisd_receive_handle_strays (IrisdGateway *self);
void irisd_receive_clear (IrisdGateway *self);

G_END_DECLS
