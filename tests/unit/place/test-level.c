/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Levels of unusual machines: memory that shares cpus, and cpus that no object of a level holds.
 */
#include "core-test-run.h"

#include <glib/gstdio.h>
#include <iris/iris.h>
#include <string.h>

#include <iris/place/topology/iris-topology-private.h>

static IrisTopology *
synthetic (const char *description)
{
  g_autoptr (GError) error = NULL;
  IrisTopology *topology = iris_topology_new_synthetic (description, &error);

  ck_assert_msg (topology != NULL, "%s", error != NULL ? error->message : "no error");
  return topology;
}

/* "name=cpus@nodes" of every place of @level, divided by spaces. */
static void
assert_places (IrisTopology *topology, const char *level, const char *expected)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (IrisPlaces) places = iris_places_new (topology, level, &error);
  g_autoptr (GString) text = g_string_new (NULL);

  ck_assert_msg (places != NULL, "%s", error != NULL ? error->message : "no error");
  for (guint i = 0; i < iris_places_get_n_places (places); i++)
    {
      const IrisPlace *place = iris_places_get_place (places, i);

      g_string_append_printf (text, "%s%s=%s@%s", i > 0 ? " " : "", iris_place_get_name (place),
                              iris_place_get_cpus (place), iris_place_get_memory_nodes (place));
    }
  ck_assert_str_eq (text->str, expected);
}

/* Takes the last object of @type out of the text of a topology and leaves what is in it. */
static void
drop_last (char **text, const char *type)
{
  g_autofree char *tag = g_strdup_printf ("<object type=\"%s\"", type);
  char *begin = g_strrstr (*text, tag);
  char *line = begin;
  char *after_begin = strchr (begin, '\n');
  g_autofree char *end_tag = NULL;
  char *end;
  char *shorter;

  while (line[-1] != '\n')
    line--;
  end_tag = g_strdup_printf ("\n%.*s</object>\n", (int) (begin - line), line);
  end = strstr (after_begin, end_tag);
  ck_assert_ptr_nonnull (end);
  shorter = g_strdup_printf ("%.*s%.*s%s", (int) (line - *text), *text, (int) (end - after_begin),
                             after_begin + 1, end + strlen (end_tag));
  g_free (*text);
  *text = shorter;
}

/* A machine whose last L3 is not there, as on processors with cores of two kinds. */
static IrisTopology *
without_last_l3 (const char *description)
{
  g_autoptr (IrisTopology) whole = synthetic (description);
  g_autofree char *path = g_build_filename (g_get_tmp_dir (), "iris-level-XXXXXX", NULL);
  g_autofree char *text = NULL;
  g_autoptr (GError) error = NULL;
  IrisTopology *topology;

  ck_assert_int_ge (g_close (g_mkstemp (path), NULL), 0);
  ck_assert_int_eq (hwloc_topology_export_xml (iris_topology_get_hwloc (whole), path, 0), 0);
  ck_assert (g_file_get_contents (path, &text, NULL, NULL));
  drop_last (&text, "L3Cache");
  ck_assert (g_file_set_contents (path, text, -1, NULL));

  topology = iris_topology_new_xml (path, &error);
  ck_assert_int_eq (g_unlink (path), 0);
  ck_assert_msg (topology != NULL, "%s", error != NULL ? error->message : "no error");
  return topology;
}

START_TEST (nodes_that_share_their_cpus_are_one_place)
{
  g_autoptr (IrisTopology) topology = synthetic ("pack:2 [numa] [numa] core:2 pu:1");

  assert_places (topology, "numa", "numa:0=0-1@0-1 numa:2=2-3@2-3");
}
END_TEST

START_TEST (a_cpu_belongs_to_the_smallest_node_that_holds_it)
{
  g_autoptr (IrisTopology) topology = synthetic ("[numa] pack:2 [numa] core:2 pu:1");

  assert_places (topology, "numa", "numa:0=0-1@0,2 numa:1=2-3@1-2");
}
END_TEST

START_TEST (cpus_outside_a_level_form_a_place_of_their_own)
{
  g_autoptr (IrisTopology) topology = without_last_l3 ("pack:1 l3:3 core:2 pu:1");

  assert_places (topology, "l3", "l3:0=0-1@0 l3:1=2-3@0 l3:rest=4-5@0");
  assert_places (topology, "core",
                 "core:0=0@0 core:1=1@0 core:2=2@0 core:3=3@0 core:4=4@0 "
                 "core:5=5@0");
}
END_TEST

START_TEST (auto_does_not_take_a_level_that_leaves_cpus_out)
{
  g_autoptr (IrisTopology) topology = without_last_l3 ("pack:1 l3:3 core:2 pu:1");
  g_autoptr (IrisPlaces) places = iris_places_new (topology, "auto", NULL);

  ck_assert_str_eq (iris_places_get_level (places), "core");
  ck_assert_uint_eq (iris_places_get_n_places (places), 6);
}
END_TEST

START_TEST (a_level_with_no_usable_object_is_an_error)
{
  g_autoptr (IrisTopology) topology = without_last_l3 ("pack:1 l3:2 core:2 pu:1");
  hwloc_bitmap_t rest = hwloc_bitmap_alloc ();
  g_autoptr (GError) error = NULL;

  hwloc_bitmap_set_range (rest, 2, 3);
  iris_topology_limit (topology, rest, 0.0);
  hwloc_bitmap_free (rest);
  ck_assert_ptr_null (iris_places_new (topology, "l3", &error));
  ck_assert (g_error_matches (error, IRIS_PLACE_ERROR, IRIS_PLACE_ERROR_MISSING_LEVEL));
}
END_TEST

START_TEST (cpus_outside_a_level_have_distances_too)
{
  g_autoptr (IrisTopology) topology = without_last_l3 ("pack:2 l3:2 core:2 pu:1");
  g_autoptr (IrisPlaces) places = iris_places_new (topology, "core", NULL);

  ck_assert_uint_eq (iris_places_get_distance (places, 0, 1), 1);
  ck_assert_uint_eq (iris_places_get_distance (places, 0, 2), 2);
  ck_assert_uint_eq (iris_places_get_distance (places, 0, 7), 3);
  /* The last two cores share no L3, only their package. */
  ck_assert_uint_eq (iris_places_get_distance (places, 6, 7), 2);
  ck_assert_uint_eq (iris_places_get_distance (places, 7, 6), 2);
}
END_TEST

static Suite *
level_suite (void)
{
  Suite *suite = suite_create ("level");
  TCase *units = tcase_create ("units");

  tcase_add_test (units, nodes_that_share_their_cpus_are_one_place);
  tcase_add_test (units, a_cpu_belongs_to_the_smallest_node_that_holds_it);
  tcase_add_test (units, cpus_outside_a_level_form_a_place_of_their_own);
  tcase_add_test (units, auto_does_not_take_a_level_that_leaves_cpus_out);
  tcase_add_test (units, a_level_with_no_usable_object_is_an_error);
  tcase_add_test (units, cpus_outside_a_level_have_distances_too);
  suite_add_tcase (suite, units);
  return suite;
}

int
main (void)
{
  return core_test_run (level_suite ());
}
