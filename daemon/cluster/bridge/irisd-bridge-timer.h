/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A timer of the cluster thread that is set often and rings seldom.
 *
 * g_source_set_ready_time() wakes the thread whose timer it is, also from within: a system call,
 * and a turn of the main loop for nothing. This timer is looked at when the turn ends.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Only the thread that runs @context may use it. */
GSource *irisd_bridge_timer_new (GMainContext *context,
                                 const char *name,
                                 GSourceFunc rung,
                                 gpointer user_data);
/* It rings at @due_us and then each turn until it is set again; G_MAXINT64: never. */
void irisd_bridge_timer_set (GSource *timer, gint64 due_us);
/* It rings at @due_us at the latest. */
void irisd_bridge_timer_hurry (GSource *timer, gint64 due_us);

G_END_DECLS
