/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Numeric workloads: plain C, one worker, and all workers, in turn.
 *
 * The plain run is done once before everything else, checked against what is known on paper, and
 * kept; after each trial, plain or not, every number must be equal to it, bit for bit. That can be
 * demanded because a tile computes each number by the same operations in the same order.
 */
#include "tests/bench/workloads/numeric/bench-numeric.h"

#include <string.h>

struct _BenchSolved
{
  BenchNumeric numeric;
  gdouble *expected;
  gsize n;
};

gdouble *
bench_numbers_new (gsize n)
{
  return g_aligned_alloc0 (n, sizeof (gdouble), 64);
}

void
bench_fill_random (gdouble *values, gsize n)
{
  guint64 x = G_GUINT64_CONSTANT (0x2545f4914f6cdd1d);

  for (gsize i = 0; i < n; i++)
    {
      x ^= x << 13;
      x ^= x >> 7;
      x ^= x << 17;
      values[i] = (gdouble) (x >> 11) / (G_GUINT64_CONSTANT (1) << 52) - 1;
    }
}

static void
solved_free (gpointer data)
{
  BenchSolved *self = data;

  self->numeric.free (self->numeric.problem);
  g_free (self->expected);
  g_free (self);
}

/* So that zeros of both signs differ, and a number that is none equals itself. */
static guint64
bits_of (gdouble value)
{
  guint64 bits;

  memcpy (&bits, &value, sizeof bits);

  return bits;
}

static gboolean
check_values (const BenchSolved *self, GError **error)
{
  gsize n;
  const gdouble *values = self->numeric.values (self->numeric.problem, &n);

  for (gsize i = 0; i < n; i++)
    if (bits_of (values[i]) != bits_of (self->expected[i]))
      {
        g_set_error (error, BENCH_ERROR, BENCH_ERROR_RESULT,
                     "number %" G_GSIZE_FORMAT " of %" G_GSIZE_FORMAT
                     " is %.17g, where plain C has %.17g",
                     i, n, values[i], self->expected[i]);
        return FALSE;
      }

  return TRUE;
}

gboolean
bench_solved_run_plain (const BenchRun *run, gdouble *samples, GError **error)
{
  const BenchSolved *self = run->load;
  gint64 begin;

  self->numeric.restart (self->numeric.problem);
  begin = bench_now ();
  self->numeric.plain (self->numeric.problem);
  samples[0] = bench_seconds_since (begin);

  return check_values (self, error);
}

gboolean
bench_solved_run_tiles (const BenchRun *run, gdouble *samples, GError **error)
{
  const BenchSolved *self = run->load;
  const BenchPhases *phases = &self->numeric.phases;
  gint64 begin;

  self->numeric.restart (self->numeric.problem);
  begin = bench_now ();
  for (guint i = 0; i < phases->n_phases; i++)
    for (guint j = 0, n = phases->n_tiles (phases->problem, i); j < n; j++)
      phases->tile (phases->problem, i, j);
  samples[0] = bench_seconds_since (begin);

  return check_values (self, error);
}

gboolean
bench_solved_run_contender (const BenchRun *run, gdouble *samples, GError **error)
{
  const BenchSolved *self = run->load;

  self->numeric.restart (self->numeric.problem);

  return bench_contender_phases (run->contender, &self->numeric.phases, run->workers, samples,
                                 error)
         && check_values (self, error);
}

static gboolean
expect (BenchSolved *self, GError **error)
{
  const BenchNumeric *numeric = &self->numeric;
  const gdouble *values;

  numeric->restart (numeric->problem);
  numeric->plain (numeric->problem);
  if (!numeric->check_plain (numeric->problem, error))
    return FALSE;
  values = numeric->values (numeric->problem, &self->n);
  self->expected = g_memdup2 (values, self->n * sizeof *values);

  return TRUE;
}

const BenchSolved *
bench_numeric_solve (BenchResult *result, const BenchNumeric *numeric, GError **error)
{
  BenchSolved *self = bench_result_own (result, g_new0 (BenchSolved, 1), solved_free);

  self->numeric = *numeric;

  return expect (self, error) ? self : NULL;
}

guint64
bench_solved_count_tiles (const BenchSolved *self)
{
  const BenchPhases *phases = &self->numeric.phases;
  guint64 n = 0;

  for (guint i = 0; i < phases->n_phases; i++)
    n += phases->n_tiles (phases->problem, i);

  return n;
}

gboolean
bench_numeric_plan (BenchResult *result,
                    const BenchOptions *options,
                    const BenchNumeric *numeric,
                    GError **error)
{
  const BenchSolved *solved = bench_numeric_solve (result, numeric, error);
  BenchCase what = { .load = "sequential",
                     .workers = 1,
                     .show = BENCH_SHOW_COMPARED,
                     .run = bench_solved_run_plain,
                     .data = solved };

  if (solved == NULL)
    return FALSE;
  what.n_items = bench_solved_count_tiles (solved);
  result->item = "tile";
  what.base = bench_result_add (result, &what, "plain", BENCH_PLAIN, NULL);
  what.run = bench_solved_run_contender;
  bench_contenders_add_scaled (result, options, BENCH_CAN_PHASES, &what, BENCH_OVERHEAD,
                               BENCH_FACTOR);

  return TRUE;
}
