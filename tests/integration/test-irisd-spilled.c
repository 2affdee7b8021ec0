/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Spilled items: only their time stays in memory, and clients see no difference.
 *
 * The tests of persistent and of waiting items run a second time with the same limits as here.
 */
#include "irisd-home.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#define HOUR_MS G_GINT64_CONSTANT (3600000)
#define SOON_MS 150
#define N_MANY  TIMES (600)
#define N_KILLS 4
#define N_PAIRS TIMES (100)

/* Bytes of payload that would show if they were in memory. */
#define N_LARGE    600
#define LARGE_SIZE (128 * 1024)

/* More items of that size than SQLite caches of the file. */
#define N_FORGOTTEN 160

#define SPILLED "[limits]\nmemory-items = 0\nread-ahead-ms = 0\n"

static Home *home;
static Irisd *irisd;
static Client *client;

static void
begin (const char *config)
{
  irisd = home_start (home, config);
  client = client_hello (irisd->front);
}

static void
set_up (void)
{
  home = home_new ();
  begin (SPILLED);
}

static void
stop (void)
{
  client_free (client);
  irisd_stop (irisd);
}

static void
crash (void)
{
  client_free (client);
  irisd_kill (irisd);
}

static void
tear_down (void)
{
  stop ();
  home_free (home);
}

static void
fill (Client *from, IrisWireMessage *item, const char *payload, guint klass)
{
  persistent_fill (from, item, "echo", payload, klass);
  iris_wire_message_set_boolean (item, IRIS_WIRE_KEY_DETACH, TRUE);
}

static guint64
submit_from (Client *from, guint64 delay_ms)
{
  IrisWireMessage item;
  fill (from, &item, "later", IRIS_WIRE_CLASS_DURABLE);
  iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_DELAY_MS, delay_ms);
  return persistent_submit (from, &item);
}

static guint64
submit_delayed (guint64 delay_ms)
{
  return submit_from (client, delay_ms);
}

static void
expect_end (guint64 item, const char *text)
{
  persistent_assert_result (client, item, text);
  client_ack (client, 1);
}

static void
expect_cancelled (guint64 item)
{
  assert_error (persistent_fetch (client, item, GIVE_UP_MS), IRIS_WIRE_ERROR_CANCELLED);
  client_ack (client, 1);
}

/* Sends many at once, and notes their numbers as they are accepted: those of even index have a
 * delay, the others a time of day; their payload is their index. */
static void
submit_many (guint64 *numbers, guint n, guint klass)
{
  guint64 at_ms = (guint64) g_get_real_time () / 1000 + SOON_MS;
  guint64 first_id = client->next_id + 1;
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *text = g_strdup_printf ("%u", i);
      IrisWireMessage item;
      fill (client, &item, text, klass);
      if (i % 2 == 0)
        iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_DELAY_MS, SOON_MS);
      else
        iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_AT_MS, at_ms);
      client_send (client, &item);
    }
  persistent_take_numbers (client, first_id, numbers, n);
}

static void
expect_many (const guint64 *numbers, guint n)
{
  persistent_assert_indices (client, numbers, n);
  ck_assert_uint_eq (persistent_count (client), 0);
}

LOOP_TEST (all_go_on_at_their_time_and_end_once, 0, 2)
{
  g_autofree guint64 *numbers = g_new0 (guint64, N_MANY);
  submit_many (numbers, N_MANY, _i == 0 ? IRIS_WIRE_CLASS_DURABLE : IRIS_WIRE_CLASS_RELAXED);
  expect_many (numbers, N_MANY);
  g_autoptr (IrisWireStatus) status = client_get_status (client);
  ck_assert_uint_eq (status->accepted, N_MANY);
  ck_assert_uint_eq (status->ended, N_MANY);
  ck_assert_uint_eq (status->failed, 0);
}

TEST (what_is_read_ahead_still_waits_for_its_time)
{
  stop ();
  begin ("[limits]\nmemory-items = 0\nread-ahead-ms = 100\n");
  guint64 spilled = submit_delayed (300);
  const IrisWireMessage *result = persistent_fetch (client, spilled, GIVE_UP_MS);
  ck_assert_uint_eq (result->type, IRIS_WIRE_RESULT);
  /* The journal has the times of acceptance in milliseconds. */
  ck_assert_uint_ge (result->queue_ns, 299 * 1000 * 1000);
  ck_assert_uint_eq (result->attempts, 1);
}

TEST (their_payloads_are_not_in_memory)
{
  g_autofree char *payload = g_strnfill (LARGE_SIZE, 'x');
  for (guint i = 0; i < N_LARGE; i++)
    {
      IrisWireMessage item;
      /* On the disk before the next one comes. */
      fill (client, &item, payload, IRIS_WIRE_CLASS_DURABLE);
      iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_DELAY_MS, HOUR_MS);
      persistent_submit (client, &item);
    }
  guint64 first = irisd_get_rss_kib (irisd);
  stop ();
  begin (SPILLED);
  guint64 second = irisd_get_rss_kib (irisd);
  g_autoptr (IrisWireStatus) status = client_get_status (client);
  ck_assert_uint_eq (status->in_flight, N_LARGE);
  persistent_assert_not_in_memory (first, N_LARGE, LARGE_SIZE);
  persistent_assert_not_in_memory (second, N_LARGE, LARGE_SIZE);
}

/* Flips one bit in a file that irisd has open, at the first place where `text` stands. */
static void
flip_bit (const char *path, const char *text)
{
  g_autofree char *data = NULL;
  gsize size = 0;
  ck_assert (g_file_get_contents (path, &data, &size, NULL));
  const char *at = memmem (data, size, text, strlen (text));
  ck_assert_ptr_nonnull (at);
  char changed = (char) (*at ^ 4);
  int fd = open (path, O_WRONLY | O_CLOEXEC);
  ck_assert_int_ge (fd, 0);
  ck_assert_int_eq (pwrite (fd, &changed, 1, at - data), 1);
  close (fd);
}

static guint64
submit_large (const char *text)
{
  g_autofree char *rest = g_strnfill (LARGE_SIZE, 'x');
  g_autofree char *payload = g_strconcat (text, rest, NULL);
  IrisWireMessage item;
  fill (client, &item, payload, IRIS_WIRE_CLASS_DURABLE);
  iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_DELAY_MS, HOUR_MS);
  return persistent_submit (client, &item);
}

/* So many that SQLite no longer caches the first ones, and has them in the database. */
TEST (an_item_damaged_while_it_is_spilled_ends_with_an_error)
{
  g_autofree char *path = g_build_filename (home->journal, "items.sqlite", NULL);
  guint64 damaged = submit_large ("the one that is damaged");
  guint64 whole = submit_large ("the one beside it");
  for (guint i = 0; i < N_FORGOTTEN; i++)
    submit_large ("");
  flip_bit (path, "the one that is damaged");
  persistent_ask (client, IRIS_WIRE_KICK, damaged);
  client_receive_type (client, IRIS_WIRE_CHANGED);
  const IrisWireMessage *end = persistent_fetch (client, damaged, GIVE_UP_MS);
  assert_error (end, IRIS_WIRE_ERROR_JOURNAL_FAILED);
  g_autofree char *reason = iris_wire_string_dup (&end->message);
  ck_assert_ptr_nonnull (strstr (reason, "damaged"));
  client_ack (client, 1);
  persistent_ask (client, IRIS_WIRE_KICK, whole);
  client_receive_type (client, IRIS_WIRE_CHANGED);
  ck_assert_uint_eq (persistent_get_state (client, whole, GIVE_UP_MS), IRIS_WIRE_STATE_DONE);
  ck_assert_uint_eq (persistent_count (client), N_FORGOTTEN + 1);
}

/* Killed, or asked to end. */
LOOP_TEST (an_end_of_irisd_while_they_are_read_back_loses_none, 0, 2)
{
  g_autofree guint64 *numbers = g_new0 (guint64, N_MANY);
  submit_many (numbers, N_MANY, IRIS_WIRE_CLASS_DURABLE);
  for (guint i = 0; i < N_KILLS; i++)
    {
      /* A delay begins again, so each time some of those are reloaded that were not before. */
      ck_assert_uint_ge (persistent_get_state (client, numbers[i * (N_MANY / N_KILLS)], GIVE_UP_MS),
                         IRIS_WIRE_STATE_DONE);
      if (_i == 0)
        crash ();
      else
        stop ();
      begin (SPILLED);
    }
  expect_many (numbers, N_MANY);
}

TEST (an_irisd_that_ends_does_not_wait_for_them_and_finds_them_again)
{
  guint64 far = submit_delayed (HOUR_MS);
  guint64 near = submit_delayed (SOON_MS);
  stop ();
  begin (SPILLED);
  expect_end (near, "later");
  ck_assert_uint_eq (persistent_get_state (client, far, 0), IRIS_WIRE_STATE_DELAYED);
  /* The end is told before the item is counted as gone. */
  for (gboolean alone = FALSE; !alone;)
    {
      g_autoptr (IrisWireStatus) status = client_get_status (client);
      ck_assert_uint_ge (status->in_flight, 1);
      alone = status->in_flight == 1;
    }
}

TEST (others_find_them_by_their_number)
{
  g_autofree char *endpoint = irisd_place_endpoint (irisd, 1);
  g_autoptr (Client) other = client_hello (endpoint);
  Client *both[] = { client, other };
  for (guint i = 0; i < G_N_ELEMENTS (both); i++)
    {
      guint64 kicked = submit_delayed (HOUR_MS);
      guint64 buried = submit_delayed (HOUR_MS);
      guint64 cancelled = submit_delayed (HOUR_MS);
      persistent_ask (both[i], IRIS_WIRE_KICK, kicked);
      ck_assert_uint_eq (client_receive_type (both[i], IRIS_WIRE_CHANGED)->count, 1);
      expect_end (kicked, "later");
      persistent_ask (both[i], IRIS_WIRE_CANCEL, cancelled);
      ck_assert_uint_eq (client_receive_type (both[i], IRIS_WIRE_CANCELLING)->state,
                         IRIS_WIRE_STATE_QUEUED);
      expect_cancelled (cancelled);
      persistent_ask (both[i], IRIS_WIRE_BURY, buried);
      ck_assert_uint_eq (client_receive_type (both[i], IRIS_WIRE_CHANGED)->count, 1);
      ck_assert_uint_eq (persistent_get_state (client, buried, 0), IRIS_WIRE_STATE_BURIED);
      /* A kicked one has its delay again. */
      persistent_ask (both[i], IRIS_WIRE_KICK, buried);
      ck_assert_uint_eq (client_receive_type (both[i], IRIS_WIRE_CHANGED)->count, 1);
      persistent_ask (both[i], IRIS_WIRE_CANCEL, buried);
      client_receive_type (both[i], IRIS_WIRE_CANCELLING);
      expect_cancelled (buried);
    }
}

TEST (a_guest_cancels_only_its_own)
{
  const char *const options[] = { TWO_PLACES, home->option, "--tcp=127.0.0.1:0", NULL };
  stop ();
  irisd = irisd_start_in (home->dir, SPILLED, options);
  client = client_hello (irisd->front);
  g_autoptr (Client) guest = client_hello (irisd->tcp);
  guint64 number = submit_delayed (HOUR_MS);
  persistent_ask (guest, IRIS_WIRE_CANCEL, number);
  assert_error (client_receive (guest), IRIS_WIRE_ERROR_NOT_FOUND);
  ck_assert_uint_eq (persistent_get_state (client, number, 0), IRIS_WIRE_STATE_DELAYED);
  persistent_ask (client, IRIS_WIRE_CANCEL, number);
  client_receive_type (client, IRIS_WIRE_CANCELLING);
  expect_cancelled (number);
}

/* One of the two comes first; either way the item ends once, as one or both asked. */
TEST (two_requests_for_one_item_are_both_answered)
{
  g_autofree char *endpoint = irisd_place_endpoint (irisd, 1);
  g_autoptr (Client) other = client_hello (endpoint);
  for (guint i = 0; i < N_PAIRS; i++)
    {
      guint64 number = submit_delayed (i % 2 == 0 ? HOUR_MS : 1);
      persistent_ask (client, IRIS_WIRE_KICK, number);
      persistent_ask (other, IRIS_WIRE_CANCEL, number);
      const IrisWireMessage *kicked = client_receive (client);
      ck_assert (kicked->type == IRIS_WIRE_CHANGED || kicked->type == IRIS_WIRE_ERROR_REPLY);
      gboolean changed = kicked->type == IRIS_WIRE_CHANGED;
      const IrisWireMessage *answer = client_receive (other);
      gboolean cancelling = answer->type == IRIS_WIRE_CANCELLING;
      ck_assert (cancelling || answer->type == IRIS_WIRE_ERROR_REPLY);
      ck_assert (changed || cancelling || i % 2 == 1);
      const IrisWireMessage *end = persistent_fetch (client, number, GIVE_UP_MS);
      if (end->type == IRIS_WIRE_ERROR_REPLY)
        {
          ck_assert (cancelling);
          ck_assert_uint_eq (end->code, IRIS_WIRE_ERROR_CANCELLED);
        }
      else
        ck_assert (message_body_is (end, "later"));
      client_ack (client, 1);
    }
  ck_assert_uint_eq (persistent_count (client), 0);
}

TEST (they_are_counted_and_found_by_their_key_while_they_wait)
{
  stop ();
  begin (SPILLED "[client]\nitems = 2\n");
  IrisWireMessage item;
  fill (client, &item, "first", IRIS_WIRE_CLASS_DURABLE);
  iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_DELAY_MS, HOUR_MS);
  iris_wire_message_set_string (&item, IRIS_WIRE_KEY_KEY, "key", -1);
  guint64 first = persistent_submit (client, &item);
  fill (client, &item, "second", IRIS_WIRE_CLASS_DURABLE);
  iris_wire_message_set_string (&item, IRIS_WIRE_KEY_KEY, "key", -1);
  ck_assert_uint_eq (persistent_submit (client, &item), first);
  submit_delayed (HOUR_MS);
  fill (client, &item, "third", IRIS_WIRE_CLASS_DURABLE);
  client_send (client, &item);
  client_receive_type (client, IRIS_WIRE_BUSY);
  persistent_ask (client, IRIS_WIRE_CANCEL, first);
  client_receive_type (client, IRIS_WIRE_CANCELLING);
  expect_cancelled (first);
  fill (client, &item, "third", IRIS_WIRE_CLASS_DURABLE);
  expect_end (persistent_submit (client, &item), "third");
}

/* A volatile item that depends on a persistent one. */
static guint64
submit_after (guint64 number)
{
  IrisWireMessage item;
  persistent_fill (client, &item, "echo", "then", IRIS_WIRE_CLASS_VOLATILE);
  iris_wire_message_set_numbers (&item, IRIS_WIRE_KEY_AFTER, &number, 1);
  iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_AFTER_HOW, IRIS_WIRE_AFTER_SUCCESS);
  return persistent_submit (client, &item);
}

TEST (items_can_come_after_them)
{
  guint64 number = submit_delayed (HOUR_MS);
  submit_after (number);
  persistent_ask (client, IRIS_WIRE_KICK, number);
  /* The answer and the end come from different places. */
  for (guint i = 0; i < 2; i++)
    {
      const IrisWireMessage *message = client_receive (client);
      ck_assert (message->type == IRIS_WIRE_CHANGED || message_body_is (message, "then"));
    }
  client_ack (client, 1);

  number = submit_delayed (HOUR_MS);
  submit_after (number);
  persistent_ask (client, IRIS_WIRE_CANCEL, number);
  client_receive_type (client, IRIS_WIRE_CANCELLING);
  assert_error (client_receive_completion (client), IRIS_WIRE_ERROR_DEPENDENCY_FAILED);
  client_ack (client, 1);
}

TEST_MAIN ("irisd-spilled", set_up, tear_down)
