/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The limits that are answered by BUSY.
 */
#include "daemon/gateway/irisd-busy-limits.h"

#include <string.h>

static const char *const names[] = {
  "in-flight-items",  "in-flight-bytes", "total-items",    "total-bytes",
  "persistent-items", "max-peers",       "max-user-peers", "client-items",
  "client-bytes",     "client-rate",     "service-items",  "service-bytes",
  "service-rate",     "key-rate",        "max-away",       "other",
};

G_STATIC_ASSERT (G_N_ELEMENTS (names) == IRISD_N_BUSY_LIMITS);

/* Returns the name that BUSY gives it (key 18). */
const char *
irisd_busy_limit_get_name (guint limit)
{
  return names[limit];
}

/* Returns the place of @name in the table; that of the last if it is not there. */
guint
irisd_busy_limit_find (const char *name)
{
  guint i = 0;
  while (i + 1 < IRISD_N_BUSY_LIMITS && strcmp (names[i], name) != 0)
    i++;
  return i;
}
