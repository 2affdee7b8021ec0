/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A gateway's messages on their way out.
 *
 * Nothing here waits. A message that a connection's pipe has no room for goes into its outbox, and
 * so do all after it, which keeps the order. ZeroMQ does not report when one of a ROUTER's pipes
 * has room again, so outboxes are tried when a message of their peer comes, and from time to time,
 * with pauses that double as long as nothing can be sent. A gateway without outboxes has no timer.
 *
 * Bundles: the completions of a connection in one turn of its gateway, sent in one message. A
 * message is six frames, each of which ZeroMQ allocates, queues and frees on both sides; that was
 * most of what a volatile item cost. A client with the feature gets the completions of a turn in
 * one ENDINGS message. They are encoded one after the other into reused memory, so a completion
 * allocates nothing. Any other message to the connection sends them first, so the order is the same
 * as without bundles. A single completion is a message of its own; so is a large one, whose body
 * need not be copied then.
 */
#include "daemon/gateway/irisd-send.h"

#include "daemon/base/irisd-log.h"

#include <errno.h>

/* Pauses between two attempts on the outboxes. */
#define FIRST_RETRY_MS 1
#define LAST_RETRY_MS  256

/* A larger body is not copied. */
#define MOST_BODY (8 * 1024)

/* A bundle of that many completions, or bytes, is sent at once, so that the client can begin. */
#define MOST_COMPLETIONS 256
#define MOST_BYTES       (64 * 1024)

/* Bundles whose memory is kept for reuse. */
#define MOST_SPARE 16

static void
plan_retry (IrisdGateway *self, guint pause_ms)
{
  self->retry_ms = pause_ms;
  self->retry_at_us = g_get_monotonic_time () + (gint64) pause_ms * 1000;
}

static void
add_to_backlog (IrisdGateway *self, IrisdPeer *peer)
{
  if (peer->backlogged)
    return;
  peer->backlogged = TRUE;
  g_queue_push_tail_link (&self->backlog, &peer->backlog_link);
  /* A peer that has just fallen behind does not share the long pauses of others. */
  plan_retry (self, FIRST_RETRY_MS);
}

static void
keep_for_later (IrisdGateway *self, IrisdPeer *peer, const IrisWireFrame *frames, zmq_msg_t *body)
{
  guint limit = (guint) irisd_core_get_settings (self->core)->limits.outbox_messages;
  if (irisd_outbox_push (&peer->outbox, irisd_reply_new (frames, body), limit))
    add_to_backlog (self, peer);
  else
    irisd_gateway_lose_peer (
        self, peer, "it sends requests and does not read the answers (limit outbox-messages)",
        TRUE);
}

/* Returns 0 when nothing is left, else the errno that stopped it. */
static int
flush_outbox (IrisdGateway *self, IrisdPeer *peer)
{
  if (peer->outbox.count == 0)
    return 0;
  int error = irisd_outbox_flush (&peer->outbox, self->socket, &peer->route);
  if (error == 0)
    {
      g_queue_unlink (&self->backlog, &peer->backlog_link);
      peer->backlogged = FALSE;
    }
  return error;
}

static void
send_to_peer (IrisdGateway *self, IrisdPeer *peer, const IrisWireFrame *frames, zmq_msg_t *body)
{
  int error = flush_outbox (self, peer);
  if (error == 0)
    error = irisd_reply_send_frames (self->socket, &peer->route, frames, body);
  if (error == EAGAIN)
    keep_for_later (self, peer, frames, body);
  else if (error != 0)
    irisd_gateway_lose_peer (self, peer, "it has gone", FALSE);
}

/* Encodes a message, or, if that fails, one that says so: without an answer the client would wait.
 * Returns whether it is the message itself. */
static gboolean
encode (IrisdGateway *self, const IrisWireMessage *message)
{
  g_autoptr (GError) error = NULL;
  if (iris_wire_encode (&self->encoder, message, &error))
    return TRUE;
  irisd_log (IRISD_LOG_ERROR, "cannot encode a reply of type %s: %s",
             iris_wire_type_name (message->type), error->message);
  IrisWireMessage failure;
  iris_wire_message_init (&failure, IRIS_WIRE_ERROR_REPLY, message->request_id);
  iris_wire_message_set_uint (&failure, IRIS_WIRE_KEY_CODE, IRIS_WIRE_ERROR_INTERNAL);
  iris_wire_message_set_string (&failure, IRIS_WIRE_KEY_ERROR_NAME,
                                iris_wire_error_name (IRIS_WIRE_ERROR_INTERNAL), -1);
  iris_wire_message_set_string (&failure, IRIS_WIRE_KEY_MESSAGE,
                                "irisd could not encode its answer; its log says why", -1);
  if (message->type == IRIS_WIRE_RESULT || message->ends)
    iris_wire_message_set_boolean (&failure, IRIS_WIRE_KEY_ENDS, TRUE);
  if (!iris_wire_encode (&self->encoder, &failure, &error))
    g_error ("cannot encode a constant message: %s", error->message);
  return FALSE;
}

/* Copies @frames. The call may end @peer, so hold a reference. */
static void
send_frames (IrisdGateway *self, IrisdPeer *peer, const IrisWireFrame *frames)
{
  if (!irisd_peer_is_gone (peer))
    send_to_peer (self, peer, frames, NULL);
}

struct _IrisdBundle
{
  IrisWireBatchBuilder builder;
  IrisdPeer *peer;
};

static void
free_bundle (gpointer bundle)
{
  IrisdBundle *self = bundle;
  iris_wire_batch_builder_clear (&self->builder);
  g_clear_pointer (&self->peer, irisd_peer_unref);
  g_free (self);
}

void
irisd_send_init (IrisdGateway *self)
{
  self->bundles = g_ptr_array_new_with_free_func (free_bundle);
  self->spare_bundles = g_ptr_array_new_with_free_func (free_bundle);
}

void
irisd_send_clear (IrisdGateway *self)
{
  g_ptr_array_unref (self->bundles);
  g_ptr_array_unref (self->spare_bundles);
}

static IrisdBundle *
open_bundle (IrisdGateway *self, IrisdPeer *peer)
{
  IrisdBundle *bundle = NULL;
  if (self->spare_bundles->len > 0)
    bundle = g_ptr_array_steal_index_fast (self->spare_bundles, self->spare_bundles->len - 1);
  else
    {
      IrisWireLimits limits = self->core->wire_limits;
      limits.max_batch = MIN (limits.max_batch, MOST_COMPLETIONS);
      limits.max_body = MIN (limits.max_body, MOST_BYTES + 2 * MOST_BODY);
      bundle = g_new0 (IrisdBundle, 1);
      iris_wire_batch_builder_init_completions (&bundle->builder, &limits);
    }
  bundle->peer = irisd_peer_ref (peer);
  peer->bundle = bundle;
  g_ptr_array_add (self->bundles, bundle);
  return bundle;
}

/* Sends the completions of this turn that were not sent yet. The call may end @peer, so hold a
 * reference. */
void
irisd_send_bundle (IrisdGateway *self, IrisdPeer *peer)
{
  IrisdBundle *bundle = peer->bundle;
  if (bundle == NULL || bundle->builder.n_items == 0)
    return;
  if (bundle->builder.n_items == 1)
    {
      IrisWireFrame frames[IRIS_WIRE_N_FRAMES];
      iris_wire_batch_builder_get_first (&bundle->builder, frames);
      iris_wire_batch_builder_reset (&bundle->builder);
      send_frames (self, peer, frames);
      return;
    }
  IrisWireMessage message;
  iris_wire_message_init (&message, IRIS_WIRE_COMPLETIONS, NULL);
  message.body = iris_wire_batch_builder_get_body (&bundle->builder);
  if (!iris_wire_encode (&self->encoder, &message, NULL))
    g_error ("cannot encode completions that fit their limits");
  /* A peer that is ended by this sending must find nothing to send. Its bytes stay. */
  iris_wire_batch_builder_reset (&bundle->builder);
  send_frames (self, peer, self->encoder.frames);
}

/* @completion is RESULT, or ERROR with `ends`. Returns whether it will be sent with others of the
 * turn; if not, the caller sends it. */
static gboolean
add_to_bundle (IrisdGateway *self, IrisdPeer *peer, IrisWireMessage *completion, zmq_msg_t *body)
{
  gsize size = body != NULL ? zmq_msg_size (body) : 0;
  if (!peer->takes_bundles || size > MOST_BODY || irisd_peer_is_gone (peer))
    return FALSE;
  IrisdBundle *bundle = peer->bundle != NULL ? peer->bundle : open_bundle (self, peer);
  if (body != NULL)
    iris_wire_message_set_body (completion, zmq_msg_data (body), size);
  if (!iris_wire_batch_builder_add (&bundle->builder, completion, NULL))
    {
      irisd_send_bundle (self, peer);
      if (irisd_peer_is_gone (peer)
          || !iris_wire_batch_builder_add (&bundle->builder, completion, NULL))
        return FALSE;
    }
  if (bundle->builder.bytes->len >= MOST_BYTES)
    irisd_send_bundle (self, peer);
  return TRUE;
}

/* @peer has ended. */
void
irisd_send_drop_bundle (IrisdPeer *peer)
{
  if (peer->bundle != NULL)
    iris_wire_batch_builder_reset (&peer->bundle->builder);
}

static void
close_bundle (IrisdGateway *self, IrisdBundle *bundle)
{
  bundle->peer->bundle = NULL;
  g_clear_pointer (&bundle->peer, irisd_peer_unref);
  if (self->spare_bundles->len < MOST_SPARE)
    g_ptr_array_add (self->spare_bundles, bundle);
  else
    free_bundle (bundle);
}

/* Sends the completions of this turn. */
void
irisd_send_bundles (IrisdGateway *self)
{
  /* Sending may end a peer, and that may end items of others. */
  while (self->bundles->len > 0)
    {
      IrisdBundle *bundle = g_ptr_array_steal_index_fast (self->bundles, self->bundles->len - 1);
      while (bundle->builder.n_items > 0)
        irisd_send_bundle (self, bundle->peer);
      close_bundle (self, bundle);
    }
}

/* Takes @body, if given. The call may end @peer, so hold a reference. A connection that never said
 * HELLO has no outbox: a message that it does not read is lost. */
void
irisd_send_message (IrisdGateway *self,
                    const IrisdRoute *route,
                    IrisdPeer *peer,
                    IrisWireMessage *message,
                    zmq_msg_t *body)
{
  if (peer != NULL)
    irisd_send_bundle (self, peer);
  if (peer != NULL && irisd_peer_is_gone (peer))
    return;
  if (body != NULL)
    iris_wire_message_set_body (message, zmq_msg_data (body), zmq_msg_size (body));

  if (!encode (self, message))
    body = NULL;
  if (peer != NULL)
    send_to_peer (self, peer, self->encoder.frames, body);
  else
    irisd_reply_send_frames (self->socket, route, self->encoder.frames, body);
}

/* Sends @completion, RESULT or ERROR with `ends`, now or with others of the turn; may take @body.
 * The call may end @peer, so hold a reference. */
void
irisd_send_completion (IrisdGateway *self,
                       IrisdPeer *peer,
                       IrisWireMessage *completion,
                       zmq_msg_t *body)
{
  if (!add_to_bundle (self, peer, completion, body))
    irisd_send_message (self, &peer->route, peer, completion, body);
}

void
irisd_send_answer (IrisdGateway *self, const IrisdCaller *caller, IrisWireMessage *message)
{
  irisd_send_message (self, &caller->route, caller->peer, message, NULL);
}

void
irisd_send_refusal (IrisdGateway *self,
                    const IrisdCaller *caller,
                    const guint8 *request_id,
                    const GError *error)
{
  IrisWireMessage message;
  iris_wire_message_init (&message, IRIS_WIRE_ERROR_REPLY, request_id);
  iris_wire_message_set_error (&message, error);
  irisd_send_answer (self, caller, &message);
}

/* Refuses a request that exceeds limit @name. @what says what is too much, and what to do. */
void
irisd_send_limit_refusal (IrisdGateway *self,
                          const IrisdCaller *caller,
                          const guint8 *request_id,
                          const char *name,
                          guint64 value,
                          const char *what)
{
  g_autoptr (GError) error = g_error_new (IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_TOO_LARGE,
                                          "%s, or raise the limit %s (%" G_GUINT64_FORMAT
                                          ") in irisd's configuration",
                                          what, name, value);
  IrisWireMessage message;
  iris_wire_message_init (&message, IRIS_WIRE_ERROR_REPLY, request_id);
  iris_wire_message_set_error (&message, error);
  iris_wire_message_set_string (&message, IRIS_WIRE_KEY_LIMIT, name, -1);
  iris_wire_message_set_uint (&message, IRIS_WIRE_KEY_LIMIT_VALUE, value);
  irisd_send_answer (self, caller, &message);
}

/* Answers with @body, or with @error if that is set. */
void
irisd_send_answer_bytes (IrisdGateway *self,
                         const IrisdCaller *caller,
                         IrisWireMessage *message,
                         GBytes *body,
                         const GError *error)
{
  if (body == NULL)
    {
      irisd_send_refusal (self, caller, message->request_id, error);
      return;
    }
  gsize size = 0;
  gconstpointer data = g_bytes_get_data (body, &size);
  iris_wire_message_set_body (message, data, size);
  irisd_send_answer (self, caller, message);
}

/* Tries the outbox of @peer, which was just heard: it may have read as well. The call may end
 * @peer, so hold a reference. */
void
irisd_send_outbox (IrisdGateway *self, IrisdPeer *peer)
{
  int error = flush_outbox (self, peer);
  if (error != 0 && error != EAGAIN)
    irisd_gateway_lose_peer (self, peer, "it has gone", FALSE);
}

/* Tries all outboxes, if it is time. */
void
irisd_send_retry_outboxes (IrisdGateway *self)
{
  if (self->backlog.length == 0 || g_get_monotonic_time () < self->retry_at_us)
    return;

  gboolean moved = FALSE;
  for (guint n = self->backlog.length; n > 0 && self->backlog.length > 0; n--)
    {
      g_autoptr (IrisdPeer) peer = irisd_peer_ref (g_queue_peek_head (&self->backlog));
      guint before = peer->outbox.count;
      g_queue_unlink (&self->backlog, &peer->backlog_link);
      g_queue_push_tail_link (&self->backlog, &peer->backlog_link);
      irisd_send_outbox (self, peer);
      moved |= peer->outbox.count < before;
    }
  plan_retry (self, moved ? FIRST_RETRY_MS : MIN (self->retry_ms * 2, LAST_RETRY_MS));
}

/* Sends a message that is soon out of date: without room now, it is dropped. */
void
irisd_send_offer (IrisdGateway *self, IrisdPeer *peer, IrisWireMessage *message)
{
  if (!irisd_peer_is_gone (peer) && peer->outbox.count == 0 && encode (self, message))
    irisd_reply_send_frames (self->socket, &peer->route, self->encoder.frames, NULL);
}

/* Sends @peer, silent for long, a PONG without a PING, which clients ignore. Returns whether its
 * connection still exists. */
gboolean
irisd_send_probe (IrisdGateway *self, IrisdPeer *peer)
{
  IrisWireMessage pong;
  iris_wire_message_init (&pong, IRIS_WIRE_PONG, NULL);
  if (!iris_wire_encode (&self->encoder, &pong, NULL))
    return TRUE;
  int error = irisd_reply_send_frames (self->socket, &peer->route, self->encoder.frames, NULL);
  return error == 0 || error == EAGAIN;
}

/* @count items were accepted; @first_id is the number of the first, 0 if the client did not ask for
 * it. */
void
irisd_send_accepted (IrisdGateway *self,
                     IrisdPeer *peer,
                     const guint8 *request_id,
                     guint count,
                     guint64 first_id)
{
  IrisWireMessage accepted;
  iris_wire_message_init (&accepted, IRIS_WIRE_ACCEPTED, request_id);
  iris_wire_message_set_uint (&accepted, IRIS_WIRE_KEY_COUNT, count);
  if (count > 0 && first_id != 0)
    iris_wire_message_set_uint (&accepted, IRIS_WIRE_KEY_ITEM, first_id);
  irisd_send_message (self, &peer->route, peer, &accepted, NULL);
}

/* Answers that @count items or places were changed. */
void
irisd_send_changed (IrisdGateway *self,
                    const IrisdCaller *caller,
                    const guint8 *request_id,
                    guint count)
{
  IrisWireMessage reply;
  iris_wire_message_init (&reply, IRIS_WIRE_CHANGED, request_id);
  iris_wire_message_set_uint (&reply, IRIS_WIRE_KEY_COUNT, count);
  irisd_send_answer (self, caller, &reply);
}
