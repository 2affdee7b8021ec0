/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Water: the potential, the way atoms move, and the check of both programs.
 *
 * Units: ångström, picoseconds, atomic masses; so an energy of 1 is 0.01 kJ/mol.
 */
#include "tests/bench/workloads/splash/splash-water.h"

#include <string.h>

#define NONE               G_MAXUINT
#define SPACING            3.104 /* of the lattice, at the density of water */
#define DT                 0.0001
#define COULOMB            138935.458 /* of two charges of an electron at 1 ångström */
#define SIGMA              3.166
#define EPSILON            65.0
#define BOND               1.0    /* rest lengths */
#define ACROSS             1.633  /* between the hydrogens */
#define STIFF              450000 /* springs: about those of water's vibrations */
#define STIFF_HH           140000
#define SPEED              3.0 /* at the start, at most, in each direction */
#define SAMPLES            16
#define TOLERANCE_ENERGY   3e-5 /* of the kinetic energy */
#define TOLERANCE_MOMENTUM 1e-10
#define TOLERANCE_FORCE    1e-10

static const gdouble masses[WATER_ATOMS] = { 15.9994, 1.008, 1.008 };
static const gdouble charges[WATER_ATOMS] = { -0.82, 0.41, 0.41 };

static void
place (WaterMolecule *molecule, SplashVector at, guint64 *random)
{
  SplashVector axes[2],
      speed = { SPEED * (2 * splash_random (random) - 1), SPEED * (2 * splash_random (random) - 1),
                SPEED * (2 * splash_random (random) - 1) };
  /* Springs are stretched, so that the check sees what they do. */
  gdouble length = 1.02 * BOND, half = asin (ACROSS / 2 / BOND);

  for (guint i = 0; i < 2; i++)
    {
      axes[i] = (SplashVector){ splash_random (random) - 0.5, splash_random (random) - 0.5,
                                splash_random (random) - 0.5 };
      /* At a right angle to the first one. */
      if (i == 1)
        axes[1] = splash_sub (axes[1], splash_scaled (axes[0], splash_dot (axes[0], axes[1])));
      axes[i] = splash_scaled (axes[i], 1 / sqrt (splash_dot (axes[i], axes[i])));
    }
  for (guint i = 0; i < WATER_ATOMS; i++)
    {
      const gdouble along[] = { 0, length * cos (half), length * cos (half) };
      const gdouble across[] = { 0, length * sin (half), -length * sin (half) };

      molecule->derivatives[0][i] = splash_add (
          at, splash_add (splash_scaled (axes[0], along[i]), splash_scaled (axes[1], across[i])));
      molecule->derivatives[1][i] = splash_scaled (speed, DT);
    }
}

Water *
water_new (guint side, gdouble cutoff, char **size)
{
  Water *self = g_new0 (Water, 1);
  SplashVector drift = { 0, 0, 0 };
  guint64 random = 8;
  g_autofree char *part = NULL;

  self->n = side * side * side;
  self->edge = SPACING * side;
  self->cutoff = cutoff > 0 ? cutoff : self->edge / 2 - 2 * WATER_REACH;
  part = splash_part_of_published (self->n, WATER_PUBLISHED);
  *size = g_strdup_printf ("%u molecules, %s, %u steps", self->n, part, WATER_STEPS);
  self->input = g_new0 (WaterMolecule, self->n);
  self->molecules = g_new (WaterMolecule, self->n);
  for (guint i = 0; i < self->n; i++)
    {
      const guint row = i / side % side, layer = i / side / side;
      const SplashVector at = { SPACING * (i % side), SPACING * row, SPACING * layer };

      place (&self->input[i], at, &random);
      drift = splash_add (drift, self->input[i].derivatives[1][0]);
    }
  drift = splash_scaled (drift, 1.0 / self->n);
  for (guint i = 0; i < self->n; i++)
    for (guint j = 0; j < WATER_ATOMS; j++)
      self->input[i].derivatives[1][j] = splash_sub (self->input[i].derivatives[1][j], drift);

  return self;
}

static void
free_parts (Water *self)
{
  for (guint i = 0; self->of_parts != NULL && i < self->n_parts; i++)
    g_free (self->of_parts[i]);
  g_clear_pointer (&self->of_parts, g_free);
}

void
water_free (gpointer data)
{
  Water *self = data;

  free_parts (self);
  splash_locks_free (self->sum_lock);
  splash_locks_free (self->locks);
  g_free (self->cells);
  g_free (self->input);
  g_free (self->molecules);
  g_free (self);
}

void
water_start (Water *self, SplashTeam *team, guint n_locks)
{
  memcpy (self->molecules, self->input, self->n * sizeof *self->input);
  memset (self->potential, 0, sizeof self->potential);
  memset (self->kinetic, 0, sizeof self->kinetic);
  splash_locks_free (self->sum_lock);
  self->sum_lock = splash_locks_new (team, 1);
  splash_locks_free (self->locks);
  self->locks = splash_locks_new (team, n_locks);
  for (guint i = 0; i < self->side * self->side * self->side; i++)
    self->cells[i] = NONE;
  free_parts (self);
  self->n_parts = splash_team_size (team);
}

/* --- potentials ------------------------------------------------------------------------------- */

void
water_add_forces (WaterForces *to, const WaterForces *forces)
{
  for (guint i = 0; i < WATER_ATOMS; i++)
    to->atoms[i] = splash_add (to->atoms[i], forces->atoms[i]);
}

/* A pull along d, from the first atom to the second. */
static inline void
add_pull (SplashVector *first, SplashVector *second, SplashVector d, gdouble factor)
{
  SplashVector force = splash_scaled (d, factor);

  *first = splash_add (*first, force);
  *second = splash_sub (*second, force);
}

/* Lennard-Jones's potential and, divided by r, its derivative. */
static inline gdouble
lennard_jones (gdouble r, gdouble *slope)
{
  gdouble s = SIGMA / r, s6 = s * s * s * s * s * s;

  *slope = -24 * EPSILON * (2 * s6 * s6 - s6) / (r * r);

  return 4 * EPSILON * (s6 * s6 - s6);
}

/* Two atoms, a distance of d apart. At the cutoff potential and force are zero. */
static inline gdouble
add_atoms (const Water *self, guint i, guint j, SplashVector d, SplashVector *a, SplashVector *b)
{
  gdouble end = self->cutoff, square = splash_dot (d, d), r, product, potential, slope;

  if (square >= end * end)
    return 0;
  r = sqrt (square);
  product = COULOMB * charges[i] * charges[j];
  potential = product * (1 / r - 1 / end + (r - end) / (end * end));
  slope = -product * (1 / square - 1 / (end * end)) / r;
  if (i == 0 && j == 0)
    {
      gdouble here, there, more = lennard_jones (r, &here);

      more -= lennard_jones (end, &there) + (r - end) * there * end;
      potential += more;
      slope += here - there * end / r;
    }
  add_pull (a, b, d, slope);

  return potential;
}

/* How far the nearest image of an atom is from the atom itself, in one direction. Molecules start
 * within the box and leave it by little, so another round is not needed. */
static inline gdouble
image_of (const Water *self, gdouble distance)
{
  gdouble edge = self->edge;

  return distance > edge / 2 ? edge : distance < -edge / 2 ? -edge : 0;
}

gdouble
water_add_pair (const Water *self,
                const WaterMolecule *a,
                const WaterMolecule *b,
                WaterForces *of_a,
                WaterForces *of_b)
{
  SplashVector d = splash_sub (b->at[0], a->at[0]);
  const SplashVector image = { image_of (self, d.x), image_of (self, d.y), image_of (self, d.z) };
  gdouble end = self->cutoff + 2 * WATER_REACH, potential = 0;

  d = splash_sub (d, image);
  if (splash_dot (d, d) >= end * end)
    return 0;
  for (guint i = 0; i < WATER_ATOMS; i++)
    for (guint j = 0; j < WATER_ATOMS; j++)
      potential += add_atoms (self, i, j, splash_sub (splash_sub (b->at[j], a->at[i]), image),
                              &of_a->atoms[i], &of_b->atoms[j]);

  return potential;
}

static gdouble
add_springs (const WaterMolecule *molecule, WaterForces *forces)
{
  gdouble potential = 0;

  for (guint i = 0; i < WATER_ATOMS; i++)
    {
      guint j = (i + 1) % WATER_ATOMS;
      gdouble stiffness = i == 1 ? STIFF_HH : STIFF;
      SplashVector d = splash_sub (molecule->at[j], molecule->at[i]);
      gdouble r = sqrt (splash_dot (d, d)), longer = r - (i == 1 ? ACROSS : BOND);

      potential += stiffness * longer * longer / 2;
      add_pull (&forces->atoms[i], &forces->atoms[j], d, stiffness * longer / r);
    }

  return potential;
}

/* --- motion ----------------------------------------------------------------------------------- */

void
water_predict (Water *self, guint molecule, guint step)
{
  WaterMolecule *m = &self->molecules[molecule];

  for (guint i = 0; i < WATER_ATOMS; i++)
    {
      /* Taylor's series, by Pascal's triangle. */
      for (guint from = 0; step > 0 && from < WATER_ORDER; from++)
        for (guint k = WATER_ORDER; k-- > from;)
          m->derivatives[k][i] = splash_add (m->derivatives[k][i], m->derivatives[k + 1][i]);
      m->at[i] = m->derivatives[0][i];
      m->forces.atoms[i] = (SplashVector){ 0, 0, 0 };
    }
}

static gdouble
correct_atom (WaterMolecule *m, guint i, guint step)
{
  static const gdouble factors[] = { 3.0 / 20, 251.0 / 360, 1, 11.0 / 18, 1.0 / 6, 1.0 / 60 };
  SplashVector second = splash_scaled (m->forces.atoms[i], DT * DT / 2 / masses[i]);
  SplashVector error = splash_sub (second, m->derivatives[2][i]), speed;

  m->derivatives[2][i] = second;
  for (guint k = 0; step > 0 && k <= WATER_ORDER; k++)
    if (k != 2)
      m->derivatives[k][i] = splash_add (m->derivatives[k][i], splash_scaled (error, factors[k]));
  speed = splash_scaled (m->derivatives[1][i], 1 / DT);

  return masses[i] * splash_dot (speed, speed) / 2;
}

typedef struct
{
  Water *self;
  guint step;
  gdouble potential, kinetic;
} Energies;

static gint
add_energies (gpointer data)
{
  const Energies *what = data;

  what->self->potential[what->step] += what->potential;
  what->self->kinetic[what->step] += what->kinetic;

  return SPLASH_DONE;
}

static void
add_to_all (SplashTeam *team, Energies *what)
{
  splash_section (team, what->self->sum_lock, 0, add_energies, what, sizeof *what);
}

void
water_add_potential (Water *self, SplashTeam *team, guint step, gdouble potential)
{
  Energies what = { self, step, potential, 0 };

  add_to_all (team, &what);
}

void
water_correct (Water *self, SplashTeam *team, guint first, guint end, guint step)
{
  Energies what = { self, step, 0, 0 };

  for (guint i = first; i < end; i++)
    {
      WaterMolecule *molecule = &self->molecules[i];

      what.potential += add_springs (molecule, &molecule->forces);
      for (guint j = 0; j < WATER_ATOMS; j++)
        what.kinetic += correct_atom (molecule, j, step);
    }
  add_to_all (team, &what);
}

/* --- check ------------------------------------------------------------------------------------ */

/* Against all other molecules, one by one. */
static gboolean
check_forces (const Water *self, guint i, GError **error)
{
  const WaterMolecule *m = &self->molecules[i];
  WaterForces forces = { 0 }, others = { 0 };
  gdouble size = 0;

  add_springs (m, &forces);
  for (guint j = 0; j < self->n; j++)
    if (j != i)
      water_add_pair (self, m, &self->molecules[j], &forces, &others);
  for (guint j = 0; j < WATER_ATOMS; j++)
    size += splash_dot (forces.atoms[j], forces.atoms[j]);
  for (guint j = 0; j < WATER_ATOMS; j++)
    {
      SplashVector d = splash_sub (forces.atoms[j], m->forces.atoms[j]);

      if (!(splash_dot (d, d) < TOLERANCE_FORCE * TOLERANCE_FORCE * size))
        return splash_wrong (error, "the force on molecule %u is not that of a direct sum", i);
    }

  return TRUE;
}

static gboolean
check_momentum (const Water *self, GError **error)
{
  SplashVector sum = { 0, 0, 0 };
  gdouble sizes = 0;

  for (guint i = 0; i < self->n; i++)
    for (guint j = 0; j < WATER_ATOMS; j++)
      {
        SplashVector p = splash_scaled (self->molecules[i].derivatives[1][j], masses[j]);

        sum = splash_add (sum, p);
        sizes += sqrt (splash_dot (p, p));
      }
  if (!(sqrt (splash_dot (sum, sum)) < TOLERANCE_MOMENTUM * sizes))
    return splash_wrong (error, "the sum of momenta is %.3g of their sizes, and was 0",
                         sqrt (splash_dot (sum, sum)) / sizes);

  return TRUE;
}

gboolean
water_check (gpointer data, GError **error)
{
  const Water *self = data;
  guint last = WATER_STEPS - 1;
  gdouble begin = self->potential[0] + self->kinetic[0];
  gdouble end = self->potential[last] + self->kinetic[last];

  if (!(fabs (end - begin) < TOLERANCE_ENERGY * self->kinetic[last]))
    return splash_wrong (error, "the energy is %.9g, and was %.9g", end, begin);
  for (guint i = 0; i < SAMPLES; i++)
    if (!check_forces (self, (guint) ((guint64) self->n * i / SAMPLES), error))
      return FALSE;

  return check_momentum (self, error);
}
