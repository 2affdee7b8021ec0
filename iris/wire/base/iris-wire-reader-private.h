/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A strict reader of msgpack: one token at a time, no allocation, nothing believed.
 *
 * Every length is compared with the bytes that are left before it is used, also the number of
 * elements that an array or map claims (an element is at least one byte), so that work and memory
 * are bounded by the bytes received. Strings must be UTF-8. Every legal spelling of a number is
 * read, because libraries differ in which they write.
 */
#pragma once

#include "iris-wire-check-private.h"

G_BEGIN_DECLS

typedef enum
{
  IRIS_WIRE_TOKEN_NIL,
  IRIS_WIRE_TOKEN_BOOLEAN,
  IRIS_WIRE_TOKEN_UINT,
  IRIS_WIRE_TOKEN_NEGATIVE,
  IRIS_WIRE_TOKEN_FLOAT,
  IRIS_WIRE_TOKEN_STRING,
  IRIS_WIRE_TOKEN_BINARY,
  IRIS_WIRE_TOKEN_ARRAY,
  IRIS_WIRE_TOKEN_MAP,
  IRIS_WIRE_TOKEN_EXTENSION,
} IrisWireTokenType;

/* `number` is the value of a boolean or a number (a negative one as two's complement), the element
 * count of an array, the pair count of a map. `bytes` is what a string, binary, float or extension
 * holds. */
typedef struct
{
  IrisWireTokenType type;
  guint64 number;
  IrisWireFrame bytes;
} IrisWireToken;

typedef struct
{
  const guint8 *start;
  const guint8 *pos;
  const guint8 *end;
} IrisWireReader;

static inline void
iris_wire_reader_init (IrisWireReader *self, const guint8 *data, gsize size)
{
  self->start = data;
  self->pos = data;
  self->end = size > 0 ? data + size : data;
}

static inline gsize
iris_wire_reader_left (const IrisWireReader *self)
{
  return (gsize) (self->end - self->pos);
}

static inline gsize
iris_wire_reader_offset (const IrisWireReader *self)
{
  return (gsize) (self->pos - self->start);
}

/* Reads one token; of an array or map only its head. Fails through `check`. */
gboolean iris_wire_reader_next (IrisWireReader *self, IrisWireToken *token, IrisWireCheck *check);

/* Passes over one whole value that may nest `depth` levels deep, checking it all the same. */
gboolean iris_wire_reader_skip (IrisWireReader *self, guint depth, IrisWireCheck *check);

/* Fails unless all bytes were read. */
gboolean iris_wire_reader_finish (IrisWireReader *self, IrisWireCheck *check);

/* Reads a token that must be of `type`; `subject` names it in the sentence. */
gboolean iris_wire_reader_expect (IrisWireReader *self,
                                  IrisWireTokenType type,
                                  const char *subject,
                                  IrisWireToken *token,
                                  IrisWireCheck *check);

const char *iris_wire_token_type_name (IrisWireTokenType type);

G_END_DECLS
