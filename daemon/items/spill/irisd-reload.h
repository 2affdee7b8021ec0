/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Reloads: spilled items on their way back.
 */
#pragma once

#include "daemon/items/irisd-items.h"

G_BEGIN_DECLS

void irisd_reload_init (IrisdItems *self);
void irisd_reload_clear (IrisdItems *self);
void irisd_reload_for_message (IrisdItems *self, guint64 item, IrisdMessage *entry);
void irisd_reload_due (IrisdItems *self);
gint64 irisd_reload_get_due_us (IrisdItems *self);
guint irisd_reload_kick (IrisdItems *self, gint64 view, guint most);
void irisd_reload_take_answer (IrisdItems *self, IrisdJournalRequest *request);
void irisd_reload_put_off (IrisdItems *self);

G_END_DECLS
