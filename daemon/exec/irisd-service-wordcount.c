/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The service `wordcount`: lines, words and bytes of a file or of the payload.
 *
 * A line is a newline character; a word is a longest run of bytes that are not white space of the C
 * locale. That is what wc(1) counts under LC_ALL=C.
 */
#include "daemon/exec/irisd-input.h"

#include <string.h>

typedef struct
{
  guint64 lines;
  guint64 words;
  guint64 bytes;
  gboolean in_word;
} Counts;

static inline gboolean
is_space (guint8 byte)
{
  return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

static void
count (const guint8 *data, gsize size, gpointer user_data)
{
  Counts *counts = user_data;
  gboolean in_word = counts->in_word;
  for (gsize i = 0; i < size; i++)
    {
      gboolean space = is_space (data[i]);
      counts->lines += data[i] == '\n';
      counts->words += !space && !in_word;
      in_word = !space;
    }
  counts->in_word = in_word;
  counts->bytes += size;
}

static void
run (IrisdJob *job)
{
  Counts counts = { 0 };
  if (!irisd_input_each (job, count, &counts))
    return;
  char *text = g_strdup_printf ("%" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT,
                                counts.lines, counts.words, counts.bytes);
  irisd_job_take_result (job, text, strlen (text), "text/plain");
}

const IrisdService irisd_service_wordcount = {
  .name = "wordcount",
  .summary = "lines, words and bytes of a file (path) or of the payload",
  .check = irisd_input_check,
  .brief = TRUE,
  .run = run,
};
