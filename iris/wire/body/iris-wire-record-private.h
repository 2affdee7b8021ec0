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
  IRIS_WIRE_RECORD_STRING,  /* char *, owned, NULL is the same as "" */
  IRIS_WIRE_RECORD_NUMBERS, /* guint32 *, owned, with a guint32 count */
  IRIS_WIRE_RECORD_LIST,    /* array of structs, owned, with a guint count */
  IRIS_WIRE_RECORD_TEXTS,   /* char **, owned, ended by NULL; NULL is the same as none */
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

/* A struct as a body. The body of some messages is a bare list: then `bare` is that list's field,
 * and the struct's other fields do not travel. */
GBytes *iris_wire_record_encode (const IrisWireRecord *record,
                                 const IrisWireRecordField *bare,
                                 gconstpointer value,
                                 const char *what,
                                 const IrisWireLimits *limits,
                                 GError **error);

/* Fills `value`, which is all zeroes; on failure it is all zeroes again. */
gboolean iris_wire_record_decode (const IrisWireRecord *record,
                                  const IrisWireRecordField *bare,
                                  gpointer value,
                                  const char *what,
                                  IrisWireFrame body,
                                  const IrisWireLimits *limits,
                                  GError **error);

/* Makes the shallow copy `value` a deep one. */
void iris_wire_record_own (const IrisWireRecord *record, gpointer value);

/* Frees what `value` owns and fills it with zeroes. */
void iris_wire_record_clear (const IrisWireRecord *record, gpointer value);

G_END_DECLS
