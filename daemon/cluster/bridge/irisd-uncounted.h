/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Deliveries that are no tries: this node has given the item back before it began to run.
 *
 * The stream counts all deliveries of an item. What this node knows to be none of its tries it
 * remembers here, for as many items as the table has room for; the oldest are forgotten first.
 * Those of a message that has taken the place of an earlier one are counted anew.
 */
#pragma once

#include <iris/wire/iris-wire.h>

G_BEGIN_DECLS

typedef struct _IrisdUncounted IrisdUncounted;

IrisdUncounted *irisd_uncounted_new (guint most);
void irisd_uncounted_free (IrisdUncounted *self);

void irisd_uncounted_add (IrisdUncounted *self, const guint8 *item, guint64 sequence);
guint64 irisd_uncounted_count_tries (IrisdUncounted *self,
                                     const guint8 *item,
                                     guint64 sequence,
                                     guint64 n_delivered);
void irisd_uncounted_forget (IrisdUncounted *self, const guint8 *item);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (IrisdUncounted, irisd_uncounted_free)

G_END_DECLS
