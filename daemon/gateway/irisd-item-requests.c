/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a connection asks about items that it or others have sent: FETCH, SHOW and LIST of
 * persistent ones, ACK of what was told, and MORE credit for output, which is sent here as well.
 *
 * A fetched end is a completion like any other: it takes a credit, and its bytes count until they
 * are acknowledged. That bounds the cost of a client that fetches and does not read.
 */
#include "daemon/gateway/irisd-item-requests.h"

#include "daemon/exec/command/irisd-command.h"
#include "daemon/exec/command/irisd-command-runner.h"
#include "daemon/exec/worker/irisd-worker-processes.h"
#include "daemon/gateway/irisd-send.h"
#include "daemon/gateway/irisd-submit.h"
#include "daemon/items/irisd-dispatch.h"
#include "daemon/items/irisd-persistent.h"
#include "daemon/items/irisd-placement.h"

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

void
irisd_item_requests_fetch (IrisdGateway *self,
                           const IrisdCaller *caller,
                           const IrisWireMessage *request)
{
  if (irisd_item_requests_may_ask (self, caller, request)
      && irisd_submit_may_ask (self, caller, request, TRUE))
    irisd_persistent_await_end (&self->items, caller->peer, request->request_id, request->item,
                                request->wait_ms);
}

void
irisd_item_requests_show (IrisdGateway *self,
                          const IrisdCaller *caller,
                          const IrisWireMessage *request)
{
  if (!irisd_item_requests_may_ask (self, caller, request)
      || !irisd_submit_may_ask (self, caller, request, request->payload))
    return;
  IrisdJournalRequest *journal_request = irisd_items_new_request (
      &self->items, IRISD_JOURNAL_REQUEST_SHOW, caller->peer, request->request_id);
  journal_request->view = irisd_peer_get_view (caller->peer, IRIS_WIRE_SHOW);
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
      || !irisd_submit_may_ask (self, caller, request, FALSE))
    return;
  g_autoptr (GError) error = NULL;
  guint queue = 0;
  if (request->queue.len > 0
      && (queue = irisd_named_queues_find (&self->core->queues, &request->queue, &error)) == 0)
    {
      irisd_send_refusal (self, caller, request->request_id, error);
      return;
    }
  IrisdJournalRequest *journal_request = irisd_items_new_request (
      &self->items, IRISD_JOURNAL_REQUEST_LIST, caller->peer, request->request_id);
  journal_request->filter = irisd_persistent_filter_new (
      request, irisd_peer_get_view (caller->peer, IRIS_WIRE_LIST),
      self->core->wire_limits.max_entries);
  journal_request->filter->queue = queue;
  *count_of (journal_request) += 1;
  irisd_journal_post (self->core->journal, journal_request);
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
  irisd_count (&self->items.counters.unacked, 1);
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
  /* The bridge acknowledges what it has passed on, and another node's client may not have it. */
  charge (self, request, size, peer->bridge ? 0 : request->item);
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

/* The journal knows the numbers of owners, and the settings the names of keys. */
static void
name_owners (IrisdGateway *self, IrisWirePersistentList *list)
{
  const IrisdConfig *settings = irisd_core_get_settings (self->core);
  for (guint i = 0; i < list->n_items; i++)
    {
      IrisWirePersistentItem *item = &list->items[i];
      const IrisdKey *key = irisd_keys_find_owner (settings->keys, (gint64) item->owner);
      if (key != NULL)
        item->owner_name = g_strdup (key->name);
    }
  if (self->core->cluster != NULL)
    irisd_worker_processes_name_nodes (self->core->worker_processes, list);
}

static void
tell_list (IrisdGateway *self, const IrisdCaller *caller, IrisdJournalRequest *request)
{
  g_autoptr (GError) error = NULL;
  name_owners (self, request->list);
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

/* The ends of @items, IrisdSpan, were acknowledged. */
static void
forget (IrisdGateway *self, GArray *items)
{
  IrisdJournalRequest *request = irisd_journal_request_new (IRISD_JOURNAL_REQUEST_FORGET,
                                                            &self->mailbox);
  request->items = items;
  irisd_journal_post (self->core->journal, request);
}

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
irisd_item_requests_acknowledge (IrisdGateway *self,
                                 const IrisdCaller *caller,
                                 const IrisWireMessage *request)
{
  IrisdPeer *peer = caller->peer;
  guint64 owed = peer->unacked.sum;
  guint n_owed = peer->unacked.count;
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
  irisd_count (&self->items.counters.unacked, (gint64) peer->unacked.count - n_owed);
  if (items->len > 0)
    forget (self, g_steal_pointer (&items));
  irisd_dispatch_advance_held (&self->items, peer);
}

void
irisd_item_requests_send_output (IrisdGateway *self, IrisdOutput *output)
{
  IrisdPeer *peer = output->job->peer;
  if (!irisd_peer_is_gone (peer) && output->size == 0)
    {
      if (!irisd_send_probe (self, peer))
        irisd_gateway_lose_peer (self, peer, "it has gone", FALSE);
    }
  else if (!irisd_peer_is_gone (peer))
    {
      IrisWireMessage message;
      iris_wire_message_init (&message, IRIS_WIRE_OUTPUT, output->job->request_id);
      iris_wire_message_set_uint (&message, IRIS_WIRE_KEY_CHANNEL, output->channel);
      iris_wire_message_set_body (&message, output->data, output->size);
      irisd_send_message (self, &peer->route, peer, &message, NULL);
    }
  g_free (output);
}

static void
refuse_grant (IrisdGateway *self,
              const IrisdCaller *caller,
              const IrisWireMessage *more,
              guint64 limit)
{
  irisd_send_limit_refusal (self, caller, more->request_id, "stream-credit", limit,
                            "an item holds credit for as many bytes of output as it may: grant "
                            "as much as has come");
}

/* @more is a MORE: an item may send more output, or parts of its result. One for an item that has
 * ended is ignored: its client could not know. */
void
irisd_item_requests_grant (IrisdGateway *self,
                           const IrisdCaller *caller,
                           const IrisWireMessage *more)
{
  IrisdJob *job = g_hash_table_lookup (caller->peer->jobs, more->target);
  if (job == NULL)
    return;
  guint64 limit = irisd_core_get_settings (self->core)->limits.stream_credit;
  if (job->leased_item != NULL)
    {
      if (!irisd_worker_processes_grant (self->core->worker_processes, job, more->grant, limit))
        refuse_grant (self, caller, more, limit);
      return;
    }
  guint64 held = atomic_load_explicit (&job->output_credit, memory_order_relaxed);
  if (more->grant > limit || held > limit - more->grant)
    {
      refuse_grant (self, caller, more, limit);
      return;
    }
  atomic_fetch_add_explicit (&job->output_credit, more->grant, memory_order_relaxed);
  irisd_command_runner_wake (self->core->commands);
}
