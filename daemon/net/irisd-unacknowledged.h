/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The list of unacknowledged completions of a connection: completions that were sent and are not
 * acknowledged yet, oldest first.
 */
#pragma once

#include <iris/iris.h>

G_BEGIN_DECLS

typedef struct _IrisdUnackedCompletion IrisdUnackedCompletion;
typedef struct _IrisdChain IrisdChain;

/* Called for a persistent item whose end was acknowledged, and that may be deleted. */
typedef void (*IrisdLetGo) (guint64 item, gpointer user_data);

/* Empty if all zeroes. One thread at a time. */
typedef struct
{
  guint count; /* completions in it */
  guint64 sum; /* their bytes together */

  /*< private >*/
  IrisdUnackedCompletion *ring;
  guint capacity;     /* a power of two, or 0 */
  guint first;        /* of the ring: the oldest one */
  guint span;         /* from it to the newest one, gaps included */
  IrisdChain *chains; /* by request id, if one was named out of order; else NULL */
} IrisdUnacknowledged;

guint irisd_request_id_hash (gconstpointer id);
gboolean irisd_request_id_equal (gconstpointer a, gconstpointer b);

void irisd_unacknowledged_clear (IrisdUnacknowledged *self);
void
irisd_unacknowledged_push (IrisdUnacknowledged *self, const guint8 *id, guint64 size, guint64 item);
void irisd_unacknowledged_keep_items (IrisdUnacknowledged *self);
gboolean irisd_unacknowledged_has_items (const IrisdUnacknowledged *self);
gboolean irisd_unacknowledged_pay_until (IrisdUnacknowledged *self,
                                         const guint8 *last,
                                         guint count,
                                         IrisdLetGo let_go,
                                         gpointer user_data);
const guint8 *irisd_unacknowledged_pay (IrisdUnacknowledged *self,
                                        const guint8 *ids,
                                        guint n,
                                        IrisdLetGo let_go,
                                        gpointer user_data);

G_END_DECLS
