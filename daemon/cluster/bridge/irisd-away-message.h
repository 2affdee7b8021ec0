/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What is sent for items of this node.
 */
#pragma once

#include "daemon/cluster/bridge/irisd-bridge-shared.h"

G_BEGIN_DECLS

guint8 *irisd_away_make_claim (const IrisdBridgeShared *shared,
                               IrisWireEncoder *encoder,
                               const guint8 *item,
                               gsize *size);
char *irisd_away_make_subject (const IrisWireMessage *submit);

G_END_DECLS
