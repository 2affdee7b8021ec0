/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The topology: the cpus, caches and memory nodes of a machine, and which cpus may be used.
 *
 * hwloc is asked for everything there is, the cpus that this process may not use included
 * (INCLUDE_DISALLOWED), and the permitted ones are kept beside it as a set. Numbers of objects, and
 * with them the names of places, are therefore the same under every affinity mask and in every
 * container of a machine.
 *
 * The hardware of this machine is read once per process and shared: it takes milliseconds, on large
 * machines tens of them, and programs make schedulers by the hundred. What may be used of it is
 * read anew for every IrisTopology. The shared part is written inside pthread_once() and only read
 * after that; hwloc allows any number of readers of a topology that is loaded and refreshed.
 */
#include <iris/place/topology/iris-cgroup-private.h>

#include <iris/place/topology/iris-cpu-list-private.h>
#include <iris/place/topology/iris-topology-private.h>
#include <iris/place/topology/iris-place-error.h>
#include <iris/place/topology/iris-synthetic-private.h>

#include <errno.h>
#include <pthread.h>
#include <unistd.h>
#include <hwloc/linux.h>
#include <sys/stat.h>

/**
 * IrisTopology:
 *
 * The cpus, caches and memory nodes of a machine: of this one ([ctor@Topology.new]), of one that is
 * described in a line of text ([ctor@Topology.new_synthetic]), or of one that was written to a file
 * elsewhere ([ctor@Topology.new_xml]). [class@Places] divides it.
 *
 * A topology does not change after it was made, and any thread may read it. It is a picture of the
 * moment: when the affinity mask or the control group of the process changes, make a new one.
 */
struct _IrisTopology
{
  GObject parent_instance;

  hwloc_topology_t hwloc;
  gboolean shared; /* hwloc belongs to the process */
  gboolean this_machine;
  char *source;          /* how it was made, for people */
  hwloc_bitmap_t usable; /* what this process may use, by the kernel's cpu numbers */
  double quota;          /* in cpus; 0: none */
};

G_DEFINE_FINAL_TYPE (IrisTopology, iris_topology, G_TYPE_OBJECT)

enum
{
  PROP_THIS_MACHINE = 1,
  PROP_N_CPUS,
  PROP_CPU_QUOTA,
  N_PROPS,
};

static GParamSpec *properties[N_PROPS];

static pthread_once_t machine_once = PTHREAD_ONCE_INIT;
static hwloc_topology_t machine; /* NULL if it could not be read */
static int machine_errno;

static void
iris_topology_finalize (GObject *object)
{
  IrisTopology *self = IRIS_TOPOLOGY (object);

  if (self->hwloc != NULL && !self->shared)
    hwloc_topology_destroy (self->hwloc);
  g_clear_pointer (&self->usable, hwloc_bitmap_free);
  g_clear_pointer (&self->source, g_free);

  G_OBJECT_CLASS (iris_topology_parent_class)->finalize (object);
}

static void
iris_topology_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  IrisTopology *self = IRIS_TOPOLOGY (object);

  switch (id)
    {
    case PROP_THIS_MACHINE:
      g_value_set_boolean (value, self->this_machine);
      break;
    case PROP_N_CPUS:
      g_value_set_uint (value, iris_topology_get_n_cpus (self));
      break;
    case PROP_CPU_QUOTA:
      g_value_set_double (value, self->quota);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
iris_topology_class_init (IrisTopologyClass *klass)
{
  const GParamFlags flags = G_PARAM_READABLE | G_PARAM_STATIC_STRINGS;
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  object_class->finalize = iris_topology_finalize;
  object_class->get_property = iris_topology_get_property;

  /**
   * IrisTopology:this-machine:
   *
   * Whether this is the machine that the process runs on.
   */
  properties[PROP_THIS_MACHINE] = g_param_spec_boolean ("this-machine", NULL, NULL, FALSE, flags);
  /**
   * IrisTopology:n-cpus:
   *
   * How many cpus may be used.
   */
  properties[PROP_N_CPUS] = g_param_spec_uint ("n-cpus", NULL, NULL, 0, IRIS_TOPOLOGY_MAX_CPUS, 0,
                                               flags);
  /**
   * IrisTopology:cpu-quota:
   *
   * The cpu time that the process may have per wall time, in cpus; 0 if there is no limit.
   */
  properties[PROP_CPU_QUOTA] = g_param_spec_double ("cpu-quota", NULL, NULL, 0, G_MAXDOUBLE, 0,
                                                    flags);
  g_object_class_install_properties (object_class, N_PROPS, properties);
}

static void
iris_topology_init (IrisTopology *self)
{
}

/* Loads what was set up; on failure errno says why and the handle is gone. */
static gboolean
load (hwloc_topology_t hwloc)
{
  if (hwloc_topology_set_flags (hwloc, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED) == 0
      && hwloc_topology_load (hwloc) == 0 && hwloc_topology_refresh (hwloc) == 0)
    return TRUE;

  hwloc_topology_destroy (hwloc);
  return FALSE;
}

static void
load_machine (void)
{
  hwloc_topology_t hwloc;

  errno = 0;
  if (hwloc_topology_init (&hwloc) == 0 && load (hwloc))
    machine = hwloc;
  else
    machine_errno = errno;
}

static gboolean
check_size (IrisTopology *self, GError **error)
{
  int last = hwloc_bitmap_last (hwloc_topology_get_topology_cpuset (self->hwloc));

  if (last >= 0 && last < IRIS_TOPOLOGY_MAX_CPUS)
    return TRUE;
  g_set_error (error, IRIS_PLACE_ERROR, IRIS_PLACE_ERROR_TOO_LARGE,
               "%s has a cpu with the number %d, but numbers end before %d "
               "(IRIS_TOPOLOGY_MAX_CPUS); use a smaller topology.",
               self->source, last, IRIS_TOPOLOGY_MAX_CPUS);
  return FALSE;
}

/*
 * iris_topology_limit:
 *
 * Leaves only @cpus (NULL: all) usable, and @quota (0: any) of their time. If nothing would be left
 * of the cpus, @cpus are ignored: the process does run somewhere, so they must be out of date.
 * Only for a topology that no other thread has seen yet.
 */
void
iris_topology_limit (IrisTopology *self, hwloc_const_bitmap_t cpus, double quota)
{
  if (cpus != NULL && hwloc_bitmap_intersects (self->usable, cpus))
    hwloc_bitmap_and (self->usable, self->usable, cpus);
  if (quota > 0.0)
    self->quota = quota;
}

/* The mask of the main thread is the one that the process was started with. That of the caller may
 * be a worker's, which is bound to a part of it. */
static void
limit_to_affinity (IrisTopology *self)
{
  hwloc_bitmap_t mask = hwloc_bitmap_alloc ();

  if (hwloc_linux_get_tid_cpubind (self->hwloc, getpid (), mask) == 0)
    iris_topology_limit (self, mask, 0.0);
  hwloc_bitmap_free (mask);
}

/*
 * iris_topology_new_below:
 *
 * This machine's topology with the control groups that are found below @root.
 */
IrisTopology *
iris_topology_new_below (const char *root, GError **error)
{
  g_autoptr (IrisTopology) self = NULL;
  g_auto (IrisCgroupLimits) limits = { NULL, 0.0 };

  pthread_once (&machine_once, load_machine);
  if (machine == NULL)
    {
      g_set_error (error, IRIS_PLACE_ERROR, IRIS_PLACE_ERROR_TOPOLOGY,
                   "The hardware of this machine cannot be read: %s. Describe it instead, "
                   "for example as “pack:1 core:4 pu:1”.",
                   g_strerror (machine_errno));
      return NULL;
    }

  self = g_object_new (IRIS_TYPE_TOPOLOGY, NULL);
  self->hwloc = machine;
  self->shared = TRUE;
  /* hwloc takes another machine if HWLOC_XMLFILE and its like are in the environment. */
  self->this_machine = hwloc_topology_is_thissystem (machine) != 0;
  self->source = g_strdup (self->this_machine ? "This machine" : "The machine of HWLOC_*");
  if (!check_size (self, error))
    return NULL;

  self->usable = hwloc_bitmap_dup (hwloc_topology_get_topology_cpuset (machine));
  if (self->this_machine)
    {
      limit_to_affinity (self);
      iris_cgroup_limits_read (root, &limits);
      iris_topology_limit (self, limits.cpus, limits.quota);
    }
  return g_steal_pointer (&self);
}

/**
 * iris_topology_new:
 *
 * Reads the topology of this machine. Of its cpus those can be used that the affinity mask of the
 * process's first thread and the cpuset of its control group allow; a `cpu.max` (or, with control
 * groups of version 1, a CFS quota) of the group or of any above it becomes
 * [property@Topology:cpu-quota].
 *
 * Any thread may call this. The first call in a process takes some milliseconds.
 *
 * Returns: (transfer full): a topology, or %NULL with %IRIS_PLACE_ERROR_TOPOLOGY
 */
IrisTopology *
iris_topology_new (GError **error)
{
  return iris_topology_new_below ("/", error);
}

static hwloc_topology_t
new_hwloc (void)
{
  hwloc_topology_t hwloc;

  /* It only allocates; GLib, too, ends the program when there is no memory. */
  if (hwloc_topology_init (&hwloc) < 0)
    g_error ("hwloc_topology_init: %s", g_strerror (errno));
  return hwloc;
}

/* Loads @hwloc, which describes some other machine, if it @accepted the description. */
static IrisTopology *
new_foreign (hwloc_topology_t hwloc,
             gboolean accepted,
             char *source,
             gint code,
             const char *hint,
             GError **error)
{
  g_autoptr (IrisTopology) self = g_object_new (IRIS_TYPE_TOPOLOGY, NULL);

  self->source = source;
  if (!accepted)
    hwloc_topology_destroy (hwloc);
  if (!accepted || !load (hwloc))
    {
      g_set_error (error, IRIS_PLACE_ERROR, code, "%s is not a topology; %s.", source, hint);
      return NULL;
    }

  self->hwloc = hwloc;
  if (!check_size (self, error))
    return NULL;
  if (!iris_topology_file_is_sound (hwloc))
    {
      g_set_error (error, IRIS_PLACE_ERROR, code, "%s contradicts itself about its cpus; %s.",
                   source, hint);
      return NULL;
    }

  /* A file may say which cpus were allowed where it was written; a description allows all. */
  self->usable = hwloc_bitmap_dup (hwloc_topology_get_allowed_cpuset (hwloc));
  hwloc_bitmap_and (self->usable, self->usable, hwloc_topology_get_topology_cpuset (hwloc));
  if (hwloc_bitmap_iszero (self->usable))
    {
      g_set_error (error, IRIS_PLACE_ERROR, code, "%s has no cpu that may be used; %s.", source,
                   hint);
      return NULL;
    }
  return g_steal_pointer (&self);
}

/**
 * iris_topology_new_synthetic:
 * @description: a synthetic description, see hwloc(7), such as `pack:2 l3:2 core:4 pu:2`
 *
 * Makes a topology from a line of text, to see how a program would be spread over a machine that
 * one does not have. Nothing is ever bound on it. At most 8192 cpus and 65536 objects are taken.
 *
 * Any thread may call this.
 *
 * Returns: (transfer full): a topology, or %NULL with %IRIS_PLACE_ERROR_BAD_SYNTHETIC or
 *   %IRIS_PLACE_ERROR_TOO_LARGE
 */
IrisTopology *
iris_topology_new_synthetic (const char *description, GError **error)
{
  static const char *hint = "write it as in “pack:2 l3:1 core:4 pu:2” (hwloc's synthetic form)";
  hwloc_topology_t hwloc;
  gboolean accepted;

  g_return_val_if_fail (description != NULL, NULL);

  if (!iris_synthetic_check (description, error))
    return NULL;

  hwloc = new_hwloc ();
  accepted = hwloc_topology_set_synthetic (hwloc, description) == 0;
  return new_foreign (hwloc, accepted,
                      g_strdup_printf ("The synthetic description “%s”", description),
                      IRIS_PLACE_ERROR_BAD_SYNTHETIC, hint, error);
}

/**
 * iris_topology_new_xml:
 * @path: (type filename): a file that `lstopo FILE.xml` wrote
 *
 * Reads the topology of a machine from a file. Nothing is ever bound on it, even if the file is of
 * this machine. At most 64 MiB and 8192 cpus are taken.
 *
 * Any thread may call this.
 *
 * Returns: (transfer full): a topology, or %NULL with %IRIS_PLACE_ERROR_BAD_XML,
 *   %IRIS_PLACE_ERROR_TOO_LARGE, or a %G_FILE_ERROR if the file cannot be read
 */
IrisTopology *
iris_topology_new_xml (const char *path, GError **error)
{
  static const char *hint = "name a file that “lstopo FILE.xml” wrote";
  g_autofree char *text = NULL;
  hwloc_topology_t hwloc;
  gboolean accepted;
  gsize size;

  g_return_val_if_fail (path != NULL, NULL);

  text = iris_topology_file_read (path, &size, error);
  if (text == NULL)
    return NULL;

  hwloc = new_hwloc ();
  accepted = hwloc_topology_set_xmlbuffer (hwloc, text, (int) size + 1) == 0;
  return new_foreign (hwloc, accepted, g_strdup_printf ("The file %s", path),
                      IRIS_PLACE_ERROR_BAD_XML, hint, error);
}

/**
 * iris_topology_is_this_machine:
 *
 * Whether this is the machine that the process runs on, so that threads and memory can be bound.
 *
 * Returns: %TRUE for one that [ctor@Topology.new] made
 */
gboolean
iris_topology_is_this_machine (IrisTopology *self)
{
  g_return_val_if_fail (IRIS_IS_TOPOLOGY (self), FALSE);

  return self->this_machine;
}

/**
 * iris_topology_get_n_cpus:
 *
 * Returns: how many cpus (hardware threads) may be used, at least 1
 */
guint
iris_topology_get_n_cpus (IrisTopology *self)
{
  g_return_val_if_fail (IRIS_IS_TOPOLOGY (self), 0);

  return (guint) hwloc_bitmap_weight (self->usable);
}

/**
 * iris_topology_dup_cpus:
 *
 * Returns: (transfer full): the cpus that may be used, by the kernel's numbers: a list such as
 *   `0-3,8`
 */
char *
iris_topology_dup_cpus (IrisTopology *self)
{
  g_return_val_if_fail (IRIS_IS_TOPOLOGY (self), NULL);

  return iris_cpu_list_format (self->usable);
}

/**
 * iris_topology_get_cpu_quota:
 *
 * Returns: the cpu time that the process may have per wall time, in cpus; 0 if there is no quota
 */
double
iris_topology_get_cpu_quota (IrisTopology *self)
{
  g_return_val_if_fail (IRIS_IS_TOPOLOGY (self), 0.0);

  return self->quota;
}

/*
 * iris_topology_get_default_workers:
 *
 * One worker per usable cpu, but no more than the quota can keep busy, rounded up.
 */
guint
iris_topology_get_default_workers (IrisTopology *self)
{
  guint n_cpus = iris_topology_get_n_cpus (self);
  guint whole;

  if (self->quota <= 0.0 || self->quota >= n_cpus)
    return n_cpus;
  whole = (guint) self->quota;
  return whole < self->quota ? whole + 1 : whole;
}

hwloc_topology_t
iris_topology_get_hwloc (IrisTopology *self)
{
  return self->hwloc;
}

hwloc_const_bitmap_t
iris_topology_get_usable (IrisTopology *self)
{
  return self->usable;
}

/**
 * iris_topology_describe:
 *
 * Describes the topology to a person, in a line such as
 * `This machine: 1 package, 1 numa, 1 l3, 2 l2, 2 core, 2 pu; may use 2 cpus (0-1), no quota`.
 *
 * Returns: (transfer full): the line
 */
char *
iris_topology_describe (IrisTopology *self)
{
  GString *line;
  g_autofree char *cpus = NULL;
  const char *separator;
  guint n_cpus;

  g_return_val_if_fail (IRIS_IS_TOPOLOGY (self), NULL);

  line = g_string_new (self->source);
  separator = ":";
  for (IrisLevel level = IRIS_LEVEL_PACKAGE; level < IRIS_N_LEVELS; level++)
    {
      guint n = iris_level_count (self, level);

      if (n > 0)
        {
          g_string_append_printf (line, "%s %u %s", separator, n, iris_level_get_name (level));
          separator = ",";
        }
    }

  n_cpus = iris_topology_get_n_cpus (self);
  cpus = iris_topology_dup_cpus (self);
  g_string_append_printf (line, "; may use %u %s (%s)", n_cpus, n_cpus == 1 ? "cpu" : "cpus", cpus);
  if (self->quota > 0.0)
    g_string_append_printf (line, ", quota %.2f cpus", self->quota);
  else
    g_string_append (line, ", no quota");
  return g_string_free (line, FALSE);
}

/*
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

/* The number of the object of @level that has all of @cpus, as far as one has them; IRIS_NO_UNIT if
 * several have some, or none. */
guint
iris_level_find (IrisTopology *topology, IrisLevel level, hwloc_const_bitmap_t cpus)
{
  hwloc_topology_t hwloc = iris_topology_get_hwloc (topology);
  guint found = IRIS_NO_UNIT;

  for (hwloc_obj_t object = NULL;
       (object = hwloc_get_next_obj_by_type (hwloc, levels[level].type, object)) != NULL;)
    {
      if (object->cpuset == NULL || !hwloc_bitmap_intersects (object->cpuset, cpus))
        continue;
      if (found != IRIS_NO_UNIT)
        return IRIS_NO_UNIT;
      found = object->logical_index;
    }
  return found;
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

/* Files: hwloc believes a file, and a file may be broken, cut, or made up. */
static gboolean
check_file (const char *path, GError **error)
{
  struct stat st;

  if (stat (path, &st) < 0)
    return TRUE; /* reading it says why */

  if (!S_ISREG (st.st_mode))
    {
      g_set_error (error, IRIS_PLACE_ERROR, IRIS_PLACE_ERROR_BAD_XML,
                   "%s is not a regular file; name one that “lstopo FILE.xml” wrote.", path);
      return FALSE;
    }
  if (st.st_size > IRIS_TOPOLOGY_MAX_XML)
    {
      g_set_error (error, IRIS_PLACE_ERROR, IRIS_PLACE_ERROR_TOO_LARGE,
                   "%s is larger than %d bytes (IRIS_TOPOLOGY_MAX_XML); write it without I/O "
                   "devices, with “lstopo --no-io FILE.xml”.",
                   path, IRIS_TOPOLOGY_MAX_XML);
      return FALSE;
    }
  return TRUE;
}

/* hwloc's own reader, which it uses where libxml is not installed, guesses its way through broken
 * files and leaks what it made of them. GLib's says in which line they break. */
static gboolean
check_xml (const char *path, const char *text, gsize size, GError **error)
{
  static const GMarkupParser parser = { NULL, NULL, NULL, NULL, NULL };
  g_autoptr (GMarkupParseContext) context = g_markup_parse_context_new (&parser, 0, NULL, NULL);
  g_autoptr (GError) broken = NULL;

  if (g_markup_parse_context_parse (context, text, (gssize) size, &broken)
      && g_markup_parse_context_end_parse (context, &broken))
    return TRUE;
  g_set_error (error, IRIS_PLACE_ERROR, IRIS_PLACE_ERROR_BAD_XML,
               "The file %s is not XML (%s); name one that “lstopo FILE.xml” wrote.", path,
               broken->message);
  return FALSE;
}

/*
 * iris_topology_file_read:
 *
 * Reads a file that hwloc may be given. It is read here, so that hwloc neither reads a device nor
 * waits for a pipe.
 */
char *
iris_topology_file_read (const char *path, gsize *size, GError **error)
{
  g_autofree char *text = NULL;

  if (!check_file (path, error) || !g_file_get_contents (path, &text, size, error)
      || !check_xml (path, text, *size, error))
    return NULL;
  return g_steal_pointer (&text);
}

/*
 * iris_topology_file_is_sound:
 *
 * Checks of a loaded topology what the places rely on: every cpu of the machine is one PU, whose
 * cpu set is that cpu.
 */
gboolean
iris_topology_file_is_sound (hwloc_topology_t hwloc)
{
  hwloc_bitmap_t seen = hwloc_bitmap_alloc ();
  int n = hwloc_get_nbobjs_by_type (hwloc, HWLOC_OBJ_PU);
  gboolean sound = TRUE;

  for (int i = 0; i < n && sound; i++)
    {
      hwloc_obj_t pu = hwloc_get_obj_by_type (hwloc, HWLOC_OBJ_PU, (unsigned) i);

      sound = hwloc_bitmap_weight (pu->cpuset) == 1 && hwloc_bitmap_isset (pu->cpuset, pu->os_index)
              && !hwloc_bitmap_isset (seen, pu->os_index);
      hwloc_bitmap_or (seen, seen, pu->cpuset);
    }

  sound = sound && hwloc_bitmap_isequal (seen, hwloc_topology_get_topology_cpuset (hwloc));
  hwloc_bitmap_free (seen);
  return sound;
}
