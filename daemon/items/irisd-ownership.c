/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Ownership: the table of irisd-policy.c, applied to a gateway's connections.
 */
#include "daemon/exec/worker/irisd-worker-processes.h"
#include "daemon/gateway/irisd-gateway-private.h"

/* Returns the view of @request: an owner, or IRISD_VIEW_ALL. @caller has said HELLO. */
gint64
irisd_ownership_get_view (const IrisdCaller *caller, IrisWireType request)
{
  return irisd_policy_get_view ((guint8) request, caller->peer->role, caller->peer->owner);
}

/* Returns the first of the two name spaces in which services of worker processes are looked up:
 * that of the item's owner, then the shared one. Operators, which serve all, have none of their
 * own, and neither have guests. */
gint64
irisd_ownership_get_space (IrisdGateway *self, gint64 owner)
{
  return owner >= 0
                 && !irisd_access_allows (&self->core->config->access, IRISD_ACCESS_OPERATE, owner)
             ? owner
             : IRISD_SPACE_SHARED;
}

/* Returns whether @view includes the item; FALSE also for an unknown one. */
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
