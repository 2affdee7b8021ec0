/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The cluster thread: irisd's end of the connection with other nodes.
 */
#pragma once

#include "daemon/base/irisd-mailbox.h"
#include "daemon/cluster/members/irisd-members.h"
#include "daemon/config/irisd-cluster-config.h"
#include "daemon/config/irisd-cluster-view.h"

G_BEGIN_DECLS

typedef struct _IrisdCluster IrisdCluster;

/* What the thread asks the rest of irisd. */
typedef struct
{
  /* Fills version, places, load, services and endpoints of @node; called in the cluster thread. */
  void (*describe) (IrisdNode *node, gpointer user_data);
  /* Says what this irisd does now; called in the cluster thread, often. */
  void (*measure) (IrisdHostLoad *load, gpointer user_data);
  gpointer user_data;
  void *zmq;              /* irisd's ZeroMQ context */
  const char *endpoint;   /* of irisd's front door in it */
  const char *token;      /* that shows irisd's own thread there */
  IrisdClusterView *view; /* what the gateways know of other nodes: this thread writes it */
} IrisdClusterHost;

IrisdCluster *
irisd_cluster_new (const IrisdClusterConfig *config, const IrisdClusterHost *host, GError **error);
void irisd_cluster_start (IrisdCluster *self);
void irisd_cluster_wake (IrisdCluster *self);
void irisd_cluster_stop (IrisdCluster *self);
void irisd_cluster_free (IrisdCluster *self);
IrisdMailbox *irisd_cluster_get_mailbox (IrisdCluster *self);
IrisdMembersBox *irisd_cluster_get_members (IrisdCluster *self);

G_END_DECLS
