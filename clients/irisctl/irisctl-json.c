/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Printing JSON: short hands for json-glib's builder.
 */
#include "irisctl-json.h"

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

void
ctl_json_print (JsonBuilder *builder)
{
  g_autoptr (JsonNode) root = json_builder_get_root (builder);
  g_autoptr (JsonGenerator) generator = json_generator_new ();
  g_autofree char *text = NULL;

  json_generator_set_pretty (generator, TRUE);
  json_generator_set_root (generator, root);
  text = json_generator_to_data (generator, NULL);
  g_print ("%s\n", text);
}
