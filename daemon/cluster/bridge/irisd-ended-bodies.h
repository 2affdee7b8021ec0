/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Stored bodies of items that have ended: they are removed when irisd has recorded the end.
 *
 * irisd has the end from the bridge, and writes it into its journal. If it is killed before that,
 * it leases the item again, and the end with its result is looked for: both have to be there still.
 * So irisd is asked for the item (SHOW, which waits for its end) after the end was told to it.
 */
#pragma once

#include "daemon/cluster/bridge/irisd-bridge-shared.h"

G_BEGIN_DECLS

typedef struct _IrisdEndedBodies IrisdEndedBodies;

IrisdEndedBodies *irisd_ended_bodies_new (const IrisdBridgeShared *shared, IrisdBridgeLink *link);
void irisd_ended_bodies_free (IrisdEndedBodies *self);

void irisd_ended_bodies_add (IrisdEndedBodies *self, const char *owner, guint64 item);
gboolean irisd_ended_bodies_take (IrisdEndedBodies *self, const IrisWireMessage *answer);
void irisd_ended_bodies_forget (IrisdEndedBodies *self);

G_END_DECLS
