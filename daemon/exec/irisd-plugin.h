/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Loads plug-ins and runs their services.
 */
#pragma once

#include "daemon/config/irisd-config.h"
#include "daemon/exec/irisd-service.h"

G_BEGIN_DECLS

typedef struct _IrisdPlugins IrisdPlugins;

IrisdPlugins *
irisd_plugins_load (const IrisdConfig *config, IrisdServices *services, GError **error);
void irisd_plugins_free (IrisdPlugins *self);

G_END_DECLS
