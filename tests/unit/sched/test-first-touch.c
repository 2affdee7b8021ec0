/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * First touch, and where memory lies.
 */
#include "core-test-util.h"

#include <string.h>

#define SIZE (9 * 1024 * 1024 + 123)

static IrisScheduler *
make_scheduler (IrisPlaces *places)
{
  return iris_place_scheduler_new (places);
}

static void
fill (guint8 *memory, gsize size)
{
  for (gsize i = 0; i < size; i++)
    memory[i] = (guint8) (i * 31 + i / 4096);
}

static gboolean
is_zero (const guint8 *memory, gsize size)
{
  gsize i = 0;

  while (i < size && memory[i] == 0)
    i++;

  return i == size;
}

TEST (memory_is_touched_at_a_place)
{
  g_autoptr (IrisPlaces) places = iris_places_new_unbound (2, 1);
  g_autoptr (IrisScheduler) scheduler = make_scheduler (places);
  g_autofree guint8 *from = g_malloc (SIZE), *memory = g_malloc (SIZE + 2);
  g_autoptr (IrisStats) stats = NULL;
  g_autoptr (GError) error = NULL;

  fill (from, SIZE);
  memset (memory, 0xaa, SIZE + 2);
  ck_assert (iris_scheduler_first_touch (scheduler, 1, memory + 1, from, SIZE, &error));
  ck_assert_int_eq (memcmp (memory + 1, from, SIZE), 0);
  ck_assert (iris_scheduler_first_touch (scheduler, 1, memory + 1, NULL, SIZE, &error));
  ck_assert (is_zero (memory + 1, SIZE));
  ck_assert_uint_eq (memory[0], 0xaa);
  ck_assert_uint_eq (memory[SIZE + 1], 0xaa);
  ck_assert (iris_scheduler_first_touch (scheduler, 0, NULL, NULL, 0, &error));
  ck_assert_ptr_null (error);

  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_DRAIN);
  stats = iris_scheduler_get_stats (scheduler);
  ck_assert_uint_ge (stats->places[1].executed, 2 * (SIZE / IRIS_FIRST_TOUCH_CHUNK));
  ck_assert_uint_eq (stats->places[0].executed, 0);
}

TEST (a_scheduler_that_is_shut_down_says_so)
{
  g_autoptr (IrisPlaces) places = iris_places_new_unbound (1, 1);
  g_autoptr (IrisScheduler) scheduler = make_scheduler (places);
  g_autofree guint8 *memory = g_malloc (SIZE);
  g_autoptr (GError) error = NULL;

  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_DRAIN);
  ck_assert (!iris_scheduler_first_touch (scheduler, 0, memory, NULL, SIZE, &error));
  ck_assert (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CLOSED));
}

typedef struct
{
  GMainLoop *loop;
  gboolean good;
  GError *error;
} Wait;

static void
on_touched (GObject *source, GAsyncResult *result, gpointer data)
{
  Wait *wait = data;

  wait->good = iris_scheduler_first_touch_finish (IRIS_SCHEDULER (source), result, &wait->error);
  g_main_loop_quit (wait->loop);
}

LOOP_TEST (memory_is_touched_without_waiting, 0, 3)
{
  g_autoptr (GMainLoop) loop = g_main_loop_new (NULL, FALSE);
  g_autoptr (IrisPlaces) places = iris_places_new_unbound (2, 1);
  g_autoptr (IrisScheduler) scheduler = make_scheduler (places);
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autofree guint8 *memory = g_malloc (SIZE);
  Wait wait = { .loop = loop };

  memset (memory, 1, SIZE);
  if (_i == 1)
    g_cancellable_cancel (cancellable);
  iris_scheduler_first_touch_async (scheduler, 1, memory, NULL, _i == 2 ? 0 : SIZE, cancellable,
                                    on_touched, &wait);
  g_main_loop_run (loop);
  if (_i == 1)
    ck_assert (!wait.good && g_error_matches (wait.error, G_IO_ERROR, G_IO_ERROR_CANCELLED));
  else
    ck_assert (wait.good && wait.error == NULL);
  ck_assert_int_eq (is_zero (memory, SIZE), _i == 0);
  g_clear_error (&wait.error);
}

LOOP_TEST (a_memory_node_has_a_place, 0, 2)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (IrisTopology)
      topology = iris_topology_new_synthetic ("numa:2 l3:2(size=1048576) core:2 pu:1", &error);
  g_autoptr (IrisPlaces) places = NULL;

  ck_assert_msg (topology != NULL, "%s", error != NULL ? error->message : "");
  places = iris_places_new (topology, _i == 0 ? "numa" : "l3", &error);
  ck_assert_ptr_nonnull (places);
  ck_assert_uint_eq (iris_place_get_id (iris_places_for_memory_node (places, 0)), 0);
  ck_assert_uint_eq (iris_place_get_id (iris_places_for_memory_node (places, 1)), _i == 0 ? 1 : 2);
  ck_assert_ptr_null (iris_places_for_memory_node (places, 2));
  ck_assert_uint_eq (iris_place_get_cache_size (iris_places_get_place (places, 1)),
                     _i == 0 ? 2097152 : 1048576);
}

/* A cache that places share falls to them by their cpus. */
TEST (a_shared_cache_is_divided)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (IrisTopology)
      topology = iris_topology_new_synthetic ("l3:1(size=1048576) core:4 pu:1", &error);
  g_autoptr (IrisPlaces) places = NULL, none = iris_places_new_unbound (2, 1);

  ck_assert_ptr_nonnull (topology);
  places = iris_places_new (topology, "core", &error);
  ck_assert_ptr_nonnull (places);
  ck_assert_uint_eq (iris_place_get_cache_size (iris_places_get_place (places, 3)), 262144);
  ck_assert_uint_eq (iris_place_get_cache_size (iris_places_get_place (none, 1)), 0);
}

LOOP_TEST (foreign_and_virtual_places_hold_no_memory, 0, 2)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (IrisTopology) topology = iris_topology_new_synthetic ("numa:2 pu:1", &error);
  g_autoptr (IrisPlaces) places = _i == 0 ? iris_places_new_unbound (2, 1)
                                          : iris_places_new (topology, "numa", &error);
  char byte = 1;

  ck_assert_ptr_nonnull (places);
  ck_assert_int_eq (iris_places_find_memory (places, &byte, 1, &error), -1);
  ck_assert (g_error_matches (error, IRIS_PLACE_ERROR, IRIS_PLACE_ERROR_NO_PLACE));
}

/* Containers may forbid to ask where memory lies; then it must say so. */
TEST (memory_of_this_machine_has_a_place_or_an_error)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (IrisPlaces) places = iris_places_new (NULL, "machine", &error);
  g_autofree guint8 *memory = g_malloc (SIZE);
  gint place;

  ck_assert_msg (places != NULL, "%s", error != NULL ? error->message : "");
  fill (memory, SIZE);
  place = iris_places_find_memory (places, memory, SIZE, &error);
  if (place == -1)
    ck_assert (g_error_matches (error, IRIS_PLACE_ERROR, IRIS_PLACE_ERROR_NO_PLACE));
  else
    ck_assert (place == 0 && error == NULL);
}

TEST (memory_of_a_place_lies_there)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (IrisPlaces) places = iris_places_new (NULL, "machine", &error);
  IrisPlace *place = iris_places_get_place (places, 0);
  gboolean bound;
  gpointer memory = iris_place_alloc_full (place, SIZE, &bound);

  ck_assert_ptr_nonnull (memory);
  if (bound)
    ck_assert_int_eq (iris_places_find_memory (places, memory, SIZE, &error), 0);
  iris_place_free (place, memory, SIZE);
}

TEST_MAIN ("first-touch", NULL, NULL)
