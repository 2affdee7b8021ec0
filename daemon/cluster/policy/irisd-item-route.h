/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Where an item goes that is submitted here.
 *
 *   own node as hint, or no hint and the service is here   LOCAL: the cluster is not asked
 *   any-node                                               ANY: the queue that all nodes pull from
 *   soft hint on another node                              SOFT: that node's consumer; others may
 * steal strict hint on another node                            STRICT: only there; it waits for the
 * node no hint, the service is not here                       SOFT at one of the nodes that have it
 *
 * Every node pulls from ANY, whatever its services, and the engine filters by subject only. So ANY
 * is for services that all living nodes have; an item of another service goes to one node that has
 * it, the one of two drawn by lot whose backlog drains sooner ("power of two choices", M.
 * Mitzenmacher, 1996: no herd on the node that the map calls the emptiest for 3 s). Thieves look at
 * the same thing: a node leaves a victim alone that has a service which it lacks
 * (irisd-pull-plan.h).
 *
 * A soft hint on a node that cannot serve it is no reason to fail: a node that drains, has gone or
 * was removed, or lacks the service, is left out, and the item goes as if it had any-node. A strict
 * hint on a node that drains or has gone waits for it; on one that was removed it is refused.
 */
#pragma once

#include "daemon/cluster/policy/irisd-node-view.h"

G_BEGIN_DECLS

/* The most bytes of the names of its service and place. They are parts of a subject, where a byte
 * may become three, and a server ends the connection over a line of more than 4,096 bytes. */
#define IRISD_ITEM_MOST_NAMES 512

typedef enum
{
  IRISD_ITEM_LOCAL,
  IRISD_ITEM_ANY,
  IRISD_ITEM_SOFT,
  IRISD_ITEM_STRICT,
  IRISD_ITEM_NO_NODE,    /* refused: the cluster does not know the node, or it was removed */
  IRISD_ITEM_NO_SERVICE, /* refused: no node has the service */
} IrisdItemRoute;

typedef struct
{
  const char *node; /* that the hint names; NULL: none */
  const char *service;
  gboolean strict;
  gboolean any_node;
  guint64 lot; /* a random number */
} IrisdItemWish;

/* @node is set for SOFT and STRICT, to the name in @map. */
IrisdItemRoute irisd_item_route_choose (const IrisdOwnNode *own,
                                        const IrisdNodeMap *map,
                                        const IrisdItemWish *wish,
                                        gint64 now_us,
                                        const char **node);

G_END_DECLS
