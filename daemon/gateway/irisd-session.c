/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A gateway's sessions: HELLO, BYE, and connections that end without.
 *
 * The queued items of a peer end with it. Its unacknowledged bytes still count as long as its
 * connection may exist, because they may still be in ZeroMQ's pipe: so BYE and HELLO in turn give
 * no more credit than one connection has.
 */
#include "daemon/gateway/irisd-gateway-private.h"
#include "daemon/gateway/irisd-worker-session.h"

#include <unistd.h>

/* A full table probes this many of the connections that were silent longest. */
#define PROBES 64

/* Connections that only ask are admitted beyond max-peers, so that an operator can see and end the
 * others. */
#define MOST_ASKERS 64

/* The items that worker processes have come back at once, or are on their way back. */
static void
withdraw_jobs (IrisdGateway *self, IrisdPeer *peer)
{
  guint n = 0;
  g_autofree IrisdJob **jobs = g_new (IrisdJob *, g_hash_table_size (peer->jobs));
  GHashTableIter iter;
  gpointer value;
  g_hash_table_iter_init (&iter, peer->jobs);
  while (g_hash_table_iter_next (&iter, NULL, &value))
    {
      IrisdJob *job = value;
      if (job->lasting
          || !(irisd_job_is (job, IRISD_ITEM_OFFERED) || irisd_job_is (job, IRISD_ITEM_LEASED))
          || irisd_worker_processes_withdraw (self->core->worker_processes, job)
                 == IRISD_LEASE_ENTRY_GONE)
        continue;
      irisd_job_advance (job, IRISD_EVENT_WITHDRAW);
      g_hash_table_iter_remove (&iter);
      jobs[n++] = job;
    }
  for (guint i = 0; i < n; i++)
    irisd_gateway_cancel_withdrawn (self, jobs[i]);
}

/* A streamed command without a reader ends as if cancelled, as with a closed pipe. Other running
 * items do not need their client until their end. */
static void
stop_stream (IrisdJob *job)
{
  if (job->options != NULL && job->options->streamed && irisd_job_is (job, IRISD_ITEM_RUNNING))
    irisd_job_cancel (job);
}

/* A connection no longer waits for the item's end, so the item may be spilled. */
static void
wait_without_peer (IrisdGateway *self, IrisdJob *job)
{
  if (g_hash_table_size (self->by_number) > self->core->config->limits.memory_items
      && irisd_dispatch_withdraw (self, job))
    irisd_dispatch_advance (self, job);
}

static void
cancel_jobs (IrisdGateway *self, IrisdPeer *peer)
{
  g_autoptr (GPtrArray) waited = g_ptr_array_new ();
  g_autoptr (GPtrArray) delayed = g_ptr_array_new ();
  withdraw_jobs (self, peer);
  GHashTableIter iter;
  gpointer value;
  g_hash_table_iter_init (&iter, peer->jobs);
  while (g_hash_table_iter_next (&iter, NULL, &value))
    {
      IrisdJob *job = value;
      if (job->persistent != NULL)
        {
          g_hash_table_add (self->orphans, job);
          if (irisd_job_is (job, IRISD_ITEM_DELAYED))
            g_ptr_array_add (delayed, job);
          continue;
        }
      if (irisd_dispatch_withdraw (self, job))
        g_ptr_array_add (waited, job);
      else if (!irisd_job_abandon_queued (job))
        {
          stop_stream (job);
          continue;
        }
      irisd_core_add_bytes (self->core, -(gint64) job->charge);
      job->charge = 0;
    }
  g_hash_table_remove_all (peer->jobs);
  for (guint i = 0; i < waited->len; i++)
    irisd_gateway_cancel_withdrawn (self, g_ptr_array_index (waited, i));
  for (guint i = 0; i < delayed->len; i++)
    wait_without_peer (self, g_ptr_array_index (delayed, i));
}

/* Cancels the queued items of @peer, drops its running ones, and removes it from the table; hold a
 * reference to use it afterwards. @still_there: its connection may still exist. */
void
irisd_session_close (IrisdGateway *self, IrisdPeer *peer, gboolean still_there)
{
  irisd_peer_ref (peer);
  if (still_there)
    irisd_bundle_send (self, peer);
  if (irisd_peer_is_gone (peer))
    {
      irisd_peer_unref (peer);
      return;
    }
  irisd_bundle_drop (peer);
  atomic_store_explicit (&peer->gone, TRUE, memory_order_relaxed);
  irisd_worker_session_dismiss (self, peer);
  irisd_worker_watch_remove_reader (self, peer);
  irisd_receive_backlog_leave (self, peer);
  cancel_jobs (self, peer);
  while (peer->held.length > 0)
    {
      IrisdJob *job = g_queue_peek_head (&peer->held);
      if (irisd_dispatch_withdraw (self, job))
        irisd_gateway_resume_held (self, job);
    }
  if (peer->backlogged)
    g_queue_unlink (&self->backlog, &peer->backlog_link);
  peer->backlogged = FALSE;
  irisd_outbox_clear (&peer->outbox);
  if (peer->in_session)
    irisd_count (&self->counters.peers, -1);
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
  irisd_peer_unref (peer);
}

/* Ends a peer that did not say BYE. @why is half a sentence for the log; @still_there: its
 * connection may still exist. */
void
irisd_session_lose (IrisdGateway *self, IrisdPeer *peer, const char *why, gboolean still_there)
{
  static IrisdLogSite site;
  if (peer->in_session)
    irisd_log_limited (&site, IRISD_LOG_INFO, "dropped the client %s with %u items in flight: %s",
                       peer->name, g_hash_table_size (peer->jobs), why);
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
  const IrisdLimits *limits = &self->core->config->limits;
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
welcome (IrisdGateway *self, const IrisdCaller *caller, const guint8 *request_id)
{
  const IrisdLimits *limits = &self->core->config->limits;
  const IrisdUnacknowledged *unacked = &caller->peer->unacked;
  IrisWireMessage message;
  iris_wire_message_init (&message, IRIS_WIRE_WELCOME, request_id);
  iris_wire_message_set_uint (&message, IRIS_WIRE_KEY_VERSION_MIN, IRIS_WIRE_VERSION);
  iris_wire_message_set_uint (&message, IRIS_WIRE_KEY_VERSION_MAX, IRIS_WIRE_VERSION);
  iris_wire_message_set_uint (&message, IRIS_WIRE_KEY_FEATURES,
                              (caller->peer->takes_bundles ? IRIS_WIRE_FEATURE_COMPLETIONS : 0)
                                  | (caller->peer->asks_only ? IRIS_WIRE_FEATURE_ASKS_ONLY : 0));
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

/* Sets the owner of the connection's items. */
static void
settle_owner (IrisdGateway *self, const IrisdCaller *caller, IrisdPeer *peer)
{
  const IrisdConfig *config = self->core->config;
  gboolean trusted = caller->over_tcp && config->tcp_trusted;
  gint64 uid = trusted ? (gint64) geteuid () : caller->uid;
  peer->uid = caller->uid;
  peer->owner = uid != IRISD_UID_UNKNOWN ? uid : irisd_policy_new_guest ();
  peer->role = uid == IRISD_UID_UNKNOWN ? IRISD_ROLE_GUEST
               : irisd_access_allows (&config->access, IRISD_ACCESS_OPERATE, uid)
                   ? IRISD_ROLE_OPERATOR
                   : IRISD_ROLE_USER;
}

/* @caller says HELLO; its peer is set if it is accepted. @fd is the connection's descriptor or -1.
 * A second HELLO on a connection begins a new session: items in flight end. */
void
irisd_session_open (IrisdGateway *self, IrisdCaller *caller, const IrisWireMessage *hello, int fd)
{
  g_autoptr (GError) error = NULL;
  if (!check_version (hello, &error))
    {
      irisd_send_refusal (self, caller, hello->request_id, error);
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
  peer->asks_only = asks_only;
  self->n_askers += asks_only;
  peer->connection = irisd_pending_connections_hello (self->core->pending_connections, fd);
  irisd_peer_set_name (peer, &hello->name);
  settle_owner (self, caller, peer);
  irisd_peer_set_client (peer, caller->over_tcp ? NULL : caller->address);
  irisd_count (&self->counters.peers, 1);
  caller->peer = peer;
  welcome (self, caller, hello->request_id);
}
