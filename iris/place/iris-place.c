/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The place: a part of the machine that shares memory close by.
 */
#include <iris/place/topology/iris-cpu-list-private.h>

#include "iris/base/iris-ref-private.h"
#include <iris/place/iris-place-private.h>
#include <iris/place/topology/iris-place-error.h>
#include <iris/place/topology/iris-topology-private.h>

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

/**
 * IrisPlace:
 *
 * A part of the machine that shares memory close by: a package, a memory node, a cache, a core. It
 * belongs to an [class@Places] and lives as long; iris_place_ref() keeps that alive.
 *
 * A place does not change, and any thread may call any of its functions.
 */
G_DEFINE_BOXED_TYPE (IrisPlace, iris_place, iris_place_ref, iris_place_unref)

/*
 * iris_place_set_unit:
 *
 * Makes a new place stand for @unit of @topology, which must live as long as the place.
 */
void
iris_place_set_unit (IrisPlace *self, IrisTopology *topology, const IrisUnit *unit, IrisBind bind)
{
  gboolean here = iris_topology_is_this_machine (topology);
  hwloc_topology_t hwloc = iris_topology_get_hwloc (topology);

  self->name = g_strdup (unit->name);
  self->bind = here ? bind : IRIS_BIND_NONE;
  self->hwloc = here ? hwloc : NULL;
  self->cpuset = hwloc_bitmap_dup (unit->cpus);
  self->nodeset = hwloc_bitmap_alloc ();
  hwloc_cpuset_to_nodeset (hwloc, self->cpuset, self->nodeset);
  hwloc_bitmap_and (self->nodeset, self->nodeset, hwloc_topology_get_allowed_nodeset (hwloc));
  self->cpus = iris_cpu_list_format (self->cpuset);
  self->memory_nodes = iris_cpu_list_format (self->nodeset);
  self->cache_size = iris_place_measure_cache (hwloc, self->cpuset);
  self->order = g_new (guint, hwloc_bitmap_weight (self->cpuset));
  for (IrisLevel level = 0; level < IRIS_N_LEVELS; level++)
    self->units[level] = iris_level_find (topology, level, self->cpuset);
}

/* The number of the unit of @level that the place lies in; IRIS_NO_UNIT if it lies in several, or
 * is virtual. */
guint
iris_place_get_unit (const IrisPlace *self, IrisLevel level)
{
  return self->units[level];
}

/* Makes a new place one without hardware. */
void
iris_place_set_virtual (IrisPlace *self)
{
  self->name = g_strdup_printf ("virtual:%u", self->id);
  self->cpus = g_strdup ("");
  self->memory_nodes = g_strdup ("");
  for (IrisLevel level = 0; level < IRIS_N_LEVELS; level++)
    self->units[level] = IRIS_NO_UNIT;
}

void
iris_place_clear (IrisPlace *self)
{
  g_free (self->name);
  g_free (self->cpus);
  g_free (self->memory_nodes);
  g_free (self->order);
  hwloc_bitmap_free (self->cpuset);
  hwloc_bitmap_free (self->nodeset);
}

/**
 * iris_place_ref:
 *
 * Keeps the place, and all those it was made with, alive.
 *
 * Returns: (transfer full): @self
 */
IRIS_DEFINE_REF (IrisPlace, iris_place, g_object_ref (self->owner))

/**
 * iris_place_unref:
 * @self: (transfer full): a place
 *
 * Undoes iris_place_ref().
 */
void
iris_place_unref (IrisPlace *self)
{
  g_return_if_fail (self != NULL);

  g_object_unref (self->owner);
}

/**
 * iris_place_get_id:
 *
 * The number by which an item's hint names the place. It depends on which other places there are;
 * across processes use iris_place_get_name().
 *
 * Returns: a number from 0 on
 */
guint
iris_place_get_id (const IrisPlace *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->id;
}

/**
 * iris_place_get_name:
 *
 * A name that stands for the same part of the machine in every process, whatever cpus that may
 * use: the level and the number of the object among all of that level, such as `l2:1`. The cpus
 * that no object of the level holds are called `l2:rest`, explicit sets of cpus `cpus:0`, `cpus:1`
 * and so on, and places without hardware `virtual:0` and so on.
 *
 * Returns: (transfer none): the name
 */
const char *
iris_place_get_name (const IrisPlace *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return self->name;
}

/**
 * iris_place_get_cpus:
 *
 * Returns: (transfer none): the cpus of the place that may be used, by the kernel's numbers: a list
 *   such as `0-3,8`; empty if the place has no hardware
 */
const char *
iris_place_get_cpus (const IrisPlace *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return self->cpus;
}

/**
 * iris_place_get_memory_nodes:
 *
 * Returns: (transfer none): the memory nodes next to the place that may be used, by the kernel's
 *   numbers: a list such as `0,2`; empty if there is none
 */
const char *
iris_place_get_memory_nodes (const IrisPlace *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return self->memory_nodes;
}

/**
 * iris_place_get_n_workers:
 *
 * Returns: how many workers belong to the place, at least 1
 */
guint
iris_place_get_n_workers (const IrisPlace *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->n_workers;
}

/**
 * iris_place_is_bound:
 *
 * Whether iris_place_bind_current_thread() binds: the place is a part of this machine, and binding
 * was asked for.
 *
 * Returns: %FALSE if the place's workers run wherever the kernel puts them
 */
gboolean
iris_place_is_bound (const IrisPlace *self)
{
  g_return_val_if_fail (self != NULL, FALSE);

  return self->bind != IRIS_BIND_NONE;
}

/**
 * iris_place_bind_current_thread:
 * @worker: which worker of the place the thread is, from 0 on
 *
 * Binds the calling thread to the cpus of the place. With %IRIS_BIND_CPU, and no more workers than
 * cpus, it is bound to one cpu, different cores before different threads of a core. A thread that
 * is none of the workers (a @worker of iris_place_get_n_workers() or more) gets the whole place.
 *
 * If the place is not bound, nothing is done, and that is no error.
 *
 * Returns: %FALSE with %IRIS_PLACE_ERROR_BIND if the kernel refused
 */
gboolean
iris_place_bind_current_thread (const IrisPlace *self, guint worker, GError **error)
{
  hwloc_bitmap_t cpus;
  gboolean single;
  int result, saved;

  g_return_val_if_fail (self != NULL, FALSE);

  if (self->bind == IRIS_BIND_NONE)
    return TRUE;

  single = self->bind == IRIS_BIND_CPU && self->n_workers <= self->n_cpus
           && worker < self->n_workers;
  cpus = hwloc_bitmap_dup (self->cpuset);
  if (single)
    hwloc_bitmap_only (cpus, self->order[worker]);
  result = hwloc_set_cpubind (self->hwloc, cpus, HWLOC_CPUBIND_THREAD);
  saved = errno;
  hwloc_bitmap_free (cpus);
  if (result == 0)
    return TRUE;

  g_set_error (error, IRIS_PLACE_ERROR, IRIS_PLACE_ERROR_BIND,
               "A thread cannot be bound to %s (cpus %s): %s. Switch binding off, or start again "
               "if the cpus of this process were changed.",
               self->name, self->cpus, g_strerror (saved));
  return FALSE;
}

/*
 * iris_place_get_cpu_set:
 * @set: (out): what sched_setaffinity() takes
 *
 * Gives the cpus of the place for a child process to be bound to. FALSE if the child is not to be
 * bound: the place is not bound, or has a cpu beyond what a cpu_set_t can hold (CPU_SETSIZE).
 * Call this before the fork; sched_setaffinity() itself may be called after it.
 */
gboolean
iris_place_get_cpu_set (const IrisPlace *self, cpu_set_t *set)
{
  CPU_ZERO (set);
  if (self->bind == IRIS_BIND_NONE || hwloc_bitmap_last (self->cpuset) >= CPU_SETSIZE)
    return FALSE;

  for (guint i = 0; i < self->n_cpus; i++)
    CPU_SET (self->order[i], set);
  return TRUE;
}

/* Asks the kernel to back pages that no thread touched yet from the place's nodes. */
static gboolean
bind_memory (const IrisPlace *self, gpointer memory, gsize size)
{
  if (self->hwloc == NULL || hwloc_bitmap_iszero (self->nodeset))
    return FALSE;

  /* Without STRICT the nodes are preferred: a full one makes memory slow, not the program dead. */
  return hwloc_set_area_membind (self->hwloc, memory, size, self->nodeset, HWLOC_MEMBIND_BIND,
                                 HWLOC_MEMBIND_BYNODESET)
         == 0;
}

/**
 * iris_place_alloc_full: (skip)
 * @size: how much, in bytes; more than 0
 * @bound: (out) (optional): whether the memory lies on the place
 *
 * Gives memory that lies on the memory nodes of the place, whichever thread touches it first. If it
 * cannot be bound (the place is not of this machine, has no memory node, or the kernel or a sandbox
 * refuses), it is plain memory. The memory is zero, and begins and ends at a page: ask for much at
 * a time and divide it.
 *
 * It is bound by a preference: when the nodes are full, the kernel takes other ones. Whether
 * workers are bound makes no difference.
 *
 * Returns: (transfer full) (nullable): memory to be freed with iris_place_free(), or %NULL if there
 *   is none left
 */
gpointer
iris_place_alloc_full (const IrisPlace *self, gsize size, gboolean *bound)
{
  gpointer memory;
  gboolean done;

  g_return_val_if_fail (self != NULL, NULL);
  g_return_val_if_fail (size > 0, NULL);

  /* One kind of memory, bound or not, so that it can be freed without knowing which. */
  memory = mmap (NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  done = memory != MAP_FAILED && bind_memory (self, memory, size);
  if (bound != NULL)
    *bound = done;
  return memory != MAP_FAILED ? memory : NULL;
}

/**
 * iris_place_alloc: (skip)
 * @size: how much, in bytes; more than 0
 *
 * As iris_place_alloc_full(), for a caller that needs no distinction.
 *
 * Returns: (transfer full) (nullable): memory to be freed with iris_place_free(), or %NULL
 */
gpointer
iris_place_alloc (const IrisPlace *self, gsize size)
{
  return iris_place_alloc_full (self, size, NULL);
}

/**
 * iris_place_free: (skip)
 * @self: the place that gave the memory
 * @memory: (nullable): what iris_place_alloc() or iris_place_alloc_full() returned
 * @size: the size that was asked for
 *
 * Gives memory back.
 */
void
iris_place_free (const IrisPlace *self, gpointer memory, gsize size)
{
  g_return_if_fail (self != NULL);

  if (memory != NULL && munmap (memory, size) < 0)
    g_critical ("iris_place_free: %s", g_strerror (errno));
}

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
