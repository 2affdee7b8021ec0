/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the pool's scenario has in place of forks, places and statistics.
 */
#pragma once

/* No worker forks here; scenario-forks.c has that. */

IrisForkStack *
iris_place_queues_get_forks (IrisWorkerPool *pool, IrisWorker *self)
{
  return NULL;
}

IrisItem *
iris_place_queues_steal_fork (IrisWorkerPool *pool, IrisWorker *self)
{
  return NULL;
}

bool
iris_place_queues_has_forks (IrisWorkerPool *pool)
{
  return false;
}

void
iris_fork_stack_clear (IrisForkStack *self)
{
}

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

gboolean
iris_place_is_bound (const IrisPlace *self)
{
  return FALSE;
}

gboolean
iris_place_bind_current_thread (const IrisPlace *self, guint index, GError **error)
{
  return TRUE;
}

unsigned iris_debug_keys;

void
iris_debug_init (void)
{
}

void
iris_debug_print (const char *format, ...)
{
}

IrisStats *
iris_stats_new (guint places, guint workers)
{
  abort ();
}

/* No program competes with the explorer. */

void
iris_contention_start (IrisContention *self)
{
}

void
iris_contention_stop (IrisContention *self)
{
}

void
iris_contention_free (IrisContention *self)
{
}

void
iris_contention_rouse (IrisContention *self)
{
}
