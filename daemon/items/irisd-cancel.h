/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The end of items that are not wanted any more.
 */
#pragma once

#include "daemon/items/irisd-items.h"

G_BEGIN_DECLS

gboolean irisd_cancel_job (IrisdItems *self, IrisdJob *job);
gboolean irisd_cancel_begin (IrisdItems *self, IrisdJob *job, gboolean *ours);
void irisd_cancel_all_of (IrisdItems *self, IrisdPeer *peer);

G_END_DECLS
