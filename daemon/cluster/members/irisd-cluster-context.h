/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the parts of the cluster thread share: members and bridge run in it and get this.
 */
#pragma once

#include "daemon/cluster/members/irisd-members.h"
#include "daemon/config/irisd-cluster-config.h"

G_BEGIN_DECLS

typedef struct _IrisdEngine IrisdEngine;

/* All but @members is constant while the thread runs. */
typedef struct
{
  const IrisdClusterConfig *config;
  char *node;            /* the name of this node */
  char incarnation[17];  /* of this run of irisd: 16 hexadecimal digits */
  GBytes *secret;        /* by which nodes sign items */
  GMainContext *context; /* that the thread runs; callbacks of the engine come in it */
  IrisdEngine *engine;   /* to NATS; exists from before the first callback to after the last */
  IrisdMembersBox members;
} IrisdClusterContext;

/* Returns the newest picture of the nodes, for any thread; let go of it with
 * irisd_members_unref(). */
static inline IrisdMembers *
irisd_cluster_context_get_members (IrisdClusterContext *self)
{
  return irisd_members_box_get (&self->members);
}

G_END_DECLS
