/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The bodies of BATCH and COMPLETIONS: an array of [id, header, body], or of [id, type, header,
 * body].
 */
#include "iris-wire-batch.h"

#include <iris/wire/base/iris-wire-packer-private.h>
#include <iris/wire/base/iris-wire-reader-private.h>
#include <iris/wire/message/iris-wire-field-private.h>

#include <string.h>

/* The array's head has a fixed width, so that the count can be filled in when all items are there.
 */
#define HEAD_SIZE 5
#define HEAD_BYTE 0xdd

/* Where the id and the type of a completion lie: behind the head of an array of 4, and of binary.
 */
#define ID_OFFSET   (1 + 2)
#define TYPE_OFFSET (ID_OFFSET + IRIS_WIRE_ID_SIZE + 1)

/* The largest head of a body. */
#define BODY_HEAD 5

/* What the two have of their own: mostly words. */
typedef struct
{
  const char *name;
  const char *whole;
  const char *item;
  const char *items;
  guint n_parts;
  const char *parts;
} Form;

static const Form forms[] = {
  { "BATCH", "the batch", "an item", "items", 3, "id, header, body" },
  { "COMPLETIONS", "the message", "a completion", "completions", 4, "id, type, header, body" },
};

static const Form *
form_of (IrisWireType type)
{
  return &forms[type == IRIS_WIRE_COMPLETIONS];
}

static gboolean
belongs (IrisWireType type, const IrisWireMessage *item)
{
  if (type == IRIS_WIRE_BATCH)
    return item->type == IRIS_WIRE_SUBMIT;
  return item->type == IRIS_WIRE_RESULT || (item->type == IRIS_WIRE_ERROR_REPLY && item->ends);
}

static gboolean
check_count (const Form *form, guint64 n, IrisWireCheck *check)
{
  if (n <= check->limits->max_batch)
    return TRUE;
  return iris_wire_fail_limit (check, form->whole, n, form->items, "max-batch",
                               check->limits->max_batch);
}

static void
init_builder (IrisWireBatchBuilder *self, IrisWireType type, const IrisWireLimits *limits)
{
  g_return_if_fail (self != NULL);

  *self = (IrisWireBatchBuilder){ .type = type,
                                  .limits = limits != NULL ? *limits
                                                           : *iris_wire_limits_default () };
  /* A GByteArray counts in 32 bits and doubles when it grows. */
  self->limits.max_body = MIN (self->limits.max_body, (gsize) IRIS_WIRE_MOST_BYTES);
  self->bytes = g_byte_array_new ();
  iris_wire_batch_builder_reset (self);
}

void
iris_wire_batch_builder_init (IrisWireBatchBuilder *self, const IrisWireLimits *limits)
{
  init_builder (self, IRIS_WIRE_BATCH, limits);
}

void
iris_wire_batch_builder_init_completions (IrisWireBatchBuilder *self, const IrisWireLimits *limits)
{
  init_builder (self, IRIS_WIRE_COMPLETIONS, limits);
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
}

/* What it has appended when it fails is the caller's to cut off. */
static gboolean
add_item (IrisWireBatchBuilder *self, const IrisWireMessage *item, IrisWireCheck *check)
{
  const Form *form = form_of (self->type);
  const IrisWireTypeInfo *info = iris_wire_type_info (item->type);
  msgpack_packer packer;
  IrisWireSink sink;

  if (!check_count (form, (guint64) self->n_items + 1, check))
    return FALSE;
  iris_wire_packer_init (&packer, &sink, self->bytes);
  msgpack_pack_array (&packer, form->n_parts);
  iris_wire_pack_binary (&packer, item->request_id, IRIS_WIRE_ID_SIZE);
  if (self->type == IRIS_WIRE_COMPLETIONS)
    msgpack_pack_uint8 (&packer, item->type);
  iris_wire_sink_finish (&sink);
  guint header = self->bytes->len;
  if (!iris_wire_header_encode (item, info, self->bytes, check)
      || !iris_wire_check_message (check, info, item))
    return FALSE;
  gsize size = self->bytes->len + BODY_HEAD + item->body.size;
  if (size > self->limits.max_body)
    return iris_wire_fail_limit (check, form->whole, size, "bytes", "max-body",
                                 self->limits.max_body);
  iris_wire_packer_init (&packer, &sink, self->bytes);
  iris_wire_pack_binary (&packer, item->body.data, item->body.size);
  iris_wire_sink_finish (&sink);
  if (self->n_items == 0)
    {
      self->first_header = header;
      self->first_body = self->bytes->len - (guint) item->body.size;
      self->first_end = self->bytes->len;
    }
  return TRUE;
}

gboolean
iris_wire_batch_builder_add (IrisWireBatchBuilder *self,
                             const IrisWireMessage *item,
                             GError **error)
{
  IrisWireCheck check;

  g_return_val_if_fail (self != NULL, FALSE);
  g_return_val_if_fail (item != NULL && belongs (self->type, item), FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  iris_wire_check_init (&check, &self->limits, form_of (self->type)->name, error);
  check.index = self->n_items;
  guint before = self->bytes->len;
  if (!add_item (self, item, &check))
    {
      g_byte_array_set_size (self->bytes, before);
      return FALSE;
    }
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

void
iris_wire_batch_builder_get_first (IrisWireBatchBuilder *self, IrisWireFrame *frames)
{
  g_return_if_fail (self != NULL && self->n_items > 0);
  g_return_if_fail (self->type == IRIS_WIRE_COMPLETIONS);

  const guint8 *element = self->bytes->data + HEAD_SIZE;
  const guint8 *body = self->bytes->data + self->first_body;
  gsize body_size = self->first_end - self->first_body;
  /* The head of the body's binary is 2, 3 or 5 bytes. */
  gsize head = body_size <= G_MAXUINT8 ? 2 : body_size <= G_MAXUINT16 ? 3 : BODY_HEAD;
  frames[0] = (IrisWireFrame){ (const guint8 *) "IRS1", 4 };
  frames[1] = (IrisWireFrame){ element + TYPE_OFFSET, 1 };
  frames[2] = (IrisWireFrame){ element + ID_OFFSET, IRIS_WIRE_ID_SIZE };
  frames[3] = (IrisWireFrame){ self->bytes->data + self->first_header,
                               self->first_body - head - self->first_header };
  frames[4] = (IrisWireFrame){ body, body_size };
}

/* An element's parts. */
typedef struct
{
  IrisWireType type;
  const guint8 *id;
  IrisWireFrame header;
  IrisWireFrame body;
} Element;

static gboolean
read_type (IrisWireReader *reader, Element *out, IrisWireCheck *check)
{
  IrisWireToken token;

  if (!iris_wire_reader_expect (reader, IRIS_WIRE_TOKEN_UINT, "the type", &token, check))
    return FALSE;
  if (token.number != IRIS_WIRE_RESULT && token.number != IRIS_WIRE_ERROR_REPLY)
    return iris_wire_fail (check, IRIS_WIRE_ERROR_MALFORMED,
                           "type %" G_GUINT64_FORMAT " is neither RESULT nor ERROR", token.number);
  out->type = (IrisWireType) token.number;
  return TRUE;
}

static gboolean
read_element (IrisWireReader *reader, IrisWireType type, Element *out, IrisWireCheck *check)
{
  const Form *form = form_of (type);
  IrisWireToken token;

  if (!iris_wire_reader_expect (reader, IRIS_WIRE_TOKEN_ARRAY, form->item, &token, check))
    return FALSE;
  if (token.number != form->n_parts)
    return iris_wire_fail (check, IRIS_WIRE_ERROR_MALFORMED,
                           "%s has %" G_GUINT64_FORMAT " parts instead of %u: %s", form->item,
                           token.number, form->n_parts, form->parts);
  if (!iris_wire_reader_expect (reader, IRIS_WIRE_TOKEN_BINARY, "the id", &token, check))
    return FALSE;
  if (token.bytes.size != IRIS_WIRE_ID_SIZE)
    return iris_wire_fail (check, IRIS_WIRE_ERROR_MALFORMED,
                           "the id has %" G_GSIZE_FORMAT " bytes instead of 16", token.bytes.size);
  out->type = IRIS_WIRE_SUBMIT;
  out->id = token.bytes.data;
  if (type == IRIS_WIRE_COMPLETIONS && !read_type (reader, out, check))
    return FALSE;
  out->header.data = reader->pos;
  if (!iris_wire_reader_skip (reader, iris_wire_depth (check->limits), check))
    return FALSE;
  out->header.size = (gsize) (reader->pos - out->header.data);
  if (!iris_wire_reader_expect (reader, IRIS_WIRE_TOKEN_BINARY, "the body", &token, check))
    return FALSE;
  out->body = token.bytes;
  return TRUE;
}

static gboolean
read_head (IrisWireBatchIter *self, IrisWireReader *reader, IrisWireCheck *check)
{
  const Form *form = form_of (self->type);
  IrisWireToken token;

  if (self->body.size > self->limits.max_body)
    return iris_wire_fail_limit (check, "body", self->body.size, "bytes", "max-body",
                                 self->limits.max_body);
  if (!iris_wire_reader_expect (reader, IRIS_WIRE_TOKEN_ARRAY, "the body", &token, check)
      || !check_count (form, token.number, check))
    return FALSE;
  if (token.number == 0)
    return iris_wire_fail (check, IRIS_WIRE_ERROR_MALFORMED, "%s has no %s", form->whole,
                           form->items);
  self->n_items = (guint) token.number;
  self->offset = iris_wire_reader_offset (reader);
  return TRUE;
}

static gboolean
check_elements (IrisWireBatchIter *self, IrisWireReader *reader, IrisWireCheck *check)
{
  Element element;

  for (guint i = 0; i < self->n_items; i++)
    {
      check->index = i;
      if (!read_element (reader, self->type, &element, check))
        return FALSE;
    }
  check->index = -1;
  return iris_wire_reader_finish (reader, check);
}

/* Nothing more is found. */
static void
end_walk (IrisWireBatchIter *self)
{
  self->n_items = 0;
  self->body.size = self->offset;
}

static gboolean
init_iter (IrisWireBatchIter *self,
           IrisWireType type,
           IrisWireFrame body,
           const IrisWireLimits *limits,
           GError **error)
{
  IrisWireCheck check;
  IrisWireReader reader;

  g_return_val_if_fail (self != NULL, FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  *self = (IrisWireBatchIter){ .type = type,
                               .body = body,
                               .limits = limits != NULL ? *limits : *iris_wire_limits_default () };
  iris_wire_check_init (&check, &self->limits, form_of (type)->name, error);
  iris_wire_reader_init (&reader, body.data, body.size);
  if (read_head (self, &reader, &check)
      && (type == IRIS_WIRE_COMPLETIONS || check_elements (self, &reader, &check)))
    return TRUE;
  end_walk (self);
  return FALSE;
}

gboolean
iris_wire_batch_iter_init (IrisWireBatchIter *self,
                           IrisWireFrame body,
                           const IrisWireLimits *limits,
                           GError **error)
{
  return init_iter (self, IRIS_WIRE_BATCH, body, limits, error);
}

gboolean
iris_wire_batch_iter_init_completions (IrisWireBatchIter *self,
                                       IrisWireFrame body,
                                       const IrisWireLimits *limits,
                                       GError **error)
{
  return init_iter (self, IRIS_WIRE_COMPLETIONS, body, limits, error);
}

static gboolean
read_message (IrisWireType type, const Element *element, IrisWireMessage *out, IrisWireCheck *check)
{
  const IrisWireTypeInfo *info = iris_wire_type_info (element->type);

  out->body = element->body;
  if (!iris_wire_header_decode (element->header, info, out, check)
      || !iris_wire_check_message (check, info, out))
    return FALSE;
  return belongs (type, out)
         || iris_wire_fail (check, IRIS_WIRE_ERROR_MALFORMED, "an ERROR has to have `ends`");
}

IrisWireBatchStep
iris_wire_batch_iter_next (IrisWireBatchIter *self, IrisWireMessage *item, GError **error)
{
  IrisWireCheck check;
  IrisWireReader reader;
  Element element;

  g_return_val_if_fail (self != NULL, IRIS_WIRE_BATCH_END);
  g_return_val_if_fail (item != NULL, IRIS_WIRE_BATCH_END);
  g_return_val_if_fail (error == NULL || *error == NULL, IRIS_WIRE_BATCH_END);

  iris_wire_check_init (&check, &self->limits, form_of (self->type)->name, error);
  if (self->index >= self->n_items && self->offset == self->body.size)
    return IRIS_WIRE_BATCH_END;
  iris_wire_reader_init (&reader, self->body.data + self->offset, self->body.size - self->offset);
  if (self->index >= self->n_items)
    iris_wire_reader_finish (&reader, &check);
  else
    check.index = self->index++;
  if (check.index < 0 || !read_element (&reader, self->type, &element, &check))
    {
      end_walk (self);
      return IRIS_WIRE_BATCH_REFUSED;
    }
  self->offset += iris_wire_reader_offset (&reader);
  iris_wire_message_init (item, element.type, element.id);
  if (read_message (self->type, &element, item, &check))
    return IRIS_WIRE_BATCH_ITEM;
  iris_wire_check_leave_refused (&check, item);
  return IRIS_WIRE_BATCH_REFUSED;
}
