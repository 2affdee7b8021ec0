/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * LASSI's Cache Stress Test: the arrays, which unit works on which, and the check.
 *
 * Where one core uses a cache, two arrays meet in it only if its units take turns: that stands for
 * the four cores to a cache of the published machine, whose units run at the same time. In order, a
 * prefetcher may hide what a miss costs; along the list, where the next line is known only when the
 * last one is there, each miss is waited for. Hence four loads.
 */
#include "tests/bench/workloads/locality/bench-cache-stress.h"
#include "tests/bench/workloads/locality/bench-caches.h"

#include <stdlib.h>

#define PASSES 100
/* Of a place's cache: an array, its users' other data, and no more. */
#define SHARE        0.75
#define QUICK_PASSES 2
#define QUICK_BYTES  ((gsize) 64 << 10)

static void
stress_free (gpointer data)
{
  BenchStress *self = data;

  for (guint i = 0; i < BENCH_STRESS_ARRAYS; i++)
    g_clear_pointer (&self->arrays[i], bench_lines_free);
  g_free (self->place_of_core);
  g_rand_free (self->rand);
  g_clear_object (&self->places);
  g_free (self);
}

static void
number_cores (BenchStress *self)
{
  guint core = 0;

  self->n_cores = iris_places_get_n_workers (self->places);
  self->n_units = self->n_cores * BENCH_STRESS_UNITS;
  self->place_of_core = g_new (guint, self->n_cores);
  for (guint i = 0; i < iris_places_get_n_places (self->places); i++)
    for (guint n = iris_place_get_n_workers (iris_places_get_place (self->places, i)); n > 0; n--)
      self->place_of_core[core++] = i;
}

/* Array 0 lies near the first half of the places, array 1 near the second. */
static gboolean
make_arrays (BenchStress *self, gsize bytes, GError **error)
{
  guint n_places = iris_places_get_n_places (self->places);

  for (guint i = 0; i < BENCH_STRESS_ARRAYS; i++)
    {
      IrisPlace *place = iris_places_get_place (self->places, i == 0 ? 0 : n_places - 1);
      BenchLines *array = self->arrays[i] = bench_lines_new (place, bytes, error);
      BenchSum once;

      if (array == NULL)
        return FALSE;
      bench_lines_fill (array, array->n_most, i + 1);
      once = bench_lines_expect (array);
      self->expected[i] = (BenchSum){ 0, 1 };
      for (guint pass = 0; pass < self->passes; pass++)
        self->expected[i] = bench_sum_add (self->expected[i], once);
    }

  return TRUE;
}

/* NULL and an error if there are no two places, or no memory. */
static BenchStress *
stress_new (BenchResult *result, const BenchOptions *options, const char *unit, GError **error)
{
  IrisPlaces *places = bench_placements_places (options, result->name, error);
  g_autofree char *described = NULL;
  BenchStress *self;
  guint64 cache;
  gsize bytes;

  if (places == NULL)
    return NULL;
  self = bench_result_own (result, g_new0 (BenchStress, 1), stress_free);
  self->places = places;
  self->rand = g_rand_new_with_seed (1);
  self->passes = options->quick ? QUICK_PASSES : bench_choose (options, options->steps, PASSES, 1);
  number_cores (self);
  cache = bench_caches_of_places (places);
  bytes = (gsize) ((gdouble) (cache > 0 ? cache : BENCH_CACHE_ASSUMED) * SHARE);
  if (options->quick)
    bytes = MIN (bytes, QUICK_BYTES);
  described = bench_placements_describe (places);
  bench_result_set_title (result,
                          "two arrays of %" G_GSIZE_FORMAT " KiB, %s, %u %ss a core, "
                          "%u passes of each over its array; %s",
                          bytes >> 10,
                          options->quick ? "for a quick run"
                          : cache > 0    ? "0.75 of a place's cache"
                                         : "since no place has a cache that is known",
                          BENCH_STRESS_UNITS, unit, self->passes, described);

  return make_arrays (self, bytes, error) ? self : NULL;
}

gboolean
bench_stress_plan (BenchResult *result,
                   const BenchOptions *options,
                   const char *unit,
                   BenchPlacements set,
                   BenchRunFunc run,
                   GError **error)
{
  const BenchStress *stress = stress_new (result, options, unit, error);

  for (guint i = 0; stress != NULL && i < 4; i++)
    {
      const BenchStressLoad load = { .stress = stress, .linked = i >= 2, .by_turns = i % 2 == 1 };
      g_autofree char *name = g_strdup_printf ("%s, %s", load.linked ? "linked" : "in order",
                                               load.by_turns ? "by turns" : "at once");
      const BenchCase what = { .load = name,
                               .n_items = (guint64) stress->n_units * stress->passes,
                               .relation = BENCH_OVERHEAD,
                               .run = run,
                               .data = &load,
                               .size = sizeof load };

      bench_placements_add (result, options, set, &what);
    }

  return stress != NULL;
}

/* --- units ------------------------------------------------------------------------------------ */

static guint
array_of_unit (const BenchStressLoad *load, const BenchStressUnit *unit)
{
  return load->placement->placed == BENCH_PLACED_WORST
             ? unit->index % BENCH_STRESS_ARRAYS
             : bench_half_of_place (load->stress->places, bench_stress_place (unit));
}

BenchStressUnit *
bench_stress_units_new (const BenchStressLoad *load)
{
  const BenchStress *stress = load->stress;
  guint n = stress->n_units;
  BenchStressUnit *units = aligned_alloc (64, n * sizeof *units);
  gboolean by_chance = load->placement->placed == BENCH_PLACED_RANDOM
                       || load->placement->placed == BENCH_PLACED_NOWHERE;

  if (units == NULL)
    g_error ("out of memory");
  for (guint i = 0; i < n; i++)
    {
      units[i] = (BenchStressUnit){ .load = load, .index = i, .sum = { 0, 1 } };
      units[i].array = stress->arrays[array_of_unit (load, &units[i])];
    }
  /* Drawn anew for each run; as many units as ever are on each array. */
  for (guint i = n - 1; by_chance && i > 0; i--)
    {
      guint j = (guint) g_rand_int_range (stress->rand, 0, (gint32) i + 1);
      const BenchLines *other = units[j].array;

      units[j].array = units[i].array;
      units[i].array = other;
    }

  return units;
}

void
bench_stress_pass (BenchStressUnit *self)
{
  self->sum = bench_sum_add (self->sum, self->load->linked ? bench_lines_linked (self->array)
                                                           : bench_lines_in_order (self->array));
}

void
bench_stress_passes (BenchStressUnit *self)
{
  for (guint i = self->load->stress->passes; i > 0; i--)
    bench_stress_pass (self);
}

gboolean
bench_stress_check (const BenchStressLoad *load, const BenchStressUnit *units, GError **error)
{
  const BenchStress *stress = load->stress;

  for (guint i = 0; i < stress->n_units; i++)
    {
      BenchSum expected = stress->expected[units[i].array == stress->arrays[1]];

      if (units[i].sum.sum != expected.sum || units[i].sum.product != expected.product)
        {
          g_set_error (error, BENCH_ERROR, BENCH_ERROR_RESULT,
                       "unit %u comes to sum %u and product %u, not to %u and %u", i,
                       units[i].sum.sum, units[i].sum.product, expected.sum, expected.product);
          return FALSE;
        }
    }

  return TRUE;
}
