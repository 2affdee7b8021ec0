/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Items of services without a worker process: before the first one, between two, for ever.
 */
#include "irisd-home.h"

/* The service `configured` is known by its group. Items that are not patient fail at once. */
#define CONFIG "[limits]\nworker-wait-ms = 0\n[service configured]\n"

static Home *home;
static Irisd *irisd;
static Client *client;

static void
begin (void)
{
  irisd = home_start (home, CONFIG);
  client = client_hello (irisd->front);
}

static void
begin_again (gboolean kill)
{
  client_free (client);
  if (kill)
    irisd_kill (irisd);
  else
    irisd_stop (irisd);
  begin ();
}

static void
set_up (void)
{
  home = home_new ();
  begin ();
}

static void
tear_down (void)
{
  client_free (client);
  irisd_stop (irisd);
  home_free (home);
}

static void
enroll (Client *worker, const char *service)
{
  g_autoptr (IrisWireServices) services = iris_wire_services_new (1);
  services->services[0].name = g_strdup (service);
  g_autoptr (GBytes) body = iris_wire_services_encode (services, NULL, NULL);
  gsize size = 0;
  gconstpointer data = g_bytes_get_data (body, &size);
  IrisWireMessage ready;
  client_init_message (worker, &ready, IRIS_WIRE_READY);
  iris_wire_message_set_uint (&ready, IRIS_WIRE_KEY_CAPACITY, 1);
  iris_wire_message_set_body (&ready, data, size);
  client_send (worker, &ready);
  client_receive_type (worker, IRIS_WIRE_ENROLLED);
}

/* Answers a lease with its payload. */
static void
serve_one (Client *worker)
{
  const IrisWireMessage *lease = client_receive_type (worker, IRIS_WIRE_LEASE);
  IrisWireMessage done;
  iris_wire_message_init (&done, IRIS_WIRE_DONE, lease->request_id);
  g_autofree char *body = g_strndup ((const char *) lease->body.data, lease->body.size);
  iris_wire_message_set_body (&done, body, strlen (body));
  client_send (worker, &done);
}

static void
leave (Client **worker)
{
  IrisWireMessage bye;
  client_init_message (*worker, &bye, IRIS_WIRE_BYE);
  client_send (*worker, &bye);
  g_clear_pointer (worker, client_free);
}

static guint64
submit_detached (const char *service, const char *payload, gboolean wait, guint64 deadline_ms)
{
  IrisWireMessage item;
  persistent_fill (client, &item, service, payload, IRIS_WIRE_CLASS_DURABLE);
  iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_DETACH, TRUE);
  if (wait)
    iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_WAIT_FOR_SERVICE, TRUE);
  if (deadline_ms > 0)
    iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_DEADLINE_MS, deadline_ms);
  return persistent_submit (client, &item);
}

static const IrisWireMessage *
send_volatile (const char *service, gboolean wait)
{
  IrisWireMessage item;
  client_init_message (client, &item, IRIS_WIRE_SUBMIT);
  iris_wire_message_set_string (&item, IRIS_WIRE_KEY_SERVICE, service, -1);
  iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_QUIET, TRUE);
  if (wait)
    iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_WAIT_FOR_SERVICE, TRUE);
  client_send (client, &item);
  return client_receive (client);
}

TEST (an_item_comes_before_the_first_worker_if_the_client_asks)
{
  IrisWireMessage item;
  persistent_fill (client, &item, "later", "x", IRIS_WIRE_CLASS_DURABLE);
  client_send (client, &item);
  assert_error (client_receive (client), IRIS_WIRE_ERROR_UNKNOWN_SERVICE);

  guint64 number = submit_detached ("later", "early", TRUE, 0);
  g_autoptr (Client) worker = client_hello (irisd->front);
  enroll (worker, "later");
  serve_one (worker);
  persistent_assert_result (client, number, "early");
}

TEST (an_item_comes_before_the_first_worker_of_a_configured_service)
{
  guint64 number = submit_detached ("configured", "early", FALSE, 0);
  g_autoptr (Client) worker = client_hello (irisd->front);
  enroll (worker, "configured");
  serve_one (worker);
  persistent_assert_result (client, number, "early");
}

TEST (a_persistent_item_outwaits_an_outage_and_a_volatile_one_does_not)
{
  Client *worker = client_hello (irisd->front);
  enroll (worker, "later");
  leave (&worker);
  guint64 number = submit_detached ("later", "kept", TRUE, 0);
  assert_error (send_volatile ("later", TRUE), IRIS_WIRE_ERROR_NO_WORKER);
  assert_error (send_volatile ("configured", FALSE), IRIS_WIRE_ERROR_NO_WORKER);
  /* Only persistent items wait for it; volatile ones are refused. */
  assert_error (send_volatile ("later", FALSE), IRIS_WIRE_ERROR_UNKNOWN_SERVICE);
  ck_assert_uint_eq (persistent_get_state (client, number, 0), IRIS_WIRE_STATE_QUEUED);
  worker = client_hello (irisd->front);
  enroll (worker, "later");
  serve_one (worker);
  persistent_assert_result (client, number, "kept");
  client_free (worker);
}

LOOP_TEST (what_waits_for_a_worker_waits_on_after_a_restart, 0, 2)
{
  guint64 number = submit_detached ("later", "kept", TRUE, 0);
  begin_again (_i == 0);
  /* A clean end has left it in the journal, a crash as well. */
  ck_assert_uint_eq (persistent_get_state (client, number, 0), IRIS_WIRE_STATE_QUEUED);
  g_autoptr (Client) worker = client_hello (irisd->front);
  enroll (worker, "later");
  serve_one (worker);
  persistent_assert_result (client, number, "kept");
}

/* Bytes of payload that would show if they were in memory. */
#define N_LARGE    TIMES (600)
#define LARGE_SIZE (128 * 1024)

TEST (what_waits_for_a_worker_is_not_in_memory)
{
  g_autofree char *large = g_strnfill (LARGE_SIZE, 'x');
  g_autofree guint64 *numbers = g_new (guint64, N_LARGE);
  client_free (client);
  irisd_stop (irisd);
  irisd = home_start (home, CONFIG "[limits]\nmemory-items = 0\nread-ahead-ms = 0\n");
  client = client_hello (irisd->front);
  for (guint i = 0; i < N_LARGE; i++)
    numbers[i] = submit_detached ("later", large, TRUE, 0);
  persistent_assert_not_in_memory (irisd_get_rss_kib (irisd), N_LARGE, LARGE_SIZE);
  g_autoptr (Client) worker = client_hello (irisd->front);
  enroll (worker, "later");
  for (guint i = 0; i < N_LARGE; i++)
    serve_one (worker);
  for (guint i = 0; i < N_LARGE; i++)
    ck_assert_uint_eq (persistent_get_state (client, numbers[i], GIVE_UP_MS), IRIS_WIRE_STATE_DONE);
}

TEST (an_item_that_has_not_begun_by_its_deadline_fails)
{
  guint64 number = submit_detached ("later", "kept", TRUE, 1);
  assert_error (persistent_fetch (client, number, GIVE_UP_MS), IRIS_WIRE_ERROR_DEADLINE_PASSED);

  /* It counts from when the item was accepted, not from when irisd was started. */
  number = submit_detached ("later", "kept", TRUE, 20);
  begin_again (TRUE);
  assert_error (persistent_fetch (client, number, GIVE_UP_MS), IRIS_WIRE_ERROR_DEADLINE_PASSED);
}

/* Its deadline comes long before its time, and so is what it waits for. */
TEST (a_deadline_ends_a_persistent_item_that_is_delayed)
{
  IrisWireMessage item;
  persistent_fill (client, &item, "echo", "late", IRIS_WIRE_CLASS_DURABLE);
  iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_DETACH, TRUE);
  iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_DELAY_MS, 3600000);
  iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_DEADLINE_MS, 20);
  guint64 number = persistent_submit (client, &item);
  assert_error (persistent_fetch (client, number, GIVE_UP_MS), IRIS_WIRE_ERROR_DEADLINE_PASSED);
}

TEST (a_deadline_ends_whatever_an_item_waits_for)
{
  IrisWireMessage item;
  g_autofree char *gate = gate_new (irisd, "gate");
  g_autoptr (Client) other = client_hello (irisd->front);
  const char *const hold[] = { "sh", "-c", "echo > \"$0\"; exec cat \"$0\"", gate, NULL };
  client_init_message (client, &item, IRIS_WIRE_SUBMIT);
  iris_wire_message_set_string (&item, IRIS_WIRE_KEY_SERVICE, "command", -1);
  iris_wire_message_set_args (&item, hold);
  iris_wire_message_set_int (&item, IRIS_WIRE_KEY_HINT, 0);
  iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_STRICT, TRUE);
  client_send (client, &item);
  guint64 running = client_receive_type (client, IRIS_WIRE_ACCEPTED)->item;
  close (gate_wait (gate));

  /* A slot, a time, another item. */
  const char *const nothing[] = { "true", NULL };
  for (guint i = 0; i < 3; i++)
    {
      client_init_message (other, &item, IRIS_WIRE_SUBMIT);
      iris_wire_message_set_string (&item, IRIS_WIRE_KEY_SERVICE, i == 0 ? "command" : "echo", -1);
      iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_QUIET, TRUE);
      iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_DEADLINE_MS, 1);
      if (i == 0)
        {
          iris_wire_message_set_args (&item, nothing);
          iris_wire_message_set_int (&item, IRIS_WIRE_KEY_HINT, 0);
          iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_STRICT, TRUE);
        }
      else if (i == 1)
        iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_DELAY_MS, 1000000);
      else
        iris_wire_message_set_numbers (&item, IRIS_WIRE_KEY_AFTER, &running, 1);
      client_send (other, &item);
      assert_error (client_receive_completion (other), IRIS_WIRE_ERROR_DEADLINE_PASSED);
    }
  gate_open (gate);
  client_receive_type (client, IRIS_WIRE_RESULT);

  client_init_message (client, &item, IRIS_WIRE_SUBMIT);
  iris_wire_message_set_string (&item, IRIS_WIRE_KEY_SERVICE, "echo", -1);
  iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_DEADLINE_MS, 0);
  client_send (client, &item);
  assert_error (client_receive (client), IRIS_WIRE_ERROR_BAD_ARGUMENT);
}

TEST_MAIN ("irisd-outage", set_up, tear_down)
