/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The ledger of a connection: endings that were sent and are not acknowledged yet, oldest first.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/**
 * IrisdLedger:
 * @count: endings in it
 * @sum: their bytes together
 * @n_pushed: endings that were ever in it
 *
 * A ring of sizes. All zeroes is an empty one. One thread at a time.
 */
typedef struct
{
  guint count;
  guint64 sum;
  guint64 n_pushed;

  /*< private >*/
  guint64 *sizes;
  guint capacity; /* a power of two, or 0 */
  guint first;
} IrisdLedger;

void irisd_ledger_clear (IrisdLedger *self);
void irisd_ledger_push (IrisdLedger *self, guint64 size);
guint64 irisd_ledger_pop (IrisdLedger *self, guint count);

G_END_DECLS
