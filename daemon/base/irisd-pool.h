/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A pool: memory that a thread has freed, for its next allocations.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

gpointer irisd_pool_take (gsize size);
void irisd_pool_give (gpointer memory, gsize size);

G_END_DECLS
