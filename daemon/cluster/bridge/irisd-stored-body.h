/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Bodies of items and ends that are larger than a message: who owns them in the store, and messages
 * that refer to them.
 */
#pragma once

#include "daemon/cluster/bridge/irisd-bridge-shared.h"

G_BEGIN_DECLS

char *irisd_stored_body_get_owner (const IrisWireString *home, const guint8 *item);
char *irisd_stored_body_get_name (const char *owner, gboolean result);
guint8 *irisd_stored_body_refer (const IrisdBridgeShared *shared,
                                 gconstpointer message,
                                 gsize size,
                                 const IrisdObjectReference *reference,
                                 gsize *new_size);
void
irisd_stored_body_remove (const IrisdBridgeShared *shared, const char *owner, const char *nuid);
void irisd_stored_body_remove_all (const IrisdBridgeShared *shared, const char *owner);

G_END_DECLS
