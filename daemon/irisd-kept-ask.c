/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What clients ask about kept items: FETCH, SHOW, LIST; and what follows from an acknowledgement.
 *
 * An end that is fetched is an ending like any other: it takes a credit, and its bytes count until
 * they are acknowledged. That bounds what a client which fetches and does not read can cost.
 */
#include "irisd-gateway-private.h"
#include "irisd-journal.h"

/* An ending that was sent, and the kept item that may go when it is acknowledged. */
typedef struct
{
  guint64 ordinal; /* of the ending, among all of the connection */
  guint64 item;
} Due;

/* Numbers are easy to guess, and everybody on the machine can reach a TCP port. */
static gboolean
may_ask (IrisdGateway *self, const IrisdCaller *caller, const IrisWireMessage *request)
{
  g_autoptr (GError) error = NULL;
  if (self->core->journal == NULL)
    error = g_error_new_literal (IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_NOT_DURABLE,
                                 "this irisd keeps no journal, and so no items: start it with "
                                 "--journal DIR");
  else if (caller->over_tcp && !self->core->config->tcp_trusted)
    error = g_error_new_literal (IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_NOT_PERMITTED,
                                 "kept items are told over ipc only: connect over ipc, or, if "
                                 "everybody on irisd's machine may see them, set tcp-trusted in "
                                 "its configuration");
  else
    return TRUE;
  irisd_gateway_refuse (self, caller, request->request_id, error);
  return FALSE;
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
  IrisdErrand *errand = irisd_gateway_new_errand (self, IRISD_ERRAND_FETCH, peer, request_id);
  errand->item = item;
  errand->wait_ms = wait_ms;
  peer->n_fetches++;
  irisd_journal_post (self->core->journal, errand);
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
  if (may_ask (self, caller, request) && irisd_gateway_has_credit (self, caller, request))
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
  if (!may_ask (self, caller, request) || !irisd_gateway_has_credit (self, caller, request))
    return;
  IrisdErrand *errand = irisd_gateway_new_errand (self, IRISD_ERRAND_SHOW, caller->peer,
                                                  request->request_id);
  errand->item = request->item;
  errand->wait_ms = request->wait_ms;
  caller->peer->n_fetches++;
  irisd_journal_post (self->core->journal, errand);
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
  if (!may_ask (self, caller, request) || !irisd_gateway_has_credit (self, caller, request))
    return;
  guint most = self->core->wire_limits.max_entries;
  IrisdErrand *errand = irisd_gateway_new_errand (self, IRISD_ERRAND_LIST, caller->peer,
                                                  request->request_id);
  errand->item = request->item;
  errand->state = request->state;
  errand->count = request->count > 0 ? MIN (request->count, most) : most;
  caller->peer->n_fetches++;
  irisd_journal_post (self->core->journal, errand);
}

/**
 * irisd_gateway_add_due:
 * @peer: to whom the end of a kept item is sent now; its ledger knows of it already
 * @item: that item
 */
void
irisd_gateway_add_due (IrisdPeer *peer, guint64 item)
{
  Due *due = g_new (Due, 1);
  *due = (Due){ peer->unacked.n_pushed, item };
  g_queue_push_tail (&peer->dues, due);
}

/**
 * irisd_gateway_forget_dues:
 * @self: the gateway
 * @peer: who has acknowledged something
 *
 * Lets go of the kept items whose ends are dealt with.
 */
void
irisd_gateway_forget_dues (IrisdGateway *self, IrisdPeer *peer)
{
  guint64 n_popped = peer->unacked.n_pushed - peer->unacked.count;
  IrisdErrand *errand = NULL;
  for (Due *due; (due = g_queue_peek_head (&peer->dues)) != NULL && due->ordinal <= n_popped;)
    {
      if (errand == NULL)
        {
          errand = irisd_errand_new (IRISD_ERRAND_FORGET, &self->mailbox);
          errand->items = g_array_new (FALSE, FALSE, sizeof (guint64));
        }
      g_array_append_val (errand->items, due->item);
      g_free (g_queue_pop_head (&peer->dues));
    }
  if (errand != NULL)
    irisd_journal_post (self->core->journal, errand);
}

static void
tell_pending (IrisdGateway *self, const IrisdCaller *caller, const IrisdErrand *errand)
{
  IrisWireMessage pending;
  iris_wire_message_init (&pending, IRIS_WIRE_PENDING, errand->request_id);
  iris_wire_message_set_uint (&pending, IRIS_WIRE_KEY_STATE, errand->state);
  iris_wire_message_set_uint (&pending, IRIS_WIRE_KEY_ITEM, errand->item);
  irisd_gateway_answer (self, caller, &pending);
}

/* Sends an end as it was written down. */
static void
tell_end (IrisdGateway *self, const IrisdCaller *caller, IrisdErrand *errand)
{
  IrisdPeer *peer = caller->peer;
  const IrisWireFrame frames[IRIS_WIRE_N_FRAMES] = {
    { (const guint8 *) "IRS1", 4 },
    { &errand->type, 1 },
    { errand->request_id, IRIS_WIRE_ID_SIZE },
    { errand->header.data, errand->header.size },
    { zmq_msg_data (&errand->body), zmq_msg_size (&errand->body) },
  };
  IrisWireMessage message;
  g_autoptr (GError) error = NULL;
  if (!iris_wire_decode (frames, IRIS_WIRE_N_FRAMES, &self->core->wire_limits, &message, &error))
    {
      irisd_gateway_refuse (self, caller, errand->request_id, error);
      return;
    }
  gsize size = zmq_msg_size (&errand->body);
  irisd_peer_add_bytes (peer, (gint64) size);
  irisd_core_add_bytes (self->core, (gint64) size);
  irisd_ledger_push (&peer->unacked, size);
  irisd_gateway_add_due (peer, errand->item);
  irisd_gateway_send (self, &peer->route, peer, &message, size > 0 ? &errand->body : NULL);
}

static void
tell_list (IrisdGateway *self, const IrisdCaller *caller, IrisdErrand *errand)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) body = iris_wire_kept_encode (errand->list, &self->core->wire_limits, &error);
  IrisWireMessage reply;
  iris_wire_message_init (
      &reply, errand->kind == IRISD_ERRAND_SHOW ? IRIS_WIRE_SHOW_REPLY : IRIS_WIRE_LIST_REPLY,
      errand->request_id);
  irisd_gateway_answer_bytes (self, caller, &reply, body, error);
}

/**
 * irisd_gateway_take_told:
 * @self: the gateway
 * @errand: FETCH, SHOW or LIST with its answer
 */
void
irisd_gateway_take_told (IrisdGateway *self, IrisdErrand *errand)
{
  const IrisdCaller caller = { .route = errand->peer->route, .peer = errand->peer };
  errand->peer->n_fetches--;
  if (irisd_peer_is_gone (errand->peer))
    return;
  if (errand->error != NULL)
    irisd_gateway_refuse (self, &caller, errand->request_id, errand->error);
  else if (errand->list != NULL)
    tell_list (self, &caller, errand);
  else if (errand->pending)
    tell_pending (self, &caller, errand);
  else
    tell_end (self, &caller, errand);
}
