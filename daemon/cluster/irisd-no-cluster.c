/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The cluster thread of an irisd that was built without clusters: there is none.
 */
#include "daemon/cluster/irisd-cluster.h"

#include "daemon/base/irisd-error.h"

/* irisd_cluster_config_check() has refused a configuration of one before. */
IrisdCluster *
irisd_cluster_new (const IrisdClusterConfig *config, const IrisdClusterHost *host, GError **error)
{
  irisd_fail (error, IRISD_ERROR, IRISD_ERROR_USAGE,
              "cannot join a cluster: this irisd was built without them; build it with "
              "-Dcluster=enabled");
  return NULL;
}

void
irisd_cluster_start (IrisdCluster *self)
{
}

void
irisd_cluster_wake (IrisdCluster *self)
{
}

void
irisd_cluster_stop (IrisdCluster *self)
{
}

void
irisd_cluster_free (IrisdCluster *self)
{
}

IrisdMailbox *
irisd_cluster_get_mailbox (IrisdCluster *self)
{
  return NULL;
}

IrisdMembersBox *
irisd_cluster_get_members (IrisdCluster *self)
{
  return NULL;
}
