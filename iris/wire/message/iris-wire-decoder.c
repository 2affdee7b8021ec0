/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Frames to message.
 */
#include "iris-wire-decoder.h"

#include "iris-wire-field-private.h"
#include <iris/wire/base/iris-wire-reader-private.h>

#include <string.h>

static gboolean
fail_type (IrisWireCheck *check, guint key, const char *wanted, const IrisWireToken *token)
{
  return iris_wire_fail (check, IRIS_WIRE_ERROR_MALFORMED, "key %u (%s) should be %s but is %s",
                         key, iris_wire_fields[key].name, wanted,
                         iris_wire_token_type_name (token->type));
}

static gboolean
decode_number (IrisWireMessage *out, guint key, const IrisWireToken *token, IrisWireCheck *check)
{
  const IrisWireField *field = &iris_wire_fields[key];
  gboolean negative = token->type == IRIS_WIRE_TOKEN_NEGATIVE;

  if (token->type != IRIS_WIRE_TOKEN_UINT && !(negative && field->kind == IRIS_WIRE_KIND_INT32))
    return fail_type (check, key,
                      field->kind == IRIS_WIRE_KIND_INT32 ? "an integer" : "an unsigned integer",
                      token);
  if (!iris_wire_check_range (check, key, negative, token->number))
    return FALSE;
  if (field->kind == IRIS_WIRE_KIND_UINT64)
    *IRIS_WIRE_FIELD (out, field, guint64) = token->number;
  else if (field->kind == IRIS_WIRE_KIND_UINT32)
    *IRIS_WIRE_FIELD (out, field, guint32) = (guint32) token->number;
  else
    *IRIS_WIRE_FIELD (out, field, gint32) = (gint32) (gint64) token->number;
  return TRUE;
}

/* The reader has already seen to it that a token of type string is text. */
static gboolean
decode_string (IrisWireString *out,
               guint key,
               const IrisWireToken *token,
               gboolean raw,
               IrisWireCheck *check)
{
  *out = (IrisWireString){ (const char *) token->bytes.data, token->bytes.size };
  if (token->type == IRIS_WIRE_TOKEN_STRING)
    return iris_wire_check_length (check, key, iris_wire_fields[key].name, out->len);
  if (raw && token->type == IRIS_WIRE_TOKEN_BINARY)
    return iris_wire_check_string (check, key, iris_wire_fields[key].name, out, TRUE);
  return fail_type (check, key, raw ? "a string or binary" : "a string", token);
}

/* A list whose head has been read: its elements are checked, and stay where they are. */
static gboolean
decode_list (IrisWireFrame *packed,
             IrisWireReader *reader,
             guint key,
             const IrisWireToken *head,
             IrisWireCheck *check)
{
  gboolean numbers = iris_wire_fields[key].kind == IRIS_WIRE_KIND_NUMBERS;

  if (head->type != IRIS_WIRE_TOKEN_ARRAY)
    return fail_type (check, key, "an array", head);
  if (!iris_wire_check_args_count (check, key, head->number))
    return FALSE;

  packed->data = reader->pos;
  for (guint64 i = 0; i < head->number; i++)
    {
      IrisWireToken token;
      IrisWireString arg;
      if (!iris_wire_reader_next (reader, &token, check))
        return FALSE;
      if (numbers && token.type != IRIS_WIRE_TOKEN_UINT)
        return fail_type (check, key, "an array of unsigned integers", &token);
      if (!numbers && !decode_string (&arg, key, &token, TRUE, check))
        return FALSE;
    }
  packed->size = (gsize) (reader->pos - packed->data);
  return TRUE;
}

static gboolean
decode_value (IrisWireMessage *out, IrisWireReader *reader, guint key, IrisWireCheck *check)
{
  const IrisWireField *field = &iris_wire_fields[key];
  IrisWireToken token;
  IrisWireFrame packed = { 0 };

  if (!iris_wire_reader_next (reader, &token, check))
    return FALSE;
  switch ((IrisWireKind) field->kind)
    {
    case IRIS_WIRE_KIND_BOOLEAN:
      if (token.type != IRIS_WIRE_TOKEN_BOOLEAN)
        return fail_type (check, key, "a boolean", &token);
      *IRIS_WIRE_FIELD (out, field, gboolean) = (gboolean) token.number;
      return TRUE;
    case IRIS_WIRE_KIND_STRING:
    case IRIS_WIRE_KIND_RAW:
      return decode_string (IRIS_WIRE_FIELD (out, field, IrisWireString), key, &token,
                            field->kind == IRIS_WIRE_KIND_RAW, check);
    case IRIS_WIRE_KIND_DATA:
      if (token.type != IRIS_WIRE_TOKEN_BINARY)
        return fail_type (check, key, "binary", &token);
      *IRIS_WIRE_FIELD (out, field,
                        IrisWireString) = (IrisWireString){ (const char *) token.bytes.data,
                                                            token.bytes.size };
      return TRUE;
    case IRIS_WIRE_KIND_ID:
      if (token.type != IRIS_WIRE_TOKEN_BINARY || token.bytes.size != IRIS_WIRE_ID_SIZE)
        return fail_type (check, key, "binary of 16 bytes", &token);
      memcpy (IRIS_WIRE_FIELD (out, field, guint8), token.bytes.data, IRIS_WIRE_ID_SIZE);
      return TRUE;
    case IRIS_WIRE_KIND_ARGS:
    case IRIS_WIRE_KIND_NUMBERS:
      if (!decode_list (&packed, reader, key, &token, check))
        return FALSE;
      if (field->kind == IRIS_WIRE_KIND_ARGS)
        *IRIS_WIRE_FIELD (out, field, IrisWireArgs) = (IrisWireArgs){ .n = (guint) token.number,
                                                                      .packed = packed.data,
                                                                      .packed_size = packed.size };
      else
        *IRIS_WIRE_FIELD (out, field, IrisWireNumbers) = (IrisWireNumbers){
          .n = (guint) token.number, .packed = packed.data, .packed_size = packed.size
        };
      return TRUE;
    default:
      return decode_number (out, key, &token, check);
    }
}

/* One pair. Keys that the type does not have are passed over, whatever they hold: a newer side may
 * send them. */
static gboolean
decode_pair (IrisWireReader *reader,
             const IrisWireTypeInfo *info,
             IrisWireMessage *out,
             IrisWireCheck *check)
{
  IrisWireToken token;

  if (!iris_wire_reader_expect (reader, IRIS_WIRE_TOKEN_UINT, "a key of the header", &token, check))
    return FALSE;
  if (token.number >= IRIS_WIRE_N_KEYS || (info->allowed & IRIS_WIRE_BIT (token.number)) == 0)
    return iris_wire_reader_skip (reader, iris_wire_depth (check->limits) - 1, check);

  guint key = (guint) token.number;
  if (G_UNLIKELY ((out->present & IRIS_WIRE_BIT (key)) != 0))
    return iris_wire_fail (check, IRIS_WIRE_ERROR_MALFORMED, "key %u (%s) is there twice", key,
                           iris_wire_fields[key].name);
  if (!decode_value (out, reader, key, check))
    return FALSE;
  out->present |= IRIS_WIRE_BIT (key);
  return TRUE;
}

gboolean
iris_wire_header_decode (IrisWireFrame header,
                         const IrisWireTypeInfo *info,
                         IrisWireMessage *out,
                         IrisWireCheck *check)
{
  IrisWireReader reader;
  IrisWireToken map;

  if (G_UNLIKELY (header.size > check->limits->max_header))
    return iris_wire_fail_limit (check, "header", header.size, "bytes", "max-header",
                                 check->limits->max_header);
  iris_wire_reader_init (&reader, header.data, header.size);
  if (!iris_wire_reader_expect (&reader, IRIS_WIRE_TOKEN_MAP, "frame 4 (header)", &map, check))
    return FALSE;
  for (guint64 i = 0; i < map.number; i++)
    {
      if (!decode_pair (&reader, info, out, check))
        return FALSE;
    }
  return iris_wire_reader_finish (&reader, check);
}

void
iris_wire_check_leave_refused (const IrisWireCheck *self, IrisWireMessage *message)
{
  guint8 id[IRIS_WIRE_ID_SIZE];

  memcpy (id, message->request_id, sizeof id);
  iris_wire_message_init (message, message->type, id);
  if (self->limit == NULL)
    return;
  iris_wire_message_set_string (message, IRIS_WIRE_KEY_LIMIT, self->limit, -1);
  iris_wire_message_set_uint (message, IRIS_WIRE_KEY_LIMIT_VALUE, self->limit_value);
}

/* @out: five frames */
void
iris_wire_split_frames (const IrisWireFrame *two_frames, IrisWireFrame *out)
{
  const guint8 *head = two_frames[0].data;

  out[0] = (IrisWireFrame){ head, 4 };
  out[1] = (IrisWireFrame){ head + 4, 1 };
  out[2] = (IrisWireFrame){ head + 5, IRIS_WIRE_ID_SIZE };
  out[3] = (IrisWireFrame){ head + IRIS_WIRE_HEAD_SIZE, two_frames[0].size - IRIS_WIRE_HEAD_SIZE };
  out[4] = two_frames[1];
}

static gboolean
check_magic (const IrisWireFrame *frame, IrisWireCheck *check)
{
  if (frame->size == 4 && memcmp (frame->data, "IRS1", 4) == 0)
    return TRUE;
  if (frame->size == 4 && memcmp (frame->data, "IRS", 3) == 0 && g_ascii_isdigit (frame->data[3]))
    return iris_wire_fail (
        check, IRIS_WIRE_ERROR_VERSION,
        "frame 1 is of framing IRS%c, this side speaks IRS1; update the older one", frame->data[3]);
  return iris_wire_fail (check, IRIS_WIRE_ERROR_MALFORMED,
                         "frame 1 is not IRS1; this socket belongs to irisd, see doc/protocol.md");
}

static gboolean
check_frames (const IrisWireFrame *frames, guint n_frames, IrisWireCheck *check)
{
  if (n_frames != IRIS_WIRE_N_FRAMES)
    return iris_wire_fail (check, IRIS_WIRE_ERROR_MALFORMED,
                           "%u frames instead of 5: IRS1, type, request id, header, body; or of 2, "
                           "of which the first has all but the body",
                           n_frames);
  if (!check_magic (&frames[0], check))
    return FALSE;
  if (frames[1].size != 1)
    return iris_wire_fail (check, IRIS_WIRE_ERROR_MALFORMED,
                           "frame 2 (type) has %" G_GSIZE_FORMAT " bytes instead of 1",
                           frames[1].size);
  if (frames[2].size != IRIS_WIRE_ID_SIZE)
    return iris_wire_fail (check, IRIS_WIRE_ERROR_MALFORMED,
                           "frame 3 (request id) has %" G_GSIZE_FORMAT " bytes instead of 16",
                           frames[2].size);
  return TRUE;
}

static gboolean
decode (const IrisWireFrame *frames, guint n_frames, IrisWireMessage *out, IrisWireCheck *check)
{
  if (!check_frames (frames, n_frames, check))
    return FALSE;

  const IrisWireTypeInfo *info = iris_wire_type_info (out->type);
  if (info == NULL)
    return iris_wire_fail (check, IRIS_WIRE_ERROR_UNKNOWN_TYPE, "type 0x%02x is not one of IRS1",
                           out->type);
  check->what = info->name;
  out->body = frames[4];
  return iris_wire_header_decode (frames[3], info, out, check)
         && iris_wire_check_message (check, info, out);
}

gboolean
iris_wire_decode (const IrisWireFrame *frames,
                  guint n_frames,
                  const IrisWireLimits *limits,
                  IrisWireMessage *out,
                  GError **error)
{
  IrisWireCheck check;
  IrisWireFrame five[IRIS_WIRE_N_FRAMES];

  g_return_val_if_fail (frames != NULL || n_frames == 0, FALSE);
  g_return_val_if_fail (out != NULL, FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  if (n_frames == 2 && frames[0].size >= IRIS_WIRE_HEAD_SIZE)
    {
      iris_wire_split_frames (frames, five);
      frames = five;
      n_frames = IRIS_WIRE_N_FRAMES;
    }

  iris_wire_check_init (&check, limits, "message", error);
  iris_wire_message_init (out, 0, NULL);
  if (n_frames > 1 && frames[1].size == 1)
    out->type = frames[1].data[0];
  if (n_frames > 2 && frames[2].size == IRIS_WIRE_ID_SIZE)
    memcpy (out->request_id, frames[2].data, IRIS_WIRE_ID_SIZE);
  if (G_LIKELY (decode (frames, n_frames, out, &check)))
    return TRUE;
  iris_wire_check_leave_refused (&check, out);
  return FALSE;
}
