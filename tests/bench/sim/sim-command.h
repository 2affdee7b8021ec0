/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The commands of the simulator.
 */
#pragma once

#include <glib.h>

gboolean sim_command_calibrate (const char *file, gboolean json, GError **error);
gboolean sim_command_run (const char *description,
                          const char *costs_file,
                          char **only,
                          guint64 seed,
                          GError **error);
