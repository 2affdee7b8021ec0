/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A GSource that runs at a deadline, or as soon as the loop turns.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef void (*IrisClientClockFunc) (gpointer user_data);

GSource *iris_client_clock_new (IrisClientClockFunc func, gpointer user_data);
void iris_client_clock_wake (GSource *source);
void iris_client_clock_set_deadline (GSource *source, gint64 deadline);

G_END_DECLS
