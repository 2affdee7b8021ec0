/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Places that change: drained, resumed, with more or fewer workers.
 */
#include "irisd-fixture.h"

#include <signal.h>

#define N_LOAD TIMES (4000)

static Irisd *irisd;
static Client *client;

static void
begin (const char *topology)
{
  irisd = irisd_start ("[limits]\nwindow-us = 0\n", topology, "--places=package", NULL);
  client = client_hello (irisd->front);
}

static void
set_up (void)
{
  begin ("--topology=package:2 core:1 pu:1");
}

static void
tear_down (void)
{
  client_free (client);
  if (irisd != NULL)
    irisd_finish (irisd);
}

static const IrisWireMessage *
ask_drain (Client *who, gint place, gboolean drained)
{
  IrisWireMessage drain;
  client_init_message (who, &drain, IRIS_WIRE_DRAIN);
  iris_wire_message_set_int (&drain, IRIS_WIRE_KEY_PLACE, place);
  iris_wire_message_set_boolean (&drain, IRIS_WIRE_KEY_DRAINED, drained);
  client_send (who, &drain);
  return client_receive (who);
}

static const IrisWireMessage *
ask_set_workers (Client *who, gint place, guint workers)
{
  IrisWireMessage request;
  client_init_message (who, &request, IRIS_WIRE_SET_WORKERS);
  iris_wire_message_set_int (&request, IRIS_WIRE_KEY_PLACE, place);
  iris_wire_message_set_uint (&request, IRIS_WIRE_KEY_WORKERS, workers);
  client_send (who, &request);
  return client_receive (who);
}

static void
assert_changed (const IrisWireMessage *reply, guint count)
{
  g_autofree char *text = iris_wire_message_to_string (reply);
  ck_assert_msg (reply->type == IRIS_WIRE_CHANGED, "wanted CHANGED, got %s", text);
  ck_assert_uint_eq (reply->count, count);
}

static guint64
submit_delayed_strict (gint place)
{
  IrisWireMessage item;
  client_init_message (client, &item, IRIS_WIRE_SUBMIT);
  iris_wire_message_set_string (&item, IRIS_WIRE_KEY_SERVICE, "echo", -1);
  iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_DELAY_MS, 50);
  iris_wire_message_set_int (&item, IRIS_WIRE_KEY_HINT, place);
  iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_STRICT, TRUE);
  client_send (client, &item);
  client_receive_type (client, IRIS_WIRE_ACCEPTED);
  return client->next_id;
}

static void
assert_runs_at (gint place)
{
  const IrisWireMessage *result = client_receive_type (client, IRIS_WIRE_RESULT);
  ck_assert_int_eq (result->home, place);
  ck_assert_int_eq (result->place, place);
  client_ack (client, 1);
}

TEST (a_drained_place_takes_nothing_and_its_worker_rests)
{
  guint elsewhere = 0;
  assert_changed (ask_drain (client, 1, TRUE), 1);
  assert_changed (ask_drain (client, 1, TRUE), 0);
  for (guint i = 0; i < 200; i++)
    {
      client_submit (client, "echo", "x", 1, i % 2 == 0 ? 1 : IRIS_PLACE_ANY, FALSE);
      const IrisWireMessage *result = client_receive_type (client, IRIS_WIRE_RESULT);
      ck_assert_int_eq (result->home, 0);
      elsewhere += result->place == 1;
      client_ack (client, 1);
    }
  /* Its worker may have been about to steal when it was parked. */
  ck_assert_uint_le (elsewhere, 1);
  client_submit (client, "echo", "x", 1, 1, TRUE);
  assert_error (client_receive (client), IRIS_WIRE_ERROR_BAD_ARGUMENT);
  g_autoptr (IrisWireStatus) status = client_get_status (client);
  ck_assert (!status->places[0].drained && status->places[1].drained);
  ck_assert_uint_eq (status->places[0].active, 1);
  ck_assert_uint_eq (status->places[1].active, 0);
  ck_assert_uint_eq (status->places[0].backlog + status->places[1].backlog, 0);

  assert_changed (ask_drain (client, 1, FALSE), 1);
  assert_changed (ask_drain (client, 1, FALSE), 0);
  client_submit (client, "echo", "x", 1, 1, TRUE);
  assert_runs_at (1);
}

TEST (what_a_drained_place_had_is_run_there_also_what_comes_back_to_it)
{
  g_autofree char *gate = gate_new (irisd, "gate");
  g_autoptr (Client) other = client_hello (irisd->front);
  guint64 holder = client_occupy (other, gate, 1);
  for (guint i = 0; i < 5; i++)
    client_submit (client, "echo", "x", 1, 1, TRUE);
  client_call (client, IRIS_WIRE_PING, IRIS_WIRE_PONG);
  submit_delayed_strict (1);
  assert_changed (ask_drain (other, 1, TRUE), 1);
  g_autoptr (IrisWireStatus) status = client_get_status (other);
  ck_assert_uint_ge (status->places[1].backlog, 6);
  gate_open (gate);
  ck_assert_uint_eq (message_get_id (client_receive_completion (other)), holder);
  for (guint i = 0; i < 6; i++)
    assert_runs_at (1);
  assert_changed (ask_drain (other, 1, FALSE), 1);
  submit_delayed_strict (1);
  assert_changed (ask_drain (other, 1, TRUE), 1);
  assert_runs_at (1);
}

TEST (one_place_always_takes_items)
{
  assert_changed (ask_drain (client, 0, TRUE), 1);
  assert_error (ask_drain (client, 1, TRUE), IRIS_WIRE_ERROR_BAD_ARGUMENT);
  assert_error (ask_drain (client, 2, TRUE), IRIS_WIRE_ERROR_NO_SUCH_PLACE);
  assert_error (ask_drain (client, -1, TRUE), IRIS_WIRE_ERROR_NO_SUCH_PLACE);
  client_submit (client, "echo", "x", 1, IRIS_PLACE_ANY, FALSE);
  assert_runs_at (1);
  assert_changed (ask_drain (client, 0, FALSE), 1);
  assert_changed (ask_drain (client, 1, TRUE), 1);
  client_submit (client, "echo", "x", 1, 1, FALSE);
  assert_runs_at (0);
}

TEST (commands_leave_a_drained_place_alone)
{
  const char *const args[] = { "true", NULL };
  assert_changed (ask_drain (client, 1, TRUE), 1);
  for (guint i = 0; i < 20; i++)
    client_submit_command (client, NULL, args);
  for (guint i = 0; i < 20; i++)
    {
      const IrisWireMessage *result = client_receive_type (client, IRIS_WIRE_RESULT);
      ck_assert_int_eq (result->place, 0);
      ck_assert_int_eq (result->exit_status, 0);
    }
}

/* Keeps a window of items in progress, half of them strict, and counts the outcome of each. */
static void
run_load (void (*step) (Client *, guint))
{
  g_autoptr (Client) other = client_hello (irisd->front);
  guint sent = 0, ended = 0, refused = 0;
  guint8 *ends = g_new0 (guint8, N_LOAD + 2);
  guint64 first = client->next_id + 1;
  while (ended + refused < N_LOAD)
    {
      for (; sent < N_LOAD && sent < ended + refused + 64; sent++)
        client_submit (client, "echo", "x", 1, (gint) (sent % 2), sent % 4 < 2);
      if (sent % 97 == 0)
        step (other, sent / 97);
      const IrisWireMessage *message = client_receive (client);
      ck_assert_uint_lt (message_get_id (message) - first, N_LOAD);
      ends[message_get_id (message) - first]++;
      if (message->type == IRIS_WIRE_RESULT)
        ended++;
      else
        {
          assert_error (message, IRIS_WIRE_ERROR_BAD_ARGUMENT);
          ck_assert (!message->ends);
          refused++;
          continue;
        }
      gboolean strict = (message_get_id (message) - first) % 4 < 2;
      if (strict)
        ck_assert_int_eq (message->place, (gint) ((message_get_id (message) - first) % 2));
      client_ack (client, 1);
    }
  for (guint i = 0; i < N_LOAD; i++)
    ck_assert_uint_eq (ends[i], 1);
  g_free (ends);
  g_autoptr (IrisWireStatus) status = client_get_status (other);
  ck_assert_uint_eq (status->ended, ended);
  ck_assert_uint_eq (status->in_flight, 0);
}

static void
drain_and_resume (Client *who, guint step)
{
  ck_assert_uint_eq (ask_drain (who, (gint) (step / 2 % 2), step % 2 == 0)->type,
                     IRIS_WIRE_CHANGED);
}

static void
change_workers (Client *who, guint step)
{
  ck_assert_uint_eq (ask_set_workers (who, (gint) (step % 2), 1 + step * 7 % 4)->type,
                     IRIS_WIRE_CHANGED);
}

TEST (nothing_is_lost_while_places_are_drained_and_refilled) { run_load (drain_and_resume); }

TEST (nothing_is_lost_while_workers_come_and_go)
{
  irisd_finish (irisd);
  client_free (client);
  begin ("--topology=package:2 core:4 pu:1");
  run_load (change_workers);
}

TEST (as_many_workers_take_part_as_is_said)
{
  irisd_finish (irisd);
  client_free (client);
  begin ("--topology=package:2 core:4 pu:1");
  assert_changed (ask_set_workers (client, 1, 3), 1);
  assert_changed (ask_set_workers (client, 1, 3), 0);
  g_autoptr (IrisWireStatus) status = client_get_status (client);
  ck_assert_uint_eq (status->places[0].active, 4);
  ck_assert_uint_eq (status->places[1].active, 3);
  ck_assert_uint_eq (status->places[1].workers, 4);
  const IrisWireMessage *refusal = ask_set_workers (client, 1, 5);
  assert_error (refusal, IRIS_WIRE_ERROR_TOO_LARGE);
  ck_assert_uint_eq (refusal->limit_value, 4);
  assert_error (ask_set_workers (client, 2, 1), IRIS_WIRE_ERROR_NO_SUCH_PLACE);
  assert_changed (ask_drain (client, 1, TRUE), 1);
  assert_changed (ask_set_workers (client, 1, 2), 1);
  assert_changed (ask_drain (client, 1, FALSE), 1);
  g_autoptr (IrisWireStatus) again = client_get_status (client);
  ck_assert_uint_eq (again->places[1].active, 2);
}

TEST (a_scheduler_without_places_has_none_to_change)
{
  client_free (client);
  irisd_finish (irisd);
  irisd = irisd_start (NULL, TWO_PLACES, "--scheduler=lockfree", NULL);
  client = client_hello (irisd->front);
  assert_error (ask_drain (client, 1, TRUE), IRIS_WIRE_ERROR_BAD_ARGUMENT);
  assert_error (ask_set_workers (client, 1, 1), IRIS_WIRE_ERROR_BAD_ARGUMENT);
}

TEST (an_irisd_with_a_drained_place_ends_and_stops_as_any)
{
  for (guint round = 0; round < 2; round++)
    {
      const char *const args[] = { "sleep", "1000", NULL };
      assert_changed (ask_drain (client, 1, TRUE), 1);
      if (round == 1)
        {
          client_submit_command (client, NULL, args);
          client_call (client, IRIS_WIRE_PING, IRIS_WIRE_PONG);
          irisd_signal (irisd, SIGTERM);
          gboolean draining = FALSE;
          while (!draining)
            {
              g_autoptr (IrisWireStatus) status = client_get_status (client);
              draining = status->draining;
            }
        }
      irisd_signal (irisd, SIGTERM);
      ck_assert_int_eq (irisd_wait (irisd) == 0, round == 0);
      irisd_free (irisd);
      client_free (client);
      set_up ();
    }
}

TEST_MAIN ("irisd-place-control", set_up, tear_down)
