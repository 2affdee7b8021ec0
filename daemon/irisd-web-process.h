/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * irisd-web as a child of irisd: started, started again, ended.
 */
#pragma once

#include "daemon/config/irisd-config.h"

G_BEGIN_DECLS

typedef struct _IrisdWebProcess IrisdWebProcess;

/* NULL without [irisd] http or otlp. @endpoint is that of the front door; the signals of irisd are
 * blocked. */
IrisdWebProcess *irisd_web_process_start (const IrisdConfig *config, const char *endpoint);
/* Ends irisd-web. */
void irisd_web_process_stop (IrisdWebProcess *self);
G_END_DECLS
