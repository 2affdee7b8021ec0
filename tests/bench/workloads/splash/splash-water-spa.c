/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Water spatial: the box is divided into cells no smaller than the cutoff, so that a molecule meets
 * those of its own cell and of the neighbours only.
 *
 * A part puts its molecules into cells, each under the cell's lock. For each of its cells it finds
 * the forces within it and with half of its neighbours, and adds them under the locks of both.
 *
 * Source: splash-water.h.
 *
 * Check: every molecule is in a cell; otherwise that of splash-water.h.
 */
#include "tests/bench/workloads/splash/splash-water.h"

#define NONE   G_MAXUINT
#define USUAL  21.0 /* molecules in a row */
#define CUTOFF 6.2

enum
{
  PHASE_PREDICT,
  PHASE_FORCES,
  PHASE_CORRECT,
  PHASES_OF_A_STEP,
};

static guint
n_cells (const Water *self)
{
  return self->side * self->side * self->side;
}

static gpointer
water_spa_create (gdouble scale, char **size)
{
  /* Three cells in a row at least, so that no two are neighbours twice. */
  Water *self = water_new (MAX ((guint) (USUAL * cbrt (scale) + 1e-9), 9), CUTOFF, size);

  self->side = (guint) (self->edge / (self->cutoff + 2 * WATER_REACH));
  self->cells = g_new (guint, n_cells (self));

  return self;
}

static guint
water_spa_start (gpointer data, SplashTeam *team)
{
  Water *self = data;

  water_start (self, team, n_cells (self));

  return WATER_STEPS * PHASES_OF_A_STEP;
}

static guint
cell_in_a_row (const Water *self, gdouble at)
{
  gdouble turns = at / self->edge;

  return MIN ((guint) ((turns - floor (turns)) * self->side), self->side - 1);
}

typedef struct
{
  Water *self;
  guint cell, molecule;
} Insertion;

static gint
insert_one (gpointer data)
{
  const Insertion *what = data;

  what->self->molecules[what->molecule].next = what->self->cells[what->cell];
  what->self->cells[what->cell] = what->molecule;

  return SPLASH_DONE;
}

static void
insert (Water *self, SplashTeam *team, guint molecule)
{
  SplashVector at = self->molecules[molecule].at[0];
  guint cell = (cell_in_a_row (self, at.z) * self->side + cell_in_a_row (self, at.y)) * self->side
               + cell_in_a_row (self, at.x);
  Insertion what = { self, cell, molecule };

  splash_section (team, self->locks, cell, insert_one, &what, sizeof what);
}

/* Forces on the molecules of a cell, in the order of its list. */
typedef struct
{
  Water *self;
  guint cell;
  WaterForces *forces;
} Addition;

static WaterForces *
forces_new (const Water *self, guint cell)
{
  guint n = 0;

  for (guint i = self->cells[cell]; i != NONE; i = self->molecules[i].next)
    n++;

  return g_new0 (WaterForces, n);
}

static gint
add_all (gpointer data)
{
  const Addition *what = data;
  WaterMolecule *molecules = what->self->molecules;
  const WaterForces *next = what->forces;

  for (guint i = what->self->cells[what->cell]; i != NONE; i = molecules[i].next)
    water_add_forces (&molecules[i].forces, next++);
  g_free (what->forces);

  return SPLASH_DONE;
}

static gdouble
find_pairs (Water *self, guint a, guint b, WaterForces *of_a, WaterForces *of_b)
{
  const WaterMolecule *molecules = self->molecules;
  gdouble potential = 0;
  guint m = 0;

  for (guint i = self->cells[a]; i != NONE; i = molecules[i].next, m++)
    {
      guint n = a == b ? m + 1 : 0;

      for (guint j = a == b ? molecules[i].next : self->cells[b]; j != NONE; j = molecules[j].next)
        potential += water_add_pair (self, &molecules[i], &molecules[j], &of_a[m], &of_b[n++]);
    }

  return potential;
}

/* Half of the 26 neighbours: those that follow in the order of z, y, x. */
static gdouble
find_forces (Water *self, SplashTeam *team, guint cell)
{
  guint side = self->side, x = cell % side, y = cell / side % side, z = cell / side / side;
  Addition mine = { self, cell, forces_new (self, cell) };
  gdouble potential = find_pairs (self, cell, cell, mine.forces, mine.forces);

  for (guint i = 14; i < 27; i++)
    {
      guint other = ((z + side + i / 9 - 1) % side * side + (y + side + i / 3 % 3 - 1) % side)
                        * side
                    + (x + side + i % 3 - 1) % side;
      Addition theirs = { self, other, forces_new (self, other) };

      potential += find_pairs (self, cell, other, mine.forces, theirs.forces);
      splash_section (team, self->locks, other, add_all, &theirs, sizeof theirs);
    }
  splash_section (team, self->locks, cell, add_all, &mine, sizeof mine);

  return potential;
}

static void
find_all_forces (Water *self, SplashTeam *team, guint part, guint step)
{
  gdouble potential = 0;
  guint first, end;

  splash_share (team, part, n_cells (self), &first, &end);
  for (guint i = first; i < end; i++)
    potential += find_forces (self, team, i);
  water_add_potential (self, team, step, potential);
}

static void
water_spa_phase (gpointer data, SplashTeam *team, guint phase, guint part)
{
  Water *self = data;
  guint step = phase / PHASES_OF_A_STEP, first, end;

  splash_share (team, part, self->n, &first, &end);
  switch (phase % PHASES_OF_A_STEP)
    {
    case PHASE_PREDICT:
      for (guint i = first; i < end; i++)
        {
          water_predict (self, i, step);
          insert (self, team, i);
        }
      break;
    case PHASE_FORCES:
      find_all_forces (self, team, part, step);
      break;
    default:
      water_correct (self, team, first, end, step);
      splash_share (team, part, n_cells (self), &first, &end);
      for (guint i = first; step < WATER_STEPS - 1 && i < end; i++)
        self->cells[i] = NONE;
    }
}

static gboolean
water_spa_check (gpointer data, GError **error)
{
  const Water *self = data;
  guint n = 0;

  for (guint cell = 0; cell < n_cells (self); cell++)
    for (guint i = self->cells[cell]; i != NONE; i = self->molecules[i].next)
      n++;
  if (n != self->n)
    return splash_wrong (error, "%u of %u molecules are in the cells", n, self->n);

  return water_check (data, error);
}

const SplashProgram splash_water_spa = {
  .name = "water-spa",
  .create = water_spa_create,
  .destroy = water_free,
  .start = water_spa_start,
  .phase = water_spa_phase,
  .check = water_spa_check,
};
