/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Water n²: each part finds the forces between its molecules and the half of all others that follow
 * them, in an array of its own, and adds them to the molecules, each under its lock.
 *
 * Source and check: splash-water.h.
 */
#include "tests/bench/workloads/splash/splash-water.h"

#define USUAL 12.0 /* molecules in a row */

enum
{
  PHASE_PREDICT,
  PHASE_FORCES,
  PHASE_CORRECT,
  PHASES_OF_A_STEP,
};

static gpointer
water_nsq_create (gdouble scale, char **size)
{
  /* Work grows with the sixth power. */
  return water_new (MAX ((guint) (USUAL * pow (scale, 1.0 / 6) + 1e-9), 5), 0, size);
}

static guint
water_nsq_start (gpointer data, SplashTeam *team)
{
  Water *self = data;

  water_start (self, team, self->n);
  self->of_parts = g_new (WaterForces *, self->n_parts);
  for (guint i = 0; i < self->n_parts; i++)
    self->of_parts[i] = g_new (WaterForces, self->n);

  return WATER_STEPS * PHASES_OF_A_STEP;
}

typedef struct
{
  WaterForces *to;
  const WaterForces *forces;
} Addition;

static gint
add_one (gpointer data)
{
  const Addition *what = data;

  water_add_forces (what->to, what->forces);

  return SPLASH_DONE;
}

static void
find_forces (Water *self, SplashTeam *team, guint part, guint step)
{
  WaterForces *mine = self->of_parts[part];
  gdouble potential = 0;
  guint first, end, n = self->n;

  splash_share (team, part, n, &first, &end);
  for (guint i = 0; i < n; i++)
    mine[i] = (WaterForces){ 0 };
  for (guint i = first; i < end; i++)
    /* Of an even number the last distance would be met from both ends. */
    for (guint distance = 1; distance <= n / 2; distance++)
      if (2 * distance < n || i < n / 2)
        {
          guint j = (i + distance) % n;

          potential += water_add_pair (self, &self->molecules[i], &self->molecules[j], &mine[i],
                                       &mine[j]);
        }
  for (guint i = first; first < end && i < MIN (end + n / 2, first + n); i++)
    {
      Addition what = { &self->molecules[i % n].forces, &mine[i % n] };

      splash_section (team, self->locks, i % n, add_one, &what, sizeof what);
    }
  water_add_potential (self, team, step, potential);
}

static void
water_nsq_phase (gpointer data, SplashTeam *team, guint phase, guint part)
{
  Water *self = data;
  guint step = phase / PHASES_OF_A_STEP, first, end;

  splash_share (team, part, self->n, &first, &end);
  switch (phase % PHASES_OF_A_STEP)
    {
    case PHASE_PREDICT:
      for (guint i = first; i < end; i++)
        water_predict (self, i, step);
      break;
    case PHASE_FORCES:
      find_forces (self, team, part, step);
      break;
    default:
      water_correct (self, team, first, end, step);
    }
}

const SplashProgram splash_water_nsq = {
  .name = "water-nsq",
  .create = water_nsq_create,
  .destroy = water_free,
  .start = water_nsq_start,
  .phase = water_nsq_phase,
  .check = water_check,
};
