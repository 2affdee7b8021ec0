/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The schedulers that are compared. Each run gets a fresh one.
 */
#include "bench.h"

static const char *const names[] = { "default", "lock-free", "work-stealing", "places" };

guint
bench_n_schedulers (void)
{
  return G_N_ELEMENTS (names);
}

const char *
bench_scheduler_name (guint index)
{
  return names[index];
}

static IrisScheduler *
places_new (guint workers, GError **error)
{
  g_autoptr (IrisPlaces) places = iris_places_new_full (NULL, NULL, workers, TRUE, error);

  return places != NULL ? iris_place_scheduler_new (places) : NULL;
}

IrisScheduler *
bench_scheduler_new (guint index, guint workers, GError **error)
{
  switch (index)
    {
    case 0:
      return iris_scheduler_new_full (workers, workers);
    case 1:
      return iris_lfscheduler_new_full (workers, workers);
    case 2:
      return iris_wsscheduler_new_full (workers, workers);
    default:
      return places_new (workers, error);
    }
}

gboolean
bench_scheduler_is_wanted (const BenchOptions *options, guint index)
{
  return options->schedulers == NULL
         || g_strv_contains ((const char *const *) options->schedulers, names[index]);
}
