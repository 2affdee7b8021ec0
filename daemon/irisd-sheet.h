/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Rows for the store that are made together, and let go of one by one.
 */
#pragma once

#include "irisd-record.h"

G_BEGIN_DECLS

typedef struct _IrisdSheet IrisdSheet;

/**
 * IrisdSheetRow:
 * @sheet: on which it is
 * @item: the item's number
 * @state: an #IrisWireState
 *
 * A row that is to be written. The rest is for irisd_sheet_row_view().
 */
typedef struct
{
  IrisdSheet *sheet;
  guint64 item;
  guint32 state;

  /*< private >*/
  gsize at;
  gsize head_size;
  gsize body_size;
} IrisdSheetRow;

IrisdSheet *irisd_sheet_new (guint n_rows);
IrisdSheet *irisd_sheet_ref (IrisdSheet *self);
void irisd_sheet_unref (IrisdSheet *self);
void irisd_sheet_add (IrisdSheet *self, const IrisdRecord *record);
guint irisd_sheet_get_n_rows (const IrisdSheet *self);
IrisdSheetRow *irisd_sheet_get_row (IrisdSheet *self, guint index);
IrisdRow irisd_sheet_row_view (const IrisdSheetRow *row);

G_END_DECLS
