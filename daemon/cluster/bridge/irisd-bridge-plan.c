/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * From which nodes this one takes items.
 *
 * The policy's plan counts batches; the engine's pulls have a window, ask again by themselves, and
 * are open until they are closed. So what the plan asks for at a consumer is the window there, and
 * what it withdraws is closed. The node's own consumers are always pulled from, with the whole
 * window, so of the plan only the changes at others are carried out.
 */
#include "irisd-bridge-plan.h"

#include "daemon/cluster/policy/irisd-pull-plan.h"

#include <string.h>

struct _IrisdBridgePlan
{
  char *node;
  guint n_workers;
  IrisdPullPlan *plan;
  IrisdMembers *members; /* NULL: none yet */
  GArray *views;         /* of IrisdNodeView; strings are those of @members */
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
  self->views = g_array_new (FALSE, TRUE, sizeof (IrisdNodeView));
  self->pulls = g_array_new (FALSE, TRUE, sizeof (IrisdPullChange));
  return self;
}

void
irisd_bridge_plan_free (IrisdBridgePlan *self)
{
  irisd_pull_plan_free (self->plan);
  g_clear_pointer (&self->members, irisd_members_unref);
  g_array_unref (self->views);
  g_array_unref (self->pulls);
  g_free (self->node);
  g_free (self);
}

/* A time of the clock of the day, as one of the monotonic clock. */
static gint64
to_monotonic (guint64 ms, gint64 now)
{
  gint64 age = g_get_real_time () - (gint64) MIN (ms, G_MAXINT64 / 1000) * 1000;

  return now - MAX (age, 0);
}

static IrisdNodeView
view_member (const IrisdMember *member, gint64 now)
{
  const IrisdNode *node = member->node;
  IrisdNodeView view = {
    .name = member->name,
    .seen_us = to_monotonic (member->seen_ms, now),
    .draining = member->state == IRISD_MEMBER_DRAINING,
    .removed = member->state == IRISD_MEMBER_REMOVED,
  };

  if (member->state == IRISD_MEMBER_GONE)
    view.seen_us = now - 2 * IRISD_NODE_LIFE_US;
  if (node == NULL)
    return view;
  view.rack = irisd_node_get_label (node, "rack");
  view.zone = irisd_node_get_label (node, "zone");
  view.services = (const char *const *) node->services;
  view.n_workers = irisd_node_count_workers (node);
  view.n_idle = view.n_workers - (guint) MIN (node->running, view.n_workers);
  view.backlog = node->backlog;
  return view;
}

/* The picture of the nodes has changed. */
void
irisd_bridge_plan_set_members (IrisdBridgePlan *self, IrisdMembers *members)
{
  gint64 now = g_get_monotonic_time ();

  irisd_members_ref (members);
  g_clear_pointer (&self->members, irisd_members_unref);
  self->members = members;
  self->serial++;
  g_array_set_size (self->views, 0);
  for (guint i = 0; i < members->n_members; i++)
    {
      IrisdNodeView view = view_member (&members->members[i], now);
      g_array_append_val (self->views, view);
    }
}

static IrisdOwnNode
describe_own (IrisdBridgePlan *self, const IrisdBridgeLoad *load, gint64 now)
{
  const IrisdMember *own = irisd_members_find (self->members, self->node);
  IrisdOwnNode node = { .n_in_hand = load->n_guests };
  guint64 local = 0;

  node.n_running = MIN (load->n_guests, self->n_workers);
  if (own != NULL)
    node.view = view_member (own, now);
  node.view.name = self->node;
  node.view.n_workers = self->n_workers;
  node.view.mean_run_ns = load->mean_run_ns;
  node.view.draining = self->members->own_draining;
  if (own != NULL && own->node != NULL)
    {
      /* What the entry counts may be guests, and is some seconds old. */
      guint64 known = own->node->running + own->node->backlog;
      local = known > load->n_guests ? MIN (known - load->n_guests, own->node->running) : 0;
    }
  node.view.n_idle = self->n_workers - (guint) MIN (node.n_running + local, self->n_workers);
  return node;
}

static void
tell (const IrisdPullChange *pull, IrisdBridgePullFunc func, gpointer user_data)
{
  const IrisdBridgePull change = {
    .node = pull->node,
    .drop = pull->drop,
    .rescue = pull->reason == IRISD_PULL_TO_RESCUE,
    .window = pull->batch,
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
  const IrisdNodeMap map = { (const IrisdNodeView *) (gconstpointer) self->views->data,
                             self->views->len, self->serial };

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

void
irisd_bridge_plan_add_counts (IrisdBridgePlan *self, IrisdClusterCounts *counts)
{
  const IrisdPullCounts *pulls = irisd_pull_plan_get_counts (self->plan);

  for (guint i = 0; i < IRISD_CLUSTER_N_DISTANCES; i++)
    counts->n_stolen[i] = pulls->n_stolen[IRISD_NODE_RACK + i];
  counts->n_rescued = pulls->n_rescued;
}
