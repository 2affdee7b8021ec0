/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The schedules of irisd: all of them, and the runs that they make.
 *
 * The front gateway has them, and only its thread calls this.
 */
#pragma once

#include "daemon/items/irisd-items.h"
#include "daemon/items/schedule/irisd-recurring.h"

G_BEGIN_DECLS

typedef struct _IrisdSchedules IrisdSchedules;

IrisdSchedules *irisd_schedules_new (IrisdItems *items, GError **error);
void irisd_schedules_free (IrisdSchedules *self);
int irisd_schedules_get_fd (IrisdSchedules *self);

/* Before the gateway starts: the journal's records, and when there are no more. */
void irisd_schedules_load (IrisdSchedules *self, const IrisdNamedRecord *record);
void irisd_schedules_start (IrisdSchedules *self);

void irisd_schedules_note_event (IrisdSchedules *self);
void irisd_schedules_run_due (IrisdSchedules *self);

guint irisd_schedules_get_count (IrisdSchedules *self);
IrisdRecurring *irisd_schedules_find (IrisdSchedules *self, GBytes *id);
IrisdRecurring *
irisd_schedules_find_foreign (IrisdSchedules *self, const char *name, gboolean *several);
void irisd_schedules_put (IrisdSchedules *self, IrisdRecurring *entry, IrisdBroadcast *asked);
void irisd_schedules_remove (IrisdSchedules *self, IrisdRecurring *entry, IrisdBroadcast *asked);
void irisd_schedules_forget (IrisdSchedules *self, GBytes *id, guint64 made_ms);
gboolean irisd_schedules_run_now (IrisdSchedules *self, IrisdRecurring *entry, GError **error);
GTreeNode *irisd_schedules_first (IrisdSchedules *self, GBytes *behind);

/* The journal's answers. */
void irisd_schedules_take_run (IrisdSchedules *self, IrisdJournalRequest *request);
void irisd_schedules_take_end (IrisdSchedules *self, IrisdJournalRequest *request);

G_END_DECLS
