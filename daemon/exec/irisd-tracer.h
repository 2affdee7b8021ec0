/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The tracer: the thread that makes a time line of the workers for a client that asked for one.
 */
#pragma once

#include "daemon/base/irisd-mailbox.h"
#include "daemon/exec/irisd-core.h"
#include "daemon/net/irisd-peer.h"

G_BEGIN_DECLS

/* The longest time line, in milliseconds. */
#define IRISD_MOST_TRACE_MS (10 * 60 * 1000)

/* A request for a time line, and its answer on the way back to the gateway. */
typedef struct
{
  IrisdMessage message;
  IrisdMailbox *home; /* the gateway's */
  IrisdPeer *peer;    /* the client that asks; the gateway's own */
  guint8 request_id[IRIS_WIRE_ID_SIZE];
  guint64 wait_ms;
  GBytes *text; /* the answer, or NULL: */
  GError *error;
} IrisdTrace;

IrisdTrace *irisd_trace_new (IrisdMailbox *home, IrisdPeer *peer, const IrisWireMessage *request);
void irisd_trace_free (IrisdTrace *self);

#define irisd_trace_from_message(pointer) IRISD_CONTAINER (pointer, IrisdTrace, message)

IrisdTracer *irisd_tracer_new (IrisdCore *core);
gboolean irisd_tracer_begin (IrisdTracer *self, IrisdTrace *trace, GError **error);
void irisd_tracer_stop (IrisdTracer *self);
void irisd_tracer_free (IrisdTracer *self);

G_END_DECLS
