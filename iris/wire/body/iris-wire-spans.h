/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The body of SPANS_REPLY: items that have ended, as spans of a distributed trace.
 */
#pragma once

#include <iris/wire/base/iris-wire-limits.h>
#include <iris/wire/message/iris-wire-message.h>

G_BEGIN_DECLS

/**
 * IrisWireOutcome:
 * @IRIS_WIRE_OUTCOME_DONE: with a result
 * @IRIS_WIRE_OUTCOME_FAILED: with an error
 * @IRIS_WIRE_OUTCOME_CANCELLED: cancelled
 * @IRIS_WIRE_OUTCOME_EXPIRED: with `deadline-passed`
 * @IRIS_WIRE_OUTCOME_BURIED: it was buried
 *
 * How an item has ended, in a span.
 */
typedef enum
{
  IRIS_WIRE_OUTCOME_DONE,
  IRIS_WIRE_OUTCOME_FAILED,
  IRIS_WIRE_OUTCOME_CANCELLED,
  IRIS_WIRE_OUTCOME_EXPIRED,
  IRIS_WIRE_OUTCOME_BURIED,
} IrisWireOutcome;

/**
 * IrisWireSpan:
 * @number: key 0, numbers rise; a gap is spans that irisd has dropped
 * @traceparent: key 1, W3C trace context of the item itself: what its worker or command was given;
 * owned
 * @parent: key 2, the span that sent it: 16 digits; owned
 * @tracestate: key 3, as it was sent; owned
 * @service: key 4, its service; owned
 * @item: key 5, its number
 * @klass: key 6, 0 volatile, 1 relaxed, 2 durable
 * @accepted_ns: key 7, when it was accepted, Unix time in nanoseconds
 * @started_ns: key 8, when its last run began; 0: it did not run
 * @ended_ns: key 9, when it ended
 * @outcome: key 10, 0 done, 1 failed, 2 cancelled, 3 expired, 4 buried
 * @place: key 11, where it ran, or where it was queued
 * @attempts: key 12, how often it was tried before
 * @exit_status: key 13, of a command that exited; 4294967295: none
 * @message: key 14, the error, or empty; owned
 *
 * One item.
 */
typedef struct
{
  guint64 number;
  char *traceparent;
  char *parent;
  char *tracestate;
  char *service;
  guint64 item;
  guint32 klass;
  guint64 accepted_ns;
  guint64 started_ns;
  guint64 ended_ns;
  guint32 outcome;
  guint32 place;
  guint32 attempts;
  guint32 exit_status;
  char *message;
} IrisWireSpan;

/**
 * IrisWireSpans:
 * @n_spans: length of @spans
 * @spans: (array length=n_spans): oldest first; owned
 *
 * Some of them.
 */
typedef struct
{
  guint n_spans;
  IrisWireSpan *spans;
} IrisWireSpans;

/**
 * iris_wire_spans_new:
 *
 * Returns: (transfer full): spans that are all zeroes; fill them with memory of g_malloc()
 */
IRIS_AVAILABLE_IN_ALL
IrisWireSpans *iris_wire_spans_new (guint n_spans);

/**
 * iris_wire_spans_free:
 * @self: (transfer full) (nullable): freed, with all that it owns
 */
IRIS_AVAILABLE_IN_ALL
void iris_wire_spans_free (IrisWireSpans *self);

/**
 * iris_wire_spans_encode:
 *
 * Returns: (transfer full): the body, or %NULL
 */
IRIS_AVAILABLE_IN_ALL
GBytes *
iris_wire_spans_encode (const IrisWireSpans *self, const IrisWireLimits *limits, GError **error);

/**
 * iris_wire_spans_decode:
 * @body: the body of a SPANS_REPLY
 *
 * Returns: (transfer full): the spans, which borrow nothing, or %NULL
 */
IRIS_AVAILABLE_IN_ALL
IrisWireSpans *
iris_wire_spans_decode (IrisWireFrame body, const IrisWireLimits *limits, GError **error);

/**
 * iris_wire_spans_to_variant:
 *
 * The same by the names of the protocol: an array of dictionaries, "aa{sv}".
 *
 * Returns: (transfer none): a floating value
 */
IRIS_AVAILABLE_IN_ALL
GVariant *iris_wire_spans_to_variant (const IrisWireSpans *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (IrisWireSpans, iris_wire_spans_free)

G_END_DECLS
