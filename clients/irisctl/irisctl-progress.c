/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A progress bar on standard error, if that is a terminal.
 */
#include "irisctl-progress.h"

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

char *
ctl_progress_format (guint64 done, guint64 total, gboolean known, gdouble seconds, int columns)
{
  g_autofree char *counts = g_strdup_printf (
      " %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT "%s files, %.0f/s", done, total,
      known ? "" : "+", seconds > 0 ? done / seconds : 0);
  int width = MIN (columns - 4 - (int) g_utf8_strlen (counts, -1), BAR_MAX);
  int filled = total > 0 ? (int) ((gdouble) width * done / total) : 0;
  GString *bar = g_string_new (NULL);

  if (columns >= MIN_COLUMNS && width > 0)
    {
      g_string_append_c (bar, '[');
      for (int i = 0; i < width; i++)
        g_string_append_c (bar, i < filled ? '#' : '.');
      g_string_append_c (bar, ']');
    }
  g_string_append (bar, counts);

  return g_string_free (bar, FALSE);
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
