/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Requests about items of other nodes: those of the own irisd go to the node that they name, and
 * those of other nodes to the own irisd.
 */
#pragma once

#include "daemon/cluster/bridge/irisd-bridge-shared.h"

G_BEGIN_DECLS

typedef struct _IrisdAsks IrisdAsks;

/* Sends an ANSWER to irisd. FALSE if that cannot be. */
typedef gboolean (*IrisdAsksAnswerFunc) (const IrisWireMessage *answer, gpointer user_data);

IrisdAsks *
irisd_asks_new (const IrisdBridgeShared *shared, IrisdAsksAnswerFunc answer, gpointer user_data);
void irisd_asks_stop (IrisdAsks *self);
void irisd_asks_set_answering (IrisdAsks *self, gboolean answering);
void irisd_asks_free (IrisdAsks *self);

void irisd_asks_take (IrisdAsks *self, const IrisWireMessage *ask);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (IrisdAsks, irisd_asks_free)

G_END_DECLS
