/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * From which nodes this one takes items.
 *
 * The policy's plan counts batches; the engine's pulls have a window, ask again by themselves, and
 * are open until they are closed. So what the plan has asked for at a consumer, with what came from
 * there and has not ended, is the window there, and what it withdraws is closed. The node's own
 * consumers are always pulled from, with the whole window, so of the plan only the changes at
 * others are carried out.
 */
#include "irisd-bridge-plan.h"

#include "daemon/cluster/policy/irisd-pull-plan.h"

struct _IrisdBridgePlan
{
  char *node;
  guint n_workers;
  IrisdPullPlan *plan;
  IrisdMembers *members; /* NULL: none yet */
  IrisdNodeView told;    /* of this node, as the bucket has it; its seen_us is 0: never */
  gint64 news_us;        /* when the entry was last wanted at once */
  guint64 serial;
  GArray *pulls;
};

IrisdBridgePlan *
irisd_bridge_plan_new (const char *node, guint n_workers, guint window, guint threshold)
{
  const IrisdPullRules rules = { window, IRISD_PULL_VICTIMS, threshold };
  IrisdBridgePlan *self = g_new0 (IrisdBridgePlan, 1);

  self->node = g_strdup (node);
  self->n_workers = n_workers;
  self->plan = irisd_pull_plan_new (&rules);
  self->pulls = g_array_new (FALSE, TRUE, sizeof (IrisdPullChange));
  return self;
}

void
irisd_bridge_plan_free (IrisdBridgePlan *self)
{
  irisd_pull_plan_free (self->plan);
  g_clear_pointer (&self->members, irisd_members_unref);
  g_array_unref (self->pulls);
  g_free (self->node);
  g_free (self);
}

/* The picture of the nodes has changed. */
void
irisd_bridge_plan_set_members (IrisdBridgePlan *self, IrisdMembers *members)
{
  irisd_members_ref (members);
  g_clear_pointer (&self->members, irisd_members_unref);
  self->members = members;
  self->serial++;
}

/* --- this node -------------------------------------------------------------------------------- */

static guint64
count_running_guests (const IrisdBridgeLoad *load)
{
  return MIN (load->n_guests, load->host.running);
}

/* What the others are to know. An item of the cluster has begun when it has ended, or one runs for
 * it: irisd does not tell the bridge of begins. */
void
irisd_bridge_plan_describe (const IrisdBridgePlan *self,
                            const IrisdBridgeLoad *load,
                            IrisdNodeLoad *out)
{
  *out = (IrisdNodeLoad){
    .known = TRUE,
    .full = load->host.disk_full
            || (load->host.memory_limit > 0 && load->host.memory_used >= load->host.memory_limit),
    .pending = load->n_pending,
    .begun = load->n_ended + count_running_guests (load),
    .mean_run_ns = load->mean_run_ns,
    .mean_bytes = load->mean_bytes,
  };
}

/* The bucket has @node, which is this one. */
void
irisd_bridge_plan_note_told (IrisdBridgePlan *self, const IrisdNode *node, gint64 now)
{
  self->told = (IrisdNodeView){
    .seen_us = now,
    .backlog = node->load.pending,
    .draining = node->draining,
    .full = node->load.full,
  };
}

/* Whether the others have to know at once what this node does now. */
gboolean
irisd_bridge_plan_is_news (IrisdBridgePlan *self, const IrisdBridgeLoad *load, gint64 now)
{
  IrisdNodeLoad mine;

  irisd_bridge_plan_describe (self, load, &mine);
  const IrisdNodeView view = {
    .n_workers = self->n_workers,
    .backlog = mine.pending,
    .draining = self->told.draining, /* membership itself tells that */
    .full = mine.full,
  };
  if (self->told.seen_us == 0 || now - self->news_us < IRISD_NODE_NEWS_US
      || !irisd_node_view_is_news (&view, &self->told, now))
    return FALSE;
  self->news_us = now;
  return TRUE;
}

/* What waits and runs here are guests, and local items. */
static IrisdOwnNode
describe_own (IrisdBridgePlan *self, const IrisdBridgeLoad *load, gint64 now)
{
  const IrisdNodeMap map = irisd_members_get_map (self->members);
  const IrisdNodeView *own = irisd_node_map_find (&map, self->node);
  const IrisdHostLoad *host = &load->host;
  /* A guest on its way to a worker keeps that busy already. */
  const guint64 n_running = MIN (load->n_guests, self->n_workers);
  const guint64 all = MAX (host->running, host->backlog);
  const guint64 local = all - MIN (load->n_guests, all);
  const guint64 n_busy = MIN (n_running + MIN (local, host->running), self->n_workers);
  IrisdOwnNode node = {
    .n_in_hand = load->n_guests,
    .n_running = n_running,
    .n_queued = local - MIN (local, self->n_workers - n_running),
    .disk_used = host->disk_full,
    .disk_limit = 1,
    .memory_used = host->memory_used,
    .memory_limit = host->memory_limit,
  };

  if (own != NULL)
    node.view = *own;
  node.view.name = self->node;
  node.view.n_workers = self->n_workers;
  node.view.n_idle = self->n_workers - (guint) n_busy;
  node.view.backlog = load->n_pending;
  node.view.mean_run_ns = load->mean_run_ns;
  node.view.mean_bytes = load->mean_bytes;
  node.view.draining = self->members->own_draining;
  node.view.seen_us = self->told.seen_us;
  return node;
}

/* How many items of each of its consumers this node is to have in hand and under way. */
guint
irisd_bridge_plan_get_window (const IrisdBridgePlan *self, guint64 mean_run_ns)
{
  const IrisdNodeView own = { .n_workers = self->n_workers, .mean_run_ns = mean_run_ns };

  return irisd_pull_plan_get_window (self->plan, &own);
}

/* --- the plan --------------------------------------------------------------------------------- */

static void
tell (const IrisdPullChange *pull, IrisdBridgePullFunc func, gpointer user_data)
{
  const IrisdBridgePull change = {
    .node = pull->node,
    .drop = pull->drop,
    .rescue = pull->reason == IRISD_PULL_TO_RESCUE,
    .n_open = pull->n_open,
    .min_pending = pull->min_pending,
  };

  if (pull->consumer == IRISD_LANE_SOFT && pull->reason != IRISD_PULL_FOR_OWN)
    func (&change, user_data);
}

/* Calls @func for each change. Returns when to make a plan again, although nothing happened. */
gint64
irisd_bridge_plan_make (IrisdBridgePlan *self,
                        const IrisdBridgeLoad *load,
                        gint64 now,
                        IrisdBridgePullFunc func,
                        gpointer user_data)
{
  if (self->members == NULL)
    return now + IRISD_PULL_ROUND_US;

  const IrisdOwnNode own = describe_own (self, load, now);
  IrisdNodeMap map = irisd_members_get_map (self->members);

  map.serial = self->serial;
  g_array_set_size (self->pulls, 0);
  irisd_pull_plan_make (self->plan, &own, &map, now, self->pulls);
  for (guint i = 0; i < self->pulls->len; i++)
    tell (&g_array_index (self->pulls, IrisdPullChange, i), func, user_data);
  return irisd_pull_plan_get_next (self->plan, now);
}

/* An item came that was softly hinted at @node, which had so many left. */
void
irisd_bridge_plan_note_delivered (IrisdBridgePlan *self, const char *node, guint64 n_pending)
{
  irisd_pull_plan_note_delivered (self->plan, IRISD_LANE_SOFT, node, 1, n_pending);
}

G_STATIC_ASSERT ((int) IRISD_N_NODE_DISTANCES - (int) IRISD_NODE_RACK == IRISD_CLUSTER_N_DISTANCES);

G_STATIC_ASSERT ((int) IRIS_STEAL_VERDICT_APART - (int) IRIS_STEAL_VERDICT_BACKLOG + 1
                 == IRISD_CLUSTER_N_REFUSALS);

void
irisd_bridge_plan_add_counts (IrisdBridgePlan *self, IrisdClusterCounts *counts)
{
  const IrisdPullCounts *pulls = irisd_pull_plan_get_counts (self->plan);

  for (guint i = 0; i < IRISD_CLUSTER_N_DISTANCES; i++)
    counts->n_stolen[i] = pulls->n_stolen[IRISD_NODE_RACK + i];
  counts->n_rescued = pulls->n_rescued;
  for (guint i = 0; i < IRISD_CLUSTER_N_REFUSALS; i++)
    counts->n_refused[i] = pulls->looks[IRIS_STEAL_VERDICT_BACKLOG + i];
  counts->n_lapsed = pulls->lapsed;
}
