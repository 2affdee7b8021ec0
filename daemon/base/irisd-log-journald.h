/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * journald's socket: takes entries of irisd's log with all their fields.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define IRISD_JOURNALD_SOCKET "/run/systemd/journal/socket"

gboolean irisd_log_journald_is_stderr (void);
gboolean irisd_log_journald_open (const char *path, GError **error);
void irisd_log_journald_close (void);
gboolean irisd_log_journald_send (const char *entry, gsize size, guint timeout_ms, gboolean *busy);

G_END_DECLS
