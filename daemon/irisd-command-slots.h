/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * How many commands run at each place, and those that wait for their turn.
 */
#pragma once

#include "irisd-core.h"

G_BEGIN_DECLS

IrisdCommandSlots *irisd_command_slots_new (IrisdCore *core);
void irisd_command_slots_free (IrisdCommandSlots *self);
gboolean irisd_command_slots_enter (IrisdCommandSlots *self, IrisdJob *job, gint place);
void irisd_command_slots_leave (IrisdCommandSlots *self, IrisdJob *job);
void irisd_command_slots_refill (IrisdCommandSlots *self, guint place);
void irisd_command_slots_close (IrisdCommandSlots *self);

G_END_DECLS
