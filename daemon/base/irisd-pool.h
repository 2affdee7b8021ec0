/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Memory that a thread has freed and keeps for what it makes next.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

gpointer irisd_pool_take (gsize size);
void irisd_pool_give (gpointer memory, gsize size);

G_END_DECLS
