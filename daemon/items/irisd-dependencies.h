/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A gateway's jobs that depend on items of any gateway.
 */
#pragma once

#include "daemon/items/irisd-items.h"

G_BEGIN_DECLS

gboolean irisd_dependencies_register (IrisdItems *self,
                                      IrisdJob *job,
                                      const IrisWireMessage *item,
                                      GError **error);
gboolean irisd_dependencies_reaches (IrisdItems *self, gint64 view, guint64 item);
IrisdJob *
irisd_dependencies_find_item (IrisdItems *self, guint64 number, gint64 view, IrisdMailbox **holder);
gboolean irisd_dependencies_withdraw (IrisdItems *self, IrisdJob *job);
void irisd_dependencies_give_up_buried (IrisdItems *self);
void irisd_dependencies_note_recovered (IrisdItems *self, guint64 item, gint64 owner);
void irisd_dependencies_note_put_off (IrisdItems *self, guint64 item);
void irisd_dependencies_note_cancelled (IrisdItems *self, guint64 item);
void irisd_dependencies_note_burial (IrisdItems *self, IrisdJob *job, gboolean buried);
guint64 irisd_dependencies_add_away (IrisdItems *self, gint64 owner);
gboolean irisd_dependencies_is_awaited (IrisdItems *self, guint64 number);
void irisd_dependencies_end_away (IrisdItems *self,
                                  guint64 number,
                                  IrisdAwayEnd end,
                                  const char *reason);
void irisd_dependencies_uncount (IrisdItems *self, IrisdJob *job);
void irisd_dependencies_note_end (IrisdItems *self, IrisdJob *job);

G_END_DECLS
