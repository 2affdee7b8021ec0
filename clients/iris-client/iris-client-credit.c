/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * How much irisd lets a connection have in flight, and how much of that is used.
 *
 * An item that was sent holds one credit and as many bytes as its payload. When it ends it goes on
 * holding the credit, and now as many bytes as its result, until the client says that it has
 * consumed the completion. Saying so for each would double the messages, so completions are
 * gathered, and given back once they are a quarter of the window: early enough that irisd never
 * runs dry, since three quarters are still on their way.
 */
#include "iris-client-credit-private.h"

#define ACK_FRACTION 4

/* A grant of 0 items counts as 1: nothing could ever be sent otherwise. */
void
iris_client_credit_init (IrisClientCredit *self, guint items, guint64 bytes)
{
  *self = (IrisClientCredit){ .items = MAX (items, 1), .bytes = bytes };
}

/* An item that alone is over the grant is allowed when nothing else is in flight: irisd then
 * refuses it, instead of its waiting here for ever. */
gboolean
iris_client_credit_allows (const IrisClientCredit *self, gsize size)
{
  if (self->used_items == 0)
    return TRUE;
  return self->used_items < self->items && self->used_bytes <= self->bytes
         && size <= self->bytes - self->used_bytes;
}

void
iris_client_credit_take (IrisClientCredit *self, gsize size)
{
  self->used_items++;
  self->used_bytes += size;
}

/* For an item that irisd did not accept. */
void
iris_client_credit_refund (IrisClientCredit *self, gsize size)
{
  self->used_items--;
  self->used_bytes -= size;
}

void
iris_client_credit_end (IrisClientCredit *self, gsize size, gsize result_size)
{
  self->used_bytes = self->used_bytes - size + result_size;
  self->ended_items++;
  self->ended_bytes += result_size;
}

gboolean
iris_client_credit_ack_due (const IrisClientCredit *self)
{
  if (self->ended_items == 0)
    return FALSE;
  return self->ended_items >= self->items / ACK_FRACTION
         || self->ended_bytes >= self->bytes / ACK_FRACTION;
}

/* Gives back what has ended, and returns how many items irisd has to be told of. */
guint
iris_client_credit_ack (IrisClientCredit *self)
{
  guint count = self->ended_items;

  self->used_items -= count;
  self->used_bytes -= self->ended_bytes;
  self->ended_items = 0;
  self->ended_bytes = 0;
  return count;
}
