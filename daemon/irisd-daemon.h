/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The daemon: assembles the parts, waits for signals, takes the parts apart.
 */
#pragma once

#include "daemon/config/irisd-config.h"

G_BEGIN_DECLS

typedef struct _IrisdDaemon IrisdDaemon;

/* Reads the configuration again. */
typedef IrisdConfig *(*IrisdReadFunc) (gpointer user_data, GError **error);

gboolean irisd_daemon_block_signals (GError **error);
IrisdDaemon *irisd_daemon_new (const IrisdConfig *config, GError **error);
void irisd_daemon_free (IrisdDaemon *self);
void irisd_daemon_set_read (IrisdDaemon *self, IrisdReadFunc read, gpointer user_data);
char *irisd_daemon_get_endpoints (IrisdDaemon *self);
int irisd_daemon_run (IrisdDaemon *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (IrisdDaemon, irisd_daemon_free)

G_END_DECLS
