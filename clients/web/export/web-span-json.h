/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Spans of irisd as OTLP has them in JSON.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* @span is one of SPANS_REPLY, "a{sv}". NULL if it belongs to no trace. */
char *web_span_json_write (GVariant *span);
/* An ExportTraceServiceRequest of the first @n of @spans, which are texts as above. */
GBytes *web_span_json_join (const GQueue *spans, guint n);

G_END_DECLS
