/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A trace: what is in the file, and what is not.
 */
#include "core-test-util.h"

#include <iris/sched/iris-scheduler-private.h>
#include <json-glib/json-glib.h>

#include <string.h>

#define N_ITEMS 200

static IrisScheduler *scheduler;
static CoreTestGate gate = CORE_TEST_GATE_INIT, held = CORE_TEST_GATE_INIT,
                    ran = CORE_TEST_GATE_INIT;

static void
set_up (void)
{
  g_autoptr (IrisPlaces) places = iris_places_new_unbound (2, 1);

  scheduler = iris_place_scheduler_new (places);
  core_test_gate_close (&gate);
  core_test_gate_close (&held);
  core_test_gate_close (&ran);
}

static void
tear_down (void)
{
  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_DRAIN);
  g_clear_object (&scheduler);
}

static void
start (guint n_events)
{
  g_autoptr (GError) error = NULL;

  ck_assert_msg (iris_scheduler_trace_start (scheduler, n_events, &error), "%s",
                 error != NULL ? error->message : "no error");
}

static JsonNode *
parse (void)
{
  g_autoptr (GOutputStream) stream = g_memory_output_stream_new_resizable ();
  g_autoptr (GError) error = NULL;
  g_autoptr (JsonNode) node = NULL;
  GMemoryOutputStream *memory = G_MEMORY_OUTPUT_STREAM (stream);
  g_autofree char *text = NULL;

  ck_assert_msg (iris_scheduler_trace_write (scheduler, stream, NULL, &error), "%s",
                 error != NULL ? error->message : "no error");
  text = g_strndup (g_memory_output_stream_get_data (memory),
                    g_memory_output_stream_get_data_size (memory));
  node = json_from_string (text, &error);
  ck_assert_msg (node != NULL, "%s: %.300s", error != NULL ? error->message : "no error", text);
  return g_steal_pointer (&node);
}

static JsonArray *
events_of (JsonNode *node)
{
  return json_object_get_array_member (json_node_get_object (node), "traceEvents");
}

static JsonObject *
worker_of (JsonNode *node, guint worker)
{
  JsonObject *other = json_object_get_object_member (json_node_get_object (node), "otherData");

  return json_array_get_object_element (json_object_get_array_member (other, "workers"), worker);
}

static bool
is_event (JsonObject *event, const char *phase, const char *category)
{
  return g_str_equal (json_object_get_string_member (event, "ph"), phase)
         && (category == NULL
             || g_str_equal (json_object_get_string_member_with_default (event, "cat", ""),
                             category));
}

static guint
count (JsonNode *node, const char *phase, const char *category)
{
  JsonArray *events = events_of (node);
  guint n = 0;

  for (guint i = 0; i < json_array_get_length (events); i++)
    n += is_event (json_array_get_object_element (events, i), phase, category);
  return n;
}

/* Long enough that each is noted, once that was seen. */
static void
work (gpointer data)
{
  gint64 until = iris_clock_ns () + 20000;

  iris_worker_name_item ("work", GPOINTER_TO_SIZE (data));
  while (iris_clock_ns () < until)
    iris_cpu_relax ();
  core_test_gate_add (&ran, 1);
}

static void
hold (gpointer data)
{
  core_test_gate_add (&held, 1);
  core_test_gate_wait (&gate, 1);
}

static void
queue (gint place, int n)
{
  for (int i = 0; i < n; i++)
    iris_scheduler_queue_at (scheduler, place, IRIS_ITEM_NONE, work,
                             GSIZE_TO_POINTER ((gsize) i + 1), NULL);
}

/* The first are only in the sample. */
static void
make_long_items_known (void)
{
  for (int i = 0; i < 2; i++)
    iris_scheduler_queue_at (scheduler, i, IRIS_ITEM_STRICT, work, NULL, NULL);
  core_test_gate_wait (&ran, 2);
  core_test_gate_close (&ran);
}

TEST (each_item_is_a_slice_in_its_worker_s_line)
{
  g_autoptr (JsonNode) node = NULL;
  guint n_slices = 0, n_named = 0;
  gint64 n_items = 0, n_noted = 0;
  JsonArray *events;

  start (0);
  queue (0, N_ITEMS);
  core_test_gate_wait (&ran, N_ITEMS);
  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_DRAIN);
  iris_scheduler_trace_stop (scheduler);
  node = parse ();
  events = events_of (node);
  for (guint i = 0; i < json_array_get_length (events); i++)
    {
      JsonObject *event = json_array_get_object_element (events, i);

      if (!is_event (event, "X", "item"))
        continue;
      n_slices++;
      ck_assert_int_ge (json_object_get_int_member (event, "pid"), 1);
      ck_assert_int_lt (json_object_get_int_member (event, "tid"), 2);
      ck_assert_double_ge (json_object_get_double_member (event, "ts"), 0);
      ck_assert_double_ge (json_object_get_double_member (event, "dur"), 20);
      n_named += g_str_equal (json_object_get_string_member (event, "name"), "work");
      ck_assert_int_gt (
          json_object_get_int_member (json_object_get_object_member (event, "args"), "number"), 0);
    }
  for (guint i = 0; i < 2; i++)
    {
      n_items += json_object_get_int_member (worker_of (node, i), "items");
      n_noted += json_object_get_int_member (worker_of (node, i), "noted");
      ck_assert_int_eq (json_object_get_int_member (worker_of (node, i), "lost_events"), 0);
    }
  ck_assert_int_eq (n_items, N_ITEMS);
  ck_assert_int_eq (n_noted, n_slices);
  ck_assert_uint_eq (n_named, n_slices);
  ck_assert_uint_gt (n_slices, 0);
}

TEST (long_items_are_all_noted)
{
  g_autoptr (JsonNode) node = NULL;

  start (0);
  /* The first of a scheduler is in the sample; it tells how long they are. */
  queue (0, 1);
  core_test_gate_wait (&ran, 1);
  core_test_gate_close (&ran);
  queue (0, N_ITEMS);
  core_test_gate_wait (&ran, N_ITEMS);
  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_DRAIN);
  iris_scheduler_trace_stop (scheduler);
  node = parse ();
  ck_assert_uint_eq (count (node, "X", "item"), N_ITEMS + 1);
}

TEST (a_steal_is_an_arrow_between_two_places)
{
  g_autoptr (IrisStats) stats = NULL;
  g_autoptr (JsonNode) node = NULL;
  JsonArray *events;
  gint64 last_id = 0;
  guint n_stolen = 0;

  start (0);
  iris_scheduler_queue_at (scheduler, 0, IRIS_ITEM_STRICT, hold, NULL, NULL);
  core_test_gate_wait (&held, 1);
  queue (0, N_ITEMS);
  core_test_gate_wait (&ran, N_ITEMS);
  core_test_gate_add (&gate, 1);
  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_DRAIN);
  iris_scheduler_trace_stop (scheduler);
  stats = iris_scheduler_get_stats (scheduler);
  node = parse ();
  ck_assert_uint_eq (count (node, "s", "steal"), stats->total.steals);
  ck_assert_uint_eq (count (node, "f", "steal"), stats->total.steals);
  ck_assert_uint_eq (count (node, "X", "steal"), 2 * stats->total.steals);
  events = events_of (node);
  for (guint i = 0; i < json_array_get_length (events); i++)
    {
      JsonObject *event = json_array_get_object_element (events, i);

      if (is_event (event, "s", "steal"))
        {
          last_id = json_object_get_int_member (event, "id");
          ck_assert_int_eq (json_object_get_int_member (event, "pid"), 1);
        }
      else if (is_event (event, "f", "steal"))
        {
          ck_assert_int_eq (json_object_get_int_member (event, "id"), last_id);
          ck_assert_int_eq (json_object_get_int_member (event, "pid"), 2);
          ck_assert_int_eq (json_object_get_int_member (event, "tid"), 1);
        }
      else if (is_event (event, "X", "steal") && json_object_get_int_member (event, "pid") == 2)
        n_stolen += (guint) json_object_get_int_member (
            json_object_get_object_member (event, "args"), "items");
    }
  ck_assert_uint_eq (n_stolen, N_ITEMS);
}

TEST (a_sleep_is_a_slice)
{
  g_autoptr (JsonNode) node = NULL;

  make_long_items_known ();
  start (0);
  for (int i = 0; i < 3; i++)
    {
      gint64 parks;

      queue (0, 1);
      core_test_gate_wait (&ran, i + 1);
      do
        {
          g_autoptr (IrisStats) stats = iris_scheduler_get_stats (scheduler);

          parks = (gint64) (stats->total.parks - stats->total.wakes);
          sched_yield ();
        }
      while (parks < 2);
    }
  iris_scheduler_trace_stop (scheduler);
  node = parse ();
  ck_assert_uint_ge (count (node, "X", "park"), 3);
}

TEST (a_small_ring_has_the_latest)
{
  g_autoptr (JsonNode) node = NULL;
  gint64 n_lost = 0;

  make_long_items_known ();
  start (1);
  queue (0, N_ITEMS);
  core_test_gate_wait (&ran, N_ITEMS);
  iris_scheduler_trace_stop (scheduler);
  node = parse ();
  for (guint i = 0; i < 2; i++)
    n_lost += json_object_get_int_member (worker_of (node, i), "lost_events");
  ck_assert_int_gt (n_lost, 0);
  ck_assert_uint_gt (count (node, "X", "item"), 0);
}

TEST (it_is_written_while_the_workers_go_on)
{
  start (1);
  for (int i = 1; i <= 5; i++)
    {
      g_autoptr (JsonNode) node = NULL;

      queue (i % 2, N_ITEMS);
      node = parse ();
      core_test_gate_wait (&ran, i * N_ITEMS);
    }
}

TEST (what_was_before_and_after_is_left_out)
{
  g_autoptr (JsonNode) node = NULL;

  make_long_items_known ();
  start (0);
  iris_scheduler_trace_stop (scheduler);
  queue (0, N_ITEMS);
  core_test_gate_wait (&ran, N_ITEMS);
  node = parse ();
  ck_assert_uint_eq (count (node, "X", "item"), 0);
  ck_assert_int_eq (json_object_get_int_member (worker_of (node, 0), "items"), 0);
}

TEST (without_a_trace_there_is_nothing_to_write)
{
  g_autoptr (GOutputStream) stream = g_memory_output_stream_new_resizable ();
  g_autoptr (GError) error = NULL;

  iris_scheduler_trace_stop (scheduler);
  ck_assert (!iris_scheduler_trace_write (scheduler, stream, NULL, &error));
  ck_assert (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_NOT_INITIALIZED));
}

TEST (a_scheduler_without_workers_is_not_traced)
{
  g_autoptr (IrisScheduler) main_loop = iris_gmainscheduler_new (NULL);
  g_autoptr (GError) error = NULL;

  ck_assert (!iris_scheduler_trace_start (main_loop, 0, &error));
  ck_assert (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED));
  iris_scheduler_trace_stop (main_loop);
}

TEST_MAIN ("trace", set_up, tear_down)
