/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Owned structs that travel as msgpack maps in bodies: one description of a struct serves to
 * encode, decode, copy and free it.
 *
 * All of a record's keys are required when it is read, so that a reader never has to guess; keys
 * that it does not know are passed over, so that a newer side can add some.
 */
#pragma once

#include <iris/wire/base/iris-wire-check-private.h>

G_BEGIN_DECLS

typedef enum
{
  IRIS_WIRE_RECORD_UINT32,
  IRIS_WIRE_RECORD_UINT64,
  IRIS_WIRE_RECORD_BOOLEAN,
  IRIS_WIRE_RECORD_STRING,    /* char *, owned, NULL is the same as "" */
  IRIS_WIRE_RECORD_NUMBERS,   /* guint32 *, owned, with a guint32 count */
  IRIS_WIRE_RECORD_LIST,      /* array of structs, owned, with a guint count */
  IRIS_WIRE_RECORD_TEXTS,     /* char **, owned, ended by NULL; NULL is the same as none */
  IRIS_WIRE_RECORD_NUMBERS64, /* guint64 *, owned, with a guint count */
} IrisWireRecordKind;

typedef struct _IrisWireRecord IrisWireRecord;

typedef struct
{
  const char *name;
  guint8 key;
  guint8 kind;
  guint16 offset;
  guint16 count_offset;
  const IrisWireRecord *element; /* of a list */
} IrisWireRecordField;

struct _IrisWireRecord
{
  gsize size;
  guint n_fields;
  const IrisWireRecordField *fields;
};

#define IRIS_WIRE_RECORD(type, field_array)                \
  {                                                        \
    sizeof (type), G_N_ELEMENTS (field_array), field_array \
  }

#define IRIS_WIRE_RECORD_FIELD(type, key, kind, member, text)                   \
  {                                                                             \
    text, key, IRIS_WIRE_RECORD_##kind, G_STRUCT_OFFSET (type, member), 0, NULL \
  }

/* An array beside which stands how many elements it has: `places` and `n_places`. */
#define IRIS_WIRE_RECORD_ARRAY(type, key, kind, member, element)          \
  {                                                                       \
#member, key, IRIS_WIRE_RECORD_##kind, G_STRUCT_OFFSET(type, member), \
        G_STRUCT_OFFSET(type, n_##member), element                        \
  }

/* A struct as a body. One that has nothing but a list travels as that list. */
GBytes *iris_wire_record_encode (const IrisWireRecord *record,
                                 gconstpointer value,
                                 const char *what,
                                 const IrisWireLimits *limits,
                                 GError **error);

/* NULL on failure. */
gpointer iris_wire_record_decode (const IrisWireRecord *record,
                                  const char *what,
                                  IrisWireFrame body,
                                  const IrisWireLimits *limits,
                                  GError **error);

/* All zeroes, but for a list of `n` elements that are all zeroes. */
gpointer iris_wire_record_new (const IrisWireRecord *record, guint n);

/* Floating. By names; numbers and texts as they are, lists as arrays of dictionaries. */
GVariant *iris_wire_record_to_variant (const IrisWireRecord *record, gconstpointer value);

/* Frees `value` and what it owns. */
void iris_wire_record_free (const IrisWireRecord *record, gpointer value);

/* Defines iris_wire_NAME_new(), _free(), _encode() and _decode() of a body of that message. */
#define IRIS_WIRE_DEFINE_BODY(type, name, message, record)                             \
  type *iris_wire_##name##_new (guint n) { return iris_wire_record_new (&record, n); } \
  void iris_wire_##name##_free (type *self)                                            \
  {                                                                                    \
    if (self != NULL)                                                                  \
      iris_wire_record_free (&record, self);                                           \
  }                                                                                    \
  GBytes *iris_wire_##name##_encode (const type *self, const IrisWireLimits *limits,   \
                                     GError **error)                                   \
  {                                                                                    \
    return iris_wire_record_encode (&record, self, message, limits, error);            \
  }                                                                                    \
  type *iris_wire_##name##_decode (IrisWireFrame body, const IrisWireLimits *limits,   \
                                   GError **error)                                     \
  {                                                                                    \
    return iris_wire_record_decode (&record, message, body, limits, error);            \
  }

/* The same of a body that is a list of such elements, in `member`. */
#define IRIS_WIRE_DEFINE_LIST_BODY(type, name, message, element, member)              \
  static const IrisWireRecordField name##_fields[] = { IRIS_WIRE_RECORD_ARRAY (       \
      type, 0, LIST, member, &element) };                                             \
  static const IrisWireRecord name##_record = IRIS_WIRE_RECORD (type, name##_fields); \
  IRIS_WIRE_DEFINE_BODY (type, name, message, name##_record)

G_END_DECLS
