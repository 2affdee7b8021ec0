/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Items that declare their memory, and are kept apart by it. Of the two places one has a worker
 * that is held by an item with a large footprint: items that are kept apart go to the other one,
 * without being stolen.
 */
#include "irisd-home.h"

#define GIB     ((guint64) 1 << 30)
#define N_ITEMS 20
#define HOUR_MS G_GUINT64_CONSTANT (3600000)

static Home *home;
static Irisd *irisd;
static Client *client;

static void
begin (const char *config)
{
  irisd = home_start (home, config);
  client = client_hello (irisd->front);
}

static void
set_up (void)
{
  home = home_new ();
}

static void
stop (void)
{
  client_free (client);
  irisd_stop (irisd);
}

static void
tear_down (void)
{
  home_free (home);
}

static void
init_item (IrisWireMessage *item, const char *service, guint64 footprint, gboolean keep_apart)
{
  client_init_message (client, item, IRIS_WIRE_SUBMIT);
  iris_wire_message_set_string (item, IRIS_WIRE_KEY_SERVICE, service, -1);
  iris_wire_message_set_uint (item, IRIS_WIRE_KEY_FOOTPRINT, footprint);
  iris_wire_message_set_boolean (item, IRIS_WIRE_KEY_KEEP_APART, keep_apart);
}

/* An item with a large footprint runs at place 0, until @gate is opened, and is kept. */
static guint64
occupy (const char *gate)
{
  IrisWireMessage item;
  init_item (&item, "hold", 8 * GIB, TRUE);
  iris_wire_message_set_string (&item, IRIS_WIRE_KEY_PATH, gate, -1);
  iris_wire_message_set_int (&item, IRIS_WIRE_KEY_HINT, 0);
  iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_STRICT, TRUE);
  iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_CLASS, IRIS_WIRE_CLASS_DURABLE);
  iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_DETACH, TRUE);
  guint64 number = persistent_submit (client, &item);
  close (gate_wait (gate));
  return number;
}

static void
assert_none_stolen (void)
{
  g_autoptr (IrisWireStatus) status = client_get_status (client);
  ck_assert_uint_eq (status->places[0].stolen_in, 0);
  ck_assert_uint_eq (status->places[1].stolen_in, 0);
}

TEST (items_that_are_kept_apart_go_where_the_least_is_declared)
{
  guint at[2] = { 0, 0 };
  begin ("");
  g_autofree char *gate = gate_new (irisd, "gate");
  occupy (gate);
  for (guint i = 0; i < N_ITEMS; i++)
    {
      IrisWireMessage item;
      init_item (&item, i % 2 == 0 ? "echo" : "sha256", GIB, TRUE);
      iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_QUIET, TRUE);
      client_send (client, &item);
      const IrisWireMessage *result = client_receive_type (client, IRIS_WIRE_RESULT);
      ck_assert_int_eq (result->place, 1);
      at[result->home]++;
      client_ack (client, 1);
    }
  assert_none_stolen ();
  ck_assert_uint_eq (at[0], N_ITEMS / 2); /* in whose queues they would have waited */
  gate_open (gate);
  stop ();
}

TEST (a_hint_counts_more_and_a_retry_is_kept_apart_again)
{
  begin ("");
  g_autofree char *gate = gate_new (irisd, "gate");
  guint64 held = occupy (gate);
  for (guint i = 0; i < N_ITEMS; i++)
    {
      IrisWireMessage item;
      init_item (&item, "hold", GIB, TRUE);
      iris_wire_message_set_string (&item, IRIS_WIRE_KEY_PATH, "/no/such/file", -1);
      iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_RETRIES, 2);
      iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_BACKOFF_MS, 1);
      client_send (client, &item);
      client_receive_type (client, IRIS_WIRE_ACCEPTED);
      const IrisWireMessage *error = client_receive_type (client, IRIS_WIRE_ERROR_REPLY);
      ck_assert_uint_eq (error->attempts, 3);
      ck_assert_int_eq (error->place, 1);
      client_ack (client, 1);
    }
  assert_none_stolen ();
  IrisWireMessage item;
  init_item (&item, "echo", GIB, TRUE);
  iris_wire_message_set_int (&item, IRIS_WIRE_KEY_HINT, 0);
  iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_STRICT, TRUE);
  iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_QUIET, TRUE);
  client_send (client, &item);
  gate_open (gate);
  ck_assert_int_eq (client_receive_type (client, IRIS_WIRE_RESULT)->place, 0);
  persistent_assert_result (client, held, "");
  stop ();
}

/* The first time they are in memory, the second time only their times are. */
LOOP_TEST (restored_and_spilled_items_are_kept_apart, 0, 2)
{
  const char *const config = _i == 0 ? "" : "[limits]\nmemory-items = 0\nread-ahead-ms = 0\n";
  guint64 numbers[N_ITEMS];
  begin (config);
  g_autofree char *gate = gate_new (irisd, "gate");
  guint64 held = occupy (gate);
  for (guint i = 0; i < N_ITEMS; i++)
    {
      IrisWireMessage item;
      init_item (&item, "echo", GIB, TRUE);
      iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_CLASS, IRIS_WIRE_CLASS_DURABLE);
      iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_DETACH, TRUE);
      iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_DELAY_MS, HOUR_MS);
      numbers[i] = persistent_submit (client, &item);
    }
  client_free (client);
  irisd_kill (irisd);

  begin (config);
  close (gate_wait (gate)); /* it runs again */
  for (guint i = 0; i < N_ITEMS; i++)
    {
      persistent_ask (client, IRIS_WIRE_KICK, numbers[i]);
      ck_assert_uint_eq (client_receive_type (client, IRIS_WIRE_CHANGED)->count, 1);
      persistent_assert_result (client, numbers[i], "");
      ck_assert_int_eq (client->message.place, 1);
    }
  assert_none_stolen ();
  gate_open (gate);
  persistent_assert_result (client, held, "");
  stop ();
}

static guint64
send_command (const char *gate, gint hint, guint64 footprint)
{
  IrisWireMessage item;
  init_item (&item, "command", footprint, TRUE);
  iris_wire_message_set_args (
      &item, (const char *const[]){ "sh", "-c", "echo >\"$0\"; cat \"$0\"", gate, NULL });
  iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_QUIET, TRUE);
  if (hint >= 0)
    iris_wire_message_set_int (&item, IRIS_WIRE_KEY_HINT, hint);
  client_send (client, &item);
  close (gate_wait (gate));
  return client->next_id;
}

TEST (commands_take_the_slot_where_the_least_is_declared)
{
  static const struct
  {
    gint hint, place;
    guint64 footprint;
  } commands[] = {
    { 0, 0, 3 * GIB }, /* 4, as the next power of two */
    { -1, 1, GIB },    { -1, 1, GIB }, { -1, 1, GIB }, { 1, 1, 2 * GIB }, { -1, 0, GIB },
  };
  char *gates[G_N_ELEMENTS (commands)];
  guint64 first = 0;
  begin ("[limits]\ncommands-per-place = 10\n");
  for (guint i = 0; i < G_N_ELEMENTS (commands); i++)
    {
      g_autofree char *name = g_strdup_printf ("gate-%u", i);
      gates[i] = gate_new (irisd, name);
      guint64 id = send_command (gates[i], commands[i].hint, commands[i].footprint);
      first = i == 0 ? id : first;
    }
  for (guint i = 0; i < G_N_ELEMENTS (commands); i++)
    {
      gate_open (gates[i]);
      const IrisWireMessage *result = client_receive_completion (client);
      ck_assert_uint_eq (message_get_id (result), first + i);
      ck_assert_int_eq (result->place, commands[i].place);
      g_free (gates[i]);
    }
  /* What has ended counts no more. */
  g_autofree char *gate = gate_new (irisd, "last");
  for (gint place = 0; place < 2; place++)
    {
      send_command (gate, 1 - place, GIB);
      g_autofree char *other = gate_new (irisd, place == 0 ? "zero" : "one");
      send_command (other, -1, GIB);
      gate_open (gate);
      client_receive_completion (client);
      gate_open (other);
      ck_assert_int_eq (client_receive_completion (client)->place, place);
    }
  stop ();
}

/* The scheduler does not know that a place is drained, and would deal the item to it. */
TEST (a_drained_place_gets_none)
{
  begin ("");
  g_autofree char *gate = gate_new (irisd, "gate");
  guint64 held = occupy (gate);
  IrisWireMessage message;
  client_init_message (client, &message, IRIS_WIRE_DRAIN);
  iris_wire_message_set_int (&message, IRIS_WIRE_KEY_PLACE, 1);
  iris_wire_message_set_boolean (&message, IRIS_WIRE_KEY_DRAINED, TRUE);
  client_send (client, &message);
  ck_assert_uint_eq (client_receive_type (client, IRIS_WIRE_CHANGED)->count, 1);
  init_item (&message, "sha256", GIB, TRUE);
  client_send (client, &message);
  client_receive_type (client, IRIS_WIRE_ACCEPTED);
  gate_open (gate);
  const IrisWireMessage *result = client_receive_type (client, IRIS_WIRE_RESULT);
  ck_assert_int_eq (result->home, 0);
  ck_assert_int_eq (result->place, 0);
  persistent_assert_result (client, held, "");
  stop ();
}

TEST (keep_apart_needs_a_footprint)
{
  begin ("");
  for (guint i = 0; i < 2; i++)
    {
      IrisWireMessage item;
      init_item (&item, "echo", 0, TRUE);
      if (i == 1)
        item.present &= ~IRIS_WIRE_BIT (IRIS_WIRE_KEY_FOOTPRINT);
      client_send (client, &item);
      assert_error (client_receive (client), IRIS_WIRE_ERROR_BAD_ARGUMENT);
      g_autofree char *reason = iris_wire_string_dup (&client->message.message);
      ck_assert_ptr_nonnull (strstr (reason, "add footprint"));
    }
  stop ();
}

/* A scheduler without places ignores them, but for commands. */
TEST (a_scheduler_without_places_ignores_both)
{
  begin ("[irisd]\nscheduler = lockfree\n");
  for (guint i = 0; i < N_ITEMS; i++)
    {
      IrisWireMessage item;
      init_item (&item, "echo", GIB, TRUE);
      iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_QUIET, TRUE);
      client_send (client, &item);
      client_receive_type (client, IRIS_WIRE_RESULT);
      client_ack (client, 1);
    }
  stop ();
}

TEST (items_of_worker_processes_ignore_both)
{
  begin ("");
  g_autoptr (Client) worker = client_hello (irisd->front);
  client_enroll (worker, "work", 1);
  IrisWireMessage item;
  init_item (&item, "work", GIB, TRUE);
  client_send (client, &item);
  client_receive_type (client, IRIS_WIRE_ACCEPTED);
  const IrisWireMessage *lease = client_receive_type (worker, IRIS_WIRE_LEASE);
  IrisWireMessage done;
  iris_wire_message_init (&done, IRIS_WIRE_DONE, lease->request_id);
  client_send (worker, &done);
  client_receive_type (client, IRIS_WIRE_RESULT);
  client_free (g_steal_pointer (&worker));
  stop ();
}

TEST_MAIN ("irisd-footprints", set_up, tear_down)
