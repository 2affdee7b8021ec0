/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The limits that are answered by BUSY.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* How many there are; the last stands for limits that the table lacks. */
#define IRISD_N_BUSY_LIMITS 16

const char *irisd_busy_limit_get_name (guint limit);
guint irisd_busy_limit_find (const char *name);

G_END_DECLS
