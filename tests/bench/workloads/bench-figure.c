/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The rows by which tables and figures of the papers are chosen: a letter for the paper, a number.
 */
#include "tests/bench/workloads/bench-figure.h"
#include "tests/bench/workloads/bench-workload.h"

#include <stdlib.h>

gboolean
bench_figure_has_row (const BenchFigure *self, const char *row)
{
  g_auto (GStrv) rows = g_strsplit (self->row, " ", -1);

  for (guint i = 0; rows[i] != NULL; i++)
    if (g_ascii_strcasecmp (rows[i], row) == 0)
      return TRUE;

  return FALSE;
}

/* B9 is before B10. */
static int
compare_rows (gconstpointer a, gconstpointer b)
{
  const char *x = *(const char *const *) a, *y = *(const char *const *) b;

  return x[0] != y[0] ? x[0] - y[0] : atoi (x + 1) - atoi (y + 1);
}

GPtrArray *
bench_figure_rows (void)
{
  GPtrArray *rows = g_ptr_array_new_with_free_func (g_free);
  const BenchWorkload *workload;

  for (guint i = 0; (workload = bench_workload_nth (i)) != NULL; i++)
    {
      g_auto (GStrv)
          names = g_strsplit (workload->figure != NULL ? workload->figure->row : "", " ", -1);

      for (guint j = 0; names[j] != NULL; j++)
        if (*names[j] != '\0'
            && !g_ptr_array_find_with_equal_func (rows, names[j], g_str_equal, NULL))
          g_ptr_array_add (rows, g_strdup (names[j]));
    }
  g_ptr_array_sort (rows, compare_rows);

  return rows;
}

static gboolean
is_chosen (const BenchFigure *figure, const char *const *rows)
{
  for (; *rows != NULL; rows++)
    if (g_str_equal (*rows, "all") || bench_figure_has_row (figure, *rows))
      return TRUE;

  return FALSE;
}

static gboolean
check_row (const char *row, GError **error)
{
  g_autoptr (GPtrArray) known = bench_figure_rows ();
  g_autofree char *list = NULL;

  for (guint i = 0; i < known->len; i++)
    if (g_ascii_strcasecmp (g_ptr_array_index (known, i), row) == 0)
      return TRUE;
  g_ptr_array_add (known, NULL);
  list = g_strjoinv (", ", (char **) known->pdata);
  g_set_error (error, BENCH_ERROR, BENCH_ERROR_ARGUMENT,
               "the papers have no figure “%s” that is redone here; name “all” or some of %s", row,
               list);

  return FALSE;
}

GPtrArray *
bench_figure_choose (const char *const *rows, GError **error)
{
  g_autoptr (GPtrArray) chosen = g_ptr_array_new ();
  const BenchWorkload *workload;

  for (const char *const *row = rows; *row != NULL; row++)
    if (!g_str_equal (*row, "all") && !check_row (*row, error))
      return NULL;
  for (guint i = 0; (workload = bench_workload_nth (i)) != NULL; i++)
    if (workload->figure != NULL && is_chosen (workload->figure, rows))
      g_ptr_array_add (chosen, (gpointer) workload);

  return g_steal_pointer (&chosen);
}
