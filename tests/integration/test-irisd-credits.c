/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Limits of a client: credit for items and bytes, returned by acknowledging; batches; ids.
 */
#include "irisd-fixture.h"

#define ITEMS 4
#define BYTES 65536

static const char config[] =
    "[limits]\nin-flight-items = 4\nin-flight-bytes = 64K\nmax-body = 64K\n"
    "max-output = 64K\nmax-batch = 10\n";

static Irisd *irisd;
static Client *client;

static void
set_up (void)
{
  irisd = irisd_start (config, ONE_WORKER, NULL);
  client = client_hello (irisd->front);
}

static void
tear_down (void)
{
  client_free (client);
  irisd_finish (irisd);
}

static guint64
echo (void)
{
  return client_submit (client, "echo", "x", 1, IRIS_PLACE_ANY, FALSE);
}

static void
assert_busy (const IrisWireMessage *message, const char *limit, guint64 value)
{
  ck_assert_str_eq (iris_wire_type_name (message->type), "BUSY");
  ck_assert_uint_eq (message->code, IRIS_WIRE_ERROR_BUSY);
  g_autofree char *name = iris_wire_string_dup (&message->limit);
  ck_assert_str_eq (name, limit);
  ck_assert_uint_eq (message->limit_value, value);
  ck_assert (iris_wire_message_has (message, IRIS_WIRE_KEY_RETRY_AFTER_MS));
}

TEST (welcome_tells_the_credit)
{
  const IrisWireMessage *welcome = &client->message;
  ck_assert_uint_eq (welcome->credits, ITEMS);
  ck_assert_uint_eq (welcome->byte_credits, BYTES);
  ck_assert_uint_eq (welcome->max_body, 65536);
  ck_assert_uint_eq (welcome->max_batch, 10);
}

TEST (items_beyond_the_credit_are_refused_until_completions_are_acknowledged)
{
  for (guint i = 0; i < ITEMS; i++)
    {
      echo ();
      client_receive_type (client, IRIS_WIRE_RESULT);
    }
  guint64 refused = echo ();
  assert_busy (client_receive (client), "in-flight-items", ITEMS);
  ck_assert_uint_eq (message_get_id (&client->message), refused);

  client_ack (client, 1);
  echo ();
  client_receive_type (client, IRIS_WIRE_RESULT);
  echo ();
  assert_busy (client_receive (client), "in-flight-items", ITEMS);

  g_autoptr (IrisWireStatus) status = client_get_status (client);
  ck_assert_uint_eq (status->refused, 2);
  ck_assert_uint_eq (status->accepted, ITEMS + 1);
}

TEST (bytes_beyond_the_credit_are_refused_until_completions_are_acknowledged)
{
  g_autofree char *payload = g_malloc0 (BYTES);
  client_submit (client, "echo", payload, BYTES - 10, IRIS_PLACE_ANY, FALSE);
  client_receive_type (client, IRIS_WIRE_RESULT);
  client_submit (client, "echo", payload, 11, IRIS_PLACE_ANY, FALSE);
  assert_busy (client_receive (client), "in-flight-bytes", BYTES);
  client_submit (client, "echo", payload, 10, IRIS_PLACE_ANY, FALSE);
  client_receive_type (client, IRIS_WIRE_RESULT);
  client_ack (client, 2);
  client_submit (client, "echo", payload, BYTES, IRIS_PLACE_ANY, FALSE);
  client_receive_type (client, IRIS_WIRE_RESULT);
}

#define OUTPUT_SIZE 40000

/* Two of these results exceed the unacknowledged bytes of a connection. */
static guint64
make_output (void)
{
  return client_submit_command (client, NULL,
                                (const char *const[]){ "head", "-c", "40000", "/dev/zero", NULL });
}

static guint64
receive_output (void)
{
  const IrisWireMessage *result = client_receive_type (client, IRIS_WIRE_RESULT);
  ck_assert_int_eq (result->exit_status, 0);
  ck_assert_uint_eq (result->body.size, OUTPUT_SIZE);
  return message_get_id (result);
}

TEST (commands_wait_while_their_client_owes_too_much)
{
  for (guint i = 0; i < ITEMS; i++)
    make_output ();
  receive_output ();
  receive_output ();
  g_autoptr (IrisWireStatus) status = client_get_status (client);
  ck_assert_uint_eq (status->places[0].executed, 2);
  ck_assert_uint_eq (status->in_flight, ITEMS - 2);

  client_ack (client, 2);
  receive_output ();
  receive_output ();
}

TEST (a_command_that_waits_for_credit_can_be_cancelled)
{
  guint64 waiting = 0;
  for (guint i = 0; i < 3; i++)
    waiting += make_output ();
  /* Whichever runs first, the third remains. */
  for (guint i = 0; i < 2; i++)
    waiting -= receive_output ();
  client_cancel (client, waiting);
  ck_assert_uint_eq (client_receive_type (client, IRIS_WIRE_CANCELLING)->state,
                     IRIS_WIRE_STATE_QUEUED);
  assert_error (client_receive_completion (client), IRIS_WIRE_ERROR_CANCELLED);
  client_ack (client, 3);
  echo ();
  client_receive_type (client, IRIS_WIRE_RESULT);
}

TEST (a_completion_is_acknowledged_once)
{
  guint64 id = echo ();
  client_receive_type (client, IRIS_WIRE_RESULT);
  client_ack_until (client, id, 2);
  assert_error (client_receive (client), IRIS_WIRE_ERROR_BAD_ARGUMENT);
  client_ack_ids (client, (const guint64[]){ id, id }, 2);
  assert_error (client_receive (client), IRIS_WIRE_ERROR_BAD_ARGUMENT);
  client_ack_ids (client, &id, 1);
  client_ack_ids (client, &id, 1);
  assert_error (client_receive (client), IRIS_WIRE_ERROR_BAD_ARGUMENT);
  g_autofree char *reason = iris_wire_string_dup (&client->message.message);
  guint8 bytes[IRIS_WIRE_ID_SIZE] = { 0 };
  memcpy (bytes, &id, sizeof id);
  g_autofree char *hex = g_strdup_printf ("request %02x%02x", bytes[0], bytes[1]);
  ck_assert_msg (strstr (reason, hex) != NULL, "%s", reason);
}

/* How much of its credit the client has used. */
static guint
ask_used (void)
{
  client_say_hello (client);
  return ITEMS - client->message.credits;
}

TEST (completions_are_acknowledged_in_any_order)
{
  guint64 ids[ITEMS];
  for (guint i = 0; i < ITEMS; i++)
    {
      ids[i] = echo ();
      client_receive_type (client, IRIS_WIRE_RESULT);
    }
  client_ack_ids (client, &ids[2], 1);
  ck_assert_uint_eq (ask_used (), 3);
  client_ack_ids (client, (const guint64[]){ ids[3], ids[0] }, 2);
  ck_assert_uint_eq (ask_used (), 1);
  client_ack_until (client, ids[1], 1);
  ck_assert_uint_eq (ask_used (), 0);
}

TEST (an_acknowledgement_that_does_not_fit_gives_nothing_back)
{
  guint64 ids[3];
  for (guint i = 0; i < 3; i++)
    {
      ids[i] = echo ();
      client_receive_type (client, IRIS_WIRE_RESULT);
    }
  /* Two completions of which the second is that of the third item: the client's count is wrong. */
  client_ack_until (client, ids[2], 2);
  assert_error (client_receive (client), IRIS_WIRE_ERROR_BAD_ARGUMENT);
  client_ack_ids (client, (const guint64[]){ ids[2], ids[0], 12345 }, 3);
  assert_error (client_receive (client), IRIS_WIRE_ERROR_BAD_ARGUMENT);
  ck_assert_uint_eq (ask_used (), 3);
  client_ack_until (client, ids[2], 3);
  ck_assert_uint_eq (ask_used (), 0);
}

TEST (a_second_hello_keeps_what_is_unacknowledged)
{
  echo ();
  client_receive_type (client, IRIS_WIRE_RESULT);
  client_say_hello (client);
  ck_assert_uint_eq (client->message.credits, ITEMS - 1);
  ck_assert_uint_eq (client->message.byte_credits, BYTES - 1);

  IrisWireMessage bye;
  client_init_message (client, &bye, IRIS_WIRE_BYE);
  client_send (client, &bye);
  client_say_hello (client);
  ck_assert_uint_eq (client->message.credits, ITEMS - 1);

  client_ack (client, 1);
  client_say_hello (client);
  ck_assert_uint_eq (client->message.credits, ITEMS);
}

TEST (an_id_in_flight_cannot_be_used_again)
{
  g_autofree char *gate = gate_new (irisd, "gate");
  guint64 id = client_submit_command (client, NULL, (const char *const[]){ "cat", gate, NULL });
  client->next_id = id - 1;
  ck_assert_uint_eq (echo (), id);
  assert_error (client_receive (client), IRIS_WIRE_ERROR_DUPLICATE_ID);
  ck_assert (!client->message.ends);
  gate_open (gate);
  client_receive_type (client, IRIS_WIRE_RESULT);

  client->next_id = id - 1;
  ck_assert_uint_eq (echo (), id);
  client_receive_type (client, IRIS_WIRE_RESULT);
}

/* Adds an item to a batch; returns its id. */
static guint64
add_item (IrisWireBatchBuilder *batch, const char *service, const char *payload)
{
  IrisWireMessage item;
  client_init_message (client, &item, IRIS_WIRE_SUBMIT);
  iris_wire_message_set_string (&item, IRIS_WIRE_KEY_SERVICE, service, -1);
  iris_wire_message_set_body (&item, payload, strlen (payload));
  ck_assert (iris_wire_batch_builder_add (batch, &item, NULL));
  return client->next_id;
}

static guint64
send_batch (IrisWireBatchBuilder *batch)
{
  IrisWireMessage message;
  client_init_message (client, &message, IRIS_WIRE_BATCH);
  IrisWireFrame body = iris_wire_batch_builder_get_body (batch);
  iris_wire_message_set_body (&message, body.data, body.size);
  client_send (client, &message);
  return client->next_id;
}

TEST (each_item_of_a_batch_is_judged_by_itself)
{
  g_auto (IrisWireBatchBuilder) batch = { 0 };
  iris_wire_batch_builder_init (&batch, NULL);
  guint64 ids[ITEMS + 2];
  ids[0] = add_item (&batch, "wordcount", "a b");
  ids[1] = add_item (&batch, "nonsense", "");
  for (guint i = 2; i < ITEMS + 2; i++)
    ids[i] = add_item (&batch, "echo", "x");
  guint64 id = send_batch (&batch);

  /* Refusals first, then how many were accepted, then the completions. */
  const IrisWireMessage *error = client_receive (client);
  assert_error (error, IRIS_WIRE_ERROR_UNKNOWN_SERVICE);
  ck_assert_uint_eq (message_get_id (error), ids[1]);
  assert_busy (client_receive (client), "in-flight-items", ITEMS);
  ck_assert_uint_eq (message_get_id (&client->message), ids[ITEMS + 1]);
  const IrisWireMessage *accepted = client_receive_type (client, IRIS_WIRE_ACCEPTED);
  ck_assert_uint_eq (message_get_id (accepted), id);
  ck_assert_uint_eq (accepted->count, ITEMS);

  gboolean seen[ITEMS + 2] = { FALSE };
  for (guint n = 0; n < ITEMS; n++)
    {
      guint64 ended = message_get_id (client_receive_type (client, IRIS_WIRE_RESULT));
      for (guint i = 0; i < ITEMS + 2; i++)
        if (ids[i] == ended)
          {
            ck_assert (!seen[i]);
            seen[i] = TRUE;
          }
    }
  ck_assert (seen[0] && seen[2] && seen[3] && seen[4] && !seen[1] && !seen[5]);
}

TEST (a_batch_that_is_too_long_is_refused_whole)
{
  g_auto (IrisWireBatchBuilder) batch = { 0 };
  iris_wire_batch_builder_init (&batch, NULL);
  for (guint i = 0; i < 11; i++)
    add_item (&batch, "echo", "x");
  guint64 id = send_batch (&batch);
  assert_error (client_receive (client), IRIS_WIRE_ERROR_TOO_LARGE);
  ck_assert_uint_eq (message_get_id (&client->message), id);
  g_autoptr (IrisWireStatus) status = client_get_status (client);
  ck_assert_uint_eq (status->accepted, 0);
}

TEST (the_daemon_as_a_whole_is_bounded_too)
{
  Irisd *small = irisd_start ("[limits]\nin-flight-items = 2\ntotal-items = 2\n", ONE_WORKER, NULL);
  g_autoptr (Client) one = client_hello (small->front);
  g_autoptr (Client) two = client_hello (small->front);
  g_autofree char *gate = gate_new (small, "gate");
  for (guint i = 0; i < 2; i++)
    client_submit_command (one, NULL, (const char *const[]){ "cat", gate, NULL });
  /* This answer comes after both. */
  client_call (one, IRIS_WIRE_PING, IRIS_WIRE_PONG);
  client_submit (two, "echo", "x", 1, IRIS_PLACE_ANY, FALSE);
  assert_busy (client_receive (two), "total-items", 2);
  for (guint i = 0; i < 2; i++)
    {
      gate_open (gate);
      client_receive_type (one, IRIS_WIRE_RESULT);
    }
  client_submit (two, "echo", "x", 1, IRIS_PLACE_ANY, FALSE);
  client_receive_type (two, IRIS_WIRE_RESULT);
  client_free (g_steal_pointer (&one));
  client_free (g_steal_pointer (&two));
  irisd_finish (small);
}

TEST_MAIN ("irisd-credits", set_up, tear_down)
