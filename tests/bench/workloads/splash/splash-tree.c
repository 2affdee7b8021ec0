/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Barnes and Hut's tree: how bodies are inserted, and what is known of each cell.
 */
#include "tests/bench/workloads/splash/splash-tree.h"

#define N_LOCKS   1024u
#define IN_A_LEAF 8
#define SMALLEST  1e-9 /* leaves are not divided further, as part of the root */
#define TOP       6    /* the level at which parts share the cells */

void
splash_tree_init (SplashTree *self, SplashBody *bodies, guint n)
{
  *self = (SplashTree){ .bodies = bodies, .max_cells = 2 * n + 1000 };
  self->cells = g_new (SplashCell, self->max_cells);
}

void
splash_tree_clear (SplashTree *self)
{
  splash_locks_free (self->locks);
  g_free (self->cells);
}

void
splash_tree_start (SplashTree *self, SplashTeam *team)
{
  splash_locks_free (self->locks);
  self->locks = splash_locks_new (team, N_LOCKS);
}

/* --- bodies into cells ------------------------------------------------------------------------ */

static guint
octant_of (const SplashCell *cell, SplashVector position)
{
  return (guint) (position.x >= cell->middle.x) | (guint) (position.y >= cell->middle.y) << 1
         | (guint) (position.z >= cell->middle.z) << 2;
}

static guint
add_cell (SplashTree *self, SplashVector middle, gdouble half)
{
  /* Only the number counts: each cell has one writer. */
  guint i = atomic_fetch_add_explicit (&self->n_cells, 1, memory_order_relaxed);
  SplashCell *cell;

  if (i >= self->max_cells)
    g_error ("barnes: a tree of more than %u cells", self->max_cells);
  cell = &self->cells[i];
  *cell = (SplashCell){ .middle = middle, .half = half, .bodies = SPLASH_NONE };
  atomic_init (&cell->is_leaf, TRUE);

  return i;
}

void
splash_tree_plant (SplashTree *self, SplashVector middle, gdouble half)
{
  atomic_store_explicit (&self->n_cells, 0, memory_order_relaxed);
  add_cell (self, middle, half);
}

static void
push (SplashTree *self, SplashCell *leaf, guint body)
{
  self->bodies[body].next = leaf->bodies;
  leaf->bodies = body;
  leaf->n++;
}

/* A leaf with one body, which nothing leads to yet. */
static guint
add_child (SplashTree *self, const SplashCell *cell, guint octant, guint body)
{
  gdouble half = cell->half / 2;
  const SplashVector to_child = { octant & 1 ? half : -half, octant & 2 ? half : -half,
                                  octant & 4 ? half : -half };
  guint child = add_cell (self, splash_add (cell->middle, to_child), half);

  push (self, &self->cells[child], body);

  return child;
}

/* The leaf where a body at @position belongs, or the cell that has no child there. */
static guint
find (const SplashTree *self, guint cell, SplashVector position)
{
  for (;;)
    {
      const SplashCell *c = &self->cells[cell];
      guint child;

      if (splash_cell_is_leaf (c) || (child = splash_cell_child (c, octant_of (c, position))) == 0)
        return cell;
      cell = child;
    }
}

/* Under the leaf's lock: its bodies go into children, and then it is no leaf any more. */
static void
divide (SplashTree *self, SplashCell *leaf)
{
  for (guint i = leaf->bodies, next; i != SPLASH_NONE; i = next)
    {
      guint octant = octant_of (leaf, self->bodies[i].position);
      guint child = atomic_load_explicit (&leaf->children[octant], memory_order_relaxed);

      next = self->bodies[i].next;
      if (child != 0)
        push (self, &self->cells[child], i);
      else
        /* Relaxed: nothing looks for children of a leaf. */
        atomic_store_explicit (&leaf->children[octant], add_child (self, leaf, octant, i),
                               memory_order_relaxed);
    }
  leaf->n = 0;
  leaf->bodies = SPLASH_NONE;
  /* Release: the children are filled. */
  atomic_store_explicit (&leaf->is_leaf, FALSE, memory_order_release);
}

typedef struct
{
  SplashTree *self;
  guint cell, body;
} Insertion;

/* Under the cell's lock. Since the cell was found, it may have been divided, or given a child. */
static gint
insert (gpointer data)
{
  Insertion *what = data;
  SplashTree *self = what->self;
  SplashVector position = self->bodies[what->body].position;
  SplashCell *cell = &self->cells[what->cell];
  guint octant = octant_of (cell, position), child;

  if (splash_cell_is_leaf (cell))
    {
      if (cell->n < IN_A_LEAF || cell->half < SMALLEST * self->cells[0].half)
        {
          push (self, cell, what->body);
          return SPLASH_DONE;
        }
      divide (self, cell);
    }
  child = splash_cell_child (cell, octant);
  if (child != 0)
    {
      what->cell = find (self, child, position);
      return (gint) (what->cell % N_LOCKS);
    }
  /* Release: the child is filled. */
  atomic_store_explicit (&cell->children[octant], add_child (self, cell, octant, what->body),
                         memory_order_release);

  return SPLASH_DONE;
}

void
splash_tree_insert (SplashTree *self, SplashTeam *team, guint body)
{
  Insertion what = { self, find (self, 0, self->bodies[body].position), body };

  splash_section (team, self->locks, what.cell % N_LOCKS, insert, &what, sizeof what);
}

/* --- what is known of cells ------------------------------------------------------------------- */

/* A mass at @d from the centre, which has a quadrupole of its own if it is a cell. */
static void
add_quadrupole (SplashCell *cell, SplashVector d, gdouble mass, const SplashCell *of)
{
  gdouble square = splash_dot (d, d);

  cell->xx += mass * (3 * d.x * d.x - square) + (of != NULL ? of->xx : 0);
  cell->xy += mass * 3 * d.x * d.y + (of != NULL ? of->xy : 0);
  cell->xz += mass * 3 * d.x * d.z + (of != NULL ? of->xz : 0);
  cell->yy += mass * (3 * d.y * d.y - square) + (of != NULL ? of->yy : 0);
  cell->yz += mass * 3 * d.y * d.z + (of != NULL ? of->yz : 0);
  cell->zz += mass * (3 * d.z * d.z - square) + (of != NULL ? of->zz : 0);
}

static void
add_mass (SplashCell *cell, SplashVector at, gdouble mass, gdouble cost)
{
  cell->centre = splash_add (cell->centre, splash_scaled (at, mass));
  cell->mass += mass;
  cell->cost += cost;
}

static void
sum_up_leaf (const SplashTree *self, SplashCell *leaf)
{
  const SplashBody *bodies = self->bodies;

  for (guint i = leaf->bodies; i != SPLASH_NONE; i = bodies[i].next)
    add_mass (leaf, bodies[i].position, bodies[i].mass, bodies[i].cost);
  leaf->centre = splash_scaled (leaf->centre, 1 / leaf->mass);
  for (guint i = leaf->bodies; i != SPLASH_NONE; i = bodies[i].next)
    add_quadrupole (leaf, splash_sub (bodies[i].position, leaf->centre), bodies[i].mass, NULL);
}

/* The children are summed up. */
static void
sum_up_cell (const SplashTree *self, SplashCell *cell)
{
  const SplashCell *children[8];
  guint n = 0;

  for (guint i = 0; i < 8; i++)
    if (splash_cell_child (cell, i) != 0)
      children[n++] = &self->cells[splash_cell_child (cell, i)];
  for (guint i = 0; i < n; i++)
    add_mass (cell, children[i]->centre, children[i]->mass, children[i]->cost);
  cell->centre = splash_scaled (cell->centre, 1 / cell->mass);
  for (guint i = 0; i < n; i++)
    add_quadrupole (cell, splash_sub (children[i]->centre, cell->centre), children[i]->mass,
                    children[i]);
}

/* From a cell at @level down to level @until, where all is done. */
static void
sum_up (const SplashTree *self, guint cell, guint level, guint until)
{
  SplashCell *c = &self->cells[cell];

  if (level == until)
    return;
  if (splash_cell_is_leaf (c))
    {
      sum_up_leaf (self, c);
      return;
    }
  for (guint i = 0; i < 8; i++)
    if (splash_cell_child (c, i) != 0)
      sum_up (self, splash_cell_child (c, i), level + 1, until);
  sum_up_cell (self, c);
}

/* Every n-th cell at level TOP, from the number @skip on. */
static void
sum_up_share (const SplashTree *self, guint cell, guint level, guint n, guint *skip)
{
  const SplashCell *c = &self->cells[cell];

  if (level == TOP)
    {
      if (*skip == 0)
        sum_up (self, cell, level, G_MAXUINT);
      *skip = *skip == 0 ? n - 1 : *skip - 1;
      return;
    }
  for (guint i = 0; !splash_cell_is_leaf (c) && i < 8; i++)
    if (splash_cell_child (c, i) != 0)
      sum_up_share (self, splash_cell_child (c, i), level + 1, n, skip);
}

void
splash_tree_sum_up (SplashTree *self, const SplashTeam *team, guint part)
{
  guint skip = part;

  sum_up_share (self, 0, 0, splash_team_size (team), &skip);
}

void
splash_tree_sum_up_top (SplashTree *self)
{
  sum_up (self, 0, 0, TOP);
}
