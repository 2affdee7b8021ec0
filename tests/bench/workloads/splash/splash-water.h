/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Liquid water in a periodic box: what both ways to find pairs of molecules share.
 *
 * A molecule is three charges, of which the oxygen has a Lennard-Jones potential as well, held
 * together by springs. Potentials end smoothly at a cutoff, so energy is conserved. Gear's method
 * of the fifth order moves the atoms: predict, find the forces, correct. The first step only finds
 * the forces at the start.
 *
 * Source: H. J. C. Berendsen, J. P. M. Postma, W. F. van Gunsteren, J. Hermans, "Interaction Models
 * for Water in Relation to Protein Hydration", 1981 (charges and Lennard-Jones); C. W. Gear,
 * "Numerical Initial Value Problems in Ordinary Differential Equations", 1971. The suite's programs
 * have another potential.
 *
 * Check: energy and momentum are conserved, and the forces on a sample are those of all other
 * molecules, one by one.
 */
#pragma once

#include "tests/bench/workloads/splash/splash.h"

#define WATER_STEPS     4 /* with the first one */
#define WATER_PUBLISHED 9261
#define WATER_ATOMS     3 /* the oxygen comes first */
#define WATER_ORDER     5

/* Twice that is the most by which an atom may be nearer than its oxygen, in ångström. */
#define WATER_REACH 1.2

typedef struct
{
  SplashVector atoms[WATER_ATOMS];
} WaterForces;

typedef struct
{
  /* Of each atom: position, and derivative k times dt^k / k!. */
  SplashVector derivatives[WATER_ORDER + 1][WATER_ATOMS];
  SplashVector at[WATER_ATOMS]; /* where the forces are found */
  WaterForces forces;
  guint next; /* in a cell */
} WaterMolecule;

typedef struct
{
  guint n;
  gdouble edge, cutoff;
  WaterMolecule *input, *molecules;
  gdouble potential[WATER_STEPS], kinetic[WATER_STEPS]; /* under a lock */
  SplashLocks *sum_lock;
  SplashLocks *locks;     /* of molecules or cells */
  WaterForces **of_parts; /* n²: what each part adds to each molecule */
  guint n_parts;
  guint side;   /* spatial: cells in a row */
  guint *cells; /* spatial: the first molecule */
} Water;

/* @side molecules in a row; cutoff 0: as large as the box allows */
Water *water_new (guint side, gdouble cutoff, char **size);
void water_free (gpointer self);
void water_start (Water *self, SplashTeam *team, guint n_locks);
/* What the two molecules do to each other is added to the forces. Returns the potential. */
gdouble water_add_pair (const Water *self,
                        const WaterMolecule *a,
                        const WaterMolecule *b,
                        WaterForces *of_a,
                        WaterForces *of_b);
void water_predict (Water *self, guint molecule, guint step);
/* Adds what is within the molecules, and the energies of these to those of all. */
void water_correct (Water *self, SplashTeam *team, guint first, guint end, guint step);
void water_add_potential (Water *self, SplashTeam *team, guint step, gdouble potential);
void water_add_forces (WaterForces *to, const WaterForces *forces);
gboolean water_check (gpointer self, GError **error);
