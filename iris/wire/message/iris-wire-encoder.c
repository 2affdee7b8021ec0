/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Message to frames.
 */
#include "iris-wire-encoder.h"

#include "iris-wire-field-private.h"
#include <iris/wire/base/iris-wire-packer-private.h>
#include <iris/wire/base/iris-wire-reader-private.h>

#include <string.h>

/* Looked at before each string as well, so that many long ones cannot grow the buffer without
 * bound. */
static gboolean
check_header (const IrisWireSink *header, gsize more, IrisWireCheck *check)
{
  gsize most = MIN (check->limits->max_header, (gsize) IRIS_WIRE_MOST_BYTES);
  gsize size = header->used - header->base + more;

  if (G_LIKELY (size <= most))
    return TRUE;
  return iris_wire_fail_limit (check, "header", size, "bytes or more", "max-header", most);
}

static gboolean
encode_int (msgpack_packer *packer, guint key, gint32 value, IrisWireCheck *check)
{
  if (!iris_wire_check_range (check, key, value < 0, (guint64) (gint64) value))
    return FALSE;
  msgpack_pack_int32 (packer, value);
  return TRUE;
}

static gboolean
encode_uint (msgpack_packer *packer, guint key, guint64 value, IrisWireCheck *check)
{
  if (!iris_wire_check_range (check, key, FALSE, value))
    return FALSE;
  msgpack_pack_uint64 (packer, value);
  return TRUE;
}

/* Text goes as a string; what the system does not decode, such as file names, goes as binary. */
static gboolean
encode_string (msgpack_packer *packer,
               guint key,
               const IrisWireString *string,
               gboolean raw,
               IrisWireCheck *check)
{
  if (!iris_wire_check_string (check, key, iris_wire_fields[key].name, string, raw)
      || !check_header (packer->data, string->len, check))
    return FALSE;
  if (raw)
    iris_wire_pack_binary (packer, string->data, string->len);
  else
    iris_wire_pack_string (packer, string->data, string->len);
  return TRUE;
}

static gboolean
encode_data (msgpack_packer *packer, const IrisWireString *data, IrisWireCheck *check)
{
  if (!check_header (packer->data, data->len, check))
    return FALSE;
  iris_wire_pack_binary (packer, data->data, data->len);
  return TRUE;
}

static gboolean
encode_args (msgpack_packer *packer, guint key, const IrisWireArgs *args, IrisWireCheck *check)
{
  IrisWireArgsIter iter;
  IrisWireString arg;
  guint n = 0;

  if (!iris_wire_check_args_count (check, key, args->n))
    return FALSE;
  msgpack_pack_array (packer, args->n);
  iris_wire_args_iter_init (&iter, args);
  while (iris_wire_args_iter_next (&iter, &arg))
    {
      if (!encode_string (packer, key, &arg, TRUE, check))
        return FALSE;
      n++;
    }
  if (n == args->n)
    return TRUE;
  return iris_wire_fail (check, IRIS_WIRE_ERROR_MALFORMED,
                         "key %u (%s) holds %u strings instead of %u", key,
                         iris_wire_fields[key].name, n, args->n);
}

/* A message that was read can be written again, so its numbers are written from what was read. */
static gboolean
encode_numbers (msgpack_packer *packer,
                guint key,
                const IrisWireNumbers *numbers,
                IrisWireCheck *check)
{
  if (!iris_wire_check_args_count (check, key, numbers->n)
      || !check_header (packer->data, numbers->n, check))
    return FALSE;
  msgpack_pack_array (packer, numbers->n);
  if (numbers->packed == NULL)
    {
      for (guint i = 0; i < numbers->n; i++)
        msgpack_pack_uint64 (packer, numbers->values[i]);
      return TRUE;
    }
  IrisWireReader reader;
  IrisWireToken token;
  iris_wire_reader_init (&reader, numbers->packed, numbers->packed_size);
  for (guint i = 0; i < numbers->n; i++)
    {
      if (!iris_wire_reader_expect (&reader, IRIS_WIRE_TOKEN_UINT, "a number", &token, check))
        return FALSE;
      msgpack_pack_uint64 (packer, token.number);
    }
  return TRUE;
}

static gboolean
encode_value (msgpack_packer *packer,
              guint key,
              const IrisWireMessage *message,
              IrisWireCheck *check)
{
  const IrisWireField *field = &iris_wire_fields[key];

  switch ((IrisWireKind) field->kind)
    {
    case IRIS_WIRE_KIND_UINT32:
      return encode_uint (packer, key, *IRIS_WIRE_CONST_FIELD (message, field, guint32), check);
    case IRIS_WIRE_KIND_UINT64:
      return encode_uint (packer, key, *IRIS_WIRE_CONST_FIELD (message, field, guint64), check);
    case IRIS_WIRE_KIND_INT32:
      return encode_int (packer, key, *IRIS_WIRE_CONST_FIELD (message, field, gint32), check);
    case IRIS_WIRE_KIND_BOOLEAN:
      iris_wire_pack_boolean (packer, *IRIS_WIRE_CONST_FIELD (message, field, gboolean));
      return TRUE;
    case IRIS_WIRE_KIND_STRING:
    case IRIS_WIRE_KIND_RAW:
      return encode_string (packer, key, IRIS_WIRE_CONST_FIELD (message, field, IrisWireString),
                            field->kind == IRIS_WIRE_KIND_RAW, check);
    case IRIS_WIRE_KIND_DATA:
      return encode_data (packer, IRIS_WIRE_CONST_FIELD (message, field, IrisWireString), check);
    case IRIS_WIRE_KIND_ID:
      iris_wire_pack_binary (packer, IRIS_WIRE_CONST_FIELD (message, field, guint8),
                             IRIS_WIRE_ID_SIZE);
      return TRUE;
    case IRIS_WIRE_KIND_ARGS:
      return encode_args (packer, key, IRIS_WIRE_CONST_FIELD (message, field, IrisWireArgs), check);
    case IRIS_WIRE_KIND_NUMBERS:
      return encode_numbers (packer, key, IRIS_WIRE_CONST_FIELD (message, field, IrisWireNumbers),
                             check);
    case IRIS_WIRE_KIND_NONE:
      break;
    }
  return FALSE;
}

gboolean
iris_wire_header_encode (const IrisWireMessage *message,
                         const IrisWireTypeInfo *info,
                         GByteArray *header,
                         IrisWireCheck *check)
{
  IrisWireKeys strange = message->present & ~info->allowed;
  if (G_UNLIKELY (strange != 0))
    {
      guint key = iris_wire_keys_first (strange);
      const char *name = iris_wire_key_name (key);
      return iris_wire_fail (check, IRIS_WIRE_ERROR_MALFORMED, "has no key %u (%s); do not set it",
                             key, name != NULL ? name : "unknown");
    }

  msgpack_packer packer;
  IrisWireSink sink;
  iris_wire_packer_init (&packer, &sink, header);
  msgpack_pack_map (&packer, iris_wire_keys_count (message->present));
  for (IrisWireKeys rest = message->present; rest != 0; rest &= rest - 1)
    {
      guint key = iris_wire_keys_first (rest);
      msgpack_pack_uint8 (&packer, (guint8) key);
      if (!encode_value (&packer, key, message, check))
        return FALSE;
      if (!check_header (&sink, 0, check))
        return FALSE;
    }
  iris_wire_sink_finish (&sink);
  return TRUE;
}

void
iris_wire_encoder_init (IrisWireEncoder *self, const IrisWireLimits *limits)
{
  g_return_if_fail (self != NULL);

  *self = (IrisWireEncoder){ .limits = limits != NULL ? *limits : *iris_wire_limits_default () };
  self->head = g_byte_array_sized_new (256);
}

void
iris_wire_encoder_clear (IrisWireEncoder *self)
{
  g_return_if_fail (self != NULL);

  g_clear_pointer (&self->head, g_byte_array_unref);
}

gboolean
iris_wire_encode (IrisWireEncoder *self, const IrisWireMessage *message, GError **error)
{
  IrisWireCheck check;
  const IrisWireTypeInfo *info;

  g_return_val_if_fail (self != NULL && self->head != NULL, FALSE);
  g_return_val_if_fail (message != NULL, FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  iris_wire_check_init (&check, &self->limits, "message", error);
  info = iris_wire_type_info (message->type);
  if (info == NULL)
    return iris_wire_fail (&check, IRIS_WIRE_ERROR_UNKNOWN_TYPE, "type 0x%02x is not one of IRS1",
                           message->type);
  check.what = info->name;
  g_byte_array_set_size (self->head, IRIS_WIRE_HEAD_SIZE);
  if (!iris_wire_header_encode (message, info, self->head, &check)
      || !iris_wire_check_message (&check, info, message))
    return FALSE;

  guint8 *head = self->head->data;
  memcpy (head, "IRS1", 4);
  head[4] = message->type;
  memcpy (head + 5, message->request_id, IRIS_WIRE_ID_SIZE);
  self->two_frames[0] = (IrisWireFrame){ head, self->head->len };
  self->two_frames[1] = message->body;
  iris_wire_split_frames (self->two_frames, self->frames);
  return TRUE;
}
