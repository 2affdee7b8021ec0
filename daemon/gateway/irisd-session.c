/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A gateway's sessions: HELLO, BYE, and connections that end without.
 *
 * The queued items of a peer end with it. Its unacknowledged bytes still count as long as its
 * connection may exist, because they may still be in ZeroMQ's pipe: so BYE and HELLO in turn give
 * no more credit than one connection has.
 */
#include "daemon/gateway/irisd-session.h"

#include "daemon/base/irisd-log.h"
#include "daemon/gateway/irisd-ask-requests.h"
#include "daemon/gateway/irisd-follow-elsewhere.h"
#include "daemon/gateway/irisd-follow-requests.h"
#include "daemon/gateway/irisd-send.h"
#include "daemon/gateway/irisd-submit.h"
#include "daemon/gateway/irisd-worker-session.h"
#include "daemon/items/irisd-cancel.h"

#include <string.h>
#include <unistd.h>

/* Clients connect again that many milliseconds after the connection has ended. */
#define GOING_RETRY_MS 20

/* A full table probes this many of the connections that were silent longest. */
#define PROBES 64

/* Connections that only ask are admitted beyond max-peers, so that an operator can see and end the
 * others. */
#define MOST_ASKERS 64

/* @peer, which may be in the receive backlog, does not wait there any more. */
void
irisd_session_leave_backlog (IrisdGateway *self, IrisdPeer *peer)
{
  if (peer->in_receive_backlog)
    g_queue_unlink (&self->receive_backlog, &peer->receive_link);
  peer->in_receive_backlog = FALSE;
}

/* @peer ends, and is marked as gone. Its batch is not read further; its messages become strays. */
static void
stop_reading (IrisdGateway *self, IrisdPeer *peer)
{
  irisd_session_leave_backlog (self, peer);
  irisd_submit_end_batch (self, peer);
  IrisdMail *mail;
  while ((mail = irisd_mails_pop (&peer->mails)) != NULL)
    irisd_mails_push (&self->strays, mail);
}

/* A session of @peer begins, 1, or ends, -1. */
static void
note_session (IrisdGateway *self, const IrisdPeer *peer, gint change)
{
  irisd_count (&self->counters.peers, change);
  if (peer->public_key != NULL)
    irisd_key_use_connect (&self->core->key_use, peer->uid, change, g_get_real_time () / 1000);
}

/* Cancels the queued items of @peer, drops its running ones, and removes it from the table; hold a
 * reference to use it afterwards. @still_there: its connection may still exist. */
void
irisd_session_close (IrisdGateway *self, IrisdPeer *peer, gboolean still_there)
{
  irisd_peer_ref (peer);
  if (still_there)
    irisd_send_bundle (self, peer);
  if (irisd_peer_is_gone (peer))
    {
      irisd_peer_unref (peer);
      return;
    }
  irisd_send_drop_bundle (peer);
  atomic_store_explicit (&peer->gone, TRUE, memory_order_relaxed);
  irisd_ask_requests_lose_bridge (self, peer);
  irisd_worker_session_dismiss (self, peer);
  irisd_worker_watch_remove_reader (self, peer);
  irisd_follow_requests_drop_all_of (self, peer);
  irisd_follow_elsewhere_drop_all_of (peer);
  stop_reading (self, peer);
  irisd_cancel_all_of (&self->items, peer);
  if (peer->backlogged)
    g_queue_unlink (&self->backlog, &peer->backlog_link);
  peer->backlogged = FALSE;
  irisd_outbox_clear (&peer->outbox);
  if (peer->in_session)
    note_session (self, peer, -1);
  self->n_askers -= peer->asks_only;
  if (peer->in_session && still_there)
    irisd_pending_connections_part (self->core->pending_connections, &peer->connection,
                                    g_get_monotonic_time ());

  irisd_peers_remove (&self->peers, peer);
  if (still_there && peer->unacked.count > 0)
    {
      IrisdPeer *debtor = irisd_peers_add (&self->peers, &peer->route);
      debtor->unacked = peer->unacked;
      irisd_unacknowledged_keep_items (&debtor->unacked);
      irisd_peer_add_bytes (debtor, (gint64) debtor->unacked.sum);
      peer->unacked = (IrisdUnacknowledged){ 0 };
    }
  irisd_core_add_bytes (self->core, -(gint64) peer->unacked.sum);
  irisd_count (&self->items.counters.unacked, -(gint64) peer->unacked.count);
  irisd_peer_unref (peer);
}

/* Ends a peer that did not say BYE. @why is half a sentence for the log; @still_there: its
 * connection may still exist. */
void
irisd_session_lose (IrisdGateway *self, IrisdPeer *peer, const char *why, gboolean still_there)
{
  static IrisdLogSite site;
  const IrisdLogSubject subject = { .client = peer->name };
  if (peer->in_session)
    irisd_log_limited_about (&site, &subject, IRISD_LOG_INFO,
                             "dropped the client %s with %u items in flight: %s", peer->name,
                             g_hash_table_size (peer->jobs), why);
  irisd_session_close (self, peer, still_there);
}

/* Connections that only ask do not count. */
static guint
count_peers (IrisdGateway *self)
{
  return irisd_peers_get_count (&self->peers) - self->n_askers;
}

/* The part of max-peers that is for irisd's own user. */
#define OWN_PART 16

/* A limit that a new connection would exceed. */
typedef struct
{
  const char *name;
  guint64 value;
} Limit;

static void
probe (IrisdGateway *self, IrisdPeer *peer)
{
  irisd_peers_touch (&self->peers, peer);
  if (!irisd_send_probe (self, peer))
    irisd_session_lose (self, peer, "it has gone", FALSE);
}

/* Ends the peers whose connection has ended. Returns FALSE as long as ZeroMQ still has the
 * connection of one. */
gboolean
irisd_session_lose_ended (IrisdGateway *self)
{
  const guint n = irisd_peers_get_count (&self->peers);
  for (guint i = 0; i < n; i++)
    {
      IrisdPeer *peer = irisd_peers_get_oldest (&self->peers);
      if (irisd_connection_has_ended (&peer->connection))
        probe (self, peer);
      else
        irisd_peers_touch (&self->peers, peer);
    }
  for (GList *link = self->peers.by_age.head; link != NULL; link = link->next)
    if (irisd_connection_has_ended (&((IrisdPeer *) link->data)->connection))
      return FALSE;
  return TRUE;
}

/* ZeroMQ does not report the end of a connection. So when the table is full, silent ones are
 * probed. */
static gboolean
make_room_in_all (IrisdGateway *self, guint most)
{
  if (count_peers (self) < most)
    return TRUE;
  for (guint i = MIN (PROBES, irisd_peers_get_count (&self->peers)); i > 0; i--)
    probe (self, irisd_peers_get_oldest (&self->peers));
  return count_peers (self) < most;
}

static gboolean
make_room_for_user (IrisdGateway *self, gint64 user, guint most)
{
  IrisdPeer *oldest[PROBES];
  guint n = irisd_peers_get_of_user (&self->peers, user, oldest, PROBES);
  if (n < most)
    return TRUE;
  for (guint i = 0; i < MIN (n, PROBES); i++)
    probe (self, oldest[i]);
  return irisd_peers_get_of_user (&self->peers, user, oldest, PROBES) < most;
}

/* irisd's own user may take all of the socket's connections. Another has a limit, and all others
 * together leave some. The user of a connection over TCP is unknown, so all of those count as one
 * user's. */
static gboolean
make_room (IrisdGateway *self, gint64 user, Limit *limit)
{
  const IrisdLimits *limits = &irisd_core_get_settings (self->core)->limits;
  guint most = (guint) limits->max_peers;
  *limit = (Limit){ "max-peers", limits->max_peers };
  if (user == (gint64) geteuid ())
    return make_room_in_all (self, most);
  if (!make_room_in_all (self, most - most / OWN_PART))
    return FALSE;
  *limit = (Limit){ "max-user-peers", limits->max_user_peers };
  return make_room_for_user (self, user, (guint) limits->max_user_peers);
}

static void
refuse_beyond_limit (IrisdGateway *self,
                     const IrisdCaller *caller,
                     const guint8 *request_id,
                     const Limit *limit)
{
  static IrisdLogSite site;
  irisd_count (&self->counters.busy[irisd_busy_limit_find (limit->name)], 1);
  irisd_log_limited (&site, IRISD_LOG_WARNING,
                     "refused a client: %" G_GUINT64_FORMAT
                     " are connected to one socket already (limit %s)",
                     limit->value, limit->name);
  g_autoptr (GError)
      error = g_error_new (IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BUSY,
                           "too many clients are connected to this socket; close some, or raise %s "
                           "(%" G_GUINT64_FORMAT ") in irisd's configuration",
                           limit->name, limit->value);
  IrisWireMessage busy;
  iris_wire_message_init (&busy, IRIS_WIRE_BUSY, request_id);
  iris_wire_message_set_error (&busy, error);
  iris_wire_message_set_string (&busy, IRIS_WIRE_KEY_LIMIT, limit->name, -1);
  iris_wire_message_set_uint (&busy, IRIS_WIRE_KEY_LIMIT_VALUE, limit->value);
  iris_wire_message_set_uint (&busy, IRIS_WIRE_KEY_RETRY_AFTER_MS, 1000);
  irisd_send_answer (self, caller, &busy);
}

static void
welcome (IrisdGateway *self, const IrisdCaller *caller, const IrisWireMessage *hello)
{
  const IrisdLimits *limits = &self->core->config->limits;
  const IrisdUnacknowledged *unacked = &caller->peer->unacked;
  IrisWireMessage message;
  iris_wire_message_init (&message, IRIS_WIRE_WELCOME, hello->request_id);
  iris_wire_message_set_uint (&message, IRIS_WIRE_KEY_VERSION_MIN, IRIS_WIRE_VERSION);
  iris_wire_message_set_uint (&message, IRIS_WIRE_KEY_VERSION_MAX, IRIS_WIRE_VERSION);
  iris_wire_message_set_uint (&message, IRIS_WIRE_KEY_FEATURES,
                              (caller->peer->takes_bundles ? IRIS_WIRE_FEATURE_COMPLETIONS : 0)
                                  | (caller->peer->asks_only ? IRIS_WIRE_FEATURE_ASKS_ONLY : 0)
                                  | (hello->features & IRIS_WIRE_FEATURE_TWO_FRAMES)
                                  | (caller->peer->bridge ? IRIS_WIRE_FEATURE_BRIDGE : 0)
                                  | (caller->peer->resumes ? IRIS_WIRE_FEATURE_RESUME : 0));
  iris_wire_message_set_string (&message, IRIS_WIRE_KEY_NAME, "irisd " IRISD_VERSION, -1);
  iris_wire_message_set_uint (&message, IRIS_WIRE_KEY_CREDITS,
                              limits->in_flight_items
                                  - MIN (unacked->count, limits->in_flight_items));
  iris_wire_message_set_uint (&message, IRIS_WIRE_KEY_BYTE_CREDITS,
                              limits->in_flight_bytes
                                  - MIN (unacked->sum, limits->in_flight_bytes));
  iris_wire_message_set_uint (&message, IRIS_WIRE_KEY_MAX_BODY, limits->max_body);
  iris_wire_message_set_uint (&message, IRIS_WIRE_KEY_MAX_BATCH, limits->max_batch);
  iris_wire_message_set_int (&message, IRIS_WIRE_KEY_SOCKET_PLACE, self->place);
  irisd_send_answer (self, caller, &message);
}

static gboolean
check_version (const IrisWireMessage *hello, GError **error)
{
  if (hello->version_min <= IRIS_WIRE_VERSION && hello->version_max >= IRIS_WIRE_VERSION)
    return TRUE;
  g_set_error (
      error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_VERSION,
      "this irisd speaks version %d of the protocol and the client offers %u to %u; use a client "
      "of the same release",
      IRIS_WIRE_VERSION, hello->version_min, hello->version_max);
  return FALSE;
}

static gboolean
check_session (const IrisWireMessage *hello, GError **error)
{
  if (!iris_wire_message_has (hello, IRIS_WIRE_KEY_SESSION)
      || hello->session.len == IRIS_WIRE_SESSION_SIZE)
    return TRUE;
  g_set_error (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BAD_ARGUMENT,
               "a session has %d bytes, and this one %" G_GSIZE_FORMAT
               "; use the same ones on each connection of the client",
               IRIS_WIRE_SESSION_SIZE, hello->session.len);
  return FALSE;
}

/* Sets the owner of the connection's items. */
static void
settle_owner (IrisdGateway *self, const IrisdCaller *caller, IrisdPeer *peer)
{
  const IrisdConfig *config = self->core->config;
  gboolean trusted = caller->over_tcp && config->tcp_trusted;
  gint64 uid = trusted ? (gint64) geteuid () : caller->uid;
  peer->uid = caller->uid;
  g_free (peer->public_key);
  peer->public_key = g_strdup (caller->public_key);
  peer->owner = uid != IRISD_UID_UNKNOWN ? uid : irisd_policy_new_guest ();
  peer->roles = irisd_config_find_roles (irisd_core_get_settings (self->core), uid);
}

/* The ZAP handler may have admitted the connection before the settings changed. @public_key: its
 * key, or NULL. */
static gboolean
is_admitted (IrisdGateway *self, gint64 uid, const char *public_key)
{
  const IrisdConfig *settings = irisd_core_get_settings (self->core);
  if (!irisd_owner_is_key (uid))
    return uid == IRISD_UID_UNKNOWN
               ? settings->server_key == NULL
               : irisd_access_allows (&settings->access, IRISD_ACCESS_ENTER, uid);
  const IrisdKey *key = irisd_keys_find_owner (settings->keys, uid);
  return key != NULL && g_strcmp0 (key->public_key, public_key) == 0;
}

/* Ends the session of @peer, and its connection: for its next one the ZAP handler is asked. */
static void
cut_off (IrisdGateway *self, IrisdPeer *peer, const char *why)
{
  const IrisdConnection connection = peer->connection;
  irisd_session_lose (self, peer, why, TRUE);
  irisd_connection_end (&connection);
}

/* A worker process has items of others by the rights of its user, so it does not go on with
 * others. */
static void
apply_to (IrisdGateway *self, IrisdPeer *peer)
{
  gint64 uid = peer->owner >= 0 ? peer->owner : IRISD_UID_UNKNOWN;
  if (!is_admitted (self, peer->uid, peer->public_key))
    {
      cut_off (self, peer,
               peer->public_key != NULL ? "its key was revoked"
                                        : "its user is not admitted any more");
      return;
    }
  IrisdRoles roles = irisd_config_find_roles (irisd_core_get_settings (self->core), uid);
  gboolean changes = roles != peer->roles;
  peer->roles = roles;
  if (peer->worker_process != NULL
      && (changes
          || !irisd_worker_processes_is_entitled (self->core->worker_processes,
                                                  peer->worker_process)))
    cut_off (self, peer, "it is a worker, and the rights of its user have changed");
}

/* Ends the connections that the new settings do not admit, and gives the others their role. */
static void
apply_settings (IrisdGateway *self)
{
  g_autoptr (GPtrArray) peers = g_ptr_array_new_with_free_func ((GDestroyNotify) irisd_peer_unref);
  for (GList *link = self->peers.by_age.head; link != NULL; link = link->next)
    if (((IrisdPeer *) link->data)->in_session)
      g_ptr_array_add (peers, irisd_peer_ref (link->data));
  for (guint i = 0; i < peers->len; i++)
    apply_to (self, g_ptr_array_index (peers, i));
}

/* Of the settings' readers. */
static guint
get_reader (IrisdGateway *self)
{
  return self->place == IRISD_FRONT ? self->core->n_places : (guint) self->place;
}

/* Takes new settings, if there are any; the thread holds none here. The main thread frees those of
 * before once it is woken. */
void
irisd_session_follow_settings (IrisdGateway *self)
{
  if (!irisd_settings_pass (&self->core->settings, get_reader (self)))
    return;
  apply_settings (self);
  irisd_core_wake_main (self->core);
}

/* The thread reads no settings any more. */
void
irisd_session_leave_settings (IrisdGateway *self)
{
  irisd_settings_leave (&self->core->settings, get_reader (self));
}

/* Goes with the next completions of @peer, or before them. */
static void
tell_going (IrisdGateway *self, IrisdPeer *peer)
{
  static const guint8 nothing[IRIS_WIRE_ID_SIZE];
  IrisWireMessage going;
  if (!peer->resumes || irisd_peer_is_gone (peer))
    return;
  iris_wire_message_init (&going, IRIS_WIRE_GOING, nothing);
  iris_wire_message_set_string (&going, IRIS_WIRE_KEY_MESSAGE,
                                "irisd ends; items that wait stay in its journal", -1);
  iris_wire_message_set_uint (&going, IRIS_WIRE_KEY_RETRY_AFTER_MS, GOING_RETRY_MS);
  irisd_send_message (self, &peer->route, peer, &going, NULL);
}

/* Tells the clients that irisd ends. */
void
irisd_session_tell_going (IrisdGateway *self)
{
  g_autoptr (GPtrArray) peers = g_ptr_array_new_with_free_func ((GDestroyNotify) irisd_peer_unref);
  for (GList *link = self->peers.by_age.head; link != NULL; link = link->next)
    if (((IrisdPeer *) link->data)->resumes)
      g_ptr_array_add (peers, irisd_peer_ref (link->data));
  for (guint i = 0; i < peers->len; i++)
    tell_going (self, g_ptr_array_index (peers, i));
}

static void
follow_session (IrisdPeer *peer, const IrisWireMessage *hello)
{
  peer->resumes = (hello->features & IRIS_WIRE_FEATURE_RESUME) != 0;
  peer->has_session = peer->resumes && hello->session.len > 0;
  if (peer->has_session)
    memcpy (peer->session, hello->session.data, IRIS_WIRE_SESSION_SIZE);
}

/* The bridge acts for all owners, as irisd itself does. */
static gboolean
may_be_bridge (IrisdGateway *self, const IrisdCaller *caller)
{
  return self->core->cluster != NULL && !caller->over_tcp && caller->uid == (gint64) geteuid ();
}

static void
refuse_entry (IrisdGateway *self, const IrisdCaller *caller, const IrisWireMessage *hello)
{
  g_autoptr (GError)
      error = caller->public_key != NULL
                  ? g_error_new_literal (
                      IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_KEY_REVOKED,
                      "the key of this client was revoked; ask irisd's owner for "
                      "another (irisctl key allow)")
                  : g_error_new_literal (IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_NOT_PERMITTED,
                                         "this user is not admitted any more; ask irisd's owner to "
                                         "name it under [access] users");
  irisd_send_refusal (self, caller, hello->request_id, error);
}

/* @caller says HELLO; its peer is set if it is accepted. @fd is the connection's descriptor or -1.
 * A second HELLO on a connection begins a new session: items in flight end. */
void
irisd_session_open (IrisdGateway *self, IrisdCaller *caller, const IrisWireMessage *hello, int fd)
{
  g_autoptr (GError) error = NULL;
  if (!check_version (hello, &error) || !check_session (hello, &error))
    {
      irisd_send_refusal (self, caller, hello->request_id, error);
      return;
    }

  if (!is_admitted (self, caller->uid, caller->public_key))
    {
      refuse_entry (self, caller, hello);
      return;
    }

  if (caller->peer != NULL && caller->peer->in_session)
    irisd_session_close (self, caller->peer, TRUE);
  IrisdPeer *peer = irisd_peers_lookup (&self->peers, &caller->route);
  gint64 user = caller->uid;
  Limit limit;
  caller->peer = NULL;
  /* Of more, each takes the place of any other connection. */
  gboolean asks_only = (hello->features & IRIS_WIRE_FEATURE_ASKS_ONLY) != 0
                       && self->n_askers < MOST_ASKERS;
  if (peer == NULL)
    {
      if (!asks_only && !make_room (self, user, &limit))
        {
          refuse_beyond_limit (self, caller, hello->request_id, &limit);
          return;
        }
      peer = irisd_peers_add (&self->peers, &caller->route);
    }
  peer->in_session = TRUE;
  peer->takes_bundles = (hello->features & IRIS_WIRE_FEATURE_COMPLETIONS) != 0;
  follow_session (peer, hello);
  peer->asks_only = asks_only;
  peer->bridge = (hello->features & IRIS_WIRE_FEATURE_BRIDGE) != 0 && may_be_bridge (self, caller);
  self->n_askers += asks_only;
  peer->connection = irisd_pending_connections_hello (self->core->pending_connections, fd);
  irisd_peer_set_name (peer, &hello->name);
  settle_owner (self, caller, peer);
  irisd_peer_set_client (peer, caller->over_tcp ? NULL : caller->address);
  note_session (self, peer, 1);
  caller->peer = peer;
  /* A client that has gone again meanwhile is dropped by the answer. */
  G_GNUC_UNUSED g_autoptr (IrisdPeer) keep = irisd_peer_ref (peer);
  welcome (self, caller, hello);
  if (irisd_items_get_phase (&self->items) != IRISD_PHASE_SERVING)
    tell_going (self, peer);
}
