/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A message as one line for people that debug.
 */
#include "iris-wire-field-private.h"

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
