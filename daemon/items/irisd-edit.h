/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Changes of items that wait: what an EDIT says is merged into the stored SUBMIT, and into the job.
 */
#pragma once

#include "daemon/items/irisd-items.h"

G_BEGIN_DECLS

/* Keys by which an EDIT changes where an item runs. */
#define IRISD_EDIT_HINT_KEYS                                                    \
  (IRIS_WIRE_BIT (IRIS_WIRE_KEY_HINT) | IRIS_WIRE_BIT (IRIS_WIRE_KEY_HINT_NAME) \
   | IRIS_WIRE_BIT (IRIS_WIRE_KEY_STRICT))

/**
 * IrisdEditPlace:
 * @changes: whether the item's place changes at all
 * @home: the new one
 * @hinted: whether a hint names it
 *
 * Where an edited item is queued.
 */
typedef struct
{
  gboolean changes;
  gboolean hinted;
  gint home;
} IrisdEditPlace;

void irisd_edit_merge (IrisWireMessage *item, const IrisWireMessage *edit);
void irisd_edit_count_deadline (IrisWireMessage *item, guint64 accepted_ms);
guint64 irisd_edit_get_due (const IrisdJob *job, const IrisWireMessage *edit);
void irisd_edit_apply (IrisdItems *self,
                       IrisdJob *job,
                       const IrisWireMessage *item,
                       const IrisWireMessage *edit,
                       const IrisdEditPlace *place);

G_END_DECLS
