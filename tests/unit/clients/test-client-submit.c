/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Items: credits, batches, acknowledgements, refusals, hints, cancelling.
 */
#include "client-fake-daemon.h"

#include "clients/iris-client/connection/iris-client-credit-private.h"
#include "clients/iris-client/request/iris-request-private.h"

#include <string.h>

#define N_PIPELINED 5000

static FakeDaemon *
daemon_listening (guint n_places)
{
  FakeDaemon *daemon = fake_daemon_new (n_places);

  fake_daemon_open (daemon);
  outcome_restart ();
  return daemon;
}

static void
end (FakeDaemon *daemon, IrisClient **client)
{
  g_clear_object (client);
  fake_daemon_free (daemon);
}

static void
expect_error (Outcome *outcome, GQuark domain, int code)
{
  ck_assert (outcome->done);
  ck_assert_ptr_nonnull (outcome->error);
  ck_assert_msg (g_error_matches (outcome->error, domain, code), "expected code %d, got %s %d: %s",
                 code, g_quark_to_string (outcome->error->domain), outcome->error->code,
                 outcome->error->message);
  outcome_clear (outcome);
}

static void
expect_text (Outcome *outcome, const char *text)
{
  g_autofree char *got = NULL;

  ck_assert (outcome->done);
  ck_assert_msg (outcome->error == NULL, "%s",
                 outcome->error != NULL ? outcome->error->message : "");
  got = iris_result_dup_text (outcome->result);
  ck_assert_str_eq (got, text);
  outcome_clear (outcome);
}

START_TEST (an_item_comes_back_with_its_result)
{
  FakeDaemon *daemon = daemon_listening (2);
  IrisClient *client = iris_client_new (daemon->dir);
  g_autoptr (IrisRequest) request = iris_request_new ("echo");
  g_autoptr (GBytes) payload = g_bytes_new ("hello", 5);
  Outcome outcome = { 0 };

  iris_request_set_payload (request, payload);
  iris_request_set_place_name (request, "core:1");
  ck_assert_ptr_null (iris_request_get_id (request));
  iris_client_submit_async (client, request, NULL, outcome_ready, &outcome);
  ck_assert_uint_eq (strlen (iris_request_get_id (request)), 32);
  RUN_UNTIL (outcome.done);
  ck_assert_ptr_null (outcome.error);
  ck_assert (g_bytes_equal (outcome.result->body, payload));
  ck_assert (g_bytes_equal (outcome.result->output, payload));
  ck_assert_uint_eq (g_bytes_get_size (outcome.result->errors), 0);
  ck_assert_str_eq (outcome.result->content_type, "text/plain");
  ck_assert_int_eq (outcome.result->home, 1);
  ck_assert_int_eq (outcome.result->place, 0);
  ck_assert (outcome.result->stolen);
  ck_assert_int_eq (outcome.result->exit_status, -1);
  ck_assert_uint_eq (outcome.result->bytes, 5);
  outcome_clear (&outcome);
  end (daemon, &client);
}
END_TEST

START_TEST (many_items_stay_within_the_credits)
{
  FakeDaemon *daemon = daemon_listening (1);
  IrisClient *client = iris_client_new (daemon->dir);
  g_autofree Outcome *outcomes = g_new0 (Outcome, N_PIPELINED);

  for (guint i = 0; i < N_PIPELINED; i++)
    {
      g_autofree char *text = g_strdup_printf ("%u", i);

      submit_echo (client, text, NULL, &outcomes[i]);
    }
  RUN_UNTIL (outcomes[N_PIPELINED - 1].done);
  ck_assert_uint_eq (daemon->n_items, N_PIPELINED);
  ck_assert_uint_le (daemon->most_in_flight, daemon->credits);
  /* Few messages: batches there, and acknowledgements of a quarter of the window each. */
  ck_assert_uint_ge (daemon->n_messages[IRIS_WIRE_BATCH], N_PIPELINED / daemon->max_batch);
  ck_assert_uint_le (daemon->n_messages[IRIS_WIRE_SUBMIT], N_PIPELINED / 16);
  ck_assert_uint_le (daemon->n_messages[IRIS_WIRE_ACK], N_PIPELINED / (daemon->credits / 4));
  for (guint i = 0; i < N_PIPELINED; i++)
    {
      g_autofree char *text = g_strdup_printf ("%u", i);

      ck_assert_uint_eq (outcomes[i].order, i + 1);
      expect_text (&outcomes[i], text);
    }
  /* And what was left over is acknowledged once nothing else happens. */
  RUN_UNTIL (daemon->n_acknowledged == N_PIPELINED);
  ck_assert_uint_eq (daemon->in_flight, 0);
  end (daemon, &client);
}
END_TEST

START_TEST (a_window_of_one_works)
{
  FakeDaemon *daemon = daemon_listening (1);
  IrisClient *client = iris_client_new (daemon->dir);
  Outcome outcomes[50] = { 0 };

  daemon->credits = 1;
  for (guint i = 0; i < G_N_ELEMENTS (outcomes); i++)
    submit_echo (client, "one", NULL, &outcomes[i]);
  RUN_UNTIL (outcomes[G_N_ELEMENTS (outcomes) - 1].done);
  for (guint i = 0; i < G_N_ELEMENTS (outcomes); i++)
    expect_text (&outcomes[i], "one");
  ck_assert_uint_eq (daemon->most_in_flight, 1);
  end (daemon, &client);
}
END_TEST

START_TEST (bytes_in_flight_are_bounded_too)
{
  FakeDaemon *daemon = daemon_listening (1);
  IrisClient *client = iris_client_new (daemon->dir);
  g_autofree char *text = g_strnfill (300, 'b');
  Outcome outcomes[60] = { 0 };

  daemon->byte_credits = 1000;
  for (guint i = 0; i < G_N_ELEMENTS (outcomes); i++)
    submit_echo (client, text, NULL, &outcomes[i]);
  RUN_UNTIL (outcomes[G_N_ELEMENTS (outcomes) - 1].done);
  for (guint i = 0; i < G_N_ELEMENTS (outcomes); i++)
    expect_text (&outcomes[i], text);
  ck_assert_uint_le (daemon->most_in_flight, 3);
  end (daemon, &client);
}
END_TEST

START_TEST (the_account_of_credits_comes_out_even)
{
  IrisClientCredit credit;

  iris_client_credit_init (&credit, 8, 100);
  ck_assert (iris_client_credit_allows (&credit, 1000)); /* alone, for irisd to refuse */
  iris_client_credit_take (&credit, 60);
  ck_assert (!iris_client_credit_allows (&credit, 41));
  ck_assert (iris_client_credit_allows (&credit, 40));
  iris_client_credit_take (&credit, 40);
  iris_client_credit_refund (&credit, 40);
  ck_assert_uint_eq (credit.used_bytes, 60);
  ck_assert (!iris_client_credit_ack_due (&credit));
  iris_client_credit_end (&credit, 60, 30); /* 30 bytes are over a quarter */
  ck_assert (iris_client_credit_ack_due (&credit));
  ck_assert_uint_eq (credit.used_bytes, 30);
  ck_assert_uint_eq (iris_client_credit_ack (&credit), 1);
  ck_assert_uint_eq (credit.used_bytes, 0);
  ck_assert_uint_eq (credit.used_items, 0);
}
END_TEST

START_TEST (a_failed_item_says_where_it_ran)
{
  FakeDaemon *daemon = daemon_listening (2);
  IrisClient *client = iris_client_new (daemon->dir);
  g_autoptr (IrisRequest) request = iris_request_new ("fail");
  Outcome outcome = { 0 };

  iris_client_submit_async (client, request, NULL, outcome_ready, &outcome);
  RUN_UNTIL (outcome.done);
  ck_assert_int_eq (iris_client_error_get_home (outcome.error), 0);
  ck_assert_int_eq (iris_client_error_get_place (outcome.error), 1);
  ck_assert_str_eq (iris_client_error_get_name (outcome.error), "service-failed");
  expect_error (&outcome, IRIS_CLIENT_ERROR, IRIS_CLIENT_ERROR_SERVICE_FAILED);
  RUN_UNTIL (daemon->n_acknowledged == 1);
  end (daemon, &client);
}
END_TEST

START_TEST (a_refused_item_uses_no_credit)
{
  FakeDaemon *daemon = daemon_listening (1);
  IrisClient *client = iris_client_new (daemon->dir);
  Outcome outcomes[200] = { 0 };
  Outcome last = { 0 };

  daemon->credits = 4;
  for (guint i = 0; i < G_N_ELEMENTS (outcomes); i++)
    {
      g_autoptr (IrisRequest) request = iris_request_new ("unknown");

      iris_client_submit_async (client, request, NULL, outcome_ready, &outcomes[i]);
    }
  submit_echo (client, "good", NULL, &last);
  RUN_UNTIL (last.done);
  for (guint i = 0; i < G_N_ELEMENTS (outcomes); i++)
    expect_error (&outcomes[i], IRIS_CLIENT_ERROR, IRIS_CLIENT_ERROR_UNKNOWN_SERVICE);
  expect_text (&last, "good");
  RUN_UNTIL (daemon->n_acknowledged == 1);
  end (daemon, &client);
}
END_TEST

START_TEST (a_batch_refused_as_a_whole_ends_each_of_its_items)
{
  FakeDaemon *daemon = daemon_listening (1);
  IrisClient *client = iris_client_new (daemon->dir);
  Outcome outcomes[20] = { 0 };
  g_autoptr (GError) error = NULL;

  connect_now (client, &error);
  ck_assert_ptr_null (error);
  daemon->max_batch = 1; /* less than it has told the client */
  for (guint i = 0; i < G_N_ELEMENTS (outcomes); i++)
    submit_echo (client, "x", NULL, &outcomes[i]);
  RUN_UNTIL (outcomes[G_N_ELEMENTS (outcomes) - 1].done);
  for (guint i = 0; i < G_N_ELEMENTS (outcomes); i++)
    expect_error (&outcomes[i], IRIS_CLIENT_ERROR, IRIS_CLIENT_ERROR_TOO_LARGE);
  submit_echo (client, "single", NULL, &outcomes[0]);
  RUN_UNTIL (outcomes[0].done);
  expect_text (&outcomes[0], "single");
  end (daemon, &client);
}
END_TEST

START_TEST (busy_items_are_sent_again_in_order)
{
  FakeDaemon *daemon = daemon_listening (1);
  IrisClient *client = iris_client_new (daemon->dir);
  Outcome outcomes[100] = { 0 };

  daemon->busy = daemon->credits + 6; /* the pauses double */
  for (guint i = 0; i < G_N_ELEMENTS (outcomes); i++)
    submit_echo (client, "busy", NULL, &outcomes[i]);
  RUN_UNTIL (daemon->n_items == G_N_ELEMENTS (outcomes));
  for (guint i = 0; i < G_N_ELEMENTS (outcomes); i++)
    RUN_UNTIL (outcomes[i].done);
  for (guint i = 0; i < G_N_ELEMENTS (outcomes); i++)
    expect_text (&outcomes[i], "busy");
  ck_assert_uint_eq (daemon->busy, 0);
  ck_assert_uint_le (daemon->most_in_flight, daemon->credits);
  end (daemon, &client);
}
END_TEST

/* Returns how often it was tried. */
static guint
give_up_busy (guint timeout_ms)
{
  FakeDaemon *daemon = daemon_listening (1);
  IrisClient *client = iris_client_new (daemon->dir);
  Outcome outcome = { 0 };
  guint n_tries;

  daemon->busy = G_MAXUINT;
  g_object_set (client, "busy-timeout", timeout_ms, NULL);
  submit_echo (client, "x", NULL, &outcome);
  RUN_UNTIL (outcome.done);
  expect_error (&outcome, IRIS_CLIENT_ERROR, IRIS_CLIENT_ERROR_BUSY);
  n_tries = daemon->n_messages[IRIS_WIRE_SUBMIT];
  end (daemon, &client);
  return n_tries;
}

/* It is tried more than once, for which a busy machine may need longer, and not in a frenzy. */
START_TEST (busy_for_too_long_is_an_error)
{
  guint n_tries = 0;

  for (guint timeout_ms = 20; n_tries < 2; timeout_ms *= 2)
    {
      ck_assert_uint_lt (timeout_ms, 20000);
      n_tries = give_up_busy (timeout_ms);
      ck_assert_uint_le (n_tries, timeout_ms + 1);
    }
}
END_TEST

START_TEST (too_large_a_payload_is_not_sent)
{
  FakeDaemon *daemon = daemon_listening (1);
  IrisClient *client = iris_client_new (daemon->dir);
  g_autofree char *text = g_strnfill ((1 << 20) + 1, 'x');
  Outcome outcomes[3] = { 0 };

  submit_echo (client, "before", NULL, &outcomes[0]);
  submit_echo (client, text, NULL, &outcomes[1]);
  submit_echo (client, "after", NULL, &outcomes[2]);
  RUN_UNTIL (outcomes[0].done && outcomes[1].done && outcomes[2].done);
  ck_assert_ptr_nonnull (strstr (outcomes[1].error->message, "max-body"));
  expect_error (&outcomes[1], IRIS_CLIENT_ERROR, IRIS_CLIENT_ERROR_TOO_LARGE);
  expect_text (&outcomes[0], "before");
  expect_text (&outcomes[2], "after");
  ck_assert_uint_eq (daemon->n_items, 2);
  end (daemon, &client);
}
END_TEST

START_TEST (an_item_that_cannot_be_encoded_holds_up_no_other)
{
  FakeDaemon *daemon = daemon_listening (1);
  IrisClient *client = iris_client_new (daemon->dir);
  g_autofree char *long_name = g_strnfill (10000, 's');
  g_autoptr (IrisRequest) request = iris_request_new (long_name);
  Outcome outcomes[3] = { 0 };

  submit_echo (client, "before", NULL, &outcomes[0]);
  iris_client_submit_async (client, request, NULL, outcome_ready, &outcomes[1]);
  submit_echo (client, "after", NULL, &outcomes[2]);
  RUN_UNTIL (outcomes[0].done && outcomes[1].done && outcomes[2].done);
  expect_error (&outcomes[1], IRIS_CLIENT_ERROR, IRIS_CLIENT_ERROR_TOO_LARGE);
  expect_text (&outcomes[0], "before");
  expect_text (&outcomes[2], "after");
  end (daemon, &client);
}
END_TEST

START_TEST (a_hint_goes_to_the_socket_of_its_place)
{
  FakeDaemon *daemon = daemon_listening (3);
  IrisClient *client = iris_client_new (daemon->dir);
  Outcome outcomes[30] = { 0 };

  for (guint i = 0; i < G_N_ELEMENTS (outcomes); i++)
    {
      g_autoptr (IrisRequest) request = iris_request_new ("echo");

      if (i % 3 == 0)
        iris_request_set_place (request, 2);
      else if (i % 3 == 1)
        iris_request_set_place_name (request, "core:1");
      iris_client_submit_async (client, request, NULL, outcome_ready, &outcomes[i]);
    }
  RUN_UNTIL (daemon->n_items == G_N_ELEMENTS (outcomes));
  for (guint i = 0; i < G_N_ELEMENTS (outcomes); i++)
    {
      RUN_UNTIL (outcomes[i].done);
      ck_assert_ptr_null (outcomes[i].error);
      ck_assert_int_eq (outcomes[i].result->home, i % 3 == 0 ? 2 : i % 3 == 1 ? 1 : 0);
      outcome_clear (&outcomes[i]);
    }
  ck_assert_uint_eq (daemon->n_at_place[0], 0);
  ck_assert_uint_eq (daemon->n_at_place[1], 10);
  ck_assert_uint_eq (daemon->n_at_place[2], 10);
  end (daemon, &client);
}
END_TEST

START_TEST (a_place_that_does_not_exist_is_named)
{
  FakeDaemon *daemon = daemon_listening (2);
  IrisClient *client = iris_client_new (daemon->dir);
  g_autoptr (IrisRequest) request = iris_request_new ("echo");
  Outcome outcome = { 0 };

  iris_request_set_place_name (request, "numa:7");
  iris_client_submit_async (client, request, NULL, outcome_ready, &outcome);
  RUN_UNTIL (outcome.done);
  ck_assert_str_eq (outcome.error->message,
                    "there is no place numa:7; irisd has 0 (core:0), 1 (core:1)");
  expect_error (&outcome, IRIS_CLIENT_ERROR, IRIS_CLIENT_ERROR_NO_SUCH_PLACE);
  end (daemon, &client);
}
END_TEST

START_TEST (more_than_max_outstanding_is_refused)
{
  FakeDaemon *daemon = daemon_listening (1);
  IrisClient *client = iris_client_new (daemon->dir);
  Outcome outcomes[4] = { 0 };

  g_object_set (client, "max-outstanding", 3, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (outcomes); i++)
    submit_echo (client, "x", NULL, &outcomes[i]);
  RUN_UNTIL (outcomes[0].done && outcomes[1].done && outcomes[2].done && outcomes[3].done);
  ck_assert_ptr_nonnull (strstr (outcomes[3].error->message, "max-outstanding"));
  expect_error (&outcomes[3], IRIS_CLIENT_ERROR, IRIS_CLIENT_ERROR_QUEUE_FULL);
  for (guint i = 0; i < 3; i++)
    expect_text (&outcomes[i], "x");
  submit_echo (client, "room again", NULL, &outcomes[0]);
  RUN_UNTIL (outcomes[0].done);
  expect_text (&outcomes[0], "room again");
  end (daemon, &client);
}
END_TEST

START_TEST (cancelling_takes_back_what_waits_and_asks_for_what_was_sent)
{
  FakeDaemon *daemon = daemon_listening (1);
  IrisClient *client = iris_client_new (daemon->dir);
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  Outcome outcomes[5] = { 0 };

  daemon->credits = 2;
  daemon->hold = TRUE;
  for (guint i = 0; i < 4; i++)
    submit_echo (client, "x", cancellable, &outcomes[i]);
  RUN_UNTIL (daemon->items.length == 2);
  g_cancellable_cancel (cancellable);
  submit_echo (client, "too late", cancellable, &outcomes[4]);
  for (guint i = 0; i < G_N_ELEMENTS (outcomes); i++)
    {
      RUN_UNTIL (outcomes[i].done);
      expect_error (&outcomes[i], G_IO_ERROR, G_IO_ERROR_CANCELLED);
    }
  ck_assert_uint_eq (daemon->n_messages[IRIS_WIRE_CANCEL], 2);
  ck_assert_uint_eq (daemon->n_items, 2);
  end (daemon, &client);
}
END_TEST

START_TEST (an_item_that_ended_before_it_was_cancelled_gives_its_result)
{
  FakeDaemon *daemon = daemon_listening (1);
  IrisClient *client = iris_client_new (daemon->dir);
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  Outcome outcome = { 0 };

  daemon->hold = TRUE;
  submit_echo (client, "done", cancellable, &outcome);
  RUN_UNTIL (daemon->items.length == 1);
  fake_daemon_release (daemon, 1);
  g_cancellable_cancel (cancellable);
  RUN_UNTIL (outcome.done);
  expect_text (&outcome, "done");
  end (daemon, &client);
}
END_TEST

static gpointer
cancel_in_thread (gpointer cancellable)
{
  g_cancellable_cancel (cancellable);
  return NULL;
}

START_TEST (another_thread_may_cancel)
{
  FakeDaemon *daemon = daemon_listening (1);
  IrisClient *client = iris_client_new (daemon->dir);
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  Outcome outcome = { 0 };
  GThread *thread;

  daemon->hold = TRUE;
  submit_echo (client, "x", cancellable, &outcome);
  RUN_UNTIL (daemon->items.length == 1);
  thread = g_thread_new ("cancel", cancel_in_thread, cancellable);
  RUN_UNTIL (outcome.done);
  g_thread_join (thread);
  expect_error (&outcome, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  end (daemon, &client);
}
END_TEST

typedef struct
{
  gboolean done;
  gboolean found;
  gboolean was_running;
  GError *error;
} Cancelled;

static void
cancel_ready (GObject *source, GAsyncResult *result, gpointer data)
{
  Cancelled *cancelled = data;

  cancelled->found = iris_client_cancel_finish (IRIS_CLIENT (source), result,
                                                &cancelled->was_running, &cancelled->error);
  cancelled->done = TRUE;
}

START_TEST (another_client_may_cancel_by_id)
{
  FakeDaemon *daemon = daemon_listening (1);
  IrisClient *client = iris_client_new (daemon->dir);
  g_autoptr (IrisClient) other = iris_client_new (daemon->dir);
  g_autoptr (IrisRequest) request = iris_request_new ("echo");
  Outcome outcome = { 0 };
  Cancelled cancelled = { 0 };

  daemon->hold = TRUE;
  iris_client_submit_async (client, request, NULL, outcome_ready, &outcome);
  RUN_UNTIL (daemon->items.length == 1);
  iris_client_cancel_async (other, iris_request_get_id (request), NULL, cancel_ready, &cancelled);
  RUN_UNTIL (cancelled.done && outcome.done);
  ck_assert (cancelled.found);
  ck_assert (!cancelled.was_running);
  /* The client did not ask for it, so it is told what happened. */
  expect_error (&outcome, IRIS_CLIENT_ERROR, IRIS_CLIENT_ERROR_CANCELLED);

  cancelled = (Cancelled){ 0 };
  iris_client_cancel_async (other, iris_request_get_id (request), NULL, cancel_ready, &cancelled);
  RUN_UNTIL (cancelled.done);
  ck_assert (g_error_matches (cancelled.error, IRIS_CLIENT_ERROR, IRIS_CLIENT_ERROR_NOT_FOUND));
  g_clear_error (&cancelled.error);

  cancelled = (Cancelled){ 0 };
  iris_client_cancel_async (other, "no id", NULL, cancel_ready, &cancelled);
  RUN_UNTIL (cancelled.done);
  ck_assert (g_error_matches (cancelled.error, IRIS_CLIENT_ERROR, IRIS_CLIENT_ERROR_BAD_ARGUMENT));
  g_clear_error (&cancelled.error);
  g_clear_object (&other);
  end (daemon, &client);
}
END_TEST

typedef struct
{
  IrisClient *client;
  guint left;
} Chain;

static void
chain_ready (GObject *source, GAsyncResult *result, gpointer data)
{
  Chain *chain = data;
  g_autoptr (IrisRequest) request = iris_request_new ("echo");
  g_autoptr (GError) error = NULL;
  g_autoptr (IrisResult) got = iris_client_submit_finish (IRIS_CLIENT (source), result, &error);

  ck_assert_ptr_nonnull (got);
  if (--chain->left > 0)
    iris_client_submit_async (chain->client, request, NULL, chain_ready, chain);
}

START_TEST (a_callback_may_submit_the_next_item)
{
  FakeDaemon *daemon = daemon_listening (1);
  IrisClient *client = iris_client_new (daemon->dir);
  g_autoptr (IrisRequest) request = iris_request_new ("echo");
  Chain chain = { client, 300 };

  iris_client_submit_async (client, request, NULL, chain_ready, &chain);
  RUN_UNTIL (chain.left == 0);
  ck_assert_uint_eq (daemon->n_items, 300);
  end (daemon, &client);
}
END_TEST

START_TEST (a_request_may_be_submitted_twice)
{
  FakeDaemon *daemon = daemon_listening (1);
  IrisClient *client = iris_client_new (daemon->dir);
  g_autoptr (IrisRequest) request = iris_request_new ("echo");
  g_autofree char *first_id = NULL;
  Outcome outcomes[2] = { 0 };

  iris_client_submit_async (client, request, NULL, outcome_ready, &outcomes[0]);
  first_id = g_strdup (iris_request_get_id (request));
  iris_client_submit_async (client, request, NULL, outcome_ready, &outcomes[1]);
  ck_assert_str_ne (first_id, iris_request_get_id (request));
  RUN_UNTIL (outcomes[0].done && outcomes[1].done);
  expect_text (&outcomes[0], "");
  expect_text (&outcomes[1], "");
  ck_assert_uint_eq (daemon->n_items, 2);
  end (daemon, &client);
}
END_TEST

int
main (void)
{
  const TTest *const tests[] = {
    an_item_comes_back_with_its_result,
    many_items_stay_within_the_credits,
    a_window_of_one_works,
    bytes_in_flight_are_bounded_too,
    the_account_of_credits_comes_out_even,
    a_failed_item_says_where_it_ran,
    a_refused_item_uses_no_credit,
    a_batch_refused_as_a_whole_ends_each_of_its_items,
    busy_items_are_sent_again_in_order,
    busy_for_too_long_is_an_error,
    too_large_a_payload_is_not_sent,
    an_item_that_cannot_be_encoded_holds_up_no_other,
    a_hint_goes_to_the_socket_of_its_place,
    a_place_that_does_not_exist_is_named,
    more_than_max_outstanding_is_refused,
    cancelling_takes_back_what_waits_and_asks_for_what_was_sent,
    an_item_that_ended_before_it_was_cancelled_gives_its_result,
    another_thread_may_cancel,
    another_client_may_cancel_by_id,
    a_callback_may_submit_the_next_item,
    a_request_may_be_submitted_twice,
  };

  return run_suite ("client-submit", tests, G_N_ELEMENTS (tests));
}
