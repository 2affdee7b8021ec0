/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Command slots: how many commands run at each place, and the commands that wait for a slot.
 */
#pragma once

#include "daemon/exec/irisd-core.h"

G_BEGIN_DECLS

/* A command's place in the queues. Made for a job when it needs one; the slots' lock guards it
 * while it waits. */
typedef struct _IrisdCommandTurn
{
  IrisdFairEntry here;  /* in the queue of the job's home */
  IrisdFairEntry loose; /* in the queue of those that any place may run */
  IrisdJob *job;        /* the command's job */
} IrisdCommandTurn;

IrisdCommandSlots *irisd_command_slots_new (IrisdCore *core);
void irisd_command_slots_free (IrisdCommandSlots *self);
gboolean irisd_command_slots_enter (IrisdCommandSlots *self, IrisdJob *job, gint64 since_us);
gboolean irisd_command_slots_withdraw (IrisdCommandSlots *self, IrisdJob *job);
void irisd_command_slots_leave (IrisdCommandSlots *self, IrisdJob *job);
void irisd_command_slots_refill (IrisdCommandSlots *self, guint place);
guint64 irisd_command_slots_count_waiting (IrisdCommandSlots *self, guint place);

G_END_DECLS
