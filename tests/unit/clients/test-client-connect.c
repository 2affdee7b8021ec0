/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * How a client finds irisd, loses it, and finds it again.
 */
#include "client-fake-daemon.h"

#include "clients/iris-client/iris-client-private.h"

#include <string.h>

static void
ck_assert_client_error (const GError *error, int code)
{
  ck_assert_ptr_nonnull (error);
  ck_assert_msg (g_error_matches (error, IRIS_CLIENT_ERROR, code),
                 "expected code %d, got %s %d: %s", code, g_quark_to_string (error->domain),
                 error->code, error->message);
}

START_TEST (connecting_tells_the_places)
{
  FakeDaemon *daemon = fake_daemon_new (2);
  g_autoptr (IrisClient) client = iris_client_new (daemon->dir);
  g_autoptr (GPtrArray) places = NULL;
  g_autoptr (GError) error = NULL;

  fake_daemon_open (daemon);
  ck_assert_ptr_null (iris_client_get_places (client));
  connect_now (client, &error);
  ck_assert_ptr_null (error);
  ck_assert (iris_client_is_connected (client));
  places = iris_client_get_places (client);
  ck_assert_uint_eq (places->len, 2);
  ck_assert_str_eq (((IrisClientPlace *) g_ptr_array_index (places, 1))->name, "core:1");
  g_clear_object (&client);
  RUN_UNTIL (daemon->n_messages[IRIS_WIRE_BYE] == 1);
  fake_daemon_free (daemon);
}
END_TEST

START_TEST (a_dead_endpoint_fails_with_advice)
{
  FakeDaemon *daemon = fake_daemon_new (1);
  g_autoptr (IrisClient) client = iris_client_new (daemon->dir);
  g_autoptr (GError) error = NULL;

  connect_now (client, &error);
  ck_assert_client_error (error, IRIS_CLIENT_ERROR_NOT_CONNECTED);
  ck_assert_ptr_nonnull (strstr (error->message, "start one with `irisd --dir "));
  ck_assert_ptr_nonnull (strstr (error->message, daemon->dir));
  ck_assert (!iris_client_is_connected (client));
  fake_daemon_free (daemon);
}
END_TEST

START_TEST (an_impossible_endpoint_fails_too)
{
  g_autoptr (IrisClient) client = iris_client_new ("nowhere://at-all");
  g_autoptr (GError) error = NULL;

  connect_now (client, &error);
  ck_assert_client_error (error, IRIS_CLIENT_ERROR_NOT_CONNECTED);
  ck_assert_ptr_nonnull (strstr (error->message, "ipc://PATH"));
}
END_TEST

START_TEST (waiting_for_a_daemon_ends_at_the_timeout)
{
  FakeDaemon *daemon = fake_daemon_new (1);
  g_autoptr (IrisClient) client = iris_client_new (daemon->dir);
  g_autoptr (GError) error = NULL;
  gint64 begin = g_get_monotonic_time ();

  g_object_set (client, "wait-for-daemon", TRUE, "connect-timeout", 700, NULL);
  connect_now (client, &error);
  ck_assert_client_error (error, IRIS_CLIENT_ERROR_NOT_CONNECTED);
  ck_assert_int_ge (g_get_monotonic_time () - begin, 700 * G_TIME_SPAN_MILLISECOND);
  fake_daemon_free (daemon);
}
END_TEST

START_TEST (a_daemon_that_starts_late_is_found)
{
  FakeDaemon *daemon = fake_daemon_new (1);
  g_autoptr (IrisClient) client = iris_client_new (daemon->dir);
  Outcome outcome = { 0 };
  guint turns = 0;

  g_object_set (client, "wait-for-daemon", TRUE, "connect-timeout", 60000, NULL);
  submit_echo (client, "early", NULL, &outcome);
  /* Each refusal of the connection is a turn of the loop. */
  RUN_UNTIL (++turns == 8);
  ck_assert (!outcome.done);
  fake_daemon_open (daemon);
  RUN_UNTIL (outcome.done);
  ck_assert_ptr_null (outcome.error);
  outcome_clear (&outcome);
  g_clear_object (&client);
  fake_daemon_free (daemon);
}
END_TEST

/* Returns whether the client could send HELLO in that time. */
static gboolean
silence_is_told (guint timeout_ms)
{
  FakeDaemon *daemon = fake_daemon_new (1);
  g_autoptr (IrisClient) client = iris_client_new (daemon->dir);
  g_autoptr (GError) error = NULL;

  daemon->mute = TRUE;
  fake_daemon_open (daemon);
  g_object_set (client, "connect-timeout", timeout_ms, NULL);
  connect_now (client, &error);
  fake_daemon_free (daemon);
  if (g_error_matches (error, IRIS_CLIENT_ERROR, IRIS_CLIENT_ERROR_NOT_CONNECTED))
    return FALSE;
  ck_assert_client_error (error, IRIS_CLIENT_ERROR_TIMED_OUT);
  return TRUE;
}

/* A busy machine may take longer to connect; then it has twice the time. */
START_TEST (a_silent_listener_times_out)
{
  for (guint timeout_ms = 100; !silence_is_told (timeout_ms); timeout_ms *= 2)
    ck_assert_uint_lt (timeout_ms, 20000);
}
END_TEST

START_TEST (a_refused_hello_gives_its_reason)
{
  FakeDaemon *daemon = fake_daemon_new (1);
  g_autoptr (IrisClient) client = iris_client_new (daemon->dir);
  g_autoptr (GError) error = NULL;

  daemon->refuse_hello = IRIS_WIRE_ERROR_VERSION;
  fake_daemon_open (daemon);
  connect_now (client, &error);
  ck_assert_client_error (error, IRIS_CLIENT_ERROR_VERSION);
  ck_assert_str_eq (iris_client_error_get_name (error), "version");
  fake_daemon_free (daemon);
}
END_TEST

START_TEST (nonsense_from_the_other_side_is_an_error)
{
  FakeDaemon *daemon = fake_daemon_new (1);
  g_autoptr (IrisClient) client = iris_client_new (daemon->dir);
  g_autoptr (GError) error = NULL;

  daemon->nonsense = TRUE;
  fake_daemon_open (daemon);
  connect_now (client, &error);
  ck_assert_client_error (error, IRIS_CLIENT_ERROR_PROTOCOL);
  fake_daemon_free (daemon);
}
END_TEST

START_TEST (a_lost_daemon_fails_what_was_sent_and_what_was_not)
{
  FakeDaemon *daemon = fake_daemon_new (1);
  g_autoptr (IrisClient) client = iris_client_new (daemon->dir);
  Outcome outcomes[6] = { 0 };

  daemon->credits = 4;
  daemon->hold = TRUE;
  fake_daemon_open (daemon);
  for (guint i = 0; i < G_N_ELEMENTS (outcomes); i++)
    submit_echo (client, "x", NULL, &outcomes[i]);
  RUN_UNTIL (daemon->items.length == 4);
  fake_daemon_vanish (daemon);
  RUN_UNTIL (outcomes[5].done);
  for (guint i = 0; i < 4; i++)
    {
      ck_assert_client_error (outcomes[i].error, IRIS_CLIENT_ERROR_DISCONNECTED);
      ck_assert_ptr_nonnull (strstr (outcomes[i].error->message, "may or may not have run"));
    }
  for (guint i = 4; i < 6; i++)
    ck_assert_client_error (outcomes[i].error, IRIS_CLIENT_ERROR_NOT_CONNECTED);
  ck_assert (!iris_client_is_connected (client));
  for (guint i = 0; i < G_N_ELEMENTS (outcomes); i++)
    outcome_clear (&outcomes[i]);

  /* The next call finds the next daemon. */
  daemon->hold = FALSE;
  fake_daemon_open (daemon);
  submit_echo (client, "again", NULL, &outcomes[0]);
  RUN_UNTIL (outcomes[0].done);
  ck_assert_ptr_null (outcomes[0].error);
  ck_assert_uint_eq (daemon->n_messages[IRIS_WIRE_HELLO], 2);
  outcome_clear (&outcomes[0]);
  g_clear_object (&client);
  fake_daemon_free (daemon);
}
END_TEST

START_TEST (results_sent_before_the_daemon_left_still_arrive)
{
  FakeDaemon *daemon = fake_daemon_new (2);
  g_autoptr (IrisClient) client = iris_client_new (daemon->dir);
  Outcome outcomes[40] = { 0 };
  guint n_done = 0;

  daemon->hold = TRUE;
  fake_daemon_open (daemon);
  for (guint i = 0; i < G_N_ELEMENTS (outcomes); i++)
    {
      g_autoptr (IrisRequest) request = iris_request_new ("echo");

      /* Some through the front door, some through a place's. */
      iris_request_set_place (request, i % 2 == 0 ? -1 : 1);
      iris_client_submit_async (client, request, NULL, outcome_ready, &outcomes[i]);
    }
  RUN_UNTIL (daemon->items.length == G_N_ELEMENTS (outcomes));
  fake_daemon_release (daemon, G_N_ELEMENTS (outcomes));
  fake_daemon_leave (daemon);
  while (n_done < G_N_ELEMENTS (outcomes))
    {
      g_main_context_iteration (NULL, TRUE);
      n_done = 0;
      for (guint i = 0; i < G_N_ELEMENTS (outcomes); i++)
        n_done += outcomes[i].done;
    }
  for (guint i = 0; i < G_N_ELEMENTS (outcomes); i++)
    {
      ck_assert_ptr_null (outcomes[i].error);
      outcome_clear (&outcomes[i]);
    }
  g_clear_object (&client);
  fake_daemon_free (daemon);
}
END_TEST

/* Returns how many PINGs the daemon got before it was given up. */
static guint
give_up_wedged (guint timeout_ms)
{
  FakeDaemon *daemon = fake_daemon_new (1);
  g_autoptr (IrisClient) client = iris_client_new (daemon->dir);
  g_autoptr (GError) error = NULL;
  Outcome outcome = { 0 };

  fake_daemon_open (daemon);
  g_object_set (client, "ping-interval", 20, "ping-timeout", 60000, NULL);
  connect_now (client, &error);
  ck_assert_ptr_null (error);
  g_object_set (client, "ping-timeout", timeout_ms, NULL);
  daemon->mute = TRUE;
  guint n_pings = daemon->n_messages[IRIS_WIRE_PING];
  submit_echo (client, "x", NULL, &outcome);
  RUN_UNTIL (outcome.done);
  ck_assert_client_error (outcome.error, IRIS_CLIENT_ERROR_TIMED_OUT);
  n_pings = daemon->n_messages[IRIS_WIRE_PING] - n_pings;
  outcome_clear (&outcome);
  g_clear_object (&client);
  fake_daemon_free (daemon);
  return n_pings;
}

/* A PING that a busy machine delivers too late is not counted; then it has twice the time. */
START_TEST (a_wedged_daemon_is_given_up)
{
  guint n_pings = 0;

  for (guint timeout_ms = 50; n_pings == 0; timeout_ms *= 2)
    {
      ck_assert_uint_lt (timeout_ms, 20000);
      n_pings = give_up_wedged (timeout_ms);
    }
  ck_assert_uint_eq (n_pings, 1);
}
END_TEST

START_TEST (a_slow_item_is_waited_for_while_irisd_answers)
{
  FakeDaemon *daemon = fake_daemon_new (1);
  g_autoptr (IrisClient) client = iris_client_new (daemon->dir);
  Outcome outcome = { 0 };

  daemon->hold = TRUE;
  fake_daemon_open (daemon);
  g_object_set (client, "ping-interval", 1, "ping-timeout", 60000, NULL);
  submit_echo (client, "slow", NULL, &outcome);
  RUN_UNTIL (g_queue_get_length (&daemon->items) == 1);
  RUN_UNTIL (daemon->n_messages[IRIS_WIRE_PING] >= 5);
  ck_assert (!outcome.done);
  fake_daemon_release (daemon, 1);
  RUN_UNTIL (outcome.done);
  ck_assert_ptr_null (outcome.error);
  outcome_clear (&outcome);
  g_clear_object (&client);
  fake_daemon_free (daemon);
}
END_TEST

/* Runs the main loop until it has left an answer to PING unread. */
static void
run_until_pong (FakeDaemon *daemon, IrisClient *client)
{
  gboolean unread = FALSE;
  while (!unread)
    {
      guint n_pings = daemon->n_messages[IRIS_WIRE_PING];
      RUN_UNTIL (daemon->n_messages[IRIS_WIRE_PING] > n_pings);
      /* The same turn may have read it already; then none comes while the loop rests. */
      gint64 until = g_get_monotonic_time () + 100 * G_TIME_SPAN_MILLISECOND;
      while (!(unread = iris_client_link_has_input (client->front->link))
             && g_get_monotonic_time () < until)
        g_thread_yield ();
    }
}

START_TEST (a_held_up_main_loop_does_not_condemn_irisd)
{
  FakeDaemon *daemon = fake_daemon_new (1);
  g_autoptr (IrisClient) client = iris_client_new (daemon->dir);
  Outcome outcome = { 0 };

  daemon->hold = TRUE;
  fake_daemon_open (daemon);
  g_object_set (client, "ping-interval", 1, "ping-timeout", 2000, NULL);
  submit_echo (client, "x", NULL, &outcome);
  RUN_UNTIL (g_queue_get_length (&daemon->items) == 1);
  run_until_pong (daemon, client);
  /* The program is busy with something else until long after the answer should have been read. */
  while (g_get_monotonic_time () <= client->front->pong_by)
    g_thread_yield ();
  fake_daemon_release (daemon, 1);
  RUN_UNTIL (outcome.done);
  ck_assert_ptr_null (outcome.error);
  outcome_clear (&outcome);
  g_clear_object (&client);
  fake_daemon_free (daemon);
}
END_TEST

static void
drop_the_client (GObject *source, GAsyncResult *result, gpointer data)
{
  g_clear_object ((IrisClient **) data);
}

START_TEST (a_client_may_be_dropped_from_a_callback)
{
  FakeDaemon *daemon = fake_daemon_new (1);
  IrisClient *client = iris_client_new (daemon->dir);
  g_autoptr (IrisRequest) request = iris_request_new ("echo");

  fake_daemon_open (daemon);
  iris_client_submit_async (client, request, NULL, drop_the_client, &client);
  RUN_UNTIL (client == NULL && daemon->n_messages[IRIS_WIRE_BYE] == 1);
  ck_assert_uint_eq (daemon->n_items, 1);
  fake_daemon_free (daemon);
}
END_TEST

START_TEST (a_client_may_be_dropped_while_items_are_under_way)
{
  FakeDaemon *daemon = fake_daemon_new (1);
  IrisClient *client = iris_client_new (daemon->dir);
  Outcome outcomes[3] = { 0 };

  fake_daemon_open (daemon);
  for (guint i = 0; i < G_N_ELEMENTS (outcomes); i++)
    submit_echo (client, "x", NULL, &outcomes[i]);
  g_object_unref (client);
  RUN_UNTIL (outcomes[2].done && daemon->n_messages[IRIS_WIRE_BYE] == 1);
  for (guint i = 0; i < G_N_ELEMENTS (outcomes); i++)
    {
      ck_assert_ptr_null (outcomes[i].error);
      outcome_clear (&outcomes[i]);
    }
  fake_daemon_free (daemon);
}
END_TEST

static void
services_ready (GObject *source, GAsyncResult *result, gpointer data)
{
  *(GPtrArray **) data = iris_client_get_services_finish (IRIS_CLIENT (source), result, NULL);
}

static void
status_ready (GObject *source, GAsyncResult *result, gpointer data)
{
  *(IrisClientStatus **) data = iris_client_get_status_finish (IRIS_CLIENT (source), result, NULL);
}

START_TEST (services_and_status_are_told)
{
  FakeDaemon *daemon = fake_daemon_new (1);
  g_autoptr (IrisClient) client = iris_client_new (daemon->dir);
  g_autoptr (GPtrArray) services = NULL;
  g_autoptr (IrisClientStatus) status = NULL;
  IrisClientPlaceStatus *place;

  fake_daemon_open (daemon);
  iris_client_get_services_async (client, NULL, services_ready, &services);
  iris_client_get_status_async (client, NULL, status_ready, &status);
  RUN_UNTIL (services != NULL && status != NULL);
  ck_assert_uint_eq (services->len, 1);
  ck_assert_str_eq (((IrisClientService *) g_ptr_array_index (services, 0))->name, "echo");
  ck_assert_str_eq (status->version, "0.1.0");
  ck_assert_uint_eq (status->places->len, 1);
  place = g_ptr_array_index (status->places, 0);
  ck_assert_str_eq (place->name, "core:0");
  g_clear_object (&client);
  fake_daemon_free (daemon);
}
END_TEST

int
main (void)
{
  const TTest *const tests[] = {
    connecting_tells_the_places,
    a_dead_endpoint_fails_with_advice,
    an_impossible_endpoint_fails_too,
    waiting_for_a_daemon_ends_at_the_timeout,
    a_daemon_that_starts_late_is_found,
    a_silent_listener_times_out,
    a_refused_hello_gives_its_reason,
    nonsense_from_the_other_side_is_an_error,
    a_lost_daemon_fails_what_was_sent_and_what_was_not,
    results_sent_before_the_daemon_left_still_arrive,
    a_wedged_daemon_is_given_up,
    a_slow_item_is_waited_for_while_irisd_answers,
    a_held_up_main_loop_does_not_condemn_irisd,
    a_client_may_be_dropped_from_a_callback,
    a_client_may_be_dropped_while_items_are_under_way,
    services_and_status_are_told,
  };

  return run_suite ("client-connect", tests, G_N_ELEMENTS (tests));
}
