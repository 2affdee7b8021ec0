/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Sessions: what irisd does for a client that goes on after a restart.
 */
#include "irisd-home.h"

#include <signal.h>

static const char session[] = "0123456789abcdef";

static Home *home;
static Irisd *irisd;

static void
set_up (void)
{
  home = home_new ();
  irisd = home_start (home, NULL);
}

static void
tear_down (void)
{
  if (irisd != NULL)
    irisd_stop (g_steal_pointer (&irisd));
  g_clear_pointer (&home, home_free);
}

static void
send_hello (Client *client, guint64 features, const char *name_of_session)
{
  IrisWireMessage hello;
  client_init_message (client, &hello, IRIS_WIRE_HELLO);
  iris_wire_message_set_uint (&hello, IRIS_WIRE_KEY_VERSION_MIN, 1);
  iris_wire_message_set_uint (&hello, IRIS_WIRE_KEY_VERSION_MAX, 1);
  iris_wire_message_set_uint (&hello, IRIS_WIRE_KEY_FEATURES, features);
  iris_wire_message_set_string (&hello, IRIS_WIRE_KEY_SESSION, name_of_session, -1);
  client_send (client, &hello);
}

/* Of another connection, whose request ids begin anew. */
static Client *
new_in_session (void)
{
  Client *client = client_new (irisd->front);
  send_hello (client, IRIS_WIRE_FEATURE_RESUME, session);
  const IrisWireMessage *welcome = client_receive_type (client, IRIS_WIRE_WELCOME);
  ck_assert (welcome->features & IRIS_WIRE_FEATURE_RESUME);
  return client;
}

static void
send_echo (Client *client, guint64 id, const char *text, const char *again)
{
  IrisWireMessage item;
  persistent_fill (client, &item, "echo", text, IRIS_WIRE_CLASS_DURABLE);
  message_set_id (&item, id);
  iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_QUIET, TRUE);
  if (again != NULL)
    iris_wire_message_set_string (&item, IRIS_WIRE_KEY_SESSION, again, -1);
  client_send (client, &item);
}

TEST (an_item_that_is_sent_again_is_found_until_it_is_acknowledged)
{
  g_autoptr (Client) first = new_in_session ();
  send_echo (first, 100, "one", NULL);
  guint64 number = client_receive_type (first, IRIS_WIRE_RESULT)->item;
  ck_assert_uint_gt (number, 0);
  irisd_stop (irisd);
  irisd = home_start (home, NULL);

  g_autoptr (Client) second = new_in_session ();
  /* What is told is the end of the first, and not that of another run. */
  send_echo (second, 100, "another", session);
  const IrisWireMessage *result = client_receive_type (second, IRIS_WIRE_RESULT);
  ck_assert_uint_eq (result->item, number);
  ck_assert (message_body_is (result, "one"));
  g_autoptr (IrisWirePersistentList) kept = persistent_list (second, 0, 0);
  ck_assert_uint_eq (kept->n_items, 1);
  ck_assert_str_eq (kept->items[0].key, "");
  client_ack (second, 1);
  ck_assert_uint_eq (persistent_count (second), 0);

  send_echo (second, 100, "two", session);
  result = client_receive_type (second, IRIS_WIRE_RESULT);
  ck_assert_uint_ne (result->item, number);
  ck_assert (message_body_is (result, "two"));
  client_ack (second, 1);
}

/* Another session has the same request ids, and a connection without one has none to find. */
TEST (a_session_has_its_own_request_ids)
{
  g_autoptr (Client) first = new_in_session ();
  send_echo (first, 100, "one", NULL);
  client_receive_type (first, IRIS_WIRE_RESULT);
  g_autoptr (Client) other = client_new (irisd->front);
  send_hello (other, IRIS_WIRE_FEATURE_RESUME, "another session.");
  client_receive_type (other, IRIS_WIRE_WELCOME);
  send_echo (other, 100, "two", "another session.");
  ck_assert (message_body_is (client_receive_type (other, IRIS_WIRE_RESULT), "two"));
  client_ack (first, 1);
  client_ack (other, 1);
  send_echo (other, 101, "x", session);
  assert_error (client_receive (other), IRIS_WIRE_ERROR_BAD_ARGUMENT);
  g_autoptr (Client) plain = client_hello (irisd->front);
  send_echo (plain, 102, "x", session);
  assert_error (client_receive (plain), IRIS_WIRE_ERROR_BAD_ARGUMENT);
}

TEST (what_makes_no_session_is_refused)
{
  g_autoptr (Client) client = client_new (irisd->front);
  send_hello (client, IRIS_WIRE_FEATURE_RESUME, "too short");
  assert_error (client_receive (client), IRIS_WIRE_ERROR_BAD_ARGUMENT);
  g_autoptr (Client) other = new_in_session ();
  IrisWireMessage item;
  persistent_fill (other, &item, "echo", "x", IRIS_WIRE_CLASS_VOLATILE);
  iris_wire_message_set_string (&item, IRIS_WIRE_KEY_SESSION, session, -1);
  client_send (other, &item);
  assert_error (client_receive (other), IRIS_WIRE_ERROR_BAD_ARGUMENT);
}

/* Those that wait are put off, and the clients that want to know are told that irisd ends. */
TEST (an_irisd_that_ends_begins_no_persistent_item)
{
  enum
  {
    N = 20
  };
  g_autofree char *gate = gate_new (irisd, "gate");
  g_autoptr (Client) client = new_in_session ();
  g_autoptr (Client) plain = client_hello (irisd->front);
  client_occupy (plain, gate, 0);
  for (guint i = 0; i < N; i++)
    {
      IrisWireMessage item;
      persistent_fill (client, &item, "hold", "", IRIS_WIRE_CLASS_DURABLE);
      iris_wire_message_set_string (&item, IRIS_WIRE_KEY_PATH, "/nowhere", -1);
      iris_wire_message_set_int (&item, IRIS_WIRE_KEY_HINT, 0);
      iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_STRICT, TRUE);
      persistent_submit (client, &item);
    }
  irisd_signal (irisd, SIGTERM);
  const IrisWireMessage *going = client_receive_type (client, IRIS_WIRE_GOING);
  ck_assert_uint_gt (going->retry_after_ms, 0);
  /* A client that comes now is told at once. */
  g_autoptr (Client) late = new_in_session ();
  client_receive_type (late, IRIS_WIRE_GOING);
  /* One may be behind the occupier, in its worker's hands. */
  gate_open (gate);
  client_receive_type (plain, IRIS_WIRE_RESULT);
  for (guint i = 0; i < N; i++)
    {
      const IrisWireMessage *error = client_receive_completion (client);
      assert_error (error, IRIS_WIRE_ERROR_SHUTTING_DOWN);
      ck_assert (error->ends);
      ck_assert_uint_gt (error->item, 0);
    }
  client_ack (client, N);
  ck_assert_int_eq (irisd_wait (irisd), 0);
  irisd_release (irisd);

  irisd = home_start (home, "[irisd]\npaused = true\n");
  g_autoptr (Client) again = client_hello (irisd->front);
  ck_assert_uint_eq (persistent_count (again), N);
}

TEST_MAIN ("irisd-sessions", set_up, tear_down)
