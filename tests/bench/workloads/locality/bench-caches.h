/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The caches of this machine, as hwloc knows them.
 */
#pragma once

#include <glib.h>
#include <iris/iris.h>

/* Where hwloc knows none. */
#define BENCH_CACHE_ASSUMED ((guint64) 1 << 20)

typedef struct
{
  char name[8]; /* "L2" */
  guint64 size;
} BenchCache;

#define BENCH_MAX_CACHES 5

/* Caches of data, the nearest first; how many there are. */
guint bench_caches_list (BenchCache caches[BENCH_MAX_CACHES]);

/* The smallest of what the places have: of each, the largest cache that no other place uses. 0: at
 * least one of them has none. */
guint64 bench_caches_of_places (IrisPlaces *places);
