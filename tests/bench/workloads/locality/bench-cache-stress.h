/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * LASSI's Cache Stress Test: units that each add and multiply all elements of one of two arrays,
 * many times. What is the same whether a unit is a thread or an interval.
 */
#pragma once

#include "tests/bench/workloads/locality/bench-lines.h"
#include "tests/bench/workloads/locality/bench-placement.h"

#define BENCH_STRESS_UNITS  8 /* a core */
#define BENCH_STRESS_ARRAYS 2

typedef struct
{
  IrisPlaces *places;
  guint *place_of_core; /* a core is a worker of the places */
  guint n_cores;
  guint n_units;
  guint passes; /* of a unit */
  BenchLines *arrays[BENCH_STRESS_ARRAYS];
  BenchSum expected[BENCH_STRESS_ARRAYS]; /* of all passes of a unit */
  GRand *rand;
} BenchStress;

/* One of the loads on one of the placements. */
typedef struct
{
  const BenchPlacement *placement;
  const BenchStress *stress;
  gboolean linked;   /* from line to line, not in order */
  gboolean by_turns; /* units take turns after each pass; else a unit makes all of them at once */
} BenchStressLoad;

/* On a line of its own. */
typedef struct
{
  const BenchStressLoad *load;
  const BenchLines *array;
  guint index;
  BenchSum sum;
} __attribute__ ((aligned (64))) BenchStressUnit;

/* Adds the four loads with their placements. @unit: what a unit is called, "thread". */
gboolean bench_stress_plan (BenchResult *result,
                            const BenchOptions *options,
                            const char *unit,
                            BenchPlacements set,
                            BenchRunFunc run,
                            GError **error);

/* All units of a run, with their arrays as the placement says; by chance if it says so or says
 * nothing. To be freed with free(). */
BenchStressUnit *bench_stress_units_new (const BenchStressLoad *load);
/* One pass; and all that are left to a unit that makes them at once. */
void bench_stress_pass (BenchStressUnit *self);
void bench_stress_passes (BenchStressUnit *self);
/* Did every unit come to the numbers of its array? */
gboolean
bench_stress_check (const BenchStressLoad *load, const BenchStressUnit *units, GError **error);

static inline guint
bench_stress_place (const BenchStressUnit *self)
{
  return self->load->stress->place_of_core[self->index / BENCH_STRESS_UNITS];
}
