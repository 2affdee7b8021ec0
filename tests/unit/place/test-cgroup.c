/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Control groups: what is read from trees of files as the kernel shows them.
 */
#include "core-test-run.h"

#include <glib/gstdio.h>
#include <iris/iris.h>

#include <iris/place/topology/iris-cgroup-private.h>
#include <iris/place/topology/iris-cpu-list-private.h>
#include <iris/place/topology/iris-topology-private.h>

#define V2_MOUNT "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n"
#define V1_MOUNTS                                                                        \
  "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"                              \
  "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw shared:9 - cgroup cgroup rw,cpu,cpuacct\n" \
  "34 31 0:31 / /sys/fs/cgroup/cpuset rw shared:10 - cgroup cgroup rw,cpuset\n"

static char *root;

static void
setup (void)
{
  root = g_dir_make_tmp ("iris-cgroup-XXXXXX", NULL);
  ck_assert_ptr_nonnull (root);
}

static void
remove_tree (const char *path)
{
  GDir *dir = g_dir_open (path, 0, NULL);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *child = g_build_filename (path, name, NULL);

      remove_tree (child);
    }
  if (dir != NULL)
    g_dir_close (dir);
  ck_assert_int_eq (g_remove (path), 0);
}

static void
teardown (void)
{
  remove_tree (root);
  g_clear_pointer (&root, g_free);
}

static void
put (const char *name, const char *text)
{
  g_autofree char *path = g_build_filename (root, name, NULL);
  g_autofree char *parent = g_path_get_dirname (path);

  ck_assert_int_eq (g_mkdir_with_parents (parent, 0700), 0);
  ck_assert (g_file_set_contents (path, text, -1, NULL));
}

static void
put_proc (const char *groups, const char *mounts)
{
  put ("proc/self/cgroup", groups);
  put ("proc/self/mountinfo", mounts);
}

/* Reads the tree; an empty list of cpus stands for no limit. */
static void
assert_limits (const char *cpus, double quota)
{
  g_auto (IrisCgroupLimits) limits = { NULL, 0.0 };
  g_autofree char *list = NULL;

  iris_cgroup_limits_read (root, &limits);
  list = iris_cpu_list_format (limits.cpus);
  ck_assert_str_eq (list, cpus);
  ck_assert_double_eq_tol (limits.quota, quota, 1e-9);
}

START_TEST (without_files_there_is_no_limit)
{
  assert_limits ("", 0.0);
}
END_TEST

START_TEST (v2_quota_and_cpus_of_the_own_group)
{
  put_proc ("0::/app\n", V2_MOUNT);
  put ("sys/fs/cgroup/app/cpu.max", "150000 100000\n");
  put ("sys/fs/cgroup/app/cpuset.cpus.effective", "0-2,5\n");
  assert_limits ("0-2,5", 1.5);
}
END_TEST

START_TEST (v2_max_is_no_limit)
{
  put_proc ("0::/app\n", V2_MOUNT);
  put ("sys/fs/cgroup/app/cpu.max", "max 100000\n");
  assert_limits ("", 0.0);
}
END_TEST

START_TEST (v2_the_smallest_quota_on_the_way_up_counts)
{
  put_proc ("0::/a.slice/b.slice/c.scope\n", V2_MOUNT);
  put ("sys/fs/cgroup/a.slice/cpu.max", "300000 100000\n");
  put ("sys/fs/cgroup/a.slice/b.slice/cpu.max", "50000 25000\n");
  put ("sys/fs/cgroup/a.slice/b.slice/c.scope/cpu.max", "max 100000\n");
  assert_limits ("", 2.0);

  put ("sys/fs/cgroup/cpu.max", "20000 100000\n");
  assert_limits ("", 0.2);
}
END_TEST

START_TEST (v2_groups_beside_the_own_do_not_count)
{
  put_proc ("0::/a\n", V2_MOUNT);
  put ("sys/fs/cgroup/a/cpu.max", "200000 100000\n");
  put ("sys/fs/cgroup/ab/cpu.max", "100000 100000\n");
  put ("sys/fs/cgroup/a/below/cpu.max", "100000 100000\n");
  put ("sys/fs/cpu.max", "100000 100000\n");
  put ("cpu.max", "100000 100000\n");
  assert_limits ("", 2.0);
}
END_TEST

START_TEST (v2_cpus_come_from_the_nearest_group_that_has_them)
{
  put_proc ("0::/a/b\n", V2_MOUNT);
  put ("sys/fs/cgroup/cpuset.cpus.effective", "0-15\n");
  put ("sys/fs/cgroup/a/cpuset.cpus.effective", "0-7\n");
  put ("sys/fs/cgroup/a/b/cpu.weight", "100\n");
  assert_limits ("0-7", 0.0);

  put ("sys/fs/cgroup/a/b/cpuset.cpus.effective", "\n");
  assert_limits ("0-7", 0.0);
}
END_TEST

START_TEST (v2_a_container_sees_its_own_group_at_the_mount)
{
  /* Without a namespace of its own: the path is the host's, the mount begins at the group. */
  put_proc ("0::/docker/1234/inner\n",
            "30 23 0:26 /docker/1234 /sys/fs/cgroup ro - cgroup2 cgroup rw\n");
  put ("sys/fs/cgroup/cpu.max", "400000 100000\n");
  put ("sys/fs/cgroup/inner/cpu.max", "300000 100000\n");
  assert_limits ("", 3.0);

  /* With one, and a process that was moved out of it. */
  put_proc ("0::/../other\n", V2_MOUNT);
  assert_limits ("", 4.0);
}
END_TEST

START_TEST (v2_the_mount_that_shows_the_own_group_is_taken)
{
  put_proc ("0::/app\n", "29 23 0:26 /elsewhere /mnt/other rw - cgroup2 cgroup2 rw\n"
                         "30 23 0:26 / /mnt/with\\040space rw - cgroup2 cgroup2 rw\n");
  put ("mnt/other/cpu.max", "100000 100000\n");
  put ("mnt/with space/app/cpu.max", "700000 100000\n");
  assert_limits ("", 7.0);
}
END_TEST

START_TEST (v1_quota_and_cpus)
{
  put_proc ("4:cpuset:/job\n3:cpu,cpuacct:/job/step\n0::/\n", V1_MOUNTS);
  put ("sys/fs/cgroup/cpu,cpuacct/job/step/cpu.cfs_quota_us", "-1\n");
  put ("sys/fs/cgroup/cpu,cpuacct/job/step/cpu.cfs_period_us", "100000\n");
  put ("sys/fs/cgroup/cpuset/job/cpuset.cpus", "2-3\n");
  assert_limits ("2-3", 0.0);

  put ("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "250000\n");
  put ("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "100000\n");
  assert_limits ("2-3", 2.5);

  put ("sys/fs/cgroup/cpuset/job/cpuset.effective_cpus", "3\n");
  assert_limits ("3", 2.5);
}
END_TEST

START_TEST (v1_an_empty_cpuset_is_that_of_its_parent)
{
  put_proc ("4:cpuset:/job\n", V1_MOUNTS);
  put ("sys/fs/cgroup/cpuset/job/cpuset.cpus", "\n");
  put ("sys/fs/cgroup/cpuset/cpuset.cpus", "0-3\n");
  assert_limits ("0-3", 0.0);
}
END_TEST

START_TEST (both_versions_together)
{
  put_proc ("4:cpuset:/job\n0::/app\n",
            V1_MOUNTS "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
  put ("sys/fs/cgroup/cpuset/job/cpuset.cpus", "0-3\n");
  put ("sys/fs/cgroup/unified/app/cpuset.cpus.effective", "2-5\n");
  put ("sys/fs/cgroup/unified/app/cpu.max", "100000 100000\n");
  assert_limits ("2-3", 1.0);
}
END_TEST

START_TEST (what_does_not_parse_is_no_limit)
{
  static const char *const bad[] = {
    "",
    "\n",
    "max",
    "100000",
    "0 100000",
    "100000 0",
    "-1 100000",
    "1e5 100000",
    "100000 100000 100000",
    "100000  100000",
    "99999999999999999999 100000",
    "x y",
  };

  put_proc ("0::/app\n", V2_MOUNT);
  put ("sys/fs/cgroup/app/cpuset.cpus.effective", "0-x\n");
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      put ("sys/fs/cgroup/app/cpu.max", bad[i]);
      assert_limits ("", 0.0);
    }
}
END_TEST

START_TEST (lines_that_do_not_parse_are_passed_over)
{
  put_proc ("\nnonsense\n::\n:\n1:\n0::/app:with:colons\n",
            "\n1\n30 23\n30 23 0:26 / /x rw\n30 23 0:26 / /x rw -\n30 23 0:26 / /x rw - cgroup2\n"
            "30 23 0:26 / /x rw - cgroup2 x\n" V2_MOUNT);
  put ("sys/fs/cgroup/app:with:colons/cpu.max", "200000 100000\n");
  assert_limits ("", 2.0);
}
END_TEST

START_TEST (the_topology_of_this_machine_takes_the_limits)
{
  g_autoptr (IrisTopology) free_topology = NULL;
  g_autoptr (IrisTopology) topology = NULL;
  g_autofree char *all = NULL;
  g_autofree char *cpus = NULL;
  g_autofree char *first = NULL;

  put_proc ("0::/app\n", V2_MOUNT);
  free_topology = iris_topology_new_below (root, NULL);
  ck_assert_ptr_nonnull (free_topology);
  ck_assert_double_eq (iris_topology_get_cpu_quota (free_topology), 0.0);

  all = iris_topology_dup_cpus (free_topology);
  first = g_strndup (all, strspn (all, "0123456789"));
  put ("sys/fs/cgroup/app/cpu.max", "50000 100000\n");
  put ("sys/fs/cgroup/app/cpuset.cpus.effective", first);
  topology = iris_topology_new_below (root, NULL);
  cpus = iris_topology_dup_cpus (topology);
  ck_assert_str_eq (cpus, first);
  ck_assert_double_eq_tol (iris_topology_get_cpu_quota (topology), 0.5, 1e-9);
  ck_assert_uint_eq (iris_topology_get_default_workers (topology), 1);
}
END_TEST

static Suite *
cgroup_suite (void)
{
  Suite *suite = suite_create ("cgroup");
  TCase *trees = tcase_create ("trees");

  tcase_add_checked_fixture (trees, setup, teardown);
  tcase_add_test (trees, without_files_there_is_no_limit);
  tcase_add_test (trees, v2_quota_and_cpus_of_the_own_group);
  tcase_add_test (trees, v2_max_is_no_limit);
  tcase_add_test (trees, v2_the_smallest_quota_on_the_way_up_counts);
  tcase_add_test (trees, v2_groups_beside_the_own_do_not_count);
  tcase_add_test (trees, v2_cpus_come_from_the_nearest_group_that_has_them);
  tcase_add_test (trees, v2_a_container_sees_its_own_group_at_the_mount);
  tcase_add_test (trees, v2_the_mount_that_shows_the_own_group_is_taken);
  tcase_add_test (trees, v1_quota_and_cpus);
  tcase_add_test (trees, v1_an_empty_cpuset_is_that_of_its_parent);
  tcase_add_test (trees, both_versions_together);
  tcase_add_test (trees, what_does_not_parse_is_no_limit);
  tcase_add_test (trees, lines_that_do_not_parse_are_passed_over);
  tcase_add_test (trees, the_topology_of_this_machine_takes_the_limits);
  suite_add_tcase (suite, trees);
  return suite;
}

int
main (void)
{
  return core_test_run (cgroup_suite ());
}
