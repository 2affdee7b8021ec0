/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The header's keys and the message types as two tables, which encoder, decoder, setters and
 * printer all follow.
 */
#pragma once

#include <iris/wire/base/iris-wire-check-private.h>
#include <iris/wire/message/iris-wire-message.h>

G_BEGIN_DECLS

typedef enum
{
  IRIS_WIRE_KIND_NONE, /* no such key */
  IRIS_WIRE_KIND_UINT32,
  IRIS_WIRE_KIND_UINT64,
  IRIS_WIRE_KIND_INT32,
  IRIS_WIRE_KIND_BOOLEAN,
  IRIS_WIRE_KIND_STRING,
  IRIS_WIRE_KIND_RAW,  /* binary; a string is read too */
  IRIS_WIRE_KIND_DATA, /* binary of any bytes, which only max-header bounds */
  IRIS_WIRE_KIND_ID,
  IRIS_WIRE_KIND_ARGS,
  IRIS_WIRE_KIND_NUMBERS,
} IrisWireKind;

/* A key: where its value is in IrisWireMessage, and the range of a number. */
typedef struct
{
  guint8 kind;
  guint16 offset;
  const char *name;
  gint64 min;
  guint64 max;
} IrisWireField;

/* A message type: the keys it may and must have, whether it may have a body. */
typedef struct
{
  const char *name;
  IrisWireKeys allowed;
  IrisWireKeys required;
  gboolean body;
} IrisWireTypeInfo;

#define IRIS_WIRE_N_KEYS 128

extern const IrisWireField iris_wire_fields[IRIS_WIRE_N_KEYS];

/* NULL if there is no such type. */
const IrisWireTypeInfo *iris_wire_type_info (guint type);

/* The lowest key of a set that is not empty. */
static inline guint
iris_wire_keys_first (IrisWireKeys keys)
{
  guint64 low = (guint64) keys;

  return low != 0 ? (guint) __builtin_ctzll (low) : 64 + (guint) __builtin_ctzll (keys >> 64);
}

static inline guint
iris_wire_keys_count (IrisWireKeys keys)
{
  return (guint) (__builtin_popcountll ((guint64) keys) + __builtin_popcountll (keys >> 64));
}

#define IRIS_WIRE_FIELD(message, field, type) \
  ((type *) (void *) ((char *) (message) + (field)->offset))
#define IRIS_WIRE_CONST_FIELD(message, field, type) \
  ((const type *) (const void *) ((const char *) (message) + (field)->offset))

/* What is common to both directions, after all values are known. */
gboolean iris_wire_check_range (IrisWireCheck *check, guint key, gboolean negative, guint64 value);
gboolean iris_wire_check_args_count (IrisWireCheck *check, guint key, guint64 n);
gboolean iris_wire_check_message (IrisWireCheck *check,
                                  const IrisWireTypeInfo *info,
                                  const IrisWireMessage *message);

/* Leaves of a message that was refused only what an answer needs: type, request id, and the limit
 * that it met. */
void iris_wire_check_leave_refused (const IrisWireCheck *self, IrisWireMessage *message);

/* The header's map, also as it lies inside a batch. Encoding appends it; what it has appended when
 * it fails is the caller's to cut off. */
gboolean iris_wire_header_decode (IrisWireFrame header,
                                  const IrisWireTypeInfo *info,
                                  IrisWireMessage *out,
                                  IrisWireCheck *check);
/* Of a message in two frames: what stands before the header. */
#define IRIS_WIRE_HEAD_SIZE (4 + 1 + IRIS_WIRE_ID_SIZE)

void iris_wire_split_frames (const IrisWireFrame *two_frames, IrisWireFrame *out);

gboolean iris_wire_header_encode (const IrisWireMessage *message,
                                  const IrisWireTypeInfo *info,
                                  GByteArray *header,
                                  IrisWireCheck *check);

G_END_DECLS
