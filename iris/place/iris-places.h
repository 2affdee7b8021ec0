/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The places into which a topology is divided.
 */
#pragma once

#include <iris/place/iris-place.h>
#include <iris/place/topology/iris-topology.h>

G_BEGIN_DECLS

/**
 * IRIS_PLACES_MAX_WORKERS:
 *
 * Most workers of all places together.
 */
#define IRIS_PLACES_MAX_WORKERS 16384

/**
 * IrisBind:
 * @IRIS_BIND_NONE: workers run wherever the kernel puts them
 * @IRIS_BIND_PLACE: a worker runs on any cpu of its place
 * @IRIS_BIND_CPU: a worker runs on one cpu of its place, as long as there are enough of them
 *
 * How tightly workers are bound. %FALSE and %TRUE mean %IRIS_BIND_NONE and %IRIS_BIND_PLACE.
 */
typedef enum
{
  IRIS_BIND_NONE = 0,
  IRIS_BIND_PLACE = 1,
  IRIS_BIND_CPU = 2,
} IrisBind;

#define IRIS_TYPE_BIND (iris_bind_get_type ())
IRIS_AVAILABLE_IN_ALL GType iris_bind_get_type (void);

#define IRIS_TYPE_PLACES (iris_places_get_type ())
IRIS_AVAILABLE_IN_ALL
G_DECLARE_FINAL_TYPE (IrisPlaces, iris_places, IRIS, PLACES, GObject)

IRIS_AVAILABLE_IN_ALL IrisPlaces *
iris_places_new (IrisTopology *topology, const char *level, GError **error);
IRIS_AVAILABLE_IN_ALL IrisPlaces *iris_places_new_full (IrisTopology *topology,
                                                        const char *level,
                                                        guint n_workers,
                                                        IrisBind bind,
                                                        GError **error);
IRIS_AVAILABLE_IN_ALL IrisPlaces *iris_places_new_for_cpusets (IrisTopology *topology,
                                                               const char *const *cpusets,
                                                               guint n_workers,
                                                               IrisBind bind,
                                                               GError **error);
IRIS_AVAILABLE_IN_ALL IrisPlaces *iris_places_new_unbound (guint n_places, guint workers_per_place);
IRIS_AVAILABLE_IN_ALL IrisTopology *iris_places_get_topology (IrisPlaces *self);
IRIS_AVAILABLE_IN_ALL const char *iris_places_get_level (IrisPlaces *self);
IRIS_AVAILABLE_IN_ALL IrisBind iris_places_get_bind (IrisPlaces *self);
IRIS_AVAILABLE_IN_ALL guint iris_places_get_n_places (IrisPlaces *self);
IRIS_AVAILABLE_IN_ALL guint iris_places_get_n_workers (IrisPlaces *self);
IRIS_AVAILABLE_IN_ALL IrisPlace *iris_places_get_place (IrisPlaces *self, guint id);
IRIS_AVAILABLE_IN_ALL IrisPlace *iris_places_lookup (IrisPlaces *self, const char *name_or_number);
IRIS_AVAILABLE_IN_ALL IrisPlace *iris_places_for_cpu (IrisPlaces *self, guint cpu);
IRIS_AVAILABLE_IN_ALL IrisPlace *iris_places_for_memory_node (IrisPlaces *self, guint node);
IRIS_AVAILABLE_IN_ALL gint iris_places_find_memory (IrisPlaces *self,
                                                    gconstpointer memory,
                                                    gsize size,
                                                    GError **error);
IRIS_AVAILABLE_IN_ALL guint iris_places_get_distance (IrisPlaces *self, guint a, guint b);

G_END_DECLS
