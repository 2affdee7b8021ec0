/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A progress bar on standard error, where that is a terminal.
 *
 * A timer draws it ten times a second, however many items end in between. Whoever prints something
 * else clears the line first; the next tick draws it again. NO_COLOR and a dumb terminal are
 * respected.
 */
#include "irisctl-progress.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define TICK_MS       100
#define DEFAULT_WIDTH 80
#define LEAST_BAR     8
#define MOST_BAR      40

#define COLOUR_ON  "\033[36m"
#define COLOUR_OFF "\033[0m"

struct _IrisctlProgress
{
  IrisctlProgressAsk ask;
  gpointer user_data;
  guint timer;
  gboolean drawn;
  gboolean unicode;
  gboolean colour;
};

static guint
terminal_width (void)
{
  struct winsize size;

  return ioctl (STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col
                                                                          : DEFAULT_WIDTH;
}

/* The words beside the bar. */
static char *
format_words (const IrisctlProgressState *state)
{
  g_autofree char *size = g_format_size (state->bytes);
  g_autofree char *failed = state->failed > 0
                                ? g_strdup_printf (", %" G_GUINT64_FORMAT " failed", state->failed)
                                : g_strdup ("");
  double rate = state->seconds > 0 ? (double) state->done / state->seconds : 0;

  return g_strdup_printf (" %" G_GUINT64_FORMAT "/%" G_GUINT64_FORMAT "%s files, %s, %.0f/s%s",
                          state->done, state->total, state->total_known ? "" : "+", size, rate,
                          failed);
}

/* One line that fits in @width columns. */
char *
irisctl_progress_format (const IrisctlProgressState *state,
                         guint width,
                         gboolean unicode,
                         gboolean colour)
{
  g_autofree char *words = format_words (state);
  glong room = (glong) width - 1 - g_utf8_strlen (words, -1) - 2;
  glong bar = MIN (room, MOST_BAR);
  glong full = state->total > 0 ? (glong) ((double) bar * (double) MIN (state->done, state->total)
                                           / (double) state->total)
                                : 0;
  GString *line = g_string_new (NULL);

  if (bar >= LEAST_BAR)
    {
      g_string_append (line, colour ? "[" COLOUR_ON : "[");
      for (glong i = 0; i < bar; i++)
        g_string_append (line, i < full ? (unicode ? "█" : "#") : (unicode ? "·" : "."));
      g_string_append (line, colour ? COLOUR_OFF "]" : "]");
      g_string_append (line, words);
    }
  else
    {
      g_autofree char *cut = g_utf8_substring (
          words, 1, MIN (g_utf8_strlen (words, -1), MAX ((glong) width - 1, 1)));

      g_string_append (line, cut);
    }
  return g_string_free (line, FALSE);
}

static gboolean
on_tick (gpointer user_data)
{
  IrisctlProgress *self = user_data;
  IrisctlProgressState state = { 0 };
  g_autofree char *line = NULL;

  self->ask (&state, self->user_data);
  line = irisctl_progress_format (&state, terminal_width (), self->unicode, self->colour);
  fprintf (stderr, "\r\033[K%s", line);
  fflush (stderr);
  self->drawn = TRUE;
  return G_SOURCE_CONTINUE;
}

/* Starts to draw; NULL, which the other functions take, where standard error is no terminal. */
IrisctlProgress *
irisctl_progress_new (IrisctlProgressAsk ask, gpointer user_data)
{
  const char *term = g_getenv ("TERM");
  const char *no_colour = g_getenv ("NO_COLOR");
  IrisctlProgress *self;

  if (!isatty (STDERR_FILENO) || term == NULL || strcmp (term, "dumb") == 0)
    return NULL;
  self = g_new0 (IrisctlProgress, 1);
  self->ask = ask;
  self->user_data = user_data;
  self->unicode = g_get_charset (NULL);
  self->colour = no_colour == NULL || *no_colour == '\0';
  self->timer = g_timeout_add (TICK_MS, on_tick, self);
  return self;
}

/* Makes room for other output. */
void
irisctl_progress_clear_line (IrisctlProgress *self)
{
  if (self == NULL || !self->drawn)
    return;
  fputs ("\r\033[K", stderr);
  fflush (stderr);
  self->drawn = FALSE;
}

void
irisctl_progress_free (IrisctlProgress *self)
{
  if (self == NULL)
    return;
  irisctl_progress_clear_line (self);
  g_source_remove (self->timer);
  g_free (self);
}
