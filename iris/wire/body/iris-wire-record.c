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
encode_list (const IrisWireRecordField *field,
             gconstpointer value,
             msgpack_packer *packer,
             IrisWireCheck *check)
{
  guint n = *CONST_AT (value, field->count_offset, guint);
  const char *elements = *CONST_AT (value, field->offset, char *);

  if (!check_entries (check, field->name, n))
    return FALSE;
  msgpack_pack_array (packer, n);
  for (guint i = 0; i < n; i++)
    {
      check->index = i;
      if (!check_body (check, packer->data))
        return FALSE;
      if (!encode_record (field->element, elements + i * field->element->size, packer, check))
        return FALSE;
    }
  check->index = -1;
  return TRUE;
}

static gboolean
encode_numbers (const IrisWireRecordField *field,
                gconstpointer value,
                msgpack_packer *packer,
                IrisWireCheck *check)
{
  guint32 n = *CONST_AT (value, field->count_offset, guint32);
  const guint32 *numbers = *CONST_AT (value, field->offset, guint32 *);

  if (!check_entries (check, field->name, n))
    return FALSE;
  msgpack_pack_array (packer, n);
  for (guint32 i = 0; i < n; i++)
    msgpack_pack_uint32 (packer, numbers[i]);
  return TRUE;
}

static gboolean
pack_text (const IrisWireRecordField *field,
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
encode_text (const IrisWireRecordField *field,
             gconstpointer value,
             msgpack_packer *packer,
             IrisWireCheck *check)
{
  return pack_text (field, *CONST_AT (value, field->offset, char *), packer, check);
}

static gboolean
encode_texts (const IrisWireRecordField *field,
              gconstpointer value,
              msgpack_packer *packer,
              IrisWireCheck *check)
{
  const char *const *texts = *CONST_AT (value, field->offset, char *const *);
  guint n = texts != NULL ? g_strv_length ((char **) texts) : 0;

  if (!check_entries (check, field->name, n))
    return FALSE;
  msgpack_pack_array (packer, n);
  for (guint i = 0; i < n; i++)
    if (!pack_text (field, texts[i], packer, check))
      return FALSE;
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
      return encode_text (field, value, packer, check);
    case IRIS_WIRE_RECORD_NUMBERS:
      return encode_numbers (field, value, packer, check);
    case IRIS_WIRE_RECORD_LIST:
      return encode_list (field, value, packer, check);
    case IRIS_WIRE_RECORD_TEXTS:
      return encode_texts (field, value, packer, check);
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

GBytes *
iris_wire_record_encode (const IrisWireRecord *record,
                         const IrisWireRecordField *bare,
                         gconstpointer value,
                         const char *what,
                         const IrisWireLimits *limits,
                         GError **error)
{
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  IrisWireCheck check;
  IrisWireSink sink;
  msgpack_packer packer;

  iris_wire_check_init (&check, limits, what, error);
  iris_wire_packer_init (&packer, &sink, bytes);
  if (bare != NULL ? !encode_list (bare, value, &packer, &check)
                   : !encode_record (record, value, &packer, &check))
    return NULL;
  if (!check_body (&check, &sink))
    return NULL;
  iris_wire_sink_finish (&sink);
  return g_byte_array_free_to_bytes (g_steal_pointer (&bytes));
}

static gboolean
decode_list (const IrisWireRecordField *field,
             gpointer value,
             IrisWireReader *reader,
             IrisWireCheck *check)
{
  IrisWireToken head;

  if (!iris_wire_reader_expect (reader, IRIS_WIRE_TOKEN_ARRAY, field->name, &head, check)
      || !check_entries (check, field->name, head.number))
    return FALSE;
  char *elements = g_malloc0_n ((gsize) head.number, field->element->size);
  *AT (value, field->offset, char *) = elements;
  *AT (value, field->count_offset, guint) = (guint) head.number;
  for (guint i = 0; i < head.number; i++)
    {
      check->index = i;
      if (!decode_record (field->element, elements + i * field->element->size, reader, check))
        return FALSE;
    }
  check->index = -1;
  return TRUE;
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

static gboolean
decode_numbers (const IrisWireRecordField *field,
                gpointer value,
                IrisWireReader *reader,
                IrisWireCheck *check)
{
  IrisWireToken head;

  if (!iris_wire_reader_expect (reader, IRIS_WIRE_TOKEN_ARRAY, field->name, &head, check)
      || !check_entries (check, field->name, head.number))
    return FALSE;
  guint32 *numbers = g_new0 (guint32, head.number);
  *AT (value, field->offset, guint32 *) = numbers;
  *AT (value, field->count_offset, guint32) = (guint32) head.number;
  for (guint i = 0; i < head.number; i++)
    {
      guint64 number = 0;
      if (!decode_uint (field->name, G_MAXUINT32, reader, &number, check))
        return FALSE;
      numbers[i] = (guint32) number;
    }
  return TRUE;
}

static char *
read_text (const IrisWireRecordField *field, IrisWireReader *reader, IrisWireCheck *check)
{
  IrisWireToken token;

  if (!iris_wire_reader_expect (reader, IRIS_WIRE_TOKEN_STRING, field->name, &token, check)
      || !iris_wire_check_length (check, field->key, field->name, token.bytes.size))
    return NULL;
  return g_strndup ((const char *) token.bytes.data, token.bytes.size);
}

static gboolean
decode_text (const IrisWireRecordField *field,
             gpointer value,
             IrisWireReader *reader,
             IrisWireCheck *check)
{
  char *text = read_text (field, reader, check);

  *AT (value, field->offset, char *) = text;
  return text != NULL;
}

static gboolean
decode_texts (const IrisWireRecordField *field,
              gpointer value,
              IrisWireReader *reader,
              IrisWireCheck *check)
{
  IrisWireToken head;

  if (!iris_wire_reader_expect (reader, IRIS_WIRE_TOKEN_ARRAY, field->name, &head, check)
      || !check_entries (check, field->name, head.number))
    return FALSE;
  char **texts = g_new0 (char *, head.number + 1);
  *AT (value, field->offset, char **) = texts;
  for (guint i = 0; i < head.number; i++)
    {
      texts[i] = read_text (field, reader, check);
      if (texts[i] == NULL)
        return FALSE;
    }
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
      return decode_text (field, value, reader, check);
    case IRIS_WIRE_RECORD_NUMBERS:
      return decode_numbers (field, value, reader, check);
    case IRIS_WIRE_RECORD_LIST:
      return decode_list (field, value, reader, check);
    case IRIS_WIRE_RECORD_TEXTS:
      return decode_texts (field, value, reader, check);
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
  guint32 seen = 0;

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
      if ((seen & 1u << at) != 0)
        return iris_wire_fail (check, IRIS_WIRE_ERROR_MALFORMED, "key %u (%s) is there twice",
                               record->fields[at].key, record->fields[at].name);
      seen |= 1u << at;
      if (!decode_field (&record->fields[at], value, reader, check))
        return FALSE;
    }
  for (guint at = 0; at < record->n_fields; at++)
    {
      if ((seen & 1u << at) == 0)
        return iris_wire_fail (check, IRIS_WIRE_ERROR_MALFORMED, "key %u (%s) is missing",
                               record->fields[at].key, record->fields[at].name);
    }
  return TRUE;
}

gboolean
iris_wire_record_decode (const IrisWireRecord *record,
                         const IrisWireRecordField *bare,
                         gpointer value,
                         const char *what,
                         IrisWireFrame body,
                         const IrisWireLimits *limits,
                         GError **error)
{
  IrisWireCheck check;
  IrisWireReader reader;

  iris_wire_check_init (&check, limits, what, error);
  if (body.size > check.limits->max_body)
    return iris_wire_fail_limit (&check, "body", body.size, "bytes", "max-body",
                                 check.limits->max_body);
  iris_wire_reader_init (&reader, body.data, body.size);
  if ((bare != NULL ? decode_list (bare, value, &reader, &check)
                    : decode_record (record, value, &reader, &check))
      && iris_wire_reader_finish (&reader, &check))
    return TRUE;
  iris_wire_record_clear (record, value);
  return FALSE;
}

void
iris_wire_record_own (const IrisWireRecord *record, gpointer value)
{
  for (guint i = 0; i < record->n_fields; i++)
    {
      const IrisWireRecordField *field = &record->fields[i];
      gpointer *owned = AT (value, field->offset, gpointer);

      if (field->kind == IRIS_WIRE_RECORD_STRING)
        *owned = g_strdup (*owned);
      else if (field->kind == IRIS_WIRE_RECORD_TEXTS)
        *owned = g_strdupv (*owned);
      else if (field->kind == IRIS_WIRE_RECORD_NUMBERS)
        *owned = g_memdup2 (*owned, *AT (value, field->count_offset, guint32) * sizeof (guint32));
      else if (field->kind == IRIS_WIRE_RECORD_LIST)
        {
          guint n = *AT (value, field->count_offset, guint);
          *owned = g_memdup2 (*owned, n * field->element->size);
          for (guint j = 0; j < n; j++)
            iris_wire_record_own (field->element, (char *) *owned + j * field->element->size);
        }
    }
}

void
iris_wire_record_clear (const IrisWireRecord *record, gpointer value)
{
  for (guint i = 0; i < record->n_fields; i++)
    {
      const IrisWireRecordField *field = &record->fields[i];

      if (field->kind == IRIS_WIRE_RECORD_LIST)
        {
          char *elements = *AT (value, field->offset, char *);
          guint n = *AT (value, field->count_offset, guint);
          for (guint j = 0; j < n; j++)
            iris_wire_record_clear (field->element, elements + j * field->element->size);
        }
      if (field->kind == IRIS_WIRE_RECORD_TEXTS)
        g_strfreev (*AT (value, field->offset, char **));
      else if (field->kind >= IRIS_WIRE_RECORD_STRING)
        g_free (*AT (value, field->offset, gpointer));
    }
  memset (value, 0, record->size);
}
