/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Text for terminals of the usual width.
 */
#include "tests/bench/report/bench-text.h"

static guint
width_of (const char *text)
{
  return (guint) g_utf8_strlen (text, -1);
}

char *
bench_text_pad (const char *text, guint width)
{
  guint missing = MAX (width, width_of (text)) - width_of (text);

  return g_strdup_printf ("%s%*s", text, (int) missing, "");
}

void
bench_text_print (const char *text, const char *head, guint indent)
{
  g_auto (GStrv) words = g_strsplit (text, " ", -1);
  g_autofree char *first = bench_text_pad (head, indent);
  guint column = width_of (first);
  gboolean is_first = TRUE;

  g_print ("%s", first);
  for (guint i = 0; words[i] != NULL; i++)
    {
      guint width = width_of (words[i]);

      if (!is_first && column + 1 + width > BENCH_COLUMNS)
        {
          g_print ("\n%*s", (int) indent, "");
          column = indent;
          is_first = TRUE;
        }
      g_print ("%s%s", is_first ? "" : " ", words[i]);
      column += width + !is_first;
      is_first = FALSE;
    }
  g_print ("\n");
}
