/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Orphans: processes that the commands of a crashed irisd have left.
 */
#pragma once

#include "daemon/exec/attempts/irisd-attempts.h"

G_BEGIN_DECLS

char *irisd_orphans_name (const char *token, guint64 serial);
guint irisd_orphans_end (GArray *attempts, const char *token, const char *cgroups, guint64 most_ms);

G_END_DECLS
