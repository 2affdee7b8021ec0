/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A place of this machine: its threads and its memory. And one without hardware: neither.
 */
#include "core-test-run.h"

#include <iris/iris.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include <iris/place/iris-place-private.h>
#include <iris/place/topology/iris-topology-private.h>

static cpu_set_t original_mask;

static void
setup (void)
{
  ck_assert_int_eq (sched_getaffinity (getpid (), sizeof original_mask, &original_mask), 0);
}

static void
teardown (void)
{
  sched_setaffinity (getpid (), sizeof original_mask, &original_mask);
}

static IrisPlaces *
divide (const char *level, guint n_workers, IrisBind bind)
{
  g_autoptr (GError) error = NULL;
  IrisPlaces *places = iris_places_new_full (NULL, level, n_workers, bind, &error);

  ck_assert_msg (places != NULL, "%s", error != NULL ? error->message : "no error");
  return places;
}

/* What a thread of a place may run on. */
typedef struct
{
  const IrisPlace *place;
  guint worker;
  gboolean good;
  cpu_set_t mask;
} Bound;

static gpointer
bind_and_look (gpointer data)
{
  Bound *bound = data;

  bound->good = iris_place_bind_current_thread (bound->place, bound->worker, NULL)
                && sched_getaffinity (0, sizeof bound->mask, &bound->mask) == 0;
  return NULL;
}

static cpu_set_t
mask_of_worker (const IrisPlace *place, guint worker)
{
  Bound bound = { .place = place, .worker = worker };

  g_thread_join (g_thread_new ("worker", bind_and_look, &bound));
  ck_assert (bound.good);
  return bound.mask;
}

/* The mask as a list of cpus is the one of @place. */
static void
assert_whole_place (const IrisPlace *place, const cpu_set_t *mask)
{
  for (guint cpu = 0; cpu < CPU_SETSIZE; cpu++)
    ck_assert_int_eq (CPU_ISSET (cpu, mask) != 0, hwloc_bitmap_isset (place->cpuset, cpu));
}

START_TEST (a_worker_runs_on_the_cpus_of_its_place)
{
  g_autoptr (IrisPlaces) places = divide ("auto", 0, IRIS_BIND_PLACE);

  for (guint i = 0; i < iris_places_get_n_places (places); i++)
    {
      const IrisPlace *place = iris_places_get_place (places, i);
      cpu_set_t mask = mask_of_worker (place, 0);

      ck_assert (iris_place_is_bound (place));
      assert_whole_place (place, &mask);
    }
}
END_TEST

START_TEST (workers_bound_to_cpus_have_one_each)
{
  g_autoptr (IrisPlaces)
      places = divide ("machine", (guint) CPU_COUNT (&original_mask), IRIS_BIND_CPU);
  const IrisPlace *place = iris_places_get_place (places, 0);
  guint n_workers = iris_place_get_n_workers (place);
  cpu_set_t all;

  CPU_ZERO (&all);
  ck_assert_uint_eq (n_workers, (guint) CPU_COUNT (&original_mask));
  for (guint i = 0; i < n_workers; i++)
    {
      cpu_set_t mask = mask_of_worker (place, i);

      ck_assert_int_eq (CPU_COUNT (&mask), 1);
      CPU_OR (&all, &all, &mask);
    }
  ck_assert (CPU_EQUAL (&all, &original_mask));
}
END_TEST

START_TEST (workers_in_excess_of_the_cpus_share_the_place)
{
  g_autoptr (IrisPlaces)
      places = divide ("machine", (guint) CPU_COUNT (&original_mask) + 1, IRIS_BIND_CPU);
  const IrisPlace *place = iris_places_get_place (places, 0);

  for (guint i = 0; i < iris_place_get_n_workers (place); i++)
    {
      cpu_set_t mask = mask_of_worker (place, i);

      assert_whole_place (place, &mask);
    }
}
END_TEST

START_TEST (a_thread_that_is_no_worker_gets_the_whole_place)
{
  g_autoptr (IrisPlaces) places = divide ("machine", 1, IRIS_BIND_CPU);
  const IrisPlace *place = iris_places_get_place (places, 0);
  cpu_set_t worker = mask_of_worker (place, 0);
  cpu_set_t other = mask_of_worker (place, 1);

  ck_assert_int_eq (CPU_COUNT (&worker), 1);
  assert_whole_place (place, &other);
}
END_TEST

START_TEST (cores_are_filled_before_their_second_threads)
{
  g_autoptr (IrisTopology) topology = iris_topology_new_synthetic ("pack:2 core:2 pu:2", NULL);
  g_autoptr (IrisPlaces)
      places = iris_places_new_full (topology, "package", 0, IRIS_BIND_CPU, NULL);
  static const guint expected[2][4] = { { 0, 2, 1, 3 }, { 4, 6, 5, 7 } };

  for (guint i = 0; i < 2; i++)
    {
      const IrisPlace *place = iris_places_get_place (places, i);

      ck_assert_uint_eq (place->n_cpus, 4);
      ck_assert_mem_eq (place->order, expected[i], sizeof expected[i]);
    }
}
END_TEST

/* Does nothing to the thread, and says so. */
static void
assert_unbound (const IrisPlace *place)
{
  cpu_set_t mask = mask_of_worker (place, 0);
  cpu_set_t set;

  ck_assert (!iris_place_is_bound (place));
  ck_assert (CPU_EQUAL (&mask, &original_mask));
  ck_assert (!iris_place_get_cpu_set (place, &set));
  ck_assert_int_eq (CPU_COUNT (&set), 0);
}

START_TEST (binding_can_be_switched_off)
{
  g_autoptr (IrisPlaces) places = divide ("pu", 0, IRIS_BIND_NONE);

  assert_unbound (iris_places_get_place (places, 0));
}
END_TEST

START_TEST (nothing_is_bound_on_another_machine)
{
  g_autoptr (IrisTopology) topology = iris_topology_new_synthetic ("pu:2", NULL);
  g_autoptr (IrisPlaces) places = iris_places_new_full (topology, "pu", 0, IRIS_BIND_CPU, NULL);
  const IrisPlace *place = iris_places_get_place (places, 1);
  gboolean bound = TRUE;
  gpointer memory;

  ck_assert_int_eq (iris_places_get_bind (places), IRIS_BIND_CPU);
  ck_assert_str_eq (iris_place_get_cpus (place), "1");
  assert_unbound (place);

  memory = iris_place_alloc_full (place, 64, &bound);
  ck_assert_ptr_nonnull (memory);
  ck_assert (!bound);
  iris_place_free (place, memory, 64);
}
END_TEST

START_TEST (a_child_can_be_bound_to_the_cpus_of_a_place)
{
  g_autoptr (IrisPlaces) places = divide ("pu", 0, IRIS_BIND_PLACE);

  for (guint i = 0; i < iris_places_get_n_places (places); i++)
    {
      const IrisPlace *place = iris_places_get_place (places, i);
      cpu_set_t set;

      ck_assert (iris_place_get_cpu_set (place, &set));
      ck_assert_int_eq (CPU_COUNT (&set), 1);
      assert_whole_place (place, &set);
    }
}
END_TEST

START_TEST (what_the_kernel_refuses_is_an_error)
{
  g_autoptr (IrisPlaces) places = divide ("machine", 0, IRIS_BIND_PLACE);
  IrisPlace *place = iris_places_get_place (places, 0);
  g_autoptr (GError) error = NULL;

  /* As if the cpus had gone since the topology was read. */
  hwloc_bitmap_only (place->cpuset, IRIS_TOPOLOGY_MAX_CPUS - 1);
  ck_assert (!iris_place_bind_current_thread (place, 0, &error));
  ck_assert (g_error_matches (error, IRIS_PLACE_ERROR, IRIS_PLACE_ERROR_BIND));
}
END_TEST

START_TEST (a_place_has_the_same_name_under_a_narrow_mask)
{
  static const char *const levels[] = { "machine", "package", "numa", "pu" };
  cpu_set_t mask;
  guint cpu = CPU_SETSIZE - 1;

  while (!CPU_ISSET (cpu, &original_mask))
    cpu--;
  CPU_ZERO (&mask);
  CPU_SET (cpu, &mask);

  for (guint i = 0; i < G_N_ELEMENTS (levels); i++)
    {
      g_autoptr (IrisPlaces) wide = divide (levels[i], 0, IRIS_BIND_PLACE);
      g_autoptr (IrisPlaces) narrow = NULL;

      ck_assert_int_eq (sched_setaffinity (getpid (), sizeof mask, &mask), 0);
      narrow = divide (levels[i], 0, IRIS_BIND_PLACE);
      ck_assert_int_eq (sched_setaffinity (getpid (), sizeof original_mask, &original_mask), 0);

      ck_assert_uint_eq (iris_places_get_n_places (narrow), 1);
      ck_assert_uint_eq (iris_places_get_n_workers (narrow), 1);
      ck_assert_str_eq (iris_place_get_name (iris_places_for_cpu (narrow, cpu)),
                        iris_place_get_name (iris_places_for_cpu (wide, cpu)));
    }
}
END_TEST

START_TEST (memory_lies_on_the_nodes_of_the_place)
{
  const gsize size = 3 * 4096 + 1;
  g_autoptr (IrisPlaces) places = divide ("numa", 0, IRIS_BIND_NONE);

  for (guint i = 0; i < iris_places_get_n_places (places); i++)
    {
      const IrisPlace *place = iris_places_get_place (places, i);
      gboolean bound = FALSE;
      guint8 *memory = iris_place_alloc_full (place, size, &bound);

      ck_assert_ptr_nonnull (memory);
      for (gsize byte = 0; byte < size; byte++)
        ck_assert_uint_eq (memory[byte], 0);
      memset (memory, 0xa5, size);

      /* A sandbox may forbid it; then the place must not claim it. */
      if (bound)
        {
          hwloc_bitmap_t nodes = hwloc_bitmap_alloc ();
          hwloc_membind_policy_t policy;

          ck_assert_int_eq (hwloc_get_area_membind (place->hwloc, memory, size, nodes, &policy,
                                                    HWLOC_MEMBIND_BYNODESET),
                            0);
          ck_assert_int_eq (policy, HWLOC_MEMBIND_BIND);
          ck_assert (hwloc_bitmap_isincluded (nodes, place->nodeset));
          ck_assert (!hwloc_bitmap_iszero (nodes));
          hwloc_bitmap_free (nodes);
        }
      iris_place_free (place, memory, size);
    }
}
END_TEST

START_TEST (a_place_without_a_usable_node_gives_plain_memory)
{
  g_autoptr (IrisPlaces) places = divide ("machine", 0, IRIS_BIND_PLACE);
  IrisPlace *place = iris_places_get_place (places, 0);
  gboolean bound = TRUE;
  guint8 *memory;

  hwloc_bitmap_zero (place->nodeset);
  memory = iris_place_alloc_full (place, 1, &bound);
  ck_assert_ptr_nonnull (memory);
  ck_assert (!bound);
  memory[0] = 1;
  iris_place_free (place, memory, 1);
}
END_TEST

START_TEST (more_memory_than_there_is_gives_none)
{
  g_autoptr (IrisPlaces) places = iris_places_new_unbound (1, 1);
  const IrisPlace *place = iris_places_get_place (places, 0);

  ck_assert_ptr_null (iris_place_alloc (place, G_MAXSIZE));
  ck_assert_ptr_null (iris_place_alloc (place, G_MAXSIZE / 2));
  iris_place_free (place, NULL, 1);
}
END_TEST

START_TEST (virtual_places_have_workers_and_nothing_else)
{
  g_autoptr (IrisPlaces) places = iris_places_new_unbound (3, 5);

  ck_assert_uint_eq (iris_places_get_n_places (places), 3);
  ck_assert_uint_eq (iris_places_get_n_workers (places), 15);
  ck_assert_str_eq (iris_places_get_level (places), "virtual");
  ck_assert_ptr_null (iris_places_get_topology (places));
  ck_assert_ptr_null (iris_places_for_cpu (places, 0));
  ck_assert_ptr_eq (iris_places_lookup (places, "virtual:2"), iris_places_get_place (places, 2));

  for (guint i = 0; i < 3; i++)
    {
      const IrisPlace *place = iris_places_get_place (places, i);

      ck_assert_uint_eq (iris_place_get_n_workers (place), 5);
      ck_assert_str_eq (iris_place_get_cpus (place), "");
      ck_assert_str_eq (iris_place_get_memory_nodes (place), "");
      assert_unbound (place);
      for (guint j = 0; j < 3; j++)
        ck_assert_uint_eq (iris_places_get_distance (places, i, j), i == j ? 0 : 1);
    }
}
END_TEST

START_TEST (a_place_keeps_its_owner_alive)
{
  IrisPlaces *places = iris_places_new_unbound (2, 1);
  g_autoptr (IrisPlace) place = iris_place_ref (iris_places_get_place (places, 1));
  IrisPlace *copy = g_boxed_copy (IRIS_TYPE_PLACE, place);

  g_object_unref (places);
  ck_assert_ptr_eq (copy, place);
  ck_assert_str_eq (iris_place_get_name (place), "virtual:1");
  g_boxed_free (IRIS_TYPE_PLACE, copy);
  ck_assert_uint_eq (G_OBJECT (place->owner)->ref_count, 1);
}
END_TEST

START_TEST (properties_say_what_was_made)
{
  g_autoptr (IrisTopology) topology = iris_topology_new_synthetic ("pack:2 core:2 pu:1", NULL);
  g_autoptr (IrisPlaces)
      places = iris_places_new_full (topology, "package", 5, IRIS_BIND_CPU, NULL);
  g_autoptr (IrisTopology) divided = NULL;
  g_autofree char *level = NULL;
  guint n_places, n_workers;
  IrisBind bind;

  g_object_get (places, "topology", &divided, "level", &level, "n-places", &n_places, "n-workers",
                &n_workers, "bind", &bind, NULL);
  ck_assert_ptr_eq (divided, topology);
  ck_assert_str_eq (level, "package");
  ck_assert_uint_eq (n_places, 2);
  ck_assert_uint_eq (n_workers, 5);
  ck_assert_int_eq (bind, IRIS_BIND_CPU);
}
END_TEST

static gpointer
read_everything (gpointer data)
{
  IrisPlaces *places = data;
  guint n = iris_places_get_n_places (places);
  guint sum = 0;

  for (guint i = 0; i < n; i++)
    {
      const IrisPlace *place = iris_places_get_place (places, i);

      sum += (guint) strlen (iris_place_get_name (place)) + iris_place_get_n_workers (place);
      for (guint j = 0; j < n; j++)
        sum += iris_places_get_distance (places, i, j);
      if (iris_places_for_cpu (places, i) == place)
        sum++;
    }
  return GUINT_TO_POINTER (sum);
}

/* With ThreadSanitizer this finds whatever is still written after construction. */
START_TEST (threads_read_places_without_locks)
{
  g_autoptr (IrisTopology) topology = iris_topology_new_synthetic ("pack:2 l3:2 core:4 pu:1", NULL);
  g_autoptr (IrisPlaces) places = iris_places_new (topology, "core", NULL);
  gpointer expected = read_everything (places);
  GThread *threads[4];

  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    threads[i] = g_thread_new ("reader", read_everything, places);
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    ck_assert_ptr_eq (g_thread_join (threads[i]), expected);
}
END_TEST

static gpointer
make_places (gpointer data)
{
  g_autoptr (IrisPlaces) places = iris_places_new (NULL, NULL, NULL);

  return GUINT_TO_POINTER (places != NULL ? iris_places_get_n_workers (places) : 0);
}

START_TEST (threads_make_places_at_the_same_time)
{
  /* GLib initialises a class under locks that ThreadSanitizer cannot see. */
  gpointer topology_class = g_type_class_ref (IRIS_TYPE_TOPOLOGY);
  gpointer places_class = g_type_class_ref (IRIS_TYPE_PLACES);
  GThread *threads[4];

  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    threads[i] = g_thread_new ("maker", make_places, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    ck_assert_uint_ge (GPOINTER_TO_UINT (g_thread_join (threads[i])), 1);
  g_type_class_unref (places_class);
  g_type_class_unref (topology_class);
}
END_TEST

static Suite *
place_suite (void)
{
  Suite *suite = suite_create ("place");
  TCase *binding = tcase_create ("binding");
  TCase *memory = tcase_create ("memory");
  TCase *objects = tcase_create ("objects");

  /* First, so that under ThreadSanitizer the machine is really read by several at once. */
  tcase_add_test (objects, threads_make_places_at_the_same_time);
  tcase_add_test (objects, threads_read_places_without_locks);
  tcase_add_checked_fixture (objects, setup, teardown);
  tcase_add_test (objects, virtual_places_have_workers_and_nothing_else);
  tcase_add_test (objects, a_place_keeps_its_owner_alive);
  tcase_add_test (objects, properties_say_what_was_made);
  suite_add_tcase (suite, objects);

  tcase_add_checked_fixture (binding, setup, teardown);
  tcase_add_test (binding, a_worker_runs_on_the_cpus_of_its_place);
  tcase_add_test (binding, workers_bound_to_cpus_have_one_each);
  tcase_add_test (binding, workers_in_excess_of_the_cpus_share_the_place);
  tcase_add_test (binding, a_thread_that_is_no_worker_gets_the_whole_place);
  tcase_add_test (binding, cores_are_filled_before_their_second_threads);
  tcase_add_test (binding, binding_can_be_switched_off);
  tcase_add_test (binding, nothing_is_bound_on_another_machine);
  tcase_add_test (binding, a_child_can_be_bound_to_the_cpus_of_a_place);
  tcase_add_test (binding, what_the_kernel_refuses_is_an_error);
  tcase_add_test (binding, a_place_has_the_same_name_under_a_narrow_mask);
  suite_add_tcase (suite, binding);

  tcase_add_test (memory, memory_lies_on_the_nodes_of_the_place);
  tcase_add_test (memory, a_place_without_a_usable_node_gives_plain_memory);
  tcase_add_test (memory, more_memory_than_there_is_gives_none);
  suite_add_tcase (suite, memory);
  return suite;
}

int
main (void)
{
  return core_test_run (place_suite ());
}
