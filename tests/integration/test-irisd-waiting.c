/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Items that wait: for a time, for dependencies, for their turn, and for a retry.
 */
#include "irisd-fixture.h"

#include <signal.h>

#define HOUR_MS G_GINT64_CONSTANT (3600000)

static Irisd *irisd;
static Client *client;

static void
set_up (void)
{
  irisd = irisd_start ("[limits]\nkill-grace-ms = 600000\nstop-grace-ms = 60000\nwindow-us = 0\n",
                       ONE_WORKER, NULL);
  client = client_hello (irisd->front);
}

static void
tear_down (void)
{
  client_free (client);
  if (irisd != NULL)
    irisd_finish (irisd);
}

static void
init_echo (IrisWireMessage *item)
{
  client_init_message (client, item, IRIS_WIRE_SUBMIT);
  iris_wire_message_set_string (item, IRIS_WIRE_KEY_SERVICE, "echo", -1);
  iris_wire_message_set_boolean (item, IRIS_WIRE_KEY_QUIET, TRUE);
}

static void
init_command (IrisWireMessage *item, const char *const *argv)
{
  init_echo (item);
  iris_wire_message_set_string (item, IRIS_WIRE_KEY_SERVICE, "command", -1);
  iris_wire_message_set_args (item, argv);
}

#define WORDS(...) ((const char *const[]){ __VA_ARGS__, NULL })

/* An echo with one more key. */
static guint64
submit_with (IrisWireKey key, guint64 value)
{
  IrisWireMessage item;
  init_echo (&item);
  iris_wire_message_set_uint (&item, key, value);
  client_send (client, &item);
  return client->next_id;
}

/* Sends an item and reads the number that irisd gives it. */
static guint64
submit_for_number (IrisWireMessage *item)
{
  item->quiet = FALSE;
  client_send (client, item);
  const IrisWireMessage *accepted = client_receive_type (client, IRIS_WIRE_ACCEPTED);
  ck_assert_uint_gt (accepted->item, 0);
  return accepted->item;
}

static const IrisWireMessage *
expect_completion (guint64 id)
{
  const IrisWireMessage *completion = client_receive_completion (client);
  ck_assert_uint_eq (message_get_id (completion), id);
  return completion;
}

TEST (a_delayed_item_does_not_hold_up_what_came_later_nor_runs_before_its_time)
{
  submit_with (IRIS_WIRE_KEY_DELAY_MS, HOUR_MS);
  guint64 plain = client_submit (client, "echo", "x", 1, IRIS_PLACE_ANY, FALSE);
  expect_completion (plain);
  guint64 delayed = submit_with (IRIS_WIRE_KEY_DELAY_MS, 100);
  const IrisWireMessage *completion = expect_completion (delayed);
  ck_assert_uint_eq (completion->type, IRIS_WIRE_RESULT);
  ck_assert_uint_ge (completion->queue_ns, 100 * 1000 * 1000);
  ck_assert_uint_gt (completion->item, 0);
  ck_assert_uint_eq (completion->attempts, 1);
}

TEST (a_time_of_day_is_waited_for_and_one_that_has_passed_is_not)
{
  guint64 now_ms = (guint64) g_get_real_time () / 1000;
  submit_with (IRIS_WIRE_KEY_AT_MS, now_ms + HOUR_MS);
  guint64 passed = submit_with (IRIS_WIRE_KEY_AT_MS, now_ms - HOUR_MS);
  expect_completion (passed);
  guint64 long_ago = submit_with (IRIS_WIRE_KEY_AT_MS, 0);
  expect_completion (long_ago);
  guint64 later = submit_with (IRIS_WIRE_KEY_AT_MS, now_ms + 100);
  expect_completion (later);
  ck_assert_int_ge (g_get_real_time () / 1000, (gint64) now_ms + 100);
}

TEST (higher_priority_comes_first)
{
  g_autofree char *gate = gate_new (irisd, "gate");
  guint64 running = client_occupy (client, gate, 0);
  guint64 next = client_submit (client, "echo", "x", 1, IRIS_PLACE_ANY, FALSE);
  guint64 low = submit_with (IRIS_WIRE_KEY_PRIORITY, 0);
  guint64 usual = client_submit (client, "echo", "x", 1, IRIS_PLACE_ANY, FALSE);
  guint64 high = submit_with (IRIS_WIRE_KEY_PRIORITY, 9);
  client_call (client, IRIS_WIRE_PING, IRIS_WIRE_PONG);
  gate_open (gate);
  const guint64 wanted[] = { running, next, high, usual, low };
  for (guint i = 0; i < G_N_ELEMENTS (wanted); i++)
    expect_completion (wanted[i]);
}

TEST (what_fails_is_tried_again_until_it_does_not)
{
  g_autofree char *file = g_strdup_printf ("%s/tries", irisd->dir);
  IrisWireMessage item;
  init_command (&item, WORDS ("sh", "-c", "echo >> \"$0\"; test $(wc -l < \"$0\") -ge 3", file));
  iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_RETRIES, 5);
  iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_BACKOFF_MS, 1);
  client_send (client, &item);
  const IrisWireMessage *completion = expect_completion (client->next_id);
  ck_assert_uint_eq (completion->type, IRIS_WIRE_RESULT);
  ck_assert_int_eq (completion->exit_status, 0);
  ck_assert_uint_eq (completion->attempts, 3);

  init_command (&item, WORDS ("sh", "-c", "echo out; exit 7"));
  iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_RETRIES, 2);
  iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_BACKOFF_MS, 0);
  client_send (client, &item);
  completion = expect_completion (client->next_id);
  ck_assert_uint_eq (completion->type, IRIS_WIRE_RESULT);
  ck_assert_int_eq (completion->exit_status, 7);
  ck_assert_uint_eq (completion->attempts, 3);
  ck_assert (message_body_is (completion, "out\n"));

  /* A failure that would repeat is not tried again. */
  init_command (&item, WORDS ("/no/such/program"));
  iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_RETRIES, 2);
  client_send (client, &item);
  completion = expect_completion (client->next_id);
  assert_error (completion, IRIS_WIRE_ERROR_NO_SUCH_COMMAND);
  ck_assert_uint_eq (completion->attempts, 1);
  g_autoptr (IrisWireStatus) status = client_get_status (client);
  ck_assert_uint_eq (status->accepted, 3);
  ck_assert_uint_eq (status->ended, 3);
}

LOOP_TEST (a_run_that_takes_too_long_is_stopped_and_counts_as_failed, 0, 3)
{
  IrisWireMessage item;
  init_command (&item, WORDS ("sleep", "1000"));
  iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_TIME_TO_RUN_MS, 20);
  iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_RETRIES, (guint) _i);
  iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_BACKOFF_MS, 1);
  client_send (client, &item);
  const IrisWireMessage *completion = expect_completion (client->next_id);
  assert_error (completion, IRIS_WIRE_ERROR_RAN_TOO_LONG);
  ck_assert (completion->ends);
  ck_assert_int_eq (completion->signal, SIGTERM);
  ck_assert_uint_eq (completion->attempts, (guint) _i + 1);
  ck_assert_uint_ge (completion->run_ns, 20 * 1000 * 1000);
}

TEST (a_run_that_ends_in_time_is_not_touched)
{
  IrisWireMessage item;
  init_command (&item, WORDS ("true"));
  iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_TIME_TO_RUN_MS, HOUR_MS);
  client_send (client, &item);
  ck_assert_uint_eq (expect_completion (client->next_id)->type, IRIS_WIRE_RESULT);
}

TEST (an_item_that_waits_can_be_cancelled)
{
  g_autofree char *gate = gate_new (irisd, "gate");
  guint64 running = client_occupy (client, gate, 0);
  client_submit (client, "echo", "x", 1, IRIS_PLACE_ANY, FALSE);
  guint64 waiting[3];
  waiting[0] = submit_with (IRIS_WIRE_KEY_DELAY_MS, HOUR_MS);
  waiting[1] = client_submit (client, "echo", "x", 1, IRIS_PLACE_ANY, FALSE);
  IrisWireMessage first, second;
  init_echo (&first);
  iris_wire_message_set_uint (&first, IRIS_WIRE_KEY_DELAY_MS, HOUR_MS);
  guint64 number = submit_for_number (&first);
  init_echo (&second);
  iris_wire_message_set_numbers (&second, IRIS_WIRE_KEY_AFTER, &number, 1);
  client_send (client, &second);
  waiting[2] = client->next_id;
  for (guint i = 0; i < 3; i++)
    {
      client_cancel (client, waiting[i]);
      ck_assert_uint_eq (client_receive_type (client, IRIS_WIRE_CANCELLING)->state,
                         IRIS_WIRE_STATE_QUEUED);
      assert_error (expect_completion (waiting[i]), IRIS_WIRE_ERROR_CANCELLED);
    }
  gate_open (gate);
  expect_completion (running);
}

TEST (an_item_that_is_cancelled_is_not_tried_again)
{
  g_autofree char *gate = gate_new (irisd, "gate");
  IrisWireMessage item;
  init_command (&item, WORDS ("sh", "-c", "echo > \"$0\"; exec sleep 1000", gate));
  iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_RETRIES, 5);
  iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_TIME_TO_RUN_MS, HOUR_MS);
  client_send (client, &item);
  guint64 id = client->next_id;
  gate_wait (gate);
  client_cancel (client, id);
  client_receive_type (client, IRIS_WIRE_CANCELLING);
  const IrisWireMessage *completion = expect_completion (id);
  assert_error (completion, IRIS_WIRE_ERROR_CANCELLED);
  ck_assert_uint_eq (completion->attempts, 1);
}

/* An echo with dependencies, on their connection or another. */
static guint64
submit_after (Client *self, IrisWireAfter how, guint64 one, guint64 other)
{
  const guint64 numbers[] = { one, other };
  IrisWireMessage item;
  client_init_message (self, &item, IRIS_WIRE_SUBMIT);
  iris_wire_message_set_string (&item, IRIS_WIRE_KEY_SERVICE, "echo", -1);
  iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_QUIET, TRUE);
  iris_wire_message_set_numbers (&item, IRIS_WIRE_KEY_AFTER, numbers, other != 0 ? 2 : 1);
  iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_AFTER_HOW, how);
  client_send (self, &item);
  return self->next_id;
}

TEST (an_item_comes_after_others_of_any_connection)
{
  g_autofree char *endpoint = irisd_place_endpoint (irisd, 0);
  g_autoptr (Client) other = client_hello (endpoint);
  g_autofree char *gate = gate_new (irisd, "gate");
  IrisWireMessage item;
  init_command (&item, WORDS ("cat", gate));
  guint64 slow = submit_for_number (&item);
  guint64 slow_id = client->next_id;
  init_echo (&item);
  guint64 quick = submit_for_number (&item);
  expect_completion (client->next_id);

  guint64 all = submit_after (other, IRIS_WIRE_AFTER_ALL, quick, slow);
  guint64 any = submit_after (other, IRIS_WIRE_AFTER_ANY, slow, quick);
  ck_assert_uint_eq (message_get_id (client_receive_completion (other)), any);
  gate_open (gate);
  const IrisWireMessage *completion = client_receive_completion (other);
  ck_assert_uint_eq (message_get_id (completion), all);
  ck_assert_uint_eq (completion->type, IRIS_WIRE_RESULT);
  expect_completion (slow_id);
}

TEST (only_success_will_do_if_it_was_asked_for)
{
  IrisWireMessage item;
  init_command (&item, WORDS ("false"));
  guint64 failed = submit_for_number (&item);
  expect_completion (client->next_id);
  init_command (&item, WORDS ("true"));
  guint64 succeeded = submit_for_number (&item);
  expect_completion (client->next_id);

  guint64 good = submit_after (client, IRIS_WIRE_AFTER_SUCCESS, succeeded, 0);
  ck_assert_uint_eq (expect_completion (good)->type, IRIS_WIRE_RESULT);
  guint64 bad = submit_after (client, IRIS_WIRE_AFTER_SUCCESS, succeeded, failed);
  const IrisWireMessage *completion = expect_completion (bad);
  assert_error (completion, IRIS_WIRE_ERROR_DEPENDENCY_FAILED);
  ck_assert (completion->ends);
  /* Its failure fails the items that depend on it in turn. */
  bad = submit_after (client, IRIS_WIRE_AFTER_SUCCESS, completion->item, 0);
  assert_error (expect_completion (bad), IRIS_WIRE_ERROR_DEPENDENCY_FAILED);
}

TEST (what_is_not_known_cannot_be_come_after)
{
  submit_after (client, IRIS_WIRE_AFTER_ALL, 4711, 0);
  assert_error (client_receive (client), IRIS_WIRE_ERROR_UNKNOWN_DEPENDENCY);
  ck_assert (!client->message.ends);

  IrisWireMessage item;
  init_echo (&item);
  const guint64 none = 0;
  iris_wire_message_set_numbers (&item, IRIS_WIRE_KEY_AFTER, &none, 1);
  client_send (client, &item);
  assert_error (client_receive (client), IRIS_WIRE_ERROR_UNKNOWN_DEPENDENCY);
  /* Nothing of them is left. */
  g_autoptr (IrisWireStatus) status = client_get_status (client);
  ck_assert_uint_eq (status->accepted, 0);
}

/* Whether they wait for their time or for a worker process. */
LOOP_TEST (a_client_that_goes_fails_the_items_that_depend_on_its_items, 0, 2)
{
  g_autoptr (Client) other = client_hello (irisd->front);
  IrisWireMessage item;
  init_echo (&item);
  if (_i == 0)
    iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_DELAY_MS, HOUR_MS);
  else
    {
      iris_wire_message_set_string (&item, IRIS_WIRE_KEY_SERVICE, "nowhere", -1);
      iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_WAIT_FOR_SERVICE, TRUE);
    }
  guint64 never = submit_for_number (&item);
  guint64 waiting = submit_after (other, IRIS_WIRE_AFTER_SUCCESS, never, 0);
  client_call (other, IRIS_WIRE_PING, IRIS_WIRE_PONG);
  IrisWireMessage bye;
  client_init_message (client, &bye, IRIS_WIRE_BYE);
  client_send (client, &bye);
  const IrisWireMessage *completion = client_receive_completion (other);
  ck_assert_uint_eq (message_get_id (completion), waiting);
  assert_error (completion, IRIS_WIRE_ERROR_DEPENDENCY_FAILED);
  g_autoptr (IrisWireStatus) status = client_get_status (other);
  ck_assert_uint_eq (status->in_flight, 0);
}

TEST (the_items_of_a_batch_have_numbers_that_follow_each_other)
{
  g_auto (IrisWireBatchBuilder) builder = { 0 };
  iris_wire_batch_builder_init (&builder, NULL);
  for (guint i = 0; i < 5; i++)
    {
      IrisWireMessage item;
      init_echo (&item);
      /* The third one is refused. */
      if (i == 2)
        iris_wire_message_set_string (&item, IRIS_WIRE_KEY_SERVICE, "ecko", -1);
      ck_assert (iris_wire_batch_builder_add (&builder, &item, NULL));
    }
  IrisWireMessage batch;
  client_init_message (client, &batch, IRIS_WIRE_BATCH);
  IrisWireFrame body = iris_wire_batch_builder_get_body (&builder);
  iris_wire_message_set_body (&batch, body.data, body.size);
  client_send (client, &batch);
  guint64 first = 0, seen = 0;
  for (guint n = 0; n < 6; n++)
    {
      const IrisWireMessage *message = client_receive (client);
      if (message->type == IRIS_WIRE_ACCEPTED)
        {
          ck_assert_uint_eq (message->count, 4);
          first = message->item;
        }
      else if (message->type == IRIS_WIRE_RESULT)
        seen |= G_GUINT64_CONSTANT (1) << message->item;
    }
  ck_assert_uint_gt (first, 0);
  ck_assert_uint_eq (seen, G_GUINT64_CONSTANT (15) << first);

  /* A quiet one is not answered. */
  iris_wire_message_set_boolean (&batch, IRIS_WIRE_KEY_QUIET, TRUE);
  client_send (client, &batch);
  for (guint n = 0; n < 5; n++)
    ck_assert_uint_ne (client_receive (client)->type, IRIS_WIRE_ACCEPTED);
  client_call (client, IRIS_WIRE_PING, IRIS_WIRE_PONG);
}

TEST (terms_that_do_not_fit_are_refused)
{
  submit_with (IRIS_WIRE_KEY_BACKOFF_MS, 1);
  assert_error (client_receive (client), IRIS_WIRE_ERROR_BAD_ARGUMENT);
  submit_with (IRIS_WIRE_KEY_DELAY_MS, G_MAXUINT64);
  assert_error (client_receive (client), IRIS_WIRE_ERROR_TOO_LARGE);
  submit_with (IRIS_WIRE_KEY_AT_MS, G_MAXUINT64);
  assert_error (client_receive (client), IRIS_WIRE_ERROR_TOO_LARGE);
}

TEST (an_irisd_that_ends_does_not_wait_for_clocks)
{
  g_autofree char *gate = gate_new (irisd, "gate");
  guint64 running = client_occupy (client, gate, 0);
  guint64 delayed = submit_with (IRIS_WIRE_KEY_DELAY_MS, HOUR_MS);
  guint64 timed = submit_with (IRIS_WIRE_KEY_AT_MS, (guint64) g_get_real_time () / 1000 + HOUR_MS);
  guint64 follower = client_submit (client, "echo", "x", 1, IRIS_PLACE_ANY, FALSE);
  guint64 waiting = client_submit (client, "echo", "x", 1, IRIS_PLACE_ANY, FALSE);
  client_call (client, IRIS_WIRE_PING, IRIS_WIRE_PONG);
  irisd_signal (irisd, SIGTERM);
  for (guint i = 0; i < 2; i++)
    {
      const IrisWireMessage *completion = client_receive_completion (client);
      assert_error (completion, IRIS_WIRE_ERROR_SHUTTING_DOWN);
      guint64 id = message_get_id (completion);
      ck_assert (id == delayed || id == timed);
    }
  gate_open (gate);
  expect_completion (running);
  ck_assert_uint_eq (expect_completion (follower)->type, IRIS_WIRE_RESULT);
  ck_assert_uint_eq (expect_completion (waiting)->type, IRIS_WIRE_RESULT);
  ck_assert_int_eq (irisd_wait (irisd), 0);
}

TEST (an_irisd_that_is_stopped_gives_back_all_that_waits)
{
  g_autofree char *gate = gate_new (irisd, "gate");
  client_occupy (client, gate, 0);
  IrisWireMessage item;
  init_echo (&item);
  iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_DELAY_MS, HOUR_MS);
  guint64 never = submit_for_number (&item);
  submit_after (client, IRIS_WIRE_AFTER_ALL, never, 0);
  for (guint i = 0; i < 100; i++)
    client_submit (client, "echo", "x", 1, IRIS_PLACE_ANY, FALSE);
  client_call (client, IRIS_WIRE_PING, IRIS_WIRE_PONG);
  irisd_signal (irisd, SIGTERM);
  assert_error (client_receive_completion (client), IRIS_WIRE_ERROR_SHUTTING_DOWN);
  irisd_signal (irisd, SIGTERM);
  for (guint i = 0; i < 102; i++)
    assert_error (client_receive_completion (client), IRIS_WIRE_ERROR_SHUTTING_DOWN);
  ck_assert_int_ne (irisd_wait (irisd), 0);
  irisd_free (irisd);
  irisd = NULL;
}

/* Of two gateways: each may let the other's items through. */
TEST (nothing_is_lost_when_many_connections_share_a_gate)
{
  enum
  {
    N_CLIENTS = 8
  };
  g_autofree char *endpoint = irisd_place_endpoint (irisd, 0);
  Client *clients[N_CLIENTS];
  const guint each = TIMES (2000);
  for (guint i = 0; i < N_CLIENTS; i++)
    clients[i] = client_hello (i % 2 == 0 ? irisd->front : endpoint);
  for (guint round = 0; round < 2; round++)
    {
      for (guint n = 0; n < each / 2; n++)
        for (guint i = 0; i < N_CLIENTS; i++)
          client_submit (clients[i], "echo", "x", 1, IRIS_PLACE_ANY, FALSE);
      for (guint n = 0; n < each / 2; n++)
        for (guint i = 0; i < N_CLIENTS; i++)
          {
            const IrisWireMessage *message = client_receive (clients[i]);
            ck_assert (message->type == IRIS_WIRE_RESULT || message->type == IRIS_WIRE_BUSY);
            if (message->type == IRIS_WIRE_RESULT)
              client_ack (clients[i], 1);
          }
    }
  g_autoptr (IrisWireStatus) status = client_get_status (client);
  ck_assert_uint_eq (status->in_flight, 0);
  ck_assert_uint_eq (status->accepted + status->refused, N_CLIENTS * (each / 2) * 2);
  for (guint i = 0; i < N_CLIENTS; i++)
    client_free (clients[i]);
}

TEST (busy_names_the_limit_of_client_or_service_and_when_to_come_back)
{
  Irisd *limited = irisd_start ("[client]\nitems = 3\n[service sha256]\nrate = 1\n", ONE_WORKER,
                                NULL);
  Client *one = client_hello (limited->front);
  g_autofree char *gate = gate_new (limited, "gate");
  client_occupy (one, gate, 0);
  /* Both connections are of one process, and so of one client. */
  Client *other = client_hello (limited->front);
  client_submit (other, "echo", "x", 1, IRIS_PLACE_ANY, FALSE);
  client_submit (other, "echo", "x", 1, IRIS_PLACE_ANY, FALSE);
  guint64 refused = client_submit (other, "echo", "x", 1, IRIS_PLACE_ANY, FALSE);
  const IrisWireMessage *busy = client_receive_type (other, IRIS_WIRE_BUSY);
  ck_assert_uint_eq (message_get_id (busy), refused);
  ck_assert (busy->limit.len == strlen ("client-items")
             && memcmp (busy->limit.data, "client-items", busy->limit.len) == 0);
  ck_assert_uint_eq (busy->limit_value, 3);
  ck_assert_uint_gt (busy->retry_after_ms, 0);
  gate_open (gate);
  client_receive_completion (one);
  client_receive_completion (other);
  client_receive_completion (other);

  /* One a second, so two in a row, unless a busy machine takes a second from one to the next. */
  guint n_busy = 0, n_sent = 0;
  while (n_busy == 0)
    {
      ck_assert_uint_lt (n_sent, GIVE_UP_MS / 1000);
      for (guint i = 0; i < 2; i++, n_sent++)
        client_submit (other, "sha256", "x", 1, IRIS_PLACE_ANY, FALSE);
      /* The first one may end before the second one is refused. */
      for (guint i = 0; i < 2; i++)
        {
          const IrisWireMessage *answer = client_receive (other);
          if (answer->type != IRIS_WIRE_BUSY)
            {
              client_ack (other, 1);
              continue;
            }
          n_busy++;
          ck_assert (answer->limit.len == strlen ("service-rate")
                     && memcmp (answer->limit.data, "service-rate", answer->limit.len) == 0);
          ck_assert_uint_le (answer->retry_after_ms, 1001);
        }
    }
  ck_assert_uint_lt (n_busy, n_sent);
  client_free (one);
  client_free (other);
  irisd_finish (limited);
}

TEST_MAIN ("irisd-schedule", set_up, tear_down)
