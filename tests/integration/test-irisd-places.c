/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Placement: items run at their hint, strictly if they say so, else elsewhere if a place is idle.
 */
#include "irisd-fixture.h"

#define N_ITEMS 60

static Irisd *irisd;
static Client *client;

static void
set_up (void)
{
  irisd = irisd_start (NULL, TWO_PLACES, NULL);
  client = client_hello (irisd->front);
}

static void
tear_down (void)
{
  client_free (client);
  irisd_finish (irisd);
}

static guint64
echo (gint hint, gboolean strict)
{
  return client_submit (client, "echo", "x", 1, hint, strict);
}

static IrisWireMap *
get_map (void)
{
  const IrisWireMessage *reply = client_call (client, IRIS_WIRE_MAP, IRIS_WIRE_MAP_REPLY);
  IrisWireMap *map = iris_wire_map_decode (reply->body, NULL, NULL);
  ck_assert_ptr_nonnull (map);
  return map;
}

START_TEST (the_map_leads_to_every_place)
{
  g_autoptr (IrisWireMap) map = get_map ();
  ck_assert_uint_eq (map->n_places, 2);
  for (guint i = 0; i < 2; i++)
    {
      const IrisWirePlace *place = &map->places[i];
      ck_assert_uint_eq (place->id, i);
      ck_assert_str_ne (place->name, "");
      ck_assert_str_ne (place->cpus, "");
      ck_assert_uint_eq (place->workers, 1);
      ck_assert (!place->bound);
      ck_assert_uint_eq (place->n_distances, 2);
      ck_assert_uint_lt (place->distances[i], place->distances[1 - i]);

      g_autoptr (Client) there = client_hello (place->endpoint);
      ck_assert_int_eq (there->message.socket_place, (gint) i);
      client_call (there, IRIS_WIRE_PING, IRIS_WIRE_PONG);
    }
  g_autoptr (Client) front = client_hello (irisd->front);
  ck_assert_int_eq (front->message.socket_place, -1);
}
END_TEST

START_TEST (items_without_a_hint_are_dealt_in_turn)
{
  guint homes[2] = { 0 };
  for (guint i = 0; i < N_ITEMS; i++)
    echo (IRIS_PLACE_ANY, FALSE);
  for (guint i = 0; i < N_ITEMS; i++)
    homes[client_receive_type (client, IRIS_WIRE_RESULT)->home]++;
  ck_assert_uint_eq (homes[0], N_ITEMS / 2);
  ck_assert_uint_eq (homes[1], N_ITEMS / 2);

  g_autoptr (IrisWireStatus) status = client_get_status (client);
  ck_assert_uint_eq (status->places[0].hinted + status->places[1].hinted, 0);
  ck_assert_uint_eq (status->places[0].executed + status->places[1].executed, N_ITEMS);
}
END_TEST

START_TEST (the_socket_of_a_place_is_a_hint)
{
  for (guint i = 0; i < 2; i++)
    {
      g_autofree char *endpoint = irisd_place_endpoint (irisd, i);
      g_autoptr (Client) there = client_hello (endpoint);
      client_submit (there, "echo", "x", 1, IRIS_PLACE_ANY, TRUE);
      const IrisWireMessage *result = client_receive_type (there, IRIS_WIRE_RESULT);
      ck_assert_int_eq (result->home, (gint) i);
      ck_assert_int_eq (result->place, (gint) i);
    }
  g_autoptr (IrisWireStatus) status = client_get_status (client);
  ck_assert_uint_eq (status->places[0].hinted, 1);
  ck_assert_uint_eq (status->places[1].hinted, 1);
}
END_TEST

START_TEST (an_idle_place_steals_what_another_was_given)
{
  g_autofree char *gate = gate_new (irisd, "gate");
  client_occupy (client, gate, 0);
  for (guint i = 0; i < N_ITEMS; i++)
    echo (0, FALSE);
  /* The worker of place 0 cannot have run any of them. */
  for (guint i = 0; i < N_ITEMS; i++)
    {
      const IrisWireMessage *result = client_receive_type (client, IRIS_WIRE_RESULT);
      ck_assert_int_eq (result->home, 0);
      ck_assert_int_eq (result->place, 1);
    }
  gate_open (gate);
  ck_assert_int_eq (client_receive_type (client, IRIS_WIRE_RESULT)->place, 0);

  g_autoptr (IrisWireStatus) status = client_get_status (client);
  ck_assert_uint_eq (status->places[0].hinted, N_ITEMS + 1);
  ck_assert_uint_eq (status->places[0].executed, 1);
  ck_assert_uint_eq (status->places[1].executed, N_ITEMS);
  ck_assert_uint_eq (status->places[1].stolen_in, N_ITEMS);
  ck_assert_uint_eq (status->places[0].stolen_out, N_ITEMS);
}
END_TEST

START_TEST (a_strict_item_never_moves)
{
  g_autofree char *gate = gate_new (irisd, "gate");
  client_occupy (client, gate, 0);
  for (guint i = 0; i < N_ITEMS; i++)
    echo (0, TRUE);
  /* Place 1 is idle and awake, and has looked for work. */
  echo (1, TRUE);
  ck_assert_int_eq (client_receive_type (client, IRIS_WIRE_RESULT)->place, 1);
  gate_open (gate);
  for (guint i = 0; i < N_ITEMS + 1; i++)
    ck_assert_int_eq (client_receive_type (client, IRIS_WIRE_RESULT)->place, 0);

  g_autoptr (IrisWireStatus) status = client_get_status (client);
  ck_assert_uint_eq (status->places[0].executed, N_ITEMS + 1);
  ck_assert_uint_eq (status->places[1].executed, 1);
  ck_assert_uint_eq (status->places[0].stolen_in + status->places[1].stolen_in, 0);
  ck_assert_uint_eq (status->places[0].stolen_out + status->places[1].stolen_out, 0);
}
END_TEST

START_TEST (a_strict_item_has_to_name_its_place)
{
  echo (IRIS_PLACE_ANY, TRUE);
  assert_error (client_receive (client), IRIS_WIRE_ERROR_BAD_ARGUMENT);
}
END_TEST

START_TEST (the_counters_agree_with_the_completions)
{
  g_autofree char *payload = g_malloc0 (5000);
  for (guint i = 0; i < N_ITEMS; i++)
    client_submit (client, "sha256", payload, 5000, IRIS_PLACE_ANY, FALSE);
  client_submit_path (client, "sha256", "/no/such/file");
  for (guint i = 0; i < N_ITEMS + 1; i++)
    client_receive_completion (client);

  g_autoptr (IrisWireStatus) status = client_get_status (client);
  ck_assert_str_eq (status->scheduler, "places");
  ck_assert_int_eq ((pid_t) status->pid, irisd->pid);
  ck_assert_uint_eq (status->peers, 1);
  ck_assert_uint_eq (status->accepted, N_ITEMS + 1);
  ck_assert_uint_eq (status->ended, N_ITEMS + 1);
  ck_assert_uint_eq (status->in_flight, 0);
  ck_assert_uint_eq (status->failed, 1);
  ck_assert_uint_eq (status->refused, 0);
  ck_assert_uint_eq (status->places[0].bytes + status->places[1].bytes, N_ITEMS * 5000);
  ck_assert_uint_gt (status->places[0].busy_ns + status->places[1].busy_ns, 0);
}
END_TEST

START_TEST (every_scheduler_serves_the_sockets_of_all_places)
{
  const char *const names[] = { "default", "lockfree", "workstealing" };
  g_autofree char *option = g_strdup_printf ("--scheduler=%s", names[_i]);
  Irisd *other = irisd_start (NULL, TWO_PLACES, option, NULL);
  g_autofree char *endpoint = irisd_place_endpoint (other, 1);
  g_autoptr (Client) there = client_hello (endpoint);
  for (guint i = 0; i < N_ITEMS; i++)
    client_submit (there, "echo", "x", 1, IRIS_PLACE_ANY, FALSE);
  for (guint i = 0; i < N_ITEMS; i++)
    {
      /* The scheduler does not know the places, so the item counts for the one it was sent to. */
      const IrisWireMessage *result = client_receive_type (there, IRIS_WIRE_RESULT);
      ck_assert_int_eq (result->home, 1);
      ck_assert_int_eq (result->place, 1);
    }
  client_submit (there, "echo", "x", 1, 0, TRUE);
  assert_error (client_receive (there), IRIS_WIRE_ERROR_BAD_ARGUMENT);

  g_autoptr (IrisWireStatus) status = client_get_status (there);
  ck_assert_str_eq (status->scheduler, names[_i]);
  ck_assert_uint_eq (status->places[1].executed, N_ITEMS);
  client_free (g_steal_pointer (&there));
  irisd_finish (other);
}
END_TEST

static const char *const arrangements[] = {
  "deque = chase-lev",
  "deque = abp",
  "deque = steal-half",
  "deque = locked",
  "layout = affinity",
  "layout = mailboxes",
  "layout = shared",
  "deal = round-robin",
  "layout = mailboxes\ndeque = chase-lev\ndeal = round-robin",
};

/* "sha256" is no brief item, which the gateway would run itself. */
START_TEST (items_run_in_every_layout_and_from_every_deque)
{
  g_autofree char *config = g_strdup_printf ("[irisd]\n%s\n", arrangements[_i]);
  Irisd *other = irisd_start (config, TWO_PLACES, NULL);
  g_autoptr (Client) there = client_hello (other->front);
  guint n_at[2] = { 0 };
  for (guint i = 0; i < N_ITEMS; i++)
    client_submit (there, "sha256", "x", 1, i % 3 == 2 ? IRIS_PLACE_ANY : (gint) (i % 3),
                   i % 3 != 2);
  for (guint i = 0; i < N_ITEMS; i++)
    {
      const IrisWireMessage *result = client_receive_type (there, IRIS_WIRE_RESULT);
      n_at[result->place]++;
    }
  ck_assert_uint_ge (n_at[0], N_ITEMS / 3);
  ck_assert_uint_ge (n_at[1], N_ITEMS / 3);
  g_autoptr (IrisWireStatus) status = client_get_status (there);
  ck_assert_uint_eq (status->places[0].executed, n_at[0]);
  ck_assert_uint_eq (status->places[1].executed, n_at[1]);
  client_free (g_steal_pointer (&there));
  irisd_finish (other);
}
END_TEST

START_TEST (a_command_runs_on_the_cpus_of_its_place)
{
  Irisd *real = irisd_start (NULL, "--places=pu", NULL);
  g_autoptr (Client) there = client_hello (real->front);
  const IrisWireMessage *reply = client_call (there, IRIS_WIRE_MAP, IRIS_WIRE_MAP_REPLY);
  g_autoptr (IrisWireMap) map = iris_wire_map_decode (reply->body, NULL, NULL);
  for (guint i = 0; i < MIN (map->n_places, 4); i++)
    {
      ck_assert (map->places[i].bound);
      IrisWireMessage item;
      client_init_message (there, &item, IRIS_WIRE_SUBMIT);
      iris_wire_message_set_string (&item, IRIS_WIRE_KEY_SERVICE, "command", -1);
      iris_wire_message_set_args (
          &item, (const char *const[]){ "grep", "Cpus_allowed_list", "/proc/self/status", NULL });
      iris_wire_message_set_int (&item, IRIS_WIRE_KEY_HINT, (gint) i);
      iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_STRICT, TRUE);
      client_send (there, &item);
      g_autofree char *wanted = g_strdup_printf ("Cpus_allowed_list:\t%s\n", map->places[i].cpus);
      ck_assert (message_body_is (client_receive_completion (there), wanted));
    }
  client_free (g_steal_pointer (&there));
  irisd_finish (real);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("irisd-places");
  TCase *two = tcase_create ("two places"), *other = tcase_create ("other");
  tcase_add_checked_fixture (two, set_up, tear_down);
  tcase_add_test (two, the_map_leads_to_every_place);
  tcase_add_test (two, items_without_a_hint_are_dealt_in_turn);
  tcase_add_test (two, the_socket_of_a_place_is_a_hint);
  tcase_add_test (two, an_idle_place_steals_what_another_was_given);
  tcase_add_test (two, a_strict_item_never_moves);
  tcase_add_test (two, a_strict_item_has_to_name_its_place);
  tcase_add_test (two, the_counters_agree_with_the_completions);
  tcase_add_loop_test (other, every_scheduler_serves_the_sockets_of_all_places, 0, 3);
  tcase_add_loop_test (other, items_run_in_every_layout_and_from_every_deque, 0,
                       G_N_ELEMENTS (arrangements));
  tcase_add_test (other, a_command_runs_on_the_cpus_of_its_place);
  suite_add_tcase (suite, two);
  suite_add_tcase (suite, other);
  return core_test_run (suite);
}
