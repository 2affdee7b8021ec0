/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Placements, the contenders of this folder: where the parts of a program run, and by what hints.
 */
#pragma once

#include "tests/bench/measure/bench-measure.h"

#include <iris/iris.h>

/* Where the parts are put; each workload says what that is. */
typedef enum
{
  BENCH_PLACED_BEST,
  BENCH_PLACED_WORST,
  BENCH_PLACED_RANDOM,
  BENCH_PLACED_NOWHERE, /* the program says nothing */
} BenchPlaced;

typedef struct
{
  const char *name; /* as a contender */
  BenchPlaced placed;
  IrisItemFlags flags; /* of the hints */
  IrisDeal deal;       /* of the scheduler */
} BenchPlacement;

typedef enum
{
  BENCH_PLACEMENT_BEST = 1 << 0,
  BENCH_PLACEMENT_WORST = 1 << 1,
  BENCH_PLACEMENT_RANDOM = 1 << 2,
  BENCH_PLACEMENT_IGNORANT = 1 << 3,
  BENCH_PLACEMENT_BEST_STRICT = 1 << 4, /* hints that no idle place overrides */
  BENCH_PLACEMENT_WORST_STRICT = 1 << 5,
  BENCH_PLACEMENT_IGNORANT_DEALT = 1 << 6, /* as LASSI deals: to the places in turn */
} BenchPlacements;

/* Loads whose data is a structure that begins with a pointer to the placement: a series for each of
 * the set, compared with the first. */
void bench_placements_add (BenchResult *result,
                           const BenchOptions *options,
                           BenchPlacements set,
                           const BenchCase *what);
/* Whether --only names placements. */
gboolean bench_placements_check (const BenchOptions *options, GError **error);

/* The places that the user chose, two at least, each worker bound to a cpu if there are enough. */
IrisPlaces *
bench_placements_places (const BenchOptions *options, const char *workload, GError **error);

/* What LASSI counted (row B14), of the best placement against another one of the load. */
#define BENCH_HITS(of, load, low, high)                                              \
  {                                                                                  \
    "last-level read hits of the best, times those of " of, load, "best", low, high, \
        .base = of, .counter = BENCH_LL_HITS                                         \
  }
#define BENCH_MISSES(of, load, low, high)                                                 \
  {                                                                                       \
    "last-level read misses of " of ", times those of the best", load, "best", low, high, \
        .base = of, .counter = BENCH_LL_MISSES                                            \
  }

/* For the title: "2 places (l2)". */
char *bench_placements_describe (IrisPlaces *places);

/* The half of the places, 0 or 1, that a place belongs to. */
static inline guint
bench_half_of_place (IrisPlaces *places, guint place)
{
  return place * 2 / iris_places_get_n_places (places);
}

/* --- intervals of a run ----------------------------------------------------------------------- */

/* A scheduler whose workers sleep, and intervals that wait to be scheduled. */
typedef struct
{
  const BenchPlacement *placement;
  guint n_places;
  IrisScheduler *scheduler;
  IrisIntervalGraph *graph;
  GPtrArray *intervals; /* in the order in which they will be scheduled */
} BenchIntervals;

gboolean bench_intervals_open (BenchIntervals *self,
                               IrisPlaces *places,
                               const BenchPlacement *placement,
                               GError **error);
void bench_intervals_close (BenchIntervals *self);

#define BENCH_NO_PLACE G_MAXUINT

/* The place is a hint; under a placement that says nothing it is left out. Returns the interval,
 * owned by self. */
IrisInterval *bench_intervals_add (BenchIntervals *self,
                                   const char *name,
                                   IrisIntervalFunc func,
                                   gpointer data,
                                   guint place);
/* An edge; NULL before: none. */
void bench_intervals_after (IrisInterval *after, IrisInterval *before);

/* Schedules all; the time from then until the last one has ended. */
gboolean bench_intervals_run (BenchIntervals *self, gdouble *seconds, GError **error);
