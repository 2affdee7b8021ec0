/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Bytes from outside, made fit for a message.
 */
#include "daemon/base/irisd-text.h"

/* Returns valid UTF-8 without control characters, cut and marked if it was longer than
 * @max_characters. @size is -1 if @bytes end with a NUL. */
char *
irisd_text_quote (const char *bytes, gssize size, guint max_characters)
{
  if (bytes == NULL)
    return g_strdup ("");
  g_autofree char *text = g_utf8_make_valid (bytes, size);
  g_autoptr (GString) quoted = g_string_new (NULL);
  const char *c = text;
  for (guint n = 0; *c != '\0' && n < max_characters; n++, c = g_utf8_next_char (c))
    {
      gunichar character = g_utf8_get_char (c);
      g_string_append_unichar (quoted, g_unichar_iscntrl (character) ? '?' : character);
    }
  if (*c != '\0')
    g_string_append (quoted, "…");
  return g_string_free (g_steal_pointer (&quoted), FALSE);
}
