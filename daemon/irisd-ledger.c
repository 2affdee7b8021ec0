/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The ledger of a connection: endings that were sent and are not acknowledged yet, oldest first.
 */
#include "irisd-ledger.h"

#define FIRST_CAPACITY 16

void
irisd_ledger_clear (IrisdLedger *self)
{
  g_free (self->sizes);
  *self = (IrisdLedger){ 0 };
}

static void
grow (IrisdLedger *self)
{
  guint capacity = self->capacity == 0 ? FIRST_CAPACITY : self->capacity * 2;
  guint64 *sizes = g_new (guint64, capacity);
  for (guint i = 0; i < self->count; i++)
    sizes[i] = self->sizes[(self->first + i) & (self->capacity - 1)];
  g_free (self->sizes);
  self->sizes = sizes;
  self->capacity = capacity;
  self->first = 0;
}

/**
 * irisd_ledger_push:
 * @self: the ledger
 * @size: bytes of an ending that is sent now
 */
void
irisd_ledger_push (IrisdLedger *self, guint64 size)
{
  if (self->count == self->capacity)
    grow (self);
  self->sizes[(self->first + self->count) & (self->capacity - 1)] = size;
  self->count++;
  self->n_pushed++;
  self->sum += size;
}

/**
 * irisd_ledger_pop:
 * @self: the ledger
 * @count: how many endings were acknowledged; at most as many as there are
 *
 * Returns: their bytes together
 */
guint64
irisd_ledger_pop (IrisdLedger *self, guint count)
{
  g_return_val_if_fail (count <= self->count, 0);

  guint64 sum = 0;
  for (guint i = 0; i < count; i++)
    sum += self->sizes[(self->first + i) & (self->capacity - 1)];
  if (count > 0)
    self->first = (self->first + count) & (self->capacity - 1);
  self->count -= count;
  self->sum -= sum;
  return sum;
}
