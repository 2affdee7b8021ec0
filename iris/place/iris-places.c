/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The places into which a topology is divided.
 *
 * Everything is computed before the constructor returns, and nothing is written after it. So any
 * thread may read without locks, provided that the pointer reached it by something that orders
 * memory (starting a thread, a queue, an atomic store with release); that is the giver's part.
 */
#include <iris/place/iris-distance-private.h>
#include <iris/place/iris-place-private.h>
#include <iris/place/iris-plan-private.h>

/**
 * IrisPlaces:
 *
 * The places of a topology: disjoint parts, each with its cpus, its memory nodes, and its workers.
 *
 * The places are the units of a level: `machine`, `package`, `numa`, `l3`, `l2`, `core` or `pu`;
 * or explicit sets of cpus; or what `auto` finds: the largest units that give at least two places
 * of at most 16 workers each. Where all units that give two places are too large for that, `auto`
 * takes those with the fewest workers. Where there is one cpu or one worker, or no level with few
 * enough places, the machine is one place. `auto` does not take a level that leaves cpus out.
 *
 * There is one worker per usable cpu, but no more than the cpu quota can keep busy, rounded up.
 * Workers are dealt to the places by their cpus, and every place gets at least one, even if the
 * quota is smaller than the number of places. An explicit number of workers may exceed the cpus; if
 * it is smaller than the number of places, that is an error, except for `auto`, which then takes
 * larger places.
 *
 * Any thread may call any function of an object of this class.
 */
struct _IrisPlaces
{
  GObject parent_instance;

  IrisTopology *topology; /* NULL: virtual */
  const char *level;
  IrisBind bind;
  guint n_places;
  guint n_workers;
  IrisPlace *places;
  IrisDistances *distances; /* NULL: virtual */
  guint n_cpus;             /* length of by_cpu */
  guint *by_cpu;            /* the place that holds a cpu, its id + 1; 0: none */
};

G_DEFINE_FINAL_TYPE (IrisPlaces, iris_places, G_TYPE_OBJECT)

G_DEFINE_ENUM_TYPE (IrisBind,
                    iris_bind,
                    G_DEFINE_ENUM_VALUE (IRIS_BIND_NONE, "none"),
                    G_DEFINE_ENUM_VALUE (IRIS_BIND_PLACE, "place"),
                    G_DEFINE_ENUM_VALUE (IRIS_BIND_CPU, "cpu"))

enum
{
  PROP_TOPOLOGY = 1,
  PROP_LEVEL,
  PROP_BIND,
  PROP_N_PLACES,
  PROP_N_WORKERS,
  N_PROPS,
};

static GParamSpec *properties[N_PROPS];

static void
iris_places_finalize (GObject *object)
{
  IrisPlaces *self = IRIS_PLACES (object);

  for (guint i = 0; i < self->n_places; i++)
    iris_place_clear (&self->places[i]);
  g_clear_pointer (&self->places, g_free);
  g_clear_pointer (&self->distances, iris_distances_free);
  g_clear_pointer (&self->by_cpu, g_free);
  g_clear_object (&self->topology);

  G_OBJECT_CLASS (iris_places_parent_class)->finalize (object);
}

static void
iris_places_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  IrisPlaces *self = IRIS_PLACES (object);

  switch (id)
    {
    case PROP_TOPOLOGY:
      g_value_set_object (value, self->topology);
      break;
    case PROP_LEVEL:
      g_value_set_static_string (value, self->level);
      break;
    case PROP_BIND:
      g_value_set_enum (value, self->bind);
      break;
    case PROP_N_PLACES:
      g_value_set_uint (value, self->n_places);
      break;
    case PROP_N_WORKERS:
      g_value_set_uint (value, self->n_workers);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
iris_places_class_init (IrisPlacesClass *klass)
{
  const GParamFlags flags = G_PARAM_READABLE | G_PARAM_STATIC_STRINGS;
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  object_class->finalize = iris_places_finalize;
  object_class->get_property = iris_places_get_property;

  /**
   * IrisPlaces:topology:
   *
   * What is divided; %NULL if the places are virtual.
   */
  properties[PROP_TOPOLOGY] = g_param_spec_object ("topology", NULL, NULL, IRIS_TYPE_TOPOLOGY,
                                                   flags);
  /**
   * IrisPlaces:level:
   *
   * What the places are; see [method@Places.get_level].
   */
  properties[PROP_LEVEL] = g_param_spec_string ("level", NULL, NULL, NULL, flags);
  /**
   * IrisPlaces:bind:
   *
   * How tightly workers are bound.
   */
  properties[PROP_BIND] = g_param_spec_enum ("bind", NULL, NULL, IRIS_TYPE_BIND, IRIS_BIND_NONE,
                                             flags);
  /**
   * IrisPlaces:n-places:
   *
   * How many places there are.
   */
  properties[PROP_N_PLACES] = g_param_spec_uint ("n-places", NULL, NULL, 0, G_MAXUINT, 0, flags);
  /**
   * IrisPlaces:n-workers:
   *
   * How many workers all places have together.
   */
  properties[PROP_N_WORKERS] = g_param_spec_uint ("n-workers", NULL, NULL, 0,
                                                  IRIS_PLACES_MAX_WORKERS, 0, flags);
  g_object_class_install_properties (object_class, N_PROPS, properties);
}

static void
iris_places_init (IrisPlaces *self)
{
}

static IrisPlaces *
new_with_places (const char *level, IrisBind bind, guint n_places)
{
  IrisPlaces *self = g_object_new (IRIS_TYPE_PLACES, NULL);

  self->level = level;
  self->bind = bind;
  self->n_places = n_places;
  self->places = g_new0 (IrisPlace, n_places);
  for (guint i = 0; i < n_places; i++)
    {
      self->places[i].owner = self;
      self->places[i].id = i;
    }
  return self;
}

/* Which hardware thread of its core a cpu is: 0 for the first. */
static guint
thread_of_core (hwloc_topology_t hwloc, hwloc_obj_t pu)
{
  hwloc_obj_t core = hwloc_get_ancestor_obj_by_type (hwloc, HWLOC_OBJ_CORE, pu);
  guint thread = 0;

  for (hwloc_obj_t other = pu->prev_cousin;
       core != NULL && other != NULL && hwloc_bitmap_isset (core->cpuset, other->os_index);
       other = other->prev_cousin)
    thread++;
  return thread;
}

/* In every place the cpus are given out core by core, then the second threads of the cores, and so
 * on: with few workers each has a core of its own. */
static void
order_cpus (IrisPlaces *self, hwloc_topology_t hwloc)
{
  guint n_pus = (guint) hwloc_get_nbobjs_by_type (hwloc, HWLOC_OBJ_PU);
  g_autofree guint *threads = g_new (guint, n_pus);
  guint most = 0;

  for (guint i = 0; i < n_pus; i++)
    {
      threads[i] = thread_of_core (hwloc, hwloc_get_obj_by_type (hwloc, HWLOC_OBJ_PU, i));
      most = MAX (most, threads[i]);
    }

  for (guint thread = 0; thread <= most; thread++)
    for (guint i = 0; i < n_pus; i++)
      {
        guint cpu = hwloc_get_obj_by_type (hwloc, HWLOC_OBJ_PU, i)->os_index;

        if (threads[i] == thread && self->by_cpu[cpu] > 0)
          {
            IrisPlace *place = &self->places[self->by_cpu[cpu] - 1];

            place->order[place->n_cpus++] = cpu;
          }
      }
}

static void
map_cpus (IrisPlaces *self, const IrisPlace *place)
{
  for (int cpu = hwloc_bitmap_first (place->cpuset); cpu >= 0;
       cpu = hwloc_bitmap_next (place->cpuset, cpu))
    self->by_cpu[cpu] = place->id + 1;
}

/* Turns @plan into places. */
static IrisPlaces *
new_from_plan (IrisTopology *topology, const IrisPlan *plan, IrisBind bind)
{
  IrisPlaces *self = new_with_places (plan->level, bind, plan->units->len);
  hwloc_topology_t hwloc = iris_topology_get_hwloc (topology);
  g_autoptr (GPtrArray) cpusets = g_ptr_array_new ();

  self->topology = g_object_ref (topology);
  self->n_cpus = (guint) hwloc_bitmap_last (hwloc_topology_get_topology_cpuset (hwloc)) + 1;
  self->by_cpu = g_new0 (guint, self->n_cpus);

  for (guint i = 0; i < self->n_places; i++)
    {
      IrisPlace *place = &self->places[i];

      iris_place_set_unit (place, topology, g_ptr_array_index (plan->units, i), bind);
      place->n_workers = plan->workers[i];
      self->n_workers += place->n_workers;
      map_cpus (self, place);
      g_ptr_array_add (cpusets, place->cpuset);
    }
  order_cpus (self, hwloc);
  self->distances = iris_distances_new (hwloc, cpusets);
  return self;
}

/**
 * iris_places_new:
 * @topology: (nullable): what to divide; %NULL for this machine
 * @level: (nullable): at which level; %NULL for `auto`
 *
 * Divides a topology, with one worker per usable cpu, each bound to its place.
 *
 * Returns: (transfer full): the places, or %NULL with an error as iris_places_new_full() gives it
 */
IrisPlaces *
iris_places_new (IrisTopology *topology, const char *level, GError **error)
{
  return iris_places_new_full (topology, level, 0, IRIS_BIND_PLACE, error);
}

/**
 * iris_places_new_full:
 * @topology: (nullable): what to divide; %NULL for this machine
 * @level: (nullable): at which level; %NULL for `auto`; lists of cpus divided by semicolons, as in
 *   `0-3;4-7`, are taken as by iris_places_new_for_cpusets()
 * @n_workers: how many workers; 0 for one per usable cpu, limited by the quota
 * @bind: how tightly workers are bound, if the topology is this machine's
 *
 * Divides a topology. Cpus that no object of the level holds form one more place.
 *
 * Returns: (transfer full): the places, or %NULL with %IRIS_PLACE_ERROR_UNKNOWN_LEVEL,
 *   %IRIS_PLACE_ERROR_MISSING_LEVEL, %IRIS_PLACE_ERROR_TOO_FEW_WORKERS,
 * %IRIS_PLACE_ERROR_TOO_LARGE, or an error of iris_topology_new() or iris_places_new_for_cpusets()
 */
IrisPlaces *
iris_places_new_full (IrisTopology *topology,
                      const char *level,
                      guint n_workers,
                      IrisBind bind,
                      GError **error)
{
  g_autoptr (IrisTopology) used = NULL;
  g_autoptr (IrisPlan) plan = NULL;

  g_return_val_if_fail (topology == NULL || IRIS_IS_TOPOLOGY (topology), NULL);
  g_return_val_if_fail (bind <= IRIS_BIND_CPU, NULL);

  used = topology != NULL ? g_object_ref (topology) : iris_topology_new (error);
  if (used == NULL)
    return NULL;
  plan = iris_plan_new (used, level != NULL ? level : "auto", n_workers, error);
  return plan != NULL ? new_from_plan (used, plan, bind) : NULL;
}

/**
 * iris_places_new_for_cpusets:
 * @topology: (nullable): what to divide; %NULL for this machine
 * @cpusets: (array zero-terminated=1): lists of cpus such as `0-3,8`, by the kernel's numbers
 * @n_workers: how many workers; 0 for one per cpu in the lists, limited by the quota
 * @bind: how tightly workers are bound, if the topology is this machine's
 *
 * Makes a place of every list of cpus. Every cpu must be usable and be named once; cpus in no list
 * are not used.
 *
 * Returns: (transfer full): the places, or %NULL with %IRIS_PLACE_ERROR_EMPTY,
 *   %IRIS_PLACE_ERROR_BAD_CPU_LIST, %IRIS_PLACE_ERROR_OVERLAP, %IRIS_PLACE_ERROR_CPU_NOT_USABLE,
 *   %IRIS_PLACE_ERROR_TOO_FEW_WORKERS, %IRIS_PLACE_ERROR_TOO_LARGE, or an error of
 *   iris_topology_new()
 */
IrisPlaces *
iris_places_new_for_cpusets (IrisTopology *topology,
                             const char *const *cpusets,
                             guint n_workers,
                             IrisBind bind,
                             GError **error)
{
  g_autoptr (IrisTopology) used = NULL;
  g_autoptr (IrisPlan) plan = NULL;

  g_return_val_if_fail (topology == NULL || IRIS_IS_TOPOLOGY (topology), NULL);
  g_return_val_if_fail (cpusets != NULL, NULL);
  g_return_val_if_fail (bind <= IRIS_BIND_CPU, NULL);

  used = topology != NULL ? g_object_ref (topology) : iris_topology_new (error);
  if (used == NULL)
    return NULL;
  plan = iris_plan_new_for_cpusets (used, cpusets, n_workers, error);
  return plan != NULL ? new_from_plan (used, plan, bind) : NULL;
}

/**
 * iris_places_new_unbound:
 * @n_places: how many places; at least 1
 * @workers_per_place: how many workers each has; at least 1
 *
 * Makes places that are not tied to hardware: they have no cpus and no memory nodes, their distance
 * is 1, and nothing is bound. Together they may have %IRIS_PLACES_MAX_WORKERS workers.
 *
 * Returns: (transfer full): the places
 */
IrisPlaces *
iris_places_new_unbound (guint n_places, guint workers_per_place)
{
  IrisPlaces *self;

  g_return_val_if_fail (n_places > 0, NULL);
  g_return_val_if_fail (workers_per_place > 0, NULL);
  g_return_val_if_fail (n_places <= IRIS_PLACES_MAX_WORKERS / workers_per_place, NULL);

  self = new_with_places ("virtual", IRIS_BIND_NONE, n_places);
  self->n_workers = n_places * workers_per_place;
  for (guint i = 0; i < n_places; i++)
    {
      iris_place_set_virtual (&self->places[i]);
      self->places[i].n_workers = workers_per_place;
    }
  return self;
}

/**
 * iris_places_get_topology:
 *
 * Returns: (transfer none) (nullable): the topology that is divided; %NULL if the places are not
 *   tied to hardware
 */
IrisTopology *
iris_places_get_topology (IrisPlaces *self)
{
  g_return_val_if_fail (IRIS_IS_PLACES (self), NULL);

  return self->topology;
}

/**
 * iris_places_get_level:
 *
 * What the places are. If `auto` was asked for, this is what it found.
 *
 * Returns: (transfer none): the name of a level; `cpus` for explicit sets; `virtual` without
 * hardware
 */
const char *
iris_places_get_level (IrisPlaces *self)
{
  g_return_val_if_fail (IRIS_IS_PLACES (self), NULL);

  return self->level;
}

/**
 * iris_places_get_bind:
 *
 * How tightly workers are bound, as it was asked for. Whether it is done, a place says:
 * iris_place_is_bound().
 *
 * Returns: a kind of binding
 */
IrisBind
iris_places_get_bind (IrisPlaces *self)
{
  g_return_val_if_fail (IRIS_IS_PLACES (self), IRIS_BIND_NONE);

  return self->bind;
}

/**
 * iris_places_get_n_places:
 *
 * Returns: how many places there are, at least 1
 */
guint
iris_places_get_n_places (IrisPlaces *self)
{
  g_return_val_if_fail (IRIS_IS_PLACES (self), 0);

  return self->n_places;
}

/**
 * iris_places_get_n_workers:
 *
 * Returns: how many workers all places have together
 */
guint
iris_places_get_n_workers (IrisPlaces *self)
{
  g_return_val_if_fail (IRIS_IS_PLACES (self), 0);

  return self->n_workers;
}

/**
 * iris_places_get_place:
 * @id: which one, less than iris_places_get_n_places()
 *
 * Returns: (transfer none): the place
 */
IrisPlace *
iris_places_get_place (IrisPlaces *self, guint id)
{
  g_return_val_if_fail (IRIS_IS_PLACES (self), NULL);
  g_return_val_if_fail (id < self->n_places, NULL);

  return &self->places[id];
}

/**
 * iris_places_lookup:
 * @name_or_number: what a user calls the place: its name, or its id in decimal
 *
 * Returns: (transfer none) (nullable): the place, or %NULL if there is none of that name or id
 */
IrisPlace *
iris_places_lookup (IrisPlaces *self, const char *name_or_number)
{
  guint64 id;

  g_return_val_if_fail (IRIS_IS_PLACES (self), NULL);
  g_return_val_if_fail (name_or_number != NULL, NULL);

  if (g_ascii_string_to_unsigned (name_or_number, 10, 0, self->n_places - 1, &id, NULL))
    return &self->places[id];
  for (guint i = 0; i < self->n_places; i++)
    if (strcmp (self->places[i].name, name_or_number) == 0)
      return &self->places[i];
  return NULL;
}

/**
 * iris_places_for_cpu:
 * @cpu: a cpu, by the kernel's number, as sched_getcpu() gives it
 *
 * Returns: (transfer none) (nullable): the place, or %NULL if none holds it
 */
IrisPlace *
iris_places_for_cpu (IrisPlaces *self, guint cpu)
{
  g_return_val_if_fail (IRIS_IS_PLACES (self), NULL);

  if (cpu >= self->n_cpus || self->by_cpu[cpu] == 0)
    return NULL;
  return &self->places[self->by_cpu[cpu] - 1];
}

/**
 * iris_places_get_distance:
 * @a: a place's id
 * @b: a place's id
 *
 * How far two places are from each other: 0 of a place to itself, otherwise from 1 on, the same
 * both ways, and smaller for what is nearer. Places on different memory nodes are as far as the
 * firmware says, if it does (10 would be local); others by the smallest part of the machine that
 * holds both.
 *
 * Returns: the distance
 */
guint
iris_places_get_distance (IrisPlaces *self, guint a, guint b)
{
  g_return_val_if_fail (IRIS_IS_PLACES (self), 0);
  g_return_val_if_fail (a < self->n_places && b < self->n_places, 0);

  if (self->distances == NULL)
    return a == b ? 0 : 1;
  return iris_distances_get (self->distances, a, b);
}
