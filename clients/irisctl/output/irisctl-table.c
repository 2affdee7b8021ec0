/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Tables for people: columns as wide as their widest cell, lines as wide as the terminal at most.
 *
 * A cell that begins with a byte below ' ' has the colour of that number.
 */
#include "clients/irisctl/output/irisctl-output.h"

#include <stdarg.h>

struct _CtlTable
{
  guint n_columns;
  guint width; /* 0: no limit */
  gboolean colours;
  gboolean has_heading; /* the first row of cells is one */
  gboolean *right;
  gboolean *hidden;
  gboolean *sparse; /* left out while empty */
  guint *least;     /* widths of what was flushed */
  GPtrArray *cells; /* row by row; NULL in the first column: a line */
};

static CtlColour
colour_of (const char *cell)
{
  return *cell > 0 && *cell < ' ' ? (CtlColour) *cell : CTL_COLOUR_NONE;
}

static const char *
text_of (const char *cell)
{
  return cell + (colour_of (cell) != CTL_COLOUR_NONE ? 1 : 0);
}

CtlTable *
ctl_table_new (const char *const *headings, gboolean verbose)
{
  CtlTable *self = g_new0 (CtlTable, 1);

  self->n_columns = g_strv_length ((char **) headings);
  self->right = g_new0 (gboolean, self->n_columns);
  self->hidden = g_new0 (gboolean, self->n_columns);
  self->sparse = g_new0 (gboolean, self->n_columns);
  self->least = g_new0 (guint, self->n_columns);
  self->cells = g_ptr_array_new_with_free_func (g_free);
  self->has_heading = TRUE;
  for (guint i = 0; i < self->n_columns; i++)
    {
      const char *heading = headings[i] + (headings[i][0] == '+' ? 1 : 0);

      self->hidden[i] = !verbose && heading != headings[i];
      self->sparse[i] = *heading == '?';
      heading += self->sparse[i] ? 1 : 0;
      self->right[i] = *heading == '>';
      g_ptr_array_add (self->cells, g_strdup (heading + (self->right[i] ? 1 : 0)));
    }

  return self;
}

void
ctl_table_free (CtlTable *self)
{
  g_ptr_array_unref (self->cells);
  g_free (self->right);
  g_free (self->hidden);
  g_free (self->sparse);
  g_free (self->least);
  g_free (self);
}

void
ctl_table_fit_terminal (CtlTable *self)
{
  self->width = ctl_terminal_columns ();
  self->colours = ctl_terminal_has_colours ();
}

void
ctl_table_set_sparse (CtlTable *self)
{
  for (guint i = 0; i < self->n_columns; i++)
    self->sparse[i] = TRUE;
}

char *
ctl_table_colour (CtlColour colour, char *text)
{
  char *cell = g_strdup_printf ("%c%s", (int) colour, text);

  g_free (text);
  return cell;
}

void
ctl_table_add (CtlTable *self, ...)
{
  va_list args;

  va_start (args, self);
  for (guint i = 0; i < self->n_columns; i++)
    g_ptr_array_add (self->cells, va_arg (args, char *));
  va_end (args);
}

void
ctl_table_add_line (CtlTable *self)
{
  for (guint i = 0; i < self->n_columns; i++)
    g_ptr_array_add (self->cells, NULL);
}

/* 0 for one that is left out. */
static guint
column_width (CtlTable *self, guint column)
{
  guint width = self->least[column];
  gboolean has_rows = self->cells->len > (self->has_heading ? self->n_columns : 0);
  gboolean empty = self->sparse[column] && width == 0 && has_rows;

  for (guint i = column; i < self->cells->len; i += self->n_columns)
    {
      const char *cell = g_ptr_array_index (self->cells, i);

      if (cell == NULL)
        continue;
      width = MAX (width, ctl_terminal_width (text_of (cell)));
      if (*text_of (cell) != '\0' && (i >= self->n_columns || !self->has_heading))
        empty = FALSE;
    }

  return empty || self->hidden[column] ? 0 : width;
}

static void
append_spaces (GString *text, guint n)
{
  for (guint i = 0; i < n; i++)
    g_string_append_c (text, ' ');
}

/* Returns how many columns are used by now. */
static guint
append_cell (CtlTable *self, GString *line, guint used, guint column, const char *cell, guint width)
{
  guint gap = used > 0 ? 2 : 0;
  gboolean last = column + 1 == self->n_columns;
  CtlColour colour = colour_of (cell);
  g_autofree char *text = NULL;
  guint taken, room;

  if (width == 0 || (self->width > 0 && used + gap >= self->width))
    return used;
  room = self->width > 0 ? self->width - used - gap : 0;
  text = ctl_terminal_cut (text_of (cell), room);
  taken = ctl_terminal_width (text);
  if (room > 0)
    width = MIN (width, room);
  append_spaces (line, gap);
  if (self->right[column])
    append_spaces (line, width - MIN (taken, width));
  if (self->colours && colour != CTL_COLOUR_NONE)
    g_string_append_printf (line, "%s%s%s", ctl_terminal_colour (colour), text,
                            ctl_terminal_colour (CTL_COLOUR_NONE));
  else
    g_string_append (line, text);
  if (!self->right[column] && !last)
    append_spaces (line, width - MIN (taken, width));

  return used + gap + width;
}

static void
append_row (CtlTable *self, GString *text, guint row, const guint *widths)
{
  gboolean heading = row == 0 && self->has_heading && self->colours;
  guint used = 0;

  if (heading)
    g_string_append (text, ctl_terminal_colour (CTL_COLOUR_HEADING));
  for (guint i = 0; i < self->n_columns; i++)
    used = append_cell (self, text, used, i,
                        g_ptr_array_index (self->cells, row * self->n_columns + i), widths[i]);
  if (heading)
    g_string_append (text, ctl_terminal_colour (CTL_COLOUR_NONE));
}

char *
ctl_table_to_string (CtlTable *self)
{
  GString *text = g_string_new (NULL);
  g_autofree guint *widths = g_new0 (guint, self->n_columns);
  guint total = 0;

  for (guint i = 0; i < self->n_columns; i++)
    {
      widths[i] = column_width (self, i);
      total += widths[i] > 0 ? widths[i] + (total > 0 ? 2 : 0) : 0;
    }
  if (self->width > 0)
    total = MIN (total, self->width);

  for (guint row = 0; row < self->cells->len / self->n_columns; row++)
    {
      if (g_ptr_array_index (self->cells, row * self->n_columns) == NULL)
        for (guint i = 0; i < total; i++)
          g_string_append_c (text, '-');
      else
        append_row (self, text, row, widths);
      g_string_append_c (text, '\n');
    }

  return g_string_free (text, FALSE);
}

void
ctl_table_flush (CtlTable *self)
{
  g_autofree char *text = ctl_table_to_string (self);

  g_print ("%s", text);
  for (guint i = 0; i < self->n_columns; i++)
    self->least[i] = column_width (self, i);
  g_ptr_array_set_size (self->cells, 0);
  self->has_heading = FALSE;
}

char *
ctl_number (guint64 number)
{
  return g_strdup_printf ("%" G_GUINT64_FORMAT, number);
}

char *
ctl_seconds (guint64 nanoseconds)
{
  return g_strdup_printf ("%.3f", nanoseconds / 1e9);
}
