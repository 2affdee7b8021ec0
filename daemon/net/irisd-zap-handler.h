/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The ZAP handler: a thread that ZeroMQ asks about every new connection (ZAP, RFC 27).
 */
#pragma once

#include "daemon/config/irisd-settings.h"
#include "daemon/net/irisd-pending-connections.h"

G_BEGIN_DECLS

/* The domain that makes ZeroMQ ask the ZAP handler. */
#define IRISD_ACCESS_DOMAIN "irisd"

typedef struct _IrisdZapHandler IrisdZapHandler;

/* A connection of a socket has ended. */
typedef void (*IrisdEndedFunc) (gpointer user_data);

IrisdZapHandler *
irisd_zap_handler_new (void *context, IrisdSettings *settings, guint reader, GError **error);
gboolean irisd_zap_handler_watch (IrisdZapHandler *self, void *socket, GError **error);
void irisd_zap_handler_tell (IrisdZapHandler *self,
                             guint door,
                             IrisdEndedFunc ended,
                             gpointer user_data);
IrisdPendingConnections *irisd_zap_handler_get_pending_connections (IrisdZapHandler *self);
void irisd_zap_handler_start (IrisdZapHandler *self);
void irisd_zap_handler_wake (IrisdZapHandler *self);
void irisd_zap_handler_stop (IrisdZapHandler *self);
void irisd_zap_handler_free (IrisdZapHandler *self);

G_END_DECLS
