/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * FOLLOW of an item at another node.
 *
 * The other node is asked again and again, each time for one piece behind what has come, so it
 * keeps nothing between two requests, a lost message costs a request, and a client that has gone or
 * grants no credit is one that does not ask. It answers with OUTPUT, with FOLLOWED at the end, and
 * with FOLLOWED without a state when there was nothing new for a while. An OUTPUT says which
 * attempt it is of, and the next request repeats that: when the item is tried again in between, the
 * output begins anew and nothing of it is passed over.
 *
 * A node that does not answer is asked once more, since a server that ends loses what is on its
 * way.
 */
#include "daemon/gateway/irisd-follow-elsewhere.h"

#include "daemon/gateway/irisd-ask-requests.h"
#include "daemon/gateway/irisd-item-requests.h"
#include "daemon/gateway/irisd-send.h"
#include "daemon/gateway/irisd-submit.h"
#include "daemon/store/irisd-outputs.h"

#include <string.h>

/* What a follower may send at first, if its request does not say. */
#define FIRST_CREDIT 65536

typedef struct
{
  IrisdPeer *peer;
  guint8 request_id[IRIS_WIRE_ID_SIZE];
  char *node;
  guint64 item;
  guint64 credit;
  guint64 offset; /* the end of what has come */
  guint attempt;
  gboolean has_attempt;
  gboolean asking;    /* an answer is on its way */
  gboolean failed;    /* the latest request had none */
  gboolean truncated; /* some of the output was not kept */
  GList link;
} Follower;

static Follower *
find (IrisdPeer *peer, const guint8 *request_id)
{
  for (GList *link = peer->far_followers.head; link != NULL; link = link->next)
    {
      Follower *follower = link->data;
      if (memcmp (follower->request_id, request_id, IRIS_WIRE_ID_SIZE) == 0)
        return follower;
    }
  return NULL;
}

static void
drop (Follower *self)
{
  g_queue_unlink (&self->peer->far_followers, &self->link);
  self->peer->n_questions--;
  irisd_peer_unref (self->peer);
  g_free (self->node);
  g_free (self);
}

static void take_answer (IrisdGateway *self,
                         const IrisdCaller *caller,
                         const guint8 *request_id,
                         const IrisWireMessage *answer,
                         const GError *error);

/* Asks for the next piece, if one may come. */
static void
ask (IrisdGateway *gateway, Follower *self)
{
  const IrisdCaller caller = { .route = self->peer->route, .peer = self->peer };
  IrisWireMessage request;
  if (self->asking || self->credit == 0)
    return;
  self->asking = TRUE;
  iris_wire_message_init (&request, IRIS_WIRE_FOLLOW, self->request_id);
  iris_wire_message_set_string (&request, IRIS_WIRE_KEY_NODE, self->node, -1);
  iris_wire_message_set_uint (&request, IRIS_WIRE_KEY_ITEM, self->item);
  iris_wire_message_set_uint (&request, IRIS_WIRE_KEY_OFFSET, self->offset);
  iris_wire_message_set_uint (&request, IRIS_WIRE_KEY_GRANT,
                              MIN (self->credit, IRISD_OUTPUT_PIECE));
  if (self->has_attempt)
    iris_wire_message_set_uint (&request, IRIS_WIRE_KEY_ATTEMPT, self->attempt);
  irisd_ask_requests_ask (gateway, &caller, &request, take_answer);
}

static void
refuse_credit (IrisdGateway *self, const IrisdCaller *caller, const guint8 *id, guint64 limit)
{
  irisd_send_limit_refusal (self, caller, id, "stream-credit", limit,
                            "a request holds credit for as many bytes of output as it may: grant "
                            "as much as has come");
}

/* @request is a FOLLOW that the caller may make, about another node. */
void
irisd_follow_elsewhere_begin (IrisdGateway *self,
                              const IrisdCaller *caller,
                              const IrisWireMessage *request)
{
  const guint64 limit = irisd_core_get_settings (self->core)->limits.stream_credit;
  const gboolean grants = iris_wire_message_has (request, IRIS_WIRE_KEY_GRANT);
  if (!irisd_submit_may_ask (self, caller, request, FALSE))
    return;
  if (find (caller->peer, request->request_id) != NULL)
    {
      g_autoptr (GError) error = g_error_new_literal (
          IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BAD_ARGUMENT,
          "a request of this connection with that id is not answered yet; take another id");
      irisd_send_refusal (self, caller, request->request_id, error);
      return;
    }
  if (grants && request->grant > limit)
    {
      refuse_credit (self, caller, request->request_id, limit);
      return;
    }
  Follower *follower = g_new0 (Follower, 1);
  follower->peer = irisd_peer_ref (caller->peer);
  memcpy (follower->request_id, request->request_id, IRIS_WIRE_ID_SIZE);
  follower->node = iris_wire_string_dup (&request->node);
  follower->item = request->item;
  follower->offset = request->offset;
  follower->credit = grants ? request->grant : FIRST_CREDIT;
  follower->link.data = follower;
  g_queue_push_tail_link (&follower->peer->far_followers, &follower->link);
  follower->peer->n_questions++;
  ask (self, follower);
}

static void
finish (IrisdGateway *self, Follower *follower, guint state)
{
  g_autoptr (IrisdPeer) peer = irisd_peer_ref (follower->peer);
  const IrisdCaller caller = { .route = peer->route, .peer = peer };
  IrisWireMessage reply;
  iris_wire_message_init (&reply, IRIS_WIRE_FOLLOWED, follower->request_id);
  iris_wire_message_set_uint (&reply, IRIS_WIRE_KEY_ITEM, follower->item);
  iris_wire_message_set_uint (&reply, IRIS_WIRE_KEY_OFFSET, follower->offset);
  if (state != 0)
    iris_wire_message_set_uint (&reply, IRIS_WIRE_KEY_STATE, state);
  if (follower->truncated)
    iris_wire_message_set_boolean (&reply, IRIS_WIRE_KEY_TRUNCATED, TRUE);
  drop (follower);
  irisd_send_answer (self, &caller, &reply);
}

/* Sends what has come, and asks for more. */
static void
pass_on (IrisdGateway *self, Follower *follower, const IrisWireMessage *output)
{
  g_autoptr (IrisdPeer) peer = irisd_peer_ref (follower->peer);
  IrisWireMessage message;
  follower->truncated |= output->offset > follower->offset;
  follower->offset = output->offset + output->body.size;
  follower->credit -= MIN (follower->credit, output->body.size);
  follower->has_attempt = iris_wire_message_has (output, IRIS_WIRE_KEY_ATTEMPT);
  follower->attempt = output->attempt;
  iris_wire_message_init (&message, IRIS_WIRE_OUTPUT, follower->request_id);
  iris_wire_message_set_uint (&message, IRIS_WIRE_KEY_CHANNEL, output->channel);
  iris_wire_message_set_uint (&message, IRIS_WIRE_KEY_OFFSET, output->offset);
  iris_wire_message_set_body (&message, output->body.data, output->body.size);
  irisd_send_message (self, &peer->route, peer, &message, NULL);
  /* Sending may have ended the connection, and its followers. */
  if (!irisd_peer_is_gone (peer))
    ask (self, follower);
}

/* @answer: (nullable): of the other node; without it @error says why. A request that has ended is
 * not there to be found. */
static void
take_answer (IrisdGateway *self,
             const IrisdCaller *caller,
             const guint8 *request_id,
             const IrisWireMessage *answer,
             const GError *error)
{
  Follower *follower = find (caller->peer, request_id);
  if (follower == NULL)
    return;
  const gboolean away = answer != NULL && answer->type == IRIS_WIRE_ERROR_REPLY
                        && answer->code == IRIS_WIRE_ERROR_NODE_AWAY;
  const gboolean again = away && !follower->failed;
  follower->asking = FALSE;
  follower->failed = away;
  if (again || (answer != NULL && answer->type == IRIS_WIRE_FOLLOWED && answer->state == 0))
    ask (self, follower);
  else if (answer != NULL && answer->type == IRIS_WIRE_OUTPUT)
    pass_on (self, follower, answer);
  else if (answer != NULL && answer->type == IRIS_WIRE_FOLLOWED)
    finish (self, follower, answer->state);
  else
    {
      IrisWireMessage message;
      drop (follower);
      if (answer == NULL)
        {
          irisd_send_refusal (self, caller, request_id, error);
          return;
        }
      message = *answer;
      irisd_send_answer (self, caller, &message);
    }
}

/* @more is a MORE. Returns FALSE if it is not for a follower. One that grants nothing ends it. */
gboolean
irisd_follow_elsewhere_grant (IrisdGateway *self,
                              const IrisdCaller *caller,
                              const IrisWireMessage *more)
{
  const guint64 limit = irisd_core_get_settings (self->core)->limits.stream_credit;
  Follower *follower = find (caller->peer, more->target);
  if (follower == NULL)
    return FALSE;
  if (more->grant > limit || follower->credit > limit - more->grant)
    refuse_credit (self, caller, more->request_id, limit);
  else if (more->grant == 0)
    finish (self, follower, 0);
  else
    {
      follower->credit += more->grant;
      ask (self, follower);
    }
  return TRUE;
}

/* @peer has gone. */
void
irisd_follow_elsewhere_drop_all_of (IrisdPeer *peer)
{
  while (peer->far_followers.head != NULL)
    drop (peer->far_followers.head->data);
}
