/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The caches of this machine, as hwloc knows them.
 */
#include "tests/bench/workloads/locality/bench-caches.h"

#include <hwloc.h>

static const hwloc_obj_type_t types[BENCH_MAX_CACHES] = { HWLOC_OBJ_L1CACHE, HWLOC_OBJ_L2CACHE,
                                                          HWLOC_OBJ_L3CACHE, HWLOC_OBJ_L4CACHE,
                                                          HWLOC_OBJ_L5CACHE };

static hwloc_topology_t
load (void)
{
  hwloc_topology_t topology = NULL;

  if (hwloc_topology_init (&topology) < 0)
    return NULL;
  if (hwloc_topology_load (topology) == 0)
    return topology;
  hwloc_topology_destroy (topology);

  return NULL;
}

guint
bench_caches_list (BenchCache caches[BENCH_MAX_CACHES])
{
  hwloc_topology_t topology = load ();
  guint n = 0;

  for (guint i = 0; topology != NULL && i < BENCH_MAX_CACHES; i++)
    {
      hwloc_obj_t cache = hwloc_get_obj_by_type (topology, types[i], 0);

      if (cache == NULL || cache->attr->cache.size == 0)
        continue;
      g_snprintf (caches[n].name, sizeof caches[n].name, "L%u", i + 1);
      caches[n++].size = cache->attr->cache.size;
    }
  if (topology != NULL)
    hwloc_topology_destroy (topology);

  return n;
}

static void
read_cpus (IrisPlaces *places, guint id, hwloc_bitmap_t cpus)
{
  hwloc_bitmap_list_sscanf (cpus, iris_place_get_cpus (iris_places_get_place (places, id)));
}

/* The largest that these cpus use, and those others do not. */
static guint64
largest_cache (hwloc_topology_t topology, hwloc_const_bitmap_t cpus, hwloc_const_bitmap_t others)
{
  for (guint i = BENCH_MAX_CACHES; i > 0; i--)
    {
      hwloc_obj_t cache = NULL;

      while ((cache = hwloc_get_next_obj_by_type (topology, types[i - 1], cache)) != NULL)
        if (hwloc_bitmap_intersects (cache->cpuset, cpus)
            && !hwloc_bitmap_intersects (cache->cpuset, others) && cache->attr->cache.size > 0)
          return cache->attr->cache.size;
    }

  return 0;
}

guint64
bench_caches_of_places (IrisPlaces *places)
{
  hwloc_topology_t topology = load ();
  hwloc_bitmap_t all = hwloc_bitmap_alloc (), cpus = hwloc_bitmap_alloc ();
  hwloc_bitmap_t others = hwloc_bitmap_alloc ();
  guint n = iris_places_get_n_places (places);
  guint64 least = topology != NULL ? G_MAXUINT64 : 0;

  for (guint i = 0; i < n; i++)
    {
      read_cpus (places, i, cpus);
      hwloc_bitmap_or (all, all, cpus);
    }
  for (guint i = 0; i < n && least > 0; i++)
    {
      read_cpus (places, i, cpus);
      hwloc_bitmap_andnot (others, all, cpus);
      least = MIN (least, largest_cache (topology, cpus, others));
    }
  hwloc_bitmap_free (all);
  hwloc_bitmap_free (cpus);
  hwloc_bitmap_free (others);
  if (topology != NULL)
    hwloc_topology_destroy (topology);

  return least;
}
