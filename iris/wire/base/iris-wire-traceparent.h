/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * W3C trace context: reading and writing `traceparent`.
 */
#pragma once

#include <glib.h>
#include <iris/base/iris-version-macros.h>

G_BEGIN_DECLS

#define IRIS_WIRE_TRACE_ID_SIZE 16
#define IRIS_WIRE_SPAN_ID_SIZE  8

/**
 * IRIS_WIRE_TRACE_SAMPLED:
 *
 * The flag that asks for the trace to be recorded.
 */
#define IRIS_WIRE_TRACE_SAMPLED 1

/**
 * IrisWireTraceparent:
 * @trace: the trace, not all zeroes
 * @span: the span in it, not all zeroes
 * @flags: %IRIS_WIRE_TRACE_SAMPLED, or 0
 *
 * What a `traceparent` says.
 */
typedef struct
{
  guint8 trace[IRIS_WIRE_TRACE_ID_SIZE];
  guint8 span[IRIS_WIRE_SPAN_ID_SIZE];
  guint8 flags;
} IrisWireTraceparent;

/**
 * iris_wire_traceparent_parse:
 * @text: not ended by zero
 * @size: its bytes
 * @self: (out caller-allocates): what it says
 *
 * Reads a `traceparent` of W3C's Trace Context. Of a version that is not known the part is read
 * that version 00 has, as that recommendation says.
 *
 * Returns: %FALSE if it is none
 */
IRIS_AVAILABLE_IN_ALL
gboolean iris_wire_traceparent_parse (const char *text, gsize size, IrisWireTraceparent *self);

/**
 * iris_wire_traceparent_format:
 *
 * Returns: (transfer full): the text, in version 00
 */
IRIS_AVAILABLE_IN_ALL
char *iris_wire_traceparent_format (const IrisWireTraceparent *self);

G_END_DECLS
