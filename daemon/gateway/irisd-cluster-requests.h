/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Requests about the nodes of the cluster: NODES, NODE, CLUSTER_CHECK and CLUSTER_INIT.
 */
#pragma once

#include "daemon/gateway/irisd-gateway-private.h"

#include <iris/wire/body/iris-wire-statistics.h>

G_BEGIN_DECLS

void irisd_cluster_requests_answer_nodes (IrisdGateway *self,
                                          const IrisdCaller *caller,
                                          const IrisWireMessage *request);
void irisd_cluster_requests_change (IrisdGateway *self,
                                    const IrisdCaller *caller,
                                    const IrisWireMessage *request);
void irisd_cluster_requests_describe_node (IrisdNode *node, gpointer core);
void irisd_cluster_requests_measure (IrisdHostLoad *load, gpointer core);
void irisd_cluster_requests_fill_statistics (IrisdCore *core, IrisWireStatistics *out);

G_END_DECLS
