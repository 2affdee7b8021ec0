/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A host goes on with the schedule of another node that is down: before it runs what was due, it
 * stores the copy of the next run.
 */
#pragma once

#include "daemon/cluster/bridge/irisd-bridge-shared.h"

G_BEGIN_DECLS

typedef struct _IrisdChainLink IrisdChainLink;

/* The copy is there, or cannot be. Frees @link afterwards. */
typedef void (*IrisdChainLinkFunc) (IrisdChainLink *link, gpointer user_data);

IrisdChainLink *irisd_chain_link_new (const IrisdBridgeShared *shared,
                                      gconstpointer message,
                                      gsize size,
                                      IrisdChainLinkFunc done,
                                      gpointer user_data);
void irisd_chain_link_begin (IrisdChainLink *self);
void irisd_chain_link_stop (IrisdChainLink *self);
void irisd_chain_link_free (IrisdChainLink *self);
const guint8 *irisd_chain_link_get_item (const IrisdChainLink *self);

G_END_DECLS
