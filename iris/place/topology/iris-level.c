/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The levels of a topology, and the units that each consists of.
 *
 * The units of a level are a partition of the usable cpus, whatever the hardware looks like:
 *
 *  - Objects may overlap: memory nodes of different kinds (DRAM and HBM) can belong to the same
 *    cpus, and one may belong to more cpus than another. A cpu goes to the smallest object that
 *    holds it, among equal ones to the first.
 *  - Objects may leave cpus out: some processors have cores without an L3. Such cpus form one more
 *    unit, "l3:rest", so that none is lost.
 *
 * Both are settled on whole objects, before the cpus are intersected with the usable ones. So what
 * a name stands for does not depend on the mask; only how much of it may be used does. The
 * intersection is made here because hwloc's *_inside_cpuset functions pass over an object of which
 * only a part is allowed.
 */
#include <iris/place/topology/iris-level-private.h>

static const struct
{
  const char *name;
  hwloc_obj_type_t type;
} levels[IRIS_N_LEVELS] = {
  [IRIS_LEVEL_MACHINE] = { "machine", HWLOC_OBJ_MACHINE },
  [IRIS_LEVEL_PACKAGE] = { "package", HWLOC_OBJ_PACKAGE },
  [IRIS_LEVEL_NUMA] = { "numa", HWLOC_OBJ_NUMANODE },
  [IRIS_LEVEL_L3] = { "l3", HWLOC_OBJ_L3CACHE },
  [IRIS_LEVEL_L2] = { "l2", HWLOC_OBJ_L2CACHE },
  [IRIS_LEVEL_CORE] = { "core", HWLOC_OBJ_CORE },
  [IRIS_LEVEL_PU] = { "pu", HWLOC_OBJ_PU },
};

/* Takes both. */
IrisUnit *
iris_unit_new (char *name, hwloc_bitmap_t cpus)
{
  IrisUnit *unit = g_new (IrisUnit, 1);

  unit->name = name;
  unit->cpus = cpus;
  return unit;
}

void
iris_unit_free (IrisUnit *unit)
{
  g_free (unit->name);
  hwloc_bitmap_free (unit->cpus);
  g_free (unit);
}

const char *
iris_level_get_name (IrisLevel level)
{
  return levels[level].name;
}

gboolean
iris_level_parse (const char *name, IrisLevel *level)
{
  for (IrisLevel i = 0; i < IRIS_N_LEVELS; i++)
    if (strcmp (name, levels[i].name) == 0)
      {
        *level = i;
        return TRUE;
      }
  return FALSE;
}

/* How many objects of @level the topology has, usable or not. */
guint
iris_level_count (IrisTopology *topology, IrisLevel level)
{
  int n = hwloc_get_nbobjs_by_type (iris_topology_get_hwloc (topology), levels[level].type);

  return (guint) MAX (n, 0);
}

/* The levels that @topology has, for an error: "machine, package, l2, core, pu". */
char *
iris_level_list (IrisTopology *topology)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new ();

  for (IrisLevel i = 0; i < IRIS_N_LEVELS; i++)
    if (iris_level_count (topology, i) > 0)
      g_ptr_array_add (names, (gpointer) levels[i].name);
  g_ptr_array_add (names, NULL);
  return g_strjoinv (", ", (char **) names->pdata);
}

static int
compare_size (gconstpointer a, gconstpointer b)
{
  hwloc_obj_t first = *(const hwloc_obj_t *) a;
  hwloc_obj_t second = *(const hwloc_obj_t *) b;
  int first_size = hwloc_bitmap_weight (first->cpuset);
  int second_size = hwloc_bitmap_weight (second->cpuset);

  if (first_size != second_size)
    return first_size < second_size ? -1 : 1;
  return first->logical_index < second->logical_index ? -1 : 1;
}

/* For every object of @level, by number, the cpus that are its own; adds them up in @covered. */
static GPtrArray *
share_out (IrisTopology *topology, IrisLevel level, hwloc_bitmap_t covered)
{
  hwloc_topology_t hwloc = iris_topology_get_hwloc (topology);
  guint n = iris_level_count (topology, level);
  g_autoptr (GPtrArray) objects = g_ptr_array_sized_new (n);
  GPtrArray *own = g_ptr_array_new_with_free_func ((GDestroyNotify) hwloc_bitmap_free);

  for (guint i = 0; i < n; i++)
    g_ptr_array_add (objects, hwloc_get_obj_by_type (hwloc, levels[level].type, i));
  g_ptr_array_sort (objects, compare_size);

  g_ptr_array_set_size (own, (gint) n);
  for (guint i = 0; i < n; i++)
    {
      hwloc_obj_t object = g_ptr_array_index (objects, i);
      hwloc_bitmap_t cpus = hwloc_bitmap_alloc ();

      hwloc_bitmap_andnot (cpus, object->cpuset, covered);
      hwloc_bitmap_or (covered, covered, cpus);
      g_ptr_array_index (own, object->logical_index) = cpus;
    }
  return own;
}

/* Adds what of @cpus may be used as a unit, if there is any; takes @cpus. */
static void
add_unit (GPtrArray *units, IrisTopology *topology, char *name, hwloc_bitmap_t cpus)
{
  hwloc_bitmap_and (cpus, cpus, iris_topology_get_usable (topology));
  if (!hwloc_bitmap_iszero (cpus))
    {
      g_ptr_array_add (units, iris_unit_new (name, cpus));
      return;
    }
  g_free (name);
  hwloc_bitmap_free (cpus);
}

/*
 * iris_level_units:
 *
 * The units of @level that have a usable cpu, in the order of their numbers, and whether they
 * needed no "rest" to cover every usable cpu. The array owns them; it is empty if the topology has
 * no such level.
 */
GPtrArray *
iris_level_units (IrisTopology *topology, IrisLevel level, gboolean *covers)
{
  GPtrArray *units = g_ptr_array_new_with_free_func ((GDestroyNotify) iris_unit_free);
  hwloc_bitmap_t covered = hwloc_bitmap_alloc ();
  g_autoptr (GPtrArray) own = share_out (topology, level, covered);
  hwloc_bitmap_t rest = hwloc_bitmap_alloc ();

  for (guint i = 0; i < own->len; i++)
    add_unit (units, topology, g_strdup_printf ("%s:%u", levels[level].name, i),
              hwloc_bitmap_dup (g_ptr_array_index (own, i)));

  hwloc_bitmap_andnot (rest, iris_topology_get_usable (topology), covered);
  *covers = hwloc_bitmap_iszero (rest);
  if (units->len > 0)
    add_unit (units, topology, g_strdup_printf ("%s:rest", levels[level].name), rest);
  else
    hwloc_bitmap_free (rest);

  hwloc_bitmap_free (covered);
  return units;
}
