/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Readiness: tells the starting process that irisd is ready, or ending.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

void irisd_notify_ready_fd (int fd, const char *endpoints);
void irisd_notify_service_manager (const char *state);
void irisd_notify_status (const char *state, const char *format, ...) G_GNUC_PRINTF (2, 3);
void irisd_notify_reloading (void);

G_END_DECLS
