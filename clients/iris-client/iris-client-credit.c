/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * How much irisd lets a connection have in flight, and how much of that is used.
 *
 * An item that was sent holds one credit and as many bytes as its payload. When it ends it goes on
 * holding the credit, and now as many bytes as its result, until the client says that it has
 * consumed the ending. Saying so for each would double the messages, so endings are gathered, and
 * given back once they are a quarter of the window: early enough that irisd never runs dry, since
 * three quarters are still on their way.
 */
#include "iris-client-credit-private.h"

#define ACK_FRACTION 4

/*< private >
 * iris_client_credit_init:
 * @self: (out caller-allocates): the account
 * @items: items granted; 0 counts as 1, since nothing could ever be sent otherwise
 * @bytes: bytes granted
 */
void
iris_client_credit_init (IrisClientCredit *self, guint items, guint64 bytes)
{
  *self = (IrisClientCredit){ .items = MAX (items, 1), .bytes = bytes };
}

/*< private >
 * iris_client_credit_allows:
 * @self: the account
 * @size: bytes of a payload
 *
 * An item that alone is over the grant is allowed when nothing else is in flight, so that irisd
 * answers it instead of it waiting here for ever.
 *
 * Returns: whether such an item may be sent now
 */
gboolean
iris_client_credit_allows (const IrisClientCredit *self, gsize size)
{
  if (self->used_items == 0)
    return TRUE;
  return self->used_items < self->items && self->used_bytes <= self->bytes
         && size <= self->bytes - self->used_bytes;
}

/*< private >
 * iris_client_credit_take:
 * @self: the account
 * @size: bytes of the payload of an item that was sent
 */
void
iris_client_credit_take (IrisClientCredit *self, gsize size)
{
  self->used_items++;
  self->used_bytes += size;
}

/*< private >
 * iris_client_credit_refund:
 * @self: the account
 * @size: bytes of the payload of an item that irisd did not accept
 */
void
iris_client_credit_refund (IrisClientCredit *self, gsize size)
{
  self->used_items--;
  self->used_bytes -= size;
}

/*< private >
 * iris_client_credit_end:
 * @self: the account
 * @size: bytes of the payload of an item that ended
 * @result_size: bytes of its result
 */
void
iris_client_credit_end (IrisClientCredit *self, gsize size, gsize result_size)
{
  self->used_bytes = self->used_bytes - size + result_size;
  self->ended_items++;
  self->ended_bytes += result_size;
}

/*< private >
 * iris_client_credit_ack_due:
 * @self: the account
 *
 * Returns: whether enough has ended to give it back now
 */
gboolean
iris_client_credit_ack_due (const IrisClientCredit *self)
{
  if (self->ended_items == 0)
    return FALSE;
  return self->ended_items >= self->items / ACK_FRACTION
         || self->ended_bytes >= self->bytes / ACK_FRACTION;
}

/*< private >
 * iris_client_credit_ack:
 * @self: the account
 *
 * Gives back what has ended.
 *
 * Returns: how many items that are, for irisd to be told
 */
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
