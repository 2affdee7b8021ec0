/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the pool's scenario has in place of places and statistics.
 */
#pragma once

#include "worker-pool-absent.h"

/* Thread slots: none is given back here; scenario-rundown-guard.c has that. */

__thread unsigned iris_thread_slot_plus_one;
static unsigned n_slots;

EXPLORE_UNWATCHED unsigned
iris_thread_slot_acquire (void)
{
  iris_thread_slot_plus_one = ++n_slots;

  return iris_thread_slot_plus_one - 1;
}

/* Places: a number of each, one worker or two at each, all equally far. */

static guint n_places, workers_per_place;

guint
iris_places_get_n_places (IrisPlaces *self)
{
  return n_places;
}

IrisPlace *
iris_places_get_place (IrisPlaces *self, guint place)
{
  return NULL;
}

guint
iris_places_get_distance (IrisPlaces *self, guint from, guint to)
{
  return 1;
}

guint
iris_place_get_n_workers (const IrisPlace *self)
{
  return workers_per_place;
}

guint64
iris_place_get_cache_size (const IrisPlace *self)
{
  return 0;
}

IrisStats *
iris_stats_new (guint places, guint workers)
{
  abort ();
}
