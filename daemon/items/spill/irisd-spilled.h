/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Spilled items: waiting persistent items of which only the journal's entry is in memory.
 */
#pragma once

#include "daemon/items/irisd-items.h"

G_BEGIN_DECLS

static inline IrisdPersistentItem *
irisd_persistent_item_of_timer (IrisdTimer *timer)
{
  return (IrisdPersistentItem *) (void *) ((char *) timer
                                           - G_STRUCT_OFFSET (IrisdPersistentItem, timer));
}

gboolean irisd_spilled_put_delayed (IrisdItems *self, IrisdJob *job);
void irisd_spilled_put_away (IrisdItems *self, IrisdJob *job);
void irisd_spilled_add (IrisdItems *self,
                        IrisdPersistentItem *persistent,
                        IrisdPeer *peer,
                        IrisWireState state);
void irisd_spilled_put_off (IrisdItems *self, IrisdPersistentItem *persistent);
IrisdTimes irisd_spilled_get_soon (IrisdItems *self, const IrisdTimes *now);
gboolean irisd_spilled_is_counted (IrisdItems *self, const IrisdPeer *peer);
void irisd_spilled_uncount (IrisdItems *self,
                            const IrisdPersistentItem *persistent,
                            const IrisdPeer *peer);

G_END_DECLS
