/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Rows for the store that are made together and freed one by one.
 */
#pragma once

#include "daemon/store/irisd-record.h"

G_BEGIN_DECLS

typedef struct _IrisdRowBatch IrisdRowBatch;

/* A row to be written. The rest is for irisd_batch_row_view(). */
typedef struct
{
  IrisdRowBatch *row_batch; /* the batch that holds it */
  guint64 item;             /* the item's number */
  guint32 state;            /* an IrisWireState */

  /*< private >*/
  gsize at;
  gsize head_size;
  gsize body_size;
} IrisdBatchRow;

IrisdRowBatch *irisd_row_batch_new (guint n_rows);
IrisdRowBatch *irisd_row_batch_ref (IrisdRowBatch *self);
void irisd_row_batch_unref (IrisdRowBatch *self);
void irisd_row_batch_add (IrisdRowBatch *self, const IrisdRecord *record);
guint irisd_row_batch_get_n_rows (const IrisdRowBatch *self);
IrisdBatchRow *irisd_row_batch_get_row (IrisdRowBatch *self, guint index);
IrisdRow irisd_batch_row_view (const IrisdBatchRow *row);

G_END_DECLS
