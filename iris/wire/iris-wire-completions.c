/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The body of COMPLETIONS: an array of [id, type, header, body].
 */
#include "iris-wire-completions.h"

#include "iris-wire-field-private.h"
#include "iris-wire-packer-private.h"
#include "iris-wire-reader-private.h"

#include <string.h>

/* The array's head has a fixed width, so that the count can be filled in when all are there. */
#define HEAD_SIZE 5
#define HEAD_BYTE 0xdd

/* Where the id and the type lie in an element: behind the head of an array of 4, and of binary. */
#define ID_OFFSET   (1 + 2)
#define TYPE_OFFSET (ID_OFFSET + IRIS_WIRE_ID_SIZE + 1)

static gboolean
is_completion (const IrisWireMessage *message)
{
  return message->type == IRIS_WIRE_RESULT
         || (message->type == IRIS_WIRE_ERROR_REPLY && message->ends);
}

void
iris_wire_completions_builder_init (IrisWireCompletionsBuilder *self, const IrisWireLimits *limits)
{
  g_return_if_fail (self != NULL);

  *self = (IrisWireCompletionsBuilder){ .limits = limits != NULL ? *limits
                                                                 : *iris_wire_limits_default () };
  /* A GByteArray counts in 32 bits and doubles when it grows. */
  self->limits.max_body = MIN (self->limits.max_body, (gsize) IRIS_WIRE_MOST_BYTES);
  self->bytes = g_byte_array_new ();
  iris_wire_completions_builder_reset (self);
}

void
iris_wire_completions_builder_reset (IrisWireCompletionsBuilder *self)
{
  g_return_if_fail (self != NULL);

  self->n_completions = 0;
  g_byte_array_set_size (self->bytes, HEAD_SIZE);
}

void
iris_wire_completions_builder_clear (IrisWireCompletionsBuilder *self)
{
  g_return_if_fail (self != NULL);

  g_clear_pointer (&self->bytes, g_byte_array_unref);
}

static gboolean
add_completion (IrisWireCompletionsBuilder *self,
                const IrisWireMessage *completion,
                IrisWireCheck *check)
{
  const IrisWireTypeInfo *info = iris_wire_type_info (completion->type);
  msgpack_packer packer;
  IrisWireSink sink;

  iris_wire_packer_init (&packer, &sink, self->bytes);
  msgpack_pack_array (&packer, 4);
  iris_wire_pack_binary (&packer, completion->request_id, IRIS_WIRE_ID_SIZE);
  msgpack_pack_uint8 (&packer, completion->type);
  iris_wire_sink_finish (&sink);
  guint header = self->bytes->len;
  if (!iris_wire_header_encode (completion, info, self->bytes, check)
      || !iris_wire_check_message (check, info, completion))
    return FALSE;
  gsize size = self->bytes->len + completion->body.size + 5;
  if (size > self->limits.max_body)
    return iris_wire_fail_limit (check, "the message", size, "bytes", "max-body",
                                 self->limits.max_body);
  iris_wire_packer_init (&packer, &sink, self->bytes);
  iris_wire_pack_binary (&packer, completion->body.data, completion->body.size);
  iris_wire_sink_finish (&sink);
  if (self->n_completions == 0)
    {
      self->first_header = header;
      self->first_body = self->bytes->len - (guint) completion->body.size;
      self->first_end = self->bytes->len;
    }
  return TRUE;
}

gboolean
iris_wire_completions_builder_add (IrisWireCompletionsBuilder *self,
                                   const IrisWireMessage *completion,
                                   GError **error)
{
  IrisWireCheck check;

  g_return_val_if_fail (self != NULL, FALSE);
  g_return_val_if_fail (completion != NULL && is_completion (completion), FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  iris_wire_check_init (&check, &self->limits, "COMPLETIONS", error);
  check.index = self->n_completions;
  if (self->n_completions >= self->limits.max_batch)
    return iris_wire_fail_limit (&check, "the message", (guint64) self->n_completions + 1,
                                 "completions", "max-batch", self->limits.max_batch);
  guint before = self->bytes->len;
  if (!add_completion (self, completion, &check))
    {
      g_byte_array_set_size (self->bytes, before);
      return FALSE;
    }
  self->n_completions++;
  return TRUE;
}

IrisWireFrame
iris_wire_completions_builder_get_body (IrisWireCompletionsBuilder *self)
{
  guint32 count = GUINT32_TO_BE (self->n_completions);

  self->bytes->data[0] = HEAD_BYTE;
  memcpy (self->bytes->data + 1, &count, sizeof count);
  return (IrisWireFrame){ self->bytes->data, self->bytes->len };
}

void
iris_wire_completions_builder_get_first (IrisWireCompletionsBuilder *self, IrisWireFrame *frames)
{
  g_return_if_fail (self != NULL && self->n_completions > 0);

  const guint8 *element = self->bytes->data + HEAD_SIZE;
  const guint8 *body = self->bytes->data + self->first_body;
  gsize body_size = self->first_end - self->first_body;
  /* The head of the body's binary is 2, 3 or 5 bytes. */
  gsize head = body_size <= G_MAXUINT8 ? 2 : body_size <= G_MAXUINT16 ? 3 : 5;
  frames[0] = (IrisWireFrame){ (const guint8 *) "IRS1", 4 };
  frames[1] = (IrisWireFrame){ element + TYPE_OFFSET, 1 };
  frames[2] = (IrisWireFrame){ element + ID_OFFSET, IRIS_WIRE_ID_SIZE };
  frames[3] = (IrisWireFrame){ self->bytes->data + self->first_header,
                               self->first_body - head - self->first_header };
  frames[4] = (IrisWireFrame){ body, body_size };
}

gboolean
iris_wire_completions_iter_init (IrisWireCompletionsIter *self,
                                 IrisWireFrame body,
                                 const IrisWireLimits *limits,
                                 GError **error)
{
  IrisWireCheck check;
  IrisWireReader reader;
  IrisWireToken token;

  g_return_val_if_fail (self != NULL, FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  *self = (IrisWireCompletionsIter){ .body = body };
  self->limits = limits != NULL ? *limits : *iris_wire_limits_default ();
  iris_wire_check_init (&check, &self->limits, "COMPLETIONS", error);
  if (body.size > self->limits.max_body)
    return iris_wire_fail_limit (&check, "body", body.size, "bytes", "max-body",
                                 self->limits.max_body);
  iris_wire_reader_init (&reader, body.data, body.size);
  if (!iris_wire_reader_expect (&reader, IRIS_WIRE_TOKEN_ARRAY, "the body", &token, &check))
    return FALSE;
  if (token.number > self->limits.max_batch)
    return iris_wire_fail_limit (&check, "the message", token.number, "completions", "max-batch",
                                 self->limits.max_batch);
  if (token.number == 0)
    return iris_wire_fail (&check, IRIS_WIRE_ERROR_MALFORMED, "there are no completions");
  self->n_completions = (guint) token.number;
  self->offset = iris_wire_reader_offset (&reader);
  return TRUE;
}

/* The id and the type of an element. */
static gboolean
read_head (IrisWireReader *reader, IrisWireMessage *completion, IrisWireCheck *check)
{
  IrisWireToken token;

  if (!iris_wire_reader_expect (reader, IRIS_WIRE_TOKEN_ARRAY, "a completion", &token, check))
    return FALSE;
  if (token.number != 4)
    return iris_wire_fail (check, IRIS_WIRE_ERROR_MALFORMED,
                           "a completion has %" G_GUINT64_FORMAT
                           " parts instead of 4: id, type, header, body",
                           token.number);
  if (!iris_wire_reader_expect (reader, IRIS_WIRE_TOKEN_BINARY, "the id", &token, check))
    return FALSE;
  if (token.bytes.size != IRIS_WIRE_ID_SIZE)
    return iris_wire_fail (check, IRIS_WIRE_ERROR_MALFORMED,
                           "the id has %" G_GSIZE_FORMAT " bytes instead of 16", token.bytes.size);
  const guint8 *id = token.bytes.data;
  if (!iris_wire_reader_expect (reader, IRIS_WIRE_TOKEN_UINT, "the type", &token, check))
    return FALSE;
  if (token.number != IRIS_WIRE_RESULT && token.number != IRIS_WIRE_ERROR_REPLY)
    return iris_wire_fail (check, IRIS_WIRE_ERROR_MALFORMED,
                           "type %" G_GUINT64_FORMAT " is neither RESULT nor ERROR", token.number);
  iris_wire_message_init (completion, (IrisWireType) token.number, id);
  return TRUE;
}

static gboolean
read_completion (IrisWireReader *reader, IrisWireMessage *completion, IrisWireCheck *check)
{
  IrisWireToken token;
  IrisWireFrame header = { reader->pos, 0 };

  if (!iris_wire_reader_skip (reader, iris_wire_depth (check->limits), check))
    return FALSE;
  header.size = (gsize) (reader->pos - header.data);
  if (!iris_wire_reader_expect (reader, IRIS_WIRE_TOKEN_BINARY, "the body", &token, check))
    return FALSE;
  const IrisWireTypeInfo *info = iris_wire_type_info (completion->type);
  completion->body = token.bytes;
  if (!iris_wire_header_decode (header, info, completion, check)
      || !iris_wire_check_message (check, info, completion))
    return FALSE;
  if (!is_completion (completion))
    return iris_wire_fail (check, IRIS_WIRE_ERROR_MALFORMED, "an ERROR has to have `ends`");
  return TRUE;
}

gboolean
iris_wire_completions_iter_next (IrisWireCompletionsIter *self,
                                 IrisWireMessage *completion,
                                 GError **error)
{
  IrisWireReader reader;
  IrisWireCheck check;

  g_return_val_if_fail (self != NULL, FALSE);
  g_return_val_if_fail (completion != NULL, FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  iris_wire_check_init (&check, &self->limits, "COMPLETIONS", error);
  iris_wire_reader_init (&reader, self->body.data + self->offset, self->body.size - self->offset);
  if (self->index >= self->n_completions)
    {
      iris_wire_reader_finish (&reader, &check);
      return FALSE;
    }
  check.index = self->index;
  if (!read_head (&reader, completion, &check) || !read_completion (&reader, completion, &check))
    return FALSE;
  self->offset += iris_wire_reader_offset (&reader);
  self->index++;
  return TRUE;
}
