/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Schedules of this node whose runs go to other nodes: the cluster has a copy of the next run of
 * each, which becomes an item if this node is down then.
 *
 * As with the copies of IrisdLater, one is due a while after its run. A node that is up replaces it
 * by the copy of the next run before that, on the condition that it is still there.
 */
#pragma once

#include "daemon/cluster/bridge/irisd-bridge-shared.h"
#include "daemon/cluster/bridge/irisd-chain-step.h"
#include "daemon/cluster/members/irisd-chain-note.h"

G_BEGIN_DECLS

typedef struct _IrisdChains IrisdChains;

IrisdChains *irisd_chains_new (const IrisdBridgeShared *shared);
void irisd_chains_stop (IrisdChains *self);
void irisd_chains_free (IrisdChains *self);

void irisd_chains_keep (IrisdChains *self,
                        const IrisdChainNote *note,
                        char *work,
                        guint8 *message,
                        gsize size);
void irisd_chains_drop (IrisdChains *self, const guint8 *chain);
void irisd_chains_ask (IrisdChains *self, IrisdChainNote *note);
void irisd_chains_drop_others (IrisdChains *self);
void irisd_chains_set_ready (IrisdChains *self);
void irisd_chains_follow_engine (IrisdChains *self);
IrisdChainFound irisd_chains_find (IrisdChains *self, const guint8 *run);

G_END_DECLS
