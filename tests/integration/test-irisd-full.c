/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * irisd at a limit: it takes no new items, and everything else goes on.
 */
#include "irisd-home.h"

#include <string.h>

#define HOUR_MS G_GINT64_CONSTANT (3600000)

/* More than any limit that is set here. */
#define N_MANY 40

static Home *home;
static Irisd *irisd;
static Client *client;

static void
begin (const char *config)
{
  home = home_new ();
  irisd = home_start (home, config);
  client = client_hello (irisd->front);
}

static void
finish (void)
{
  client_free (client);
  irisd_stop (irisd);
  home_free (home);
}

/* Sends a detached item that waits for an hour. */
static void
send_delayed (Client *from, const char *payload)
{
  IrisWireMessage item;
  persistent_fill (from, &item, "echo", payload, IRIS_WIRE_CLASS_RELAXED);
  iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_DETACH, TRUE);
  iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_DELAY_MS, HOUR_MS);
  client_send (from, &item);
}

static guint64
submit_delayed (const char *payload)
{
  send_delayed (client, payload);
  return client_receive_type (client, IRIS_WIRE_ACCEPTED)->item;
}

static gboolean
limit_is (const IrisWireMessage *message, const char *limit)
{
  return message->limit.len == strlen (limit)
         && memcmp (message->limit.data, limit, message->limit.len) == 0;
}

static void
assert_busy (const IrisWireMessage *message, const char *limit, guint64 value)
{
  ck_assert_str_eq (iris_wire_type_name (message->type), "BUSY");
  ck_assert (limit_is (message, limit));
  ck_assert_uint_eq (message->limit_value, value);
  ck_assert_uint_gt (message->retry_after_ms, 0);
}

static void
expect_echo (Client *from)
{
  client_submit (from, "echo", "hello", 5, IRIS_PLACE_ANY, FALSE);
  ck_assert (message_body_is (client_receive_type (from, IRIS_WIRE_RESULT), "hello"));
  client_ack (from, 1);
}

static void
cancel_number (guint64 item)
{
  persistent_ask (client, IRIS_WIRE_CANCEL, item);
  client_receive_type (client, IRIS_WIRE_CANCELLING);
}

static guint
count_list (Client *from)
{
  g_autoptr (GError) error = NULL;
  const IrisWireMessage *reply = client_call (from, IRIS_WIRE_LIST, IRIS_WIRE_LIST_REPLY);
  g_autoptr (IrisWirePersistentList)
      list = iris_wire_persistent_list_decode (reply->body, NULL, &error);
  g_assert_no_error (error);
  return list->n_items;
}

TEST (waiting_persistent_items_are_not_in_flight)
{
  begin ("[limits]\ntotal-items = 4\nin-flight-items = 4\nmemory-items = 2\n");
  for (guint i = 0; i < N_MANY; i++)
    submit_delayed ("later");
  expect_echo (client);
  g_autoptr (IrisWireStatus) status = client_get_status (client);
  ck_assert_uint_eq (status->persistent, N_MANY);
  ck_assert_uint_eq (status->refused, 0);
  finish ();
}

/* Persistent items in memory have a limit of their own, and leave the others' room free. */
TEST (persistent_items_in_memory_leave_room_for_volatile_ones)
{
  begin ("[limits]\ntotal-items = 4\nin-flight-items = 4\nmemory-items = 100\n");
  for (guint i = 0; i < 4; i++)
    submit_delayed ("later");
  send_delayed (client, "one too many");
  assert_busy (client_receive (client), "total-items", 4);
  expect_echo (client);
  finish ();
}

TEST (queries_and_changes_are_answered_when_all_limits_are_reached)
{
  begin ("[limits]\ntotal-items = 2\nin-flight-items = 2\npersistent-items = 2\nin-flight-bytes = "
         "64K\n"
         "max-body = 64K\nmax-output = 64K\ntotal-bytes = 64K\n");
  g_autofree char *large = g_strnfill (32 * 1024, 'x');
  char *gates[2] = { gate_new (irisd, "one"), gate_new (irisd, "two") };
  guint64 items[2] = { submit_delayed (large), submit_delayed (large) };
  for (guint i = 0; i < 2; i++)
    client_submit_command (client, NULL, (const char *const[]){ "cat", gates[i], NULL });
  ck_assert_uint_eq (count_list (client), 2);
  ck_assert_uint_eq (persistent_get_state (client, items[0], 0), IRIS_WIRE_STATE_DELAYED);

  g_autoptr (Client) other = client_hello (irisd->front);
  send_delayed (other, large);
  ck_assert_uint_eq (client_receive (other)->type, IRIS_WIRE_BUSY);
  ck_assert_uint_eq (count_list (other), 2);
  ck_assert_uint_eq (persistent_get_state (other, items[1], 0), IRIS_WIRE_STATE_DELAYED);
  persistent_ask (other, IRIS_WIRE_FETCH, items[1]);
  client_receive_type (other, IRIS_WIRE_PENDING);
  persistent_ask (other, IRIS_WIRE_BURY, items[1]);
  client_receive_type (other, IRIS_WIRE_CHANGED);
  persistent_ask (other, IRIS_WIRE_KICK, items[1]);
  client_receive_type (other, IRIS_WIRE_CHANGED);

  /* A cancelled item is deleted once its end is acknowledged, which makes room. */
  cancel_number (items[0]);
  assert_error (persistent_fetch (client, items[0], GIVE_UP_MS), IRIS_WIRE_ERROR_CANCELLED);
  client_ack (client, 1);
  for (guint i = 0; i < 2; i++)
    {
      gate_open (gates[i]);
      client_receive_type (client, IRIS_WIRE_RESULT);
      g_free (gates[i]);
    }
  client_free (g_steal_pointer (&other));
  finish ();
}

TEST (an_irisd_that_keeps_as_much_as_it_may_can_be_emptied)
{
  guint64 items[4];
  begin ("[limits]\npersistent-items = 4\n");
  for (guint i = 0; i < 4; i++)
    items[i] = submit_delayed ("later");
  send_delayed (client, "one too many");
  assert_busy (client_receive (client), "persistent-items", 4);
  for (guint i = 0; i < 4; i++)
    {
      cancel_number (items[i]);
      ck_assert_uint_eq (persistent_get_state (client, items[i], GIVE_UP_MS),
                         IRIS_WIRE_STATE_CANCELLED);
    }
  /* The ends of cancelled items are stored, and give way, oldest first. */
  ck_assert_uint_eq (count_list (client), 4);
  submit_delayed ("again");
  submit_delayed ("and again");
  ck_assert_uint_eq (count_list (client), 4);
  persistent_ask (client, IRIS_WIRE_SHOW, items[1]);
  assert_error (client_receive (client), IRIS_WIRE_ERROR_NO_SUCH_ITEM);
  ck_assert_uint_eq (persistent_get_state (client, items[2], 0), IRIS_WIRE_STATE_CANCELLED);
  finish ();
}

/* For a flood that comes faster than the journal counts. */
TEST (persistent_items_are_at_most_persistent_items)
{
  guint accepted = 0;
  begin ("[limits]\npersistent-items = 10\n");
  for (guint i = 0; i < N_MANY; i++)
    send_delayed (client, "later");
  for (guint i = 0; i < N_MANY; i++)
    accepted += client_receive (client)->type == IRIS_WIRE_ACCEPTED;
  ck_assert_uint_eq (accepted, 10);
  ck_assert_uint_eq (count_list (client), 10);
  finish ();
}

TEST (what_is_full_is_logged_once_and_says_what_to_do)
{
  begin ("[limits]\npersistent-items = 1\n");
  submit_delayed ("later");
  for (guint i = 0; i < N_MANY; i++)
    send_delayed (client, "one too many");
  for (guint i = 0; i < N_MANY; i++)
    assert_busy (client_receive (client), "persistent-items", 1);
  g_autofree char *log = irisd_read_log (irisd);
  const char *line = strstr (log, "persistent-items (1)");
  ck_assert_msg (line != NULL, "%s", log);
  ck_assert_msg (strstr (line + 1, "persistent-items (1)") == NULL, "%s", log);
  finish ();
}

static void
say_bye (Client *from)
{
  IrisWireMessage bye;
  client_init_message (from, &bye, IRIS_WIRE_BYE);
  client_send (from, &bye);
}

/* No connection waits for their ends any more, so they may be spilled. */
TEST (items_of_clients_that_have_gone_do_not_fill_the_memory)
{
  begin ("[limits]\ntotal-items = 8\nin-flight-items = 4\nmemory-items = 2\nread-ahead-ms = 0\n");
  for (guint i = 0; i < N_MANY / 4; i++)
    {
      g_autoptr (Client) other = client_hello (irisd->front);
      for (guint j = 0; j < 4; j++)
        {
          IrisWireMessage item;
          persistent_fill (other, &item, "echo", "later", IRIS_WIRE_CLASS_RELAXED);
          iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_DELAY_MS, HOUR_MS);
          client_send (other, &item);
          client_receive_type (other, IRIS_WIRE_ACCEPTED);
        }
      say_bye (other);
      client_say_hello (other);
      client_free (g_steal_pointer (&other));
    }
  ck_assert_uint_eq (count_list (client), N_MANY);
  /* They run all the same, and end for others. */
  persistent_ask (client, IRIS_WIRE_KICK, 1);
  ck_assert_uint_eq (client_receive_type (client, IRIS_WIRE_CHANGED)->count, 1);
  persistent_assert_result (client, 1, "later");
  client_ack (client, 1);
  finish ();
}

static void
say_hello (Client *from, guint64 features)
{
  IrisWireMessage hello;
  client_init_message (from, &hello, IRIS_WIRE_HELLO);
  iris_wire_message_set_uint (&hello, IRIS_WIRE_KEY_VERSION_MIN, IRIS_WIRE_VERSION);
  iris_wire_message_set_uint (&hello, IRIS_WIRE_KEY_VERSION_MAX, IRIS_WIRE_VERSION);
  iris_wire_message_set_uint (&hello, IRIS_WIRE_KEY_FEATURES, features);
  client_send (from, &hello);
}

TEST (a_connection_that_only_asks_is_accepted_beyond_the_limit)
{
  begin ("[limits]\nmax-peers = 1\n");
  guint64 item = submit_delayed ("later");
  g_autoptr (Client) other = client_new (irisd->front);
  say_hello (other, 0);
  assert_busy (client_receive (other), "max-peers", 1);
  say_hello (other, IRIS_WIRE_FEATURE_ASKS_ONLY | 2);
  ck_assert_uint_eq (client_receive_type (other, IRIS_WIRE_WELCOME)->features,
                     IRIS_WIRE_FEATURE_ASKS_ONLY);
  ck_assert_uint_eq (count_list (other), 1);
  client_submit (other, "echo", "x", 1, IRIS_PLACE_ANY, FALSE);
  assert_error (client_receive (other), IRIS_WIRE_ERROR_BAD_ARGUMENT);
  persistent_ask (other, IRIS_WIRE_CANCEL, item);
  client_receive_type (other, IRIS_WIRE_CANCELLING);

  /* It holds no other client's place. */
  say_bye (client);
  g_autoptr (Client) third = client_hello (irisd->front);
  expect_echo (third);
  client_free (g_steal_pointer (&third));
  client_free (g_steal_pointer (&other));
  finish ();
}

TEST_MAIN ("irisd-full", NULL, NULL)
