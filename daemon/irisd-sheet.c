/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Rows for the store that are made together, and let go of one by one.
 *
 * A gateway writes the rows of all items of a batch one behind the other and hands the sheet to the
 * journal, whose items then hold it as long as theirs is not in the store. So a batch takes three
 * pieces of memory and not three for each item, all of them larger than what threads quarrel about.
 *
 * One thread at a time: the gateway's while it adds, then the journal's.
 */
#include "irisd-sheet.h"

#include <string.h>

struct _IrisdSheet
{
  guint refs;
  guint n_rows;
  guint most_rows;
  IrisdSheetRow *rows;
  guint8 *bytes;
  gsize used;
  gsize size;
};

/**
 * irisd_sheet_new:
 * @n_rows: how many rows it is likely to get
 *
 * Returns: (transfer full): an empty sheet
 */
IrisdSheet *
irisd_sheet_new (guint n_rows)
{
  IrisdSheet *self = g_new0 (IrisdSheet, 1);
  self->refs = 1;
  self->most_rows = MAX (n_rows, 1);
  self->rows = g_new (IrisdSheetRow, self->most_rows);
  return self;
}

IrisdSheet *
irisd_sheet_ref (IrisdSheet *self)
{
  self->refs++;
  return self;
}

/**
 * irisd_sheet_unref:
 * @self: (transfer full): a sheet
 */
void
irisd_sheet_unref (IrisdSheet *self)
{
  if (--self->refs > 0)
    return;
  g_free (self->rows);
  g_free (self->bytes);
  g_free (self);
}

/* What one row needs is likely to be needed by each of those that are still to come. */
static guint8 *
make_room (IrisdSheet *self, gsize size)
{
  if (self->size - self->used < size)
    {
      gsize others = self->most_rows > self->n_rows ? self->most_rows - self->n_rows - 1 : 0;
      self->size = self->used + size + MAX (others * MIN (size, G_MAXUINT16), self->used / 2);
      self->bytes = g_realloc (self->bytes, self->size);
    }
  return self->bytes + self->used;
}

static IrisdSheetRow *
next_row (IrisdSheet *self)
{
  if (self->n_rows == self->most_rows)
    {
      self->most_rows *= 2;
      self->rows = g_renew (IrisdSheetRow, self->rows, self->most_rows);
    }
  return &self->rows[self->n_rows++];
}

/**
 * irisd_sheet_add:
 * @self: a sheet, of which nobody has a row yet
 * @record: what is to be written; copied
 */
void
irisd_sheet_add (IrisdSheet *self, const IrisdRecord *record)
{
  gsize head_size = irisd_record_get_head_size (record);
  gsize body_size = record->body.size;
  guint8 *at = make_room (self, head_size + body_size);
  irisd_record_pack_head (record, at);
  if (body_size > 0)
    memcpy (at + head_size, record->body.data, body_size);
  *next_row (self) = (IrisdSheetRow){
    .sheet = self,
    .item = record->item,
    .state = record->state,
    .at = self->used,
    .head_size = head_size,
    .body_size = body_size,
  };
  self->used += head_size + body_size;
}

guint
irisd_sheet_get_n_rows (const IrisdSheet *self)
{
  return self->n_rows;
}

/**
 * irisd_sheet_get_row:
 * @self: a sheet
 * @index: which row
 *
 * Returns: (transfer none): it; good as long as nothing is added and somebody holds the sheet
 */
IrisdSheetRow *
irisd_sheet_get_row (IrisdSheet *self, guint index)
{
  g_return_val_if_fail (index < self->n_rows, NULL);
  return &self->rows[index];
}

/**
 * irisd_sheet_row_view:
 * @row: a row
 *
 * Returns: the same as the store wants it, borrowed
 */
IrisdRow
irisd_sheet_row_view (const IrisdSheetRow *row)
{
  guint8 *head = row->sheet->bytes + row->at;
  return (IrisdRow){
    .id = row->item,
    .state = row->state,
    .head = head,
    .head_size = row->head_size,
    .body = row->body_size > 0 ? head + row->head_size : NULL,
    .body_size = row->body_size,
  };
}
