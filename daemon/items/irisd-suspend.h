/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Items that wait, or whose processes are stopped, until a request lets them go on.
 */
#pragma once

#include "daemon/items/irisd-items.h"

G_BEGIN_DECLS

gboolean irisd_suspend_job (IrisdItems *self, IrisdJob *job, GError **error);
void irisd_suspend_resume (IrisdItems *self, IrisdJob *job);
void irisd_suspend_keep (IrisdItems *self,
                         IrisdJob *job,
                         gboolean suspended,
                         const char *reason,
                         IrisdBroadcast *broadcast);

G_END_DECLS
