/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * From which nodes this one takes items: the policy's pull plan, fed with what the members tell of
 * themselves.
 *
 * Names of the policy are those of the engine, so this file stands between them.
 */
#pragma once

#include "daemon/cluster/members/irisd-members.h"

G_BEGIN_DECLS

typedef struct _IrisdBridgePlan IrisdBridgePlan;

/* A change: the consumer of items that are softly hinted at @node is pulled from, or no more. */
typedef struct
{
  const char *node;
  gboolean drop;
  gboolean rescue; /* the node is gone: there is no threshold */
  guint n_open;    /* that are to be under way */
  guint64 min_pending;
} IrisdBridgePull;

typedef void (*IrisdBridgePullFunc) (const IrisdBridgePull *pull, gpointer user_data);

/* What this node does now. */
typedef struct
{
  guint n_guests;      /* items of the cluster that are here and have not ended */
  guint64 n_ended;     /* of those that were */
  guint64 n_pending;   /* softly hinted at this node, and not pulled yet */
  guint64 mean_run_ns; /* of those that ended; 0: not known */
  guint64 mean_bytes;  /* of their bodies */
  IrisdHostLoad host;
} IrisdBridgeLoad;

IrisdBridgePlan *
irisd_bridge_plan_new (const char *node, guint n_workers, guint window, guint threshold);
void irisd_bridge_plan_free (IrisdBridgePlan *self);

void irisd_bridge_plan_describe (const IrisdBridgePlan *self,
                                 const IrisdBridgeLoad *load,
                                 IrisdNodeLoad *out);
void irisd_bridge_plan_note_told (IrisdBridgePlan *self, const IrisdNode *node, gint64 now);
gboolean irisd_bridge_plan_is_news (IrisdBridgePlan *self, const IrisdBridgeLoad *load, gint64 now);
guint irisd_bridge_plan_get_window (const IrisdBridgePlan *self, guint64 mean_run_ns);
void irisd_bridge_plan_set_members (IrisdBridgePlan *self, IrisdMembers *members);
gint64 irisd_bridge_plan_make (IrisdBridgePlan *self,
                               const IrisdBridgeLoad *load,
                               gint64 now,
                               IrisdBridgePullFunc func,
                               gpointer user_data);
void irisd_bridge_plan_note_delivered (IrisdBridgePlan *self, const char *node, guint64 n_pending);
void irisd_bridge_plan_add_counts (IrisdBridgePlan *self, IrisdClusterCounts *counts);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (IrisdBridgePlan, irisd_bridge_plan_free)

G_END_DECLS
