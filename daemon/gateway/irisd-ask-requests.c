/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Requests about other nodes: passed on to the bridge as they are, and its answers passed back.
 *
 * The bridge's connections are the front gateway's. A request goes there from mailbox to mailbox,
 * as a broadcast, and back with its answer. The front gateway knows by their ids the requests that
 * the bridge has; they are refused when its connection ends. A request counts as one of its
 * connection that is not answered yet, so their number is bounded.
 */
#include "daemon/gateway/irisd-ask-requests.h"

#include "daemon/exec/worker/irisd-worker-processes.h"
#include "daemon/gateway/irisd-away.h"
#include "daemon/gateway/irisd-send.h"

#include <string.h>

#define NODE_KEYS (IRIS_WIRE_BIT (IRIS_WIRE_KEY_NODE) | IRIS_WIRE_BIT (IRIS_WIRE_KEY_FOR_OWNER))

/**
 * IrisdAsk:
 * @home: the gateway of the connection that asks
 * @peer: that connection
 * @request_id: of its request
 * @id: the request id between the front gateway and the bridge
 * @bridge: only compared: the connection that has it
 * @view: what it reaches: an owner, or IRISD_VIEW_ALL
 * @type: the request's type, then that of its answer
 * @header: the request's header, then that of its answer
 * @body: of the answer
 * @error: (nullable): why there is no answer
 * @func: (nullable): what takes the answer in place of the connection
 * @over: it is on its way back
 * @answered: (nullable): gets the answer; %NULL: the client does
 *
 * A request on its way to another node and back.
 */
typedef struct
{
  IrisdBroadcast base;
  IrisdGateway *home;
  IrisdPeer *peer;
  guint8 request_id[IRIS_WIRE_ID_SIZE];
  guint8 id[IRIS_WIRE_ID_SIZE];
  gconstpointer bridge;
  gint64 view;
  guint8 type;
  char *node;
  char *key_name;
  GBytes *header;
  GBytes *body;
  GError *error;
  IrisdAskFunc func;
  gpointer user_data;
  gboolean over;
  IrisdAskAnswerFunc answered;
} IrisdAsk;

static void
ask_free (IrisdBroadcast *broadcast)
{
  IrisdAsk *self = (IrisdAsk *) broadcast;
  irisd_peer_unref (self->peer);
  g_free (self->node);
  g_free (self->key_name);
  g_bytes_unref (self->header);
  g_clear_pointer (&self->body, g_bytes_unref);
  g_clear_error (&self->error);
  g_free (self);
}

static void
go_home (IrisdAsk *self)
{
  self->over = TRUE;
  irisd_mailbox_post (&self->home->mailbox, &self->base.message);
}

static void
fail (IrisdAsk *self, const char *why)
{
  self->error = g_error_new (IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_NODE_AWAY,
                             "the node %s cannot be asked: %s; ask again later", self->node, why);
  go_home (self);
}

/* --- at the front gateway --------------------------------------------------------------------- */

static IrisdPeer *
find_bridge (IrisdGateway *front)
{
  for (GList *link = front->worker_processes.head; link != NULL; link = link->next)
    {
      IrisdPeer *peer = ((IrisdWorkerProcess *) link->data)->peer;
      if (peer->bridge)
        return peer;
    }
  return NULL;
}

static void
give_to_bridge (IrisdGateway *front, IrisdAsk *self)
{
  IrisdPeer *peer = find_bridge (front);
  guint32 words[IRIS_WIRE_ID_SIZE / sizeof (guint32)];
  if (peer == NULL)
    {
      fail (self, "irisd's connection with the cluster is not there yet");
      return;
    }
  for (guint i = 0; i < G_N_ELEMENTS (words); i++)
    words[i] = g_random_int ();
  memcpy (self->id, words, sizeof self->id);
  self->bridge = peer;
  if (front->asks == NULL)
    front->asks = g_hash_table_new (irisd_request_id_hash, irisd_request_id_equal);
  g_hash_table_insert (front->asks, self->id, self);

  IrisWireMessage ask;
  gsize size;
  const char *header = g_bytes_get_data (self->header, &size);
  iris_wire_message_init (&ask, IRIS_WIRE_ASK, self->id);
  iris_wire_message_set_string (&ask, IRIS_WIRE_KEY_NODE, self->node, -1);
  iris_wire_message_set_uint (&ask, IRIS_WIRE_KEY_TYPE, self->type);
  iris_wire_message_set_string (&ask, IRIS_WIRE_KEY_HEADER, header, (gssize) size);
  if (self->view != IRISD_VIEW_ALL)
    iris_wire_message_set_uint (&ask, IRIS_WIRE_KEY_FOR_OWNER, (guint64) self->view);
  if (self->key_name != NULL)
    iris_wire_message_set_string (&ask, IRIS_WIRE_KEY_KEY_NAME, self->key_name, -1);
  /* Sending may end the peer, which refuses all that it has. */
  g_autoptr (IrisdPeer) keep = irisd_peer_ref (peer);
  irisd_send_message (front, &keep->route, keep, &ask, NULL);
}

static gboolean
is_answer (guint type)
{
  switch (type)
    {
    case IRIS_WIRE_ACCEPTED:
    case IRIS_WIRE_CANCELLING:
    case IRIS_WIRE_PENDING:
    case IRIS_WIRE_LIST_REPLY:
    case IRIS_WIRE_SHOW_REPLY:
    case IRIS_WIRE_CHANGED:
    case IRIS_WIRE_RESULT:
    case IRIS_WIRE_ERROR_REPLY:
    case IRIS_WIRE_BUSY:
    case IRIS_WIRE_OUTPUT:
    case IRIS_WIRE_FOLLOWED:
      return TRUE;
    default:
      return FALSE;
    }
}

/* @answer is an ANSWER. One without a request is dropped: its client may have gone. */
void
irisd_ask_requests_take_answer (IrisdGateway *self,
                                const IrisdCaller *caller,
                                const IrisWireMessage *answer)
{
  if (!caller->peer->bridge)
    {
      g_autoptr (GError) error = g_error_new_literal (
          IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_NOT_PERMITTED,
          "only the bridge of irisd's own user answers for other nodes; do not send ANSWER");
      irisd_send_refusal (self, caller, answer->request_id, error);
      return;
    }
  IrisdAsk *ask = self->asks != NULL ? g_hash_table_lookup (self->asks, answer->request_id) : NULL;
  if (ask == NULL || ask->bridge != caller->peer)
    return;
  g_hash_table_remove (self->asks, ask->id);
  if (!is_answer (answer->asked))
    {
      fail (ask, "it has sent what is no answer");
      return;
    }
  ask->type = (guint8) answer->asked;
  g_bytes_unref (ask->header);
  ask->header = g_bytes_new (answer->header.data, answer->header.len);
  ask->body = g_bytes_new (answer->body.data, answer->body.size);
  go_home (ask);
}

/* @peer ends. */
void
irisd_ask_requests_lose_bridge (IrisdGateway *self, IrisdPeer *peer)
{
  GHashTableIter iter;
  gpointer ask;
  if (self->asks == NULL || !peer->bridge)
    return;
  g_hash_table_iter_init (&iter, self->asks);
  while (g_hash_table_iter_next (&iter, NULL, &ask))
    if (((IrisdAsk *) ask)->bridge == peer)
      {
        g_hash_table_iter_remove (&iter);
        fail (ask, "irisd's connection with the cluster was lost");
      }
}

/* @self has ended. */
void
irisd_ask_requests_clear (IrisdGateway *self)
{
  GHashTableIter iter;
  gpointer ask;
  if (self->asks == NULL)
    return;
  g_hash_table_iter_init (&iter, self->asks);
  while (g_hash_table_iter_next (&iter, NULL, &ask))
    ask_free (ask);
  g_clear_pointer (&self->asks, g_hash_table_unref);
}

/* --- at the gateway that was asked ------------------------------------------------------------ */

/* Whether a message takes a credit until it is acknowledged. */
static gboolean
is_owed (const IrisWireMessage *message)
{
  return message->type == IRIS_WIRE_RESULT
         || (message->type == IRIS_WIRE_ERROR_REPLY && message->ends)
         || (message->type == IRIS_WIRE_SHOW_REPLY && message->payload);
}

static void
charge (IrisdGateway *self, IrisdPeer *peer, const guint8 *request_id, gsize size)
{
  irisd_peer_add_bytes (peer, (gint64) size);
  irisd_core_add_bytes (self->core, (gint64) size);
  irisd_unacknowledged_push (&peer->unacked, request_id, size, 0);
  irisd_count (&self->items.counters.unacked, 1);
}

static gboolean
open_answer (IrisdGateway *self, const IrisdAsk *ask, IrisWireMessage *message, GError **error)
{
  gsize header_size, body_size;
  const guint8 *header = g_bytes_get_data (ask->header, &header_size);
  const guint8 *body = g_bytes_get_data (ask->body, &body_size);
  const IrisWireFrame frames[IRIS_WIRE_N_FRAMES] = {
    { (const guint8 *) "IRS1", 4 }, { &ask->type, 1 },   { ask->request_id, IRIS_WIRE_ID_SIZE },
    { header, header_size },        { body, body_size },
  };
  return iris_wire_decode (frames, IRIS_WIRE_N_FRAMES, &self->core->wire_limits, message, error);
}

/* Sends the answer of the other node, if it can be read. */
static void
pass_back (IrisdGateway *self, const IrisdCaller *caller, const IrisdAsk *ask)
{
  g_autoptr (GError) error = NULL;
  IrisWireMessage message;
  const gboolean good = open_answer (self, ask, &message, &error);
  if (ask->answered != NULL)
    {
      ask->answered (self, caller, ask->request_id, good ? &message : NULL, error);
      return;
    }
  if (!good)
    {
      irisd_send_refusal (self, caller, ask->request_id, error);
      return;
    }
  if (is_owed (&message))
    charge (self, ask->peer, ask->request_id, g_bytes_get_size (ask->body));
  irisd_send_answer (self, caller, &message);
}

static void
tell_func (IrisdGateway *self, IrisdAsk *ask)
{
  IrisWireMessage message;
  const gboolean opened = ask->error == NULL && open_answer (self, ask, &message, &ask->error);
  ask->func (self, opened ? &message : NULL, ask->error, ask->user_data);
}

static void
run (IrisdGateway *gateway, IrisdBroadcast *broadcast)
{
  IrisdAsk *self = (IrisdAsk *) broadcast;
  if (!self->over)
    {
      give_to_bridge (gateway, self);
      return;
    }
  if (self->func != NULL)
    {
      tell_func (gateway, self);
      ask_free (broadcast);
      return;
    }
  const IrisdCaller caller = { .route = self->peer->route, .peer = self->peer };
  self->peer->n_questions--;
  if (irisd_peer_is_gone (self->peer))
    ;
  else if (self->error != NULL && self->answered != NULL)
    self->answered (gateway, &caller, self->request_id, NULL, self->error);
  else if (self->error != NULL)
    irisd_send_refusal (gateway, &caller, self->request_id, self->error);
  else
    pass_back (gateway, &caller, self);
  ask_free (broadcast);
}

static void
resume (IrisdBroadcast *broadcast)
{
  g_assert_not_reached ();
}

static void
refuse (IrisdBroadcast *broadcast, const GError *error)
{
  g_assert_not_reached ();
}

static const IrisdBroadcastClass ask_class = {
  .run = run,
  .resume = resume,
  .refuse = refuse,
  .free = ask_free,
};

static GBytes *
encode (IrisdGateway *self, const IrisWireMessage *request)
{
  g_autoptr (GError) error = NULL;
  IrisWireMessage plain = *request;
  plain.present &= ~NODE_KEYS;
  if (!iris_wire_encode (&self->encoder, &plain, &error))
    g_error ("a request that was decoded cannot be encoded: %s", error->message);
  return g_bytes_new (self->encoder.frames[3].data, self->encoder.frames[3].size);
}

/* Returns whether @request, of any type, may be about another node, or come from one. SUBMIT is not
 * handled here, nor are the messages of worker processes, nor NODE, which the asked irisd does. */
gboolean
irisd_ask_requests_concern (const IrisWireMessage *request)
{
  switch (request->type)
    {
    case IRIS_WIRE_SUBMIT:
    case IRIS_WIRE_NODE:
    case IRIS_WIRE_DONE:
    case IRIS_WIRE_FAIL:
    case IRIS_WIRE_REPORT:
      return FALSE;
    default:
      return (request->present & NODE_KEYS) != 0;
    }
}

/* Returns @request, which @peer makes, as one about another node. */
static IrisdAsk *
ask_new (IrisdGateway *self, IrisdPeer *peer, gint64 view, const IrisWireMessage *request)
{
  const IrisdKey *key = irisd_keys_find_owner (irisd_core_get_settings (self->core)->keys,
                                               peer->owner);
  IrisdAsk *ask = g_new0 (IrisdAsk, 1);
  irisd_broadcast_init (&ask->base, &ask_class);
  ask->home = self;
  ask->peer = irisd_peer_ref (peer);
  memcpy (ask->request_id, request->request_id, IRIS_WIRE_ID_SIZE);
  ask->view = view;
  ask->type = request->type;
  ask->node = iris_wire_string_dup (&request->node);
  ask->key_name = key != NULL && view != IRISD_VIEW_ALL ? g_strdup (key->name) : NULL;
  ask->header = encode (self, request);
  return ask;
}

/* Sends @request about what @view reaches, on behalf of @peer, to the bridge; @func gets the
 * answer, unless the gateway has ended before. */
void
irisd_ask_requests_ask_for (IrisdGateway *self,
                            IrisdPeer *peer,
                            gint64 view,
                            const IrisWireMessage *request,
                            IrisdAskFunc func,
                            gpointer user_data)
{
  IrisdAsk *ask = ask_new (self, peer, view, request);
  ask->func = func;
  ask->user_data = user_data;
  irisd_mailbox_post (self->core->front, &ask->base.message);
}

/* Sends @request, which the caller may make and has room for, to the bridge. Its node is another
 * one. @answered (nullable) gets the answer, unless the caller has gone. */
void
irisd_ask_requests_ask (IrisdGateway *self,
                        const IrisdCaller *caller,
                        const IrisWireMessage *request,
                        IrisdAskAnswerFunc answered)
{
  IrisdAsk *ask = ask_new (self, caller->peer,
                           irisd_peer_get_view (caller->peer, (IrisWireType) request->type),
                           request);
  ask->answered = answered;
  caller->peer->n_questions++;
  irisd_mailbox_post (self->core->front, &ask->base.message);
}
