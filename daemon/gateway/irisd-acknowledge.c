/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * ACK requests: completions that a client has handled count no longer against its credit.
 */
#include "daemon/gateway/irisd-gateway-private.h"
#include "daemon/store/irisd-journal.h"

static void
let_go (guint64 item, gpointer user_data)
{
  GArray *spans = user_data;
  IrisdSpan *last = spans->len > 0 ? &g_array_index (spans, IrisdSpan, spans->len - 1) : NULL;
  if (last != NULL && item == last->first + last->n)
    last->n++;
  else if (last != NULL && item + 1 == last->first)
    *last = (IrisdSpan){ item, last->n + 1 };
  else
    g_array_append_val (spans, ((IrisdSpan){ item, 1 }));
}

static void
refuse_ack (IrisdGateway *self,
            const IrisdCaller *caller,
            const IrisWireMessage *request,
            const guint8 *id)
{
  char hex[2 * IRIS_WIRE_ID_SIZE + 1];
  for (guint i = 0; i < IRIS_WIRE_ID_SIZE; i++)
    g_snprintf (hex + 2 * (gsize) i, 3, "%02x", id[i]);
  g_autoptr (GError) error = NULL;
  if (iris_wire_message_has (request, IRIS_WIRE_KEY_COUNT))
    error = g_error_new (
        IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BAD_ARGUMENT,
        "cannot acknowledge: of the %u unacknowledged completions of this connection"
        ", oldest first, number %u is not that of request %s; name each "
        "completion that was handled",
        caller->peer->unacked.count, request->count, hex);
  else
    error = g_error_new (
        IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BAD_ARGUMENT,
        "cannot acknowledge: no completion of request %s is unacknowledged on this "
        "connection; name each completion once, on the connection that brought it",
        hex);
  irisd_send_refusal (self, caller, request->request_id, error);
}

/* Removes acknowledged completions from the list. Returns NULL, or the id that does not fit; then
 * nothing has changed. */
static const guint8 *
pay (IrisdUnacknowledged *unacked, const IrisWireMessage *request, GArray *items)
{
  if (request->body.size > 0)
    return irisd_unacknowledged_pay (unacked, request->body.data,
                                     (guint) (request->body.size / IRIS_WIRE_ID_SIZE), let_go,
                                     items);
  if (!iris_wire_message_has (request, IRIS_WIRE_KEY_COUNT))
    return irisd_unacknowledged_pay (unacked, request->target, 1, let_go, items);
  gboolean well = irisd_unacknowledged_pay_until (unacked, request->target, request->count, let_go,
                                                  items);
  return well ? NULL : request->target;
}

void
irisd_acknowledge_request (IrisdGateway *self,
                           const IrisdCaller *caller,
                           const IrisWireMessage *request)
{
  IrisdPeer *peer = caller->peer;
  guint64 owed = peer->unacked.sum;
  g_autoptr (GArray) items = g_array_new (FALSE, FALSE, sizeof (IrisdSpan));
  const guint8 *pending = pay (&peer->unacked, request, items);
  if (pending != NULL)
    {
      refuse_ack (self, caller, request, pending);
      return;
    }
  gint64 freed = (gint64) (owed - peer->unacked.sum);
  irisd_peer_add_bytes (peer, -freed);
  irisd_core_add_bytes (self->core, -freed);
  if (items->len > 0)
    irisd_item_requests_forget (self, g_steal_pointer (&items));
  irisd_completion_advance_held (self, peer);
}
