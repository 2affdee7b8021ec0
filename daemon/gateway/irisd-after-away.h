/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Items that run after items of other nodes.
 */
#pragma once

#include "daemon/gateway/irisd-gateway-private.h"

G_BEGIN_DECLS

gboolean irisd_after_away_resolve (IrisdGateway *self,
                                   const IrisdCaller *caller,
                                   IrisWireMessage *item,
                                   guint64 **numbers,
                                   GError **error);
void irisd_after_away_watch (IrisdGateway *self);
void irisd_after_away_wake_due (IrisdGateway *self);
gint64 irisd_after_away_get_due_us (IrisdGateway *self);
void irisd_after_away_clear (IrisdGateway *self);

G_END_DECLS
