/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Messages that no node can run.
 */
#pragma once

#include "daemon/cluster/bridge/irisd-bridge-shared.h"

G_BEGIN_DECLS

const char *irisd_dead_letter_name_kind (const GError *error);
void irisd_dead_letter_bury (const IrisdBridgeShared *shared,
                             const IrisdEngineMessage *message,
                             const char *kind,
                             const char *reason);

void irisd_dead_letter_copy (const IrisdBridgeShared *shared,
                             const IrisdEngineMessage *message,
                             const char *kind,
                             const char *reason);

G_END_DECLS
