/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What clients ask about kept items: FETCH, SHOW, LIST; and what follows from an acknowledgement.
 *
 * An end that is fetched is an ending like any other: it takes a credit, and its bytes count until
 * they are acknowledged. That bounds what a client which fetches and does not read can cost.
 */
#include "irisd-gateway-private.h"
#include "irisd-journal.h"

gboolean
irisd_gateway_may_ask_kept (IrisdGateway *self,
                            const IrisdCaller *caller,
                            const IrisWireMessage *request)
{
  g_autoptr (GError) error = NULL;
  if (self->core->journal == NULL)
    error = g_error_new_literal (IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_NOT_DURABLE,
                                 "this irisd keeps no journal, and so no items: start it with "
                                 "--journal DIR");
  else
    return TRUE;
  irisd_gateway_refuse (self, caller, request->request_id, error);
  return FALSE;
}

/* Among which of its peer's questions it counts until it is answered. */
static guint *
count_of (const IrisdSlip *slip)
{
  gboolean counts = slip->kind == IRISD_SLIP_FETCH || slip->whole;
  return counts ? &slip->peer->n_fetches : &slip->peer->n_questions;
}

/**
 * irisd_gateway_await_end:
 * @self: the gateway
 * @peer: who is told
 * @request_id: under which id
 * @item: the number of a kept item
 * @wait_ms: how long to wait for its end, in milliseconds
 */
void
irisd_gateway_await_end (IrisdGateway *self,
                         IrisdPeer *peer,
                         const guint8 *request_id,
                         guint64 item,
                         guint64 wait_ms)
{
  IrisdSlip *slip = irisd_gateway_new_slip (self, IRISD_SLIP_FETCH, peer, request_id);
  slip->view = irisd_policy_get_view (IRIS_WIRE_FETCH, peer->role, peer->owner);
  slip->item = item;
  slip->wait_ms = wait_ms;
  *count_of (slip) += 1;
  irisd_journal_post (self->core->journal, slip);
}

/**
 * irisd_gateway_fetch:
 * @self: the gateway
 * @caller: who
 * @request: a FETCH message
 */
void
irisd_gateway_fetch (IrisdGateway *self, const IrisdCaller *caller, const IrisWireMessage *request)
{
  if (irisd_gateway_may_ask_kept (self, caller, request)
      && irisd_gateway_may_ask (self, caller, request, TRUE))
    irisd_gateway_await_end (self, caller->peer, request->request_id, request->item,
                             request->wait_ms);
}

/**
 * irisd_gateway_show:
 * @self: the gateway
 * @caller: who
 * @request: a SHOW message
 */
void
irisd_gateway_show (IrisdGateway *self, const IrisdCaller *caller, const IrisWireMessage *request)
{
  if (!irisd_gateway_may_ask_kept (self, caller, request)
      || !irisd_gateway_may_ask (self, caller, request, request->payload))
    return;
  IrisdSlip *slip = irisd_gateway_new_slip (self, IRISD_SLIP_SHOW, caller->peer,
                                            request->request_id);
  slip->view = irisd_gateway_get_view (caller, IRIS_WIRE_SHOW);
  slip->item = request->item;
  slip->wait_ms = request->wait_ms;
  slip->whole = request->payload;
  *count_of (slip) += 1;
  irisd_journal_post (self->core->journal, slip);
}

/**
 * irisd_gateway_list:
 * @self: the gateway
 * @caller: who
 * @request: a LIST message
 */
void
irisd_gateway_list (IrisdGateway *self, const IrisdCaller *caller, const IrisWireMessage *request)
{
  if (!irisd_gateway_may_ask_kept (self, caller, request)
      || !irisd_gateway_may_ask (self, caller, request, FALSE))
    return;
  IrisdSlip *slip = irisd_gateway_new_slip (self, IRISD_SLIP_LIST, caller->peer,
                                            request->request_id);
  slip->filter = irisd_kept_filter_new (request, irisd_gateway_get_view (caller, IRIS_WIRE_LIST),
                                        self->core->wire_limits.max_entries);
  *count_of (slip) += 1;
  irisd_journal_post (self->core->journal, slip);
}

/**
 * irisd_gateway_forget_items:
 * @self: the gateway
 * @items: (transfer full): #IrisdSpan of kept items whose ends were acknowledged
 */
void
irisd_gateway_forget_items (IrisdGateway *self, GArray *items)
{
  IrisdSlip *slip = irisd_slip_new (IRISD_SLIP_FORGET, &self->mailbox);
  slip->items = items;
  irisd_journal_post (self->core->journal, slip);
}

static void
tell_pending (IrisdGateway *self, const IrisdCaller *caller, const IrisdSlip *slip)
{
  IrisWireMessage pending;
  iris_wire_message_init (&pending, IRIS_WIRE_PENDING, slip->request_id);
  iris_wire_message_set_uint (&pending, IRIS_WIRE_KEY_STATE, slip->state);
  iris_wire_message_set_uint (&pending, IRIS_WIRE_KEY_ITEM, slip->item);
  irisd_gateway_answer (self, caller, &pending);
}

/* What takes a credit, and counts its bytes, until it is acknowledged; then @item may go. */
static void
charge (IrisdGateway *self, const IrisdSlip *slip, gsize size, guint64 item)
{
  irisd_peer_add_bytes (slip->peer, (gint64) size);
  irisd_core_add_bytes (self->core, (gint64) size);
  irisd_ledger_push (&slip->peer->unacked, slip->request_id, size, item);
}

/* Reads what an item is kept as. It borrows from the slip. */
static gboolean
decode (IrisdGateway *self, const IrisdSlip *slip, IrisWireMessage *message, GError **error)
{
  const IrisWireFrame frames[IRIS_WIRE_N_FRAMES] = {
    { (const guint8 *) "IRS1", 4 },
    { &slip->type, 1 },
    { slip->request_id, IRIS_WIRE_ID_SIZE },
    { slip->header.data, slip->header.size },
    { zmq_msg_data ((zmq_msg_t *) &slip->body), zmq_msg_size (&slip->body) },
  };
  return iris_wire_decode (frames, IRIS_WIRE_N_FRAMES, &self->core->wire_limits, message, error);
}

/* Sends an end as it was written down. */
static void
tell_end (IrisdGateway *self, const IrisdCaller *caller, IrisdSlip *slip)
{
  IrisdPeer *peer = caller->peer;
  IrisWireMessage message;
  g_autoptr (GError) error = NULL;
  if (!decode (self, slip, &message, &error))
    {
      irisd_gateway_refuse (self, caller, slip->request_id, error);
      return;
    }
  gsize size = zmq_msg_size (&slip->body);
  charge (self, slip, size, slip->item);
  irisd_gateway_send_ending (self, peer, &message, size > 0 ? &slip->body : NULL);
}

/* Whoever waits for the end of a buried item waits no longer; to it this is an ending. */
static void
tell_buried (IrisdGateway *self, const IrisdCaller *caller, IrisdSlip *slip)
{
  IrisWireMessage message;
  iris_wire_message_init (&message, IRIS_WIRE_ERROR_REPLY, slip->request_id);
  iris_wire_message_set_error (&message, slip->error);
  iris_wire_message_set_boolean (&message, IRIS_WIRE_KEY_ENDS, TRUE);
  iris_wire_message_set_uint (&message, IRIS_WIRE_KEY_ITEM, slip->item);
  charge (self, slip, 0, 0);
  irisd_gateway_answer (self, caller, &message);
}

/* Sends an item as it was submitted, in the form of a batch of one. */
static void
tell_whole (IrisdGateway *self, const IrisdCaller *caller, IrisdSlip *slip)
{
  g_autoptr (GError) error = NULL;
  IrisWireMessage item, reply;
  g_auto (IrisWireBatchBuilder) builder;
  iris_wire_batch_builder_init (&builder, &self->core->wire_limits);
  gboolean well = decode (self, slip, &item, &error);
  if (well)
    irisd_gateway_unpin_hint (&item);
  if (!well || !iris_wire_batch_builder_add (&builder, &item, &error))
    {
      irisd_gateway_refuse (self, caller, slip->request_id, error);
      return;
    }
  iris_wire_message_init (&reply, IRIS_WIRE_SHOW_REPLY, slip->request_id);
  iris_wire_message_set_boolean (&reply, IRIS_WIRE_KEY_PAYLOAD, TRUE);
  reply.body = iris_wire_batch_builder_get_body (&builder);
  charge (self, slip, reply.body.size, 0);
  irisd_gateway_answer (self, caller, &reply);
}

static void
tell_list (IrisdGateway *self, const IrisdCaller *caller, IrisdSlip *slip)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) body = iris_wire_kept_encode (slip->list, &self->core->wire_limits, &error);
  IrisWireMessage reply;
  iris_wire_message_init (
      &reply, slip->kind == IRISD_SLIP_SHOW ? IRIS_WIRE_SHOW_REPLY : IRIS_WIRE_LIST_REPLY,
      slip->request_id);
  if (slip->kind == IRISD_SLIP_LIST && slip->item != 0)
    iris_wire_message_set_uint (&reply, IRIS_WIRE_KEY_ITEM, slip->item);
  irisd_gateway_answer_bytes (self, caller, &reply, body, error);
}

/**
 * irisd_gateway_take_told:
 * @self: the gateway
 * @slip: FETCH, SHOW or LIST with its answer
 */
void
irisd_gateway_take_told (IrisdGateway *self, IrisdSlip *slip)
{
  const IrisdCaller caller = { .route = slip->peer->route, .peer = slip->peer };
  *count_of (slip) -= 1;
  if (irisd_peer_is_gone (slip->peer))
    return;
  if (g_error_matches (slip->error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BURIED))
    tell_buried (self, &caller, slip);
  else if (slip->error != NULL)
    irisd_gateway_refuse (self, &caller, slip->request_id, slip->error);
  else if (slip->list != NULL)
    tell_list (self, &caller, slip);
  else if (slip->kind == IRISD_SLIP_SHOW)
    tell_whole (self, &caller, slip);
  else if (slip->pending)
    tell_pending (self, &caller, slip);
  else
    tell_end (self, &caller, slip);
}
