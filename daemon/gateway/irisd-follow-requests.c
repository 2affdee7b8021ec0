/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * FOLLOW: the output of a persistent command, from its beginning, for as many connections as ask.
 *
 * A follower is one such request, until its answer is whole. It has a reader of its own and a
 * credit of its own, which MORE adds to; when the credit is used up, or its connection does not
 * read, it stops, and neither the command nor another follower waits for it. Where it stops at the
 * end of what was written, its reader tells when there is more.
 *
 * The journal is asked twice: at once, whether the item is there and the connection may see it, and
 * then for its end, after which nothing more is written. The answers find the follower by its
 * connection and request id, so a follower that has gone is not there to be found. What cannot be
 * freed with its connection is one whose reader has just posted its message: it is left over until
 * the message comes.
 */
#include "daemon/gateway/irisd-follow-requests.h"

#include "daemon/exec/command/irisd-command.h"
#include "daemon/gateway/irisd-item-requests.h"
#include "daemon/gateway/irisd-send.h"
#include "daemon/gateway/irisd-submit.h"
#include "daemon/store/irisd-output-reader.h"

#include <string.h>

/* Messages that a follower sends before others have their turn. */
#define MESSAGES_PER_TURN 64

/* What a follower may send at first, if its request does not say. */
#define FIRST_CREDIT 65536

typedef struct
{
  IrisdMessage message;
  IrisdPeer *peer; /* NULL: it has gone, and waits for its message */
  guint8 request_id[IRIS_WIRE_ID_SIZE];
  guint64 item;
  IrisdOutputReader *reader; /* NULL until the journal knows the item */
  guint64 credit;
  guint64 from;   /* where it begins */
  guint64 offset; /* the end of what was sent */
  guint attempt;  /* of which @from is */
  gboolean has_attempt;
  gboolean truncated; /* some of it was not kept */
  gboolean waits;     /* for the message of its reader */
  gboolean stalled;   /* sends more in a later turn */
  gboolean ended;     /* nothing more is written */
  guint32 state;      /* then: an IrisWireState, or 0 */
  GList of_peer;
  GList in_turn; /* in the gateway's list of stalled followers, or of left over ones */
} Follower;

static Follower *
follower_new (const IrisdCaller *caller, const IrisWireMessage *request)
{
  Follower *self = g_new0 (Follower, 1);
  self->message.kind = IRISD_MESSAGE_MORE_OUTPUT;
  self->peer = irisd_peer_ref (caller->peer);
  memcpy (self->request_id, request->request_id, IRIS_WIRE_ID_SIZE);
  self->item = request->item;
  self->from = self->offset = request->offset;
  self->credit = iris_wire_message_has (request, IRIS_WIRE_KEY_GRANT) ? request->grant
                                                                      : FIRST_CREDIT;
  self->has_attempt = iris_wire_message_has (request, IRIS_WIRE_KEY_ATTEMPT);
  self->attempt = request->attempt;
  self->of_peer.data = self->in_turn.data = self;
  g_queue_push_tail_link (&self->peer->followers, &self->of_peer);
  self->peer->n_questions++;
  return self;
}

/* Takes @self from its connection. */
static void
drop (IrisdGateway *gateway, Follower *self)
{
  if (self->stalled)
    g_queue_unlink (&gateway->stalled_followers, &self->in_turn);
  g_queue_unlink (&self->peer->followers, &self->of_peer);
  self->peer->n_questions--;
  g_clear_pointer (&self->peer, irisd_peer_unref);
  gboolean left_over = self->waits && !irisd_output_reader_stop_waiting (self->reader);
  g_clear_pointer (&self->reader, irisd_output_reader_free);
  if (left_over)
    g_queue_push_tail_link (&gateway->left_over_followers, &self->in_turn);
  else
    g_free (self);
}

static Follower *
find (IrisdPeer *peer, const guint8 *request_id)
{
  for (GList *link = peer->followers.head; link != NULL; link = link->next)
    {
      Follower *follower = link->data;
      if (memcmp (follower->request_id, request_id, IRIS_WIRE_ID_SIZE) == 0)
        return follower;
    }
  return NULL;
}

static void
ask (IrisdGateway *self, const Follower *follower, guint64 wait_ms)
{
  IrisdJournalRequest *request = irisd_items_new_request (
      &self->items, IRISD_JOURNAL_REQUEST_FOLLOW, follower->peer, follower->request_id);
  request->view = irisd_peer_get_view (follower->peer, IRIS_WIRE_FOLLOW);
  request->item = follower->item;
  request->wait_ms = wait_ms;
  irisd_journal_post (self->core->journal, request);
}

static void
refuse_credit (IrisdGateway *self, const IrisdCaller *caller, const guint8 *id, guint64 limit)
{
  irisd_send_limit_refusal (self, caller, id, "stream-credit", limit,
                            "a request holds credit for as many bytes of output as it may: grant "
                            "as much as has come");
}

void
irisd_follow_requests_follow (IrisdGateway *self,
                              const IrisdCaller *caller,
                              const IrisWireMessage *request)
{
  guint64 limit = irisd_core_get_settings (self->core)->limits.stream_credit;
  if (!irisd_item_requests_may_ask (self, caller, request)
      || !irisd_submit_may_ask (self, caller, request, FALSE))
    return;
  if (find (caller->peer, request->request_id) != NULL)
    {
      g_autoptr (GError) error = g_error_new_literal (
          IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BAD_ARGUMENT,
          "a request of this connection with that id is not answered yet; take another id");
      irisd_send_refusal (self, caller, request->request_id, error);
      return;
    }
  if (iris_wire_message_has (request, IRIS_WIRE_KEY_GRANT) && request->grant > limit)
    {
      refuse_credit (self, caller, request->request_id, limit);
      return;
    }
  ask (self, follower_new (caller, request), 0);
}

static void
finish (IrisdGateway *self, Follower *follower)
{
  const IrisdCaller caller = { .route = follower->peer->route, .peer = follower->peer };
  IrisWireMessage reply;
  iris_wire_message_init (&reply, IRIS_WIRE_FOLLOWED, follower->request_id);
  iris_wire_message_set_uint (&reply, IRIS_WIRE_KEY_ITEM, follower->item);
  iris_wire_message_set_uint (&reply, IRIS_WIRE_KEY_OFFSET, follower->offset);
  if (follower->state != 0)
    iris_wire_message_set_uint (&reply, IRIS_WIRE_KEY_STATE, follower->state);
  if (follower->truncated)
    iris_wire_message_set_boolean (&reply, IRIS_WIRE_KEY_TRUNCATED, TRUE);
  irisd_send_answer (self, &caller, &reply);
  /* An answer that cannot be sent may have ended the connection, and the follower with it. */
  Follower *still_there = irisd_peer_is_gone (caller.peer) ? NULL
                                                           : find (caller.peer, reply.request_id);
  if (still_there == follower)
    drop (self, follower);
}

static void
send_part (IrisdGateway *self, Follower *follower, const IrisdOutputPart *part)
{
  IrisdPeer *peer = follower->peer;
  IrisWireMessage message;
  /* An attempt after the first begins at 0 again. */
  follower->truncated |= part->offset > follower->offset;
  follower->offset = part->offset + part->size;
  follower->credit -= part->size;
  iris_wire_message_init (&message, IRIS_WIRE_OUTPUT, follower->request_id);
  iris_wire_message_set_uint (&message, IRIS_WIRE_KEY_CHANNEL, part->channel);
  iris_wire_message_set_uint (&message, IRIS_WIRE_KEY_OFFSET, part->offset);
  if (peer->bridge)
    iris_wire_message_set_uint (&message, IRIS_WIRE_KEY_ATTEMPT,
                                irisd_output_reader_get_attempt (follower->reader) + 1);
  iris_wire_message_set_body (&message, part->data, part->size);
  irisd_send_message (self, &peer->route, peer, &message, NULL);
}

static void
stall (IrisdGateway *self, Follower *follower)
{
  if (!follower->stalled)
    g_queue_push_tail_link (&self->stalled_followers, &follower->in_turn);
  follower->stalled = TRUE;
}

/* Sends what may be sent now. May free @follower. */
static void
pump (IrisdGateway *self, Follower *follower)
{
  g_autoptr (IrisdPeer) peer = irisd_peer_ref (follower->peer);
  IrisdOutputPart part;
  guint n = 0;
  if (follower->reader == NULL || follower->waits)
    return;
  while (irisd_output_reader_read (follower->reader,
                                   (gsize) MIN (follower->credit, IRISD_OUTPUT_CHUNK), &part))
    {
      if (part.size == 0) /* MORE goes on */
        return;
      send_part (self, follower, &part);
      if (irisd_peer_is_gone (peer))
        return;
      if (peer->backlogged || ++n >= MESSAGES_PER_TURN)
        {
          stall (self, follower);
          return;
        }
    }
  if (follower->ended)
    finish (self, follower);
  else if (irisd_output_reader_wait (follower->reader, &self->mailbox, &follower->message))
    follower->waits = TRUE;
  else
    stall (self, follower);
}

/* The journal knows the item, or its end, or neither. */
void
irisd_follow_requests_take_answer (IrisdGateway *self, IrisdJournalRequest *answer)
{
  const IrisdCaller caller = { .route = answer->peer->route, .peer = answer->peer };
  Follower *follower = irisd_peer_is_gone (answer->peer) ? NULL
                                                         : find (answer->peer, answer->request_id);
  if (follower == NULL || follower->item != answer->item)
    return;
  if (answer->error != NULL && follower->reader == NULL)
    {
      drop (self, follower);
      irisd_send_refusal (self, &caller, answer->request_id, answer->error);
      return;
    }
  if (follower->reader == NULL)
    {
      follower->reader = irisd_output_reader_new (irisd_journal_get_outputs (self->core->journal),
                                                  follower->item, follower->from);
      if (follower->has_attempt)
        irisd_output_reader_expect (follower->reader, follower->attempt - 1);
    }
  follower->ended = !answer->pending;
  follower->state = follower->ended && answer->error == NULL ? answer->state : 0;
  if (answer->pending)
    ask (self, follower, IRISD_WAIT_FOREVER);
  else if (follower->waits && irisd_output_reader_stop_waiting (follower->reader))
    follower->waits = FALSE;
  pump (self, follower);
}

/* There may be more to read. */
void
irisd_follow_requests_take_message (IrisdGateway *self, IrisdMessage *message)
{
  Follower *follower = IRISD_CONTAINER (message, Follower, message);
  follower->waits = FALSE;
  if (follower->peer != NULL)
    {
      pump (self, follower);
      return;
    }
  g_queue_unlink (&self->left_over_followers, &follower->in_turn);
  g_free (follower);
}

/* @more is a MORE. Returns FALSE if it is not for a follower. One that grants nothing ends it. */
gboolean
irisd_follow_requests_grant (IrisdGateway *self,
                             const IrisdCaller *caller,
                             const IrisWireMessage *more)
{
  Follower *follower = find (caller->peer, more->target);
  guint64 limit = irisd_core_get_settings (self->core)->limits.stream_credit;
  if (follower == NULL)
    return FALSE;
  if (more->grant > limit || follower->credit > limit - more->grant)
    refuse_credit (self, caller, more->request_id, limit);
  else if (more->grant == 0)
    finish (self, follower);
  else
    {
      follower->credit += more->grant;
      pump (self, follower);
    }
  return TRUE;
}

/* Goes on with followers that were stopped. Returns whether one sent something. */
gboolean
irisd_follow_requests_go_on (IrisdGateway *self)
{
  gboolean any = FALSE;
  /* One that ends its connection takes others along. */
  for (guint n = self->stalled_followers.length; n > 0 && self->stalled_followers.head != NULL; n--)
    {
      Follower *follower = g_queue_pop_head_link (&self->stalled_followers)->data;
      follower->stalled = FALSE;
      if (follower->peer->backlogged)
        {
          stall (self, follower);
          continue;
        }
      any = TRUE;
      pump (self, follower);
    }
  return any;
}

/* @peer has gone. */
void
irisd_follow_requests_drop_all_of (IrisdGateway *self, IrisdPeer *peer)
{
  while (peer->followers.head != NULL)
    drop (self, peer->followers.head->data);
}

/* @self has no peers, and no thread posts to it. */
void
irisd_follow_requests_clear (IrisdGateway *self)
{
  GList *link;
  while ((link = g_queue_pop_head_link (&self->left_over_followers)) != NULL)
    g_free (link->data);
}
