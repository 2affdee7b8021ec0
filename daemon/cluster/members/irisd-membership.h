/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Membership: this node's entry in the bucket, and what the bucket tells of the others.
 */
#pragma once

#include "daemon/cluster/members/irisd-cluster-context.h"
#include "daemon/cluster/members/irisd-cluster-request.h"

G_BEGIN_DECLS

typedef struct _IrisdMembership IrisdMembership;

/* What membership needs of the thread; all are called in it. */
typedef struct
{
  void (*describe) (IrisdNode *node, gpointer user_data); /* fills what changes */
  void (*changed) (gpointer user_data); /* a new picture is in the context's box */
  /* the entry of this node is in the bucket, as it was described before */
  void (*told) (const IrisdNode *node, gpointer user_data);
  void (*ask_why) (gpointer user_data); /* the bucket does not answer: find out why */
  gpointer user_data;
} IrisdMembershipHost;

IrisdMembership *irisd_membership_new (IrisdClusterContext *shared,
                                       const char *bucket_stream,
                                       const char *bucket_prefix,
                                       const IrisdMembershipHost *host);
void irisd_membership_stop (IrisdMembership *self);
void irisd_membership_free (IrisdMembership *self);
void irisd_membership_follow_engine (IrisdMembership *self);
void irisd_membership_follow_host (IrisdMembership *self);
void irisd_membership_report (IrisdMembership *self);
void irisd_membership_handle (IrisdMembership *self, IrisdClusterRequest *request);
void
irisd_membership_set_promise (IrisdMembership *self, const char *promise, gboolean takes_durable);
void irisd_membership_set_fault (IrisdMembership *self, const char *fault);
void irisd_membership_leave (IrisdMembership *self,
                             void (*done) (gpointer user_data),
                             gpointer user_data);
gboolean irisd_membership_is_joined (const IrisdMembership *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (IrisdMembership, irisd_membership_free)

G_END_DECLS
