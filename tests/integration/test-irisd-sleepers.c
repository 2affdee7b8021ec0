/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Items that wait outside the workers delay no others: commands, items of worker processes, of
 * plug-ins that announce a wait.
 */
#include "irisd-fixture.h"

/* Bytes of a payload that a gateway leaves to a worker. */
#define LARGE (64 * 1024)

static Irisd *irisd;
static Client *client;

static void
set_up (void)
{
  irisd = irisd_start (NULL, ONE_WORKER, NULL);
  client = client_hello (irisd->front);
}

static void
tear_down (void)
{
  g_clear_pointer (&client, client_free);
  irisd_finish (irisd);
}

/* Neither an item that its gateway runs itself nor one for a worker waits behind the @n waiting
 * ones, from their own client or another connection. */
static void
assert_nothing_is_held_up (guint n)
{
  static char large[LARGE];
  g_autoptr (Client) other = client_hello (irisd->front);
  memset (large, 'x', sizeof large);
  client_call (client, IRIS_WIRE_PING, IRIS_WIRE_PONG);
  for (guint i = 0; i < 3; i++)
    {
      client_submit (other, "echo", "x", 1, IRIS_PLACE_ANY, FALSE);
      ck_assert (message_body_is (client_receive_completion (other), "x"));
      client_submit (other, "echo", large, sizeof large, IRIS_PLACE_ANY, FALSE);
      ck_assert_uint_eq (client_receive_type (other, IRIS_WIRE_RESULT)->body.size, sizeof large);
    }
  g_autoptr (IrisWireStatus) status = client_get_status (other);
  ck_assert_uint_eq (status->in_flight, n);
}

/* Items that have not begun are cancelled. */
static void
go (guint n_running)
{
  g_autoptr (Client) other = client_hello (irisd->front);
  IrisWireMessage bye;
  client_init_message (client, &bye, IRIS_WIRE_BYE);
  client_send (client, &bye);
  for (;;)
    {
      g_autoptr (IrisWireStatus) status = client_get_status (other);
      if (status->in_flight == n_running)
        return;
    }
}

TEST (commands_that_wait_hold_up_no_item_of_another_service)
{
  g_autofree char *gate = gate_new (irisd, "gate");
  const char *const argv[] = { "sh", "-c", "echo > \"$0\"; exec cat \"$0\"", gate, NULL };
  const guint n = TIMES (1000);
  for (guint i = 0; i < n; i++)
    client_submit_command (client, NULL, argv);
  close (gate_wait (gate));
  assert_nothing_is_held_up (n);
  g_autoptr (IrisWireStatus) status = client_get_status (client);
  ck_assert_uint_eq (status->places[0].backlog, n);
  go (1);
  gate_open (gate); /* running items go on */
}

TEST (items_of_worker_processes_hold_up_no_others)
{
  const guint n = TIMES (1000), leased = n / 2;
  g_autoptr (Client) worker = client_hello (irisd->front);
  g_autoptr (IrisWireServices) services = iris_wire_services_new (1);
  services->services[0].name = g_strdup ("sleep");
  g_autoptr (GBytes) body = iris_wire_services_encode (services, NULL, NULL);
  gsize size = 0;
  gconstpointer data = g_bytes_get_data (body, &size);
  IrisWireMessage ready;
  client_init_message (worker, &ready, IRIS_WIRE_READY);
  iris_wire_message_set_uint (&ready, IRIS_WIRE_KEY_CAPACITY, leased);
  iris_wire_message_set_body (&ready, data, size);
  client_send (worker, &ready);
  client_receive_type (worker, IRIS_WIRE_ENROLLED);
  for (guint i = 0; i < n; i++)
    client_submit (client, "sleep", "x", 1, IRIS_PLACE_ANY, FALSE);
  for (guint i = 0; i < leased; i++)
    client_receive_type (worker, IRIS_WIRE_LEASE);
  assert_nothing_is_held_up (n);
  go (0);
}

/* More than two for each worker, which is what a gate lets through at least. */
TEST (a_plugin_that_says_that_it_waits_holds_up_nothing)
{
  enum
  {
    N = 8
  };
  char *gates[N];
  for (guint i = 0; i < N; i++)
    {
      g_autofree char *name = g_strdup_printf ("gate-%u", i);
      gates[i] = gate_new (irisd, name);
      client_submit_path (client, "wait", gates[i]);
      close (gate_wait (gates[i]));
    }
  assert_nothing_is_held_up (N);
  for (guint i = 0; i < N; i++)
    gate_open (gates[i]);
  for (guint i = 0; i < N; i++)
    client_receive_type (client, IRIS_WIRE_RESULT);
  for (guint i = 0; i < N; i++)
    g_free (g_steal_pointer (&gates[i]));
}

TEST_MAIN ("irisd-sleepers", set_up, tear_down)
