/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A strict reader of msgpack, after the format's public specification.
 */
#include "iris-wire-reader-private.h"

const char *
iris_wire_token_type_name (IrisWireTokenType type)
{
  static const char *const names[] = {
    [IRIS_WIRE_TOKEN_NIL] = "nil",
    [IRIS_WIRE_TOKEN_BOOLEAN] = "a boolean",
    [IRIS_WIRE_TOKEN_UINT] = "an unsigned integer",
    [IRIS_WIRE_TOKEN_NEGATIVE] = "a negative integer",
    [IRIS_WIRE_TOKEN_FLOAT] = "a float",
    [IRIS_WIRE_TOKEN_STRING] = "a string",
    [IRIS_WIRE_TOKEN_BINARY] = "binary",
    [IRIS_WIRE_TOKEN_ARRAY] = "an array",
    [IRIS_WIRE_TOKEN_MAP] = "a map",
    [IRIS_WIRE_TOKEN_EXTENSION] = "an extension",
  };
  return names[type];
}

static gboolean
fail_short (IrisWireReader *self, IrisWireCheck *check)
{
  return iris_wire_fail (check, IRIS_WIRE_ERROR_MALFORMED,
                         "ends within a value; byte %" G_GSIZE_FORMAT " claims more than follows",
                         iris_wire_reader_offset (self));
}

/* The caller has made sure that the bytes are there. `value` is what stands before them: 0, or all
 * ones for the sign of a negative number. */
static guint64
big_endian (guint64 value, const guint8 *bytes, guint n)
{
  for (guint i = 0; i < n; i++)
    value = value << 8 | bytes[i];
  return value;
}

static gboolean
take_bytes (IrisWireReader *self,
            IrisWireTokenType type,
            guint head,
            guint64 size,
            IrisWireToken *token,
            IrisWireCheck *check)
{
  if (iris_wire_reader_left (self) - head < size)
    return fail_short (self, check);
  token->type = type;
  token->bytes = (IrisWireFrame){ self->pos + head, (gsize) size };
  if (type == IRIS_WIRE_TOKEN_STRING
      && !iris_wire_is_text ((const char *) token->bytes.data, token->bytes.size))
    return iris_wire_fail (check, IRIS_WIRE_ERROR_MALFORMED,
                           "the string at byte %" G_GSIZE_FORMAT
                           " is not valid UTF-8 without NUL bytes",
                           iris_wire_reader_offset (self));
  self->pos += head + size;
  return TRUE;
}

static gboolean
take_list (IrisWireReader *self,
           IrisWireTokenType type,
           guint head,
           guint64 n,
           IrisWireToken *token,
           IrisWireCheck *check)
{
  guint64 least = type == IRIS_WIRE_TOKEN_MAP ? 2 * n : n;

  if (iris_wire_reader_left (self) - head < least)
    return fail_short (self, check);
  token->type = type;
  token->number = n;
  self->pos += head;
  return TRUE;
}

static gboolean
take_number (IrisWireReader *self,
             gboolean is_signed,
             guint size,
             IrisWireToken *token,
             IrisWireCheck *check)
{
  if (iris_wire_reader_left (self) - 1 < size)
    return fail_short (self, check);

  gboolean negative = is_signed && (self->pos[1] & 0x80) != 0;
  token->type = negative ? IRIS_WIRE_TOKEN_NEGATIVE : IRIS_WIRE_TOKEN_UINT;
  token->number = big_endian (negative ? G_MAXUINT64 : 0, self->pos + 1, size);
  self->pos += 1 + size;
  return TRUE;
}

/* The head is followed by a length, and that by as many bytes or elements. */
static gboolean
next_sized (IrisWireReader *self,
            IrisWireTokenType type,
            guint width,
            IrisWireToken *token,
            IrisWireCheck *check)
{
  if (iris_wire_reader_left (self) < 1 + (gsize) width)
    return fail_short (self, check);
  guint64 n = big_endian (0, self->pos + 1, width);
  if (type == IRIS_WIRE_TOKEN_ARRAY || type == IRIS_WIRE_TOKEN_MAP)
    return take_list (self, type, 1 + width, n, token, check);
  /* An extension has one byte more, its kind. */
  return take_bytes (self, type, 1 + width, n + (type == IRIS_WIRE_TOKEN_EXTENSION), token, check);
}

/* Heads 0xc0 to 0xdf: everything whose first byte does not hold the value itself. */
static gboolean
next_long (IrisWireReader *self, guint8 head, IrisWireToken *token, IrisWireCheck *check)
{
  static const struct
  {
    guint8 type;
    guint8 width; /* bytes of the length; 0 where none follows */
  } sized[32] = {
    [0x04] = { IRIS_WIRE_TOKEN_BINARY, 1 },    [0x05] = { IRIS_WIRE_TOKEN_BINARY, 2 },
    [0x06] = { IRIS_WIRE_TOKEN_BINARY, 4 },    [0x07] = { IRIS_WIRE_TOKEN_EXTENSION, 1 },
    [0x08] = { IRIS_WIRE_TOKEN_EXTENSION, 2 }, [0x09] = { IRIS_WIRE_TOKEN_EXTENSION, 4 },
    [0x19] = { IRIS_WIRE_TOKEN_STRING, 1 },    [0x1a] = { IRIS_WIRE_TOKEN_STRING, 2 },
    [0x1b] = { IRIS_WIRE_TOKEN_STRING, 4 },    [0x1c] = { IRIS_WIRE_TOKEN_ARRAY, 2 },
    [0x1d] = { IRIS_WIRE_TOKEN_ARRAY, 4 },     [0x1e] = { IRIS_WIRE_TOKEN_MAP, 2 },
    [0x1f] = { IRIS_WIRE_TOKEN_MAP, 4 },
  };
  guint low = head & 0x1f;

  if (sized[low].width > 0)
    return next_sized (self, (IrisWireTokenType) sized[low].type, sized[low].width, token, check);
  if (head >= 0xd4)
    return take_bytes (self, IRIS_WIRE_TOKEN_EXTENSION, 1,
                       1 + (G_GUINT64_CONSTANT (1) << (head - 0xd4)), token, check);
  if (head >= 0xcc)
    return take_number (self, head >= 0xd0, 1u << (head & 3), token, check);
  if (head >= 0xca)
    return take_bytes (self, IRIS_WIRE_TOKEN_FLOAT, 1, head == 0xca ? 4 : 8, token, check);
  if (head == 0xc1)
    return iris_wire_fail (check, IRIS_WIRE_ERROR_MALFORMED,
                           "byte %" G_GSIZE_FORMAT " is 0xc1, which msgpack never uses",
                           iris_wire_reader_offset (self));
  token->type = head == 0xc0 ? IRIS_WIRE_TOKEN_NIL : IRIS_WIRE_TOKEN_BOOLEAN;
  token->number = head & 1;
  self->pos++;
  return TRUE;
}

gboolean
iris_wire_reader_next (IrisWireReader *self, IrisWireToken *token, IrisWireCheck *check)
{
  if (G_UNLIKELY (self->pos == self->end))
    return fail_short (self, check);

  guint8 head = *self->pos;
  if (head < 0x80)
    {
      token->type = IRIS_WIRE_TOKEN_UINT;
      token->number = head;
      self->pos++;
      return TRUE;
    }
  if (head < 0x90)
    return take_list (self, IRIS_WIRE_TOKEN_MAP, 1, head & 0x0f, token, check);
  if (head < 0xa0)
    return take_list (self, IRIS_WIRE_TOKEN_ARRAY, 1, head & 0x0f, token, check);
  if (head < 0xc0)
    return take_bytes (self, IRIS_WIRE_TOKEN_STRING, 1, head & 0x1f, token, check);
  if (head < 0xe0)
    return next_long (self, head, token, check);
  token->type = IRIS_WIRE_TOKEN_NEGATIVE;
  token->number = (guint64) (gint64) (gint8) head;
  self->pos++;
  return TRUE;
}

gboolean
iris_wire_reader_skip (IrisWireReader *self, guint depth, IrisWireCheck *check)
{
  IrisWireToken token;

  if (!iris_wire_reader_next (self, &token, check))
    return FALSE;
  if (token.type != IRIS_WIRE_TOKEN_ARRAY && token.type != IRIS_WIRE_TOKEN_MAP)
    return TRUE;
  if (depth == 0)
    return iris_wire_fail_limit (check, "nesting", iris_wire_depth (check->limits) + 1, "levels",
                                 "max-depth", iris_wire_depth (check->limits));

  guint64 n = token.type == IRIS_WIRE_TOKEN_MAP ? 2 * token.number : token.number;
  for (guint64 i = 0; i < n; i++)
    {
      if (!iris_wire_reader_skip (self, depth - 1, check))
        return FALSE;
    }
  return TRUE;
}

gboolean
iris_wire_reader_finish (IrisWireReader *self, IrisWireCheck *check)
{
  if (self->pos == self->end)
    return TRUE;
  return iris_wire_fail (check, IRIS_WIRE_ERROR_MALFORMED,
                         "%" G_GSIZE_FORMAT " bytes follow after the end, at byte %" G_GSIZE_FORMAT,
                         iris_wire_reader_left (self), iris_wire_reader_offset (self));
}

gboolean
iris_wire_reader_expect (IrisWireReader *self,
                         IrisWireTokenType type,
                         const char *subject,
                         IrisWireToken *token,
                         IrisWireCheck *check)
{
  if (!iris_wire_reader_next (self, token, check))
    return FALSE;
  if (token->type == type)
    return TRUE;
  return iris_wire_fail (check, IRIS_WIRE_ERROR_MALFORMED, "%s should be %s but is %s", subject,
                         iris_wire_token_type_name (type), iris_wire_token_type_name (token->type));
}
