/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Placement of items near something, and concurrency limits.
 */
#include "irisd-fixture.h"
#include "irisd-home.h"

#define N_ITEMS 40

static Irisd *irisd;
static Client *client;

static void
set_up (void)
{
  irisd = irisd_start ("[limits]\nremembered-paths = 2\n", TWO_PLACES, NULL);
  client = client_hello (irisd->front);
}

static void
tear_down (void)
{
  client_free (client);
  irisd_finish (irisd);
}

static void
init_item (Client *self, IrisWireMessage *item, const char *service)
{
  client_init_message (self, item, IRIS_WIRE_SUBMIT);
  iris_wire_message_set_string (item, IRIS_WIRE_KEY_SERVICE, service, -1);
  iris_wire_message_set_boolean (item, IRIS_WIRE_KEY_QUIET, TRUE);
}

static const IrisWireMessage *
echo_with (IrisWireKey key, const char *text, guint64 number, gboolean strict)
{
  IrisWireMessage item;
  init_item (client, &item, "echo");
  if (text != NULL)
    iris_wire_message_set_string (&item, key, text, -1);
  else
    iris_wire_message_set_uint (&item, key, number);
  if (strict)
    iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_STRICT, TRUE);
  client_send (client, &item);
  return client_receive (client);
}

static void
assert_at (const IrisWireMessage *result, gint home)
{
  ck_assert_str_eq (iris_wire_type_name (result->type), "RESULT");
  ck_assert_int_eq (result->home, home);
}

static char *
get_name (guint place)
{
  const IrisWireMessage *reply = client_call (client, IRIS_WIRE_MAP, IRIS_WIRE_MAP_REPLY);
  g_autoptr (IrisWireMap) map = iris_wire_map_decode (reply->body, NULL, NULL);
  return g_strdup (map->places[place].name);
}

START_TEST (a_place_is_named)
{
  for (guint i = 0; i < 2; i++)
    {
      g_autofree char *name = get_name (i);
      for (guint n = 0; n < 3; n++)
        {
          const IrisWireMessage *result = echo_with (IRIS_WIRE_KEY_HINT_NAME, name, 0, TRUE);
          assert_at (result, (gint) i);
          ck_assert_int_eq (result->place, (gint) i);
        }
    }
  g_autoptr (IrisWireStatus) status = client_get_status (client);
  ck_assert_uint_eq (status->places[0].hinted, 3);
  ck_assert_uint_eq (status->places[1].hinted, 3);
}
END_TEST

START_TEST (an_unknown_place_is_refused_with_the_names_of_all)
{
  g_autofree char *zero = get_name (0), *one = get_name (1);
  const IrisWireMessage *error = echo_with (IRIS_WIRE_KEY_HINT_NAME, "l9:7", 0, FALSE);
  assert_error (error, IRIS_WIRE_ERROR_NO_SUCH_PLACE);
  g_autofree char *reason = iris_wire_string_dup (&error->message);
  ck_assert_ptr_nonnull (strstr (reason, "l9:7"));
  ck_assert_ptr_nonnull (strstr (reason, zero));
  ck_assert_ptr_nonnull (strstr (reason, one));
}
END_TEST

START_TEST (an_item_has_one_hint)
{
  g_autofree char *name = get_name (0);
  IrisWireMessage item;
  init_item (client, &item, "echo");
  iris_wire_message_set_string (&item, IRIS_WIRE_KEY_HINT_NAME, name, -1);
  iris_wire_message_set_int (&item, IRIS_WIRE_KEY_HINT, 0);
  client_send (client, &item);
  assert_error (client_receive (client), IRIS_WIRE_ERROR_BAD_ARGUMENT);
  init_item (client, &item, "echo");
  iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_NEAR_ITEM, 1);
  iris_wire_message_set_string (&item, IRIS_WIRE_KEY_NEAR_PATH, "/x", -1);
  client_send (client, &item);
  assert_error (client_receive (client), IRIS_WIRE_ERROR_BAD_ARGUMENT);
  /* An explicit "no hint" is none. */
  init_item (client, &item, "echo");
  iris_wire_message_set_string (&item, IRIS_WIRE_KEY_HINT_NAME, name, -1);
  iris_wire_message_set_int (&item, IRIS_WIRE_KEY_HINT, -1);
  client_send (client, &item);
  assert_at (client_receive (client), 0);
}
END_TEST

/* The number of a new item that runs at that place and nowhere else. */
static guint64
run_at (gint place)
{
  IrisWireMessage item;
  init_item (client, &item, "echo");
  item.quiet = FALSE;
  iris_wire_message_set_int (&item, IRIS_WIRE_KEY_HINT, place);
  iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_STRICT, TRUE);
  client_send (client, &item);
  guint64 number = client_receive_type (client, IRIS_WIRE_ACCEPTED)->item;
  ck_assert_int_eq (client_receive_type (client, IRIS_WIRE_RESULT)->place, place);
  return number;
}

START_TEST (an_item_runs_near_another)
{
  guint64 zero = run_at (0), one = run_at (1);
  for (guint i = 0; i < 3; i++)
    {
      assert_at (echo_with (IRIS_WIRE_KEY_NEAR_ITEM, NULL, one, TRUE), 1);
      ck_assert_int_eq (client->message.place, 1);
      assert_at (echo_with (IRIS_WIRE_KEY_NEAR_ITEM, NULL, zero, FALSE), 0);
    }
}
END_TEST

START_TEST (it_runs_near_where_the_other_was_stolen_to)
{
  g_autofree char *gate = gate_new (irisd, "gate");
  guint64 held = client_occupy (client, gate, 0);
  IrisWireMessage item;
  init_item (client, &item, "echo");
  item.quiet = FALSE;
  iris_wire_message_set_int (&item, IRIS_WIRE_KEY_HINT, 0);
  client_send (client, &item);
  guint64 number = client_receive_type (client, IRIS_WIRE_ACCEPTED)->item;
  ck_assert_int_eq (client_receive_type (client, IRIS_WIRE_RESULT)->place, 1);
  assert_at (echo_with (IRIS_WIRE_KEY_NEAR_ITEM, NULL, number, TRUE), 1);
  gate_open (gate);
  ck_assert_uint_eq (message_get_id (client_receive_completion (client)), held);
}
END_TEST

START_TEST (it_runs_near_one_that_is_still_queued)
{
  g_autofree char *gate = gate_new (irisd, "gate");
  client_occupy (client, gate, 1);
  IrisWireMessage item;
  init_item (client, &item, "echo");
  item.quiet = FALSE;
  iris_wire_message_set_int (&item, IRIS_WIRE_KEY_HINT, 1);
  iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_STRICT, TRUE);
  client_send (client, &item);
  guint64 number = client_receive_type (client, IRIS_WIRE_ACCEPTED)->item;
  init_item (client, &item, "echo");
  iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_NEAR_ITEM, number);
  client_send (client, &item);
  gate_open (gate);
  for (guint i = 0; i < 3; i++)
    ck_assert_int_eq (client_receive_completion (client)->home, 1);
}
END_TEST

START_TEST (a_path_leads_to_where_it_was_worked_on)
{
  g_autofree char *file = g_strdup_printf ("%s/file", irisd->dir);
  ck_assert (g_file_set_contents (file, "x", 1, NULL));
  for (gint place = 1; place >= 0; place--)
    {
      IrisWireMessage item;
      init_item (client, &item, "sha256");
      iris_wire_message_set_string (&item, IRIS_WIRE_KEY_PATH, file, -1);
      iris_wire_message_set_int (&item, IRIS_WIRE_KEY_HINT, place);
      iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_STRICT, TRUE);
      client_send (client, &item);
      assert_at (client_receive (client), place);
      for (guint i = 0; i < 3; i++)
        assert_at (echo_with (IRIS_WIRE_KEY_NEAR_PATH, file, 0, TRUE), place);
    }
}
END_TEST

START_TEST (the_first_one_near_a_path_says_where_that_is)
{
  const IrisWireMessage *result = echo_with (IRIS_WIRE_KEY_NEAR_PATH, "set/7", 0, FALSE);
  ck_assert_uint_eq (result->type, IRIS_WIRE_RESULT);
  gint place = result->place;
  for (guint i = 0; i < 5; i++)
    assert_at (echo_with (IRIS_WIRE_KEY_NEAR_PATH, "set/7", 0, TRUE), place);
  /* The limit is two. */
  echo_with (IRIS_WIRE_KEY_NEAR_PATH, "set/8", 0, FALSE);
  echo_with (IRIS_WIRE_KEY_NEAR_PATH, "set/9", 0, FALSE);
  assert_error (echo_with (IRIS_WIRE_KEY_NEAR_PATH, "set/7", 0, TRUE),
                IRIS_WIRE_ERROR_NOT_REMEMBERED);
}
END_TEST

START_TEST (an_unknown_place_is_no_hint_unless_the_near_hint_is_strict)
{
  ck_assert_uint_eq (echo_with (IRIS_WIRE_KEY_NEAR_ITEM, NULL, 4711, FALSE)->type,
                     IRIS_WIRE_RESULT);
  assert_error (echo_with (IRIS_WIRE_KEY_NEAR_ITEM, NULL, 4711, TRUE),
                IRIS_WIRE_ERROR_NOT_REMEMBERED);
  assert_error (echo_with (IRIS_WIRE_KEY_NEAR_ITEM, NULL, 0, TRUE), IRIS_WIRE_ERROR_NOT_REMEMBERED);
  assert_error (echo_with (IRIS_WIRE_KEY_NEAR_PATH, "/never", 0, TRUE),
                IRIS_WIRE_ERROR_NOT_REMEMBERED);
  g_autoptr (IrisWireStatus) status = client_get_status (client);
  ck_assert_uint_eq (status->accepted, 1);
  ck_assert_uint_eq (status->places[0].hinted + status->places[1].hinted, 0);
}
END_TEST

/* --- concurrency limits
 * -------------------------------------------------------------------------- */

static void
start_with (const char *config)
{
  irisd = irisd_start (config, ONE_WORKER, "--tcp=127.0.0.1:0", NULL);
  client = client_hello (irisd->front);
}

static guint64
run_gate (Client *self, const char *gate)
{
  return client_submit_command (
      self, NULL, (const char *const[]){ "sh", "-c", "echo >\"$0\"; cat \"$0\"", gate, NULL });
}

static void
await_held_back (guint64 wanted)
{
  for (guint64 held = wanted + 1; held != wanted;)
    {
      g_autoptr (IrisWireStatus) status = client_get_status (client);
      held = status->held_back;
    }
}

START_TEST (items_beyond_a_services_limit_wait_and_others_go_on)
{
  start_with ("[limits]\ncommands-per-place = 10\n[service command]\nconcurrency = 1\n");
  g_autofree char *gate = gate_new (irisd, "gate");
  guint64 first = run_gate (client, gate);
  close (gate_wait (gate));
  guint64 second = client_submit_command (client, NULL, (const char *const[]){ "true", NULL });
  await_held_back (1);
  guint64 quick = client_submit (client, "echo", "x", 1, IRIS_PLACE_ANY, FALSE);
  ck_assert_uint_eq (message_get_id (client_receive_completion (client)), quick);
  gate_open (gate);
  ck_assert_uint_eq (message_get_id (client_receive_completion (client)), first);
  ck_assert_uint_eq (message_get_id (client_receive_completion (client)), second);
  await_held_back (0);
  tear_down ();
}
END_TEST

START_TEST (items_beyond_a_clients_limit_wait_and_other_clients_go_on)
{
  start_with ("[irisd]\ntcp-trusted = true\n[client]\nconcurrency = 1\n");
  g_autoptr (Client) other = client_hello (irisd->tcp);
  g_autofree char *gate = gate_new (irisd, "gate");
  guint64 first = run_gate (client, gate);
  close (gate_wait (gate));
  guint64 second = client_submit (client, "echo", "x", 1, IRIS_PLACE_ANY, FALSE);
  await_held_back (1);
  guint64 quick = client_submit (other, "echo", "x", 1, IRIS_PLACE_ANY, FALSE);
  ck_assert_uint_eq (message_get_id (client_receive_completion (other)), quick);
  gate_open (gate);
  ck_assert_uint_eq (message_get_id (client_receive_completion (client)), first);
  ck_assert_uint_eq (message_get_id (client_receive_completion (client)), second);
  client_free (g_steal_pointer (&other));
  tear_down ();
}
END_TEST

START_TEST (an_item_that_waits_for_room_can_be_cancelled_or_given_up)
{
  start_with ("[service command]\nconcurrency = 1\n");
  g_autofree char *gate = gate_new (irisd, "gate");
  g_autoptr (Client) other = client_hello (irisd->front);
  guint64 first = run_gate (client, gate);
  close (gate_wait (gate));
  guint64 second = client_submit_command (client, NULL, (const char *const[]){ "true", NULL });
  client_submit_command (other, NULL, (const char *const[]){ "true", NULL });
  await_held_back (2);
  client_cancel (client, second);
  ck_assert_uint_eq (client_receive_type (client, IRIS_WIRE_CANCELLING)->state,
                     IRIS_WIRE_STATE_QUEUED);
  const IrisWireMessage *completion = client_receive_completion (client);
  ck_assert_uint_eq (message_get_id (completion), second);
  assert_error (completion, IRIS_WIRE_ERROR_CANCELLED);
  IrisWireMessage bye;
  client_init_message (other, &bye, IRIS_WIRE_BYE);
  client_send (other, &bye);
  await_held_back (0);
  gate_open (gate);
  ck_assert_uint_eq (message_get_id (client_receive_completion (client)), first);
  client_free (g_steal_pointer (&other));
  tear_down ();
}
END_TEST

START_TEST (what_is_tried_again_gives_its_room_away_meanwhile)
{
  start_with ("[service command]\nconcurrency = 1\n");
  IrisWireMessage item;
  init_item (client, &item, "command");
  iris_wire_message_set_args (&item, (const char *const[]){ "false", NULL });
  iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_RETRIES, 1);
  iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_BACKOFF_MS, 600000);
  client_send (client, &item);
  guint64 failing = client->next_id;
  for (guint i = 0; i < 3; i++)
    {
      guint64 id = client_submit_command (client, NULL, (const char *const[]){ "true", NULL });
      ck_assert_uint_eq (message_get_id (client_receive_completion (client)), id);
    }
  client_cancel (client, failing);
  client_receive_type (client, IRIS_WIRE_CANCELLING);
  assert_error (client_receive_completion (client), IRIS_WIRE_ERROR_CANCELLED);
  tear_down ();
}
END_TEST

/* One client floods a service whose limit is one; another comes later with a few items. */
START_TEST (clients_of_a_limited_service_take_turns)
{
  start_with ("[irisd]\ntcp-trusted = true\n[limits]\ncommands-per-place = 10\n"
              "[service command]\nconcurrency = 1\n");
  g_autoptr (Client) flood = client_hello (irisd->tcp), few = client_hello (irisd->tcp);
  g_autofree char *gate = gate_new (irisd, "gate");
  g_autofree char *file = g_strdup_printf ("%s/order", irisd->dir);
  guint64 first = run_gate (client, gate);
  close (gate_wait (gate));
  for (guint i = 0; i < N_ITEMS; i++)
    client_submit_command (flood, NULL,
                           (const char *const[]){ "sh", "-c", "printf f >>\"$0\"", file, NULL });
  await_held_back (N_ITEMS);
  for (guint i = 0; i < 5; i++)
    client_submit_command (few, NULL,
                           (const char *const[]){ "sh", "-c", "printf o >>\"$0\"", file, NULL });
  await_held_back (N_ITEMS + 5);
  gate_open (gate);
  ck_assert_uint_eq (message_get_id (client_receive_completion (client)), first);
  for (guint i = 0; i < 5; i++)
    client_receive_completion (few);
  for (guint i = 0; i < N_ITEMS; i++)
    client_receive_completion (flood);
  g_autofree char *order = NULL;
  ck_assert (g_file_get_contents (file, &order, NULL, NULL));
  ck_assert_uint_eq (strlen (order), N_ITEMS + 5);
  /* Of the first ten each has five. */
  ck_assert_int_eq (strncmp (order, "fofofofofo", 10), 0);
  client_free (g_steal_pointer (&flood));
  client_free (g_steal_pointer (&few));
  tear_down ();
}
END_TEST

static void
answer_done (Client *worker, const guint8 *id)
{
  IrisWireMessage done;
  iris_wire_message_init (&done, IRIS_WIRE_DONE, id);
  client_send (worker, &done);
}

START_TEST (no_more_leases_are_given_than_may_run)
{
  start_with ("[service work]\nconcurrency = 2\n");
  g_autoptr (Client) worker = client_hello (irisd->front);
  client_enroll (worker, "work", 8);
  for (guint i = 0; i < 6; i++)
    client_submit (client, "work", "x", 1, IRIS_PLACE_ANY, FALSE);
  await_held_back (4);
  guint8 ids[2][IRIS_WIRE_ID_SIZE];
  for (guint i = 0; i < 2; i++)
    memcpy (ids[i], client_receive_type (worker, IRIS_WIRE_LEASE)->request_id, sizeof ids[i]);
  for (guint i = 0; i < 6; i++)
    {
      /* No worker gets a third one: the next message is its PONG. */
      client_call (worker, IRIS_WIRE_PING, IRIS_WIRE_PONG);
      answer_done (worker, ids[i % 2]);
      client_receive_type (client, IRIS_WIRE_RESULT);
      if (i < 4)
        memcpy (ids[i % 2], client_receive_type (worker, IRIS_WIRE_LEASE)->request_id,
                sizeof ids[i % 2]);
    }
  await_held_back (0);
  client_free (g_steal_pointer (&worker));
  tear_down ();
}
END_TEST

/* The place of the hint is stored with the item; the path that it came from is not. */
START_TEST (a_persistent_item_keeps_its_hint_and_its_wait_for_a_permit)
{
  const char *const config = "[service hold]\nconcurrency = 1\n";
  Home *home = home_new ();
  irisd = home_start (home, config);
  client = client_hello (irisd->front);
  g_autofree char *gate = gate_new (irisd, "gate");
  g_autofree char *second_gate = gate_new (irisd, "second");
  guint64 first = persistent_submit_occupier (client, gate, 1);
  IrisWireMessage item;
  persistent_fill (client, &item, "hold", "", IRIS_WIRE_CLASS_DURABLE);
  iris_wire_message_set_string (&item, IRIS_WIRE_KEY_PATH, second_gate, -1);
  iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_NEAR_ITEM, first);
  iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_STRICT, TRUE);
  iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_DETACH, TRUE);
  guint64 second = persistent_submit (client, &item);
  await_held_back (1);
  client_free (client);
  irisd_kill (irisd);

  irisd = home_start (home, config);
  client = client_hello (irisd->front);
  ck_assert_uint_eq (persistent_get_state (client, second, 0), IRIS_WIRE_STATE_QUEUED);
  await_held_back (1);
  gate_pass (gate);
  gate_pass (second_gate);
  persistent_assert_result (client, second, "");
  ck_assert_int_eq (client->message.home, 1);
  ck_assert_int_eq (client->message.place, 1);
  persistent_assert_result (client, first, "");
  client_free (client);
  irisd_stop (irisd);
  home_free (home);
}
END_TEST

START_TEST (irisd_ends_although_items_wait_for_room)
{
  start_with ("[limits]\nkill-grace-ms = 20\nstop-grace-ms = 60000\n"
              "[service command]\nconcurrency = 1\n");
  client_submit_command (client, NULL, (const char *const[]){ "sleep", "1000", NULL });
  client_submit_command (client, NULL, (const char *const[]){ "true", NULL });
  await_held_back (1);
  irisd_signal (irisd, SIGTERM);
  for (gboolean draining = FALSE; !draining;)
    {
      g_autoptr (IrisWireStatus) status = client_get_status (client);
      draining = status->draining;
    }
  irisd_signal (irisd, SIGTERM);
  for (guint i = 0; i < 2; i++)
    assert_error (client_receive_completion (client), IRIS_WIRE_ERROR_SHUTTING_DOWN);
  ck_assert_int_eq (irisd_wait (irisd), 4); /* items were dropped */
  client_free (client);
  irisd_free (irisd);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("irisd-hints");
  TCase *near = tcase_create ("near"), *room = tcase_create ("room");
  tcase_add_checked_fixture (near, set_up, tear_down);
  tcase_add_test (near, a_place_is_named);
  tcase_add_test (near, an_unknown_place_is_refused_with_the_names_of_all);
  tcase_add_test (near, an_item_has_one_hint);
  tcase_add_test (near, an_item_runs_near_another);
  tcase_add_test (near, it_runs_near_where_the_other_was_stolen_to);
  tcase_add_test (near, it_runs_near_one_that_is_still_queued);
  tcase_add_test (near, a_path_leads_to_where_it_was_worked_on);
  tcase_add_test (near, the_first_one_near_a_path_says_where_that_is);
  tcase_add_test (near, an_unknown_place_is_no_hint_unless_the_near_hint_is_strict);
  tcase_add_test (room, items_beyond_a_services_limit_wait_and_others_go_on);
  tcase_add_test (room, items_beyond_a_clients_limit_wait_and_other_clients_go_on);
  tcase_add_test (room, an_item_that_waits_for_room_can_be_cancelled_or_given_up);
  tcase_add_test (room, what_is_tried_again_gives_its_room_away_meanwhile);
  tcase_add_test (room, clients_of_a_limited_service_take_turns);
  tcase_add_test (room, no_more_leases_are_given_than_may_run);
  tcase_add_test (room, a_persistent_item_keeps_its_hint_and_its_wait_for_a_permit);
  tcase_add_test (room, irisd_ends_although_items_wait_for_room);
  suite_add_tcase (suite, near);
  suite_add_tcase (suite, room);
  return core_test_run (suite);
}
