/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the gateways know of the other nodes of the cluster.
 *
 * The cluster's thread writes it, the gateways read it, for items and requests that name a node and
 * for services that irisd does not have. A mutex guards it: local items never come here.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The service that only the bridge serves: items for other nodes wait in its queue. Names that
 * begin so are reserved. */
#define IRISD_CLUSTER_SERVICE "@cluster"
#define IRISD_RESERVED_MARK   '@'

/* Nodes that have a number. */
#define IRISD_CLUSTER_MOST_NUMBERS 4096

typedef struct _IrisdClusterView IrisdClusterView;

IrisdClusterView *irisd_cluster_view_new (const char *own_node, guint64 max_away);
void irisd_cluster_view_free (IrisdClusterView *self);
const char *irisd_cluster_view_get_own (const IrisdClusterView *self);
guint64 irisd_cluster_view_get_max_away (const IrisdClusterView *self);

/* For the cluster's thread. */
void
irisd_cluster_view_set_node (IrisdClusterView *self, const char *node, const char *const *services);
void irisd_cluster_view_remove_node (IrisdClusterView *self, const char *node);
void irisd_cluster_view_set_refusal (IrisdClusterView *self, const char *why);
void irisd_cluster_view_set_unknown (IrisdClusterView *self, gboolean unknown);

/* For the gateways. */
gboolean irisd_cluster_view_is_empty (IrisdClusterView *self);
gboolean irisd_cluster_view_has_node (IrisdClusterView *self, const char *node);
gboolean irisd_cluster_view_has_service (IrisdClusterView *self, const char *service);
char *irisd_cluster_view_list_nodes (IrisdClusterView *self);
char *irisd_cluster_view_get_refusal (IrisdClusterView *self);
gboolean irisd_cluster_view_is_unknown (IrisdClusterView *self);
guint irisd_cluster_view_get_number (IrisdClusterView *self, const char *node);
const char *irisd_cluster_view_get_name (IrisdClusterView *self, guint number);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (IrisdClusterView, irisd_cluster_view_free)

G_END_DECLS
