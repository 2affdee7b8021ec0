/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Requests about the nodes of the cluster: NODES, NODE, CLUSTER_CHECK and CLUSTER_INIT.
 *
 * NODES is answered from the picture that the cluster thread keeps, without asking that thread. The
 * others go to its mailbox and come back to the gateway of the connection.
 */
#include "daemon/gateway/irisd-cluster-requests.h"

#include "daemon/base/irisd-broadcast.h"
#include "daemon/cluster/members/irisd-cluster-request.h"
#include "daemon/cluster/policy/irisd-node-view.h"
#include "daemon/exec/command/irisd-command-runner.h"
#include "daemon/exec/worker/irisd-worker-processes.h"
#include "daemon/gateway/irisd-place-requests.h"
#include "daemon/gateway/irisd-send.h"
#include "daemon/gateway/irisd-submit.h"

#include <iris/wire/body/iris-wire-nodes.h>
#include <string.h>

#ifdef IRISD_HAVE_CLUSTER
#define WHY_NONE \
  "its configuration names no NATS server; set [cluster] url, or start it with --cluster"
#else
#define WHY_NONE "it was built without clusters; build it with -Dcluster=enabled"
#endif

G_STATIC_ASSERT ((int) IRISD_MEMBER_HERE == (int) IRIS_WIRE_NODE_HERE);
G_STATIC_ASSERT ((int) IRISD_MEMBER_REMOVED == (int) IRIS_WIRE_NODE_REMOVED);
G_STATIC_ASSERT ((int) IRISD_CLUSTER_JOINING == (int) IRIS_WIRE_CLUSTER_JOINING);
G_STATIC_ASSERT ((int) IRISD_CLUSTER_REFUSED == (int) IRIS_WIRE_CLUSTER_REFUSED);
G_STATIC_ASSERT ((int) IRISD_NODE_SELF == (int) IRIS_WIRE_NODE_SELF);
G_STATIC_ASSERT ((int) IRISD_NODE_FAR == (int) IRIS_WIRE_NODE_FAR);

/* --- NODES ------------------------------------------------------------------------------------ */

static void
fill_entry (const IrisdNode *node, IrisWireNode *out)
{
  out->version = g_strdup (node->version);
  out->incarnation = g_strdup (node->incarnation);
  out->workers = irisd_node_count_workers (node);
  out->running = node->running;
  out->backlog = node->backlog;
  out->away = node->away;
  out->guests = node->guests;
  out->labels = g_strdupv (node->labels);
  out->services = g_strdupv (node->services);
  out->endpoints = g_strdupv (node->endpoints);
  out->n_places = node->n_places;
  out->places = g_new0 (IrisWireNodePlace, node->n_places);
  for (guint i = 0; i < node->n_places; i++)
    out->places[i] = (IrisWireNodePlace){
      .name = g_strdup (node->places[i].name),
      .cpus = g_strdup (node->places[i].cpus),
      .workers = node->places[i].workers,
      .backlog = node->places[i].backlog,
    };
}

/* The name and labels of @member alone; the others are not looked at. */
static IrisdNodeView
view_labels (const IrisdMember *member)
{
  const gboolean told = member->node != NULL;
  return (IrisdNodeView){
    .name = member->name,
    .rack = told ? irisd_node_get_label (member->node, "rack") : NULL,
    .zone = told ? irisd_node_get_label (member->node, "zone") : NULL,
  };
}

/* An irisd that has not joined yet is not among the members: all others are far. */
static guint32
measure_distance (const IrisdMember *own, const IrisdMember *other)
{
  if (own == NULL)
    return IRISD_NODE_FAR;
  const IrisdNodeView here = view_labels (own);
  const IrisdNodeView there = view_labels (other);
  return irisd_node_view_get_distance (&here, &there);
}

static void
fill_member (const IrisdMember *member, const char *own, IrisWireNode *out)
{
  const guint64 now_ms = (guint64) g_get_real_time () / 1000;
  out->name = g_strdup (member->name);
  out->state = member->state;
  out->own = strcmp (member->name, own) == 0;
  out->since_ms = member->since_ms;
  out->silent_ms = member->seen_ms > 0 && now_ms > member->seen_ms ? now_ms - member->seen_ms : 0;
  if (member->node != NULL)
    fill_entry (member->node, out);
}

static IrisWireNodes *
describe_nodes (const IrisdMembers *members)
{
  const IrisdMember *own = irisd_members_find (members, members->own);
  IrisWireNodes *nodes = iris_wire_nodes_new (members->n_members);
  nodes->node = g_strdup (members->own);
  nodes->state = members->status;
  nodes->since_ms = members->since_ms;
  nodes->reason = g_strdup (members->reason);
  nodes->servers = g_strdup (members->servers);
  nodes->promise = g_strdup (members->promise);
  nodes->takes_durable = members->takes_durable;
  for (guint i = 0; i < members->n_members; i++)
    {
      fill_member (&members->members[i], members->own, &nodes->nodes[i]);
      nodes->nodes[i].distance = measure_distance (own, &members->members[i]);
    }
  return nodes;
}

void
irisd_cluster_requests_answer_nodes (IrisdGateway *self,
                                     const IrisdCaller *caller,
                                     const IrisWireMessage *request)
{
  IrisdCore *core = self->core;
  g_autoptr (GError) error = NULL;
  g_autoptr (IrisdMembers) members = core->members != NULL ? irisd_members_box_get (core->members)
                                                           : NULL;
  g_autoptr (IrisWireNodes) nodes = members != NULL ? describe_nodes (members)
                                                    : iris_wire_nodes_new (0);
#ifndef IRISD_HAVE_CLUSTER
  g_free (nodes->reason);
  nodes->reason = g_strdup (WHY_NONE);
#endif
  g_autoptr (GBytes) body = iris_wire_nodes_encode (nodes, &core->wire_limits, &error);
  IrisWireMessage reply;
  iris_wire_message_init (&reply, IRIS_WIRE_NODES_REPLY, request->request_id);
  irisd_send_answer_bytes (self, caller, &reply, body, error);
}

/* --- what goes to the cluster thread ---------------------------------------------------------- */

typedef struct
{
  IrisdBroadcast base;
  IrisdClusterRequest request;
  IrisdGateway *gateway;
  IrisdPeer *peer; /* the client that asks; belongs to @gateway */
  guint8 request_id[IRIS_WIRE_ID_SIZE];
} Question;

static void
question_free (IrisdBroadcast *broadcast)
{
  Question *self = (Question *) broadcast;
  irisd_cluster_request_clear (&self->request);
  irisd_peer_unref (self->peer);
  g_free (self);
}

/* Returns @text, which may be NULL, or as many whole characters of it as @most bytes hold. */
static char *
cut (const char *text, gsize most)
{
  if (text == NULL || strlen (text) <= most)
    return g_strdup (text);
  return g_strndup (text, (gsize) (g_utf8_find_prev_char (text, text + most) - text));
}

/* Back in the gateway's thread. */
static void
answer (IrisdGateway *gateway, IrisdBroadcast *broadcast)
{
  Question *self = (Question *) broadcast;
  const IrisdClusterRequest *done = &self->request;
  const IrisdCaller caller = { .route = self->peer->route, .peer = self->peer };
  self->peer->n_questions--;
  if (!irisd_peer_is_gone (self->peer) && done->error != NULL)
    irisd_send_refusal (gateway, &caller, self->request_id, done->error);
  else if (!irisd_peer_is_gone (self->peer))
    {
      IrisWireMessage reply;
      g_autofree char *text = cut (done->text, gateway->core->wire_limits.max_string);
      iris_wire_message_init (&reply, IRIS_WIRE_CHANGED, self->request_id);
      iris_wire_message_set_uint (&reply, IRIS_WIRE_KEY_COUNT, done->count);
      if (text != NULL)
        iris_wire_message_set_string (&reply, IRIS_WIRE_KEY_MESSAGE, text, -1);
      irisd_send_answer (gateway, &caller, &reply);
    }
  question_free (broadcast);
}

static const IrisdBroadcastClass question_class = { .run = answer, .free = question_free };

/* In the cluster thread. */
static void
give_back (IrisdClusterRequest *request)
{
  Question *self = IRISD_CONTAINER (request, Question, request);
  irisd_mailbox_post (&self->gateway->mailbox, &self->base.message);
}

static gboolean
read_change (const IrisWireMessage *request, Question *question, GError **error)
{
  IrisdClusterRequest *out = &question->request;
  const gboolean removes = request->remove;
  const gboolean has_drained = iris_wire_message_has (request, IRIS_WIRE_KEY_DRAINED);
  if (removes == has_drained)
    {
      g_set_error_literal (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BAD_ARGUMENT,
                           "cannot change a node: it takes one of drained and remove; send the "
                           "one that is meant");
      return FALSE;
    }
  out->kind = removes            ? IRISD_CLUSTER_REMOVE_NODE
              : request->drained ? IRISD_CLUSTER_DRAIN_NODE
                                 : IRISD_CLUSTER_RESUME_NODE;
  out->node = iris_wire_string_dup (&request->node);
  return TRUE;
}

/* A question is answered once; if there are too many, the caller is refused. */
void
irisd_cluster_requests_change (IrisdGateway *self,
                               const IrisdCaller *caller,
                               const IrisWireMessage *request)
{
  g_autoptr (GError) error = NULL;
  if (!irisd_submit_may_ask (self, caller, request, FALSE))
    return;
  Question *question = g_new0 (Question, 1);
  question->request.kind = request->type == IRIS_WIRE_CLUSTER_INIT ? IRISD_CLUSTER_INIT
                                                                   : IRISD_CLUSTER_CHECK;
  if (self->core->cluster_mailbox == NULL)
    g_set_error_literal (&error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_NO_CLUSTER,
                         "this irisd is in no cluster: " WHY_NONE);
  else if (request->type == IRIS_WIRE_NODE)
    read_change (request, question, &error);
  if (error != NULL)
    {
      irisd_cluster_request_clear (&question->request);
      g_free (question);
      irisd_send_refusal (self, caller, request->request_id, error);
      return;
    }
  irisd_broadcast_init (&question->base, &question_class);
  question->request.message.kind = IRISD_MESSAGE_CLUSTER;
  question->request.done = give_back;
  question->gateway = self;
  question->peer = irisd_peer_ref (caller->peer);
  question->peer->n_questions++;
  memcpy (question->request_id, request->request_id, IRIS_WIRE_ID_SIZE);
  irisd_mailbox_post (self->core->cluster_mailbox, &question->request.message);
}

/* --- what others are told of this node -------------------------------------------------------- */

static void
fill_services (IrisdCore *core, IrisdNode *node)
{
  g_autoptr (IrisWireServices) list = irisd_services_describe (core->services);
  g_autoptr (GStrvBuilder) names = g_strv_builder_new ();
  irisd_worker_processes_add_services (core->worker_processes, IRISD_SPACE_SHARED, list);
  for (guint i = 0; i < list->n_services && i < IRISD_NODE_MOST_TEXTS; i++)
    if (list->services[i].name[0] != '@')
      g_strv_builder_add (names, list->services[i].name);
  node->services = g_strv_builder_end (names);
}

static void
fill_places (IrisdCore *core, IrisdNode *node)
{
  irisd_node_set_n_places (node, core->n_places);
  for (guint id = 0; id < core->n_places; id++)
    {
      IrisdNodePlace *place = &node->places[id];
      place->name = g_strdup (core->infos[id].name);
      place->cpus = g_strdup (iris_place_get_cpus (core->infos[id].place));
      place->workers = iris_place_get_n_workers (core->infos[id].place);
      place->backlog = irisd_place_requests_get_backlog (core, id);
      node->backlog += place->backlog;
    }
}

/* Items that run at workers, and as commands. */
static guint64
count_running (IrisdCore *core)
{
  guint64 commands, started;
  irisd_command_runner_count (core->commands, &commands, &started);
  return irisd_core_count_running (core) + commands;
}

/* What the core does now; for the cluster thread. An item that would exceed `total-bytes` is
 * refused, so the limit itself is hardly ever reached: an eighth is left for the own ones. */
void
irisd_cluster_requests_measure (IrisdHostLoad *load, gpointer data)
{
  IrisdCore *core = data;
  const guint64 most = irisd_core_get_settings (core)->limits.total_bytes;
  *load = (IrisdHostLoad){
    .running = count_running (core),
    .memory_used = irisd_core_get_bytes (core),
    .memory_limit = most - most / 8,
    .disk_full = core->journal != NULL
                 && irisd_journal_get_health (core->journal) == IRISD_JOURNAL_FULL,
    .ending = irisd_core_get_phase (core) != IRISD_PHASE_SERVING,
  };
  for (guint id = 0; id < core->n_places; id++)
    load->backlog += irisd_place_requests_get_backlog (core, id);
}

/* Fills what changes of @node, and what the core knows; for the cluster thread. */
void
irisd_cluster_requests_describe_node (IrisdNode *node, gpointer data)
{
  IrisdCore *core = data;
  node->version = g_strdup (IRISD_VERSION);
  node->draining = irisd_core_get_phase (core) != IRISD_PHASE_SERVING;
  node->running = count_running (core);
  fill_places (core, node);
  /* A place counts what runs as well. */
  node->backlog -= MIN (node->running, node->backlog);
  fill_services (core, node);
  irisd_node_sort_services (node);
}

/* --- STATISTICS ------------------------------------------------------------------------------- */

static void
fill_counts (IrisdMembersBox *box, IrisWireClusterStatistics *out)
{
  IrisdClusterCounts counts;
  irisd_members_box_get_counts (box, &counts);
  out->away = counts.n_away;
  out->held = counts.n_held;
  out->guests = counts.n_guests;
  out->published = counts.n_published;
  out->away_ended = counts.n_ended;
  out->ends_found = counts.n_found;
  out->delivered = counts.n_delivered;
  out->redelivered = counts.n_again;
  out->guests_ended = counts.n_done;
  out->late_ends = counts.n_lost;
  out->given_back = counts.n_given;
  out->dead_letters = counts.n_dead;
  out->failed = counts.n_failed;
  out->bytes_sent = counts.bytes_sent;
  out->bytes_received = counts.bytes_received;
  out->rescued = counts.n_rescued;
  out->n_stolen = IRISD_CLUSTER_N_DISTANCES;
  out->stolen = g_memdup2 (counts.n_stolen, sizeof counts.n_stolen);
  out->n_steals_refused = IRISD_CLUSTER_N_REFUSALS;
  out->steals_refused = g_memdup2 (counts.n_refused, sizeof counts.n_refused);
  out->steals_lapsed = counts.n_lapsed;
}

/* The section `cluster`. */
void
irisd_cluster_requests_fill_statistics (IrisdCore *core, IrisWireStatistics *out)
{
  if (core->members == NULL)
    return;
  g_autoptr (IrisdMembers) members = irisd_members_box_get (core->members);
  IrisWireClusterStatistics *cluster = g_new0 (IrisWireClusterStatistics, 1);
  out->n_cluster = 1;
  out->cluster = cluster;
  cluster->node = g_strdup (members->own);
  cluster->state = members->status;
  cluster->since_ms = members->since_ms;
  cluster->reason = g_strdup (members->reason);
  cluster->promise = g_strdup (members->promise);
  cluster->takes_durable = members->takes_durable;
  cluster->draining = members->own_draining;
  cluster->nodes_here = irisd_members_count (members, IRISD_MEMBER_HERE);
  cluster->nodes_draining = irisd_members_count (members, IRISD_MEMBER_DRAINING);
  cluster->nodes_gone = irisd_members_count (members, IRISD_MEMBER_GONE);
  cluster->reports = members->n_reports;
  cluster->reports_failed = members->n_failed;
  cluster->connects = members->n_connects;
  fill_counts (core->members, cluster);
}
