/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Cholesky: factors a sparse, positive definite matrix, A = L Lᵀ: the five-point formula on a
 * square grid, in the order of nested dissection.
 *
 * Columns of L with the same structure, up to 32, are a panel and stored as a dense matrix. A panel
 * that has got all of its updates is a task: it is factored, and for each later panel that has rows
 * in common with it an update is computed, and subtracted under that panel's lock. The last one
 * makes that panel a task. There are no phases.
 *
 * Source: E. Rothberg, A. Gupta, "Efficient Sparse Matrix Factorization on High-Performance
 * Workstations", ACM TOMS 17, 1991; A. George, "Nested Dissection of a Regular Finite Element
 * Mesh", SIAM J. Numer. Anal. 10, 1973. The published input, d750.o, is a file of the suite's,
 * by its name a dense matrix of 750 rows. The usual grid here takes as many multiplications.
 *
 * Check: L (Lᵀ x) is A x, for a vector of random numbers.
 */
#include "tests/bench/workloads/splash/splash.h"

#include <stdlib.h>
#include <string.h>

#define USUAL     202
#define WIDTH     32u
#define N_LOCKS   1024u
#define DIAGONAL  4.01 /* a little more than the four neighbours, each of which has -1 */
#define TOLERANCE 1e-11

typedef struct _Cholesky Cholesky;

typedef struct
{
  guint first, width; /* columns */
  guint n_rows;       /* its own among them, which come first */
  guint *rows;
  gdouble *values; /* by columns */
  guint n_updates; /* panels that update it */
  guint n_missing; /* of those; under its lock */
  SplashTask task;
  Cholesky *self;
} Panel;

/* What is below the diagonal, in a column. */
typedef struct
{
  guint n;
  guint *rows;  /* in order */
  guint parent; /* the first of them; itself if there is none */
} Column;

struct _Cholesky
{
  guint side, n;
  guint *order;    /* of the grid's points */
  Column *columns; /* of L; while the panels are made */
  guint n_panels;
  Panel *panels;
  guint *panel_of; /* each column */
  SplashTeam *team;
  SplashLocks *locks;
};

/* --- order and structure ---------------------------------------------------------------------- */

/* Both halves are numbered before the line between them. */
static void
dissect (Cholesky *self, guint x, guint y, guint width, guint height, guint *next)
{
  if (width > 2 && height > 1 && width >= height)
    {
      dissect (self, x, y, width / 2, height, next);
      dissect (self, x + width / 2 + 1, y, width - width / 2 - 1, height, next);
      dissect (self, x + width / 2, y, 1, height, next);
    }
  else if (height > 2 && width > 1)
    {
      dissect (self, x, y, width, height / 2, next);
      dissect (self, x, y + height / 2 + 1, width, height - height / 2 - 1, next);
      dissect (self, x, y + height / 2, width, 1, next);
    }
  else
    for (guint i = y; i < y + height; i++)
      for (guint j = x; j < x + width; j++)
        self->order[i * self->side + j] = (*next)++;
}

/* The numbers of the grid's neighbours of a point. */
static guint
neighbours (const Cholesky *self, guint point, guint of[4])
{
  guint side = self->side, x = point % side, y = point / side, n = 0;

  if (x > 0)
    of[n++] = self->order[point - 1];
  if (x + 1 < side)
    of[n++] = self->order[point + 1];
  if (y > 0)
    of[n++] = self->order[point - side];
  if (y + 1 < side)
    of[n++] = self->order[point + side];

  return n;
}

static int
compare (const void *a, const void *b)
{
  guint left = *(const guint *) a, right = *(const guint *) b;

  return left < right ? -1 : left > right;
}

static void
merge (const guint *rows, guint n, guint column, guint *seen, GArray *into)
{
  for (guint i = 0; i < n; i++)
    if (rows[i] > column && seen[rows[i]] != column + 1)
      {
        seen[rows[i]] = column + 1;
        g_array_append_val (into, rows[i]);
      }
}

/* A column of L has the rows of A's, and those of its children in the elimination tree. */
static void
find_columns (Cholesky *self)
{
  g_autofree guint *points = g_new (guint, self->n), *seen = g_new0 (guint, self->n);
  g_autofree guint *child = g_new (guint, self->n), *sibling = g_new (guint, self->n);
  g_autoptr (GArray) rows = g_array_new (FALSE, FALSE, sizeof (guint));

  self->columns = g_new (Column, self->n);
  for (guint i = 0; i < self->n; i++)
    {
      points[self->order[i]] = i;
      child[i] = G_MAXUINT;
    }
  for (guint j = 0; j < self->n; j++)
    {
      Column *column = &self->columns[j];
      guint of[4], n = neighbours (self, points[j], of);

      g_array_set_size (rows, 0);
      merge (of, n, j, seen, rows);
      for (guint c = child[j]; c != G_MAXUINT; c = sibling[c])
        merge (self->columns[c].rows, self->columns[c].n, j, seen, rows);
      column->n = rows->len;
      qsort (rows->data, rows->len, sizeof (guint), compare);
      column->rows = g_memdup2 (rows->data, rows->len * sizeof (guint));
      column->parent = column->n > 0 ? column->rows[0] : j;
      if (column->n > 0)
        {
          sibling[j] = child[column->parent];
          child[column->parent] = j;
        }
    }
}

static void
add_panel (Cholesky *self, guint first, guint width)
{
  Panel *panel = &self->panels[self->n_panels];
  const Column *column = &self->columns[first];

  *panel = (Panel){ .first = first, .width = width, .n_rows = column->n + 1, .self = self };
  panel->rows = g_new (guint, panel->n_rows);
  panel->rows[0] = first;
  memcpy (panel->rows + 1, column->rows, column->n * sizeof (guint));
  panel->values = g_new (gdouble, (gsize) panel->n_rows * width);
  for (guint i = 0; i < width; i++)
    self->panel_of[first + i] = self->n_panels;
  self->n_panels++;
}

/* From row @at on, how many of the panel's rows are columns of the same panel. */
static guint
rows_of_one (const Panel *panel, guint at)
{
  const Cholesky *self = panel->self;
  guint n = 1;

  while (at + n < panel->n_rows
         && self->panel_of[panel->rows[at + n]] == self->panel_of[panel->rows[at]])
    n++;

  return n;
}

static void
find_panels (Cholesky *self)
{
  self->panels = g_new (Panel, self->n);
  self->panel_of = g_new (guint, self->n);
  for (guint first = 0, end; first < self->n; first = end)
    {
      for (end = first + 1; end < self->n && end < first + WIDTH; end++)
        if (self->columns[end - 1].parent != end
            || self->columns[end - 1].n != self->columns[end].n + 1)
          break;
      add_panel (self, first, end - first);
    }
  for (guint i = 0; i < self->n_panels; i++)
    for (guint at = self->panels[i].width; at < self->panels[i].n_rows;
         at += rows_of_one (&self->panels[i], at))
      self->panels[self->panel_of[self->panels[i].rows[at]]].n_updates++;
}

static gpointer
cholesky_create (gdouble scale, char **size)
{
  Cholesky *self = g_new0 (Cholesky, 1);
  guint next = 0;
  gsize n_values = 0;

  /* Work grows with the third power. */
  self->side = MAX ((guint) (USUAL * cbrt (scale)), 30);
  self->n = self->side * self->side;
  self->order = g_new (guint, self->n);
  dissect (self, 0, 0, self->side, self->side, &next);
  find_columns (self);
  find_panels (self);
  for (guint i = 0; i < self->n; i++)
    {
      n_values += self->columns[i].n + 1;
      g_free (self->columns[i].rows);
    }
  g_clear_pointer (&self->columns, g_free);
  *size = g_strdup_printf ("a grid of %u x %u, %" G_GSIZE_FORMAT
                           " numbers in L, in place of d750.o",
                           self->side, self->side, n_values);

  return self;
}

static void
cholesky_destroy (gpointer data)
{
  Cholesky *self = data;

  for (guint i = 0; i < self->n_panels; i++)
    {
      g_free (self->panels[i].rows);
      g_free (self->panels[i].values);
    }
  splash_locks_free (self->locks);
  g_free (self->panels);
  g_free (self->panel_of);
  g_free (self->order);
  g_free (self);
}

/* --- the numbers ------------------------------------------------------------------------------ */

/* Where a number of L is; the row must be one of the panel's. */
static gdouble *
number_at (const Cholesky *self, guint row, guint column)
{
  const Panel *panel = &self->panels[self->panel_of[column]];
  const guint *found = bsearch (&row, panel->rows, panel->n_rows, sizeof row, compare);

  return &panel->values[(gsize) (column - panel->first) * panel->n_rows
                        + (gsize) (found - panel->rows)];
}

static guint
cholesky_start (gpointer data, SplashTeam *team)
{
  Cholesky *self = data;

  self->team = team;
  splash_locks_free (self->locks);
  self->locks = splash_locks_new (team, N_LOCKS);
  for (guint i = 0; i < self->n_panels; i++)
    {
      Panel *panel = &self->panels[i];

      panel->n_missing = panel->n_updates;
      memset (panel->values, 0, (gsize) panel->n_rows * panel->width * sizeof *panel->values);
    }
  for (guint i = 0; i < self->n; i++)
    {
      guint of[4], n = neighbours (self, i, of), column = self->order[i];

      *number_at (self, column, column) = DIAGONAL;
      for (guint j = 0; j < n; j++)
        if (of[j] > column)
          *number_at (self, of[j], column) = -1;
    }

  return 1;
}

static void
factor (const Panel *panel)
{
  guint n = panel->n_rows;

  for (guint p = 0; p < panel->width; p++)
    {
      gdouble *column = panel->values + (gsize) p * n;
      gdouble inverse = 1 / sqrt (column[p]);

      for (guint i = p; i < n; i++)
        column[i] *= inverse;
      for (guint j = p + 1; j < panel->width; j++)
        {
          gdouble *restrict other = panel->values + (gsize) j * n;

          for (guint i = j; i < n; i++)
            other[i] -= column[i] * column[j];
        }
    }
}

static void panel_run (gpointer data);

/* What rows @at and those behind it of @panel subtract from a later panel, of whose columns @n are
 * among those rows. */
typedef struct
{
  const Panel *panel;
  Panel *later;
  guint at, n;
  gdouble *values;
} Update;

static gdouble *
compute (const Panel *panel, guint at, guint n)
{
  guint n_rows = panel->n_rows - at;
  gdouble *restrict values = g_new0 (gdouble, (gsize) n * n_rows);

  for (guint p = 0; p < panel->width; p++)
    {
      const gdouble *column = panel->values + (gsize) p * panel->n_rows + at;

      for (guint j = 0; j < n; j++)
        for (guint i = j; i < n_rows; i++)
          values[(gsize) j * n_rows + i] += column[i] * column[j];
    }

  return values;
}

static gint
subtract (gpointer data)
{
  const Update *what = data;
  Panel *later = what->later;
  const guint *rows = what->panel->rows + what->at;
  guint n_rows = what->panel->n_rows - what->at;

  /* The later panel has all these rows. */
  for (guint i = 0, to = 0; i < n_rows; i++)
    {
      while (later->rows[to] != rows[i])
        to++;
      for (guint j = 0; j < MIN (what->n, i + 1); j++)
        later->values[(gsize) (rows[j] - later->first) * later->n_rows + to] -=
            what->values[(gsize) j * n_rows + i];
    }
  g_free (what->values);
  if (--later->n_missing == 0)
    splash_task_queue (later->self->team, &later->task, panel_run, later);

  return SPLASH_DONE;
}

static void
panel_run (gpointer data)
{
  Panel *panel = data;
  Cholesky *self = panel->self;

  factor (panel);
  for (guint at = panel->width, n; at < panel->n_rows; at += n)
    {
      guint later = self->panel_of[panel->rows[at]];
      Update what = { panel, &self->panels[later], at, 0, NULL };

      n = what.n = rows_of_one (panel, at);
      what.values = compute (panel, at, n);
      splash_section (self->team, self->locks, later % N_LOCKS, subtract, &what, sizeof what);
    }
}

static void
cholesky_phase (gpointer data, SplashTeam *team, guint phase, guint part)
{
  Cholesky *self = data;
  guint first, end;

  splash_share (team, part, self->n_panels, &first, &end);
  for (guint i = first; i < end; i++)
    if (self->panels[i].n_updates == 0)
      splash_task_queue (team, &self->panels[i].task, panel_run, &self->panels[i]);
}

static gboolean
cholesky_check (gpointer data, GError **error)
{
  const Cholesky *self = data;
  g_autofree gdouble *x = g_new (gdouble, self->n), *found = g_new0 (gdouble, self->n);
  guint64 random = 5;

  for (guint i = 0; i < self->n; i++)
    x[i] = 2 * splash_random (&random) - 1;
  for (guint i = 0; i < self->n; i++)
    {
      const Panel *panel = &self->panels[self->panel_of[i]];
      guint p = i - panel->first;
      const gdouble *column = panel->values + (gsize) p * panel->n_rows;
      gdouble product = 0;

      for (guint j = p; j < panel->n_rows; j++)
        product += column[j] * x[panel->rows[j]];
      for (guint j = p; j < panel->n_rows; j++)
        found[panel->rows[j]] += column[j] * product;
    }
  for (guint i = 0; i < self->n; i++)
    {
      guint of[4], n = neighbours (self, i, of), row = self->order[i];
      gdouble expected = DIAGONAL * x[row];

      for (guint j = 0; j < n; j++)
        expected -= x[of[j]];
      if (!(fabs (found[row] - expected) < TOLERANCE))
        return splash_wrong (error, "row %u of L L^T x is %.17g, that of A x is %.17g", row,
                             found[row], expected);
    }

  return TRUE;
}

const SplashProgram splash_cholesky = {
  .name = "cholesky",
  .has_tasks = TRUE,
  .create = cholesky_create,
  .destroy = cholesky_destroy,
  .start = cholesky_start,
  .phase = cholesky_phase,
  .check = cholesky_check,
};
