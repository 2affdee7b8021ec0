/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The trace context of an item: the distributed trace that it belongs to, and its span there.
 */
#pragma once

#include <iris/wire/iris-wire.h>

G_BEGIN_DECLS

/* Constant once the span has its id. */
typedef struct
{
  IrisWireTraceparent own; /* the trace, and the item's span */
  guint8 parent[IRIS_WIRE_SPAN_ID_SIZE];
  char *traceparent; /* of the item, for what runs it; NULL until the span has its id */
  char *tracestate;  /* NULL: none */
} IrisdTraceContext;

gboolean irisd_trace_context_check (const IrisWireMessage *item, GError **error);
IrisdTraceContext *irisd_trace_context_new (const IrisWireMessage *item);
IrisdTraceContext *irisd_trace_context_copy (const IrisdTraceContext *self);
void irisd_trace_context_free (IrisdTraceContext *self);
void irisd_trace_context_name_span (IrisdTraceContext *self, guint64 salt, guint64 item);
char *irisd_trace_context_format_parent (const IrisdTraceContext *self);
guint64 irisd_trace_context_make_salt (const char *dir);

/* Whether its client wants the trace to be recorded. */
static inline gboolean
irisd_trace_context_is_sampled (const IrisdTraceContext *self)
{
  return (self->own.flags & IRIS_WIRE_TRACE_SAMPLED) != 0;
}

G_END_DECLS
