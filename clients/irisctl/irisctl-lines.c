/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Lines like those of sha256sum.
 *
 * A path with a newline, a carriage return or a backslash in it would break the line, or be taken
 * for another. It is escaped, and a backslash before the line says so, as sha256sum has it.
 */
#include "irisctl-lines.h"

#include <string.h>

static void
append_escaped (GString *line, const char *path)
{
  for (const char *c = path; *c != '\0'; c++)
    switch (*c)
      {
      case '\n':
        g_string_append (line, "\\n");
        break;
      case '\r':
        g_string_append (line, "\\r");
        break;
      case '\\':
        g_string_append (line, "\\\\");
        break;
      default:
        g_string_append_c (line, *c);
      }
}

/* “RESULT  PATH” with its newline. */
char *
irisctl_line (const char *result, const char *path)
{
  GString *line = g_string_new (strpbrk (path, "\n\r\\") != NULL ? "\\" : "");

  g_string_append (line, result);
  g_string_append (line, "  ");
  append_escaped (line, path);
  g_string_append_c (line, '\n');
  return g_string_free (line, FALSE);
}
