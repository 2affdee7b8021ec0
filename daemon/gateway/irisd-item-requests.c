/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Requests about persistent items: FETCH, SHOW, LIST; and the removal of acknowledged items.
 *
 * A fetched end is a completion like any other: it takes a credit, and its bytes count until they
 * are acknowledged. That bounds the cost of a client that fetches and does not read.
 */
#include "daemon/gateway/irisd-gateway-private.h"
#include "daemon/store/irisd-journal.h"

gboolean
irisd_item_requests_may_ask (IrisdGateway *self,
                             const IrisdCaller *caller,
                             const IrisWireMessage *request)
{
  g_autoptr (GError) error = NULL;
  if (self->core->journal == NULL)
    error = g_error_new_literal (
        IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_NOT_DURABLE,
        "this irisd has no journal, and so no persistent items; start it with "
        "--journal DIR");
  else
    return TRUE;
  irisd_send_refusal (self, caller, request->request_id, error);
  return FALSE;
}

/* The count of its peer's unanswered requests to which it belongs. */
static guint *
count_of (const IrisdJournalRequest *request)
{
  gboolean counts = request->kind == IRISD_JOURNAL_REQUEST_FETCH || request->whole;
  return counts ? &request->peer->n_fetches : &request->peer->n_questions;
}

/* Tells @peer the end of a persistent item, after up to @wait_ms milliseconds. */
void
irisd_item_requests_await_end (IrisdGateway *self,
                               IrisdPeer *peer,
                               const guint8 *request_id,
                               guint64 item,
                               guint64 wait_ms)
{
  IrisdJournalRequest *request = irisd_persistent_new_request (self, IRISD_JOURNAL_REQUEST_FETCH,
                                                               peer, request_id);
  request->view = irisd_policy_get_view (IRIS_WIRE_FETCH, peer->role, peer->owner);
  request->item = item;
  request->wait_ms = wait_ms;
  *count_of (request) += 1;
  irisd_journal_post (self->core->journal, request);
}

void
irisd_item_requests_fetch (IrisdGateway *self,
                           const IrisdCaller *caller,
                           const IrisWireMessage *request)
{
  if (irisd_item_requests_may_ask (self, caller, request)
      && irisd_admission_may_ask (self, caller, request, TRUE))
    irisd_item_requests_await_end (self, caller->peer, request->request_id, request->item,
                                   request->wait_ms);
}

void
irisd_item_requests_show (IrisdGateway *self,
                          const IrisdCaller *caller,
                          const IrisWireMessage *request)
{
  if (!irisd_item_requests_may_ask (self, caller, request)
      || !irisd_admission_may_ask (self, caller, request, request->payload))
    return;
  IrisdJournalRequest *journal_request = irisd_persistent_new_request (
      self, IRISD_JOURNAL_REQUEST_SHOW, caller->peer, request->request_id);
  journal_request->view = irisd_ownership_get_view (caller, IRIS_WIRE_SHOW);
  journal_request->item = request->item;
  journal_request->wait_ms = request->wait_ms;
  journal_request->whole = request->payload;
  *count_of (journal_request) += 1;
  irisd_journal_post (self->core->journal, journal_request);
}

void
irisd_item_requests_list (IrisdGateway *self,
                          const IrisdCaller *caller,
                          const IrisWireMessage *request)
{
  if (!irisd_item_requests_may_ask (self, caller, request)
      || !irisd_admission_may_ask (self, caller, request, FALSE))
    return;
  IrisdJournalRequest *journal_request = irisd_persistent_new_request (
      self, IRISD_JOURNAL_REQUEST_LIST, caller->peer, request->request_id);
  journal_request->filter = irisd_persistent_filter_new (
      request, irisd_ownership_get_view (caller, IRIS_WIRE_LIST),
      self->core->wire_limits.max_entries);
  *count_of (journal_request) += 1;
  irisd_journal_post (self->core->journal, journal_request);
}

/* The ends of @items, IrisdSpan, were acknowledged. */
void
irisd_item_requests_forget (IrisdGateway *self, GArray *items)
{
  IrisdJournalRequest *request = irisd_journal_request_new (IRISD_JOURNAL_REQUEST_FORGET,
                                                            &self->mailbox);
  request->items = items;
  irisd_journal_post (self->core->journal, request);
}

static void
tell_pending (IrisdGateway *self, const IrisdCaller *caller, const IrisdJournalRequest *request)
{
  IrisWireMessage pending;
  iris_wire_message_init (&pending, IRIS_WIRE_PENDING, request->request_id);
  iris_wire_message_set_uint (&pending, IRIS_WIRE_KEY_STATE, request->state);
  iris_wire_message_set_uint (&pending, IRIS_WIRE_KEY_ITEM, request->item);
  irisd_send_answer (self, caller, &pending);
}

/* Takes a credit, and counts bytes, until it is acknowledged; then @item may be deleted. */
static void
charge (IrisdGateway *self, const IrisdJournalRequest *request, gsize size, guint64 item)
{
  irisd_peer_add_bytes (request->peer, (gint64) size);
  irisd_core_add_bytes (self->core, (gint64) size);
  irisd_unacknowledged_push (&request->peer->unacked, request->request_id, size, item);
}

/* Reads the message that an item is stored as. It borrows from the journal request. */
static gboolean
decode (IrisdGateway *self,
        const IrisdJournalRequest *request,
        IrisWireMessage *message,
        GError **error)
{
  const IrisWireFrame frames[IRIS_WIRE_N_FRAMES] = {
    { (const guint8 *) "IRS1", 4 },
    { &request->type, 1 },
    { request->request_id, IRIS_WIRE_ID_SIZE },
    { request->header.data, request->header.size },
    { zmq_msg_data ((zmq_msg_t *) &request->body), zmq_msg_size (&request->body) },
  };
  return iris_wire_decode (frames, IRIS_WIRE_N_FRAMES, &self->core->wire_limits, message, error);
}

/* Sends an end as it was stored. */
static void
tell_end (IrisdGateway *self, const IrisdCaller *caller, IrisdJournalRequest *request)
{
  IrisdPeer *peer = caller->peer;
  IrisWireMessage message;
  g_autoptr (GError) error = NULL;
  if (!decode (self, request, &message, &error))
    {
      irisd_send_refusal (self, caller, request->request_id, error);
      return;
    }
  gsize size = zmq_msg_size (&request->body);
  charge (self, request, size, request->item);
  irisd_send_completion (self, peer, &message, size > 0 ? &request->body : NULL);
}

/* A client that waits for the end of a buried item waits no longer: it is told an end. */
static void
tell_buried (IrisdGateway *self, const IrisdCaller *caller, IrisdJournalRequest *request)
{
  IrisWireMessage message;
  iris_wire_message_init (&message, IRIS_WIRE_ERROR_REPLY, request->request_id);
  iris_wire_message_set_error (&message, request->error);
  iris_wire_message_set_boolean (&message, IRIS_WIRE_KEY_ENDS, TRUE);
  iris_wire_message_set_uint (&message, IRIS_WIRE_KEY_ITEM, request->item);
  charge (self, request, 0, 0);
  irisd_send_answer (self, caller, &message);
}

/* Sends an item as it was submitted, in the form of a batch of one. */
static void
tell_whole (IrisdGateway *self, const IrisdCaller *caller, IrisdJournalRequest *request)
{
  g_autoptr (GError) error = NULL;
  IrisWireMessage item, reply;
  g_auto (IrisWireBatchBuilder) builder;
  iris_wire_batch_builder_init (&builder, &self->core->wire_limits);
  gboolean well = decode (self, request, &item, &error);
  if (well)
    irisd_placement_unpin_hint (&item);
  if (!well || !iris_wire_batch_builder_add (&builder, &item, &error))
    {
      irisd_send_refusal (self, caller, request->request_id, error);
      return;
    }
  iris_wire_message_init (&reply, IRIS_WIRE_SHOW_REPLY, request->request_id);
  iris_wire_message_set_boolean (&reply, IRIS_WIRE_KEY_PAYLOAD, TRUE);
  reply.body = iris_wire_batch_builder_get_body (&builder);
  charge (self, request, reply.body.size, 0);
  irisd_send_answer (self, caller, &reply);
}

static void
tell_list (IrisdGateway *self, const IrisdCaller *caller, IrisdJournalRequest *request)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes)
      body = iris_wire_persistent_list_encode (request->list, &self->core->wire_limits, &error);
  IrisWireMessage reply;
  iris_wire_message_init (&reply,
                          request->kind == IRISD_JOURNAL_REQUEST_SHOW ? IRIS_WIRE_SHOW_REPLY
                                                                      : IRIS_WIRE_LIST_REPLY,
                          request->request_id);
  if (request->kind == IRISD_JOURNAL_REQUEST_LIST && request->item != 0)
    iris_wire_message_set_uint (&reply, IRIS_WIRE_KEY_ITEM, request->item);
  irisd_send_answer_bytes (self, caller, &reply, body, error);
}

/* @request is FETCH, SHOW or LIST with its answer. */
void
irisd_item_requests_take_answer (IrisdGateway *self, IrisdJournalRequest *request)
{
  const IrisdCaller caller = { .route = request->peer->route, .peer = request->peer };
  *count_of (request) -= 1;
  if (irisd_peer_is_gone (request->peer))
    return;
  if (g_error_matches (request->error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BURIED))
    tell_buried (self, &caller, request);
  else if (request->error != NULL)
    irisd_send_refusal (self, &caller, request->request_id, request->error);
  else if (request->list != NULL)
    tell_list (self, &caller, request);
  else if (request->kind == IRISD_JOURNAL_REQUEST_SHOW)
    tell_whole (self, &caller, request);
  else if (request->pending)
    tell_pending (self, &caller, request);
  else
    tell_end (self, &caller, request);
}
