/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * One message of the protocol as a plain struct: making it, and printing it for people that debug.
 */
#include "iris-wire-message.h"

#include "iris-wire-field-private.h"

#include <string.h>

/* A sentence is for a person: longer text is cut. */
#define LONGEST_MESSAGE 1024

void
iris_wire_message_init (IrisWireMessage *self, IrisWireType type, const guint8 *request_id)
{
  g_return_if_fail (self != NULL);

  memset (self, 0, sizeof *self);
  self->type = (guint8) type;
  if (request_id != NULL)
    memcpy (self->request_id, request_id, IRIS_WIRE_ID_SIZE);
  self->socket_place = -1;
  self->hint = -1;
  self->home = -1;
  self->place = -1;
  self->worker = -1;
}

/* The key's field if it is of that kind. */
static const IrisWireField *
field_of_kind (guint key, IrisWireKind kind)
{
  if (key < IRIS_WIRE_N_KEYS && iris_wire_fields[key].kind == kind)
    return &iris_wire_fields[key];
  return NULL;
}

void
iris_wire_message_set_uint (IrisWireMessage *self, IrisWireKey key, guint64 value)
{
  const IrisWireField *narrow = field_of_kind (key, IRIS_WIRE_KIND_UINT32);
  const IrisWireField *wide = field_of_kind (key, IRIS_WIRE_KIND_UINT64);

  g_return_if_fail (narrow != NULL || wide != NULL);
  g_return_if_fail (wide != NULL || value <= G_MAXUINT32);

  if (wide != NULL)
    *IRIS_WIRE_FIELD (self, wide, guint64) = value;
  else
    *IRIS_WIRE_FIELD (self, narrow, guint32) = (guint32) value;
  self->present |= IRIS_WIRE_BIT (key);
}

void
iris_wire_message_set_int (IrisWireMessage *self, IrisWireKey key, gint32 value)
{
  const IrisWireField *field = field_of_kind (key, IRIS_WIRE_KIND_INT32);

  g_return_if_fail (field != NULL);

  *IRIS_WIRE_FIELD (self, field, gint32) = value;
  self->present |= IRIS_WIRE_BIT (key);
}

void
iris_wire_message_set_boolean (IrisWireMessage *self, IrisWireKey key, gboolean value)
{
  const IrisWireField *field = field_of_kind (key, IRIS_WIRE_KIND_BOOLEAN);

  g_return_if_fail (field != NULL);

  *IRIS_WIRE_FIELD (self, field, gboolean) = value != FALSE;
  self->present |= IRIS_WIRE_BIT (key);
}

void
iris_wire_message_set_string (IrisWireMessage *self, IrisWireKey key, const char *data, gssize len)
{
  const IrisWireField *text = field_of_kind (key, IRIS_WIRE_KIND_STRING);
  const IrisWireField *raw = text != NULL ? text : field_of_kind (key, IRIS_WIRE_KIND_RAW);
  const IrisWireField *field = raw != NULL ? raw : field_of_kind (key, IRIS_WIRE_KIND_DATA);

  g_return_if_fail (field != NULL);
  g_return_if_fail (data != NULL);

  *IRIS_WIRE_FIELD (self, field, IrisWireString) = (IrisWireString){ data, len < 0 ? strlen (data)
                                                                                   : (gsize) len };
  self->present |= IRIS_WIRE_BIT (key);
}

void
iris_wire_message_set_args (IrisWireMessage *self, const char *const *args)
{
  g_return_if_fail (self != NULL);
  g_return_if_fail (args != NULL);

  iris_wire_message_set_list (self, IRIS_WIRE_KEY_ARGS, args);
}

void
iris_wire_message_set_list (IrisWireMessage *self, IrisWireKey key, const char *const *list)
{
  const IrisWireField *field = field_of_kind (key, IRIS_WIRE_KIND_ARGS);

  g_return_if_fail (field != NULL);
  g_return_if_fail (list != NULL);

  *IRIS_WIRE_FIELD (self, field,
                    IrisWireArgs) = (IrisWireArgs){ .n = g_strv_length ((char **) list),
                                                    .strv = list };
  self->present |= IRIS_WIRE_BIT (key);
}

void
iris_wire_message_set_numbers (IrisWireMessage *self,
                               IrisWireKey key,
                               const guint64 *values,
                               guint n)
{
  const IrisWireField *field = field_of_kind (key, IRIS_WIRE_KIND_NUMBERS);

  g_return_if_fail (field != NULL);
  g_return_if_fail (values != NULL || n == 0);

  *IRIS_WIRE_FIELD (self, field, IrisWireNumbers) = (IrisWireNumbers){ .n = n, .values = values };
  self->present |= IRIS_WIRE_BIT (key);
}

void
iris_wire_message_set_target (IrisWireMessage *self, const guint8 *target)
{
  g_return_if_fail (self != NULL);
  g_return_if_fail (target != NULL);

  memcpy (self->target, target, IRIS_WIRE_ID_SIZE);
  self->present |= IRIS_WIRE_BIT (IRIS_WIRE_KEY_TARGET);
}

void
iris_wire_message_set_cluster_item (IrisWireMessage *self, const guint8 *cluster_item)
{
  g_return_if_fail (self != NULL);
  g_return_if_fail (cluster_item != NULL);

  memcpy (self->cluster_item, cluster_item, IRIS_WIRE_ID_SIZE);
  self->present |= IRIS_WIRE_BIT (IRIS_WIRE_KEY_CLUSTER_ITEM);
}

void
iris_wire_message_set_body (IrisWireMessage *self, gconstpointer data, gsize size)
{
  g_return_if_fail (self != NULL);
  g_return_if_fail (data != NULL || size == 0);

  self->body = (IrisWireFrame){ data, size };
}

void
iris_wire_message_set_error (IrisWireMessage *self, const GError *error)
{
  g_return_if_fail (self != NULL);
  g_return_if_fail (error != NULL);

  guint code = IRIS_WIRE_ERROR_INTERNAL;
  if (error->domain == IRIS_WIRE_ERROR && error->code >= 1 && error->code <= IRIS_WIRE_N_ERRORS)
    code = (guint) error->code;

  const char *reason = error->message;
  gsize len = strlen (reason);
  if (!g_utf8_validate_len (reason, len, NULL))
    {
      reason = iris_wire_error_message (code);
      len = strlen (reason);
    }
  if (len > LONGEST_MESSAGE)
    len = (gsize) (g_utf8_find_prev_char (reason, reason + LONGEST_MESSAGE + 1) - reason);

  iris_wire_message_set_uint (self, IRIS_WIRE_KEY_CODE, code);
  iris_wire_message_set_string (self, IRIS_WIRE_KEY_ERROR_NAME, iris_wire_error_name (code), -1);
  iris_wire_message_set_string (self, IRIS_WIRE_KEY_MESSAGE, reason, (gssize) len);
}

GError *
iris_wire_message_to_error (const IrisWireMessage *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  guint code = iris_wire_message_has (self, IRIS_WIRE_KEY_CODE) ? self->code
                                                                : IRIS_WIRE_ERROR_INTERNAL;
  if (self->message.len == 0)
    return g_error_new_literal (IRIS_WIRE_ERROR, (gint) code, iris_wire_error_message (code));

  g_autofree char *reason = iris_wire_string_dup (&self->message);
  return g_error_new_literal (IRIS_WIRE_ERROR, (gint) code, reason);
}

/* Strings longer than this are cut; a log line should stay one. */
#define LONGEST_SHOWN 64

static void
append_string (GString *out, const IrisWireString *string)
{
  g_autofree char *cut = g_strndup (string->data != NULL ? string->data : "",
                                    MIN (string->len, LONGEST_SHOWN));
  g_autofree char *escaped = g_strescape (cut, NULL);

  g_string_append_printf (out, "\"%s\"%s", escaped, string->len > LONGEST_SHOWN ? "..." : "");
}

static void
append_data (GString *out, const IrisWireString *data)
{
  for (gsize i = 0; i < MIN (data->len, LONGEST_SHOWN); i++)
    g_string_append_printf (out, "%02x", (guint8) data->data[i]);
  g_string_append (out, data->len > LONGEST_SHOWN ? "..." : "");
}

static void
append_id (GString *out, const guint8 *id)
{
  for (guint i = 0; i < IRIS_WIRE_ID_SIZE; i++)
    g_string_append_printf (out, "%02x", id[i]);
}

static void
append_args (GString *out, const IrisWireArgs *args)
{
  IrisWireArgsIter iter;
  IrisWireString arg;

  g_string_append_c (out, '[');
  iris_wire_args_iter_init (&iter, args);
  for (guint i = 0; iris_wire_args_iter_next (&iter, &arg); i++)
    {
      if (i > 0)
        g_string_append (out, ", ");
      append_string (out, &arg);
    }
  g_string_append_c (out, ']');
}

static void
append_numbers (GString *out, const IrisWireNumbers *numbers)
{
  g_autofree guint64 *values = g_new (guint64, numbers->n);

  iris_wire_numbers_read (numbers, values);
  g_string_append_c (out, '[');
  for (guint i = 0; i < numbers->n; i++)
    g_string_append_printf (out, "%s%" G_GUINT64_FORMAT, i > 0 ? ", " : "", values[i]);
  g_string_append_c (out, ']');
}

static void
append_field (GString *out, const IrisWireMessage *self, const IrisWireField *field)
{
  switch ((IrisWireKind) field->kind)
    {
    case IRIS_WIRE_KIND_UINT32:
      g_string_append_printf (out, "%u", *IRIS_WIRE_CONST_FIELD (self, field, guint32));
      break;
    case IRIS_WIRE_KIND_UINT64:
      g_string_append_printf (out, "%" G_GUINT64_FORMAT,
                              *IRIS_WIRE_CONST_FIELD (self, field, guint64));
      break;
    case IRIS_WIRE_KIND_INT32:
      g_string_append_printf (out, "%d", *IRIS_WIRE_CONST_FIELD (self, field, gint32));
      break;
    case IRIS_WIRE_KIND_BOOLEAN:
      g_string_append (out, *IRIS_WIRE_CONST_FIELD (self, field, gboolean) ? "true" : "false");
      break;
    case IRIS_WIRE_KIND_STRING:
    case IRIS_WIRE_KIND_RAW:
      append_string (out, IRIS_WIRE_CONST_FIELD (self, field, IrisWireString));
      break;
    case IRIS_WIRE_KIND_DATA:
      append_data (out, IRIS_WIRE_CONST_FIELD (self, field, IrisWireString));
      break;
    case IRIS_WIRE_KIND_ID:
      append_id (out, IRIS_WIRE_CONST_FIELD (self, field, guint8));
      break;
    case IRIS_WIRE_KIND_ARGS:
      append_args (out, IRIS_WIRE_CONST_FIELD (self, field, IrisWireArgs));
      break;
    case IRIS_WIRE_KIND_NUMBERS:
      append_numbers (out, IRIS_WIRE_CONST_FIELD (self, field, IrisWireNumbers));
      break;
    case IRIS_WIRE_KIND_NONE:
      g_string_append_c (out, '?');
      break;
    }
}

char *
iris_wire_message_to_string (const IrisWireMessage *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  const char *name = iris_wire_type_name (self->type);
  GString *out = g_string_new (name);
  if (name == NULL)
    g_string_append_printf (out, "type 0x%02x", self->type);
  g_string_append_c (out, ' ');
  append_id (out, self->request_id);
  g_string_append (out, " {");
  const char *separator = "";
  for (IrisWireKeys rest = self->present; rest != 0; rest &= rest - 1)
    {
      const IrisWireField *field = &iris_wire_fields[iris_wire_keys_first (rest)];
      g_string_append_printf (out, "%s%s: ", separator, field->name != NULL ? field->name : "?");
      append_field (out, self, field);
      separator = ", ";
    }
  g_string_append_printf (out, "} %" G_GSIZE_FORMAT " bytes", self->body.size);
  return g_string_free (out, FALSE);
}
