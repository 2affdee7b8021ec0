/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The body of BATCH: an array of [id, header, body].
 */
#include "iris-wire-batch.h"

#include <iris/wire/message/iris-wire-field-private.h>
#include <iris/wire/base/iris-wire-packer-private.h>
#include <iris/wire/base/iris-wire-reader-private.h>

#include <string.h>

/* The array's head has a fixed width, so that the count can be filled in when all items are there.
 */
#define HEAD_SIZE 5
#define HEAD_BYTE 0xdd

/* What an item costs besides header and body, at most: array of 3, id, head of the body. */
#define ITEM_OVERHEAD (1 + 2 + IRIS_WIRE_ID_SIZE + 5)

void
iris_wire_batch_builder_init (IrisWireBatchBuilder *self, const IrisWireLimits *limits)
{
  g_return_if_fail (self != NULL);

  *self = (IrisWireBatchBuilder){ .limits = limits != NULL ? *limits
                                                           : *iris_wire_limits_default () };
  /* A GByteArray counts in 32 bits and doubles when it grows. */
  self->limits.max_body = MIN (self->limits.max_body, (gsize) IRIS_WIRE_MOST_BYTES);
  self->bytes = g_byte_array_new ();
  self->header = g_byte_array_new ();
  iris_wire_batch_builder_reset (self);
}

void
iris_wire_batch_builder_reset (IrisWireBatchBuilder *self)
{
  g_return_if_fail (self != NULL);

  self->n_items = 0;
  g_byte_array_set_size (self->bytes, HEAD_SIZE);
}

void
iris_wire_batch_builder_clear (IrisWireBatchBuilder *self)
{
  g_return_if_fail (self != NULL);

  g_clear_pointer (&self->bytes, g_byte_array_unref);
  g_clear_pointer (&self->header, g_byte_array_unref);
}

static gboolean
check_room (IrisWireBatchBuilder *self, const IrisWireMessage *item, IrisWireCheck *check)
{
  gsize size = self->bytes->len + self->header->len + ITEM_OVERHEAD + item->body.size;

  if (size > self->limits.max_body)
    return iris_wire_fail_limit (check, "the batch", size, "bytes", "max-body",
                                 self->limits.max_body);
  if (self->n_items >= self->limits.max_batch)
    return iris_wire_fail_limit (check, "the batch", (guint64) self->n_items + 1, "items",
                                 "max-batch", self->limits.max_batch);
  return TRUE;
}

gboolean
iris_wire_batch_builder_add (IrisWireBatchBuilder *self,
                             const IrisWireMessage *item,
                             GError **error)
{
  IrisWireCheck check;
  const IrisWireTypeInfo *info = iris_wire_type_info (IRIS_WIRE_SUBMIT);

  g_return_val_if_fail (self != NULL, FALSE);
  g_return_val_if_fail (item != NULL && item->type == IRIS_WIRE_SUBMIT, FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  iris_wire_check_init (&check, &self->limits, "BATCH", error);
  check.index = self->n_items;
  g_byte_array_set_size (self->header, 0);
  if (!iris_wire_header_encode (item, info, self->header, &check)
      || !iris_wire_check_message (&check, info, item) || !check_room (self, item, &check))
    return FALSE;

  msgpack_packer packer;
  IrisWireSink sink;
  iris_wire_packer_init (&packer, &sink, self->bytes);
  msgpack_pack_array (&packer, 3);
  iris_wire_pack_binary (&packer, item->request_id, IRIS_WIRE_ID_SIZE);
  iris_wire_packer_write (&sink, (const char *) self->header->data, self->header->len);
  iris_wire_pack_binary (&packer, item->body.data, item->body.size);
  iris_wire_sink_finish (&sink);
  self->n_items++;
  return TRUE;
}

IrisWireFrame
iris_wire_batch_builder_get_body (IrisWireBatchBuilder *self)
{
  guint32 count = GUINT32_TO_BE (self->n_items);

  self->bytes->data[0] = HEAD_BYTE;
  memcpy (self->bytes->data + 1, &count, sizeof count);
  return (IrisWireFrame){ self->bytes->data, self->bytes->len };
}

/* One item's three parts; `out` may be filled although the item turns out to be cut off. */
static gboolean
read_item (IrisWireReader *reader,
           IrisWireFrame *id,
           IrisWireFrame *header,
           IrisWireFrame *body,
           IrisWireCheck *check)
{
  IrisWireToken token;

  if (!iris_wire_reader_expect (reader, IRIS_WIRE_TOKEN_ARRAY, "an item", &token, check))
    return FALSE;
  if (token.number != 3)
    return iris_wire_fail (check, IRIS_WIRE_ERROR_MALFORMED,
                           "an item has %" G_GUINT64_FORMAT " parts instead of 3: id, header, body",
                           token.number);
  if (!iris_wire_reader_expect (reader, IRIS_WIRE_TOKEN_BINARY, "the id", &token, check))
    return FALSE;
  if (token.bytes.size != IRIS_WIRE_ID_SIZE)
    return iris_wire_fail (check, IRIS_WIRE_ERROR_MALFORMED,
                           "the id has %" G_GSIZE_FORMAT " bytes instead of 16", token.bytes.size);
  *id = token.bytes;
  header->data = reader->pos;
  if (!iris_wire_reader_skip (reader, iris_wire_depth (check->limits), check))
    return FALSE;
  header->size = (gsize) (reader->pos - header->data);
  if (!iris_wire_reader_expect (reader, IRIS_WIRE_TOKEN_BINARY, "the body", &token, check))
    return FALSE;
  *body = token.bytes;
  return TRUE;
}

static gboolean
check_structure (IrisWireBatchIter *self, IrisWireCheck *check)
{
  IrisWireReader reader;
  IrisWireToken token;
  IrisWireFrame id, header, body;

  if (self->body.size > self->limits.max_body)
    return iris_wire_fail_limit (check, "body", self->body.size, "bytes", "max-body",
                                 self->limits.max_body);
  iris_wire_reader_init (&reader, self->body.data, self->body.size);
  if (!iris_wire_reader_expect (&reader, IRIS_WIRE_TOKEN_ARRAY, "the body", &token, check))
    return FALSE;
  if (token.number > self->limits.max_batch)
    return iris_wire_fail_limit (check, "the batch", token.number, "items", "max-batch",
                                 self->limits.max_batch);
  if (token.number == 0)
    return iris_wire_fail (check, IRIS_WIRE_ERROR_MALFORMED, "the batch has no items");
  self->n_items = (guint) token.number;
  self->offset = iris_wire_reader_offset (&reader);
  for (guint i = 0; i < self->n_items; i++)
    {
      check->index = i;
      if (!read_item (&reader, &id, &header, &body, check))
        return FALSE;
    }
  check->index = -1;
  return iris_wire_reader_finish (&reader, check);
}

gboolean
iris_wire_batch_iter_init (IrisWireBatchIter *self,
                           IrisWireFrame body,
                           const IrisWireLimits *limits,
                           GError **error)
{
  IrisWireCheck check;

  g_return_val_if_fail (self != NULL, FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  *self = (IrisWireBatchIter){ .body = body };
  self->limits = limits != NULL ? *limits : *iris_wire_limits_default ();
  iris_wire_check_init (&check, &self->limits, "BATCH", error);
  if (check_structure (self, &check))
    return TRUE;
  self->n_items = 0;
  return FALSE;
}

IrisWireBatchStep
iris_wire_batch_iter_next (IrisWireBatchIter *self, IrisWireMessage *item, GError **error)
{
  const IrisWireTypeInfo *info = iris_wire_type_info (IRIS_WIRE_SUBMIT);
  IrisWireReader reader;
  IrisWireCheck check;
  IrisWireFrame id, header, body;

  g_return_val_if_fail (self != NULL, IRIS_WIRE_BATCH_END);
  g_return_val_if_fail (item != NULL, IRIS_WIRE_BATCH_END);
  g_return_val_if_fail (error == NULL || *error == NULL, IRIS_WIRE_BATCH_END);

  if (self->index >= self->n_items)
    return IRIS_WIRE_BATCH_END;
  iris_wire_check_init (&check, &self->limits, "BATCH", error);
  check.index = self->index;
  iris_wire_reader_init (&reader, self->body.data + self->offset, self->body.size - self->offset);
  if (!read_item (&reader, &id, &header, &body, &check))
    g_return_val_if_reached (IRIS_WIRE_BATCH_END); /* the body was changed behind our back */
  self->offset += iris_wire_reader_offset (&reader);
  self->index++;

  iris_wire_message_init (item, IRIS_WIRE_SUBMIT, id.data);
  item->body = body;
  if (iris_wire_header_decode (header, info, item, &check)
      && iris_wire_check_message (&check, info, item))
    return IRIS_WIRE_BATCH_ITEM;
  iris_wire_check_leave_refused (&check, item);
  return IRIS_WIRE_BATCH_REFUSED;
}
