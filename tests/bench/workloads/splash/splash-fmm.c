/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * FMM: the field of charges in a plane, by multipole expansions of 20 terms.
 *
 * The square is halved in both directions again and again, until a box has about 32 charges. The
 * parts put their charges into the boxes, each under the box's lock; expand the charges of their
 * boxes about the centre; shift these expansions to the larger boxes, a level in a phase; collect
 * in each box, from the larger to the smaller, what far boxes do to it; and add what near boxes do,
 * charge by charge. The depth is the same everywhere, as charges are spread evenly.
 *
 * Source: L. Greengard, V. Rokhlin, "A Fast Algorithm for Particle Simulations", J. Comput. Phys.
 * 73, 1987, lemmas 2.3 to 2.5.
 *
 * Check: the field of a sample is that of a direct sum, within the error of 20 terms.
 */
#include "tests/bench/workloads/splash/splash.h"

#define PUBLISHED  32000
#define USUAL      32000
#define IN_A_BOX   32
#define TERMS      20
#define MAX_LEVELS 10
#define SAMPLES    100
#define TOLERANCE  1e-6 /* root mean square, of the mean field */

#define NONE G_MAXUINT

typedef struct
{
  SplashComplex position;
  SplashComplex field; /* the derivative of the potential */
  gdouble charge;
  guint next; /* in the box */
} Charge;

typedef struct
{
  SplashComplex centre;
  SplashComplex far[TERMS + 1];  /* of its charges, as seen from far boxes */
  SplashComplex near[TERMS + 1]; /* of far charges, as seen in it */
  guint charges;                 /* the smallest boxes'; under its lock */
} Box;

typedef struct
{
  guint n;
  guint levels; /* 0: one box */
  Charge *charges;
  Box *boxes[MAX_LEVELS + 1];                 /* of a level, by rows */
  gdouble over[2 * TERMS + 2][2 * TERMS + 2]; /* binomial coefficients */
  SplashLocks *locks;                         /* of the smallest boxes */
} Fmm;

static gpointer
fmm_create (gdouble scale, char **size)
{
  Fmm *self = g_new0 (Fmm, 1);
  guint64 random = 7;
  g_autofree char *part = NULL;

  self->n = MAX ((guint) (USUAL * scale), 1000);
  for (self->levels = 2; self->n >> 2 * self->levels > IN_A_BOX && self->levels < MAX_LEVELS;)
    self->levels++;
  part = splash_part_of_published (self->n, PUBLISHED);
  *size = g_strdup_printf ("%u particles, %s", self->n, part);
  self->charges = g_new (Charge, self->n);
  for (guint i = 0; i < self->n; i++)
    self->charges[i] = (Charge){
      .position = { splash_random (&random), splash_random (&random) },
      .charge = 2 * splash_random (&random) - 1,
    };
  for (guint level = 0; level <= self->levels; level++)
    self->boxes[level] = g_new (Box, 1u << 2 * level);
  for (guint i = 0; i < G_N_ELEMENTS (self->over); i++)
    for (guint j = 0; j <= i; j++)
      self->over[i][j] = j == 0 || j == i ? 1 : self->over[i - 1][j - 1] + self->over[i - 1][j];

  return self;
}

static void
fmm_destroy (gpointer data)
{
  Fmm *self = data;

  for (guint level = 0; level <= self->levels; level++)
    g_free (self->boxes[level]);
  splash_locks_free (self->locks);
  g_free (self->charges);
  g_free (self);
}

/* Phases: charges into boxes; expansions of the smallest boxes; those of the levels above, up to
 * the second; from there down; fields. */
static guint
fmm_start (gpointer data, SplashTeam *team)
{
  Fmm *self = data;

  for (guint level = 0; level <= self->levels; level++)
    for (guint i = 0; i < 1u << 2 * level; i++)
      {
        gdouble size = 1.0 / (1u << level);

        self->boxes[level][i] = (Box){
          .centre = { ((i & ((1u << level) - 1)) + 0.5) * size, ((i >> level) + 0.5) * size },
          .charges = NONE,
        };
      }
  for (guint i = 0; i < self->n; i++)
    self->charges[i].field = (SplashComplex){ 0, 0 };
  splash_locks_free (self->locks);
  self->locks = splash_locks_new (team, 1u << 2 * self->levels);

  return 2 + (self->levels - 2) + (self->levels - 1) + 1;
}

typedef struct
{
  Box *box;
  Charge *charges;
  guint charge;
} Insertion;

static gint
insert_one (gpointer data)
{
  const Insertion *what = data;

  what->charges[what->charge].next = what->box->charges;
  what->box->charges = what->charge;

  return SPLASH_DONE;
}

static void
insert_all (Fmm *self, SplashTeam *team, guint part)
{
  guint first, end, side = 1u << self->levels;

  splash_share (team, part, self->n, &first, &end);
  for (guint i = first; i < end; i++)
    {
      SplashComplex at = self->charges[i].position;
      guint box = (guint) (at.im * side) * side + (guint) (at.re * side);
      Insertion what = { &self->boxes[self->levels][box], self->charges, i };

      splash_section (team, self->locks, box, insert_one, &what, sizeof what);
    }
}

/* --- expansions ------------------------------------------------------------------------------- */

static void
expand (const Fmm *self, Box *box)
{
  for (guint i = box->charges; i != NONE; i = self->charges[i].next)
    {
      SplashComplex d = splash_csub (self->charges[i].position, box->centre);
      SplashComplex power = { self->charges[i].charge, 0 };

      box->far[0].re += power.re;
      for (guint k = 1; k <= TERMS; k++)
        {
          power = splash_cmul (power, d);
          box->far[k] = splash_csub (box->far[k], splash_cscaled (power, 1.0 / k));
        }
    }
}

static void
find_powers (SplashComplex *powers, SplashComplex of)
{
  powers[0] = (SplashComplex){ 1, 0 };
  for (guint k = 1; k <= TERMS; k++)
    powers[k] = splash_cmul (powers[k - 1], of);
}

/* Lemma 2.3: a child's expansion, about the centre of its parent. */
static void
shift_far (const Fmm *self, const Box *child, Box *parent)
{
  SplashComplex powers[TERMS + 1];

  find_powers (powers, splash_csub (child->centre, parent->centre));
  parent->far[0] = splash_cadd (parent->far[0], child->far[0]);
  for (guint l = 1; l <= TERMS; l++)
    {
      SplashComplex sum = splash_cscaled (splash_cmul (child->far[0], powers[l]), -1.0 / l);

      for (guint k = 1; k <= l; k++)
        sum = splash_cadd (sum, splash_cscaled (splash_cmul (child->far[k], powers[l - k]),
                                                self->over[l - 1][k - 1]));
      parent->far[l] = splash_cadd (parent->far[l], sum);
    }
}

/* Lemma 2.4: what a far box does, as seen in @box. The constant has no field and is left out. */
static void
add_far (const Fmm *self, const Box *far, Box *box)
{
  SplashComplex powers[TERMS + 1], terms[TERMS + 1];

  find_powers (powers, splash_cinverse (splash_csub (far->centre, box->centre)));
  for (guint k = 1; k <= TERMS; k++)
    terms[k] = splash_cscaled (splash_cmul (far->far[k], powers[k]), k % 2 == 0 ? 1 : -1);
  for (guint l = 1; l <= TERMS; l++)
    {
      SplashComplex sum = splash_cscaled (far->far[0], -1.0 / l);

      for (guint k = 1; k <= TERMS; k++)
        sum = splash_cadd (sum, splash_cscaled (terms[k], self->over[l + k - 1][k - 1]));
      box->near[l] = splash_cadd (box->near[l], splash_cmul (sum, powers[l]));
    }
}

/* Lemma 2.5: what far boxes do to the parent, about the centre of a child. */
static void
shift_near (const Fmm *self, const Box *parent, Box *child)
{
  SplashComplex powers[TERMS + 1];

  find_powers (powers, splash_csub (child->centre, parent->centre));
  for (guint l = 1; l <= TERMS; l++)
    for (guint k = l; k <= TERMS; k++)
      child->near[l] = splash_cadd (
          child->near[l],
          splash_cscaled (splash_cmul (parent->near[k], powers[k - l]), self->over[k][l]));
}

/* --- boxes ------------------------------------------------------------------------------------ */

static void
collect_far (const Fmm *self, guint level, guint i)
{
  gint side = 1 << level, x = (gint) i % side, y = (gint) i / side;
  Box *box = &self->boxes[level][i];

  shift_near (self, &self->boxes[level - 1][(y / 2) * (side / 2) + x / 2], box);
  /* Children of the parent's neighbours that are no neighbours. */
  for (gint row = MAX (y / 2 * 2 - 2, 0); row < MIN (y / 2 * 2 + 4, side); row++)
    for (gint column = MAX (x / 2 * 2 - 2, 0); column < MIN (x / 2 * 2 + 4, side); column++)
      if (ABS (row - y) > 1 || ABS (column - x) > 1)
        add_far (self, &self->boxes[level][row * side + column], box);
}

static void
sum_up (const Fmm *self, guint level, guint i)
{
  guint side = 1u << level, x = i % side, y = i / side;

  for (guint child = 0; child < 4; child++)
    shift_far (self, &self->boxes[level + 1][(2 * y + child / 2) * 2 * side + 2 * x + child % 2],
               &self->boxes[level][i]);
}

static SplashComplex
field_of (const Charge *charge, SplashComplex at)
{
  return splash_cscaled (splash_cinverse (splash_csub (at, charge->position)), charge->charge);
}

static void
add_near (const Fmm *self, const Box *box, Charge *charge)
{
  for (guint i = box->charges; i != NONE; i = self->charges[i].next)
    if (&self->charges[i] != charge)
      charge->field = splash_cadd (charge->field, field_of (&self->charges[i], charge->position));
}

static void
find_fields (const Fmm *self, guint i)
{
  gint side = 1 << self->levels, x = (gint) i % side, y = (gint) i / side;
  const Box *boxes = self->boxes[self->levels];

  for (guint j = boxes[i].charges; j != NONE; j = self->charges[j].next)
    {
      Charge *charge = &self->charges[j];
      SplashComplex d = splash_csub (charge->position, boxes[i].centre);

      for (guint k = TERMS; k >= 1; k--)
        charge->field = splash_cadd (splash_cmul (charge->field, d),
                                     splash_cscaled (boxes[i].near[k], k));
      for (gint row = MAX (y - 1, 0); row < MIN (y + 2, side); row++)
        for (gint column = MAX (x - 1, 0); column < MIN (x + 2, side); column++)
          add_near (self, &boxes[row * side + column], charge);
    }
}

static void
fmm_phase (gpointer data, SplashTeam *team, guint phase, guint part)
{
  Fmm *self = data;
  guint up = self->levels - 2, level = self->levels, first, end;

  if (phase == 0)
    {
      insert_all (self, team, part);
      return;
    }
  phase--;
  if (phase <= up)
    level = self->levels - phase;
  else if (phase <= 2 * up + 1)
    level = 2 + phase - up - 1;
  splash_share (team, part, 1u << 2 * level, &first, &end);
  for (guint i = first; i < end; i++)
    if (phase == 0)
      expand (self, &self->boxes[level][i]);
    else if (phase <= up)
      sum_up (self, level, i);
    else if (phase <= 2 * up + 1)
      collect_far (self, level, i);
    else
      find_fields (self, i);
}

static gboolean
fmm_check (gpointer data, GError **error)
{
  const Fmm *self = data;
  gdouble errors = 0, fields = 0;

  for (guint i = 0; i < SAMPLES; i++)
    {
      const Charge *charge = &self->charges[(guint64) self->n * i / SAMPLES];
      SplashComplex field = { 0, 0 }, difference;

      for (guint j = 0; j < self->n; j++)
        if (&self->charges[j] != charge)
          field = splash_cadd (field, field_of (&self->charges[j], charge->position));
      difference = splash_csub (field, charge->field);
      errors += difference.re * difference.re + difference.im * difference.im;
      fields += field.re * field.re + field.im * field.im;
    }
  if (!(sqrt (errors / fields) < TOLERANCE))
    return splash_wrong (error, "fields differ from a direct sum by %.3g of them; %g is expected",
                         sqrt (errors / fields), TOLERANCE);

  return TRUE;
}

const SplashProgram splash_fmm = {
  .name = "fmm",
  .create = fmm_create,
  .destroy = fmm_destroy,
  .start = fmm_start,
  .phase = fmm_phase,
  .check = fmm_check,
};
