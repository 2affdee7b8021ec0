/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The errors that stop irisd from starting, and its exit status for each.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define IRISD_ERROR (irisd_error_quark ())
GQuark irisd_error_quark (void);

/* Each code is also the exit status of irisd. */
typedef enum
{
  IRISD_ERROR_FAILED = 1,          /* the machine refused: a directory, a socket, a topology */
  IRISD_ERROR_USAGE = 2,           /* an option or a configuration file is wrong */
  IRISD_ERROR_ALREADY_RUNNING = 3, /* another irisd serves the same directory */
} IrisdError;

/* Sets @error and returns FALSE, always. */
gboolean
irisd_fail (GError **error, GQuark domain, gint code, const char *format, ...) G_GNUC_PRINTF (4, 5);

/* The exit status after a second signal ended accepted items. */
#define IRISD_EXIT_STOPPED 4

G_END_DECLS
