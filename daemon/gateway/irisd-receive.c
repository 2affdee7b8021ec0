/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A gateway's messages on their way in: decoded, checked, and passed on or answered.
 *
 * No input is trusted. A message that does not parse is answered by an error, and nothing of it is
 * stored.
 *
 * The receive backlog has connections with more to read than is read at once. A batch is read some
 * items at a time. Its connection is in the backlog meanwhile, and in each turn the gateway goes on
 * with the batch that has waited longest; between two parts of it the gateway serves all others.
 * Messages of the connection itself that come after its batch wait, so that the order on each
 * connection is unchanged.
 *
 * Waiting messages are bounded by what a client may have in flight. If a client sends more, and so
 * more than its credit, its oldest message is read at once, and refused. When a connection ends,
 * its waiting messages become strays, which are handled before any newer message.
 */
#include "daemon/gateway/irisd-receive.h"

#include "daemon/base/irisd-log.h"
#include "daemon/gateway/irisd-ask-requests.h"
#include "daemon/gateway/irisd-away.h"
#include "daemon/gateway/irisd-backup-requests.h"
#include "daemon/gateway/irisd-change-requests.h"
#include "daemon/gateway/irisd-cluster-requests.h"
#include "daemon/gateway/irisd-edit-requests.h"
#include "daemon/gateway/irisd-follow-elsewhere.h"
#include "daemon/gateway/irisd-follow-requests.h"
#include "daemon/gateway/irisd-item-requests.h"
#include "daemon/gateway/irisd-place-requests.h"
#include "daemon/gateway/irisd-queue-requests.h"
#include "daemon/gateway/irisd-schedule-requests.h"
#include "daemon/gateway/irisd-send.h"
#include "daemon/gateway/irisd-session.h"
#include "daemon/gateway/irisd-settings-requests.h"
#include "daemon/gateway/irisd-statistics-requests.h"
#include "daemon/gateway/irisd-submit.h"
#include "daemon/gateway/irisd-suspend-requests.h"
#include "daemon/gateway/irisd-trace-requests.h"
#include "daemon/gateway/irisd-worker-session.h"

#include <string.h>

static void
refuse_undecodable (IrisdGateway *self,
                    const IrisdCaller *caller,
                    const IrisWireMessage *message,
                    const GError *error)
{
  static IrisdLogSite site;
  irisd_count (&self->counters.malformed, 1);
  const IrisdLogSubject subject = {
    .client = caller->peer != NULL ? caller->peer->name : NULL,
  };
  irisd_log_limited_about (
      &site, &subject, IRISD_LOG_INFO, "cannot read a message of the client %s: %s",
      caller->peer != NULL && caller->peer->name != NULL ? caller->peer->name
                                                         : "that said no hello",
      error->message);
  IrisWireMessage reply;
  iris_wire_message_init (&reply, IRIS_WIRE_ERROR_REPLY, message->request_id);
  iris_wire_message_set_error (&reply, error);
  if (message->limit.len > 0)
    {
      iris_wire_message_set_string (&reply, IRIS_WIRE_KEY_LIMIT, message->limit.data,
                                    (gssize) message->limit.len);
      iris_wire_message_set_uint (&reply, IRIS_WIRE_KEY_LIMIT_VALUE, message->limit_value);
    }
  irisd_send_answer (self, caller, &reply);
  if (caller->peer != NULL && caller->peer->worker_process != NULL
      && !g_error_matches (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_TOO_LARGE))
    irisd_session_lose (self, caller->peer, "it is a worker and sent a message that cannot be read",
                        TRUE);
}

static void
refuse_by_code (IrisdGateway *self,
                const IrisdCaller *caller,
                const IrisWireMessage *message,
                IrisWireError code,
                const char *reason)
{
  g_autoptr (GError) error = g_error_new_literal (IRIS_WIRE_ERROR, code, reason);
  irisd_send_refusal (self, caller, message->request_id, error);
}

static void
refuse_type (IrisdGateway *self, const IrisdCaller *caller, const IrisWireMessage *request)
{
  irisd_count (&self->counters.malformed, 1);
  refuse_by_code (self, caller, request, IRIS_WIRE_ERROR_UNKNOWN_TYPE,
                  "irisd sends messages of that type and does not take them");
}

static void
answer_ping (IrisdGateway *self, const IrisdCaller *caller, const IrisWireMessage *request)
{
  IrisWireMessage reply;
  iris_wire_message_init (&reply, IRIS_WIRE_PONG, request->request_id);
  irisd_send_answer (self, caller, &reply);
}

static void
grant_more (IrisdGateway *self, const IrisdCaller *caller, const IrisWireMessage *more)
{
  if (!irisd_follow_requests_grant (self, caller, more)
      && !irisd_follow_elsewhere_grant (self, caller, more))
    irisd_item_requests_grant (self, caller, more);
}

/* Requests about persistent items. */
static void
handle_persistent (IrisdGateway *self, const IrisdCaller *caller, const IrisWireMessage *request)
{
  switch (request->type)
    {
    case IRIS_WIRE_FETCH:
      irisd_item_requests_fetch (self, caller, request);
      break;
    case IRIS_WIRE_FOLLOW:
      irisd_follow_requests_follow (self, caller, request);
      break;
    case IRIS_WIRE_SHOW:
      irisd_item_requests_show (self, caller, request);
      break;
    case IRIS_WIRE_LIST:
      irisd_item_requests_list (self, caller, request);
      break;
    case IRIS_WIRE_KICK:
      irisd_change_requests_kick (self, caller, request);
      break;
    case IRIS_WIRE_SUSPEND:
    case IRIS_WIRE_RESUME:
      irisd_suspend_requests_handle (self, caller, request);
      break;
    case IRIS_WIRE_SCHEDULE:
      irisd_schedule_requests_change (self, caller, request);
      break;
    case IRIS_WIRE_SCHEDULES:
      irisd_schedule_requests_list (self, caller, request);
      break;
    case IRIS_WIRE_QUEUE:
      irisd_queue_requests_change (self, caller, request);
      break;
    case IRIS_WIRE_QUEUES:
      irisd_queue_requests_list (self, caller, request);
      break;
    case IRIS_WIRE_EDIT:
      irisd_edit_requests_edit (self, caller, request);
      break;
    case IRIS_WIRE_AGAIN:
      irisd_edit_requests_again (self, caller, request);
      break;
    case IRIS_WIRE_BURY:
      irisd_change_requests_bury (self, caller, request);
      break;
    default:
      refuse_type (self, caller, request);
      break;
    }
}

/* Requests that tell what irisd is and does, and change nothing. */
static void
handle_question (IrisdGateway *self, const IrisdCaller *caller, const IrisWireMessage *request)
{
  switch (request->type)
    {
    case IRIS_WIRE_MAP:
      irisd_place_requests_answer_map (self, caller, request);
      break;
    case IRIS_WIRE_STATUS:
      irisd_place_requests_answer_status (self, caller, request);
      break;
    case IRIS_WIRE_STATISTICS:
      irisd_statistics_requests_answer (self, caller, request);
      break;
    case IRIS_WIRE_TRACE:
      irisd_trace_requests_begin (self, caller, request);
      break;
    case IRIS_WIRE_SPANS:
      irisd_trace_requests_answer_spans (self, caller, request);
      break;
    case IRIS_WIRE_SERVICES:
      irisd_place_requests_answer_services (self, caller, request);
      break;
    case IRIS_WIRE_NODES:
      irisd_cluster_requests_answer_nodes (self, caller, request);
      break;
    default:
      irisd_worker_session_answer_workers (self, caller, request);
      break;
    }
}

/* Requests about irisd itself, or the connection. */
static void
handle_control (IrisdGateway *self, const IrisdCaller *caller, const IrisWireMessage *request)
{
  switch (request->type)
    {
    case IRIS_WIRE_PING:
      answer_ping (self, caller, request);
      break;
    case IRIS_WIRE_BYE:
      irisd_session_close (self, caller->peer, TRUE);
      break;
    case IRIS_WIRE_RELOAD:
      irisd_settings_requests_reload (self, caller, request);
      break;
    case IRIS_WIRE_KEYS:
      irisd_settings_requests_answer_keys (self, caller, request);
      break;
    case IRIS_WIRE_BACKUP:
      irisd_backup_requests_begin (self, caller, request);
      break;
    case IRIS_WIRE_NODE:
    case IRIS_WIRE_CLUSTER_CHECK:
    case IRIS_WIRE_CLUSTER_INIT:
      irisd_cluster_requests_change (self, caller, request);
      break;
    default:
      irisd_place_requests_change (self, caller, request);
      break;
    }
}

/* A connection that may only ask does not count for max-peers. */
static gboolean
may_send_that (const IrisdCaller *caller, const IrisWireMessage *request)
{
  return !caller->peer->asks_only
         || (request->type != IRIS_WIRE_SUBMIT && request->type != IRIS_WIRE_BATCH
             && request->type != IRIS_WIRE_AGAIN && request->type != IRIS_WIRE_READY);
}

/* Applies the table to the request as a whole; its handler checks which items it reaches. */
static gboolean
is_taken (IrisdGateway *self, const IrisdCaller *caller, const IrisWireMessage *request)
{
  g_autoptr (GError) error = NULL;
  if (irisd_policy_check (request->type, caller->peer->roles, &error))
    return TRUE;
  irisd_send_refusal (self, caller, request->request_id, error);
  return FALSE;
}

static void
join_backlog (IrisdGateway *self, IrisdPeer *peer)
{
  if (peer->in_receive_backlog)
    return;
  peer->in_receive_backlog = TRUE;
  g_queue_push_tail_link (&self->receive_backlog, &peer->receive_link);
}

/* An item from its submission to the acknowledgement of its result. */
static void
handle_item (IrisdGateway *self,
             const IrisdCaller *caller,
             const IrisWireMessage *request,
             zmq_msg_t *body)
{
  switch (request->type)
    {
    case IRIS_WIRE_SUBMIT:
      irisd_submit_item (self, caller, request, body);
      break;
    case IRIS_WIRE_BATCH:
      if (irisd_submit_begin_batch (self, caller, request, body))
        join_backlog (self, caller->peer);
      break;
    case IRIS_WIRE_ACK:
      irisd_item_requests_acknowledge (self, caller, request);
      break;
    case IRIS_WIRE_CANCEL:
      irisd_change_requests_cancel (self, caller, request);
      break;
    default:
      grant_more (self, caller, request);
      break;
    }
}

static void
handle_in_session (IrisdGateway *self,
                   const IrisdCaller *caller,
                   const IrisWireMessage *request,
                   zmq_msg_t *body)
{
  switch (request->type)
    {
    case IRIS_WIRE_SUBMIT:
    case IRIS_WIRE_BATCH:
    case IRIS_WIRE_ACK:
    case IRIS_WIRE_CANCEL:
    case IRIS_WIRE_MORE:
      handle_item (self, caller, request, body);
      break;
    case IRIS_WIRE_MAP:
    case IRIS_WIRE_STATUS:
    case IRIS_WIRE_STATISTICS:
    case IRIS_WIRE_TRACE:
    case IRIS_WIRE_SPANS:
    case IRIS_WIRE_SERVICES:
    case IRIS_WIRE_WORKERS:
    case IRIS_WIRE_NODES:
      handle_question (self, caller, request);
      break;
    case IRIS_WIRE_READY:
    case IRIS_WIRE_DONE:
    case IRIS_WIRE_FAIL:
    case IRIS_WIRE_EXTEND:
    case IRIS_WIRE_REPORT:
      irisd_worker_session_handle (self, caller, request, body);
      break;
    case IRIS_WIRE_PING:
    case IRIS_WIRE_BYE:
    case IRIS_WIRE_DRAIN:
    case IRIS_WIRE_SET_WORKERS:
    case IRIS_WIRE_RELOAD:
    case IRIS_WIRE_KEYS:
    case IRIS_WIRE_BACKUP:
    case IRIS_WIRE_NODE:
    case IRIS_WIRE_CLUSTER_CHECK:
    case IRIS_WIRE_CLUSTER_INIT:
      handle_control (self, caller, request);
      break;
    case IRIS_WIRE_ANSWER:
      irisd_ask_requests_take_answer (self, caller, request);
      break;
    default:
      handle_persistent (self, caller, request);
      break;
    }
}

/* Handles a request as that of the owner for whom the bridge asks. */
static void
handle_for_owner (IrisdGateway *self, const IrisdCaller *caller, const IrisWireMessage *request)
{
  g_autoptr (GError) error = NULL;
  IrisdActing acting;
  if (!irisd_acting_begin (self, caller, request, &acting, &error))
    {
      irisd_send_refusal (self, caller, request->request_id, error);
      return;
    }
  handle_in_session (self, &acting.caller, request, NULL);
  irisd_acting_end (&acting);
}

/* @request has no body; it is about another node, or comes from one. */
static void
handle_for_cluster (IrisdGateway *self, const IrisdCaller *caller, const IrisWireMessage *request)
{
  g_autoptr (GError) error = NULL;
  gboolean own = TRUE;
  if (iris_wire_message_has (request, IRIS_WIRE_KEY_NODE)
      && !irisd_away_find_node (self, &request->node, &own, &error))
    irisd_send_refusal (self, caller, request->request_id, error);
  else if (!own && request->type == IRIS_WIRE_FOLLOW)
    irisd_follow_elsewhere_begin (self, caller, request);
  else if (!own)
    {
      if (irisd_submit_may_ask (self, caller, request, FALSE))
        irisd_ask_requests_ask (self, caller, request, NULL);
    }
  else if (iris_wire_message_has (request, IRIS_WIRE_KEY_FOR_OWNER))
    handle_for_owner (self, caller, request);
  else
    handle_in_session (self, caller, request, NULL);
}

static void
handle_decoded (IrisdGateway *self,
                IrisdCaller *caller,
                const IrisWireMessage *request,
                zmq_msg_t *body)
{
  if (request->type == IRIS_WIRE_HELLO)
    irisd_session_open (self, caller, request, zmq_msg_get (body, ZMQ_SRCFD));
  else if (caller->peer != NULL && caller->peer->in_session && !may_send_that (caller, request))
    refuse_by_code (self, caller, request, IRIS_WIRE_ERROR_BAD_ARGUMENT,
                    "the connection said in HELLO that it only asks; say HELLO without the feature "
                    "bit 8 to send items or to work");
  else if (caller->peer != NULL && caller->peer->in_session)
    {
      if (!is_taken (self, caller, request))
        return;
      if (G_UNLIKELY (irisd_ask_requests_concern (request)))
        handle_for_cluster (self, caller, request);
      else
        handle_in_session (self, caller, request, body);
    }
  else
    refuse_by_code (
        self, caller, request, IRIS_WIRE_ERROR_HELLO_REQUIRED,
        "this connection has not said HELLO; say it first, also after a lost connection");
}

/* A client chooses its routing id, so when a connection has ended unnoticed another user may have
 * its id: that connection inherits nothing. */
static void
check_identity (IrisdGateway *self, IrisdCaller *caller)
{
  IrisdPeer *peer = caller->peer;
  if (peer == NULL || !peer->in_session || peer->uid == caller->uid)
    return;
  caller->peer = NULL;
  irisd_session_lose (self, peer, "its routing id is another user's now", FALSE);
}

/* The ZAP handler has named OWNER:KEY. */
static void
identify_key (IrisdCaller *caller, const char *user_id)
{
  const char *colon = user_id != NULL ? strchr (user_id, ':') : NULL;
  if (colon == NULL)
    return;
  caller->uid = g_ascii_strtoll (user_id, NULL, 10);
  caller->public_key = colon + 1;
}

/* For a connection over ipc ZeroMQ reports uid, gid and pid after the word localhost, for one over
 * TCP an address in numbers, for one inside of the process nothing. Anything else counts as TCP, if
 * irisd listens there. */
static void
identify (IrisdGateway *self, IrisdCaller *caller, zmq_msg_t *last_frame)
{
  const char *address = zmq_msg_gets (last_frame, "Peer-Address");
  if (address == NULL)
    address = irisd_inner_door_find_address (self->core->inner_door, &caller->route);
  caller->address = address;
  caller->over_tcp = self->core->config->tcp_host != NULL
                     && (address == NULL || !g_str_has_prefix (address, "localhost:"));
  caller->uid = caller->over_tcp ? IRISD_UID_UNKNOWN : irisd_access_parse_address (address);
  if (caller->over_tcp && self->core->config->server_key != NULL)
    identify_key (caller, zmq_msg_gets (last_frame, "User-Id"));
}

static void
handle_message (IrisdGateway *self,
                IrisdCaller *caller,
                IrisdPeer *peer,
                zmq_msg_t *frames,
                guint n_frames)
{
  /* A message may be older than the end of the connection that it came by. */
  caller->peer = peer != NULL && !irisd_peer_is_gone (peer) ? peer : NULL;

  IrisWireFrame views[IRIS_WIRE_N_FRAMES + 1];
  for (guint i = 0; i < n_frames; i++)
    views[i] = (IrisWireFrame){ zmq_msg_data (&frames[i]), zmq_msg_size (&frames[i]) };

  IrisWireMessage message;
  g_autoptr (GError) error = NULL;
  if (!iris_wire_decode (views, n_frames, &self->core->wire_limits, &message, &error))
    {
      refuse_undecodable (self, caller, &message, error);
      return;
    }
  identify (self, caller, &frames[n_frames - 1]);
  check_identity (self, caller);
  handle_decoded (self, caller, &message, &frames[n_frames - 1]);
}

static void
handle_mail (IrisdGateway *self, IrisdMail *mail)
{
  IrisdCaller caller = { 0 };
  irisd_route_init (&caller.route, &mail->route);
  g_autoptr (IrisdPeer) peer = irisd_peers_lookup (&self->peers, &caller.route);
  if (peer != NULL)
    irisd_peer_ref (peer);
  handle_message (self, &caller, peer, mail->frames, mail->n_frames);
}

/* Handles a connection's waiting messages, in order, until a batch is to be read or the turn is
 * over. A BYE and HELLO among them change the peer. */
static void
go_on_with_mail (IrisdGateway *self, const IrisdRoute *route, IrisdMails *mails)
{
  IrisdMail *mail;
  while ((mail = irisd_mails_pop (mails)) != NULL)
    {
      IrisdPeer *peer = irisd_peers_lookup (&self->peers, route);
      if (peer != NULL && (peer->batch != NULL || irisd_gateway_turn_is_over (self)))
        {
          irisd_mails_put_back (mails, mail);
          peer->mails = *mails;
          join_backlog (self, peer);
          return;
        }
      handle_mail (self, mail);
      irisd_mail_free (mail);
    }
}

static void
go_on_with (IrisdGateway *self, IrisdPeer *who)
{
  g_autoptr (IrisdPeer) peer = irisd_peer_ref (who);
  irisd_session_leave_backlog (self, peer);
  self->turn_items = 0;
  irisd_submit_read_batch (self, peer);
  if (peer->batch != NULL)
    {
      join_backlog (self, peer);
      return;
    }
  IrisdMails mails = peer->mails;
  peer->mails = (IrisdMails){ 0 };
  go_on_with_mail (self, &peer->route, &mails);
}

/* A client within its credit never has: each item takes one, and its payload counts its bytes. */
static gboolean
has_too_much (IrisdGateway *self, IrisdPeer *peer)
{
  const IrisdLimits *limits = &self->core->config->limits;
  return peer->mails.queue.length > limits->in_flight_items
         || peer->mails.bytes > limits->in_flight_bytes;
}

/* Takes a message of @peer, which is in the backlog, with its routing id and frames. It waits until
 * all before it were read. */
static void
put_off (IrisdGateway *self, IrisdPeer *peer, zmq_msg_t *route, zmq_msg_t *frames, guint n_frames)
{
  irisd_mails_push (&peer->mails, irisd_mail_new (route, frames, n_frames));
  G_GNUC_UNUSED g_autoptr (IrisdPeer) keep = irisd_peer_ref (peer);
  while (peer->in_receive_backlog && has_too_much (self, peer))
    go_on_with (self, peer);
}

/* Handles one message, or puts it into the backlog. @n_frames is at most one more than a message
 * has. */
void
irisd_receive_handle (IrisdGateway *self, zmq_msg_t *route, zmq_msg_t *frames, guint n_frames)
{
  IrisdCaller caller = { 0 };
  irisd_route_init (&caller.route, route);
  g_autoptr (IrisdPeer) peer = irisd_peers_lookup (&self->peers, &caller.route);
  if (peer != NULL)
    {
      irisd_peer_ref (peer);
      irisd_peers_touch (&self->peers, peer);
      irisd_worker_watch_mark_heard (self, peer);
      irisd_send_outbox (self, peer);
    }
  if (peer != NULL && peer->in_receive_backlog)
    put_off (self, peer, route, frames, n_frames);
  else
    handle_message (self, &caller, peer, frames, n_frames);
}

/* Reads some messages of the first in the backlog. Returns whether there was one. */
gboolean
irisd_receive_go_on (IrisdGateway *self)
{
  IrisdPeer *peer = g_queue_peek_head (&self->receive_backlog);
  if (peer != NULL)
    go_on_with (self, peer);
  return peer != NULL;
}

/* Handles messages that came before any that comes now. */
void
irisd_receive_handle_strays (IrisdGateway *self)
{
  IrisdMail *mail;
  while ((mail = irisd_mails_pop (&self->strays)) != NULL)
    {
      irisd_receive_handle (self, &mail->route, mail->frames, mail->n_frames);
      irisd_mail_free (mail);
    }
}

/* @self has no peers. */
void
irisd_receive_clear (IrisdGateway *self)
{
  IrisdMail *mail;
  while ((mail = irisd_mails_pop (&self->strays)) != NULL)
    irisd_mail_free (mail);
}
