/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Output of a running command on its way to its client.
 */
#pragma once

#include "daemon/gateway/irisd-gateway-private.h"

G_BEGIN_DECLS

/* Bytes of one OUTPUT message. */
#define IRISD_OUTPUT_CHUNK (16 * 1024)

typedef struct _IrisdOutput IrisdOutput;

void irisd_output_post (IrisdJob *job, IrisWireChannel channel, const guint8 *data, gsize size);
IrisdOutput *irisd_output_from_message (IrisdMessage *message);
void irisd_output_free (IrisdOutput *self);

/* For the gateway's thread. */
void irisd_output_send (IrisdGateway *self, IrisdOutput *output);
void
irisd_output_grant (IrisdGateway *self, const IrisdCaller *caller, const IrisWireMessage *more);

G_END_DECLS
