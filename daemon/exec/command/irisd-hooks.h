/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Hooks: commands that irisd runs when items have ended.
 */
#pragma once

#include "daemon/exec/irisd-job.h"

G_BEGIN_DECLS

typedef struct _IrisdHooks IrisdHooks;

IrisdHooks *irisd_hooks_new (guint64 limit_ms);
void irisd_hooks_stop (IrisdHooks *self, guint64 ms);
void irisd_hooks_free (IrisdHooks *self);
void
irisd_hooks_note_end (IrisdHooks *self, const IrisdJob *job, const char *service, gboolean buried);

G_END_DECLS
