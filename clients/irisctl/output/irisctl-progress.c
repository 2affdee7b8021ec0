/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A progress bar on standard error.
 */
#include "clients/irisctl/output/irisctl-output.h"

#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define MIN_COLUMNS 40
#define BAR_MAX     40

/* For "[", "] ", "100 % " and the last column, which would make the terminal scroll. */
#define BESIDE_BAR 10

void
ctl_progress_begin (CtlProgress *self)
{
  const char *terminal = g_getenv ("TERM");

  self->shown = isatty (STDERR_FILENO) && terminal != NULL && !g_str_equal (terminal, "dumb");
  self->begin = g_get_monotonic_time ();
}

char *
ctl_progress_format (double fraction, const char *text, int columns)
{
  GString *line = g_string_new (NULL);
  int space = columns - BESIDE_BAR - (text != NULL ? (int) ctl_terminal_width (text) : 0);
  int width = CLAMP (space, MIN (columns / 4, BAR_MAX), BAR_MAX);
  g_autofree char *cut = NULL;

  if (fraction >= 0 && columns >= MIN_COLUMNS)
    {
      g_string_append_c (line, '[');
      for (int i = 0; i < width; i++)
        g_string_append_c (line, i < (int) (width * MIN (fraction, 1)) ? '#' : '.');
      g_string_append (line, "] ");
    }
  if (fraction >= 0)
    g_string_append_printf (line, "%.0f %%%s", MIN (fraction, 1) * 100, text != NULL ? " " : "");
  /* A worker process may have sent this text: it must not move the cursor. */
  if (text != NULL && (columns == 0 || (int) line->len + 1 < columns))
    cut = ctl_terminal_cut (text, columns == 0 ? 0 : (guint) (columns - 1 - (int) line->len));
  g_string_append (line, cut != NULL ? cut : "");

  return g_string_free (line, FALSE);
}

void
ctl_progress_show (CtlProgress *self, double fraction, const char *text)
{
  struct winsize size = { 0 };
  int columns = ioctl (STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
  g_autofree char *line = self->shown ? ctl_progress_format (fraction, text, columns) : NULL;

  if (line == NULL)
    return;
  self->drawn = TRUE;
  fprintf (stderr, "\r%s\033[K", line);
  fflush (stderr);
}

void
ctl_progress_end (CtlProgress *self)
{
  if (!self->drawn)
    return;
  self->drawn = FALSE;
  fputs ("\r\033[K", stderr);
  fflush (stderr);
}
