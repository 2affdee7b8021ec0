/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * irisd's ROUTER sockets: their options, and where they are bound.
 */
#pragma once

#include "daemon/net/irisd-runtime-dir.h"
#include "daemon/config/irisd-config.h"

G_BEGIN_DECLS

void *irisd_socket_new (void *context, const IrisdLimits *limits, GError **error);
void irisd_socket_close (void *socket);
gboolean irisd_socket_bind_ipc (void *socket,
                                IrisdRuntimeDir *dir,
                                const char *endpoint,
                                gboolean shared,
                                GError **error);
gboolean irisd_socket_bind_fd (void *socket, int fd, const char *endpoint, GError **error);
gboolean irisd_socket_use_curve (void *socket, const char *secret, GError **error);
char **
irisd_socket_bind_tcp (void **sockets, guint n, const char *host, guint16 port, GError **error);

G_END_DECLS
