/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Rows for the store that are made together and freed one by one.
 *
 * A gateway writes the rows of all items of a batch one after the other and passes the row batch to
 * the journal, whose items hold it until their row is in the store. So a batch takes three pieces
 * of memory instead of three for each item, all larger than the sizes for which threads contend in
 * malloc().
 *
 * One thread at a time: the gateway's while it adds rows, then the journal's.
 */
#include "daemon/store/irisd-row-batch.h"

#include <string.h>

struct _IrisdRowBatch
{
  guint refs;
  guint n_rows;
  guint most_rows;
  IrisdBatchRow *rows;
  guint8 *bytes;
  gsize used;
  gsize size;
};

/* @n_rows is how many rows it is likely to get. */
IrisdRowBatch *
irisd_row_batch_new (guint n_rows)
{
  IrisdRowBatch *self = g_new0 (IrisdRowBatch, 1);
  self->refs = 1;
  self->most_rows = MAX (n_rows, 1);
  self->rows = g_new (IrisdBatchRow, self->most_rows);
  return self;
}

IrisdRowBatch *
irisd_row_batch_ref (IrisdRowBatch *self)
{
  self->refs++;
  return self;
}

void
irisd_row_batch_unref (IrisdRowBatch *self)
{
  if (--self->refs > 0)
    return;
  g_free (self->rows);
  g_free (self->bytes);
  g_free (self);
}

/* Reckons that each row to come needs as much as this one. */
static guint8 *
make_room (IrisdRowBatch *self, gsize size)
{
  if (self->size - self->used < size)
    {
      gsize others = self->most_rows > self->n_rows ? self->most_rows - self->n_rows - 1 : 0;
      self->size = self->used + size + MAX (others * MIN (size, G_MAXUINT16), self->used / 2);
      self->bytes = g_realloc (self->bytes, self->size);
    }
  return self->bytes + self->used;
}

static IrisdBatchRow *
next_row (IrisdRowBatch *self)
{
  if (self->n_rows == self->most_rows)
    {
      self->most_rows *= 2;
      self->rows = g_renew (IrisdBatchRow, self->rows, self->most_rows);
    }
  return &self->rows[self->n_rows++];
}

/* Copies @record. No row of @self may have been given out yet. */
void
irisd_row_batch_add (IrisdRowBatch *self, const IrisdRecord *record)
{
  gsize head_size = irisd_record_get_head_size (record);
  gsize body_size = record->body.size;
  guint8 *at = make_room (self, head_size + body_size);
  irisd_record_pack_head (record, at);
  if (body_size > 0)
    memcpy (at + head_size, record->body.data, body_size);
  *next_row (self) = (IrisdBatchRow){
    .row_batch = self,
    .item = record->item,
    .state = record->state,
    .at = self->used,
    .head_size = head_size,
    .body_size = body_size,
  };
  self->used += head_size + body_size;
}

guint
irisd_row_batch_get_n_rows (const IrisdRowBatch *self)
{
  return self->n_rows;
}

/* Returns a row, valid while a reference is held and no row is added. */
IrisdBatchRow *
irisd_row_batch_get_row (IrisdRowBatch *self, guint index)
{
  g_return_val_if_fail (index < self->n_rows, NULL);
  return &self->rows[index];
}

/* Returns the row for the store, borrowed. */
IrisdRow
irisd_batch_row_view (const IrisdBatchRow *row)
{
  guint8 *head = row->row_batch->bytes + row->at;
  return (IrisdRow){
    .id = row->item,
    .state = row->state,
    .head = head,
    .head_size = row->head_size,
    .body = row->body_size > 0 ? head + row->head_size : NULL,
    .body_size = row->body_size,
  };
}
