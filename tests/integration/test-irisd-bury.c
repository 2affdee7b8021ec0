/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Buried items: buried, shown, kicked.
 */
#include "irisd-home.h"

#include <signal.h>

#define HOUR_MS G_GINT64_CONSTANT (3600000)
#define N_LOAD  TIMES (1000)

static Home *home;
static Irisd *irisd;
static Client *client;

static void
begin (void)
{
  irisd = home_start (home, "[limits]\nwindow-us = 0\nlease-ms = 300000\n");
  client = client_hello (irisd->front);
}

static void
end (gboolean kill)
{
  client_free (client);
  if (kill)
    irisd_kill (irisd);
  else
    irisd_stop (irisd);
}

static void
begin_again (gboolean kill)
{
  end (kill);
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
  end (FALSE);
  home_free (home);
}

/* An item that fails as long as a file is missing. */
static void
fill_reader (IrisWireMessage *item, const char *path, guint klass)
{
  persistent_fill (client, item, "sha256", "", klass);
  iris_wire_message_set_string (item, IRIS_WIRE_KEY_PATH, path, -1);
  iris_wire_message_set_boolean (item, IRIS_WIRE_KEY_BURY, TRUE);
}

static void
fill_delayed (IrisWireMessage *item)
{
  persistent_fill (client, item, "echo", "later", IRIS_WIRE_CLASS_DURABLE);
  iris_wire_message_set_uint (item, IRIS_WIRE_KEY_DELAY_MS, HOUR_MS);
  iris_wire_message_set_boolean (item, IRIS_WIRE_KEY_DETACH, TRUE);
}

static guint64
submit_delayed (void)
{
  IrisWireMessage item;
  fill_delayed (&item);
  return persistent_submit (client, &item);
}

static void
make_file (const char *path)
{
  ck_assert (g_file_set_contents (path, "here", -1, NULL));
}

static const IrisWireMessage *
ask_kick (guint64 item)
{
  persistent_ask (client, IRIS_WIRE_KICK, item);
  return client_receive (client);
}

static guint
kick_some (IrisWireState state, guint count)
{
  IrisWireMessage kick;
  client_init_message (client, &kick, IRIS_WIRE_KICK);
  iris_wire_message_set_uint (&kick, IRIS_WIRE_KEY_STATE, state);
  if (count > 0)
    iris_wire_message_set_uint (&kick, IRIS_WIRE_KEY_COUNT, count);
  client_send (client, &kick);
  return client_receive_type (client, IRIS_WIRE_CHANGED)->count;
}

static const IrisWireMessage *
ask_bury (guint64 item, const char *reason)
{
  IrisWireMessage bury;
  client_init_message (client, &bury, IRIS_WIRE_BURY);
  iris_wire_message_set_uint (&bury, IRIS_WIRE_KEY_ITEM, item);
  if (reason != NULL)
    iris_wire_message_set_string (&bury, IRIS_WIRE_KEY_MESSAGE, reason, -1);
  client_send (client, &bury);
  return client_receive (client);
}

static void
assert_changed (const IrisWireMessage *reply, guint count)
{
  g_autofree char *text = iris_wire_message_to_string (reply);
  ck_assert_msg (reply->type == IRIS_WIRE_CHANGED, "wanted CHANGED, got %s", text);
  ck_assert_uint_eq (reply->count, count);
}

static void
assert_state (guint64 item, IrisWireState state)
{
  ck_assert_str_eq (iris_wire_state_name (persistent_get_state (client, item, 0)),
                    iris_wire_state_name (state));
}

/* Waits for a state that another thread sets. */
static void
await_state (guint64 item, IrisWireState state)
{
  while (persistent_get_state (client, item, 0) != (guint32) state)
    ;
}

static IrisWirePersistentList *
list_buried (void)
{
  IrisWireMessage request;
  client_init_message (client, &request, IRIS_WIRE_LIST);
  iris_wire_message_set_uint (&request, IRIS_WIRE_KEY_STATE, IRIS_WIRE_STATE_BURIED);
  client_send (client, &request);
  return iris_wire_persistent_list_decode (client_receive_type (client, IRIS_WIRE_LIST_REPLY)->body,
                                           NULL, NULL);
}

TEST (an_item_that_is_out_of_tries_is_buried_survives_and_runs_when_it_is_kicked)
{
  g_autofree char *file = g_build_filename (home->base, "file", NULL);
  g_autofree char *script = g_strdup_printf ("echo no >&2; cat %s", file);
  const char *const args[] = { "sh", "-c", script, NULL };
  IrisWireMessage item;
  persistent_fill (client, &item, "command", "", IRIS_WIRE_CLASS_DURABLE);
  iris_wire_message_set_args (&item, args);
  iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_RETRIES, 2);
  iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_BACKOFF_MS, 0);
  iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_BURY, TRUE);
  guint64 number = persistent_submit (client, &item);
  const IrisWireMessage *told = client_receive_completion (client);
  assert_error (told, IRIS_WIRE_ERROR_BURIED);
  ck_assert_uint_eq (told->item, number);
  ck_assert_uint_eq (told->attempts, 3);
  client_ack (client, 1);

  for (guint round = 0; round < 2; round++)
    {
      g_autoptr (IrisWirePersistentList) list = list_buried ();
      ck_assert_uint_eq (list->n_items, 1);
      ck_assert_uint_eq (list->items[0].item, number);
      ck_assert_uint_eq (list->items[0].state, IRIS_WIRE_STATE_BURIED);
      ck_assert_uint_eq (list->items[0].attempts, 3);
      ck_assert_uint_eq (list->items[0].code, IRIS_WIRE_ERROR_SERVICE_FAILED);
      ck_assert_msg (strstr (list->items[0].message, "status 1: cat: ") != NULL, "%s",
                     list->items[0].message);
      ck_assert_uint_eq (list->items[0].ended_ms, 0);
      begin_again (round == 0);
    }
  const IrisWireMessage *completion = persistent_fetch (client, number, GIVE_UP_MS);
  assert_error (completion, IRIS_WIRE_ERROR_BURIED);
  ck_assert (completion->ends);
  client_ack (client, 1);
  ck_assert_uint_eq (persistent_get_state (client, number, GIVE_UP_MS), IRIS_WIRE_STATE_BURIED);

  make_file (file);
  assert_changed (ask_kick (number), 1);
  begin_again (TRUE);
  const IrisWireMessage *result = persistent_fetch (client, number, GIVE_UP_MS);
  ck_assert_uint_eq (result->type, IRIS_WIRE_RESULT);
  ck_assert_uint_eq (result->attempts, 1);
  client_ack (client, 1);
  ck_assert_uint_eq (persistent_count (client), 0);
}

TEST (only_what_fails_is_buried)
{
  const char *const args[] = { "sleep", "1000", NULL };
  IrisWireMessage item;
  persistent_fill (client, &item, "echo", "fine", IRIS_WIRE_CLASS_RELAXED);
  iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_BURY, TRUE);
  persistent_submit (client, &item);
  client_receive_type (client, IRIS_WIRE_RESULT);

  persistent_fill (client, &item, "command", "", IRIS_WIRE_CLASS_DURABLE);
  iris_wire_message_set_args (&item, args);
  iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_BURY, TRUE);
  guint64 id = message_get_id (&item);
  guint64 number = persistent_submit (client, &item);
  await_state (number, IRIS_WIRE_STATE_RUNNING);
  client_cancel (client, id);
  client_receive_type (client, IRIS_WIRE_CANCELLING);
  assert_error (client_receive_completion (client), IRIS_WIRE_ERROR_CANCELLED);
  assert_state (number, IRIS_WIRE_STATE_CANCELLED);

  persistent_fill (client, &item, "echo", "", IRIS_WIRE_CLASS_VOLATILE);
  iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_BURY, TRUE);
  client_send (client, &item);
  assert_error (client_receive (client), IRIS_WIRE_ERROR_BAD_ARGUMENT);
}

TEST (what_waits_can_be_buried_wherever_it_does)
{
  g_autofree char *gate = gate_new (irisd, "gate");
  g_autoptr (Client) other = client_hello (irisd->front);
  client_occupy (other, gate, 0);
  guint64 numbers[6];
  /* The gate lets two through: these are the scheduler's, the others wait before it. */
  for (guint i = 0; i < 5; i++)
    {
      IrisWireMessage item;
      persistent_fill (client, &item, "echo", "x",
                       i % 2 == 0 ? IRIS_WIRE_CLASS_DURABLE : IRIS_WIRE_CLASS_RELAXED);
      iris_wire_message_set_int (&item, IRIS_WIRE_KEY_HINT, 0);
      iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_STRICT, TRUE);
      iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_DETACH, TRUE);
      numbers[i] = persistent_submit (client, &item);
      assert_state (numbers[i], IRIS_WIRE_STATE_QUEUED);
    }
  numbers[5] = submit_delayed ();
  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    {
      assert_changed (ask_bury (numbers[i], i == 0 ? "not now" : NULL), 1);
      assert_state (numbers[i], IRIS_WIRE_STATE_BURIED);
      assert_changed (ask_bury (numbers[i], NULL), 0);
    }
  g_autoptr (IrisWirePersistentList) list = list_buried ();
  ck_assert_uint_eq (list->n_items, G_N_ELEMENTS (numbers));
  ck_assert_str_eq (list->items[0].message, "not now");
  ck_assert_uint_eq (list->items[0].code, IRIS_WIRE_ERROR_BURIED);

  /* Kicked while the scheduler still has the buried job. */
  for (guint i = 0; i < 5; i++)
    {
      assert_changed (ask_kick (numbers[i]), 1);
      assert_state (numbers[i], IRIS_WIRE_STATE_QUEUED);
    }
  gate_open (gate);
  for (guint i = 0; i < 5; i++)
    {
      persistent_assert_result (client, numbers[i], "x");
      client_ack (client, 1);
    }
  assert_state (numbers[5], IRIS_WIRE_STATE_BURIED);
  assert_changed (ask_kick (numbers[5]), 1);
  await_state (numbers[5], IRIS_WIRE_STATE_DELAYED);
}

TEST (a_waiting_fetch_is_told_that_the_item_is_buried)
{
  IrisWireMessage item;
  fill_delayed (&item);
  item.detach = FALSE;
  guint64 id = message_get_id (&item);
  guint64 number = persistent_submit (client, &item);
  g_autoptr (Client) other = client_hello (irisd->front);
  IrisWireMessage request;
  client_init_message (other, &request, IRIS_WIRE_FETCH);
  iris_wire_message_set_uint (&request, IRIS_WIRE_KEY_ITEM, number);
  iris_wire_message_set_uint (&request, IRIS_WIRE_KEY_WAIT_MS, HOUR_MS);
  client_send (other, &request);
  client_call (other, IRIS_WIRE_PING, IRIS_WIRE_PONG);

  persistent_ask (client, IRIS_WIRE_BURY, number);
  gboolean told = FALSE, changed = FALSE;
  while (!told || !changed)
    {
      const IrisWireMessage *message = client_receive (client);
      if (message->type == IRIS_WIRE_CHANGED)
        changed = TRUE;
      else
        {
          assert_error (message, IRIS_WIRE_ERROR_BURIED);
          ck_assert_uint_eq (message_get_id (message), id);
          ck_assert (message->ends);
          told = TRUE;
        }
    }
  client_ack (client, 1);
  const IrisWireMessage *completion = client_receive_completion (other);
  assert_error (completion, IRIS_WIRE_ERROR_BURIED);
  ck_assert_uint_eq (completion->item, number);
  client_ack (other, 1);
  assert_state (number, IRIS_WIRE_STATE_BURIED);
}

TEST (what_runs_or_has_ended_or_never_was_is_not_buried)
{
  g_autofree char *gate = gate_new (irisd, "gate");
  IrisWireMessage item;
  persistent_fill (client, &item, "hold", "", IRIS_WIRE_CLASS_DURABLE);
  iris_wire_message_set_string (&item, IRIS_WIRE_KEY_PATH, gate, -1);
  iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_DETACH, TRUE);
  guint64 number = persistent_submit (client, &item);
  close (gate_wait (gate));
  assert_state (number, IRIS_WIRE_STATE_RUNNING);
  assert_error (ask_bury (number, NULL), IRIS_WIRE_ERROR_BAD_ARGUMENT);
  assert_error (ask_kick (number), IRIS_WIRE_ERROR_BAD_ARGUMENT);
  gate_open (gate);
  ck_assert_uint_eq (persistent_get_state (client, number, GIVE_UP_MS), IRIS_WIRE_STATE_DONE);
  assert_error (ask_bury (number, NULL), IRIS_WIRE_ERROR_BAD_ARGUMENT);
  assert_error (ask_kick (number), IRIS_WIRE_ERROR_BAD_ARGUMENT);
  assert_error (ask_bury (number + 1000, NULL), IRIS_WIRE_ERROR_NO_SUCH_ITEM);
  assert_error (ask_kick (number + 1000), IRIS_WIRE_ERROR_NO_SUCH_ITEM);
}

TEST (delayed_items_are_kicked_by_number_and_all_together)
{
  guint64 numbers[6];
  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    {
      numbers[i] = submit_delayed ();
      await_state (numbers[i], IRIS_WIRE_STATE_DELAYED);
    }
  assert_changed (ask_kick (numbers[3]), 1);
  persistent_assert_result (client, numbers[3], "later");
  ck_assert_uint_eq (kick_some (IRIS_WIRE_STATE_DELAYED, 2), 2);
  ck_assert_uint_eq (kick_some (IRIS_WIRE_STATE_DELAYED, 0), 3);
  ck_assert_uint_eq (kick_some (IRIS_WIRE_STATE_DELAYED, 0), 0);
  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    persistent_assert_result (client, numbers[i], "later");
}

TEST (an_item_says_whether_a_worker_process_has_it)
{
  g_autoptr (Client) worker = client_hello (irisd->front);
  client_enroll (worker, "work", 0);
  IrisWireMessage item;
  persistent_fill (client, &item, "work", "x", IRIS_WIRE_CLASS_DURABLE);
  iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_DETACH, TRUE);
  guint64 number = persistent_submit (client, &item);
  assert_state (number, IRIS_WIRE_STATE_QUEUED);
  client_enroll (worker, "work", 1);
  client_receive_type (worker, IRIS_WIRE_LEASE);
  assert_state (number, IRIS_WIRE_STATE_LEASED);
  assert_error (ask_bury (number, NULL), IRIS_WIRE_ERROR_BAD_ARGUMENT);

  /* It disconnects without a message about its lease. */
  client_init_message (worker, &item, IRIS_WIRE_BYE);
  client_send (worker, &item);
  await_state (number, IRIS_WIRE_STATE_QUEUED);
  assert_changed (ask_bury (number, "no worker runs it"), 1);

  Client *again = client_hello (irisd->front);
  client_enroll (again, "work", 1);
  assert_state (number, IRIS_WIRE_STATE_BURIED);
  assert_changed (ask_kick (number), 1);
  const IrisWireMessage *lease = client_receive_type (again, IRIS_WIRE_LEASE);
  ck_assert_uint_eq (lease->attempt, 1);
  client_free (again);
  worker = (client_free (worker), client_hello (irisd->front));
  client_enroll (worker, "work", 1);
  lease = client_receive_type (worker, IRIS_WIRE_LEASE);
  IrisWireMessage done;
  iris_wire_message_init (&done, IRIS_WIRE_DONE, lease->request_id);
  client_send (worker, &done);
  persistent_assert_result (client, number, "");
}

TEST (a_persistent_item_can_be_had_as_it_was_submitted)
{
  IrisWireMessage item, request;
  fill_delayed (&item);
  iris_wire_message_set_string (&item, IRIS_WIRE_KEY_KEY, "k-1", -1);
  guint64 number = persistent_submit (client, &item);
  assert_changed (ask_bury (number, NULL), 1);
  begin_again (TRUE);

  client_init_message (client, &request, IRIS_WIRE_SHOW);
  iris_wire_message_set_uint (&request, IRIS_WIRE_KEY_ITEM, number);
  iris_wire_message_set_boolean (&request, IRIS_WIRE_KEY_PAYLOAD, TRUE);
  client_send (client, &request);
  const IrisWireMessage *reply = client_receive_type (client, IRIS_WIRE_SHOW_REPLY);
  ck_assert (reply->payload);
  IrisWireBatchIter iter;
  ck_assert (iris_wire_batch_iter_init (&iter, reply->body, NULL, NULL));
  ck_assert_uint_eq (iter.n_items, 1);
  ck_assert_int_eq (iris_wire_batch_iter_next (&iter, &item, NULL), IRIS_WIRE_BATCH_ITEM);
  ck_assert (message_body_is (&item, "later"));
  ck_assert_uint_eq (item.delay_ms, HOUR_MS);
  ck_assert_uint_eq (item.klass, IRIS_WIRE_CLASS_DURABLE);
  ck_assert_int_eq (strncmp (item.key.data, "k-1", 3), 0);
  client_ack (client, 1); /* it took a credit */

  number = persistent_submit_echo (client, "gone", IRIS_WIRE_CLASS_DURABLE, TRUE);
  persistent_get_state (client, number, GIVE_UP_MS);
  client_init_message (client, &request, IRIS_WIRE_SHOW);
  iris_wire_message_set_uint (&request, IRIS_WIRE_KEY_ITEM, number);
  iris_wire_message_set_boolean (&request, IRIS_WIRE_KEY_PAYLOAD, TRUE);
  client_send (client, &request);
  assert_error (client_receive (client), IRIS_WIRE_ERROR_BAD_ARGUMENT);
}

static void
fill_after (IrisWireMessage *item, const guint64 *after)
{
  persistent_fill (client, item, "echo", "second", IRIS_WIRE_CLASS_VOLATILE);
  iris_wire_message_set_numbers (item, IRIS_WIRE_KEY_AFTER, after, 1);
}

TEST (what_comes_after_a_buried_item_waits_unless_irisd_ends)
{
  IrisWireMessage item;
  guint64 number = submit_delayed ();
  fill_after (&item, &number);
  persistent_submit (client, &item);
  assert_changed (ask_bury (number, NULL), 1);
  assert_changed (ask_kick (number), 1);
  await_state (number, IRIS_WIRE_STATE_DELAYED);
  assert_changed (ask_kick (number), 1);
  ck_assert (message_body_is (client_receive_type (client, IRIS_WIRE_RESULT), "second"));
  client_ack (client, 1);

  number = submit_delayed ();
  assert_changed (ask_bury (number, NULL), 1);
  begin_again (TRUE);
  fill_after (&item, &number);
  persistent_submit (client, &item);
  irisd_signal (irisd, SIGTERM);
  assert_error (client_receive_completion (client), IRIS_WIRE_ERROR_SHUTTING_DOWN);
  ck_assert_int_eq (irisd_wait (irisd), 0);
  client_free (client);
  irisd_release (irisd);
  begin ();
  assert_state (number, IRIS_WIRE_STATE_BURIED);
}

TEST (a_buried_item_is_cancelled_by_its_number)
{
  IrisWireMessage item;
  guint64 number = submit_delayed ();
  fill_after (&item, &number);
  iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_AFTER_HOW, IRIS_WIRE_AFTER_SUCCESS);
  persistent_submit (client, &item);
  assert_changed (ask_bury (number, NULL), 1);
  persistent_ask (client, IRIS_WIRE_CANCEL, number);
  gboolean cancelling = FALSE, failed = FALSE;
  while (!cancelling || !failed)
    {
      const IrisWireMessage *message = client_receive (client);
      cancelling = cancelling || message->type == IRIS_WIRE_CANCELLING;
      if (message->type == IRIS_WIRE_CANCELLING)
        continue;
      assert_error (message, IRIS_WIRE_ERROR_DEPENDENCY_FAILED);
      failed = TRUE;
    }
  client_ack (client, 1);
  begin_again (TRUE);
  assert_state (number, IRIS_WIRE_STATE_CANCELLED);
  assert_error (persistent_fetch (client, number, 0), IRIS_WIRE_ERROR_CANCELLED);
  client_ack (client, 1);
  persistent_ask (client, IRIS_WIRE_CANCEL, number);
  assert_error (client_receive (client), IRIS_WIRE_ERROR_NOT_FOUND);
}

TEST (items_that_are_kicked_under_load_end_once_each)
{
  g_autofree char *file = g_build_filename (home->base, "file", NULL);
  guint64 *numbers = g_new (guint64, N_LOAD);
  for (guint i = 0; i < N_LOAD; i++)
    {
      IrisWireMessage item;
      fill_reader (&item, file, i % 8 == 0 ? IRIS_WIRE_CLASS_DURABLE : IRIS_WIRE_CLASS_RELAXED);
      iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_DETACH, TRUE);
      numbers[i] = persistent_submit (client, &item);
    }
  for (guint i = 0; i < N_LOAD; i++)
    ck_assert_uint_eq (persistent_get_state (client, numbers[i], GIVE_UP_MS),
                       IRIS_WIRE_STATE_BURIED);
  make_file (file);

  g_autoptr (Client) other = client_hello (irisd->front);
  guint kicked = 0, n, echoes = 0;
  do
    {
      for (guint i = 0; i < 16; i++, echoes++)
        client_submit (other, "echo", "x", 1, IRIS_PLACE_ANY, FALSE);
      kicked += n = kick_some (IRIS_WIRE_STATE_BURIED, 64);
      for (; echoes > 64; echoes--)
        {
          client_receive_completion (other);
          client_ack (other, 1);
        }
    }
  while (n > 0);
  ck_assert_uint_eq (kicked, N_LOAD);
  for (; echoes > 0; echoes--)
    ck_assert_uint_eq (client_receive_completion (other)->type, IRIS_WIRE_RESULT);
  for (guint i = 0; i < N_LOAD; i++)
    {
      const IrisWireMessage *result = persistent_fetch (client, numbers[i], GIVE_UP_MS);
      ck_assert_uint_eq (result->type, IRIS_WIRE_RESULT);
      ck_assert_uint_eq (result->item, numbers[i]);
      client_ack (client, 1);
    }
  ck_assert_uint_eq (persistent_count (client), 0);
  g_free (numbers);
}

TEST_MAIN ("irisd-bury", set_up, tear_down)
