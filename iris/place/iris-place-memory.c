/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Places and memory that is there already: the cache of a place, and the place of a pointer.
 */
#include <unistd.h>

#include <iris/place/topology/iris-place-error.h>
#include <iris/place/iris-place-private.h>
#include <iris/place/topology/iris-topology-private.h>

/* Pages of an area that are looked at, spread evenly: enough to know where most of it lies. */
#define MAX_SAMPLES 16

static guint64
cache_size_of (hwloc_obj_t object)
{
  return object->attr != NULL ? object->attr->cache.size : 0;
}

/*
 * iris_place_measure_cache:
 *
 * How much of the last-level caches falls to @cpus, by their share of the cpus of each cache.
 */
guint64
iris_place_measure_cache (hwloc_topology_t hwloc, hwloc_const_cpuset_t cpus)
{
  static const hwloc_obj_type_t types[] = { HWLOC_OBJ_L5CACHE, HWLOC_OBJ_L4CACHE, HWLOC_OBJ_L3CACHE,
                                            HWLOC_OBJ_L2CACHE };

  for (guint i = 0; i < G_N_ELEMENTS (types); i++)
    {
      gdouble size = 0;

      for (hwloc_obj_t object = hwloc_get_next_obj_by_type (hwloc, types[i], NULL); object != NULL;
           object = hwloc_get_next_obj_by_type (hwloc, types[i], object))
        {
          hwloc_bitmap_t shared = hwloc_bitmap_alloc ();

          hwloc_bitmap_and (shared, object->cpuset, cpus);
          size += (gdouble) cache_size_of (object) * hwloc_bitmap_weight (shared)
                  / MAX (hwloc_bitmap_weight (object->cpuset), 1);
          hwloc_bitmap_free (shared);
        }
      if (size >= 1)
        return (guint64) size;
    }

  return 0;
}

/**
 * iris_place_get_cache_size:
 *
 * How much of the machine's last-level caches falls to the place: of a cache that it shares with
 * other places, the part that its cpus are of those of the cache.
 *
 * Returns: bytes; 0 if it is not known
 */
guint64
iris_place_get_cache_size (const IrisPlace *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->cache_size;
}

/**
 * iris_places_for_memory_node:
 * @node: a memory node, by the kernel's number
 *
 * Finds a place next to a memory node. If there are several, it is the one of the cpu that the
 * caller runs on if that is among them, and otherwise the first.
 *
 * Returns: (transfer none) (nullable): the place, or %NULL if none is next to the node
 */
IrisPlace *
iris_places_for_memory_node (IrisPlaces *self, guint node)
{
  IrisPlace *mine = NULL;
  guint n;
  int cpu;

  g_return_val_if_fail (IRIS_IS_PLACES (self), NULL);

  cpu = iris_places_get_topology (self) != NULL
                && iris_topology_is_this_machine (iris_places_get_topology (self))
            ? sched_getcpu ()
            : -1;
  if (cpu >= 0)
    mine = iris_places_for_cpu (self, (guint) cpu);
  if (mine != NULL && hwloc_bitmap_isset (mine->nodeset, node))
    return mine;

  n = iris_places_get_n_places (self);
  for (guint i = 0; i < n; i++)
    {
      IrisPlace *place = iris_places_get_place (self, i);

      if (place->nodeset != NULL && hwloc_bitmap_isset (place->nodeset, node))
        return place;
    }

  return NULL;
}

/* The memory node of a page: where it lies, or, if no thread touched it, where it was bound to. -1
 * if neither is known. */
static int
find_node (hwloc_topology_t hwloc, const void *page, gsize size)
{
  hwloc_bitmap_t nodes = hwloc_bitmap_alloc ();
  hwloc_membind_policy_t policy;
  int node = -1;

  if (hwloc_get_area_memlocation (hwloc, page, size, nodes, HWLOC_MEMBIND_BYNODESET) == 0)
    node = hwloc_bitmap_first (nodes);
  if (node < 0
      && hwloc_get_area_membind (hwloc, page, size, nodes, &policy, HWLOC_MEMBIND_BYNODESET) == 0
      && policy == HWLOC_MEMBIND_BIND)
    node = hwloc_bitmap_first (nodes);
  hwloc_bitmap_free (nodes);

  return node;
}

/* The place that most pages of the sample lie at; -1 if none lies at any. */
static gint
find_by_sample (IrisPlaces *self, hwloc_topology_t hwloc, const guint8 *memory, gsize size)
{
  g_autofree guint *votes = g_new0 (guint, iris_places_get_n_places (self));
  gsize page = (gsize) sysconf (_SC_PAGESIZE);
  gsize n_pages = 1 + (size - 1) / page;
  gsize n = MIN (n_pages, MAX_SAMPLES);
  gint chosen = -1;

  for (gsize i = 0; i < n; i++)
    {
      gsize offset = i * (n_pages / n) * page;
      int node = find_node (hwloc, memory + MIN (offset, size - 1), 1);
      IrisPlace *place = node >= 0 ? iris_places_for_memory_node (self, (guint) node) : NULL;
      gint id = place != NULL ? (gint) place->id : -1;

      if (id >= 0 && ++votes[id] > (chosen >= 0 && chosen != id ? votes[chosen] : 0))
        chosen = id;
    }

  return chosen;
}

/**
 * iris_places_find_memory:
 * @memory: (type guintptr): the first byte of the memory
 * @size: how much there is, in bytes; more than 0
 *
 * Finds the place at which memory lies, as a hint for the items that work on it. Of memory that
 * lies on several nodes it is where most of up to 16 pages lie, spread evenly over it. Memory that
 * no thread touched yet lies nowhere, unless it was bound (iris_place_alloc()). If several places
 * are next to the node, see iris_places_for_memory_node().
 *
 * It asks the kernel once or twice for each of those pages, a microsecond or so each: ask once for
 * what you work on again and again, and keep the answer.
 *
 * Returns: the id of a place, or -1 with %IRIS_PLACE_ERROR_NO_PLACE
 */
gint
iris_places_find_memory (IrisPlaces *self, gconstpointer memory, gsize size, GError **error)
{
  IrisTopology *topology;
  gint id;

  g_return_val_if_fail (IRIS_IS_PLACES (self), -1);
  g_return_val_if_fail (memory != NULL, -1);
  g_return_val_if_fail (size > 0, -1);

  topology = iris_places_get_topology (self);
  if (topology == NULL || !iris_topology_is_this_machine (topology))
    {
      g_set_error_literal (error, IRIS_PLACE_ERROR, IRIS_PLACE_ERROR_NO_PLACE,
                           "These places are not parts of this machine, so no memory lies at any "
                           "of them. Make places of the machine's own topology.");
      return -1;
    }
  id = find_by_sample (self, iris_topology_get_hwloc (topology), memory, size);
  if (id < 0)
    g_set_error_literal (error, IRIS_PLACE_ERROR, IRIS_PLACE_ERROR_NO_PLACE,
                         "The memory node of this memory is unknown: no thread has touched it yet, "
                         "or the kernel does not say, or no place is next to that node. Touch it "
                         "first, or allocate it at a place.");

  return id;
}
