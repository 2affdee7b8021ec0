/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What can stop irisd from starting, and the status that it then exits with.
 */
#include "daemon/base/irisd-error.h"

/* clang-format off */
G_DEFINE_QUARK (irisd-error-quark, irisd_error)
/* clang-format on */

gboolean
irisd_fail (GError **error, GQuark domain, gint code, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  if (error != NULL)
    *error = g_error_new_valist (domain, code, format, args);
  va_end (args);
  return FALSE;
}
