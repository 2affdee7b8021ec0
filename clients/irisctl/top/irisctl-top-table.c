/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The rows of a view: made, searched and sorted.
 */
#include "clients/irisctl/top/irisctl-top.h"

#include <math.h>
#include <string.h>

TopRow *
top_row_new (GPtrArray *rows, const TopView *view, char *name)
{
  TopRow *row = g_new0 (TopRow, 1);

  row->name = name;
  row->n_cells = view->n_columns;
  row->cells = g_new0 (TopCell, view->n_columns);
  g_ptr_array_add (rows, row);

  return row;
}

void
top_row_free (gpointer data)
{
  TopRow *row = data;

  for (guint i = 0; i < row->n_cells; i++)
    {
      g_free (row->cells[i].text);
      g_free (row->cells[i].whole);
    }
  g_free (row->cells);
  g_free (row->name);
  g_free (row);
}

static TopCell *
next_cell (TopRow *row)
{
  g_assert (row->n_set < row->n_cells);
  return &row->cells[row->n_set++];
}

void
top_row_add_text (TopRow *row, char *text)
{
  next_cell (row)->text = text;
}

void
top_row_add_value (TopRow *row, double key, char *text)
{
  TopCell *cell = next_cell (row);

  cell->key = key;
  cell->text = text;
}

void
top_row_add_number (TopRow *row, guint64 number)
{
  TopCell *cell = next_cell (row);

  cell->key = (double) number;
  cell->text = top_format_short ((double) number);
  cell->whole = g_strdup_printf ("%" G_GUINT64_FORMAT, number);
}

void
top_row_add_rate (TopRow *row, double per_second)
{
  TopCell *cell = next_cell (row);

  cell->key = per_second;
  cell->text = per_second > 0 && per_second < 9.95 ? g_strdup_printf ("%.1f", per_second)
                                                   : top_format_short (per_second);
  cell->whole = g_strdup_printf ("%.1f", per_second);
}

/* What is not known comes last. */
void
top_row_add_time (TopRow *row, double seconds)
{
  TopCell *cell = next_cell (row);

  cell->key = isnan (seconds) ? -1 : seconds;
  cell->text = ctl_format_short_time (seconds);
}

char *
top_format_short (double number)
{
  static const char *const units[] = { "", "k", "M", "G", "T", "P", "E" };
  guint unit = 0;

  if (number < 99999.5)
    return g_strdup_printf ("%.0f", number);
  while (number >= 999.5 && unit + 1 < G_N_ELEMENTS (units))
    {
      number /= 1000;
      unit++;
    }

  return g_strdup_printf (number < 9.995   ? "%.2f%s"
                          : number < 99.95 ? "%.1f%s"
                                           : "%.0f%s",
                          number, units[unit]);
}

static gboolean
contains (const char *text, const char *folded)
{
  g_autofree char *valid = g_utf8_make_valid (text, -1);
  g_autofree char *low = g_utf8_casefold (valid, -1);

  return strstr (low, folded) != NULL;
}

static gboolean
row_contains (const TopRow *row, const char *folded)
{
  for (guint i = 0; i < row->n_cells; i++)
    if (contains (row->cells[i].whole != NULL ? row->cells[i].whole : row->cells[i].text, folded))
      return TRUE;

  return FALSE;
}

typedef struct
{
  guint column;
  gboolean right;
  int sign;
} Order;

static int
compare (gconstpointer a, gconstpointer b, gpointer data)
{
  const Order *order = data;
  const TopCell *one = &(*(const TopRow *const *) a)->cells[order->column];
  const TopCell *other = &(*(const TopRow *const *) b)->cells[order->column];

  if (!order->right)
    {
      const int by_text = strcmp (one->text, other->text);

      return order->sign > 0 ? by_text : -by_text;
    }

  return order->sign * ((one->key > other->key) - (one->key < other->key));
}

GPtrArray *
top_rows_select (GPtrArray *rows,
                 const TopView *view,
                 const char *filter,
                 guint sort_by,
                 gboolean descending)
{
  GPtrArray *shown = g_ptr_array_sized_new (rows->len);
  g_autofree char *folded = g_utf8_casefold (filter, -1);
  Order order = { sort_by, view->columns[sort_by].right, descending ? -1 : 1 };

  for (guint i = 0; i < rows->len; i++)
    if (*folded == '\0' || row_contains (g_ptr_array_index (rows, i), folded))
      g_ptr_array_add (shown, g_ptr_array_index (rows, i));
  /* Stable: rows that are equal keep their places, so nothing jumps. */
  g_ptr_array_sort_with_data (shown, compare, &order);

  return shown;
}
