/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Several ends in one message to their home.
 */
#include "irisd-end-pack.h"

#include <string.h>

#define MAGIC       "IRSP"
#define MAGIC_SIZE  4
#define LENGTH_SIZE 4

IrisdEndPack *
irisd_end_pack_new (void)
{
  IrisdEndPack *self = g_new0 (IrisdEndPack, 1);

  self->bytes = g_byte_array_new ();
  irisd_end_pack_clear (self);
  return self;
}

void
irisd_end_pack_free (IrisdEndPack *self)
{
  g_byte_array_unref (self->bytes);
  g_free (self);
}

void
irisd_end_pack_clear (IrisdEndPack *self)
{
  self->n = 0;
  g_byte_array_set_size (self->bytes, 0);
  g_byte_array_append (self->bytes, (const guint8 *) MAGIC, MAGIC_SIZE);
}

/* FALSE if the pack has to be sent first. An empty one takes an end of any size. */
gboolean
irisd_end_pack_add (IrisdEndPack *self, gconstpointer end, gsize size)
{
  const guint32 length = GUINT32_TO_BE ((guint32) size);

  if (self->n > 0 && self->bytes->len + LENGTH_SIZE + size > IRISD_END_PACK_MOST)
    return FALSE;
  g_byte_array_append (self->bytes, (const guint8 *) &length, LENGTH_SIZE);
  g_byte_array_append (self->bytes, end, (guint) size);
  self->n++;
  return TRUE;
}

/* What is to be sent, until the pack changes. There is an end in it. */
gconstpointer
irisd_end_pack_get_message (const IrisdEndPack *self, gsize *size)
{
  const gsize head = self->n == 1 ? MAGIC_SIZE + LENGTH_SIZE : 0;

  *size = self->bytes->len - head;
  return self->bytes->data + head;
}

/* Calls @func for each end of a message. Of one that is damaged, for those before the damage. */
void
irisd_end_pack_read (gconstpointer message, gsize size, IrisdEndPackFunc func, gpointer user_data)
{
  const guint8 *at = message;
  guint32 length;

  if (size < MAGIC_SIZE || memcmp (at, MAGIC, MAGIC_SIZE) != 0)
    {
      func (message, size, user_data);
      return;
    }
  at += MAGIC_SIZE;
  size -= MAGIC_SIZE;
  while (size >= LENGTH_SIZE)
    {
      memcpy (&length, at, LENGTH_SIZE);
      length = GUINT32_FROM_BE (length);
      at += LENGTH_SIZE;
      size -= LENGTH_SIZE;
      if (length > size)
        return;
      func (at, length, user_data);
      at += length;
      size -= length;
    }
}
