/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the control groups of this process let it have of the machine's cpus.
 *
 * Two files say where to look: /proc/self/cgroup names the group in every hierarchy, and
 * /proc/self/mountinfo says where a hierarchy is mounted and which part of it one sees there: in a
 * container the mount may begin at the container's own group. Quotas are kept by every group on the
 * way up, so the smallest one counts. A cpuset already contains what its ancestors allow, so the
 * nearest group that has one counts. (Linux: Documentation/admin-guide/cgroup-v2.rst, sections 5.1
 * and 5.5; admin-guide/cgroup-v1/cpusets.rst; scheduler/sched-bwc.rst.)
 *
 * Whatever is missing or does not parse is no limit: a process must start on a machine whose
 * control groups are of a kind that is not known here.
 */
#include <iris/place/topology/iris-cgroup-private.h>
#include <iris/place/topology/iris-cpu-list-private.h>

/* Where the group of this process lies in the file system, and where its hierarchy begins. */
typedef struct
{
  char *top;
  char *leaf;
} Group;

static void
group_clear (Group *group)
{
  g_clear_pointer (&group->top, g_free);
  g_clear_pointer (&group->leaf, g_free);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Group, group_clear)

/* Fields of a line of mountinfo; from SEPARATOR on they are counted from the field "-". */
enum
{
  MOUNT_ROOT = 3,
  MOUNT_POINT = 4,
  MOUNT_OPTIONAL = 6,
};

static gboolean
has_item (const char *list, const char *item)
{
  g_auto (GStrv) items = g_strsplit (list, ",", -1);

  return g_strv_contains ((const char *const *) items, item);
}

static char *
read_file (const char *folder, const char *name)
{
  g_autofree char *path = g_build_filename (folder, name, NULL);
  char *text;

  if (!g_file_get_contents (path, &text, NULL, NULL))
    return NULL;
  return g_strstrip (text);
}

/* The part of @path below @prefix, or NULL if it is not below it. */
static const char *
path_below (const char *path, const char *prefix)
{
  size_t length = strlen (prefix);

  if (strcmp (prefix, "/") == 0)
    return path;
  if (strncmp (path, prefix, length) != 0 || (path[length] != '/' && path[length] != '\0'))
    return NULL;
  return path + length;
}

static gboolean
is_mount_of (char **fields, guint n_fields, const char *controller)
{
  guint separator = MOUNT_OPTIONAL;

  while (separator < n_fields && strcmp (fields[separator], "-") != 0)
    separator++;
  if (separator + 3 >= n_fields)
    return FALSE;
  if (controller == NULL)
    return strcmp (fields[separator + 1], "cgroup2") == 0;
  return strcmp (fields[separator + 1], "cgroup") == 0
         && has_item (fields[separator + 3], controller);
}

/* Finds where @path of the hierarchy of @controller (NULL: version 2) can be read. A group outside
 * what is mounted ("/../other" in a namespace, or another part of the tree) is read at the top of
 * the mount, which is then its nearest visible ancestor. */
static gboolean
find_group (const char *root,
            const char *mountinfo,
            const char *controller,
            const char *path,
            Group *group)
{
  g_auto (GStrv) lines = g_strsplit (mountinfo, "\n", -1);

  for (guint i = 0; lines[i] != NULL; i++)
    {
      g_auto (GStrv) fields = g_strsplit (lines[i], " ", -1);
      guint n_fields = g_strv_length (fields);
      g_autofree char *mount_root = NULL;
      g_autofree char *mount_point = NULL;
      const char *below;

      if (!is_mount_of (fields, n_fields, controller))
        continue;

      /* The kernel writes a space of a file name as \040, which g_strcompress() undoes. */
      mount_root = g_strcompress (fields[MOUNT_ROOT]);
      mount_point = g_strcompress (fields[MOUNT_POINT]);
      below = strncmp (path, "/..", 3) == 0 ? NULL : path_below (path, mount_root);

      /* A mount of the right part of the tree is better than any before it. */
      if (below == NULL && group->top != NULL)
        continue;
      group_clear (group);
      group->top = g_build_filename (root, mount_point, NULL);
      group->leaf = g_build_filename (group->top, below != NULL ? below : "", NULL);
      if (below != NULL)
        break;
    }

  if (group->top == NULL)
    return FALSE;
  while (g_str_has_suffix (group->leaf, "/") && group->leaf[1] != '\0')
    group->leaf[strlen (group->leaf) - 1] = '\0';
  return TRUE;
}

/* Turns @folder into its parent; FALSE at the top. */
static gboolean
go_up (char **folder, const char *top)
{
  char *parent;

  if (strlen (*folder) <= strlen (top))
    return FALSE;
  parent = g_path_get_dirname (*folder);
  g_free (*folder);
  *folder = parent;
  return TRUE;
}

static void
lower_quota (IrisCgroupLimits *limits, const char *quota_text, const char *period_text)
{
  guint64 quota, period;
  double cpus;

  /* "max" (version 2) and "-1" (version 1) are no numbers here, and no limit. */
  if (!g_ascii_string_to_unsigned (quota_text, 10, 1, G_MAXINT64, &quota, NULL)
      || !g_ascii_string_to_unsigned (period_text, 10, 1, G_MAXINT64, &period, NULL))
    return;

  cpus = (double) quota / (double) period;
  if (limits->quota == 0.0 || cpus < limits->quota)
    limits->quota = cpus;
}

static void
read_quota_v2 (const Group *group, IrisCgroupLimits *limits)
{
  g_autofree char *folder = g_strdup (group->leaf);

  do
    {
      g_autofree char *text = read_file (folder, "cpu.max");
      g_auto (GStrv) words = text != NULL ? g_strsplit (text, " ", -1) : NULL;

      if (words != NULL && g_strv_length (words) == 2)
        lower_quota (limits, words[0], words[1]);
    }
  while (go_up (&folder, group->top));
}

static void
read_quota_v1 (const Group *group, IrisCgroupLimits *limits)
{
  g_autofree char *folder = g_strdup (group->leaf);

  do
    {
      g_autofree char *quota = read_file (folder, "cpu.cfs_quota_us");
      g_autofree char *period = read_file (folder, "cpu.cfs_period_us");

      if (quota != NULL && period != NULL)
        lower_quota (limits, quota, period);
    }
  while (go_up (&folder, group->top));
}

static hwloc_bitmap_t
read_cpus_of (const char *folder, const char *const *names)
{
  for (guint i = 0; names[i] != NULL; i++)
    {
      g_autofree char *text = read_file (folder, names[i]);
      hwloc_bitmap_t cpus = text != NULL ? iris_cpu_list_parse (text, NULL) : NULL;

      if (cpus != NULL)
        return cpus;
    }
  return NULL;
}

static void
read_cpus (const Group *group, const char *const *names, IrisCgroupLimits *limits)
{
  g_autofree char *folder = g_strdup (group->leaf);
  hwloc_bitmap_t cpus;

  do
    cpus = read_cpus_of (folder, names);
  while (cpus == NULL && go_up (&folder, group->top));

  if (cpus == NULL)
    return;
  if (limits->cpus == NULL)
    {
      limits->cpus = cpus;
      return;
    }
  hwloc_bitmap_and (limits->cpus, limits->cpus, cpus);
  hwloc_bitmap_free (cpus);
}

static void
read_v2 (const char *root, const char *mountinfo, const char *path, IrisCgroupLimits *limits)
{
  static const char *const cpu_files[] = { "cpuset.cpus.effective", NULL };
  g_auto (Group) group = { NULL, NULL };

  if (!find_group (root, mountinfo, NULL, path, &group))
    return;
  read_quota_v2 (&group, limits);
  read_cpus (&group, cpu_files, limits);
}

static void
read_v1 (const char *root,
         const char *mountinfo,
         const char *controllers,
         const char *path,
         IrisCgroupLimits *limits)
{
  /* The first name is what the hierarchy really leaves, the second what was asked for it. */
  static const char *const cpu_files[] = { "cpuset.effective_cpus", "cpuset.cpus", NULL };

  if (has_item (controllers, "cpu"))
    {
      g_auto (Group) group = { NULL, NULL };

      if (find_group (root, mountinfo, "cpu", path, &group))
        read_quota_v1 (&group, limits);
    }
  if (has_item (controllers, "cpuset"))
    {
      g_auto (Group) group = { NULL, NULL };

      if (find_group (root, mountinfo, "cpuset", path, &group))
        read_cpus (&group, cpu_files, limits);
    }
}

/*
 * iris_cgroup_limits_read:
 *
 * Reads the limits of the calling process. All paths are taken below @root, which is "/" except in
 * tests. The caller clears @limits.
 */
void
iris_cgroup_limits_read (const char *root, IrisCgroupLimits *limits)
{
  g_autofree char *groups = read_file (root, "proc/self/cgroup");
  g_autofree char *mountinfo = read_file (root, "proc/self/mountinfo");
  g_auto (GStrv) lines = NULL;

  limits->cpus = NULL;
  limits->quota = 0.0;
  if (groups == NULL || mountinfo == NULL)
    return;

  /* A line is "number:controllers:path"; the path may contain colons. */
  lines = g_strsplit (groups, "\n", -1);
  for (guint i = 0; lines[i] != NULL; i++)
    {
      g_auto (GStrv) fields = g_strsplit (lines[i], ":", 3);

      if (g_strv_length (fields) != 3)
        continue;
      if (fields[1][0] == '\0')
        read_v2 (root, mountinfo, fields[2], limits);
      else
        read_v1 (root, mountinfo, fields[1], fields[2], limits);
    }
}

void
iris_cgroup_limits_clear (IrisCgroupLimits *limits)
{
  g_clear_pointer (&limits->cpus, hwloc_bitmap_free);
  limits->quota = 0.0;
}
