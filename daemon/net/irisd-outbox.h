/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The outbox of a connection: replies that its pipe had no room for, oldest first, up to a limit.
 */
#pragma once

#include "daemon/net/irisd-reply.h"

G_BEGIN_DECLS

/* Empty if all zeroes. One thread at a time. */
typedef struct
{
  guint count; /* replies in it */

  /*< private >*/
  IrisdReply *first;
  IrisdReply *last;
} IrisdOutbox;

void irisd_outbox_clear (IrisdOutbox *self);
gboolean irisd_outbox_push (IrisdOutbox *self, IrisdReply *reply, guint limit);
int irisd_outbox_flush (IrisdOutbox *self, void *socket, const IrisdRoute *route);

G_END_DECLS
