/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Aligned columns of text.
 *
 * Cells are added one by one, row after row. Widths are counted in characters, not bytes, and a
 * line has no blanks at its end.
 */
#include "irisctl-table.h"

#include <string.h>

#define GAP 2

struct _IrisctlTable
{
  GPtrArray *cells; /* rows of n_columns; a rule is a row of NULLs */
  gboolean *right;
  guint n_columns;
};

IrisctlTable *
irisctl_table_new (const char *columns)
{
  IrisctlTable *self = g_new0 (IrisctlTable, 1);
  g_auto (GStrv) titles = g_strsplit (columns, "|", -1);

  self->n_columns = g_strv_length (titles);
  self->right = g_new0 (gboolean, self->n_columns);
  self->cells = g_ptr_array_new_with_free_func (g_free);
  for (guint i = 0; i < self->n_columns; i++)
    {
      self->right[i] = titles[i][0] == '>';
      irisctl_table_add (self, titles[i] + self->right[i]);
    }
  return self;
}

void
irisctl_table_free (IrisctlTable *self)
{
  g_ptr_array_unref (self->cells);
  g_free (self->right);
  g_free (self);
}

/* Adds the next cell. */
void
irisctl_table_add (IrisctlTable *self, const char *text)
{
  g_ptr_array_add (self->cells, g_utf8_make_valid (text, -1));
}

void
irisctl_table_addf (IrisctlTable *self, const char *format, ...)
{
  g_autofree char *text = NULL;
  va_list args;

  va_start (args, format);
  text = g_strdup_vprintf (format, args);
  va_end (args);
  irisctl_table_add (self, text);
}

/* Adds a line between what was added and what comes. */
void
irisctl_table_add_rule (IrisctlTable *self)
{
  for (guint i = 0; i < self->n_columns; i++)
    g_ptr_array_add (self->cells, NULL);
}

static void
append_repeated (GString *text, char c, glong n)
{
  for (glong i = 0; i < n; i++)
    g_string_append_c (text, c);
}

static void
append_cell (GString *text, const char *cell, glong width, gboolean right)
{
  glong missing = cell != NULL ? width - g_utf8_strlen (cell, -1) : 0;

  if (cell == NULL)
    append_repeated (text, '-', width);
  else
    {
      append_repeated (text, ' ', right ? missing : 0);
      g_string_append (text, cell);
      append_repeated (text, ' ', right ? 0 : missing);
    }
}

static void
strip_end (GString *text)
{
  while (text->len > 0 && text->str[text->len - 1] == ' ')
    g_string_truncate (text, text->len - 1);
}

/* The table as text, each line with its newline. */
char *
irisctl_table_format (IrisctlTable *self)
{
  g_autofree glong *widths = g_new0 (glong, self->n_columns);
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < self->cells->len; i++)
    {
      const char *cell = g_ptr_array_index (self->cells, i);
      glong width = cell != NULL ? g_utf8_strlen (cell, -1) : 0;

      widths[i % self->n_columns] = MAX (widths[i % self->n_columns], width);
    }
  for (guint i = 0; i < self->cells->len; i++)
    {
      guint column = i % self->n_columns;

      if (column > 0)
        append_repeated (text, ' ', GAP);
      append_cell (text, g_ptr_array_index (self->cells, i), widths[column], self->right[column]);
      if (column + 1 == self->n_columns)
        {
          strip_end (text);
          g_string_append_c (text, '\n');
        }
    }
  return g_string_free (text, FALSE);
}
