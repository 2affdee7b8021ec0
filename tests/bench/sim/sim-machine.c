/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Simulated machines: hwloc's synthetic descriptions, how far processors are from each other, and
 * places at a level, whose distances are those of iris-distance.c.
 *
 * The library's own IrisTopology ends where Linux does, at 8192 processors.
 */
#include "tests/bench/sim/sim-machine-private.h"
#include "tests/bench/sim/sim-private.h"

#include "iris/place/iris-distance-private.h"
#include "iris/place/iris-plan-private.h"

/* Which object of a kind holds each processor; of a kind that the machine does not have, the one of
 * @otherwise. */
static guint16 *
index_of (const SimMachine *self, hwloc_obj_type_t type, const guint16 *otherwise)
{
  guint16 *of = g_new0 (guint16, self->n);

  for (guint i = 0; i < self->n; i++)
    {
      hwloc_obj_t pu = hwloc_get_obj_by_type (self->hwloc, HWLOC_OBJ_PU, i);
      hwloc_obj_t object = hwloc_get_ancestor_obj_by_type (self->hwloc, type, pu);

      if (object != NULL)
        of[i] = (guint16) object->logical_index;
      else
        of[i] = otherwise != NULL ? otherwise[i] : 0;
    }

  return of;
}

SimMachine *
sim_machine_new (const char *description, GError **error)
{
  SimMachine *self = g_new0 (SimMachine, 1);
  g_autofree guint16 *package = NULL;

  if (hwloc_topology_init (&self->hwloc) != 0
      || hwloc_topology_set_synthetic (self->hwloc, description) != 0
      || hwloc_topology_load (self->hwloc) != 0
      || (self->n = (guint) hwloc_get_nbobjs_by_type (self->hwloc, HWLOC_OBJ_PU))
             > SIM_MAX_PROCESSORS)
    {
      g_set_error (error, BENCH_ERROR, BENCH_ERROR_ARGUMENT,
                   "“%s” is no machine of up to %d processors; describe one as hwloc does: "
                   "“package:2 l3:4 core:8 pu:1”",
                   description, SIM_MAX_PROCESSORS);
      sim_machine_free (self);
      return NULL;
    }
  package = index_of (self, HWLOC_OBJ_PACKAGE, NULL);
  self->core = index_of (self, HWLOC_OBJ_CORE, NULL);
  self->node = package;
  self->cache = index_of (self, HWLOC_OBJ_L3CACHE, package);
  self->node = g_steal_pointer (&package);

  return self;
}

void
sim_machine_free (SimMachine *self)
{
  if (self->hwloc != NULL)
    hwloc_topology_destroy (self->hwloc);
  g_free (self->core);
  g_free (self->cache);
  g_free (self->node);
  g_free (self);
}

guint
sim_machine_n_processors (const SimMachine *self)
{
  return self->n;
}

SimLevel
sim_machine_level (const SimMachine *self, guint a, guint b)
{
  return sim_machine_between (self, a, b);
}

const char *
sim_level_name (SimLevel level)
{
  static const char *const names[] = { "core", "cache", "node", "machine" };

  return names[level];
}

/* What the library chooses if it is not told (iris-plan.c), of the levels that machines are
 * described with: the largest units that give two places of at most 16 workers, or the smallest. */
static hwloc_obj_type_t
choose_level (const SimMachine *machine)
{
  static const hwloc_obj_type_t levels[] = { HWLOC_OBJ_PACKAGE, HWLOC_OBJ_L3CACHE, HWLOC_OBJ_CORE };
  hwloc_obj_type_t best = HWLOC_OBJ_MACHINE;

  for (guint i = 0; i < G_N_ELEMENTS (levels); i++)
    {
      int n = hwloc_get_nbobjs_by_type (machine->hwloc, levels[i]);

      if (n < 2)
        continue;
      best = levels[i];
      if (machine->n / (guint) n <= IRIS_PLAN_AUTO_WORKERS)
        break;
    }

  return best;
}

static gboolean
parse_level (const SimMachine *machine, const char *level, hwloc_obj_type_t *type)
{
  static const struct
  {
    const char *name;
    hwloc_obj_type_t type;
  } levels[] = { { "machine", HWLOC_OBJ_MACHINE }, { "package", HWLOC_OBJ_PACKAGE },
                 { "l3", HWLOC_OBJ_L3CACHE },      { "l2", HWLOC_OBJ_L2CACHE },
                 { "core", HWLOC_OBJ_CORE },       { "pu", HWLOC_OBJ_PU } };

  if (g_str_equal (level, "auto"))
    {
      *type = choose_level (machine);
      return TRUE;
    }
  for (guint i = 0; i < G_N_ELEMENTS (levels); i++)
    if (g_str_equal (levels[i].name, level))
      {
        *type = levels[i].type;
        return TRUE;
      }

  return FALSE;
}

/* Workers are dealt to the places as evenly as goes; each has a processor of its own. */
SimPlaces *
sim_places_new (const SimMachine *machine, const char *level, guint n_workers, GError **error)
{
  g_autoptr (GPtrArray) cpusets = g_ptr_array_new ();
  SimPlaces *self = g_new0 (SimPlaces, 1);
  hwloc_obj_type_t type = HWLOC_OBJ_MACHINE;

  if (parse_level (machine, level, &type))
    self->n_places = (guint) MAX (hwloc_get_nbobjs_by_type (machine->hwloc, type), 0);
  self->n_workers = n_workers != 0 ? n_workers : machine->n;
  if (self->n_places == 0 || self->n_workers < self->n_places || self->n_workers > machine->n)
    {
      g_set_error (error, BENCH_ERROR, BENCH_ERROR_ARGUMENT,
                   "a machine of %u processors has no places “%s” for %u workers: take one worker "
                   "a place at least, and one a processor at most",
                   machine->n, level, self->n_workers);
      sim_places_free (self);
      return NULL;
    }
  self->first_processor = g_new (guint, self->n_places);
  self->workers = g_new (guint, self->n_places);
  for (guint i = 0; i < self->n_places; i++)
    {
      hwloc_obj_t object = hwloc_get_obj_by_type (machine->hwloc, type, i);

      self->first_processor[i] = (guint) hwloc_bitmap_first (object->cpuset);
      self->workers[i] = self->n_workers / self->n_places + (i < self->n_workers % self->n_places);
      g_ptr_array_add (cpusets, object->cpuset);
    }
  self->distances = iris_distances_new (machine->hwloc, cpusets);

  return self;
}

void
sim_places_free (SimPlaces *self)
{
  g_clear_pointer (&self->distances, iris_distances_free);
  g_free (self->first_processor);
  g_free (self->workers);
  g_free (self);
}

guint
sim_places_distance (const SimPlaces *self, guint a, guint b)
{
  return iris_distances_get (self->distances, a, b);
}
