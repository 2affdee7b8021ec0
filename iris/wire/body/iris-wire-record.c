/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Owned structs that travel as msgpack maps.
 */
#include "iris-wire-record-private.h"

#include <iris/wire/base/iris-wire-packer-private.h>
#include <iris/wire/base/iris-wire-reader-private.h>

#include <string.h>

#define AT(value, at, type)       ((type *) (void *) ((char *) (value) + (at)))
#define CONST_AT(value, at, type) ((const type *) (const void *) ((const char *) (value) + (at)))

static gboolean encode_record (const IrisWireRecord *record,
                               gconstpointer value,
                               msgpack_packer *packer,
                               IrisWireCheck *check);
static gboolean decode_record (const IrisWireRecord *record,
                               gpointer value,
                               IrisWireReader *reader,
                               IrisWireCheck *check);

static gboolean
check_entries (IrisWireCheck *check, const char *name, guint64 n)
{
  if (n <= check->limits->max_entries)
    return TRUE;
  return iris_wire_fail_limit (check, name, n, "entries", "max-entries",
                               check->limits->max_entries);
}

static gboolean
check_body (IrisWireCheck *check, const IrisWireSink *sink)
{
  gsize most = MIN (check->limits->max_body, (gsize) IRIS_WIRE_MOST_BYTES);

  if (sink->used <= most)
    return TRUE;
  return iris_wire_fail_limit (check, "body", sink->used, "bytes or more", "max-body", most);
}

static gboolean
encode_text (const IrisWireRecordField *field,
             const char *text,
             msgpack_packer *packer,
             IrisWireCheck *check)
{
  IrisWireString string = { text != NULL ? text : "", text != NULL ? strlen (text) : 0 };

  if (!iris_wire_check_string (check, field->key, field->name, &string, FALSE))
    return FALSE;
  iris_wire_pack_string (packer, string.data, string.len);
  return TRUE;
}

static gboolean
encode_element (const IrisWireRecordField *field,
                gconstpointer elements,
                guint i,
                msgpack_packer *packer,
                IrisWireCheck *check)
{
  if (field->kind == IRIS_WIRE_RECORD_TEXTS)
    return encode_text (field, ((const char *const *) elements)[i], packer, check);
  if (field->kind == IRIS_WIRE_RECORD_LIST)
    {
      check->index = i;
      return check_body (check, packer->data)
             && encode_record (field->element, CONST_AT (elements, i * field->element->size, char),
                               packer, check);
    }
  if (field->kind == IRIS_WIRE_RECORD_NUMBERS64)
    msgpack_pack_uint64 (packer, ((const guint64 *) elements)[i]);
  else
    msgpack_pack_uint32 (packer, ((const guint32 *) elements)[i]);
  return TRUE;
}

static gboolean
encode_array (const IrisWireRecordField *field,
              gconstpointer value,
              msgpack_packer *packer,
              IrisWireCheck *check)
{
  gconstpointer elements = *CONST_AT (value, field->offset, gpointer);
  guint n;

  if (field->kind == IRIS_WIRE_RECORD_TEXTS)
    n = elements != NULL ? g_strv_length ((char **) elements) : 0;
  else
    n = *CONST_AT (value, field->count_offset, guint);
  if (!check_entries (check, field->name, n))
    return FALSE;
  msgpack_pack_array (packer, n);
  for (guint i = 0; i < n; i++)
    if (!encode_element (field, elements, i, packer, check))
      return FALSE;
  if (field->kind == IRIS_WIRE_RECORD_LIST)
    check->index = -1;
  return TRUE;
}

static gboolean
encode_field (const IrisWireRecordField *field,
              gconstpointer value,
              msgpack_packer *packer,
              IrisWireCheck *check)
{
  switch ((IrisWireRecordKind) field->kind)
    {
    case IRIS_WIRE_RECORD_UINT32:
      msgpack_pack_uint32 (packer, *CONST_AT (value, field->offset, guint32));
      return TRUE;
    case IRIS_WIRE_RECORD_UINT64:
      msgpack_pack_uint64 (packer, *CONST_AT (value, field->offset, guint64));
      return TRUE;
    case IRIS_WIRE_RECORD_BOOLEAN:
      iris_wire_pack_boolean (packer, *CONST_AT (value, field->offset, gboolean));
      return TRUE;
    case IRIS_WIRE_RECORD_STRING:
      return encode_text (field, *CONST_AT (value, field->offset, char *), packer, check);
    case IRIS_WIRE_RECORD_NUMBERS:
    case IRIS_WIRE_RECORD_NUMBERS64:
    case IRIS_WIRE_RECORD_LIST:
    case IRIS_WIRE_RECORD_TEXTS:
      return encode_array (field, value, packer, check);
    }
  g_return_val_if_reached (FALSE);
}

static gboolean
encode_record (const IrisWireRecord *record,
               gconstpointer value,
               msgpack_packer *packer,
               IrisWireCheck *check)
{
  msgpack_pack_map (packer, record->n_fields);
  for (guint i = 0; i < record->n_fields; i++)
    {
      msgpack_pack_uint8 (packer, record->fields[i].key);
      if (!encode_field (&record->fields[i], value, packer, check))
        return FALSE;
    }
  return TRUE;
}

/* The list that is all that a record has; NULL if it has more. */
static const IrisWireRecordField *
bare_list (const IrisWireRecord *record)
{
  return record->n_fields == 1 ? record->fields : NULL;
}

GBytes *
iris_wire_record_encode (const IrisWireRecord *record,
                         gconstpointer value,
                         const char *what,
                         const IrisWireLimits *limits,
                         GError **error)
{
  const IrisWireRecordField *bare = bare_list (record);
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  IrisWireCheck check;
  IrisWireSink sink;
  msgpack_packer packer;

  g_return_val_if_fail (value != NULL, NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  iris_wire_check_init (&check, limits, what, error);
  iris_wire_packer_init (&packer, &sink, bytes);
  if (bare != NULL ? !encode_array (bare, value, &packer, &check)
                   : !encode_record (record, value, &packer, &check))
    return NULL;
  if (!check_body (&check, &sink))
    return NULL;
  iris_wire_sink_finish (&sink);
  return g_byte_array_free_to_bytes (g_steal_pointer (&bytes));
}

static gboolean
decode_uint (const char *name,
             guint64 most,
             IrisWireReader *reader,
             guint64 *number,
             IrisWireCheck *check)
{
  IrisWireToken token;

  if (!iris_wire_reader_expect (reader, IRIS_WIRE_TOKEN_UINT, name, &token, check))
    return FALSE;
  if (token.number > most)
    return iris_wire_fail (check, IRIS_WIRE_ERROR_BAD_ARGUMENT,
                           "%s must be 0 to %" G_GUINT64_FORMAT, name, most);
  *number = token.number;
  return TRUE;
}

static char *
decode_text (const IrisWireRecordField *field, IrisWireReader *reader, IrisWireCheck *check)
{
  IrisWireToken token;

  if (!iris_wire_reader_expect (reader, IRIS_WIRE_TOKEN_STRING, field->name, &token, check)
      || !iris_wire_check_length (check, field->key, field->name, token.bytes.size))
    return NULL;
  return g_strndup ((const char *) token.bytes.data, token.bytes.size);
}

static gboolean
decode_element (const IrisWireRecordField *field,
                gpointer elements,
                guint i,
                IrisWireReader *reader,
                IrisWireCheck *check)
{
  guint64 number = 0;

  if (field->kind == IRIS_WIRE_RECORD_TEXTS)
    return (((char **) elements)[i] = decode_text (field, reader, check)) != NULL;
  if (field->kind == IRIS_WIRE_RECORD_LIST)
    {
      check->index = i;
      return decode_record (field->element, AT (elements, i * field->element->size, char), reader,
                            check);
    }
  if (field->kind == IRIS_WIRE_RECORD_NUMBERS64)
    return decode_uint (field->name, G_MAXUINT64, reader, &((guint64 *) elements)[i], check);
  if (!decode_uint (field->name, G_MAXUINT32, reader, &number, check))
    return FALSE;
  ((guint32 *) elements)[i] = (guint32) number;
  return TRUE;
}

static gsize
element_size (const IrisWireRecordField *field)
{
  if (field->kind == IRIS_WIRE_RECORD_LIST)
    return field->element->size;
  if (field->kind == IRIS_WIRE_RECORD_NUMBERS64)
    return sizeof (guint64);
  return field->kind == IRIS_WIRE_RECORD_TEXTS ? sizeof (char *) : sizeof (guint32);
}

static gboolean
decode_array (const IrisWireRecordField *field,
              gpointer value,
              IrisWireReader *reader,
              IrisWireCheck *check)
{
  gboolean texts = field->kind == IRIS_WIRE_RECORD_TEXTS;
  IrisWireToken head;

  if (!iris_wire_reader_expect (reader, IRIS_WIRE_TOKEN_ARRAY, field->name, &head, check)
      || !check_entries (check, field->name, head.number))
    return FALSE;
  guint n = (guint) head.number;
  gpointer elements = g_malloc0_n ((gsize) n + texts, element_size (field));
  *AT (value, field->offset, gpointer) = elements;
  if (!texts)
    *AT (value, field->count_offset, guint) = n;
  for (guint i = 0; i < n; i++)
    if (!decode_element (field, elements, i, reader, check))
      return FALSE;
  if (field->kind == IRIS_WIRE_RECORD_LIST)
    check->index = -1;
  return TRUE;
}

static gboolean
decode_field (const IrisWireRecordField *field,
              gpointer value,
              IrisWireReader *reader,
              IrisWireCheck *check)
{
  IrisWireToken token;
  guint64 number = 0;

  switch ((IrisWireRecordKind) field->kind)
    {
    case IRIS_WIRE_RECORD_UINT32:
      if (!decode_uint (field->name, G_MAXUINT32, reader, &number, check))
        return FALSE;
      *AT (value, field->offset, guint32) = (guint32) number;
      return TRUE;
    case IRIS_WIRE_RECORD_UINT64:
      return decode_uint (field->name, G_MAXUINT64, reader, AT (value, field->offset, guint64),
                          check);
    case IRIS_WIRE_RECORD_BOOLEAN:
      if (!iris_wire_reader_expect (reader, IRIS_WIRE_TOKEN_BOOLEAN, field->name, &token, check))
        return FALSE;
      *AT (value, field->offset, gboolean) = (gboolean) token.number;
      return TRUE;
    case IRIS_WIRE_RECORD_STRING:
      return (*AT (value, field->offset, char *) = decode_text (field, reader, check)) != NULL;
    case IRIS_WIRE_RECORD_NUMBERS:
    case IRIS_WIRE_RECORD_NUMBERS64:
    case IRIS_WIRE_RECORD_LIST:
    case IRIS_WIRE_RECORD_TEXTS:
      return decode_array (field, value, reader, check);
    }
  g_return_val_if_reached (FALSE);
}

static guint
find_field (const IrisWireRecord *record, guint64 key)
{
  guint i = 0;

  while (i < record->n_fields && record->fields[i].key != key)
    i++;
  return i;
}

static gboolean
decode_record (const IrisWireRecord *record,
               gpointer value,
               IrisWireReader *reader,
               IrisWireCheck *check)
{
  IrisWireToken map, key;
  guint64 seen = 0; /* a bit for each field: one record has 32 of them */

  if (!iris_wire_reader_expect (reader, IRIS_WIRE_TOKEN_MAP, "the record", &map, check))
    return FALSE;
  for (guint64 i = 0; i < map.number; i++)
    {
      if (!iris_wire_reader_expect (reader, IRIS_WIRE_TOKEN_UINT, "a key", &key, check))
        return FALSE;
      guint at = find_field (record, key.number);
      if (at == record->n_fields)
        {
          if (!iris_wire_reader_skip (reader, iris_wire_depth (check->limits), check))
            return FALSE;
          continue;
        }
      if ((seen & G_GUINT64_CONSTANT (1) << at) != 0)
        return iris_wire_fail (check, IRIS_WIRE_ERROR_MALFORMED, "key %u (%s) is there twice",
                               record->fields[at].key, record->fields[at].name);
      seen |= G_GUINT64_CONSTANT (1) << at;
      if (!decode_field (&record->fields[at], value, reader, check))
        return FALSE;
    }
  for (guint at = 0; at < record->n_fields; at++)
    {
      if ((seen & G_GUINT64_CONSTANT (1) << at) == 0)
        return iris_wire_fail (check, IRIS_WIRE_ERROR_MALFORMED, "key %u (%s) is missing",
                               record->fields[at].key, record->fields[at].name);
    }
  return TRUE;
}

static void
clear_record (const IrisWireRecord *record, gpointer value)
{
  for (guint i = 0; i < record->n_fields; i++)
    {
      const IrisWireRecordField *field = &record->fields[i];

      if (field->kind == IRIS_WIRE_RECORD_LIST)
        {
          char *elements = *AT (value, field->offset, char *);
          guint n = *AT (value, field->count_offset, guint);
          for (guint j = 0; j < n; j++)
            clear_record (field->element, elements + j * field->element->size);
        }
      if (field->kind == IRIS_WIRE_RECORD_TEXTS)
        g_strfreev (*AT (value, field->offset, char **));
      else if (field->kind >= IRIS_WIRE_RECORD_STRING)
        g_free (*AT (value, field->offset, gpointer));
    }
}

gpointer
iris_wire_record_new (const IrisWireRecord *record, guint n)
{
  gpointer value = g_malloc0 (record->size);

  for (guint i = 0; i < record->n_fields; i++)
    {
      const IrisWireRecordField *field = &record->fields[i];

      if (field->kind != IRIS_WIRE_RECORD_LIST)
        continue;
      *AT (value, field->offset, gpointer) = g_malloc0_n (n, field->element->size);
      *AT (value, field->count_offset, guint) = n;
    }
  return value;
}

void
iris_wire_record_free (const IrisWireRecord *record, gpointer value)
{
  clear_record (record, value);
  g_free (value);
}

gpointer
iris_wire_record_decode (const IrisWireRecord *record,
                         const char *what,
                         IrisWireFrame body,
                         const IrisWireLimits *limits,
                         GError **error)
{
  const IrisWireRecordField *bare = bare_list (record);
  IrisWireCheck check;
  IrisWireReader reader;
  gpointer value;

  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  iris_wire_check_init (&check, limits, what, error);
  if (body.size > check.limits->max_body)
    {
      iris_wire_refuse_limit (&check, "body", body.size, "bytes", "max-body",
                              check.limits->max_body);
      return NULL;
    }
  value = g_malloc0 (record->size);
  iris_wire_reader_init (&reader, body.data, body.size);
  if ((bare != NULL ? decode_array (bare, value, &reader, &check)
                    : decode_record (record, value, &reader, &check))
      && iris_wire_reader_finish (&reader, &check))
    return value;
  iris_wire_record_free (record, value);
  return NULL;
}

static GVariant *
array_to_variant (const IrisWireRecordField *field, gconstpointer value)
{
  gconstpointer elements = *CONST_AT (value, field->offset, gpointer);
  static const char *const none[] = { NULL };

  if (field->kind == IRIS_WIRE_RECORD_TEXTS)
    return g_variant_new_strv (elements != NULL ? elements : none, -1);
  guint n = *CONST_AT (value, field->count_offset, guint);
  if (field->kind == IRIS_WIRE_RECORD_NUMBERS)
    return g_variant_new_fixed_array (G_VARIANT_TYPE_UINT32, elements, n, sizeof (guint32));
  if (field->kind == IRIS_WIRE_RECORD_NUMBERS64)
    return g_variant_new_fixed_array (G_VARIANT_TYPE_UINT64, elements, n, sizeof (guint64));
  g_auto (GVariantBuilder) list = G_VARIANT_BUILDER_INIT (G_VARIANT_TYPE ("aa{sv}"));
  for (guint i = 0; i < n; i++)
    g_variant_builder_add_value (
        &list, iris_wire_record_to_variant (field->element,
                                            CONST_AT (elements, i * field->element->size, char)));
  return g_variant_builder_end (&list);
}

static GVariant *
field_to_variant (const IrisWireRecordField *field, gconstpointer value)
{
  const char *text;

  switch ((IrisWireRecordKind) field->kind)
    {
    case IRIS_WIRE_RECORD_UINT32:
      return g_variant_new_uint32 (*CONST_AT (value, field->offset, guint32));
    case IRIS_WIRE_RECORD_UINT64:
      return g_variant_new_uint64 (*CONST_AT (value, field->offset, guint64));
    case IRIS_WIRE_RECORD_BOOLEAN:
      return g_variant_new_boolean (*CONST_AT (value, field->offset, gboolean));
    case IRIS_WIRE_RECORD_STRING:
      text = *CONST_AT (value, field->offset, char *);
      return g_variant_new_string (text != NULL ? text : "");
    case IRIS_WIRE_RECORD_NUMBERS:
    case IRIS_WIRE_RECORD_NUMBERS64:
    case IRIS_WIRE_RECORD_LIST:
    case IRIS_WIRE_RECORD_TEXTS:
      return array_to_variant (field, value);
    }
  g_return_val_if_reached (NULL);
}

GVariant *
iris_wire_record_to_variant (const IrisWireRecord *record, gconstpointer value)
{
  g_auto (GVariantBuilder) map = G_VARIANT_BUILDER_INIT (G_VARIANT_TYPE_VARDICT);

  for (guint i = 0; i < record->n_fields; i++)
    g_variant_builder_add (&map, "{sv}", record->fields[i].name,
                           field_to_variant (&record->fields[i], value));
  return g_variant_builder_end (&map);
}
