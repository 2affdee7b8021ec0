/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Tables for people: columns as wide as their widest cell.
 */
#include "irisctl-table.h"

#include <stdarg.h>

struct _CtlTable
{
  guint n_columns;
  gboolean *right;
  guint *least;     /* widths of what was flushed */
  GPtrArray *cells; /* row by row; NULL in the first column: a line */
};

CtlTable *
ctl_table_new (const char *const *headings)
{
  CtlTable *self = g_new0 (CtlTable, 1);

  self->n_columns = g_strv_length ((char **) headings);
  self->right = g_new0 (gboolean, self->n_columns);
  self->least = g_new0 (guint, self->n_columns);
  self->cells = g_ptr_array_new_with_free_func (g_free);
  for (guint i = 0; i < self->n_columns; i++)
    {
      self->right[i] = headings[i][0] == '>';
      g_ptr_array_add (self->cells, g_strdup (headings[i] + (self->right[i] ? 1 : 0)));
    }

  return self;
}

void
ctl_table_free (CtlTable *self)
{
  g_ptr_array_unref (self->cells);
  g_free (self->right);
  g_free (self->least);
  g_free (self);
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

static guint
column_width (CtlTable *self, guint column)
{
  glong width = self->least[column];

  for (guint i = column; i < self->cells->len; i += self->n_columns)
    {
      const char *cell = g_ptr_array_index (self->cells, i);

      if (cell != NULL)
        width = MAX (width, g_utf8_strlen (cell, -1));
    }

  return (guint) width;
}

static void
append_spaces (GString *text, guint n)
{
  for (guint i = 0; i < n; i++)
    g_string_append_c (text, ' ');
}

static void
append_cell (CtlTable *self, GString *text, guint column, const char *cell, guint width)
{
  guint padding = width - (guint) g_utf8_strlen (cell, -1);

  if (column > 0)
    append_spaces (text, 2);
  if (self->right[column])
    append_spaces (text, padding);
  g_string_append (text, cell);
  if (!self->right[column] && column + 1 < self->n_columns)
    append_spaces (text, padding);
}

char *
ctl_table_to_string (CtlTable *self)
{
  GString *text = g_string_new (NULL);
  g_autofree guint *widths = g_new (guint, self->n_columns);
  guint total = 2 * (self->n_columns - 1);

  for (guint i = 0; i < self->n_columns; i++)
    total += widths[i] = column_width (self, i);

  for (guint i = 0; i < self->cells->len; i += self->n_columns)
    {
      if (g_ptr_array_index (self->cells, i) == NULL)
        for (guint j = 0; j < total; j++)
          g_string_append_c (text, '-');
      else
        for (guint j = 0; j < self->n_columns; j++)
          append_cell (self, text, j, g_ptr_array_index (self->cells, i + j), widths[j]);
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
