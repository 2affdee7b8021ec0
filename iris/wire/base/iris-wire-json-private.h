/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What is looked for in JSON text from outside before json-glib reads it.
 *
 * json-glib 1.6 calls itself for each bracket within another without a limit: 200 kB of "[" would
 * use up the stack. Of several values after each other it takes the last one as the whole, and
 * never frees the others. It also reads comments and texts in single quotes, in which brackets
 * could hide from this look.
 */
#pragma once

#include <glib.h>
#include <string.h>

/* More brackets within each other than any message of irisd, its clients or NATS has. */
#define IRIS_WIRE_JSON_MOST_DEPTH 64
/* It is in a text of iris_wire_json_fault(). */
G_STATIC_ASSERT (IRIS_WIRE_JSON_MOST_DEPTH == 64);

/* What is wrong with @data of @length bytes, as a static text that ends a sentence. NULL if
 * json-glib may read it: it is one object, as far as brackets tell, or the beginning of one. */
static inline const char *
iris_wire_json_fault (const char *data, gsize length)
{
  guint depth = 0;
  gboolean in_text = FALSE, ended = FALSE;

  for (gsize i = 0; i < length; i++)
    {
      const char c = data[i];
      if (in_text)
        {
          i += c == '\\';
          in_text = c != '"';
        }
      else if (c == ' ' || c == '\t' || c == '\r' || c == '\n')
        continue;
      else if (ended)
        return "something follows the object";
      else if (depth == 0 && c != '{')
        return "it is no JSON object";
      else if (c == '"')
        in_text = TRUE;
      else if (c == '/' || c == '#' || c == '\'')
        return "it has a comment or single quotes, which JSON does not know";
      else if (c == '{' || c == '[')
        {
          if (++depth > IRIS_WIRE_JSON_MOST_DEPTH)
            return "more than 64 brackets lie within each other";
        }
      else if (c == '}' || c == ']')
        ended = --depth == 0;
    }

  return ended || depth > 0 ? NULL : "it is no JSON object";
}
