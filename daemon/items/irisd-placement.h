/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The place of an item: the meaning of its hints, and where it ran in the end.
 */
#pragma once

#include "daemon/items/irisd-items.h"

G_BEGIN_DECLS

gboolean irisd_placement_choose_home (IrisdItems *self,
                                      const IrisdPeer *peer,
                                      const IrisWireMessage *item,
                                      gint *home,
                                      gboolean *hinted,
                                      GError **error);
void irisd_placement_pin_hint (const IrisdJob *job, IrisWireMessage *item);
void irisd_placement_unpin_hint (IrisWireMessage *item);
const char *irisd_placement_find_node (IrisdItems *self,
                                       const IrisdPeer *peer,
                                       const IrisWireMessage *item,
                                       gboolean *known);
void irisd_placement_note_home (IrisdItems *self, const IrisdJob *job);
void irisd_placement_note_place (IrisdItems *self, const IrisdJob *job);

G_END_DECLS
