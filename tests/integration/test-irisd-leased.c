/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Leases of worker processes when irisd is killed and started again.
 */
#include "irisd-home.h"

#include <signal.h>

#define LONG_LEASE  "[limits]\nlease-ms = 600000\n"
#define SHORT_LEASE "[limits]\nlease-ms = 300\nlease-attempts = 1000\n"
#define TWO_LEASES  "[limits]\nlease-attempts = 2\nlease-ms = "
/* The first item of a start has a job, the others are spilled. */
#define SPILLED "[limits]\nlease-ms = 600000\nmemory-items = 1\nread-ahead-ms = 0\n"

static Home *home;
static Irisd *irisd;
static Client *client;

static void
start (const char *config)
{
  irisd = home_start (home, config);
  client = client_hello (irisd->front);
}

static void
set_up (void)
{
  home = home_new ();
  client = NULL;
  irisd = NULL;
}

static void
tear_down (void)
{
  g_clear_pointer (&client, client_free);
  irisd_stop (irisd);
  home_free (home);
}

static void
crash (void)
{
  g_clear_pointer (&client, client_free);
  irisd_kill (irisd);
}

static Client *
enroll (guint capacity)
{
  Client *worker = client_hello (irisd->front);
  client_enroll (worker, "work", capacity);
  return worker;
}

static guint64
submit (const char *payload)
{
  IrisWireMessage item;
  persistent_fill (client, &item, "work", payload, IRIS_WIRE_CLASS_DURABLE);
  iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_DETACH, TRUE);
  iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_BURY, TRUE);
  return persistent_submit (client, &item);
}

typedef struct
{
  guint8 id[IRIS_WIRE_ID_SIZE];
} Lease;

static Lease
take_any_lease (Client *worker, const char *payload)
{
  Lease lease;
  const IrisWireMessage *message = client_receive_type (worker, IRIS_WIRE_LEASE);
  ck_assert (message_body_is (message, payload));
  memcpy (lease.id, message->request_id, sizeof lease.id);
  return lease;
}

static Lease
take_lease (Client *worker, const char *payload, guint attempt)
{
  Lease lease = take_any_lease (worker, payload);
  ck_assert_uint_eq (worker->message.attempt, attempt);
  return lease;
}

static void
say (Client *worker, IrisWireType type, const Lease *lease, const char *text)
{
  IrisWireMessage message;
  iris_wire_message_init (&message, type, lease->id);
  if (type == IRIS_WIRE_FAIL)
    iris_wire_message_set_string (&message, IRIS_WIRE_KEY_MESSAGE, text, -1);
  else
    iris_wire_message_set_body (&message, text, strlen (text));
  client_send (worker, &message);
}

static void
assert_refused (Client *worker, const Lease *lease)
{
  const IrisWireMessage *reply = client_receive_type (worker, IRIS_WIRE_ERROR_REPLY);
  assert_error (reply, IRIS_WIRE_ERROR_NO_SUCH_LEASE);
  ck_assert_mem_eq (reply->request_id, lease->id, sizeof lease->id);
}

/* Asserts that all earlier messages were read, and none was answered. */
static void
assert_taken (Client *worker)
{
  IrisWireMessage ping;
  client_init_message (worker, &ping, IRIS_WIRE_PING);
  client_send (worker, &ping);
  ck_assert_str_eq (iris_wire_type_name (client_receive_any (worker)->type), "PONG");
}

static void
assert_state (guint64 number, IrisWireState state)
{
  ck_assert_uint_eq (persistent_get_state (client, number, 0), state);
}

/* Leases an item, and kills irisd; then its worker goes. */
static guint64
lease_and_crash (const char *config, const char *payload, Lease *lease)
{
  start (config);
  Client *worker = enroll (1);
  guint64 number = submit (payload);
  *lease = take_lease (worker, payload, 1);
  crash ();
  client_free (worker);
  return number;
}

TEST (a_leased_item_is_not_leased_anew_while_its_lease_lasts)
{
  Lease lease;
  guint64 number = lease_and_crash (LONG_LEASE, "leased", &lease);
  start (LONG_LEASE);
  Client *other = enroll (2);
  guint64 later = submit ("later");
  Lease second = take_lease (other, "later", 1);
  assert_state (number, IRIS_WIRE_STATE_LEASED);
  say (other, IRIS_WIRE_DONE, &second, "");
  persistent_assert_result (client, later, "");
  assert_state (number, IRIS_WIRE_STATE_LEASED);
  client_free (other);
}

TEST (its_worker_comes_back_and_ends_it)
{
  Lease lease;
  guint64 number = lease_and_crash (LONG_LEASE, "leased", &lease);
  start (LONG_LEASE);
  Client *old = enroll (0);
  say (old, IRIS_WIRE_EXTEND, &lease, "");
  assert_taken (old);
  client_enroll (old, "work", 1);
  Client *other = enroll (1);
  guint64 later = submit ("later");
  Lease second = take_lease (other, "later", 1); /* the old one has no capacity left */
  say (old, IRIS_WIRE_DONE, &lease, "by the old worker");
  persistent_assert_result (client, number, "by the old worker");
  say (other, IRIS_WIRE_DONE, &second, "");
  persistent_assert_result (client, later, "");
  say (old, IRIS_WIRE_DONE, &lease, "twice");
  assert_refused (old, &lease);
  client_free (other);
  client_free (old);
}

LOOP_TEST (an_answer_needs_no_extension_before_it, 0, 2)
{
  static const IrisWireType types[] = { IRIS_WIRE_DONE, IRIS_WIRE_FAIL };
  Lease lease;
  guint64 number = lease_and_crash (LONG_LEASE, "leased", &lease);
  start (LONG_LEASE);
  Client *old = enroll (1);
  say (old, types[_i], &lease, "said so");
  if (types[_i] == IRIS_WIRE_DONE)
    persistent_assert_result (client, number, "said so");
  else
    while (persistent_get_state (client, number, GIVE_UP_MS) != IRIS_WIRE_STATE_BURIED)
      ;
  client_free (old);
}

TEST (a_lease_survives_several_crashes_and_an_orderly_end)
{
  Lease lease;
  guint64 number = lease_and_crash (LONG_LEASE, "leased", &lease);
  start (LONG_LEASE);
  assert_state (number, IRIS_WIRE_STATE_LEASED);
  crash ();
  start (LONG_LEASE);
  assert_state (number, IRIS_WIRE_STATE_LEASED);
  g_clear_pointer (&client, client_free);
  irisd_stop (irisd);
  start (LONG_LEASE);
  assert_state (number, IRIS_WIRE_STATE_LEASED);
  Client *old = enroll (1);
  say (old, IRIS_WIRE_DONE, &lease, "at last");
  persistent_assert_result (client, number, "at last");
  client_free (old);
}

TEST (a_worker_that_came_back_and_is_lost_loses_its_lease_as_any)
{
  Lease lease;
  guint64 number = lease_and_crash (LONG_LEASE, "leased", &lease);
  start (LONG_LEASE);
  Client *old = enroll (1);
  say (old, IRIS_WIRE_EXTEND, &lease, "");
  assert_taken (old);
  client_free (old);
  Client *other = enroll (1);
  Lease second = take_lease (other, "leased", 2);
  say (other, IRIS_WIRE_DONE, &second, "by another");
  persistent_assert_result (client, number, "by another");
  client_free (other);
}

TEST (a_lease_that_has_ended_is_leased_anew_and_its_end_is_refused)
{
  Lease lease;
  guint64 number = lease_and_crash (SHORT_LEASE, "leased", &lease);
  start (LONG_LEASE);
  Client *other = enroll (1);
  /* On a busy machine the lease may have ended, and others after it, before irisd was killed. */
  Lease second = take_any_lease (other, "leased");
  ck_assert_uint_ge (other->message.attempt, 2);
  Client *old = enroll (1);
  say (old, IRIS_WIRE_DONE, &lease, "late");
  assert_refused (old, &lease);
  say (old, IRIS_WIRE_EXTEND, &lease, "");
  assert_refused (old, &lease);
  say (other, IRIS_WIRE_DONE, &second, "in time");
  persistent_assert_result (client, number, "in time");
  client_free (old);
  client_free (other);
}

/* As if the clock was set back: the time left is at most that of a lease of this irisd. */
TEST (a_lease_lasts_no_longer_than_leases_do)
{
  Lease lease;
  guint64 number = lease_and_crash (LONG_LEASE, "leased", &lease);
  start (SHORT_LEASE);
  Client *other = enroll (1);
  Lease second = take_lease (other, "leased", 2);
  ck_assert_uint_ne (number, 0);
  ck_assert_int_ne (memcmp (second.id, lease.id, sizeof lease.id), 0);
  client_free (other);
}

TEST (leases_are_counted_over_crashes_and_the_item_is_buried)
{
  Lease lease;
  guint64 number = lease_and_crash (TWO_LEASES "600000\n", "leased", &lease);
  start (TWO_LEASES "300\n");
  Client *other = enroll (1);
  take_lease (other, "leased", 2);
  crash ();
  client_free (other);
  start (TWO_LEASES "300\n");
  while (persistent_get_state (client, number, GIVE_UP_MS) != IRIS_WIRE_STATE_BURIED)
    ;
  assert_error (persistent_fetch (client, number, 0), IRIS_WIRE_ERROR_BURIED);
  persistent_ask (client, IRIS_WIRE_KICK, number);
  ck_assert_uint_eq (client_receive_type (client, IRIS_WIRE_CHANGED)->count, 1);
  other = enroll (1);
  take_lease (other, "leased", 1);
  client_free (other);
}

TEST (an_item_that_waits_to_be_leased_anew_keeps_its_count)
{
  start (LONG_LEASE);
  Client *worker = enroll (1);
  guint64 number = submit ("leased");
  take_lease (worker, "leased", 1);
  client_free (worker);
  while (persistent_get_state (client, number, 0) != IRIS_WIRE_STATE_QUEUED)
    ;
  crash ();
  start (LONG_LEASE);
  assert_state (number, IRIS_WIRE_STATE_QUEUED);
  worker = enroll (1);
  Lease lease = take_lease (worker, "leased", 2);
  say (worker, IRIS_WIRE_DONE, &lease, "done");
  persistent_assert_result (client, number, "done");
  client_free (worker);
}

TEST (an_item_whose_worker_is_away_can_be_cancelled)
{
  Lease lease;
  guint64 number = lease_and_crash (LONG_LEASE, "leased", &lease);
  start (LONG_LEASE);
  persistent_ask (client, IRIS_WIRE_CANCEL, number);
  client_receive_type (client, IRIS_WIRE_CANCELLING);
  while (persistent_get_state (client, number, GIVE_UP_MS) != IRIS_WIRE_STATE_CANCELLED)
    ;
  Client *old = enroll (1);
  say (old, IRIS_WIRE_EXTEND, &lease, "");
  assert_refused (old, &lease);
  crash ();
  client_free (old);
  start (LONG_LEASE);
  assert_state (number, IRIS_WIRE_STATE_CANCELLED);
}

TEST (leased_items_are_restored_where_others_are_spilled)
{
  enum
  {
    N_LEASED = 4
  };
  guint64 numbers[N_LEASED];
  Lease leases[N_LEASED];
  start (SPILLED);
  Client *worker = enroll (N_LEASED);
  for (guint i = 0; i < N_LEASED; i++)
    {
      numbers[i] = submit ("leased");
      leases[i] = take_lease (worker, "leased", 1);
    }
  guint64 waiting = submit ("waiting");
  crash ();
  client_free (worker);
  start (SPILLED);
  for (guint i = 0; i < N_LEASED; i++)
    assert_state (numbers[i], IRIS_WIRE_STATE_LEASED);
  assert_state (waiting, IRIS_WIRE_STATE_QUEUED);
  Client *old = enroll (0);
  for (guint i = 0; i < N_LEASED; i++)
    say (old, IRIS_WIRE_DONE, &leases[i], "by the old worker");
  for (guint i = 0; i < N_LEASED; i++)
    persistent_assert_result (client, numbers[i], "by the old worker");
  client_enroll (old, "work", 1);
  Lease lease = take_lease (old, "waiting", 1);
  say (old, IRIS_WIRE_DONE, &lease, "done");
  persistent_assert_result (client, waiting, "done");
  client_free (old);
}

TEST (a_paused_irisd_takes_what_was_leased_before_it)
{
  Lease lease;
  const char *const options[] = { TWO_PLACES, home->option, "--paused", NULL };
  guint64 number = lease_and_crash (LONG_LEASE, "leased", &lease);
  irisd = irisd_start_in (home->dir, LONG_LEASE, options);
  client = client_hello (irisd->front);
  Client *old = enroll (1);
  say (old, IRIS_WIRE_DONE, &lease, "done");
  persistent_assert_result (client, number, "done");
  client_free (old);
}

TEST_MAIN ("irisd-leased", set_up, tear_down)
