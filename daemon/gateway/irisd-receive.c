/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A gateway's messages on their way in: decoded, checked, and passed on or answered.
 *
 * No input is trusted. A message that does not parse is answered by an error, and nothing of it is
 * stored.
 */
#include "daemon/exec/command/irisd-command-output.h"
#include "daemon/gateway/irisd-gateway-private.h"
#include "daemon/gateway/irisd-worker-session.h"
#include "daemon/items/irisd-bury.h"

#include <string.h>

static void
refuse_undecodable (IrisdGateway *self,
                    const IrisdCaller *caller,
                    const IrisWireMessage *message,
                    const GError *error)
{
  static IrisdLogSite site;
  irisd_count (&self->counters.malformed, 1);
  irisd_log_limited (&site, IRISD_LOG_INFO, "cannot read a message of the client %s: %s",
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
answer_map (IrisdGateway *self, const IrisdCaller *caller, const IrisWireMessage *request)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) body = irisd_front_encode_map (self->core, caller->over_tcp, &error);
  IrisWireMessage reply;
  iris_wire_message_init (&reply, IRIS_WIRE_MAP_REPLY, request->request_id);
  irisd_send_answer_bytes (self, caller, &reply, body, error);
}

static void
answer_status (IrisdGateway *self, const IrisdCaller *caller, const IrisWireMessage *request)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) body = irisd_status_encode (self->core, &error);
  IrisWireMessage reply;
  iris_wire_message_init (&reply, IRIS_WIRE_STATUS_REPLY, request->request_id);
  irisd_send_answer_bytes (self, caller, &reply, body, error);
}

static void
answer_services (IrisdGateway *self, const IrisdCaller *caller, const IrisWireMessage *request)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (IrisWireServices) list = irisd_services_describe (self->core->services);
  irisd_worker_processes_add_services (self->core->worker_processes,
                                       irisd_ownership_get_space (self, caller->peer->owner), list);
  g_autoptr (GBytes) body = iris_wire_services_encode (list, &self->core->wire_limits, &error);
  IrisWireMessage reply;
  iris_wire_message_init (&reply, IRIS_WIRE_SERVICES_REPLY, request->request_id);
  irisd_send_answer_bytes (self, caller, &reply, body, error);
}

static void
answer_ping (IrisdGateway *self, const IrisdCaller *caller, const IrisWireMessage *request)
{
  IrisWireMessage reply;
  iris_wire_message_init (&reply, IRIS_WIRE_PONG, request->request_id);
  irisd_send_answer (self, caller, &reply);
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
    case IRIS_WIRE_SHOW:
      irisd_item_requests_show (self, caller, request);
      break;
    case IRIS_WIRE_LIST:
      irisd_item_requests_list (self, caller, request);
      break;
    case IRIS_WIRE_KICK:
      irisd_bury_requests_kick (self, caller, request);
      break;
    default:
      irisd_bury_requests_bury (self, caller, request);
      break;
    }
}

/* A connection that may only ask does not count for max-peers. */
static gboolean
may_send_that (const IrisdCaller *caller, const IrisWireMessage *request)
{
  return !caller->peer->asks_only
         || (request->type != IRIS_WIRE_SUBMIT && request->type != IRIS_WIRE_BATCH
             && request->type != IRIS_WIRE_READY);
}

/* Applies the table to the request as a whole; its handler checks which items it reaches. */
static gboolean
is_taken (IrisdGateway *self, const IrisdCaller *caller, const IrisWireMessage *request)
{
  g_autoptr (GError) error = NULL;
  if (irisd_policy_check (request->type, caller->peer->role, &error))
    return TRUE;
  irisd_send_refusal (self, caller, request->request_id, error);
  return FALSE;
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
      irisd_submit_item (self, caller, request, body);
      break;
    case IRIS_WIRE_BATCH:
      irisd_receive_backlog_submit_batch (self, caller, request, body);
      break;
    case IRIS_WIRE_ACK:
      irisd_acknowledge_request (self, caller, request);
      break;
    case IRIS_WIRE_CANCEL:
      irisd_cancel_request (self, caller, request);
      break;
    case IRIS_WIRE_MORE:
      irisd_output_grant (self, caller, request);
      break;
    case IRIS_WIRE_MAP:
      answer_map (self, caller, request);
      break;
    case IRIS_WIRE_STATUS:
      answer_status (self, caller, request);
      break;
    case IRIS_WIRE_SERVICES:
      answer_services (self, caller, request);
      break;
    case IRIS_WIRE_WORKERS:
      irisd_worker_session_answer_workers (self, caller, request);
      break;
    case IRIS_WIRE_READY:
    case IRIS_WIRE_DONE:
    case IRIS_WIRE_FAIL:
    case IRIS_WIRE_EXTEND:
    case IRIS_WIRE_REPORT:
      irisd_worker_session_handle (self, caller, request, body);
      break;
    case IRIS_WIRE_PING:
      answer_ping (self, caller, request);
      break;
    case IRIS_WIRE_DRAIN:
    case IRIS_WIRE_SET_WORKERS:
      irisd_place_requests_change (self, caller, request);
      break;
    case IRIS_WIRE_FETCH:
    case IRIS_WIRE_SHOW:
    case IRIS_WIRE_LIST:
    case IRIS_WIRE_KICK:
    case IRIS_WIRE_BURY:
      handle_persistent (self, caller, request);
      break;
    case IRIS_WIRE_BYE:
      irisd_session_close (self, caller->peer, TRUE);
      break;
    default:
      irisd_count (&self->counters.malformed, 1);
      refuse_by_code (self, caller, request, IRIS_WIRE_ERROR_UNKNOWN_TYPE,
                      "irisd sends messages of that type and does not take them");
      break;
    }
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
      if (is_taken (self, caller, request))
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

/* For a connection over ipc ZeroMQ reports uid, gid and pid after the word localhost, for one over
 * TCP an address in numbers. Anything else counts as TCP, if irisd listens there. */
static void
identify (IrisdGateway *self, IrisdCaller *caller, zmq_msg_t *last_frame)
{
  const char *address = caller->address = zmq_msg_gets (last_frame, "Peer-Address");
  caller->over_tcp = self->core->config->tcp_host != NULL
                     && (address == NULL || !g_str_has_prefix (address, "localhost:"));
  caller->uid = caller->over_tcp ? IRISD_UID_UNKNOWN : irisd_access_parse_address (address);
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
    irisd_receive_backlog_put (self, peer, route, frames, n_frames);
  else
    handle_message (self, &caller, peer, frames, n_frames);
}

/* Handles a message from the backlog. */
void
irisd_receive_handle_mail (IrisdGateway *self, zmq_msg_t *route, zmq_msg_t *frames, guint n_frames)
{
  IrisdCaller caller = { 0 };
  irisd_route_init (&caller.route, route);
  g_autoptr (IrisdPeer) peer = irisd_peers_lookup (&self->peers, &caller.route);
  if (peer != NULL)
    irisd_peer_ref (peer);
  handle_message (self, &caller, peer, frames, n_frames);
}
