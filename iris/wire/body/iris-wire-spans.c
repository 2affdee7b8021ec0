/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The body of SPANS_REPLY: items that have ended, as spans of a distributed trace.
 */
#include "iris-wire-spans.h"

#include "iris-wire-record-private.h"

#define FIELD(key, kind, member, text) \
  IRIS_WIRE_RECORD_FIELD (IrisWireSpan, key, kind, member, text)

static const IrisWireRecordField span_fields[] = {
  FIELD (0, UINT64, number, "number"),         FIELD (1, STRING, traceparent, "traceparent"),
  FIELD (2, STRING, parent, "parent"),         FIELD (3, STRING, tracestate, "tracestate"),
  FIELD (4, STRING, service, "service"),       FIELD (5, UINT64, item, "item"),
  FIELD (6, UINT32, klass, "class"),           FIELD (7, UINT64, accepted_ns, "accepted-ns"),
  FIELD (8, UINT64, started_ns, "started-ns"), FIELD (9, UINT64, ended_ns, "ended-ns"),
  FIELD (10, UINT32, outcome, "outcome"),      FIELD (11, UINT32, place, "place"),
  FIELD (12, UINT32, attempts, "attempts"),    FIELD (13, UINT32, exit_status, "exit-status"),
  FIELD (14, STRING, message, "message"),
};

static const IrisWireRecord span_record = IRIS_WIRE_RECORD (IrisWireSpan, span_fields);

IRIS_WIRE_DEFINE_LIST_BODY (IrisWireSpans, spans, "SPANS_REPLY", span_record, spans)

GVariant *
iris_wire_spans_to_variant (const IrisWireSpans *self)
{
  GVariantBuilder builder;

  g_return_val_if_fail (self != NULL, NULL);

  g_variant_builder_init (&builder, G_VARIANT_TYPE ("aa{sv}"));
  for (guint i = 0; i < self->n_spans; i++)
    g_variant_builder_add_value (&builder,
                                 iris_wire_record_to_variant (&span_record, &self->spans[i]));
  return g_variant_builder_end (&builder);
}
