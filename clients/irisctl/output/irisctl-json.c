/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Printing JSON: short hands for json-glib's builder.
 */
#include "clients/irisctl/output/irisctl-output.h"

#include <stdio.h>
#include <string.h>

void
ctl_json_string (JsonBuilder *builder, const char *name, const char *value)
{
  json_builder_set_member_name (builder, name);
  json_builder_add_string_value (builder, value);
}

void
ctl_json_int (JsonBuilder *builder, const char *name, gint64 value)
{
  json_builder_set_member_name (builder, name);
  json_builder_add_int_value (builder, value);
}

void
ctl_json_double (JsonBuilder *builder, const char *name, gdouble value)
{
  json_builder_set_member_name (builder, name);
  json_builder_add_double_value (builder, value);
}

void
ctl_json_bool (JsonBuilder *builder, const char *name, gboolean value)
{
  json_builder_set_member_name (builder, name);
  json_builder_add_boolean_value (builder, value);
}

void
ctl_json_bytes (JsonBuilder *builder, const char *name, GBytes *bytes)
{
  gsize size;
  const char *data = g_bytes_get_data (bytes, &size);

  /* Not g_utf8_validate() alone: a string with a NUL in it would be cut there. */
  if (size == 0 || g_utf8_validate_len (data, size, NULL))
    {
      g_autofree char *text = g_strndup (size > 0 ? data : "", size);

      ctl_json_string (builder, name, text);
    }
  else
    {
      g_autofree char *encoded = g_base64_encode ((const guchar *) data, size);
      g_autofree char *other_name = g_strconcat (name, "_base64", NULL);

      ctl_json_string (builder, other_name, encoded);
    }
}

/* As few digits as give the same number when they are read. */
static void
append_double (GString *out, double value)
{
  char digits[G_ASCII_DTOSTR_BUF_SIZE];
  static const char *const formats[] = { "%.15g", "%.16g", "%.17g" };

  for (guint i = 0; i < G_N_ELEMENTS (formats); i++)
    {
      g_ascii_formatd (digits, sizeof digits, formats[i], value);
      if (!(g_ascii_strtod (digits, NULL) < value || g_ascii_strtod (digits, NULL) > value))
        break;
    }
  g_string_append (out, digits);
  if (strpbrk (digits, ".e") == NULL)
    g_string_append (out, ".0");
}

/* json-glib gives each number that is not an integer seventeen digits, as 0.10000000000000001. */
static char *
shorten_numbers (const char *text)
{
  GString *out = g_string_new (NULL);
  gboolean in_string = FALSE;

  for (const char *c = text; *c != '\0';)
    {
      gsize n = in_string ? 0 : strspn (c, "-+.0123456789eE");

      if (n > 0 && (*c == '-' || g_ascii_isdigit (*c)))
        {
          if (strcspn (c, ".eE") < n)
            append_double (out, g_ascii_strtod (c, NULL));
          else
            g_string_append_len (out, c, (gssize) n);
          c += n;
          continue;
        }
      if (in_string && *c == '\\')
        g_string_append_c (out, *c++);
      else if (*c == '"')
        in_string = !in_string;
      g_string_append_c (out, *c++);
    }

  return g_string_free (out, FALSE);
}

char *
ctl_json_to_text (JsonBuilder *builder, gboolean pretty)
{
  g_autoptr (JsonNode) root = json_builder_get_root (builder);
  g_autoptr (JsonGenerator) generator = json_generator_new ();
  g_autofree char *text = NULL;

  json_generator_set_pretty (generator, pretty);
  json_generator_set_root (generator, root);
  text = json_generator_to_data (generator, NULL);

  return shorten_numbers (text);
}

static void
print_root (JsonBuilder *builder, gboolean pretty, const char *end)
{
  g_autofree char *text = ctl_json_to_text (builder, pretty);

  fputs (text, stdout);
  fputs (end, stdout);
}

void
ctl_json_print (JsonBuilder *builder)
{
  print_root (builder, TRUE, "\n");
}

void
ctl_json_print_line (JsonBuilder *builder)
{
  print_root (builder, FALSE, "\n");
}

void
ctl_json_print_int (const char *name, gint64 value)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();

  json_builder_begin_object (builder);
  ctl_json_int (builder, name, value);
  json_builder_end_object (builder);
  ctl_json_print (builder);
}

void
ctl_json_print_strings (const char *name, const char *const *values)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();

  json_builder_begin_object (builder);
  json_builder_set_member_name (builder, name);
  json_builder_begin_array (builder);
  for (guint i = 0; values[i] != NULL; i++)
    json_builder_add_string_value (builder, values[i]);
  json_builder_end_array (builder);
  json_builder_end_object (builder);
  ctl_json_print (builder);
}

void
ctl_json_array_begin (CtlJsonArray *self)
{
  *self = (CtlJsonArray){ .builder = json_builder_new () };
  fputs ("[", stdout);
}

static void
print_element (CtlJsonArray *self)
{
  if (!self->open)
    return;
  self->open = FALSE;
  fputs (self->n > 1 ? ",\n" : "\n", stdout);
  print_root (self->builder, FALSE, "");
  json_builder_reset (self->builder);
}

JsonBuilder *
ctl_json_array_next (CtlJsonArray *self)
{
  print_element (self);
  self->n++;
  self->open = TRUE;

  return self->builder;
}

void
ctl_json_array_flush (CtlJsonArray *self)
{
  print_element (self);
  fflush (stdout);
}

void
ctl_json_array_end (CtlJsonArray *self)
{
  print_element (self);
  fputs (self->n > 0 ? "\n]\n" : "]\n", stdout);
  g_clear_object (&self->builder);
}
