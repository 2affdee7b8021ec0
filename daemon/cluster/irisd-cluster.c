/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The cluster thread: irisd's end of the connection with other nodes.
 *
 * The thread runs a GMainContext. In it come the callbacks of the engine, the ticks of membership,
 * and the requests of operators, which gateways post to the mailbox as to any thread of irisd. What
 * other threads want to know of the nodes they read from the box (irisd-members.h), without asking
 * this thread. Without a configured cluster there is no thread, no mailbox and no box.
 *
 * The engine is made by the main thread, so that a wrong option is an error of irisd's start. It
 * calls back in the context alone, so not before the thread runs; starting the thread hands it
 * over. From then on only the thread uses it, and frees it.
 *
 * The end: when irisd begins to drain, the thread withdraws all pulls, and what of other nodes
 * irisd gives up goes back to the stream. Then the main thread asks the thread to stop. It ends its
 * entry in the bucket, and waits a moment for that and for the last items of other nodes, quits its
 * loop, and frees membership and engine. Requests that are still in the mailbox are then answered
 * with an error, by the thread that frees the cluster.
 */
#include "daemon/cluster/irisd-cluster.h"

#include "daemon/base/irisd-error.h"
#include "daemon/base/irisd-log.h"
#include "daemon/cluster/bridge/irisd-bridge.h"
#include "daemon/cluster/engine/irisd-engine.h"
#include "daemon/cluster/engine/irisd-streams.h"
#include "daemon/cluster/members/irisd-cluster-context.h"
#include "daemon/cluster/members/irisd-membership.h"

#include <iris/wire/iris-wire.h>
#include <stdatomic.h>
#include <string.h>

/* How long an ending irisd waits for the end of its entry, and for what it has of other nodes. */
#define LEAVE_MS  1000
#define GUESTS_MS 5000
#define LOOK_MS   10

/* STATISTICS tells what was counted at most so long ago. */
#define COUNT_EACH_S 1

/* The servers are looked at at most so often while the bucket does not answer. */
#define CHECK_EACH_US (15 * G_USEC_PER_SEC)

struct _IrisdCluster
{
  IrisdMailbox mailbox; /* first, because of its members' alignment */
  IrisdClusterContext shared;
  IrisdClusterHost host;
  IrisdStreamsOptions streams;
  GMainLoop *loop;
  GSource *mails;
  GSource *counting;
  GSource *leave_looks; /* NULL, or looks whether all has left */
  GThread *thread;      /* NULL: not started, or joined */
  _Atomic gboolean stopping;
  /* of the thread */
  IrisdMembership *membership;
  IrisdMembers *seen; /* (nullable): that the view shows */
  IrisdBridge *bridge;
  gboolean leaving;
  gboolean left;     /* its entry has ended */
  gint64 leaving_us; /* since when */
  gboolean checking;
  gboolean checked;  /* the servers have said what they can do, since the last connect */
  gint64 checked_us; /* when that began last; 0: never */
};

/* --- the mailbox, as a source ----------------------------------------------------------------- */

typedef struct
{
  GSource base;
  IrisdMailbox *mailbox;
  gpointer tag;
  gboolean awake; /* there are messages already */
} Mails;

static gboolean
mails_prepare (GSource *source, int *timeout_ms)
{
  Mails *self = (Mails *) source;
  *timeout_ms = -1;
  self->awake = !irisd_mailbox_prepare_sleep (self->mailbox);
  return self->awake;
}

static gboolean
mails_check (GSource *source)
{
  Mails *self = (Mails *) source;
  gboolean readable = (g_source_query_unix_fd (source, self->tag) & G_IO_IN) != 0;
  irisd_mailbox_finish_sleep (self->mailbox, readable);
  return readable || self->awake;
}

static gboolean
mails_dispatch (GSource *source, GSourceFunc callback, gpointer user_data)
{
  (void) source;
  return callback (user_data);
}

static GSource *
mails_new (IrisdMailbox *mailbox, GSourceFunc callback, gpointer user_data)
{
  static GSourceFuncs functions = { .prepare = mails_prepare,
                                    .check = mails_check,
                                    .dispatch = mails_dispatch };
  GSource *source = g_source_new (&functions, sizeof (Mails));
  Mails *self = (Mails *) source;
  self->mailbox = mailbox;
  self->tag = g_source_add_unix_fd (source, mailbox->fd, G_IO_IN);
  g_source_set_callback (source, callback, user_data, NULL);
  return source;
}

/* --- what the servers can do ------------------------------------------------------------------ */

/* Durable is what a majority has synced. */
static gboolean
takes_durable (const IrisdCluster *self, const IrisdStreamsReport *report)
{
  return self->shared.config->durable_without_sync
         || (report->server.sync == IRISD_SYNC_ALWAYS && self->streams.replicas >= 3);
}

/* Returns the first fault, and how many there are besides. */
static char *
describe_faults (const GPtrArray *faults)
{
  if (faults->len == 0)
    return NULL;
  const char *first = g_ptr_array_index (faults, 0);
  if (faults->len == 1)
    return g_strdup (first);
  return g_strdup_printf ("%s (and %u more: irisctl cluster check)", first, faults->len - 1);
}

static void
log_promise (const IrisdCluster *self, const IrisdStreamsReport *report)
{
  const gboolean durable = takes_durable (self, report);
  const char *why = self->streams.replicas < 3
                        ? "raise [cluster] replicas to 3"
                        : "have the servers sync always, and name [cluster] monitor";
  /* A stream or the monitoring port tells the version, and there may be neither yet. */
  g_autofree char *server = report->server.version != NULL
                                ? g_strdup_printf (" have NATS %s", report->server.version)
                                : g_strdup (" answer");
  irisd_log (durable ? IRISD_LOG_INFO : IRISD_LOG_WARNING, "the cluster's servers%s. %s%s%s%s",
             server, report->promise,
             durable ? "" : " So durable items stay at their node: ", durable ? "" : why,
             durable ? "" : ", or accept less with durable-without-sync");
}

static void
note_report (IrisdCluster *self, const IrisdStreamsReport *report)
{
  g_autofree char *faults = describe_faults (report->faults);
  if (report->promise != NULL)
    {
      if (!self->checked)
        log_promise (self, report);
      irisd_membership_set_promise (self->membership, report->promise,
                                    takes_durable (self, report));
      self->checked = TRUE;
    }
  if (report->faults->len > 0 && irisd_membership_is_joined (self->membership))
    irisd_log (IRISD_LOG_WARNING,
               "the cluster is not as it ought to be: %s; see irisctl cluster check", faults);
  irisd_membership_set_fault (self->membership, faults);
}

static void
take_check (IrisdEngine *engine,
            const IrisdStreamsReport *report,
            const GError *error,
            gpointer user_data)
{
  IrisdCluster *self = user_data;
  (void) engine;
  self->checking = FALSE;
  if (error == NULL && !self->leaving)
    note_report (self, report);
}

/* After each connect, and while the bucket does not answer. */
static void
check_servers (IrisdCluster *self)
{
  const gint64 now = g_get_monotonic_time ();
  if (self->checking || self->leaving
      || (self->checked_us > 0 && now - self->checked_us < CHECK_EACH_US))
    return;
  self->checking = TRUE;
  self->checked_us = now;
  irisd_streams_check (self->shared.engine, &self->streams, NULL, self->shared.config->monitor,
                       take_check, self);
}

/* --- requests --------------------------------------------------------------------------------- */

/* A CHECK or INIT, which goes from node to node of those that are known: each has consumers. */
typedef struct
{
  IrisdCluster *self;
  IrisdClusterRequest *request;
  GPtrArray *nodes;  /* of char*: those that are left; the last is next */
  GHashTable *lines; /* as a set: what was told already */
  GString *text;
} Work;

static void
work_free (Work *work)
{
  g_ptr_array_unref (work->nodes);
  g_hash_table_unref (work->lines);
  g_string_free (work->text, TRUE);
  g_free (work);
}

static void refuse (IrisdClusterRequest *request, const char *why);
static void look_at_next (Work *work);

/* Each report has the streams, so a line may come again. */
static gboolean
add_line (Work *work, const char *kind, const char *line)
{
  g_autofree char *whole = g_strconcat (kind, line, "\n", NULL);
  if (g_hash_table_contains (work->lines, whole))
    return FALSE;
  g_string_append (work->text, whole);
  g_hash_table_add (work->lines, g_steal_pointer (&whole));
  return TRUE;
}

static void
add_report (Work *work, const IrisdStreamsReport *report)
{
  const gboolean init = work->request->kind == IRISD_CLUSTER_INIT;
  for (guint i = 0; i < report->made->len; i++)
    work->request->count += add_line (work, "made ", g_ptr_array_index (report->made, i)) && init;
  for (guint i = 0; i < report->faults->len; i++)
    work->request->count += add_line (work, "fault: ", g_ptr_array_index (report->faults, i))
                            && !init;
  for (guint i = 0; i < report->notices->len; i++)
    add_line (work, "notice: ", g_ptr_array_index (report->notices, i));
}

static void
finish_work (Work *work, const IrisdStreamsReport *report)
{
  IrisdCluster *self = work->self;
  IrisdClusterRequest *request = work->request;
  if (report->server.version != NULL)
    {
      g_autofree char *server = g_strdup_printf ("NATS %s, API level %u", report->server.version,
                                                 report->server.api_level);
      add_line (work, "server: ", server);
    }
  /* Without the stream of items it is only what the configuration wants. */
  if (report->promise != NULL && report->server.n_replicas > 0)
    add_line (work, "promise: ", report->promise);
  request->text = g_strdup (work->text->str);
  if (!self->leaving)
    {
      note_report (self, report);
      irisd_membership_report (self->membership);
    }
  work_free (work);
  request->done (request);
}

static void
take_report (IrisdEngine *engine,
             const IrisdStreamsReport *report,
             const GError *error,
             gpointer user_data)
{
  Work *work = user_data;
  const gboolean init = work->request->kind == IRISD_CLUSTER_INIT;
  (void) engine;
  if (report != NULL)
    add_report (work, report);
  if (error != NULL || report == NULL)
    {
      g_autofree char *clean = irisd_cluster_config_scrub (
          work->self->shared.config, error != NULL ? error->message : "no answer");
      g_autofree char *why = g_strdup_printf (
          "cannot %s the cluster: %s; see that the NATS servers run with JetStream, and try again",
          init ? "init" : "check", clean);
      IrisdClusterRequest *request = work->request;
      work_free (work);
      refuse (request, why);
    }
  else if (work->nodes->len > 0)
    look_at_next (work);
  else
    finish_work (work, report);
}

static void
look_at_next (Work *work)
{
  IrisdCluster *self = work->self;
  g_autofree char *node = g_ptr_array_steal_index (work->nodes, work->nodes->len - 1);
  if (work->request->kind == IRISD_CLUSTER_INIT)
    irisd_streams_make (self->shared.engine, &self->streams, node, self->shared.config->monitor,
                        take_report, work);
  else
    irisd_streams_check (self->shared.engine, &self->streams, node, self->shared.config->monitor,
                         take_report, work);
}

/* @why has nothing of a URL that is secret. */
static void
refuse (IrisdClusterRequest *request, const char *why)
{
  request->error = g_error_new_literal (IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BUSY, why);
  request->done (request);
}

/* Those that are known and not removed; this one first. */
static GPtrArray *
list_nodes (IrisdCluster *self)
{
  GPtrArray *nodes = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (IrisdMembers) members = irisd_members_box_get (&self->shared.members);
  for (guint i = 0; i < members->n_members; i++)
    if (members->members[i].state != IRISD_MEMBER_REMOVED
        && strcmp (members->members[i].name, self->shared.node) != 0)
      g_ptr_array_add (nodes, g_strdup (members->members[i].name));
  g_ptr_array_add (nodes, g_strdup (self->shared.node));
  return nodes;
}

static void
look_at_streams (IrisdCluster *self, IrisdClusterRequest *request)
{
  const IrisdClusterContext *shared = &self->shared;
  const char *raw = irisd_engine_get_last_error (shared->engine);
  g_autofree char *text = raw != NULL ? irisd_cluster_config_scrub (shared->config, raw) : NULL;
  if (irisd_engine_get_state (shared->engine) != IRISD_ENGINE_CONNECTED)
    {
      g_autofree char *servers = irisd_cluster_config_hide_secrets (shared->config->url);
      g_autofree char *why = g_strdup_printf (
          "cannot ask the NATS servers at %s: there is no connection: %s", servers,
          text != NULL ? text : "start them, or correct [cluster]");
      refuse (request, why);
      return;
    }
  Work *work = g_new0 (Work, 1);
  work->self = self;
  work->request = request;
  work->nodes = list_nodes (self);
  work->lines = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  work->text = g_string_new (NULL);
  look_at_next (work);
}

static void
handle (IrisdCluster *self, IrisdClusterRequest *request)
{
  if (self->leaving)
    refuse (request, "irisd is ending; ask again when it is back");
  else if (request->kind == IRISD_CLUSTER_CHECK || request->kind == IRISD_CLUSTER_INIT)
    look_at_streams (self, request);
  else
    irisd_membership_handle (self->membership, request);
}

static void
clear_source (GSource **source)
{
  if (*source == NULL)
    return;
  g_source_destroy (*source);
  g_clear_pointer (source, g_source_unref);
}

/* --- the thread ------------------------------------------------------------------------------- */

static void
note_left (gpointer user_data)
{
  ((IrisdCluster *) user_data)->left = TRUE;
}

static gboolean
look_whether_left (gpointer user_data)
{
  IrisdCluster *self = user_data;
  const gint64 waited_ms = (g_get_monotonic_time () - self->leaving_us) / 1000;
  const gboolean empty = irisd_bridge_is_empty (self->bridge) || waited_ms >= GUESTS_MS
                         || irisd_engine_get_state (self->shared.engine) != IRISD_ENGINE_CONNECTED;
  if (empty && (self->left || waited_ms >= LEAVE_MS))
    g_main_loop_quit (self->loop);
  return G_SOURCE_CONTINUE;
}

static void
leave (IrisdCluster *self)
{
  self->leaving = TRUE;
  self->leaving_us = g_get_monotonic_time ();
  irisd_bridge_close (self->bridge);
  self->leave_looks = g_timeout_source_new (LOOK_MS);
  g_source_set_callback (self->leave_looks, look_whether_left, self, NULL);
  g_source_attach (self->leave_looks, self->shared.context);
  irisd_membership_leave (self->membership, note_left, self);
}

/* irisd may have begun to end. */
static void
follow_host (IrisdCluster *self)
{
  IrisdHostLoad load;
  irisd_membership_follow_host (self->membership);
  self->host.measure (&load, self->host.user_data);
  if (load.ending)
    irisd_bridge_close (self->bridge);
}

static void
take_messages (IrisdCluster *self)
{
  IrisdMessage *messages = irisd_mailbox_take (&self->mailbox);
  while (messages != NULL)
    {
      IrisdMessage *next = messages->next; /* once it is answered it may be gone */
      if (messages->kind == IRISD_MESSAGE_LATER)
        irisd_bridge_take_note (self->bridge, irisd_later_note_from_message (messages));
      else if (messages->kind == IRISD_MESSAGE_CHAIN)
        irisd_bridge_take_chain (self->bridge, irisd_chain_note_from_message (messages));
      else
        handle (self, irisd_cluster_request_from_message (messages));
      messages = next;
    }
}

/* A lease has come, by another way than the mailbox. */
static void
catch_up (gpointer user_data)
{
  take_messages (user_data);
}

static gboolean
take_mails (gpointer user_data)
{
  IrisdCluster *self = user_data;
  take_messages (self);
  if (atomic_load_explicit (&self->stopping, memory_order_acquire) && !self->leaving)
    leave (self);
  else if (!self->leaving)
    follow_host (self);
  return G_SOURCE_CONTINUE;
}

static void
follow_engine (IrisdEngine *engine, gpointer user_data)
{
  IrisdCluster *self = user_data;
  if (self->membership == NULL || self->leaving)
    return;
  if (irisd_engine_get_state (engine) != IRISD_ENGINE_CONNECTED)
    self->checked_us = 0; /* other servers may be there afterwards */
  else if (self->checked_us == 0)
    check_servers (self);
  irisd_membership_follow_engine (self->membership);
  irisd_bridge_follow_engine (self->bridge);
}

static void
describe (IrisdNode *node, gpointer user_data)
{
  IrisdCluster *self = user_data;
  IrisdClusterCounts counts;
  self->host.describe (node, self->host.user_data);
  if (self->bridge == NULL)
    return;
  irisd_bridge_get_counts (self->bridge, &counts);
  node->away = counts.n_away;
  node->guests = counts.n_guests;
  irisd_bridge_describe (self->bridge, &node->load);
}

static void
measure (IrisdHostLoad *load, gpointer user_data)
{
  IrisdCluster *self = user_data;
  self->host.measure (load, self->host.user_data);
}

/* The others have to know at once. */
static void
tell_news (gpointer user_data)
{
  IrisdCluster *self = user_data;
  if (self->membership != NULL && !self->leaving)
    irisd_membership_report (self->membership);
}

static void
note_told (const IrisdNode *node, gpointer user_data)
{
  IrisdCluster *self = user_data;
  if (self->bridge != NULL)
    irisd_bridge_note_told (self->bridge, node, g_get_monotonic_time ());
}

/* Durable items that would be promised less are refused, with the reason. */
static void
follow_promise (IrisdCluster *self, const IrisdMembers *members)
{
  g_autofree char *why = NULL;
  if (!members->takes_durable && *members->promise != '\0')
    why = g_strdup_printf ("durable items stay at their node: %s Raise [cluster] replicas to 3, "
                           "have the servers sync always, and name [cluster] monitor; or accept "
                           "less with durable-without-sync",
                           members->promise);
  else if (!members->takes_durable)
    why = g_strdup ("durable items stay at their node: what the cluster promises is not known "
                    "yet; try again when irisctl status shows it");
  irisd_cluster_view_set_refusal (self->host.view, why);
  irisd_cluster_view_set_unknown (self->host.view,
                                  *members->promise == '\0' || members->n_members == 0);
}

/* Items for a node that is gone wait for it, or for others that steal them; one that was removed
 * does not exist. Only what is here is counted on for its services. */
static void
show_member (IrisdCluster *self, const IrisdMember *member)
{
  const char *const none[] = { NULL };
  const gboolean takes = member->state == IRISD_MEMBER_HERE && member->node->services != NULL;
  if (strcmp (member->name, self->shared.node) == 0)
    return;
  if (member->state == IRISD_MEMBER_REMOVED)
    irisd_cluster_view_remove_node (self->host.view, member->name);
  else
    irisd_cluster_view_set_node (self->host.view, member->name,
                                 takes ? (const char *const *) member->node->services : none);
}

/* The box has a new picture. */
static void
follow_members (gpointer user_data)
{
  IrisdCluster *self = user_data;
  IrisdMembers *members = irisd_members_box_get (&self->shared.members);
  for (guint i = 0; i < members->n_members; i++)
    show_member (self, &members->members[i]);
  for (guint i = 0; self->seen != NULL && i < self->seen->n_members; i++)
    if (irisd_members_find (members, self->seen->members[i].name) == NULL)
      irisd_cluster_view_remove_node (self->host.view, self->seen->members[i].name);
  follow_promise (self, members);
  irisd_members_unref (self->seen);
  self->seen = members;
  if (self->bridge != NULL)
    {
      irisd_bridge_set_member (self->bridge, members->own_member);
      irisd_bridge_set_taking (self->bridge,
                               members->own_member && !members->own_draining && !self->leaving);
      irisd_bridge_follow_members (self->bridge, members);
    }
}

static void
ask_why (gpointer user_data)
{
  IrisdCluster *self = user_data;
  check_servers (self);
}

static guint
count_workers (IrisdCluster *self)
{
  g_autoptr (IrisdNode) node = irisd_node_new ();
  describe (node, self);
  return irisd_node_count_workers (node);
}

static void
make_bridge (IrisdCluster *self)
{
  const IrisdClusterConfig *config = self->shared.config;
  g_autoptr (GError) error = NULL;
  g_autofree char *work = irisd_streams_get_name (&self->streams, IRISD_STREAM_WORK);
  g_autofree char *ends = irisd_streams_get_name (&self->streams, IRISD_STREAM_ENDS);
  g_autofree char *later = irisd_streams_get_name (&self->streams, IRISD_STREAM_LATER);
  g_autofree char *bodies = irisd_streams_get_name (&self->streams, IRISD_STREAM_BODIES);
  g_autofree char *bucket = irisd_streams_get_bodies_bucket (&self->streams);
  const IrisdBridgeOptions options = {
    .engine = self->shared.engine,
    .context = self->shared.context,
    .zmq = self->host.zmq,
    .endpoint = self->host.endpoint,
    .token = self->host.token,
    .node = self->shared.node,
    .secret = self->shared.secret,
    .work_stream = work,
    .ends_stream = ends,
    .later_stream = later,
    .bodies_stream = bodies,
    .bodies_bucket = bucket,
    .lease_ms = config->lease_ms,
    .lost_attempts = config->lost_attempts,
    .max_away = config->max_away,
    .n_workers = count_workers (self),
    .pull_window = config->pull_window,
    .steal_threshold = config->steal_threshold,
    .measure = measure,
    .catch_up = catch_up,
    .news = tell_news,
    .user_data = self,
  };
  self->bridge = irisd_bridge_new (&options, &error);
  if (self->bridge == NULL) /* the configuration demands a longer secret than the bridge does */
    g_error ("%s", error->message);
}

static gboolean
count (gpointer user_data)
{
  IrisdCluster *self = user_data;
  IrisdClusterCounts counts;
  irisd_bridge_get_counts (self->bridge, &counts);
  irisd_members_box_put_counts (&self->shared.members, &counts);
  return G_SOURCE_CONTINUE;
}

static void
make_parts (IrisdCluster *self)
{
  const IrisdMembershipHost host = { describe, follow_members, note_told, ask_why, self };
  g_autofree char *stream = irisd_streams_get_name (&self->streams, IRISD_STREAM_NODES);
  g_autofree char *prefix = irisd_streams_get_nodes_subject (&self->streams, "");
  make_bridge (self);
  self->counting = g_timeout_source_new_seconds (COUNT_EACH_S);
  g_source_set_callback (self->counting, count, self, NULL);
  g_source_attach (self->counting, self->shared.context);
  self->membership = irisd_membership_new (&self->shared, stream, prefix, &host);
  follow_engine (self->shared.engine, self);
}

static gpointer
run_thread (gpointer data)
{
  IrisdCluster *self = data;
  g_main_context_push_thread_default (self->shared.context);
  make_parts (self);
  g_main_loop_run (self->loop);
  IrisdMembership *membership = g_steal_pointer (&self->membership);
  irisd_membership_stop (membership);
  irisd_bridge_stop (self->bridge);
  clear_source (&self->counting);
  g_clear_pointer (&self->shared.engine, irisd_engine_free);
  g_clear_pointer (&self->bridge, irisd_bridge_free);
  irisd_membership_free (membership);
  g_main_context_pop_thread_default (self->shared.context);
  return NULL;
}

/* --- life ------------------------------------------------------------------------------------- */

static gboolean
open_engine (IrisdCluster *self, GError **error)
{
  const IrisdClusterConfig *config = self->shared.config;
  g_autofree char *name = g_strconcat ("irisd ", self->shared.node, NULL);
  g_autoptr (GError) local = NULL;
  const IrisdEngineOptions options = {
    .context = self->shared.context,
    .url = config->url,
    .name = name,
    .credentials = config->credentials,
    .tls_ca = config->tls_ca,
    .tls_cert = config->tls_cert,
    .tls_key = config->tls_key,
  };
  self->shared.engine = irisd_engine_new (&options, follow_engine, self, &local);
  if (self->shared.engine != NULL)
    return TRUE;
  g_autofree char *why = irisd_cluster_config_scrub (config, local->message);
  return irisd_fail (error, IRISD_ERROR, IRISD_ERROR_USAGE, "cannot prepare the cluster: %s", why);
}

/* Reads the secret and prepares the connection; @config has a URL and outlives it. Nothing runs
 * before irisd_cluster_start(). */
IrisdCluster *
irisd_cluster_new (const IrisdClusterConfig *config, const IrisdClusterHost *host, GError **error)
{
  IrisdCluster *self = g_aligned_alloc0 (1, sizeof *self, 64);
  IrisdClusterContext *shared = &self->shared;
  self->host = *host;
  irisd_cluster_view_set_unknown (host->view, TRUE);
  self->mailbox.fd = -1;
  self->streams = (IrisdStreamsOptions){
    .stream = config->stream,
    .replicas = config->replicas,
    .max_items = config->stream_items,
    .max_bytes = config->stream_bytes,
    .max_bodies = config->bodies_bytes,
    .lease_ms = config->lease_ms,
  };
  shared->config = config;
  shared->node = irisd_cluster_config_get_node (config);
  g_snprintf (shared->incarnation, sizeof shared->incarnation, "%08x%08x", g_random_int (),
              g_random_int ());
  shared->context = g_main_context_new ();
  self->loop = g_main_loop_new (shared->context, FALSE);
  irisd_members_box_init (&shared->members, irisd_members_new (shared->node, 0));
  shared->secret = irisd_cluster_config_load_secret (config, error);
  if (shared->secret == NULL || !irisd_mailbox_init (&self->mailbox, error)
      || !open_engine (self, error))
    {
      irisd_cluster_free (self);
      return NULL;
    }
  self->mails = mails_new (&self->mailbox, take_mails, self);
  g_source_attach (self->mails, shared->context);
  return self;
}

/* @self: (nullable), also below. */
void
irisd_cluster_start (IrisdCluster *self)
{
  if (self != NULL)
    self->thread = g_thread_new ("irisd-cluster", run_thread, self);
}

/* The phase of irisd may have changed; for any thread. */
void
irisd_cluster_wake (IrisdCluster *self)
{
  if (self != NULL)
    irisd_mailbox_wake (&self->mailbox);
}

/* Ends the thread. Requests that come later wait for irisd_cluster_free(). */
void
irisd_cluster_stop (IrisdCluster *self)
{
  if (self == NULL || self->thread == NULL)
    return;
  /* Releases nothing but itself. */
  atomic_store_explicit (&self->stopping, TRUE, memory_order_release);
  irisd_mailbox_wake (&self->mailbox);
  g_thread_join (g_steal_pointer (&self->thread));
}

/* It never started, or was stopped. The gateways still exist. */
void
irisd_cluster_free (IrisdCluster *self)
{
  if (self == NULL)
    return;
  irisd_cluster_stop (self);
  IrisdMessage *messages = self->mailbox.fd >= 0 ? irisd_mailbox_take (&self->mailbox) : NULL;
  while (messages != NULL)
    {
      IrisdMessage *next = messages->next;
      if (messages->kind == IRISD_MESSAGE_LATER)
        irisd_later_note_free (irisd_later_note_from_message (messages));
      else if (messages->kind == IRISD_MESSAGE_CHAIN)
        irisd_chain_note_return (irisd_chain_note_from_message (messages));
      else
        refuse (irisd_cluster_request_from_message (messages), "irisd is ending");
      messages = next;
    }
  clear_source (&self->mails);
  clear_source (&self->leave_looks);
  g_clear_pointer (&self->shared.engine, irisd_engine_free);
  irisd_mailbox_clear (&self->mailbox);
  irisd_members_box_clear (&self->shared.members);
  irisd_members_unref (self->seen);
  g_clear_pointer (&self->shared.secret, g_bytes_unref);
  g_main_loop_unref (self->loop);
  g_main_context_unref (self->shared.context);
  g_free (self->shared.node);
  g_aligned_free (self);
}

IrisdMailbox *
irisd_cluster_get_mailbox (IrisdCluster *self)
{
  return &self->mailbox;
}

IrisdMembersBox *
irisd_cluster_get_members (IrisdCluster *self)
{
  return &self->shared.members;
}
