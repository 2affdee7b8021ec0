/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A gateway's messages on their way out.
 *
 * Nothing here waits. A message that a connection's pipe has no room for goes into its outbox, and
 * so do all after it, which keeps the order. ZeroMQ does not report when one of a ROUTER's pipes
 * has room again, so outboxes are tried when a message of their peer comes, and from time to time,
 * with pauses that double as long as nothing can be sent. A gateway without outboxes has no timer.
 */
#include "daemon/gateway/irisd-gateway-private.h"

#include <errno.h>

/* Pauses between two attempts on the outboxes. */
#define FIRST_RETRY_MS 1
#define LAST_RETRY_MS  256

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
  guint limit = (guint) self->core->config->limits.outbox_messages;
  if (irisd_outbox_push (&peer->outbox, irisd_reply_new (frames, body), limit))
    add_to_backlog (self, peer);
  else
    irisd_session_lose (self, peer,
                        "it sends requests and does not read the answers (limit outbox-messages)",
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
    irisd_session_lose (self, peer, "it has gone", FALSE);
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
    irisd_bundle_send (self, peer);
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

/* Copies @frames. The call may end @peer, so hold a reference. */
void
irisd_send_frames (IrisdGateway *self, IrisdPeer *peer, const IrisWireFrame *frames)
{
  if (!irisd_peer_is_gone (peer))
    send_to_peer (self, peer, frames, NULL);
}

/* Sends @completion, RESULT or ERROR with `ends`, now or with others of the turn; may take @body.
 * The call may end @peer, so hold a reference. */
void
irisd_send_completion (IrisdGateway *self,
                       IrisdPeer *peer,
                       IrisWireMessage *completion,
                       zmq_msg_t *body)
{
  if (!irisd_bundle_add (self, peer, completion, body))
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
    irisd_session_lose (self, peer, "it has gone", FALSE);
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
