/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Batches are read some items at a time: their sender sees no difference, and others are served in
 * between.
 */
#include "irisd-home.h"

/* What a gateway reads at once while others send something too, as the decision 0094 says. */
#define PER_TURN 16

#define LONG      4000
#define N_BATCHES 5
#define FEW       900
#define N_ASKED   200
#define HOUR_MS   (60 * 60 * 1000)

static const char config[] = "[limits]\nin-flight-items = 1000000\nmax-batch = 65536\n"
                             "outbox-messages = 1000000\ntotal-items = 1000000\n";

static Irisd *irisd;
static Client *client;
static Client *other;
static IrisWireBatchBuilder batch;

static void
begin (const char *text)
{
  irisd = irisd_start (text, ONE_WORKER, NULL);
  client = client_hello (irisd->front);
  other = client_hello (irisd->front);
  IrisWireLimits limits = *iris_wire_limits_default ();
  limits.max_batch = 65536;
  iris_wire_batch_builder_init (&batch, &limits);
}

static void
set_up (void)
{
  begin (config);
}

static void
tear_down (void)
{
  iris_wire_batch_builder_clear (&batch);
  if (client != NULL)
    client_free (client);
  client_free (other);
  irisd_finish (irisd);
}

static void
add (const char *service, guint64 delay_ms)
{
  IrisWireMessage item;
  client_init_message (client, &item, IRIS_WIRE_SUBMIT);
  iris_wire_message_set_string (&item, IRIS_WIRE_KEY_SERVICE, service, -1);
  if (delay_ms > 0)
    iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_DELAY_MS, delay_ms);
  ck_assert (iris_wire_batch_builder_add (&batch, &item, NULL));
}

static guint64
send_batch (void)
{
  IrisWireMessage message;
  client_init_message (client, &message, IRIS_WIRE_BATCH);
  IrisWireFrame body = iris_wire_batch_builder_get_body (&batch);
  iris_wire_message_set_body (&message, body.data, body.size);
  client_send (client, &message);
  iris_wire_batch_builder_reset (&batch);
  return client->next_id;
}

static guint64
send_items (guint n)
{
  for (guint i = 0; i < n; i++)
    add ("echo", 0);
  return send_batch ();
}

static guint64
ask (Client *who, IrisWireType type)
{
  IrisWireMessage message;
  client_init_message (who, &message, type);
  client_send (who, &message);
  return who->next_id;
}

static guint64
get_accepted (const IrisWireMessage *reply)
{
  g_autoptr (IrisWireStatus) status = iris_wire_status_decode (reply->body, NULL, NULL);
  ck_assert_ptr_nonnull (status);
  return status->accepted;
}

/* Messages that came before one of some type. */
typedef struct
{
  guint results;
  guint errors;
  guint busy;
} Heard;

static Heard
hear_until (IrisWireType type, guint64 id)
{
  Heard heard = { 0 };
  for (;;)
    {
      const IrisWireMessage *message = client_receive (client);
      if (message->type == type && message_get_id (message) == id)
        return heard;
      heard.results += message->type == IRIS_WIRE_RESULT;
      heard.errors += message->type == IRIS_WIRE_ERROR_REPLY;
      heard.busy += message->type == IRIS_WIRE_BUSY;
    }
}

/* Items that workers ran may end later than ones that the gateway ran after them. */
static void
hear_rest (guint n_heard, guint n_results)
{
  for (; n_heard < n_results; n_heard++)
    client_receive_type (client, IRIS_WIRE_RESULT);
  ck_assert_uint_eq (n_heard, n_results);
  ck_assert_uint_eq (hear_until (IRIS_WIRE_PONG, ask (client, IRIS_WIRE_PING)).results, 0);
}

START_TEST (every_item_of_a_long_batch_gets_one_answer)
{
  guint64 first = client->next_id + 1;
  for (guint i = 0; i < LONG; i++)
    add (i % 100 == 7 ? "nonsense" : "echo", 0);
  guint64 id = send_batch ();
  g_autofree gboolean *seen = g_new0 (gboolean, LONG);
  gboolean accepted = FALSE;
  for (guint n = 0; n < LONG || !accepted;)
    {
      const IrisWireMessage *message = client_receive (client);
      if (message->type == IRIS_WIRE_ACCEPTED)
        {
          ck_assert (!accepted);
          accepted = TRUE;
          ck_assert_uint_eq (message_get_id (message), id);
          ck_assert_uint_eq (message->count, LONG - LONG / 100);
          continue;
        }
      guint64 index = message_get_id (message) - first;
      ck_assert_uint_lt (index, LONG);
      ck_assert (!seen[index]);
      seen[index] = TRUE;
      n++;
      if (index % 100 == 7)
        assert_error (message, IRIS_WIRE_ERROR_UNKNOWN_SERVICE);
      else
        ck_assert_int_eq (message->type, IRIS_WIRE_RESULT);
    }
}
END_TEST

START_TEST (what_comes_behind_a_batch_waits_for_it)
{
  guint64 batches[2], pings[2];
  for (guint i = 0; i < 2; i++)
    {
      batches[i] = send_items (LONG);
      pings[i] = ask (client, IRIS_WIRE_PING);
    }
  guint64 last = client_submit (client, "echo", "x", 1, IRIS_PLACE_ANY, FALSE);
  Heard heard = { 0 };
  for (guint i = 0; i < 2; i++)
    {
      Heard before = hear_until (IRIS_WIRE_ACCEPTED, batches[i]);
      ck_assert_uint_eq (client->message.count, LONG);
      Heard behind = hear_until (IRIS_WIRE_PONG, pings[i]);
      heard.results += before.results + behind.results;
    }
  heard.results += hear_until (IRIS_WIRE_RESULT, last).results;
  hear_rest (heard.results, 2 * LONG);
}
END_TEST

/* How much of a flood was accepted, in the status that another client gets meanwhile. */
typedef struct
{
  guint64 before;
  gboolean within; /* a batch */
  guint64 least;   /* between two answers */
} Seen;

static void
look (Seen *self, guint64 n)
{
  ck_assert_uint_eq (n % PER_TURN, 0);
  self->within |= n % LONG != 0;
  if (n > self->before)
    self->least = MIN (self->least, n - self->before);
  self->before = n;
}

/* The answers to many requests at once, of which each turn answers one. An item makes the turns
 * short, and counts. */
static void
ask_often (Seen *self, guint64 *own)
{
  client_submit (other, "echo", "x", 1, IRIS_PLACE_ANY, FALSE);
  client_receive_type (other, IRIS_WIRE_RESULT);
  client_ack (other, 1);
  ++*own;
  for (guint i = 0; i < N_ASKED; i++)
    ask (other, IRIS_WIRE_STATUS);
  for (guint i = 0; i < N_ASKED; i++)
    look (self, get_accepted (client_receive_type (other, IRIS_WIRE_STATUS_REPLY)) - *own);
}

/* A client that asks too late, because its processor was busy, asks in the next flood. */
START_TEST (others_are_heard_within_a_batch)
{
  Seen seen = { .least = G_MAXUINT64 };
  guint64 total = 0, own = 0;
  for (guint round = 0; round < 50 && !(seen.within && seen.least == PER_TURN); round++)
    {
      for (guint i = 0; i < N_BATCHES; i++)
        send_items (LONG);
      guint64 end = ask (client, IRIS_WIRE_PING);
      total += (guint64) N_BATCHES * LONG;
      while (seen.before < total)
        ask_often (&seen, &own);
      hear_until (IRIS_WIRE_PONG, end);
      client_ack (client, client->completions->len / IRIS_WIRE_ID_SIZE);
    }
  ck_assert (seen.within);
  ck_assert_uint_eq (seen.least, PER_TURN);
}
END_TEST

START_TEST (an_item_is_cancelled_behind_its_batch)
{
  guint64 first = client->next_id + 1;
  for (guint i = 0; i < 10 * PER_TURN; i++)
    add ("echo", HOUR_MS);
  guint64 id = send_batch ();
  guint64 last = first + 10 * PER_TURN - 1;
  client_cancel (client, last);
  Heard heard = hear_until (IRIS_WIRE_ACCEPTED, id);
  ck_assert_uint_eq (client->message.count, 10 * PER_TURN);
  ck_assert_uint_eq (heard.results + heard.errors, 0);
  ck_assert_uint_eq (client_receive_type (client, IRIS_WIRE_CANCELLING)->state,
                     IRIS_WIRE_STATE_QUEUED);
  assert_error (client_receive_completion (client), IRIS_WIRE_ERROR_CANCELLED);
  ck_assert_uint_eq (message_get_id (&client->message), last);
  for (guint i = 0; i < 10 * PER_TURN - 1; i++)
    client_cancel (client, first + i);
  for (guint i = 0; i < 10 * PER_TURN - 1; i++)
    assert_error (client_receive_completion (client), IRIS_WIRE_ERROR_CANCELLED);
}
END_TEST

START_TEST (a_client_says_good_bye_and_hello_behind_its_batch)
{
  send_items (LONG);
  ask (client, IRIS_WIRE_BYE);
  IrisWireMessage hello;
  client_init_message (client, &hello, IRIS_WIRE_HELLO);
  iris_wire_message_set_uint (&hello, IRIS_WIRE_KEY_VERSION_MIN, 1);
  iris_wire_message_set_uint (&hello, IRIS_WIRE_KEY_VERSION_MAX, 1);
  client_send (client, &hello);
  guint64 hello_id = client->next_id;
  guint64 id = send_items (LONG);
  guint64 last = client_submit (client, "echo", "x", 1, IRIS_PLACE_ANY, FALSE);

  hear_until (IRIS_WIRE_WELCOME, hello_id);
  Heard heard = hear_until (IRIS_WIRE_ACCEPTED, id);
  ck_assert_uint_eq (client->message.count, LONG);
  heard.results += hear_until (IRIS_WIRE_RESULT, last).results;
  hear_rest (heard.results, LONG);
}
END_TEST

START_TEST (a_client_that_goes_within_a_batch_takes_the_rest_along)
{
  for (guint i = 0; i < N_BATCHES; i++)
    send_items (LONG);
  while (get_accepted (client_call (other, IRIS_WIRE_STATUS, IRIS_WIRE_STATUS_REPLY)) == 0)
    ;
  client_free (g_steal_pointer (&client));
  g_autoptr (IrisWireStatus) status = NULL;
  do
    {
      g_clear_pointer (&status, iris_wire_status_free);
      status = client_get_status (other);
    }
  while (status->peers > 1 || status->in_flight > 0);
  client_submit (other, "echo", "x", 1, IRIS_PLACE_ANY, FALSE);
  client_receive_type (other, IRIS_WIRE_RESULT);
}
END_TEST

/* irisd ends, and answers each item of the batch in hand. They are no more than it can send without
 * waiting for a slow reader. */
START_TEST (a_drain_within_a_batch_answers_all_of_it)
{
  guint64 id = send_items (FEW);
  while (get_accepted (client_call (other, IRIS_WIRE_STATUS, IRIS_WIRE_STATUS_REPLY)) == 0)
    ;
  irisd_signal (irisd, SIGTERM);
  Heard heard = hear_until (IRIS_WIRE_ACCEPTED, id);
  guint accepted = client->message.count;
  ck_assert_uint_eq (accepted + heard.errors, FEW);
  while (heard.results < accepted)
    {
      client_receive_type (client, IRIS_WIRE_RESULT);
      heard.results++;
    }
  ck_assert_int_eq (irisd_wait (irisd), 0);
  irisd_free (irisd);
  irisd = irisd_start (config, ONE_WORKER, NULL); /* for tear_down() */
}
END_TEST

/* --- other limits ----------------------------------------------------------------------------- */

static void
set_up_small (void)
{
  begin ("[limits]\nin-flight-items = 40\nmax-batch = 65536\noutbox-messages = 100000\n");
}

START_TEST (items_beyond_the_credit_are_refused_within_a_batch)
{
  guint64 first = client->next_id + 1;
  for (guint i = 0; i < 100; i++)
    add ("echo", HOUR_MS);
  guint64 id = send_batch ();
  Heard heard = hear_until (IRIS_WIRE_ACCEPTED, id);
  ck_assert_uint_eq (client->message.count, 40);
  ck_assert_uint_eq (heard.busy, 60);
  for (guint i = 0; i < 40; i++)
    client_cancel (client, first + i);
  for (guint i = 0; i < 40; i++)
    assert_error (client_receive_completion (client), IRIS_WIRE_ERROR_CANCELLED);
}
END_TEST

/* More than may wait behind it: none is lost, and all are in order. */
START_TEST (a_client_that_sends_more_than_may_wait_is_answered_in_order)
{
  guint64 batches[20], pings[20];
  for (guint i = 0; i < G_N_ELEMENTS (pings); i++)
    {
      batches[i] = send_items (1000);
      for (guint k = 0; k < 20; k++)
        pings[i] = ask (client, IRIS_WIRE_PING);
    }
  guint64 answered = 0;
  for (guint i = 0; i < G_N_ELEMENTS (pings); i++)
    {
      Heard heard = hear_until (IRIS_WIRE_ACCEPTED, batches[i]);
      answered += heard.results + heard.busy;
      ck_assert_uint_eq (heard.busy + client->message.count, 1000);
      answered += hear_until (IRIS_WIRE_PONG, pings[i]).results;
    }
  for (; answered < 1000 * G_N_ELEMENTS (pings); answered++)
    client_receive_type (client, IRIS_WIRE_RESULT);
  client_call (client, IRIS_WIRE_PING, IRIS_WIRE_PONG);
}
END_TEST

static void
set_up_short (void)
{
  begin ("[limits]\nin-flight-items = 1000000\nmax-batch = 65536\ntotal-items = 1000000\n"
         "outbox-messages = 16\n");
}

/* Its connection is dropped, usually within a batch, because it does not read. Its later messages
 * are refused or were answered, and it can begin again. */
START_TEST (a_client_that_does_not_read_is_given_up_and_may_come_back)
{
  for (guint i = 0; i < N_BATCHES; i++)
    send_items (LONG);
  g_autofree char *log = NULL;
  do
    {
      client_call (other, IRIS_WIRE_PING, IRIS_WIRE_PONG);
      g_free (log);
      log = irisd_read_log (irisd);
    }
  while (strstr (log, "limit outbox-messages") == NULL);
  IrisWireMessage hello;
  client_init_message (client, &hello, IRIS_WIRE_HELLO);
  iris_wire_message_set_uint (&hello, IRIS_WIRE_KEY_VERSION_MIN, 1);
  iris_wire_message_set_uint (&hello, IRIS_WIRE_KEY_VERSION_MAX, 1);
  client_send (client, &hello);
  hear_until (IRIS_WIRE_WELCOME, client->next_id);
  ck_assert_uint_lt (client->message.credits,
                     1000000); /* unacknowledged bytes of the earlier session */
  guint64 last = client_submit (client, "echo", "x", 1, IRIS_PLACE_ANY, FALSE);
  hear_until (IRIS_WIRE_RESULT, last);
}
END_TEST

/* --- persistent items
 * ------------------------------------------------------------------------------- */

static void
add_persistent_items (guint n)
{
  IrisWireMessage item;
  for (guint i = 0; i < n; i++)
    {
      persistent_fill (client, &item, "echo", "kept", IRIS_WIRE_CLASS_RELAXED);
      iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_DETACH, TRUE);
      ck_assert (iris_wire_batch_builder_add (&batch, &item, NULL));
    }
}

START_TEST (persistent_items_of_a_long_batch_are_numbered_in_a_row)
{
  Home *home = home_new ();
  irisd = home_start (home, NULL);
  client = client_hello (irisd->front);
  iris_wire_batch_builder_init (&batch, NULL);
  guint64 before = 0;
  for (guint i = 0; i < 2; i++)
    {
      add_persistent_items (500);
      guint64 id = send_batch ();
      const IrisWireMessage *accepted = client_receive_type (client, IRIS_WIRE_ACCEPTED);
      ck_assert_uint_eq (message_get_id (accepted), id);
      ck_assert_uint_eq (accepted->count, 500);
      ck_assert_uint_gt (accepted->item, before);
      before = accepted->item + 499;
      persistent_assert_result (client, accepted->item, "kept");
      persistent_assert_result (client, before, "kept");
    }
  ck_assert_uint_eq (persistent_count (client), 1000);
  iris_wire_batch_builder_clear (&batch);
  client_free (client);
  irisd_stop (irisd);
  home_free (home);
}
END_TEST

START_TEST (a_client_that_goes_within_a_batch_leaves_the_persistent_items_that_were_read)
{
  Home *home = home_new ();
  irisd = home_start (home, NULL);
  client = client_hello (irisd->front);
  other = client_hello (irisd->front);
  iris_wire_batch_builder_init (&batch, NULL);
  add_persistent_items (1000);
  send_batch ();
  ask (client, IRIS_WIRE_BYE);
  while (persistent_count (other) == 0)
    ;
  client_free (client);
  g_autoptr (IrisWireStatus) status = NULL;
  do
    {
      g_clear_pointer (&status, iris_wire_status_free);
      status = client_get_status (other);
    }
  while (status->in_flight > 0 || status->accepted == 0);
  ck_assert_uint_gt (persistent_count (other), 0);
  iris_wire_batch_builder_clear (&batch);
  client_free (other);
  irisd_stop (irisd);
  home_free (home);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("irisd-receive-backlog");
  TCase *line = tcase_create ("line");
  tcase_add_checked_fixture (line, set_up, tear_down);
  tcase_add_test (line, every_item_of_a_long_batch_gets_one_answer);
  tcase_add_test (line, what_comes_behind_a_batch_waits_for_it);
  tcase_add_test (line, others_are_heard_within_a_batch);
  tcase_add_test (line, an_item_is_cancelled_behind_its_batch);
  tcase_add_test (line, a_client_says_good_bye_and_hello_behind_its_batch);
  tcase_add_test (line, a_client_that_goes_within_a_batch_takes_the_rest_along);
  tcase_add_test (line, a_drain_within_a_batch_answers_all_of_it);
  suite_add_tcase (suite, line);
  TCase *small = tcase_create ("small");
  tcase_add_checked_fixture (small, set_up_small, tear_down);
  tcase_add_test (small, items_beyond_the_credit_are_refused_within_a_batch);
  tcase_add_test (small, a_client_that_sends_more_than_may_wait_is_answered_in_order);
  suite_add_tcase (suite, small);
  TCase *unread = tcase_create ("unread");
  tcase_add_checked_fixture (unread, set_up_short, tear_down);
  tcase_add_test (unread, a_client_that_does_not_read_is_given_up_and_may_come_back);
  suite_add_tcase (suite, unread);
  TCase *persistent = tcase_create ("persistent");
  tcase_add_test (persistent, persistent_items_of_a_long_batch_are_numbered_in_a_row);
  tcase_add_test (persistent,
                  a_client_that_goes_within_a_batch_leaves_the_persistent_items_that_were_read);
  suite_add_tcase (suite, persistent);
  return core_test_run (suite);
}
