/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Makes the places and the scheduler of the configuration.
 */
#include "daemon/config/irisd-places.h"

#include "daemon/base/irisd-error.h"

static IrisTopology *
make_topology (const IrisdConfig *config, GError **error)
{
  if (config->topology == NULL)
    return iris_topology_new (error);
  if (g_str_has_suffix (config->topology, ".xml"))
    return iris_topology_new_xml (config->topology, error);
  return iris_topology_new_synthetic (config->topology, error);
}

/* Returns the places of the configuration. A level that begins with a digit is a list of cpu sets,
 * with slashes between them. */
IrisPlaces *
irisd_places_new (const IrisdConfig *config, GError **error)
{
  g_autoptr (GError) local = NULL;
  g_autoptr (IrisPlaces) places = NULL;
  IrisBind bind = config->bind ? IRIS_BIND_PLACE : IRIS_BIND_NONE;
  g_autoptr (IrisTopology) topology = make_topology (config, &local);
  if (topology != NULL && g_ascii_isdigit (config->places[0]))
    {
      g_auto (GStrv) sets = g_strsplit (config->places, "/", -1);
      places = iris_places_new_for_cpusets (topology, (const char *const *) sets, config->n_workers,
                                            bind, &local);
    }
  else if (topology != NULL)
    places = iris_places_new_full (topology, config->places, config->n_workers, bind, &local);

  if (places == NULL)
    g_set_error_literal (error, IRISD_ERROR, IRISD_ERROR_USAGE, local->message);
  return g_steal_pointer (&places);
}

/* Returns the scheduler of the configuration, with the workers of the places. */
IrisScheduler *
irisd_places_new_scheduler (const IrisdConfig *config, IrisPlaces *places)
{
  guint n_workers = iris_places_get_n_workers (places);
  g_autoptr (IrisStealPolicy) policy = NULL;
  switch (config->scheduler)
    {
    case IRISD_SCHEDULER_DEFAULT:
      return iris_scheduler_new_full (n_workers, n_workers);
    case IRISD_SCHEDULER_LOCKFREE:
      return iris_lfscheduler_new_full (n_workers, n_workers);
    case IRISD_SCHEDULER_WORKSTEALING:
      return iris_wsscheduler_new_full (n_workers, n_workers);
    case IRISD_SCHEDULER_PLACES:
    default:
      if (config->steal != NULL)
        policy = iris_steal_policy_parse (config->steal, NULL); /* was checked when it was set */
      return g_object_new (IRIS_TYPE_PLACE_SCHEDULER, "places", places, "deque", config->deque,
                           "layout", config->layout, "deal", config->deal, "steal-policy", policy,
                           NULL);
    }
}
