/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Requests about what happened: TRACE and SPANS.
 */
#include "daemon/gateway/irisd-trace-requests.h"

#include "daemon/gateway/irisd-send.h"
#include "daemon/items/irisd-spans.h"

/* Bytes of one part of a time line. */
#define PART (256 * 1024)

/* Spans of one answer; a reader with more to read asks again. */
#define MOST_SPANS 512

static gboolean
check_time (const IrisWireMessage *request, GError **error)
{
  if (request->wait_ms >= 1 && request->wait_ms <= IRISD_MOST_TRACE_MS)
    return TRUE;
  g_set_error (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BAD_ARGUMENT,
               "cannot trace for %" G_GUINT64_FORMAT " ms: a time line has from 1 to %d ms",
               request->wait_ms, IRISD_MOST_TRACE_MS);
  return FALSE;
}

/* The answer comes when the time is over, also for a gateway that serves others meanwhile. */
void
irisd_trace_requests_begin (IrisdGateway *self,
                            const IrisdCaller *caller,
                            const IrisWireMessage *request)
{
  g_autoptr (GError) error = NULL;
  if (!check_time (request, &error))
    {
      irisd_send_refusal (self, caller, request->request_id, error);
      return;
    }
  IrisdTrace *trace = irisd_trace_new (&self->mailbox, caller->peer, request);
  if (irisd_tracer_begin (self->core->tracer, trace, &error))
    return;
  irisd_trace_free (trace);
  irisd_send_refusal (self, caller, request->request_id, error);
}

static void
send_parts (IrisdGateway *self, const IrisdCaller *caller, IrisdTrace *trace)
{
  const gsize size = g_bytes_get_size (trace->text);
  const gsize most = MIN (PART, self->core->wire_limits.max_body);
  gsize at = 0;
  do
    {
      const gsize n = MIN (size - at, most);
      g_autoptr (GBytes) part = g_bytes_new_from_bytes (trace->text, at, n);
      IrisWireMessage reply;
      iris_wire_message_init (&reply, IRIS_WIRE_TRACE_REPLY, trace->request_id);
      at += n;
      if (at == size)
        iris_wire_message_set_boolean (&reply, IRIS_WIRE_KEY_ENDS, TRUE);
      irisd_send_answer_bytes (self, caller, &reply, part, NULL);
    }
  while (at < size && !irisd_peer_is_gone (caller->peer));
}

/* Takes @trace, which has its time line. */
void
irisd_trace_requests_take (IrisdGateway *self, IrisdTrace *trace)
{
  if (!irisd_peer_is_gone (trace->peer))
    {
      const IrisdCaller caller = { .route = trace->peer->route, .peer = trace->peer };
      if (trace->text != NULL)
        send_parts (self, &caller, trace);
      else
        irisd_send_refusal (self, &caller, trace->request_id, trace->error);
    }
  irisd_trace_free (trace);
}

void
irisd_trace_requests_answer_spans (IrisdGateway *self,
                                   const IrisdCaller *caller,
                                   const IrisWireMessage *request)
{
  guint most = MIN (MOST_SPANS, self->core->wire_limits.max_entries);
  if (iris_wire_message_has (request, IRIS_WIRE_KEY_COUNT))
    most = MIN (most, request->count);
  guint64 next = 0;
  g_autoptr (IrisWireSpans)
      spans = irisd_spans_get (self->core->spans, request->offset, most, &next);
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) body = iris_wire_spans_encode (spans, &self->core->wire_limits, &error);
  IrisWireMessage reply;
  iris_wire_message_init (&reply, IRIS_WIRE_SPANS_REPLY, request->request_id);
  iris_wire_message_set_uint (&reply, IRIS_WIRE_KEY_OFFSET, next);
  irisd_send_answer_bytes (self, caller, &reply, body, error);
}
