/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What belongs to whom, as a gateway asks: the table of irisd-policy.c, applied to its connections.
 */
#include "daemon/exec/worker/irisd-worker-processes.h"
#include "daemon/gateway/irisd-gateway-private.h"

/**
 * irisd_ownership_get_view:
 * @caller: a connection that said HELLO
 * @request: what it sends
 *
 * Returns: what the request reaches: an owner, or %IRISD_VIEW_ALL
 */
gint64
irisd_ownership_get_view (const IrisdCaller *caller, IrisWireType request)
{
  return irisd_policy_get_view ((guint8) request, caller->peer->role, caller->peer->owner);
}

/**
 * irisd_ownership_get_space:
 * @self: the gateway
 * @owner: the owner of an item or of a worker process
 *
 * Services of worker processes are looked for in two name spaces: that of the item's owner, then
 * the shared one. Operators, who serve all, have none of their own, and neither have guests.
 *
 * Returns: the first one
 */
gint64
irisd_ownership_get_space (IrisdGateway *self, gint64 owner)
{
  return owner >= 0
                 && !irisd_access_allows (&self->core->config->access, IRISD_ACCESS_OPERATE, owner)
             ? owner
             : IRISD_SPACE_SHARED;
}

/**
 * irisd_ownership_reaches_item:
 * @self: the gateway
 * @view: what a request reaches
 * @item: a number
 *
 * Returns: whether @view reaches the item; %FALSE also for one that is not known
 */
gboolean
irisd_ownership_reaches_item (IrisdGateway *self, gint64 view, guint64 item)
{
  IrisdCore *core = self->core;
  if (view == IRISD_VIEW_ALL)
    return TRUE;
  pthread_mutex_lock (&core->dependencies_lock);
  gboolean reached = irisd_dependency_graph_reaches (&core->dependencies, item, view);
  pthread_mutex_unlock (&core->dependencies_lock);
  return reached;
}
