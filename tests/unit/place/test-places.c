/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Places: partitions of all kinds of machines, their names, workers and distances.
 */
#include "core-test-run.h"

#include <glib/gstdio.h>
#include <iris/iris.h>
#include <string.h>

#include <iris/place/topology/iris-cpu-list-private.h>
#include <iris/place/iris-plan-private.h>
#include <iris/place/topology/iris-topology-private.h>

static IrisTopology *
synthetic (const char *description)
{
  g_autoptr (GError) error = NULL;
  IrisTopology *topology = iris_topology_new_synthetic (description, &error);

  ck_assert_msg (topology != NULL, "%s", error != NULL ? error->message : "no error");
  return topology;
}

/* A machine of which the process may use only @cpus (NULL: all) and @quota (0: all). */
static IrisTopology *
limited (const char *description, const char *cpus, double quota)
{
  IrisTopology *topology = synthetic (description);
  hwloc_bitmap_t set = cpus != NULL ? iris_cpu_list_parse (cpus, NULL) : NULL;

  iris_topology_limit (topology, set, quota);
  hwloc_bitmap_free (set);
  return topology;
}

/* Takes @topology. */
static IrisPlaces *
divide (IrisTopology *topology, const char *level, guint n_workers)
{
  g_autoptr (IrisTopology) used = topology;
  g_autoptr (GError) error = NULL;
  IrisPlaces *places = iris_places_new_full (used, level, n_workers, IRIS_BIND_PLACE, &error);

  ck_assert_msg (places != NULL, "%s", error != NULL ? error->message : "no error");
  return places;
}

/* Takes @topology. Returns the message, for a test that looks at more than the code. */
static char *
refusal (IrisTopology *topology, const char *level, guint n_workers, IrisPlaceError code)
{
  g_autoptr (IrisTopology) used = topology;
  g_autoptr (GError) error = NULL;
  IrisPlaces *places = iris_places_new_full (used, level, n_workers, IRIS_BIND_PLACE, &error);

  ck_assert_msg (places == NULL, "“%s” was taken", level);
  ck_assert_ptr_nonnull (error);
  ck_assert_msg (g_error_matches (error, IRIS_PLACE_ERROR, (gint) code), "“%s” gave %d: %s", level,
                 error->code, error->message);
  ck_assert_msg (g_str_has_suffix (error->message, "."), "%s", error->message);
  return g_strdup (error->message);
}

static void
assert_refused (IrisTopology *topology, const char *level, guint n_workers, IrisPlaceError code)
{
  g_free (refusal (topology, level, n_workers, code));
}

/* "name=cpus/workers" of every place, divided by spaces. */
static char *
outline (IrisPlaces *places)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < iris_places_get_n_places (places); i++)
    {
      const IrisPlace *place = iris_places_get_place (places, i);

      g_string_append_printf (text, "%s%s=%s/%u", i > 0 ? " " : "", iris_place_get_name (place),
                              iris_place_get_cpus (place), iris_place_get_n_workers (place));
    }
  return g_string_free (text, FALSE);
}

/* Takes @places. */
static void
assert_outline (IrisPlaces *places, const char *expected)
{
  g_autoptr (IrisPlaces) used = places;
  g_autofree char *text = outline (used);

  ck_assert_str_eq (text, expected);
}

/* What must hold of all places: disjoint, no cpu lost, workers add up, ids and names find them. */
static void
assert_partition (IrisPlaces *places, guint n_cpus)
{
  guint n_places = iris_places_get_n_places (places);
  guint sum_cpus = 0, sum_workers = 0;

  ck_assert_uint_ge (n_places, 1);
  for (guint i = 0; i < n_places; i++)
    {
      IrisPlace *place = iris_places_get_place (places, i);
      g_autofree char *number = g_strdup_printf ("%u", i);
      hwloc_bitmap_t cpus = iris_cpu_list_parse (iris_place_get_cpus (place), NULL);

      ck_assert_uint_eq (iris_place_get_id (place), i);
      ck_assert_ptr_eq (iris_places_lookup (places, iris_place_get_name (place)), place);
      ck_assert_ptr_eq (iris_places_lookup (places, number), place);
      ck_assert_uint_ge (iris_place_get_n_workers (place), 1);
      ck_assert_ptr_nonnull (cpus);
      for (int cpu = hwloc_bitmap_first (cpus); cpu >= 0; cpu = hwloc_bitmap_next (cpus, cpu))
        ck_assert_ptr_eq (iris_places_for_cpu (places, (guint) cpu), place);
      sum_cpus += (guint) hwloc_bitmap_weight (cpus);
      sum_workers += iris_place_get_n_workers (place);
      hwloc_bitmap_free (cpus);
    }
  ck_assert_uint_eq (sum_cpus, n_cpus);
  ck_assert_uint_eq (sum_workers, iris_places_get_n_workers (places));
}

static void
assert_distances (IrisPlaces *places)
{
  guint n = MIN (iris_places_get_n_places (places), 64);

  for (guint a = 0; a < n; a++)
    for (guint b = 0; b < n; b++)
      {
        guint distance = iris_places_get_distance (places, a, b);

        ck_assert ((distance == 0) == (a == b));
        ck_assert_uint_eq (distance, iris_places_get_distance (places, b, a));
      }
}

static const char *const shapes[] = {
  "pack:2 numa:1 l3:2 l2:4 core:1 pu:2",
  "pack:2 core:8 pu:2",
  "pack:1 l3:1 core:16 pu:1",
  "pack:4 numa:4 l3:4 core:32 pu:2",
  "pu:1",
  "pu:2",
  "pack:1 core:1 pu:2",
  "numa:4 core:8 pu:1",
  "pack:2 [numa] l3:4 l2:4 core:2 pu:2",
  "pack:2 core:2 pu:2(indexes=0,4,1,5,2,6,3,7)",
  "group:2 pack:2 l3:3 core:5 pu:1",
};

START_TEST (every_level_of_every_shape_is_a_partition)
{
  g_autoptr (IrisTopology) topology = synthetic (shapes[_i]);
  guint n_levels = 0;

  for (IrisLevel level = 0; level < IRIS_N_LEVELS; level++)
    {
      const char *name = iris_level_get_name (level);
      g_autoptr (IrisPlaces) places = NULL;

      if (iris_level_count (topology, level) == 0)
        {
          assert_refused (g_object_ref (topology), name, 0, IRIS_PLACE_ERROR_MISSING_LEVEL);
          continue;
        }
      places = divide (g_object_ref (topology), name, 0);
      ck_assert_str_eq (iris_places_get_level (places), name);
      ck_assert_uint_eq (iris_places_get_n_places (places), iris_level_count (topology, level));
      ck_assert_uint_eq (iris_places_get_n_workers (places), iris_topology_get_n_cpus (topology));
      assert_partition (places, iris_topology_get_n_cpus (topology));
      assert_distances (places);
      n_levels++;
    }
  ck_assert_uint_ge (n_levels, 3); /* machine, numa and pu are everywhere */
}
END_TEST

static const struct
{
  const char *description;
  double quota;
  guint n_workers;
  const char *level;
  guint n_places;
  guint largest;
} automatic[] = {
  /* the largest units within 16 workers */
  { "pack:2 core:8 pu:2", 0, 0, "package", 2, 16 },
  { "pack:2 l3:2 core:8 pu:1", 0, 0, "package", 2, 16 },
  { "pack:2 l3:2 core:8 pu:2", 0, 0, "l3", 4, 16 },
  { "pack:2 numa:2 l3:1 core:4 pu:2", 0, 0, "package", 2, 16 },
  { "pack:2 numa:2 l3:1 core:8 pu:2", 0, 0, "numa", 4, 16 },
  { "numa:4 core:8 pu:1", 0, 0, "numa", 4, 8 },
  { "pack:1 l3:1 l2:4 core:4 pu:1", 0, 0, "l2", 4, 4 },
  { "pack:1 core:16 pu:1", 0, 0, "core", 16, 1 },
  { "pack:2 core:64 pu:2", 0, 0, "core", 128, 2 },
  { "pack:4 numa:4 l3:4 core:32 pu:2", 0, 0, "core", 2048, 2 },
  { "pack:1 core:1 pu:2", 0, 0, "pu", 2, 1 },
  { "pu:2", 0, 0, "pu", 2, 1 },
  /* one place */
  { "pack:1 l3:1 core:1 pu:1", 0, 0, "machine", 1, 1 },
  { "pu:1", 0, 64, "machine", 1, 64 },
  { "pack:2 core:8 pu:2", 0, 1, "machine", 1, 1 },
  { "pack:2 core:8 pu:2", 0.5, 0, "machine", 1, 1 },
  { "pack:4 core:8 pu:1", 3, 0, "machine", 1, 3 },
  /* fewer workers than cpus */
  { "pack:2 core:8 pu:2", 1.5, 0, "package", 2, 1 },
  { "pack:2 core:64 pu:2", 20.5, 0, "package", 2, 11 },
  { "pack:2 core:64 pu:2", 0, 32, "package", 2, 16 },
  { "pack:2 l3:2 core:8 pu:2", 0, 33, "l3", 4, 9 },
  /* more than 16 in any unit: the smallest load there is */
  { "pack:1 core:2 pu:1", 0, 100, "core", 2, 50 },
  { "pack:2 core:2 pu:1", 0, 100, "core", 4, 25 },
};

START_TEST (auto_takes_the_largest_units_that_fit)
{
  IrisTopology *topology = limited (automatic[_i].description, NULL, automatic[_i].quota);
  guint n_cpus = iris_topology_get_n_cpus (topology);
  g_autoptr (IrisPlaces) places = divide (topology, "auto", automatic[_i].n_workers);
  guint largest = 0;

  for (guint i = 0; i < iris_places_get_n_places (places); i++)
    largest = MAX (largest, iris_place_get_n_workers (iris_places_get_place (places, i)));
  ck_assert_str_eq (iris_places_get_level (places), automatic[_i].level);
  ck_assert_uint_eq (iris_places_get_n_places (places), automatic[_i].n_places);
  ck_assert_uint_eq (largest, automatic[_i].largest);
  assert_partition (places, n_cpus);
}
END_TEST

START_TEST (no_level_is_auto)
{
  g_autoptr (IrisTopology) topology = synthetic ("pack:2 core:2 pu:1");
  g_autoptr (IrisPlaces) places = iris_places_new (topology, NULL, NULL);

  ck_assert_str_eq (iris_places_get_level (places), "package");
  ck_assert_ptr_eq (iris_places_get_topology (places), topology);
}
END_TEST

START_TEST (names_and_contents_do_not_depend_on_the_mask)
{
  const char *shape = "pack:2 l3:2 l2:2 core:1 pu:2";

  assert_outline (divide (limited (shape, "5,6,13", 0), "l2", 0), "l2:2=5/1 l2:3=6/1 l2:6=13/1");
  assert_outline (divide (limited (shape, "5,6,13", 0), "l3", 0), "l3:1=5-6/2 l3:3=13/1");
  assert_outline (divide (limited (shape, "5,6,13", 0), "package", 0),
                  "package:0=5-6/2 package:1=13/1");
  assert_outline (divide (limited (shape, "15", 0), "auto", 0), "machine:0=15/1");
  assert_outline (divide (limited (shape, "15", 0), "core", 0), "core:7=15/1");
  assert_outline (divide (limited (shape, "14-15", 0), "auto", 0), "pu:14=14/1 pu:15=15/1");
}
END_TEST

/* hwloc's own functions would not see a core of which one thread may be used. */
START_TEST (objects_that_are_partly_allowed_count)
{
  assert_outline (divide (limited ("pack:2 core:2 pu:2", "1,2,7", 0), "core", 0),
                  "core:0=1/1 core:1=2/1 core:3=7/1");
}
END_TEST

START_TEST (names_follow_the_hardware_and_cpus_the_kernel)
{
  assert_outline (divide (synthetic ("pack:2 core:2 pu:2(indexes=0,4,1,5,2,6,3,7)"), "core", 0),
                  "core:0=0,4/2 core:1=1,5/2 core:2=2,6/2 core:3=3,7/2");
}
END_TEST

START_TEST (workers_are_shared_fairly)
{
  static const struct
  {
    guint cpus[4];
    guint n_units;
    guint n_workers;
    guint expected[4];
  } cases[] = {
    { { 4, 4, 4, 4 }, 4, 16, { 4, 4, 4, 4 } },
    { { 4, 4, 4, 4 }, 4, 6, { 2, 2, 1, 1 } },
    { { 4, 4, 4, 4 }, 4, 4, { 1, 1, 1, 1 } },
    { { 4, 4 }, 2, 9, { 5, 4 } },
    { { 6, 2 }, 2, 8, { 6, 2 } },
    { { 6, 2 }, 2, 4, { 3, 1 } },
    { { 6, 2 }, 2, 16, { 12, 4 } },
    { { 1, 7 }, 2, 2, { 1, 1 } },
    { { 1, 7 }, 2, 3, { 1, 2 } },
    { { 1, 1, 1 }, 3, 7, { 3, 2, 2 } },
    { { 1, 1, 6 }, 3, 5, { 1, 1, 3 } },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree guint *workers = iris_plan_spread (cases[i].cpus, cases[i].n_units,
                                                    cases[i].n_workers);

      for (guint unit = 0; unit < cases[i].n_units; unit++)
        ck_assert_msg (workers[unit] == cases[i].expected[unit], "case %u, unit %u: %u", i, unit,
                       workers[unit]);
    }
}
END_TEST

START_TEST (no_place_has_more_workers_than_cpus_if_there_are_enough)
{
  const guint cpus[] = { 1, 2, 3, 5, 8, 13 };
  const guint n_cpus = 32;

  for (guint n_workers = G_N_ELEMENTS (cpus); n_workers <= n_cpus; n_workers++)
    {
      g_autofree guint *workers = iris_plan_spread (cpus, G_N_ELEMENTS (cpus), n_workers);
      guint sum = 0;

      for (guint i = 0; i < G_N_ELEMENTS (cpus); i++)
        {
          ck_assert_uint_ge (workers[i], 1);
          ck_assert_uint_le (workers[i], cpus[i]);
          sum += workers[i];
        }
      ck_assert_uint_eq (sum, n_workers);
    }
}
END_TEST

START_TEST (a_quota_leaves_every_place_of_a_fixed_level_one_worker)
{
  assert_outline (divide (limited ("pack:4 core:2 pu:1", NULL, 2), "package", 0),
                  "package:0=0-1/1 package:1=2-3/1 package:2=4-5/1 package:3=6-7/1");
  assert_outline (divide (limited ("pack:2 core:4 pu:1", NULL, 4.2), "package", 0),
                  "package:0=0-3/3 package:1=4-7/2");
  assert_outline (divide (limited ("pack:2 core:4 pu:1", NULL, 0.1), "0-1;2-3", 0),
                  "cpus:0=0-1/1 cpus:1=2-3/1");
}
END_TEST

START_TEST (workers_may_be_more_than_cpus_but_not_fewer_than_places)
{
  g_autofree char *message = NULL;

  assert_outline (divide (synthetic ("pack:2 core:1 pu:1"), "package", 9),
                  "package:0=0/5 package:1=1/4");

  message = refusal (synthetic ("pack:4 core:1 pu:1"), "core", 3, IRIS_PLACE_ERROR_TOO_FEW_WORKERS);
  ck_assert_ptr_nonnull (strstr (message, "at least 4 workers"));
  assert_refused (synthetic ("pack:4 core:1 pu:1"), "0;1;2", 2, IRIS_PLACE_ERROR_TOO_FEW_WORKERS);
  assert_refused (synthetic ("pu:1"), "auto", IRIS_PLACES_MAX_WORKERS + 1,
                  IRIS_PLACE_ERROR_TOO_LARGE);
  assert_refused (synthetic ("pu:1"), "0", G_MAXUINT, IRIS_PLACE_ERROR_TOO_LARGE);
}
END_TEST

START_TEST (unknown_and_missing_levels_say_which_there_are)
{
  static const char *const unknown[] = {
    "", "socket", "L3", "l3 ", "l1", "AUTO", "l3:0", "virtual"
  };

  for (guint i = 0; i < G_N_ELEMENTS (unknown); i++)
    {
      g_autofree char *message = refusal (synthetic ("pack:2 core:2 pu:1"), unknown[i], 0,
                                          IRIS_PLACE_ERROR_UNKNOWN_LEVEL);

      ck_assert_ptr_nonnull (strstr (message, "machine, package, numa, core, pu"));
    }
  for (guint i = 0; i < 2; i++)
    {
      g_autofree char *message = refusal (synthetic ("pack:2 core:2 pu:1"), i == 0 ? "l3" : "l2", 0,
                                          IRIS_PLACE_ERROR_MISSING_LEVEL);

      ck_assert_ptr_nonnull (strstr (message, "machine, package, numa, core, pu"));
    }
}
END_TEST

START_TEST (explicit_cpu_sets_become_places)
{
  static const char *const sets[] = { "0-1,7", "3", "2,4", NULL };
  g_autoptr (IrisTopology) topology = synthetic ("pack:2 core:4 pu:1");
  g_autoptr (IrisPlaces)
      places = iris_places_new_for_cpusets (topology, sets, 0, IRIS_BIND_PLACE, NULL);

  ck_assert_ptr_nonnull (places);
  ck_assert_str_eq (iris_places_get_level (places), "cpus");
  assert_partition (places, 6);
  assert_distances (places);
  ck_assert_ptr_null (iris_places_for_cpu (places, 5));
  ck_assert_ptr_null (iris_places_for_cpu (places, 4096));
  assert_outline (g_object_ref (places), "cpus:0=0-1,7/3 cpus:1=3/1 cpus:2=2,4/2");
  assert_outline (divide (synthetic ("pack:2 core:4 pu:1"), "0-1,7;3;2,4", 0),
                  "cpus:0=0-1,7/3 cpus:1=3/1 cpus:2=2,4/2");
}
END_TEST

START_TEST (explicit_cpu_sets_are_checked)
{
  static const struct
  {
    const char *level;
    IrisPlaceError code;
  } cases[] = {
    { "0;", IRIS_PLACE_ERROR_EMPTY },           { "0;;1", IRIS_PLACE_ERROR_EMPTY },
    { "0;x", IRIS_PLACE_ERROR_BAD_CPU_LIST },   { "0-;1", IRIS_PLACE_ERROR_BAD_CPU_LIST },
    { "0 ;1", IRIS_PLACE_ERROR_BAD_CPU_LIST },  { "0-1;1-2", IRIS_PLACE_ERROR_OVERLAP },
    { "0,0;1", IRIS_PLACE_ERROR_OVERLAP },      { "0-1;3", IRIS_PLACE_ERROR_CPU_NOT_USABLE },
    { "0;4", IRIS_PLACE_ERROR_CPU_NOT_USABLE }, { "0;70000", IRIS_PLACE_ERROR_TOO_LARGE },
  };
  static const char *const none[] = { NULL };
  g_autoptr (IrisTopology) topology = limited ("pu:4", "0-2", 0);
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    assert_refused (g_object_ref (topology), cases[i].level, 0, cases[i].code);
  ck_assert_ptr_null (iris_places_new_for_cpusets (topology, none, 0, IRIS_BIND_PLACE, &error));
  ck_assert (g_error_matches (error, IRIS_PLACE_ERROR, IRIS_PLACE_ERROR_EMPTY));
}
END_TEST

START_TEST (lookup_takes_names_and_numbers_only)
{
  static const char *const bad[] = { "",      " 0",        "0 ",  "-1",         "+1",
                                     "4",     "l2:4",      "l2",  "L2:1",       "l2:01",
                                     "l2:1 ", "package:0", "0x1", "99999999999" };
  g_autoptr (IrisPlaces) places = divide (synthetic ("pack:1 l2:4 core:1 pu:1"), "l2", 0);

  ck_assert_ptr_eq (iris_places_lookup (places, "l2:3"), iris_places_get_place (places, 3));
  ck_assert_ptr_eq (iris_places_lookup (places, "3"), iris_places_get_place (places, 3));
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    ck_assert_msg (iris_places_lookup (places, bad[i]) == NULL, "“%s” was found", bad[i]);
}
END_TEST

START_TEST (distance_grows_with_the_part_of_the_machine_in_common)
{
  g_autoptr (IrisPlaces) places = divide (synthetic ("pack:2 l3:2 l2:2 core:1 pu:2"), "pu", 0);

  /* cpu 0 to its core's other thread, its L3's other core, its package's other L3, the other one */
  ck_assert_uint_eq (iris_places_get_distance (places, 0, 1), 1);
  ck_assert_uint_eq (iris_places_get_distance (places, 0, 2), 2);
  ck_assert_uint_eq (iris_places_get_distance (places, 0, 4), 3);
  ck_assert_uint_eq (iris_places_get_distance (places, 0, 8), 4);
  ck_assert_uint_eq (iris_places_get_distance (places, 15, 0), 4);
}
END_TEST

START_TEST (levels_without_a_choice_do_not_lengthen_distances)
{
  g_autoptr (IrisPlaces) places = divide (synthetic ("pack:2 l3:1 l2:1 core:2 pu:2"), "core", 0);

  ck_assert_uint_eq (iris_places_get_distance (places, 0, 1), 1);
  ck_assert_uint_eq (iris_places_get_distance (places, 0, 2), 2);
}
END_TEST

/* @shape with a latency matrix of its memory nodes, of which there are @n, through a file. */
static IrisTopology *
with_latencies (const char *shape, hwloc_uint64_t *values, guint n)
{
  g_autofree char *path = g_build_filename (g_get_tmp_dir (), "iris-places-XXXXXX", NULL);
  g_autoptr (IrisTopology) plain = synthetic (shape);
  hwloc_topology_t hwloc = iris_topology_get_hwloc (plain);
  hwloc_distances_add_handle_t handle;
  hwloc_obj_t nodes[8];
  IrisTopology *topology;

  for (guint i = 0; i < n; i++)
    nodes[i] = hwloc_get_obj_by_type (hwloc, HWLOC_OBJ_NUMANODE, i);
  handle = hwloc_distances_add_create (
      hwloc, "NUMALatency", HWLOC_DISTANCES_KIND_FROM_USER | HWLOC_DISTANCES_KIND_MEANS_LATENCY, 0);
  ck_assert_ptr_nonnull (handle);
  ck_assert_int_eq (hwloc_distances_add_values (hwloc, handle, n, nodes, values, 0), 0);
  ck_assert_int_eq (hwloc_distances_add_commit (hwloc, handle, 0), 0);

  ck_assert_int_ge (g_close (g_mkstemp (path), NULL), 0);
  ck_assert_int_eq (hwloc_topology_export_xml (hwloc, path, 0), 0);
  topology = iris_topology_new_xml (path, NULL);
  ck_assert_int_eq (g_unlink (path), 0);
  ck_assert_ptr_nonnull (topology);
  return topology;
}

START_TEST (latencies_of_the_firmware_are_distances_between_memory_nodes)
{
  hwloc_uint64_t values[] = {
    10, 12, 32, 32, 12, 10, 32, 30, 32, 32, 10, 12, 32, 32, 12, 10
  }; /* 1→3 is not 3→1 */
  g_autoptr (IrisPlaces)
      places = divide (with_latencies ("pack:2 numa:2 core:2 pu:1", values, 4), "core", 0);

  assert_distances (places);
  ck_assert_uint_eq (iris_places_get_distance (places, 0, 1), 1);
  ck_assert_uint_eq (iris_places_get_distance (places, 0, 2), 12);
  ck_assert_uint_eq (iris_places_get_distance (places, 0, 4), 32);
  ck_assert_uint_eq (iris_places_get_distance (places, 2, 6), 32);
}
END_TEST

START_TEST (places_of_several_nodes_are_as_far_as_the_nearest_two)
{
  hwloc_uint64_t values[] = { 10, 12, 21, 40, 12, 10, 40, 40, 21, 40, 10, 12, 40, 40, 12, 10 };
  g_autoptr (IrisPlaces)
      places = divide (with_latencies ("pack:2 numa:2 core:2 pu:1", values, 4), "package", 0);

  ck_assert_uint_eq (iris_places_get_distance (places, 0, 1), 21);
}
END_TEST

START_TEST (other_memory_is_farther_in_any_unit)
{
  hwloc_uint64_t values[] = { 1, 2, 2, 1 };
  g_autoptr (IrisPlaces)
      places = divide (with_latencies ("numa:2 l3:2 l2:2 core:2 pu:2", values, 2), "pu", 0);
  guint farthest_inside = iris_places_get_distance (places, 0, 15);

  ck_assert_uint_eq (farthest_inside, 4);
  ck_assert_uint_gt (iris_places_get_distance (places, 0, 16), farthest_inside);
  assert_distances (places);
}
END_TEST

static Suite *
places_suite (void)
{
  Suite *suite = suite_create ("places");
  TCase *partitions = tcase_create ("partitions");
  TCase *distances = tcase_create ("distances");

  tcase_set_timeout (partitions, 120);
  tcase_add_loop_test (partitions, every_level_of_every_shape_is_a_partition, 0,
                       G_N_ELEMENTS (shapes));
  tcase_add_loop_test (partitions, auto_takes_the_largest_units_that_fit, 0,
                       G_N_ELEMENTS (automatic));
  tcase_add_test (partitions, no_level_is_auto);
  tcase_add_test (partitions, names_and_contents_do_not_depend_on_the_mask);
  tcase_add_test (partitions, objects_that_are_partly_allowed_count);
  tcase_add_test (partitions, names_follow_the_hardware_and_cpus_the_kernel);
  tcase_add_test (partitions, workers_are_shared_fairly);
  tcase_add_test (partitions, no_place_has_more_workers_than_cpus_if_there_are_enough);
  tcase_add_test (partitions, a_quota_leaves_every_place_of_a_fixed_level_one_worker);
  tcase_add_test (partitions, workers_may_be_more_than_cpus_but_not_fewer_than_places);
  tcase_add_test (partitions, unknown_and_missing_levels_say_which_there_are);
  tcase_add_test (partitions, explicit_cpu_sets_become_places);
  tcase_add_test (partitions, explicit_cpu_sets_are_checked);
  tcase_add_test (partitions, lookup_takes_names_and_numbers_only);
  suite_add_tcase (suite, partitions);

  tcase_add_test (distances, distance_grows_with_the_part_of_the_machine_in_common);
  tcase_add_test (distances, levels_without_a_choice_do_not_lengthen_distances);
  tcase_add_test (distances, latencies_of_the_firmware_are_distances_between_memory_nodes);
  tcase_add_test (distances, places_of_several_nodes_are_as_far_as_the_nearest_two);
  tcase_add_test (distances, other_memory_is_farther_in_any_unit);
  suite_add_tcase (suite, distances);
  return suite;
}

int
main (void)
{
  return core_test_run (places_suite ());
}
