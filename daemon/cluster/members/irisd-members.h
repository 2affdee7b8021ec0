/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The nodes of the cluster as this one sees them: a picture that does not change, for all threads.
 */
#pragma once

#include "daemon/cluster/members/irisd-cluster-counts.h"
#include "daemon/cluster/members/irisd-node.h"
#include "daemon/cluster/policy/irisd-node-view.h"

#include <pthread.h>

G_BEGIN_DECLS

/* What a node is; the numbers are those of NODES_REPLY. */
typedef enum
{
  IRISD_MEMBER_HERE = 1, /* it tells of itself, and takes items */
  IRISD_MEMBER_DRAINING, /* it tells of itself, and takes no items */
  IRISD_MEMBER_GONE,     /* it was here, and is silent */
  IRISD_MEMBER_REMOVED,  /* an operator has removed it for good */
} IrisdMemberState;

/* What this irisd is in the cluster; the numbers are those of NODES_REPLY. */
typedef enum
{
  IRISD_CLUSTER_JOINING = 1, /* not yet since its start, `join-ms` ago at most */
  IRISD_CLUSTER_JOINED,      /* the cluster knows it */
  IRISD_CLUSTER_ALONE,       /* no servers, or no majority of them: only local work */
  IRISD_CLUSTER_REFUSED,     /* the servers or another node do not let it in */
} IrisdClusterStatus;

typedef struct
{
  char *name;
  IrisdMemberState state;
  gint64 heard_us;  /* the same as @seen_ms, by the monotonic clock of this node */
  guint64 since_ms; /* when it came into that state, Unix time as this node has it */
  guint64 seen_ms;  /* when it last told of itself; 0: not since this irisd was started */
  IrisdNode *node;  /* what it told last; NULL: nothing since this irisd was started */
} IrisdMember;

/* Constant; reference-counted. */
typedef struct
{
  char *own; /* the name of this node */
  IrisdClusterStatus status;
  guint64 since_ms; /* when it came into that status, Unix time */
  char *reason;  /* why it is not joined, as “what failed: why; what to do”; empty if it is */
  char *servers; /* where NATS is, without secrets */
  char *promise; /* what the cluster promises of a durable item, in one sentence; empty if the
                    servers were not asked yet */
  gboolean takes_durable; /* durable items may go to other nodes */
  gboolean own_draining;  /* this node takes no items of others */
  gboolean own_member;    /* it has joined since its start, and was not refused afterwards */
  guint64 n_reports;      /* how often this node has told of itself */
  guint64 n_failed;       /* how often that failed */
  guint64 n_connects;     /* how often it connected */
  guint n_members;
  IrisdMember *members; /* in the order of their names, with this one once it has joined */
  IrisdNodeView *views; /* of all members, as the policy has them; NULL: none were made */
} IrisdMembers;

IrisdMembers *irisd_members_new (const char *own, guint n_members);
IrisdMembers *irisd_members_ref (IrisdMembers *self);
void irisd_members_unref (IrisdMembers *self);
const IrisdMember *irisd_members_find (const IrisdMembers *self, const char *name);
guint irisd_members_count (const IrisdMembers *self, IrisdMemberState state);
void irisd_members_make_views (IrisdMembers *self);
IrisdNodeMap irisd_members_get_map (const IrisdMembers *self);

/* Where the newest picture and counts are. The cluster thread puts; any thread gets, for as long as
 * it needs.
 */
typedef struct
{
  pthread_mutex_t lock; /* a POSIX mutex, because ThreadSanitizer knows those */
  IrisdMembers *now;
  IrisdClusterCounts counts;
} IrisdMembersBox;

void irisd_members_box_init (IrisdMembersBox *self, IrisdMembers *first);
void irisd_members_box_clear (IrisdMembersBox *self);
void irisd_members_box_put (IrisdMembersBox *self, IrisdMembers *members);
IrisdMembers *irisd_members_box_get (IrisdMembersBox *self);
void irisd_members_box_put_counts (IrisdMembersBox *self, const IrisdClusterCounts *counts);
void irisd_members_box_get_counts (IrisdMembersBox *self, IrisdClusterCounts *counts);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (IrisdMembers, irisd_members_unref)

G_END_DECLS
