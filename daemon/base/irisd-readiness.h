/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Readiness: tells the starting process that irisd is ready, or ending.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

void irisd_notify_ready_fd (int fd, const char *endpoints);
void irisd_notify_service_manager (const char *state);

G_END_DECLS
