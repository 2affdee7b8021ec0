/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The log's events about items: from their acceptance to their end.
 */
#pragma once

#include "daemon/items/irisd-items.h"

G_BEGIN_DECLS

void irisd_item_log_accepted (IrisdItems *self, IrisdJob *job);
void irisd_item_log_restored (IrisdItems *self, IrisdJob *job);
void irisd_item_log_retried (IrisdItems *self, IrisdJob *job, guint64 pause_us);
/* Of an item that was buried: it has no job. */
void irisd_item_log_cancelled (guint64 item, const IrisdPeer *peer);
void irisd_item_log_end (IrisdItems *self, IrisdJob *job, gboolean buried);

G_END_DECLS
