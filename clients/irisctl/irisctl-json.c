/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * JSON for programs that read irisctl.
 *
 * A value that may be any bytes is a string if it is UTF-8; if not it is base64, under the name
 * with “-base64” behind it.
 */
#include "irisctl-json.h"

void
irisctl_json_string (JsonBuilder *builder, const char *name, const char *value)
{
  g_autofree char *valid = value != NULL ? g_utf8_make_valid (value, -1) : NULL;

  json_builder_set_member_name (builder, name);
  if (valid != NULL)
    json_builder_add_string_value (builder, valid);
  else
    json_builder_add_null_value (builder);
}

void
irisctl_json_int (JsonBuilder *builder, const char *name, gint64 value)
{
  json_builder_set_member_name (builder, name);
  json_builder_add_int_value (builder, value);
}

void
irisctl_json_double (JsonBuilder *builder, const char *name, double value)
{
  json_builder_set_member_name (builder, name);
  json_builder_add_double_value (builder, value);
}

void
irisctl_json_boolean (JsonBuilder *builder, const char *name, gboolean value)
{
  json_builder_set_member_name (builder, name);
  json_builder_add_boolean_value (builder, value);
}

void
irisctl_json_bytes (JsonBuilder *builder, const char *name, GBytes *bytes)
{
  gsize size;
  const char *data = g_bytes_get_data (bytes, &size);
  g_autofree char *text = NULL;
  g_autofree char *base64_name = NULL;

  if (size == 0 || g_utf8_validate_len (data, size, NULL))
    {
      text = g_strndup (size > 0 ? data : "", size);
      irisctl_json_string (builder, name, text);
      return;
    }
  base64_name = g_strconcat (name, "-base64", NULL);
  text = g_base64_encode ((const guchar *) data, size);
  irisctl_json_string (builder, base64_name, text);
}

/* Prints what was built. */
void
irisctl_json_print (JsonBuilder *builder)
{
  g_autoptr (JsonNode) root = json_builder_get_root (builder);
  g_autoptr (JsonGenerator) generator = json_generator_new ();
  g_autofree char *text = NULL;

  json_generator_set_root (generator, root);
  json_generator_set_pretty (generator, TRUE);
  text = json_generator_to_data (generator, NULL);
  g_print ("%s\n", text);
}
