/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Spilled items that wait for their turn: only their position stays in memory, and clients see no
 * difference.
 *
 * The one worker is held while items come, so all of them wait; then they run one by one. The tests
 * of persistent items run a second time with the same limits as here.
 */
#include "irisd-home.h"

#include <signal.h>
#include <unistd.h>

/* As few jobs as possible in memory, and as few as possible through the gate at once. */
#define SPILLED                                                    \
  "[limits]\nmemory-items = 0\nread-ahead-ms = 0\nwindow-us = 0\n" \
  "aging-ms = 3600000\n"

/* The window: one runs and one follows. */
#define THROUGH 2

/* irisd's exit status after a request to end at once. */
#define STOPPED 4

/* A window is of 64 jobs. */
#define N_EACH 150

#define N_MANY  TIMES (1000)
#define N_KILLS 3

/* Bytes of payload that would show if they were in memory. */
#define N_LARGE    600
#define LARGE_SIZE (128 * 1024)

static Home *home;
static Irisd *irisd;
static Client *client;
static char *gate;
static guint64 holder; /* the item that holds the worker */

static void
begin (const char *config)
{
  const char *const options[] = { ONE_WORKER, home->option, "--tcp=127.0.0.1:0", NULL };
  irisd = irisd_start_in (home->dir, config, options);
  client = client_hello (irisd->front);
}

static void
fill (Client *from, IrisWireMessage *item, const char *service, const char *payload, guint klass)
{
  persistent_fill (from, item, service, payload, klass);
  iris_wire_message_set_boolean (item, IRIS_WIRE_KEY_DETACH, TRUE);
}

static void
occupy (void)
{
  gate = gate_new (irisd, "gate");
  holder = persistent_submit_occupier (client, gate, 0);
}

static void
set_up (void)
{
  home = home_new ();
  begin (SPILLED);
}

static void
tear_down (void)
{
  client_free (client);
  irisd_stop (irisd);
  home_free (home);
  g_clear_pointer (&gate, g_free);
}

static guint64 *
submit_some (Client *from, const char *service, guint n, guint priority)
{
  guint64 *numbers = g_new (guint64, n);
  for (guint i = 0; i < n; i++)
    {
      IrisWireMessage item;
      fill (from, &item, service, "", IRIS_WIRE_CLASS_RELAXED);
      if (strcmp (service, "hold") == 0)
        iris_wire_message_set_string (&item, IRIS_WIRE_KEY_PATH, gate, -1);
      iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_PRIORITY, priority);
      numbers[i] = persistent_submit (from, &item);
    }
  return numbers;
}

/* Items that hold the worker as well. */
static guint64 *
submit_holds (Client *from, guint n, guint priority)
{
  return submit_some (from, "hold", n, priority);
}

static void
expect_done (guint64 number)
{
  ck_assert_uint_eq (persistent_get_state (client, number, GIVE_UP_MS), IRIS_WIRE_STATE_DONE);
}

/* Runs one after the other, and asserts their order; of those through the gate at once any may be
 * first. A completion means that its gateway has started the reloads that fill its flow's window; a
 * later answer of the journal, that they were read. */
static void
pass_in_order (const GArray *numbers)
{
  for (guint i = 0; i < numbers->len; i++)
    {
      gate_pass (gate);
      if (i >= THROUGH - 1)
        expect_done (g_array_index (numbers, guint64, i - (THROUGH - 1)));
      ck_assert_uint_eq (persistent_get_state (client, holder, 0), IRIS_WIRE_STATE_DONE);
    }
}

static void
pass_all (guint n)
{
  for (guint i = 0; i < n; i++)
    gate_pass (gate);
}

static guint
kick (guint64 item)
{
  persistent_ask (client, IRIS_WIRE_KICK, item);
  return (guint) client_receive_type (client, IRIS_WIRE_CHANGED)->count;
}

TEST (they_run_in_the_order_in_which_they_came_the_higher_priority_first)
{
  occupy ();
  g_autofree guint64 *low = submit_holds (client, N_EACH, 0);
  g_autofree guint64 *high = submit_holds (client, N_EACH, 9);
  gate_open (gate);
  expect_done (holder);
  /* Of those of low priority, some were let through before the others came; they are first. */
  g_autoptr (GArray) order = g_array_new (FALSE, FALSE, sizeof (guint64));
  g_array_append_vals (order, low, THROUGH - 1);
  g_array_append_vals (order, high, N_EACH);
  g_array_append_vals (order, &low[THROUGH - 1], N_EACH - (THROUGH - 1));
  pass_in_order (order);
  for (guint i = 0; i < order->len; i++)
    expect_done (g_array_index (order, guint64, i));
  ck_assert_uint_eq (persistent_count (client), 2 * N_EACH + 1);
}

/* Over TCP each connection is a client. */
TEST (a_client_with_few_items_does_not_wait_for_one_with_many)
{
  client_free (client);
  irisd_stop (irisd);
  begin (SPILLED "[irisd]\ntcp-trusted = true\n");
  occupy ();
  g_autoptr (Client) other = client_hello (irisd->tcp);
  g_autofree guint64 *many = submit_holds (client, N_EACH, 5);
  g_autofree guint64 *few = submit_some (other, "echo", 1, 5);
  gate_open (gate);
  pass_all (THROUGH + 2);
  expect_done (few[0]);
  ck_assert_uint_eq (persistent_get_state (client, many[N_EACH / 2], 0), IRIS_WIRE_STATE_QUEUED);
  pass_all (N_EACH - THROUGH - 2);
  for (guint i = 0; i < N_EACH; i++)
    expect_done (many[i]);
}

TEST (others_find_them_by_their_number)
{
  occupy ();
  g_autofree guint64 *numbers = submit_holds (client, N_EACH, 5);
  guint64 cancelled = numbers[N_EACH - 1], buried = numbers[N_EACH - 2];
  guint64 kicked = numbers[N_EACH - 3], again = numbers[N_EACH - 4];
  g_autoptr (IrisWireStatus) status = client_get_status (client);
  ck_assert_uint_eq (status->places[0].backlog, N_EACH + 1);
  ck_assert_uint_eq (persistent_get_state (client, cancelled, 0), IRIS_WIRE_STATE_QUEUED);
  persistent_ask (client, IRIS_WIRE_CANCEL, cancelled);
  ck_assert_uint_eq (client_receive_type (client, IRIS_WIRE_CANCELLING)->state,
                     IRIS_WIRE_STATE_QUEUED);
  assert_error (persistent_fetch (client, cancelled, GIVE_UP_MS), IRIS_WIRE_ERROR_CANCELLED);
  for (guint i = 0; i < 2; i++)
    {
      persistent_ask (client, IRIS_WIRE_BURY, i == 0 ? buried : again);
      ck_assert_uint_eq (client_receive_type (client, IRIS_WIRE_CHANGED)->count, 1);
    }
  ck_assert_uint_eq (persistent_get_state (client, buried, 0), IRIS_WIRE_STATE_BURIED);
  ck_assert_uint_eq (kick (again), 1);
  /* It waits for no time. */
  ck_assert_uint_eq (kick (kicked), 0);
  ck_assert_uint_eq (persistent_count (client), N_EACH + 1);
  gate_open (gate);
  pass_all (N_EACH - 2);
  for (guint i = 0; i < N_EACH; i++)
    if (numbers[i] != cancelled && numbers[i] != buried)
      expect_done (numbers[i]);
  ck_assert_uint_eq (persistent_get_state (client, buried, 0), IRIS_WIRE_STATE_BURIED);
}

TEST (a_guest_cancels_only_its_own)
{
  occupy ();
  g_autoptr (Client) guest = client_hello (irisd->tcp);
  g_autofree guint64 *numbers = submit_some (client, "echo", N_EACH, 5);
  persistent_ask (guest, IRIS_WIRE_CANCEL, numbers[N_EACH - 1]);
  assert_error (client_receive (guest), IRIS_WIRE_ERROR_NOT_FOUND);
  persistent_ask (client, IRIS_WIRE_CANCEL, numbers[N_EACH - 1]);
  client_receive_type (client, IRIS_WIRE_CANCELLING);
  gate_open (gate);
  expect_done (numbers[N_EACH - 2]);
}

static void
submit_large (void)
{
  g_autofree char *payload = g_strnfill (LARGE_SIZE, 'x');
  for (guint i = 0; i < N_LARGE; i++)
    {
      IrisWireMessage item;
      /* On the disk before the next one comes. */
      fill (client, &item, "sha256", payload, IRIS_WIRE_CLASS_DURABLE);
      persistent_submit (client, &item);
    }
}

TEST (their_payloads_are_not_in_memory)
{
  occupy ();
  submit_large ();
  guint64 first = irisd_get_rss_kib (irisd);
  client_free (client);
  irisd_kill (irisd);
  begin (SPILLED);
  close (gate_wait (gate));
  guint64 second = irisd_get_rss_kib (irisd);
  g_autoptr (IrisWireStatus) status = client_get_status (client);
  ck_assert_uint_eq (status->in_flight, N_LARGE + 1);
  gate_open (gate);
  expect_done (holder);
  for (guint i = 1; i <= N_LARGE; i++)
    expect_done (holder + i);
  persistent_assert_not_in_memory (first, N_LARGE, LARGE_SIZE);
  persistent_assert_not_in_memory (second, N_LARGE, LARGE_SIZE);
}

/* Sends many at once, of all priorities, and notes their numbers as they are accepted; their
 * payload is their index. */
static void
submit_many (guint64 *numbers, guint n, guint klass, guint64 delay_ms)
{
  guint64 first_id = client->next_id + 1;
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *text = g_strdup_printf ("%u", i);
      IrisWireMessage item;
      fill (client, &item, "echo", text, klass);
      iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_PRIORITY, i % 3);
      if (delay_ms > 0)
        iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_DELAY_MS, delay_ms);
      client_send (client, &item);
    }
  persistent_take_numbers (client, first_id, numbers, n);
}

/* Some become due, and then wait for their turn. */
LOOP_TEST (all_of_many_end_once, 0, 3)
{
  static const char *const configs[] = { SPILLED, SPILLED "[service echo]\nconcurrency = 1\n",
                                         "[limits]\nmemory-items = 100\nread-ahead-ms = 0\n" };
  client_free (client);
  irisd_stop (irisd);
  begin (configs[_i]);
  g_autofree guint64 *numbers = g_new0 (guint64, 2 * N_MANY);
  occupy ();
  submit_many (numbers, N_MANY, IRIS_WIRE_CLASS_RELAXED, 0);
  submit_many (&numbers[N_MANY], N_MANY, IRIS_WIRE_CLASS_DURABLE, 20);
  gate_open (gate);
  expect_done (holder);
  persistent_assert_indices (client, numbers, N_MANY);
  persistent_assert_indices (client, &numbers[N_MANY], N_MANY);
  ck_assert_uint_eq (persistent_count (client), 1);
  g_autoptr (IrisWireStatus) status = client_get_status (client);
  ck_assert_uint_eq (status->in_flight, 0);
  ck_assert_uint_eq (status->ended, status->accepted);
  ck_assert_uint_eq (status->failed, 0);
}

/* Ends irisd at once, with any items in progress. */
static void
stop_at_once (gboolean held)
{
  irisd_signal (irisd, SIGTERM);
  irisd_signal (irisd, SIGINT);
  int status = irisd_wait (irisd);
  ck_assert (status == STOPPED || (!held && status == 0));
  irisd_release (irisd);
}

/* Killed, or asked to end at once, at first with the worker held. The item that held it runs
 * again. */
LOOP_TEST (an_end_of_irisd_while_they_wait_and_run_loses_none, 0, 2)
{
  g_autofree guint64 *numbers = g_new0 (guint64, N_MANY);
  occupy ();
  submit_many (numbers, N_MANY, IRIS_WIRE_CLASS_DURABLE, 0);
  for (guint i = 0; i < N_KILLS; i++)
    {
      if (i == 1)
        gate_open (gate);
      if (i > 0)
        ck_assert_uint_ge (
            persistent_get_state (client, numbers[i * (N_MANY / N_KILLS)], GIVE_UP_MS),
            IRIS_WIRE_STATE_DONE);
      client_free (client);
      if (_i == 0)
        irisd_kill (irisd);
      else
        stop_at_once (i == 0);
      begin (SPILLED);
      if (i == 0)
        close (gate_wait (gate));
    }
  persistent_assert_indices (client, numbers, N_MANY);
}

/* They stay in the journal for the next one. */
TEST (an_irisd_that_ends_runs_none_that_waits_for_its_turn)
{
  g_autofree guint64 *numbers = g_new0 (guint64, N_MANY);
  occupy ();
  submit_many (numbers, N_MANY, IRIS_WIRE_CLASS_DURABLE, 0);
  irisd_signal (irisd, SIGTERM);
  for (gboolean draining = FALSE; !draining;)
    {
      g_autoptr (IrisWireStatus) now = client_get_status (client);
      draining = now->draining;
    }
  gate_open (gate);
  client_free (client);
  ck_assert_int_eq (irisd_wait (irisd), 0);
  irisd_release (irisd);
  begin (SPILLED);
  g_autoptr (IrisWireStatus) status = client_get_status (client);
  ck_assert_uint_eq (status->accepted, N_MANY);
  persistent_assert_indices (client, numbers, N_MANY);
}

TEST_MAIN ("irisd-spilled-flows", set_up, tear_down)
