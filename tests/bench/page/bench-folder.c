/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A folder with all forms of a report, to be read and to be kept.
 *
 * JSON is written to be kept: a line for each series, and numbers with seven digits, which is more
 * than any clock knows. So two reports differ in the lines of what was measured, and a full run
 * stays at about a megabyte.
 */
#include "tests/bench/page/bench-drawing.h"
#include "tests/bench/page/bench-markdown.h"
#include "tests/bench/page/bench-page.h"
#include "tests/bench/measure/bench-measure.h"
#include "tests/bench/report/bench-json-reader.h"
#include "tests/bench/report/bench-report.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <unistd.h>

#define CHARTS "charts"

gboolean
bench_page_check (const char *folder, GError **error)
{
  g_autofree char *charts = g_build_filename (folder, CHARTS, NULL);

  if (g_mkdir_with_parents (charts, 0755) == 0 && g_access (folder, W_OK | X_OK) == 0
      && g_access (charts, W_OK | X_OK) == 0)
    return TRUE;
  g_set_error (error, BENCH_ERROR, BENCH_ERROR_ARGUMENT,
               "cannot write a report to %s: %s; name another folder", folder, g_strerror (errno));

  return FALSE;
}

static gboolean
write_file (const char *folder, const char *name, const char *text, GError **error)
{
  g_autofree char *path = g_build_filename (folder, name, NULL);

  return g_file_set_contents (path, text, -1, error);
}

/* --- JSON ------------------------------------------------------------------------------------- */

static gboolean
shorten (const GMatchInfo *match, GString *out, gpointer data)
{
  g_autofree char *number = g_match_info_fetch (match, 0);
  char text[G_ASCII_DTOSTR_BUF_SIZE];

  g_string_append (out, g_ascii_formatd (text, sizeof text, "%.7g", g_ascii_strtod (number, NULL)));

  return FALSE;
}

/* Strings of a report have no number of that many digits, nor a series. */
static char *
write_json (JsonNode *report)
{
  g_autofree char *whole = json_to_string (report, FALSE);
  g_autoptr (GRegex) numbers = g_regex_new ("-?\\d+\\.\\d{7,}(?:e[-+]?\\d+)?", 0, 0, NULL);
  g_autofree char *shorter = g_regex_replace_eval (numbers, whole, -1, 0, 0, shorten, NULL, NULL);
  g_auto (GStrv) results = g_strsplit (shorter, "{\"workload\":", -1);
  g_autofree char *lines = g_strjoinv ("\n{\"workload\":", results);
  g_auto (GStrv) series = g_strsplit (lines, "{\"load\":", -1);
  g_autofree char *text = g_strjoinv ("\n{\"load\":", series);

  return g_strconcat (text, "\n", NULL);
}

/* --- charts ----------------------------------------------------------------------------------- */

static gboolean
write_drawing (const char *folder, const char *name, char *drawing, GError **error)
{
  g_autofree char *text = drawing, *file = g_strconcat (name, ".svg", NULL);

  return text == NULL || write_file (folder, file, text, error);
}

static gboolean
write_charts (JsonNode *report, const char *folder, GError **error)
{
  JsonArray *results = bench_json_array (bench_json_report (report), "results");
  g_autofree char *charts = g_build_filename (folder, CHARTS, NULL);

  for (guint i = 0; i < bench_json_length (results); i++)
    {
      const char *name = bench_json_text (bench_json_object_at (results, i), "workload");

      if (name != NULL && !write_drawing (charts, name, bench_drawing_new (report, name), error))
        return FALSE;
    }

  return write_drawing (folder, "summary", bench_drawing_summary (report), error);
}

/* All is made of what is kept, so that it can be made again. */
gboolean
bench_page_write (JsonNode *measured, const char *folder, GError **error)
{
  g_autofree char *index = g_build_filename (folder, "index.html", NULL);
  g_autofree char *json = write_json (measured);
  g_autoptr (JsonNode) report = json_from_string (json, error);
  g_autofree char *samples = report != NULL ? bench_csv_of_samples (report) : NULL;
  g_autofree char *words = report != NULL ? bench_markdown_new (report) : NULL;

  return words != NULL && samples != NULL && bench_page_save (report, index, error)
         && write_file (folder, "report.json", json, error)
         && write_file (folder, "report.md", words, error)
         && write_file (folder, "samples.csv", samples, error)
         && write_charts (report, folder, error);
}
