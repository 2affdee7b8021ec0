/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Topologies: where they come from, what of them may be used, and what is refused.
 */
#include "core-test-run.h"

#include <glib/gstdio.h>
#include <iris/iris.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <iris/place/topology/iris-cpu-list-private.h>
#include <iris/place/topology/iris-synthetic-private.h>
#include <iris/place/topology/iris-topology-private.h>

static cpu_set_t original_mask;
static char *folder;

static void
setup (void)
{
  ck_assert_int_eq (sched_getaffinity (getpid (), sizeof original_mask, &original_mask), 0);
  folder = g_dir_make_tmp ("iris-topology-XXXXXX", NULL);
  ck_assert_ptr_nonnull (folder);
}

static void
teardown (void)
{
  sched_setaffinity (getpid (), sizeof original_mask, &original_mask);
  ck_assert_int_eq (g_rmdir (folder), 0);
  g_clear_pointer (&folder, g_free);
}

static IrisTopology *
synthetic (const char *description)
{
  g_autoptr (GError) error = NULL;
  IrisTopology *topology = iris_topology_new_synthetic (description, &error);

  ck_assert_msg (topology != NULL, "%s", error != NULL ? error->message : "no error");
  return topology;
}

/* Takes @topology, which must be NULL. */
static void
assert_refused (IrisTopology *topology, GError *error, IrisPlaceError code)
{
  ck_assert_ptr_null (topology);
  ck_assert_ptr_nonnull (error);
  ck_assert_msg (g_error_matches (error, IRIS_PLACE_ERROR, (gint) code), "%s", error->message);
  ck_assert_msg (g_str_has_suffix (error->message, ".") && strchr (error->message, ';') != NULL,
                 "not a sentence that says what to do: %s", error->message);
  g_error_free (error);
}

/* The text of a list after it was read and written again; NULL if it was refused with @code. */
static char *
reformat (const char *text, gint *code)
{
  g_autoptr (GError) error = NULL;
  hwloc_bitmap_t cpus = iris_cpu_list_parse (text, &error);
  char *list;

  ck_assert ((cpus == NULL) == (error != NULL));
  if (cpus == NULL)
    {
      ck_assert_uint_eq (error->domain, IRIS_PLACE_ERROR);
      *code = error->code;
      return NULL;
    }
  list = iris_cpu_list_format (cpus);
  hwloc_bitmap_free (cpus);
  return list;
}

START_TEST (cpu_lists_are_read_and_written)
{
  static const char *const pairs[][2] = {
    { "0", "0" },         { "0-3,8", "0-3,8" },   { "8,0-3", "0-3,8" }, { "0,1,2", "0-2" },
    { "5-5", "5" },       { "0-1,2-3", "0-3" },   { "65535", "65535" }, { "007", "7" },
    { "63,64", "63-64" }, { "0-8191", "0-8191" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (pairs); i++)
    {
      gint code = -1;
      g_autofree char *list = reformat (pairs[i][0], &code);

      ck_assert_msg (list != NULL, "%s was refused with %d", pairs[i][0], code);
      ck_assert_str_eq (list, pairs[i][1]);
    }
}
END_TEST

START_TEST (cpu_lists_are_read_strictly)
{
  static const struct
  {
    const char *text;
    IrisPlaceError code;
  } cases[] = {
    { "", IRIS_PLACE_ERROR_EMPTY },
    { " ", IRIS_PLACE_ERROR_BAD_CPU_LIST },
    { "0 ", IRIS_PLACE_ERROR_BAD_CPU_LIST },
    { " 0", IRIS_PLACE_ERROR_BAD_CPU_LIST },
    { "0,", IRIS_PLACE_ERROR_BAD_CPU_LIST },
    { ",0", IRIS_PLACE_ERROR_BAD_CPU_LIST },
    { "0,,1", IRIS_PLACE_ERROR_BAD_CPU_LIST },
    { "0-", IRIS_PLACE_ERROR_BAD_CPU_LIST },
    { "-3", IRIS_PLACE_ERROR_BAD_CPU_LIST },
    { "3-1", IRIS_PLACE_ERROR_BAD_CPU_LIST },
    { "0--2", IRIS_PLACE_ERROR_BAD_CPU_LIST },
    { "0-2-4", IRIS_PLACE_ERROR_BAD_CPU_LIST },
    { "0-7:2", IRIS_PLACE_ERROR_BAD_CPU_LIST },
    { "0x1", IRIS_PLACE_ERROR_BAD_CPU_LIST },
    { "+1", IRIS_PLACE_ERROR_BAD_CPU_LIST },
    { "a", IRIS_PLACE_ERROR_BAD_CPU_LIST },
    { "0\n", IRIS_PLACE_ERROR_BAD_CPU_LIST },
    { "0;1", IRIS_PLACE_ERROR_BAD_CPU_LIST },
    { "all", IRIS_PLACE_ERROR_BAD_CPU_LIST },
    { "1,1", IRIS_PLACE_ERROR_OVERLAP },
    { "0-3,2", IRIS_PLACE_ERROR_OVERLAP },
    { "65536", IRIS_PLACE_ERROR_TOO_LARGE },
    { "0-99999999999999999999999999", IRIS_PLACE_ERROR_TOO_LARGE },
    { "4294967296", IRIS_PLACE_ERROR_TOO_LARGE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      gint code = -1;
      g_autofree char *list = reformat (cases[i].text, &code);

      ck_assert_msg (list == NULL, "“%s” was taken for %s", cases[i].text, list);
      ck_assert_msg (code == (gint) cases[i].code, "“%s” gave %d", cases[i].text, code);
    }
}
END_TEST

START_TEST (no_cpus_are_an_empty_list)
{
  hwloc_bitmap_t none = hwloc_bitmap_alloc ();
  g_autofree char *empty = iris_cpu_list_format (none);
  g_autofree char *missing = iris_cpu_list_format (NULL);

  hwloc_bitmap_free (none);
  ck_assert_str_eq (empty, "");
  ck_assert_str_eq (missing, "");
}
END_TEST

START_TEST (this_machine_has_the_cpus_of_the_affinity_mask)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (IrisTopology) topology = iris_topology_new (&error);
  g_autofree char *cpus = NULL;
  hwloc_bitmap_t listed;
  gboolean this_machine;
  guint n_cpus;

  ck_assert_msg (topology != NULL, "%s", error != NULL ? error->message : "no error");
  ck_assert (iris_topology_is_this_machine (topology));
  ck_assert_uint_eq (iris_topology_get_n_cpus (topology), (guint) CPU_COUNT (&original_mask));

  cpus = iris_topology_dup_cpus (topology);
  listed = iris_cpu_list_parse (cpus, NULL);
  for (guint cpu = 0; cpu < CPU_SETSIZE; cpu++)
    ck_assert_int_eq (hwloc_bitmap_isset (listed, cpu), CPU_ISSET (cpu, &original_mask) != 0);
  hwloc_bitmap_free (listed);

  g_object_get (topology, "this-machine", &this_machine, "n-cpus", &n_cpus, NULL);
  ck_assert (this_machine);
  ck_assert_uint_eq (n_cpus, (guint) CPU_COUNT (&original_mask));
}
END_TEST

static guint
last_cpu_of (const cpu_set_t *mask)
{
  guint last = 0;

  for (guint cpu = 0; cpu < CPU_SETSIZE; cpu++)
    if (CPU_ISSET (cpu, mask))
      last = cpu;
  return last;
}

static void
restrict_to (guint cpu)
{
  cpu_set_t mask;

  CPU_ZERO (&mask);
  CPU_SET (cpu, &mask);
  ck_assert_int_eq (sched_setaffinity (getpid (), sizeof mask, &mask), 0);
}

START_TEST (a_narrower_mask_leaves_fewer_cpus)
{
  guint cpu = last_cpu_of (&original_mask);
  g_autoptr (IrisTopology) topology = NULL;
  g_autofree char *cpus = NULL;
  g_autofree char *expected = g_strdup_printf ("%u", cpu);

  restrict_to (cpu);
  topology = iris_topology_new (NULL);
  cpus = iris_topology_dup_cpus (topology);
  ck_assert_str_eq (cpus, expected);
  ck_assert_uint_eq (iris_topology_get_n_cpus (topology), 1);
}
END_TEST

static gpointer
count_cpus_when_bound (gpointer data)
{
  guint cpu = GPOINTER_TO_UINT (data);
  g_autoptr (IrisTopology) topology = NULL;
  cpu_set_t mask;

  CPU_ZERO (&mask);
  CPU_SET (cpu, &mask);
  if (sched_setaffinity (0, sizeof mask, &mask) < 0)
    return NULL;
  topology = iris_topology_new (NULL);
  return GUINT_TO_POINTER (iris_topology_get_n_cpus (topology));
}

/* A worker that makes a scheduler must not make it for its own cpu only. */
START_TEST (the_mask_of_a_bound_thread_is_not_that_of_the_process)
{
  guint cpu = last_cpu_of (&original_mask);
  GThread *thread = g_thread_new ("bound", count_cpus_when_bound, GUINT_TO_POINTER (cpu));

  ck_assert_uint_eq (GPOINTER_TO_UINT (g_thread_join (thread)), (guint) CPU_COUNT (&original_mask));
}
END_TEST

START_TEST (synthetic_topologies_have_the_cpus_they_describe)
{
  static const struct
  {
    const char *description;
    guint n_cpus;
  } cases[] = {
    { "pack:2 numa:1 l3:2 l2:4 core:1 pu:2", 32 },
    { "pack:2 core:4 pu:2", 16 },
    { "pack:1 core:16 pu:1", 16 },
    { "pu:1", 1 },
    { "pu:3", 3 },
    { "2 2 2", 8 },
    { "pack:4 numa:4 l3:4 core:32 pu:2", 4096 },
    { "pack:2 [numa(memory=16GB)] core:2 pu:2", 8 },
    { "pack:2 core:2 pu:2(indexes=0,4,1,5,2,6,3,7)", 8 },
    { "pack:64 core:64 pu:2", 8192 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (IrisTopology) topology = synthetic (cases[i].description);

      ck_assert_uint_eq (iris_topology_get_n_cpus (topology), cases[i].n_cpus);
      ck_assert (!iris_topology_is_this_machine (topology));
      ck_assert_double_eq (iris_topology_get_cpu_quota (topology), 0.0);
    }
}
END_TEST

START_TEST (what_describes_no_topology_is_refused)
{
  static const char *const bad[] = {
    "",         " ",          "nonsense",    "pack:",  "pack:0 pu:1",        "pack:2 pu:x",
    "pu:1 x:2", "core:2 (",   "pack:-1",     "pu:+2",  "pack:2;pu:2",        "pack:2 pu:2 /etc",
    "pu:2\x01", "pack:2 ä:1", "pu:2 pack:2", "pu:2:2", "pack:2 pack:2 pu:1",
  };

  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      GError *error = NULL;
      IrisTopology *topology = iris_topology_new_synthetic (bad[i], &error);

      ck_assert_msg (topology == NULL, "“%s” was taken", bad[i]);
      assert_refused (topology, error, IRIS_PLACE_ERROR_BAD_SYNTHETIC);
    }
}
END_TEST

START_TEST (indexes_are_a_list_of_different_numbers)
{
  static const char *const bad[] = {
    "pack:2 pu:2(indexes=core:pack)",
    "pack:2 pu:2(indexes=2*2:1*2)",
    "pu:2(indexes=)",
    "pu:2(indexes=0,0)",
    "pu:2(indexes=0,)",
    "pu:2(indexes=0x0,0x1)",
    "pu:2(indexes=pu:pu",
    "pack:2(indexes=3,3) pu:1",
    "pack:2 pu:2(indexes=0,1,2,3 indexes=core:pack)",
  };

  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      GError *error = NULL;
      IrisTopology *topology = iris_topology_new_synthetic (bad[i], &error);

      ck_assert_msg (topology == NULL, "“%s” was taken", bad[i]);
      assert_refused (topology, error, IRIS_PLACE_ERROR_BAD_SYNTHETIC);
    }
}
END_TEST

START_TEST (descriptions_of_too_much_are_refused_before_they_are_built)
{
  static const char *const bad[] = {
    "pack:99999 core:99999",
    "pack:3 core:2731 pu:1",
    "pack:2 core:4096 pu:2",
    "pu:0x7fffffff",
    "pu:18446744073709551615",
    "pu:99999999999999999999999999999999",
    "999999 2",
    "pu:4097",
    "pack:2 core:4096 group:1 l3:1 l2:1 l1:1 l1i:1 group:1 pu:1",
    "pack:4096 [numa] [numa] [numa] [numa] [numa] [numa] [numa] [numa] core:2 l2:1 l1:1 pu:1",
    "pack:2 pu:2(indexes=0,1,2,4000000000)",
  };
  g_autofree char *longest = g_strnfill (IRIS_SYNTHETIC_MAX_LENGTH + 1, ' ');

  for (guint i = 0; i < G_N_ELEMENTS (bad) + 1; i++)
    {
      const char *description = i < G_N_ELEMENTS (bad) ? bad[i] : longest;
      GError *error = NULL;
      IrisTopology *topology = iris_topology_new_synthetic (description, &error);

      ck_assert_msg (topology == NULL, "“%s” was taken", description);
      assert_refused (topology, error, IRIS_PLACE_ERROR_TOO_LARGE);
    }
}
END_TEST

static char *
write_xml (const char *name, const char *text)
{
  char *path = g_build_filename (folder, name, NULL);

  ck_assert (g_file_set_contents (path, text, -1, NULL));
  return path;
}

/* What lstopo would have written on such a machine. */
static char *
export_xml (const char *description)
{
  g_autoptr (IrisTopology) topology = synthetic (description);
  char *path = g_build_filename (folder, "machine.xml", NULL);

  ck_assert_int_eq (hwloc_topology_export_xml (iris_topology_get_hwloc (topology), path, 0), 0);
  return path;
}

static void
assert_xml_refused (const char *path, IrisPlaceError code)
{
  GError *error = NULL;
  IrisTopology *topology = iris_topology_new_xml (path, &error);

  assert_refused (topology, error, code);
}

START_TEST (an_exported_topology_comes_back)
{
  g_autofree char *path = export_xml ("pack:2 l3:2 l2:2 core:1 pu:2");
  g_autoptr (GError) error = NULL;
  g_autoptr (IrisTopology) topology = iris_topology_new_xml (path, &error);
  g_autofree char *cpus = NULL;

  ck_assert_msg (topology != NULL, "%s", error != NULL ? error->message : "no error");
  ck_assert_int_eq (g_unlink (path), 0);
  cpus = iris_topology_dup_cpus (topology);
  ck_assert_str_eq (cpus, "0-15");
  ck_assert (!iris_topology_is_this_machine (topology));
}
END_TEST

START_TEST (a_file_of_this_machine_is_not_this_machine)
{
  g_autoptr (IrisTopology) here = iris_topology_new (NULL);
  g_autofree char *path = g_build_filename (folder, "here.xml", NULL);
  g_autoptr (IrisTopology) there = NULL;

  ck_assert_int_eq (hwloc_topology_export_xml (iris_topology_get_hwloc (here), path, 0), 0);
  there = iris_topology_new_xml (path, NULL);
  ck_assert_int_eq (g_unlink (path), 0);
  ck_assert_ptr_nonnull (there);
  ck_assert (!iris_topology_is_this_machine (there));
}
END_TEST

START_TEST (files_that_are_no_topology_are_refused)
{
  static const char *const bad[] = {
    "",
    "nonsense",
    "<?xml version=\"1.0\"?><topology version=\"2.0\"></topology>",
    "<?xml version=\"1.0\"?><html><body/></html>",
    "<?xml version=\"1.0\"?><!DOCTYPE topology SYSTEM \"hwloc2.dtd\"><topology version=\"2.0\">",
  };

  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      g_autofree char *path = write_xml ("bad.xml", bad[i]);

      assert_xml_refused (path, IRIS_PLACE_ERROR_BAD_XML);
      ck_assert_int_eq (g_unlink (path), 0);
    }
}
END_TEST

/* Well-formed, and believed by hwloc. */
START_TEST (a_file_that_contradicts_itself_is_refused)
{
  static const char *const edits[][2] = {
    { "type=\"PU\" os_index=\"1\"", "type=\"PU\" os_index=\"0\"" },
    { "type=\"PU\" os_index=\"3\"", "type=\"PU\" os_index=\"4000000000\"" },
    { "type=\"PU\" os_index=\"3\" cpuset=\"0x00000008\"",
      "type=\"PU\" os_index=\"3\" cpuset=\"0x00000004\"" },
  };
  g_autofree char *path = export_xml ("pack:2 core:2 pu:1");
  g_autofree char *text = NULL;

  ck_assert (g_file_get_contents (path, &text, NULL, NULL));
  for (guint i = 0; i < G_N_ELEMENTS (edits); i++)
    {
      g_autoptr (GString) edited = g_string_new (text);

      ck_assert_uint_eq (g_string_replace (edited, edits[i][0], edits[i][1], 0), 1);
      ck_assert (g_file_set_contents (path, edited->str, -1, NULL));
      assert_xml_refused (path, IRIS_PLACE_ERROR_BAD_XML);
    }
  ck_assert_int_eq (g_unlink (path), 0);
}
END_TEST

START_TEST (a_file_cut_anywhere_is_refused)
{
  g_autofree char *path = export_xml ("pack:2 core:2 pu:1");
  g_autofree char *text = NULL;
  gsize size;

  ck_assert (g_file_get_contents (path, &text, &size, NULL));
  for (gsize cut = size - 20; cut > 20; cut -= MIN (cut - 1, 97))
    {
      ck_assert (g_file_set_contents (path, text, (gssize) cut, NULL));
      assert_xml_refused (path, IRIS_PLACE_ERROR_BAD_XML);
    }
  ck_assert_int_eq (g_unlink (path), 0);
}
END_TEST

START_TEST (what_is_no_file_is_refused)
{
  g_autoptr (GError) missing = NULL;

  assert_xml_refused (folder, IRIS_PLACE_ERROR_BAD_XML);
  assert_xml_refused ("/dev/zero", IRIS_PLACE_ERROR_BAD_XML);

  ck_assert_ptr_null (iris_topology_new_xml ("/nonexistent/machine.xml", &missing));
  ck_assert (g_error_matches (missing, G_FILE_ERROR, G_FILE_ERROR_NOENT));
}
END_TEST

START_TEST (a_file_over_the_limit_is_not_read)
{
  g_autofree char *path = write_xml ("large.xml", "");

  ck_assert_int_eq (truncate (path, (off_t) IRIS_TOPOLOGY_MAX_XML + 1), 0);
  assert_xml_refused (path, IRIS_PLACE_ERROR_TOO_LARGE);
  ck_assert_int_eq (g_unlink (path), 0);
}
END_TEST

START_TEST (a_description_names_levels_cpus_and_quota)
{
  g_autoptr (IrisTopology) topology = synthetic ("pack:2 l3:1 core:2 pu:1");
  g_autofree char *before = iris_topology_describe (topology);
  g_autofree char *after = NULL;
  hwloc_bitmap_t cpus = iris_cpu_list_parse ("1", NULL);

  ck_assert_str_eq (before, "The synthetic description “pack:2 l3:1 core:2 pu:1”: 2 package, "
                            "1 numa, 2 l3, 4 core, 4 pu; may use 4 cpus (0-3), no quota");

  iris_topology_limit (topology, cpus, 1.5);
  hwloc_bitmap_free (cpus);
  after = iris_topology_describe (topology);
  ck_assert (g_str_has_suffix (after, "; may use 1 cpu (1), quota 1.50 cpus"));
}
END_TEST

START_TEST (workers_follow_the_quota_rounded_up)
{
  static const struct
  {
    double quota;
    guint n_workers;
  } cases[] = {
    { 0.0, 8 }, { 0.01, 1 }, { 1.0, 1 }, { 1.01, 2 },
    { 2.5, 3 }, { 7.9, 8 },  { 8.0, 8 }, { 1e9, 8 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (IrisTopology) topology = synthetic ("pu:8");

      iris_topology_limit (topology, NULL, cases[i].quota);
      ck_assert_uint_eq (iris_topology_get_default_workers (topology), cases[i].n_workers);
    }
}
END_TEST

START_TEST (a_limit_that_leaves_nothing_is_ignored)
{
  g_autoptr (IrisTopology) topology = synthetic ("pu:4");
  hwloc_bitmap_t elsewhere = iris_cpu_list_parse ("64", NULL);

  iris_topology_limit (topology, elsewhere, 0.0);
  hwloc_bitmap_free (elsewhere);
  ck_assert_uint_eq (iris_topology_get_n_cpus (topology), 4);
}
END_TEST

static Suite *
topology_suite (void)
{
  Suite *suite = suite_create ("topology");
  TCase *lists = tcase_create ("cpu lists");
  TCase *sources = tcase_create ("sources");

  tcase_add_test (lists, cpu_lists_are_read_and_written);
  tcase_add_test (lists, cpu_lists_are_read_strictly);
  tcase_add_test (lists, no_cpus_are_an_empty_list);
  suite_add_tcase (suite, lists);

  tcase_add_checked_fixture (sources, setup, teardown);
  tcase_set_timeout (sources, 120);
  tcase_add_test (sources, this_machine_has_the_cpus_of_the_affinity_mask);
  tcase_add_test (sources, a_narrower_mask_leaves_fewer_cpus);
  tcase_add_test (sources, the_mask_of_a_bound_thread_is_not_that_of_the_process);
  tcase_add_test (sources, synthetic_topologies_have_the_cpus_they_describe);
  tcase_add_test (sources, what_describes_no_topology_is_refused);
  tcase_add_test (sources, indexes_are_a_list_of_different_numbers);
  tcase_add_test (sources, descriptions_of_too_much_are_refused_before_they_are_built);
  tcase_add_test (sources, an_exported_topology_comes_back);
  tcase_add_test (sources, a_file_of_this_machine_is_not_this_machine);
  tcase_add_test (sources, files_that_are_no_topology_are_refused);
  tcase_add_test (sources, a_file_that_contradicts_itself_is_refused);
  tcase_add_test (sources, a_file_cut_anywhere_is_refused);
  tcase_add_test (sources, what_is_no_file_is_refused);
  tcase_add_test (sources, a_file_over_the_limit_is_not_read);
  tcase_add_test (sources, a_description_names_levels_cpus_and_quota);
  tcase_add_test (sources, workers_follow_the_quota_rounded_up);
  tcase_add_test (sources, a_limit_that_leaves_nothing_is_ignored);
  suite_add_tcase (suite, sources);
  return suite;
}

int
main (void)
{
  return core_test_run (topology_suite ());
}
