/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The cost of an item at its gate.
 */
#pragma once

#include "daemon/items/irisd-items.h"

G_BEGIN_DECLS

guint64 irisd_cost_get_typical_ns (IrisdItems *self, const IrisdService *service);
guint32 irisd_cost_of (IrisdItems *self, const IrisdJob *job);
guint64 irisd_cost_get_window (IrisdItems *self, const IrisdJob *job);
void irisd_cost_learn (IrisdItems *self, const IrisdJob *job);

G_END_DECLS
