/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What irisctl does otherwise if a terminal reads it: widths, colours, keys.
 */
#include "clients/irisctl/output/irisctl-output.h"

#include <glib-unix.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#define USUAL_COLUMNS 80
#define USUAL_ROWS    24

static gboolean
get_size (struct winsize *size)
{
  return isatty (STDOUT_FILENO) && ioctl (STDOUT_FILENO, TIOCGWINSZ, size) == 0;
}

guint
ctl_terminal_columns (void)
{
  struct winsize size = { 0 };

  if (!get_size (&size))
    return 0;
  return size.ws_col > 0 ? size.ws_col : USUAL_COLUMNS;
}

guint
ctl_terminal_rows (void)
{
  struct winsize size = { 0 };

  if (!get_size (&size))
    return 0;
  return size.ws_row > 0 ? size.ws_row : USUAL_ROWS;
}

gboolean
ctl_terminal_is_screen (void)
{
  const char *terminal = g_getenv ("TERM");

  return isatty (STDOUT_FILENO) && terminal != NULL && *terminal != '\0'
         && !g_str_equal (terminal, "dumb");
}

gboolean
ctl_terminal_has_colours (void)
{
  const char *no_colour = g_getenv ("NO_COLOR");

  return ctl_terminal_is_screen () && (no_colour == NULL || *no_colour == '\0');
}

const char *
ctl_terminal_colour (CtlColour colour)
{
  static const char *const sequences[] = {
    [CTL_COLOUR_NONE] = "\033[0m",    [CTL_COLOUR_HEADING] = "\033[1m",
    [CTL_COLOUR_RED] = "\033[31m",    [CTL_COLOUR_GREEN] = "\033[32m",
    [CTL_COLOUR_YELLOW] = "\033[33m", [CTL_COLOUR_FAINT] = "\033[2m",
  };

  return ctl_terminal_has_colours () ? sequences[colour] : "";
}

static guint
width_of (gunichar c)
{
  if (g_unichar_iszerowidth (c))
    return 0;
  return g_unichar_iswide (c) ? 2 : 1;
}

guint
ctl_terminal_width (const char *text)
{
  guint width = 0;
  gboolean escape = FALSE;

  for (const char *at = text; *at != '\0'; at = g_utf8_next_char (at))
    if (*at == '\033')
      escape = TRUE;
    else if (escape)
      escape = *at != 'm';
    else
      width += width_of (g_utf8_get_char (at));

  return width;
}

char *
ctl_terminal_cut (const char *text, guint columns)
{
  g_autofree char *valid = g_utf8_make_valid (text, -1);
  GString *out = g_string_new (NULL);
  guint used = 0;
  gsize room_for_dots = 0; /* length of what leaves a column for "…" */

  for (const char *at = valid; *at != '\0'; at = g_utf8_next_char (at))
    {
      gunichar c = g_utf8_get_char (at);

      if (!g_unichar_isprint (c) && !g_unichar_iszerowidth (c))
        c = ' ';
      used += width_of (c);
      if (columns > 0 && used > columns)
        {
          g_string_truncate (out, room_for_dots);
          g_string_append (out, "…");
          break;
        }
      g_string_append_unichar (out, c);
      if (used < columns)
        room_for_dots = out->len;
    }

  return g_string_free (out, FALSE);
}

/* Where the words of a line of help go on below each other: behind the gap that follows an option.
 */
static guint
help_indent (const char *line)
{
  const char *gap = line[0] == ' ' && line[1] == ' ' && line[2] != ' ' ? strstr (line + 2, "  ")
                                                                       : NULL;

  while (gap != NULL && *gap == ' ')
    gap++;

  return gap != NULL ? (guint) g_utf8_pointer_to_offset (line, gap) : *line == ' ' ? 6 : 0;
}

static void
append_wrapped (GString *out, const char *line, guint columns)
{
  g_auto (GStrv) words = g_strsplit (line, " ", -1);
  guint indent = help_indent (line), used = 0;

  for (guint i = 0; words[i] != NULL; i++)
    {
      guint width = (guint) g_utf8_strlen (words[i], -1);

      if (used > indent && used + 1 + width > columns)
        {
          g_string_append_printf (out, "\n%*s", (int) indent, "");
          used = indent;
        }
      else if (i > 0)
        {
          g_string_append_c (out, ' ');
          used++;
        }
      g_string_append (out, words[i]);
      used += width;
    }
}

/* Whether @line is of a paragraph, whose lines flow into each other. */
static gboolean
is_prose (const char *line)
{
  return line[0] != '\0' && line[0] != ' ';
}

void
ctl_terminal_print_help (const char *text)
{
  guint columns = ctl_terminal_columns ();
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  g_autoptr (GString) out = g_string_new (NULL);

  for (guint i = 0; lines[i] != NULL; i++)
    {
      g_autoptr (GString) line = g_string_new (lines[i]);

      while (is_prose (lines[i]) && lines[i + 1] != NULL && is_prose (lines[i + 1]))
        g_string_append_printf (line, " %s", lines[++i]);
      append_wrapped (out, line->str, (columns > 0 ? columns : USUAL_COLUMNS));
      if (lines[i + 1] != NULL)
        g_string_append_c (out, '\n');
    }
  fputs (out->str, stdout);
}

gboolean
ctl_terminal_print_instead (const char *text)
{
  guint columns = ctl_terminal_columns ();
  g_autofree char *cut = ctl_terminal_cut (text, columns);

  if (columns > 0)
    g_print ("%s\n", cut);

  return columns > 0;
}

struct _CtlKeys
{
  struct termios before;
  GCancellable *cancellable;
  guint source;
};

static gboolean
on_key (gint fd, GIOCondition condition, gpointer data)
{
  CtlKeys *self = data;
  char key = '\0';

  if (read (fd, &key, 1) == 1 && key != 'q' && key != 'Q')
    return G_SOURCE_CONTINUE;
  /* Without a terminal to read from, Ctrl-C is left. */
  if (key != '\0')
    g_cancellable_cancel (self->cancellable);
  self->source = 0;

  return G_SOURCE_REMOVE;
}

CtlKeys *
ctl_keys_new (GCancellable *cancellable)
{
  g_autofree CtlKeys *self = g_new0 (CtlKeys, 1);
  struct termios keys;

  /* A job in the background may not change the terminal: it would be stopped. */
  if (!isatty (STDIN_FILENO) || tcgetpgrp (STDIN_FILENO) != getpgrp ()
      || tcgetattr (STDIN_FILENO, &self->before) != 0)
    return NULL;
  keys = self->before;
  keys.c_lflag &= (tcflag_t) ~(ICANON | ECHO);
  keys.c_cc[VMIN] = 1;
  keys.c_cc[VTIME] = 0;
  if (tcsetattr (STDIN_FILENO, TCSANOW, &keys) != 0)
    return NULL;
  self->cancellable = g_object_ref (cancellable);
  self->source = g_unix_fd_add (STDIN_FILENO, G_IO_IN | G_IO_HUP, on_key, self);

  return g_steal_pointer (&self);
}

void
ctl_keys_free (CtlKeys *self)
{
  if (self == NULL)
    return;
  tcsetattr (STDIN_FILENO, TCSANOW, &self->before);
  if (self->source != 0)
    g_source_remove (self->source);
  g_object_unref (self->cancellable);
  g_free (self);
}
