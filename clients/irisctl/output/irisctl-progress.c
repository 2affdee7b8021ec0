/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A progress bar on standard error, if that is a terminal.
 */
#include "clients/irisctl/output/irisctl-progress.h"

#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define INTERVAL_US (100 * 1000)
#define MIN_COLUMNS 40
#define BAR_MAX     40

void
ctl_progress_begin (CtlProgress *self)
{
  const char *terminal = g_getenv ("TERM");

  self->shown = isatty (STDERR_FILENO) && terminal != NULL && !g_str_equal (terminal, "dumb");
  self->begin = g_get_monotonic_time ();
  self->next = self->begin + INTERVAL_US;
}

static int
terminal_columns (void)
{
  struct winsize size = { 0 };

  return ioctl (STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

static void
append_bar (GString *text, int width, double fraction)
{
  g_string_append_c (text, '[');
  for (int i = 0; i < width; i++)
    g_string_append_c (text, i < (int) (width * fraction) ? '#' : '.');
  g_string_append_c (text, ']');
}

char *
ctl_progress_format (guint64 done, guint64 total, gboolean known, gdouble seconds, int columns)
{
  g_autofree char *counts = g_strdup_printf (
      " %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT "%s files, %.0f/s", done, total,
      known ? "" : "+", seconds > 0 ? done / seconds : 0);
  int width = MIN (columns - 4 - (int) g_utf8_strlen (counts, -1), BAR_MAX);
  GString *bar = g_string_new (NULL);

  if (columns >= MIN_COLUMNS && width > 0)
    append_bar (bar, width, total > 0 ? (double) done / (double) total : 0);
  g_string_append (bar, counts);

  return g_string_free (bar, FALSE);
}

/* A worker's words must not move the cursor. */
static char *
plain_note (const char *note, int columns)
{
  GString *text = g_string_new (NULL);

  for (const char *at = note; *at != '\0' && columns > 0; at = g_utf8_next_char (at))
    {
      gunichar c = g_utf8_get_char (at);

      columns -= g_unichar_iswide (c) ? 2 : 1;
      if (columns >= 0)
        g_string_append_unichar (text, g_unichar_isprint (c) ? c : ' ');
    }

  return g_string_free (text, FALSE);
}

char *
ctl_progress_format_item (gdouble fraction, const char *note, int columns)
{
  GString *bar = g_string_new (NULL);
  g_autofree char *plain = NULL;

  if (fraction >= 0 && columns >= MIN_COLUMNS)
    {
      int width = MIN (columns / 2, BAR_MAX), filled = (int) (MIN (fraction, 1.0) * width);

      g_string_append_c (bar, '[');
      for (int i = 0; i < width; i++)
        g_string_append_c (bar, i < filled ? '#' : '.');
      g_string_append_c (bar, ']');
    }
  if (fraction >= 0)
    g_string_append_printf (bar, "%s%.0f %%", bar->len > 0 ? " " : "", fraction * 100);
  if (note != NULL)
    {
      plain = plain_note (note, columns > 0 ? columns - (int) bar->len - 2 : G_MAXINT);
      g_string_append_printf (bar, "%s%s", bar->len > 0 ? " " : "", plain);
    }

  return g_string_free (bar, FALSE);
}

void
ctl_progress_show (CtlProgress *self, gdouble fraction, const char *note)
{
  g_autofree char *text = NULL;

  if (!self->shown)
    return;
  text = ctl_progress_format_item (fraction, note, terminal_columns ());
  fprintf (stderr, "\r%s\033[K", text);
  fflush (stderr);
}

void
ctl_progress_show_text (CtlProgress *self, double fraction, const char *text)
{
  int columns = terminal_columns ();
  int width = MIN (columns - 10 - (int) g_utf8_strlen (text, -1), BAR_MAX);
  g_autoptr (GString) line = g_string_new (NULL);

  if (!self->shown)
    return;
  if (fraction >= 0 && columns >= MIN_COLUMNS && width > 0)
    append_bar (line, width, fraction);
  if (fraction >= 0)
    g_string_append_printf (line, " %3.0f%% ", 100 * fraction);
  g_string_append (line, text);
  /* What does not fit would leave pieces behind that nobody wipes. */
  if (g_utf8_strlen (line->str, -1) >= columns)
    g_string_truncate (line,
                       (gsize) (g_utf8_offset_to_pointer (line->str, columns - 1) - line->str));
  fprintf (stderr, "\r%s\033[K", line->str);
  fflush (stderr);
}

void
ctl_progress_update (CtlProgress *self, guint64 done, guint64 total, gboolean known)
{
  g_autofree char *text = NULL;
  gint64 now;

  if (!self->shown)
    return;
  now = g_get_monotonic_time ();
  if (now < self->next)
    return;
  self->next = now + INTERVAL_US;
  text = ctl_progress_format (done, total, known, (now - self->begin) / 1e6, terminal_columns ());
  fprintf (stderr, "\r%s\033[K", text);
  fflush (stderr);
}

void
ctl_progress_end (CtlProgress *self)
{
  if (!self->shown)
    return;
  fputs ("\r\033[K", stderr);
  fflush (stderr);
}
