/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The log: a pipe that is not read holds up no thread that logs.
 */
#include "core-test-run.h"

#include "daemon/base/irisd-log.h"
#include "daemon/base/irisd-text.h"

#include <check.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define N_LINES 5000

/* Lines that are there whole. */
static guint64
count_lines (const char *text)
{
  guint64 n = 0;
  for (const char *at = text; (at = strstr (at, "irisd: line ")) != NULL; at++)
    n += strchr (at, '\n') != NULL;
  return n;
}

static guint64
count_dropped (const char *text)
{
  static const char warning[] = "warning: ";
  guint64 n = 0;
  for (const char *at = text; (at = strstr (at, warning)) != NULL; at++)
    if (strchr (at, '\n') != NULL)
      n += g_ascii_strtoull (at + strlen (warning), NULL, 10);
  return n;
}

TEST (a_log_that_is_not_read_drops_lines_and_counts_them)
{
  int ends[2], before = dup (STDERR_FILENO);
  ck_assert_int_eq (pipe2 (ends, O_CLOEXEC), 0);
  ck_assert_int_eq (dup2 (ends[1], STDERR_FILENO), STDERR_FILENO);
  close (ends[1]);
  irisd_log_start_writer ();
  for (guint i = 0; i < N_LINES; i++)
    irisd_log (IRISD_LOG_INFO, "line %u %0100u", i, i);
  ck_assert_int_eq (fcntl (STDERR_FILENO, F_GETFL) & O_NONBLOCK, 0);

  /* Whatever the writer was quick enough for: each line is there or counted, once. */
  g_autoptr (GString) text = g_string_new (NULL);
  guint64 dropped = 0;
  while (count_lines (text->str) + (dropped = count_dropped (text->str)) < N_LINES)
    {
      char piece[4096];
      ssize_t n = read (ends[0], piece, sizeof piece);
      ck_assert_int_gt (n, 0);
      g_string_append_len (text, piece, n);
    }
  ck_assert_uint_eq (count_lines (text->str) + dropped, N_LINES);
  ck_assert_uint_gt (dropped, 0);
  irisd_log_end_writer ();
  ck_assert_int_eq (dup2 (before, STDERR_FILENO), STDERR_FILENO);
  close (before);
  close (ends[0]);
}

TEST (a_noisy_place_in_the_log_is_persistent_short)
{
  IrisdLogSite site = { 0 };
  gboolean admitted = FALSE;
  gint64 now = 1000;
  guint through = 0;
  for (guint i = 0; i < 100; i++)
    {
      ck_assert_uint_eq (irisd_log_site_admit (&site, now, &admitted), 0);
      through += admitted;
    }
  ck_assert_uint_eq (through, IRISD_LOG_LINES_PER_SECOND);
  ck_assert_uint_eq (irisd_log_site_admit (&site, now + G_USEC_PER_SEC, &admitted),
                     100 - IRISD_LOG_LINES_PER_SECOND);
  ck_assert (admitted);
}

TEST (text_of_pending_connections_is_made_harmless)
{
  const struct
  {
    const char *bytes;
    gssize size;
    const char *quoted;
  } cases[] = {
    { NULL, 0, "" },
    { "plain", 5, "plain" },
    { "a\nb\033[2J", -1, "a?b?[2J" },
    { "längst zu viel", -1, "längst zu…" },
    { "\xff\xfe", 2, "\xef\xbf\xbd\xef\xbf\xbd" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *quoted = irisd_text_quote (cases[i].bytes, cases[i].size, 9);
      ck_assert_str_eq (quoted, cases[i].quoted);
      ck_assert (g_utf8_validate (quoted, -1, NULL));
    }
}

TEST_MAIN ("irisd-log", NULL, NULL)
