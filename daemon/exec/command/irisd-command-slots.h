/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * How many commands run at each place, and those that wait for their turn.
 */
#pragma once

#include "daemon/exec/irisd-core.h"

G_BEGIN_DECLS

/**
 * IrisdCommandTurn:
 * @here: among all that wait at the job's home
 * @loose: among those of them that any place may run
 * @job: whose it is
 *
 * A command's turn. Made for a job when it needs one; while it waits the slots' lock keeps it.
 */
typedef struct _IrisdCommandTurn
{
  IrisdFairEntry here;
  IrisdFairEntry loose;
  IrisdJob *job;
} IrisdCommandTurn;

IrisdCommandSlots *irisd_command_slots_new (IrisdCore *core);
void irisd_command_slots_free (IrisdCommandSlots *self);
gboolean irisd_command_slots_enter (IrisdCommandSlots *self, IrisdJob *job, gint64 since_us);
gboolean irisd_command_slots_withdraw (IrisdCommandSlots *self, IrisdJob *job);
void irisd_command_slots_leave (IrisdCommandSlots *self, IrisdJob *job);
void irisd_command_slots_refill (IrisdCommandSlots *self, guint place);
guint64 irisd_command_slots_count_waiting (IrisdCommandSlots *self, guint place);

G_END_DECLS
