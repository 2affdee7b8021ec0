/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Items that are cancelled, queued or running, and items of a client that leaves.
 */
#include "irisd-fixture.h"

#include <signal.h>
#include <unistd.h>

static Irisd *irisd;
static Client *client;

static void
set_up (void)
{
  irisd = irisd_start ("[limits]\nkill-grace-ms = 600000\n", ONE_WORKER, NULL);
  client = client_hello (irisd->front);
}

static void
tear_down (void)
{
  client_free (client);
  irisd_finish (irisd);
}

#define run_command(...) \
  client_submit_command (client, NULL, (const char *const[]){ __VA_ARGS__, NULL })

static guint64
echo (void)
{
  return client_submit (client, "echo", "x", 1, IRIS_PLACE_ANY, FALSE);
}

TEST (a_queued_item_that_is_cancelled_ends_at_once_and_does_not_run)
{
  g_autofree char *gate = gate_new (irisd, "gate");
  guint64 running = client_occupy (client, gate, 0);
  guint64 queued = echo ();
  client_cancel (client, queued);
  const IrisWireMessage *cancelling = client_receive_type (client, IRIS_WIRE_CANCELLING);
  ck_assert_uint_eq (cancelling->state, IRIS_WIRE_STATE_QUEUED);
  const IrisWireMessage *completion = client_receive_completion (client);
  ck_assert_uint_eq (message_get_id (completion), queued);
  assert_error (completion, IRIS_WIRE_ERROR_CANCELLED);

  gate_open (gate);
  ck_assert_uint_eq (message_get_id (client_receive_type (client, IRIS_WIRE_RESULT)), running);
  g_autoptr (IrisWireStatus) status = client_get_status (client);
  ck_assert_uint_eq (status->places[0].executed, 1);
  ck_assert_uint_eq (status->ended, 2);
  ck_assert_uint_eq (status->failed, 1);
}

TEST (a_cancelled_item_gives_its_credit_back_while_the_worker_is_busy)
{
  g_autofree char *gate = gate_new (irisd, "gate");
  guint credits = client->message.credits;
  guint64 running = client_occupy (client, gate, 0);
  for (guint i = 0; i < 2 * credits; i++)
    {
      guint64 queued = echo ();
      client_cancel (client, queued);
      client_receive_type (client, IRIS_WIRE_CANCELLING);
      assert_error (client_receive (client), IRIS_WIRE_ERROR_CANCELLED);
      client_ack (client, 1);
    }
  gate_open (gate);
  ck_assert_uint_eq (message_get_id (client_receive_type (client, IRIS_WIRE_RESULT)), running);
}

TEST (a_running_command_that_is_cancelled_gets_sigterm)
{
  g_autofree char *gate = gate_new (irisd, "gate");
  guint64 id = run_command ("sh", "-c", "echo > \"$0\"; exec sleep 1000", gate);
  close (gate_wait (gate));
  client_cancel (client, id);
  ck_assert_uint_eq (client_receive_type (client, IRIS_WIRE_CANCELLING)->state,
                     IRIS_WIRE_STATE_RUNNING);
  const IrisWireMessage *completion = client_receive_completion (client);
  ck_assert_uint_eq (message_get_id (completion), id);
  assert_error (completion, IRIS_WIRE_ERROR_CANCELLED);
  ck_assert_int_eq (completion->signal, SIGTERM);
}

TEST (a_command_that_ignores_sigterm_is_killed)
{
  g_autofree char *gate = gate_new (irisd, "gate");
  IrisWireMessage item;
  client_init_message (client, &item, IRIS_WIRE_SUBMIT);
  iris_wire_message_set_string (&item, IRIS_WIRE_KEY_SERVICE, "command", -1);
  iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_QUIET, TRUE);
  iris_wire_message_set_args (
      &item, (const char *const[]){ "sh", "-c",
                                    "trap '' TERM; echo > \"$0\"; while :; do sleep 1000; done",
                                    gate, NULL });
  iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_GRACE_MS, 20);
  client_send (client, &item);
  close (gate_wait (gate));
  client_cancel (client, client->next_id);
  client_receive_type (client, IRIS_WIRE_CANCELLING);
  const IrisWireMessage *completion = client_receive_completion (client);
  assert_error (completion, IRIS_WIRE_ERROR_CANCELLED);
  ck_assert_int_eq (completion->signal, SIGKILL);
}

TEST (what_a_cancelled_command_has_started_ends_with_it)
{
  g_autofree char *gate = gate_new (irisd, "gate");
  guint64 id = run_command ("sh", "-c", "exec 3> \"$0\"; echo >&3; sleep 1000 & wait", gate);
  int fd = gate_wait (gate);
  client_cancel (client, id);
  client_receive_type (client, IRIS_WIRE_CANCELLING);
  assert_error (client_receive_completion (client), IRIS_WIRE_ERROR_CANCELLED);
  /* The pipe ends when the last process that can write to it has ended. */
  char byte;
  ck_assert_int_eq (read (fd, &byte, 1), 0);
  close (fd);
}

TEST (an_item_that_is_not_in_flight_cannot_be_cancelled)
{
  guint64 id = echo ();
  client_receive_type (client, IRIS_WIRE_RESULT);
  client_cancel (client, id);
  assert_error (client_receive (client), IRIS_WIRE_ERROR_NOT_FOUND);
  ck_assert (!client->message.ends);
}

TEST (the_item_of_another_client_cannot_be_cancelled)
{
  g_autofree char *gate = gate_new (irisd, "gate");
  guint64 id = run_command ("cat", gate);
  client_call (client, IRIS_WIRE_PING, IRIS_WIRE_PONG);
  g_autoptr (Client) other = client_hello (irisd->front);
  client_cancel (other, id);
  assert_error (client_receive (other), IRIS_WIRE_ERROR_NOT_FOUND);
  gate_open (gate);
  client_receive_type (client, IRIS_WIRE_RESULT);
}

LOOP_TEST (an_item_of_any_connection_can_be_cancelled_if_asked_for, 0, 2)
{
  g_autofree char *gate = gate_new (irisd, "gate");
  guint64 running = run_command ("cat", gate);
  client_call (client, IRIS_WIRE_PING, IRIS_WIRE_PONG);
  /* From another connection of the same socket, and of another one. */
  g_autoptr (Client) at_front = client_hello (irisd->front);
  g_autofree char *endpoint = irisd_place_endpoint (irisd, 0);
  g_autoptr (Client) at_place = client_hello (endpoint);
  client_cancel_anywhere (at_place, running + 1000);
  assert_error (client_receive (at_place), IRIS_WIRE_ERROR_NOT_FOUND);
  client_cancel_anywhere (at_front, running + 1000);
  assert_error (client_receive (at_front), IRIS_WIRE_ERROR_NOT_FOUND);
  client_cancel_anywhere (_i == 0 ? at_front : at_place, running);
  client_receive_type (_i == 0 ? at_front : at_place, IRIS_WIRE_CANCELLING);
  assert_error (client_receive_completion (client), IRIS_WIRE_ERROR_CANCELLED);
}

/* Polls until nothing is in flight. */
static IrisWireStatus *
wait_until_idle (Client *asker)
{
  for (;;)
    {
      g_autoptr (IrisWireStatus) status = client_get_status (asker);
      if (status->in_flight == 0)
        return g_steal_pointer (&status);
    }
}

TEST (bye_cancels_what_is_queued)
{
  g_autofree char *gate = gate_new (irisd, "gate");
  g_autoptr (Client) other = client_hello (irisd->front);
  client_occupy (client, gate, 0);
  for (guint i = 0; i < 10; i++)
    echo ();
  IrisWireMessage bye;
  client_init_message (client, &bye, IRIS_WIRE_BYE);
  client_send (client, &bye);
  /* After its answer to this, the gateway has read the BYE. */
  IrisWireMessage ping;
  client_init_message (client, &ping, IRIS_WIRE_PING);
  client_send (client, &ping);
  assert_error (client_receive (client), IRIS_WIRE_ERROR_HELLO_REQUIRED);

  gate_open (gate);
  g_autoptr (IrisWireStatus) status = wait_until_idle (other);
  ck_assert_uint_eq (status->accepted, 11);
  ck_assert_uint_eq (status->places[0].executed, 1);
  ck_assert_uint_eq (status->peers, 1);
}

TEST_MAIN ("irisd-cancel", set_up, tear_down)
