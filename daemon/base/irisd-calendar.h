/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A calendar: the times at which a schedule is due, from a cron line and a time zone, or from the
 * time between two of them.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The longest line and name of a zone, in bytes. */
#define IRISD_CALENDAR_MOST_LINE 256
#define IRISD_CALENDAR_MOST_ZONE 64

typedef struct _IrisdCalendar IrisdCalendar;

IrisdCalendar *irisd_calendar_new (const char *line, const char *zone, GError **error);
IrisdCalendar *irisd_calendar_new_every (guint64 every_ms, GError **error);
void irisd_calendar_free (IrisdCalendar *self);
gint64 irisd_calendar_get_next (const IrisdCalendar *self, gint64 start_ms, gint64 after_ms);
gboolean irisd_calendar_is_every (const IrisdCalendar *self);
guint64 irisd_calendar_get_jitter (const char *name, gint64 time_ms, guint64 most_ms);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (IrisdCalendar, irisd_calendar_free)

G_END_DECLS
