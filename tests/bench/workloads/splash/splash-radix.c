/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Radix: sorts integers by digits of 10 bits, the lowest first.
 *
 * A pass has three phases. Each part counts the digits of its keys and adds the counts to those of
 * all, in ranges of digits of which each has a lock. It computes where its keys of each digit
 * belong: behind all smaller digits, and behind the same digit's keys of the parts before it. It
 * moves its keys there.
 *
 * Source: G. E. Blelloch, C. E. Leiserson, B. M. Maggs, C. G. Plaxton, S. J. Smith, M. Zagha, "A
 * Comparison of Sorting Algorithms for the Connection Machine CM-2", SPAA 1991.
 *
 * Check: the result is sorted, and a permutation of the input: the sums of a hash of the keys
 * agree.
 */
#include "tests/bench/workloads/splash/splash.h"

#include <string.h>

#define PUBLISHED  (1u << 24)
#define USUAL      (1u << 24)
#define DIGIT_BITS 10
#define RADIX      (1u << DIGIT_BITS)
#define PASSES     2
#define RANGES     16 /* of digits, each with a lock */
#define IN_A_RANGE (RADIX / RANGES)

enum
{
  PHASE_COUNT,
  PHASE_RANK,
  PHASE_MOVE,
  PHASES_OF_A_PASS,
};

typedef struct
{
  guint n;
  guint32 *input;
  guint32 *keys[2];           /* a pass moves them from one to the other */
  guint (*counts)[RADIX];     /* of each part */
  guint (*ranks)[RADIX];      /* of each part: where its next key of a digit goes */
  guint total[PASSES][RADIX]; /* under the locks */
  SplashLocks *locks;
} Radix;

static gpointer
radix_create (gdouble scale, char **size)
{
  Radix *self = g_new0 (Radix, 1);
  guint64 random = 1;
  g_autofree char *part = NULL;

  self->n = MAX ((guint) (USUAL * scale), 1000);
  part = splash_part_of_published (self->n, PUBLISHED);
  *size = g_strdup_printf ("%u keys, %s", self->n, part);
  self->input = g_new (guint32, self->n);
  for (guint i = 0; i < 2; i++)
    self->keys[i] = g_new (guint32, self->n);
  for (guint i = 0; i < self->n; i++)
    self->input[i] = (guint32) (splash_random (&random) * (1u << PASSES * DIGIT_BITS));

  return self;
}

static void
radix_destroy (gpointer data)
{
  Radix *self = data;

  splash_locks_free (self->locks);
  g_free (self->counts);
  g_free (self->ranks);
  g_free (self->keys[0]);
  g_free (self->keys[1]);
  g_free (self->input);
  g_free (self);
}

static guint
radix_start (gpointer data, SplashTeam *team)
{
  Radix *self = data;
  guint n_parts = splash_team_size (team);

  memcpy (self->keys[0], self->input, self->n * sizeof *self->input);
  memset (self->total, 0, sizeof self->total);
  g_free (self->counts);
  g_free (self->ranks);
  self->counts = g_malloc0_n (n_parts, sizeof *self->counts);
  self->ranks = g_malloc0_n (n_parts, sizeof *self->ranks);
  splash_locks_free (self->locks);
  self->locks = splash_locks_new (team, RANGES);

  return PASSES * PHASES_OF_A_PASS;
}

static inline guint
digit_of (guint32 key, guint pass)
{
  return key >> pass * DIGIT_BITS & (RADIX - 1);
}

typedef struct
{
  guint *total;
  const guint *counts;
} Addition;

static gint
add_counts (gpointer data)
{
  const Addition *what = data;

  for (guint i = 0; i < IN_A_RANGE; i++)
    what->total[i] += what->counts[i];

  return SPLASH_DONE;
}

static void
count_keys (Radix *self, SplashTeam *team, guint pass, guint part)
{
  guint *counts = self->counts[part];
  guint first, end;

  splash_share (team, part, self->n, &first, &end);
  memset (counts, 0, sizeof *self->counts);
  for (guint i = first; i < end; i++)
    counts[digit_of (self->keys[pass % 2][i], pass)]++;
  for (guint i = 0; i < RANGES; i++)
    {
      /* Each part starts with another range. */
      guint range = (i + part) % RANGES;
      Addition what = { &self->total[pass][range * IN_A_RANGE], &counts[range * IN_A_RANGE] };

      splash_section (team, self->locks, range, add_counts, &what, sizeof what);
    }
}

static void
rank_keys (Radix *self, guint pass, guint part)
{
  guint *ranks = self->ranks[part], before = 0;

  for (guint digit = 0; digit < RADIX; digit++)
    {
      ranks[digit] = before;
      before += self->total[pass][digit];
    }
  for (guint i = 0; i < part; i++)
    for (guint digit = 0; digit < RADIX; digit++)
      ranks[digit] += self->counts[i][digit];
}

static void
move_keys (Radix *self, const SplashTeam *team, guint pass, guint part)
{
  const guint32 *from = self->keys[pass % 2];
  guint32 *to = self->keys[1 - pass % 2];
  guint first, end;

  splash_share (team, part, self->n, &first, &end);
  for (guint i = first; i < end; i++)
    to[self->ranks[part][digit_of (from[i], pass)]++] = from[i];
}

static void
radix_phase (gpointer data, SplashTeam *team, guint phase, guint part)
{
  guint pass = phase / PHASES_OF_A_PASS;

  switch (phase % PHASES_OF_A_PASS)
    {
    case PHASE_COUNT:
      count_keys (data, team, pass, part);
      break;
    case PHASE_RANK:
      rank_keys (data, pass, part);
      break;
    default:
      move_keys (data, team, pass, part);
    }
}

/* A sum of these is that of other keys as well only by an accident of one in 2^64. */
static guint64
hash (guint64 key)
{
  key = (key + 1) * G_GUINT64_CONSTANT (0x9e3779b97f4a7c15);

  return (key ^ key >> 29) * G_GUINT64_CONSTANT (0xbf58476d1ce4e5b9);
}

static gboolean
radix_check (gpointer data, GError **error)
{
  const Radix *self = data;
  const guint32 *keys = self->keys[PASSES % 2];
  guint64 difference = 0;

  for (guint i = 0; i < self->n; i++)
    {
      if (i > 0 && keys[i - 1] > keys[i])
        return splash_wrong (error, "key %u is %u, the one before it %u", i, keys[i], keys[i - 1]);
      difference += hash (keys[i]) - hash (self->input[i]);
    }
  if (difference != 0)
    return splash_wrong (error, "the sorted keys are no permutation of the input");

  return TRUE;
}

const SplashProgram splash_radix = {
  .name = "radix",
  .create = radix_create,
  .destroy = radix_destroy,
  .start = radix_start,
  .phase = radix_phase,
  .check = radix_check,
};
