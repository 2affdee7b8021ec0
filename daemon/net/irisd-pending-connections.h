/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Connections that have not said HELLO yet, or have said BYE since: pending connections.
 */
#pragma once

#include "daemon/config/irisd-limits.h"

G_BEGIN_DECLS

typedef struct _IrisdPendingConnections IrisdPendingConnections;

typedef struct
{
  int fd; /* the descriptor of a connection */
  /* the kernel's number of its socket, to tell it from others with that descriptor; 0: unknown */
  guint64 cookie;
} IrisdConnection;

guint64 irisd_connection_get_cookie (int fd);
gboolean irisd_connection_is_at (int fd, const char *endpoint);
void irisd_connection_end (const IrisdConnection *self);
gboolean irisd_connection_has_ended (const IrisdConnection *self);

IrisdPendingConnections *irisd_pending_connections_new (const IrisdLimits *limits);
void
irisd_pending_connections_set_limits (IrisdPendingConnections *self, const IrisdLimits *limits);
void irisd_pending_connections_free (IrisdPendingConnections *self);

/* Any thread. */
IrisdConnection irisd_pending_connections_hello (IrisdPendingConnections *self, int fd);
void irisd_pending_connections_part (IrisdPendingConnections *self,
                                     const IrisdConnection *connection,
                                     gint64 now_us);

/* For the ZAP handler's thread. */
void irisd_pending_connections_enter (IrisdPendingConnections *self,
                                      int fd,
                                      const char *endpoint,
                                      gint64 now_us);
gint64 irisd_pending_connections_sweep (IrisdPendingConnections *self, gint64 now_us);
guint irisd_pending_connections_get_count (IrisdPendingConnections *self);
int irisd_pending_connections_get_wake_fd (IrisdPendingConnections *self);

G_END_DECLS
