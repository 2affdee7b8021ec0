/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Writes JSON into a string, member by member.
 */
#include "clients/web/base/web-json.h"

#include <math.h>
#include <string.h>

void
web_append_number (GString *text, guint64 value)
{
  char digits[20];
  guint at = sizeof digits;

  do
    {
      digits[--at] = (char) ('0' + value % 10);
      value /= 10;
    }
  while (value > 0);
  g_string_append_len (text, digits + at, (gssize) (sizeof digits - at));
}

void
web_append_real (GString *text, double value)
{
  char digits[G_ASCII_DTOSTR_BUF_SIZE];

  if (value >= 0 && value < 1e15 && !(value > floor (value)))
    web_append_number (text, (guint64) value);
  else
    g_string_append (text, g_ascii_formatd (digits, sizeof digits, "%.6g", value));
}

static void
append_quoted (GString *text, const char *value)
{
  g_autofree char *valid = NULL;
  const char *from;

  if (!g_utf8_validate (value, -1, NULL))
    value = valid = g_utf8_make_valid (value, -1);
  g_string_append_c (text, '"');
  for (from = value; *value != '\0'; value++)
    {
      guchar c = (guchar) *value;

      if (c >= 0x20 && c != '"' && c != '\\' && c != 0x7f)
        continue;
      g_string_append_len (text, from, value - from);
      from = value + 1;
      if (c == '"' || c == '\\')
        g_string_append_printf (text, "\\%c", c);
      else
        g_string_append_printf (text, "\\u%04x", c);
    }
  g_string_append_len (text, from, value - from);
  g_string_append_c (text, '"');
}

static void
append_name (WebJson *self, const char *name)
{
  if (self->comma)
    g_string_append_c (self->text, ',');
  self->comma = TRUE;
  if (name == NULL)
    return;
  g_string_append_c (self->text, '"');
  g_string_append (self->text, name);
  g_string_append (self->text, "\":");
}

void
web_json_begin (WebJson *self, const char *name, char bracket)
{
  append_name (self, name);
  g_string_append_c (self->text, bracket);
  self->comma = FALSE;
}

void
web_json_end (WebJson *self, char bracket)
{
  g_string_append_c (self->text, bracket);
  self->comma = TRUE;
}

void
web_json_text (WebJson *self, const char *name, const char *value)
{
  append_name (self, name);
  append_quoted (self->text, value != NULL ? value : "");
}

void
web_json_number (WebJson *self, const char *name, guint64 value)
{
  append_name (self, name);
  web_append_number (self->text, value);
}

void
web_json_signed (WebJson *self, const char *name, gint64 value)
{
  append_name (self, name);
  if (value < 0)
    g_string_append_c (self->text, '-');
  web_append_number (self->text, value < 0 ? (guint64) 0 - (guint64) value : (guint64) value);
}

void
web_json_real (WebJson *self, const char *name, double value)
{
  append_name (self, name);
  if (isfinite (value))
    web_append_real (self->text, value);
  else
    g_string_append (self->text, "null");
}

void
web_json_bool (WebJson *self, const char *name, gboolean value)
{
  append_name (self, name);
  g_string_append (self->text, value ? "true" : "false");
}

void
web_json_bytes (WebJson *self, const char *name, const void *data, gsize size)
{
  g_autofree char *text = NULL;

  if (size == 0 || g_utf8_validate_len (data, size, NULL))
    {
      text = g_strndup (size > 0 ? data : "", size);
      web_json_text (self, name, text);
    }
  else
    {
      g_autofree char *other_name = g_strconcat (name, "_base64", NULL);

      text = g_base64_encode (data, size);
      web_json_text (self, other_name, text);
    }
}
