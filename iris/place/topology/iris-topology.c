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
#include <errno.h>
#include <pthread.h>
#include <unistd.h>
#include <hwloc/linux.h>

#include <iris/place/topology/iris-cgroup-private.h>
#include <iris/place/topology/iris-cpu-list-private.h>
#include <iris/place/topology/iris-level-private.h>
#include <iris/place/topology/iris-place-error.h>
#include <iris/place/topology/iris-synthetic-private.h>
#include <iris/place/topology/iris-topology-file-private.h>
#include <iris/place/topology/iris-topology-private.h>

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
 * How many cpus (hardware threads) may be used.
 *
 * Returns: a number of at least 1
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
 * Which cpus may be used, by the kernel's numbers.
 *
 * Returns: (transfer full): a list such as `0-3,8`
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
 * The cpu time that the process may have per wall time.
 *
 * Returns: the quota in cpus, 0 if there is none
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
