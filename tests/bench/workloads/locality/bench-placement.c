/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Placements as contenders, and the intervals of a run that they place.
 *
 * Hints are soft, as LASSI's were: a place that ran out of work takes work for which its cache has
 * nothing. Strict ones, which it leaves alone, are contenders of their own.
 */
#include "tests/bench/workloads/locality/bench-placement.h"
#include "tests/bench/peers/bench-iris.h"

/* In the order of the bits of BenchPlacements. */
static const BenchPlacement placements[] = {
  { "best", BENCH_PLACED_BEST, IRIS_ITEM_NONE, IRIS_DEAL_OWN },
  { "worst", BENCH_PLACED_WORST, IRIS_ITEM_NONE, IRIS_DEAL_OWN },
  { "random", BENCH_PLACED_RANDOM, IRIS_ITEM_NONE, IRIS_DEAL_OWN },
  { "ignorant", BENCH_PLACED_NOWHERE, IRIS_ITEM_NONE, IRIS_DEAL_OWN },
  { "best, strict", BENCH_PLACED_BEST, IRIS_ITEM_STRICT, IRIS_DEAL_OWN },
  { "worst, strict", BENCH_PLACED_WORST, IRIS_ITEM_STRICT, IRIS_DEAL_OWN },
  { "ignorant, dealt", BENCH_PLACED_NOWHERE, IRIS_ITEM_NONE, IRIS_DEAL_ROUND_ROBIN },
};

void
bench_placements_add (BenchResult *result,
                      const BenchOptions *options,
                      BenchPlacements set,
                      const BenchCase *what)
{
  BenchCase one = *what;
  g_autofree const BenchPlacement **load = g_memdup2 (what->data, what->size);

  one.data = load;
  for (guint i = 0; i < G_N_ELEMENTS (placements); i++)
    if ((set & 1u << i) != 0 && bench_is_wanted (options, placements[i].name, BENCH_IRIS))
      {
        *load = &placements[i];
        bench_result_add (result, &one, placements[i].name, BENCH_IRIS, NULL);
      }
}

gboolean
bench_placements_check (const BenchOptions *options, GError **error)
{
  const char *names[G_N_ELEMENTS (placements) + 1] = { NULL };

  for (guint i = 0; i < G_N_ELEMENTS (placements); i++)
    names[i] = placements[i].name;

  return bench_check_chosen (options, "a comparison of placements", names, error);
}

IrisPlaces *
bench_placements_places (const BenchOptions *options, const char *workload, GError **error)
{
  g_autoptr (IrisPlaces)
      places = bench_iris_places_new (options->places, options->workers, IRIS_BIND_CPU, error);

  if (places == NULL || iris_places_get_n_places (places) >= 2)
    return g_steal_pointer (&places);
  /* A suite goes on without it. */
  g_set_error (error, BENCH_ERROR, BENCH_ERROR_NO_CONTENDER,
               "%s compares placements, but there is one place, %s: choose more of them with "
               "--places l2, --places 2 and the like, and as many --workers",
               workload, iris_place_get_name (iris_places_get_place (places, 0)));

  return NULL;
}

char *
bench_placements_describe (IrisPlaces *places)
{
  return g_strdup_printf ("%u places (%s)", iris_places_get_n_places (places),
                          iris_places_get_level (places));
}

/* --- intervals of a run ----------------------------------------------------------------------- */

gboolean
bench_intervals_open (BenchIntervals *self,
                      IrisPlaces *places,
                      const BenchPlacement *placement,
                      GError **error)
{
  *self = (BenchIntervals){ .placement = placement };
  self->n_places = iris_places_get_n_places (places);
  self->scheduler = iris_place_scheduler_new_full (places, placement->deal);
  self->graph = iris_interval_graph_new (self->scheduler);
  self->intervals = g_ptr_array_new_with_free_func ((GDestroyNotify) iris_interval_unref);
  if (bench_iris_start (self->scheduler, error))
    return TRUE;
  bench_intervals_close (self);

  return FALSE;
}

/* An interval that was not scheduled is cancelled when its last user goes. */
void
bench_intervals_close (BenchIntervals *self)
{
  g_ptr_array_unref (self->intervals);
  iris_interval_graph_wait (self->graph);
  g_object_unref (self->graph);
  iris_scheduler_shutdown (self->scheduler, IRIS_SHUTDOWN_DRAIN);
  g_object_unref (self->scheduler);
}

IrisInterval *
bench_intervals_add (BenchIntervals *self,
                     const char *name,
                     IrisIntervalFunc func,
                     gpointer data,
                     guint place)
{
  IrisInterval *interval = iris_interval_new (self->graph, name, func, data, NULL);

  if (self->placement->placed != BENCH_PLACED_NOWHERE && place != BENCH_NO_PLACE)
    iris_interval_set_place (interval, (gint) (place % self->n_places), self->placement->flags);
  g_ptr_array_add (self->intervals, interval);

  return interval;
}

void
bench_intervals_after (IrisInterval *after, IrisInterval *before)
{
  g_autoptr (GError) error = NULL;

  if (before != NULL && !iris_interval_add_after (after, before, &error))
    g_error ("%s", error->message);
}

gboolean
bench_intervals_run (BenchIntervals *self, gdouble *seconds, GError **error)
{
  gint64 begin = bench_now ();

  for (guint i = 0; i < self->intervals->len; i++)
    iris_interval_schedule (g_ptr_array_index (self->intervals, i));
  iris_interval_graph_wait (self->graph);
  *seconds = bench_seconds_since (begin);
  for (guint i = 0; i < self->intervals->len; i++)
    if (iris_interval_get_state (g_ptr_array_index (self->intervals, i)) != IRIS_INTERVAL_DONE)
      {
        g_set_error (error, BENCH_ERROR, BENCH_ERROR_RESULT, "interval %u of %u did not end well",
                     i, self->intervals->len);
        return FALSE;
      }

  return TRUE;
}
