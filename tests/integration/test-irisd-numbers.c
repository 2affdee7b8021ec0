/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Items by their numbers: lists, and cancelling an item of any connection.
 */
#include "irisd-home.h"

#define KEPT_ITEMS 60

static Home *home;
static Irisd *irisd;
static Client *client;

static void
set_up (void)
{
  home = home_new ();
  irisd = home_start (home, NULL);
  client = client_hello (irisd->front);
}

static void
tear_down (void)
{
  client_free (client);
  irisd_stop (irisd);
  home_free (home);
}

static const IrisWireMessage *
cancel (Client *who, guint64 number)
{
  persistent_ask (who, IRIS_WIRE_CANCEL, number);
  return client_receive (who);
}

static void
assert_cancelling (const IrisWireMessage *reply, IrisWireState state)
{
  ck_assert_str_eq (iris_wire_type_name (reply->type), "CANCELLING");
  ck_assert_uint_eq (reply->state, state);
}

/* Persistent, strictly for place 0. */
static guint64
submit_at_place (Client *who, const char *service, gboolean detach)
{
  IrisWireMessage item;
  persistent_fill (who, &item, service, "x", IRIS_WIRE_CLASS_DURABLE);
  iris_wire_message_set_int (&item, IRIS_WIRE_KEY_HINT, 0);
  iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_STRICT, TRUE);
  if (detach)
    iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_DETACH, TRUE);
  return persistent_submit (who, &item);
}

static void
wait_until_idle (void)
{
  for (;;)
    {
      g_autoptr (IrisWireStatus) status = client_get_status (client);
      if (status->in_flight == 0)
        return;
    }
}

/* Some wait at the gate, others are in the scheduler, whose only worker is held. */
TEST (a_waiting_persistent_item_ends_at_once_when_cancelled)
{
  g_autofree char *gate = gate_new (irisd, "gate");
  g_autoptr (Client) other = client_hello (irisd->front);
  guint64 numbers[KEPT_ITEMS];
  client_occupy (other, gate, 0);
  for (guint i = 0; i < KEPT_ITEMS; i++)
    numbers[i] = submit_at_place (client, "echo", TRUE);
  for (guint i = 0; i < KEPT_ITEMS; i++)
    {
      assert_cancelling (cancel (client, numbers[i]), IRIS_WIRE_STATE_QUEUED);
      ck_assert_uint_eq (persistent_get_state (client, numbers[i], GIVE_UP_MS),
                         IRIS_WIRE_STATE_CANCELLED);
      assert_error (cancel (client, numbers[i]), IRIS_WIRE_ERROR_NOT_FOUND);
    }
  gate_open (gate);
  client_receive_completion (other);
  wait_until_idle ();
}

TEST (a_client_that_waits_for_a_persistent_item_is_told_that_it_was_cancelled)
{
  g_autofree char *gate = gate_new (irisd, "gate");
  g_autofree char *endpoint = irisd_place_endpoint (irisd, 0);
  g_autoptr (Client) at_place = client_hello (endpoint);
  client_occupy (client, gate, 0);
  guint64 number = submit_at_place (at_place, "echo", FALSE);
  /* At the front, which is another gateway. */
  g_autoptr (Client) other = client_hello (irisd->front);
  assert_cancelling (cancel (other, number), IRIS_WIRE_STATE_QUEUED);
  const IrisWireMessage *end = client_receive_completion (at_place);
  assert_error (end, IRIS_WIRE_ERROR_CANCELLED);
  ck_assert_uint_eq (end->item, number);
  client_ack (at_place, 1);
  /* Its connection may end while the scheduler still has the job. */
  number = submit_at_place (at_place, "echo", FALSE);
  assert_cancelling (cancel (other, number), IRIS_WIRE_STATE_QUEUED);
  client_free (g_steal_pointer (&at_place));
  ck_assert_uint_eq (persistent_get_state (other, number, GIVE_UP_MS), IRIS_WIRE_STATE_CANCELLED);
  gate_open (gate);
  client_receive_completion (client);
  wait_until_idle ();
}

TEST (running_and_delayed_items_are_cancelled_by_number)
{
  g_autofree char *gate = gate_new (irisd, "gate");
  const char *const args[] = { "cat", gate, NULL };
  IrisWireMessage item;
  persistent_fill (client, &item, "command", "", IRIS_WIRE_CLASS_DURABLE);
  iris_wire_message_set_args (&item, args);
  iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_DETACH, TRUE);
  guint64 running = persistent_submit (client, &item);
  while (persistent_get_state (client, running, 0) != IRIS_WIRE_STATE_RUNNING)
    ;
  assert_cancelling (cancel (client, running), IRIS_WIRE_STATE_RUNNING);
  ck_assert_uint_eq (persistent_get_state (client, running, GIVE_UP_MS), IRIS_WIRE_STATE_CANCELLED);

  persistent_fill (client, &item, "echo", "later", IRIS_WIRE_CLASS_RELAXED);
  iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_DELAY_MS, 1000 * GIVE_UP_MS);
  iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_DETACH, TRUE);
  guint64 delayed = persistent_submit (client, &item);
  assert_cancelling (cancel (client, delayed), IRIS_WIRE_STATE_QUEUED);
  ck_assert_uint_eq (persistent_get_state (client, delayed, GIVE_UP_MS), IRIS_WIRE_STATE_CANCELLED);

  guint64 done = persistent_submit_echo (client, "x", IRIS_WIRE_CLASS_DURABLE, TRUE);
  ck_assert_uint_eq (persistent_get_state (client, done, GIVE_UP_MS), IRIS_WIRE_STATE_DONE);
  assert_error (cancel (client, done), IRIS_WIRE_ERROR_NOT_FOUND);
  assert_error (cancel (client, 4711), IRIS_WIRE_ERROR_NOT_FOUND);
  wait_until_idle ();
}

TEST (a_volatile_item_is_cancelled_by_number_too)
{
  g_autofree char *gate = gate_new (irisd, "gate");
  g_autofree char *endpoint = irisd_place_endpoint (irisd, 0);
  g_autoptr (Client) at_place = client_hello (endpoint);
  IrisWireMessage item;
  client_occupy (client, gate, 0);
  persistent_fill (at_place, &item, "echo", "x", IRIS_WIRE_CLASS_VOLATILE);
  iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_STRICT, TRUE);
  guint64 number = persistent_submit (at_place, &item);
  assert_cancelling (cancel (client, number), IRIS_WIRE_STATE_QUEUED);
  assert_error (client_receive_completion (at_place), IRIS_WIRE_ERROR_CANCELLED);
  gate_open (gate);
  client_receive_completion (client);
  wait_until_idle ();
}

/* The CANCEL may come before the journal has accepted the item, or refused it, or found its twin.
 */
TEST (an_item_can_be_cancelled_before_it_is_accepted)
{
  for (guint i = 0; i < 50; i++)
    {
      IrisWireMessage item;
      persistent_fill (client, &item, "echo", "x", IRIS_WIRE_CLASS_DURABLE);
      iris_wire_message_set_string (&item, IRIS_WIRE_KEY_KEY, i % 2 == 0 ? "one" : "two", -1);
      iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_QUIET, TRUE);
      guint64 id = message_get_id (&item);
      client_send (client, &item);
      client_cancel (client, id);
      guint seen = 0;
      while (seen < 2)
        {
          const IrisWireMessage *message = client_receive_any (client);
          gboolean ends = message->type == IRIS_WIRE_RESULT
                          || (message->type == IRIS_WIRE_ERROR_REPLY && message->ends);
          seen++;
          if (ends)
            client_ack (client, 1);
        }
    }
  wait_until_idle ();
}

static IrisWirePersistentList *
list (IrisWireMessage *request, guint64 *more)
{
  client_send (client, request);
  const IrisWireMessage *reply = client_receive_type (client, IRIS_WIRE_LIST_REPLY);
  if (more != NULL)
    *more = reply->item;
  IrisWirePersistentList *persistent = iris_wire_persistent_list_decode (reply->body, NULL, NULL);
  ck_assert_ptr_nonnull (persistent);
  return persistent;
}

static void
submit_keyed (const char *key, guint klass)
{
  IrisWireMessage item;
  persistent_fill (client, &item, "echo", key, klass);
  iris_wire_message_set_string (&item, IRIS_WIRE_KEY_KEY, key, -1);
  iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_DETACH, TRUE);
  persistent_get_state (client, persistent_submit (client, &item), GIVE_UP_MS);
}

static void
assert_listed (IrisWireMessage *request, guint n, const char *first_key)
{
  g_autoptr (IrisWirePersistentList) persistent = list (request, NULL);
  ck_assert_uint_eq (persistent->n_items, n);
  if (n > 0)
    ck_assert_str_eq (persistent->items[0].key, first_key);
}

TEST (lists_are_filtered)
{
  g_autofree char *gate = gate_new (irisd, "gate");
  submit_keyed ("a-1", IRIS_WIRE_CLASS_DURABLE);
  submit_keyed ("a-2", IRIS_WIRE_CLASS_RELAXED);
  submit_keyed ("b-1", IRIS_WIRE_CLASS_DURABLE);
  guint64 running = persistent_submit_occupier (client, gate, 0);
  while (persistent_get_state (client, running, 0) != IRIS_WIRE_STATE_RUNNING)
    ;

  IrisWireMessage request;
  client_init_message (client, &request, IRIS_WIRE_LIST);
  assert_listed (&request, 4, "a-1");
  iris_wire_message_set_string (&request, IRIS_WIRE_KEY_KEY_PREFIX, "a-", -1);
  assert_listed (&request, 2, "a-1");
  iris_wire_message_set_boolean (&request, IRIS_WIRE_KEY_DESCENDING, TRUE);
  assert_listed (&request, 2, "a-2");
  iris_wire_message_set_uint (&request, IRIS_WIRE_KEY_CLASS, IRIS_WIRE_CLASS_DURABLE);
  assert_listed (&request, 1, "a-1");
  iris_wire_message_set_uint (&request, IRIS_WIRE_KEY_STATES, 1 << IRIS_WIRE_STATE_RUNNING);
  assert_listed (&request, 0, NULL);

  client_init_message (client, &request, IRIS_WIRE_LIST);
  iris_wire_message_set_uint (&request, IRIS_WIRE_KEY_STATES, 1 << IRIS_WIRE_STATE_RUNNING);
  iris_wire_message_set_uint (&request, IRIS_WIRE_KEY_STATE, IRIS_WIRE_STATE_CANCELLED);
  assert_listed (&request, 1, "");
  client_init_message (client, &request, IRIS_WIRE_LIST);
  iris_wire_message_set_string (&request, IRIS_WIRE_KEY_SERVICE, "hold", -1);
  assert_listed (&request, 1, "");
  client_init_message (client, &request, IRIS_WIRE_LIST);
  iris_wire_message_set_uint (&request, IRIS_WIRE_KEY_SINCE_MS,
                              (guint64) (g_get_real_time () / 1000) + GIVE_UP_MS);
  assert_listed (&request, 0, NULL);
  client_init_message (client, &request, IRIS_WIRE_LIST);
  iris_wire_message_set_uint (&request, IRIS_WIRE_KEY_UNTIL_MS, 1);
  assert_listed (&request, 0, NULL);
  gate_open (gate);
}

TEST (a_page_says_behind_which_number_to_go_on)
{
  guint64 more = 0, first, last;
  submit_keyed ("1", IRIS_WIRE_CLASS_RELAXED);
  submit_keyed ("2", IRIS_WIRE_CLASS_RELAXED);
  submit_keyed ("3", IRIS_WIRE_CLASS_RELAXED);
  {
    g_autoptr (IrisWirePersistentList) all = persistent_list (client, 0, 0);
    ck_assert_uint_eq (all->n_items, 3);
    first = all->items[0].item;
    last = all->items[2].item;
  }
  for (gboolean descending = FALSE; descending <= TRUE; descending++)
    {
      guint64 at = 0;
      for (guint i = 0; i < 3; i++)
        {
          IrisWireMessage request;
          client_init_message (client, &request, IRIS_WIRE_LIST);
          iris_wire_message_set_uint (&request, IRIS_WIRE_KEY_COUNT, 1);
          iris_wire_message_set_boolean (&request, IRIS_WIRE_KEY_DESCENDING, descending);
          if (at != 0)
            iris_wire_message_set_uint (&request, IRIS_WIRE_KEY_ITEM, at);
          g_autoptr (IrisWirePersistentList) page = list (&request, &more);
          ck_assert_uint_eq (page->n_items, 1);
          ck_assert_uint_eq (more, i < 2 ? page->items[0].item : 0);
          at = page->items[0].item;
        }
      ck_assert_uint_eq (at, descending ? first : last);
    }
}

TEST_MAIN ("irisd-numbers", set_up, tear_down)
