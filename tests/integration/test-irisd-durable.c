/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The guarantees for durable and relaxed items.
 */
#include "irisd-home.h"

TEST (an_acknowledged_end_is_deleted_and_an_unacknowledged_one_stays)
{
  Home *home = home_new ();
  Irisd *irisd = home_start (home, NULL);
  g_autoptr (Client) client = client_hello (irisd->front);
  guint64 first = persistent_submit_echo (client, "one", IRIS_WIRE_CLASS_DURABLE, FALSE);
  const IrisWireMessage *result = client_receive_type (client, IRIS_WIRE_RESULT);
  ck_assert_uint_eq (result->item, first);
  ck_assert (message_body_is (result, "one"));
  guint64 second = persistent_submit_echo (client, "two", IRIS_WIRE_CLASS_DURABLE, FALSE);
  ck_assert_uint_gt (second, first);
  client_receive_type (client, IRIS_WIRE_RESULT);
  ck_assert_uint_eq (persistent_count (client), 2);
  client_ack (client, 1);
  g_autoptr (IrisWirePersistentList) kept = persistent_list (client, 0, 0);
  ck_assert_uint_eq (kept->n_items, 1);
  ck_assert_uint_eq (kept->items[0].item, second);
  ck_assert_uint_eq (kept->items[0].state, IRIS_WIRE_STATE_DONE);
  ck_assert_str_eq (kept->items[0].service, "echo");
  assert_error (persistent_fetch (client, first, 0), IRIS_WIRE_ERROR_NO_SUCH_ITEM);
  irisd_stop (irisd);

  irisd = home_start (home, NULL);
  g_autoptr (Client) other = client_hello (irisd->front);
  persistent_assert_result (other, second, "two");
  client_ack (other, 1);
  ck_assert_uint_eq (persistent_count (other), 0);
  irisd_stop (irisd);
  home_free (home);
}

/* Results come in the order in which items end, and a client may acknowledge in another. */
TEST (an_acknowledgement_deletes_the_ends_that_it_names_and_no_others)
{
  enum
  {
    N = 20
  };
  Home *home = home_new ();
  Irisd *irisd = home_start (home, NULL);
  g_autoptr (Client) client = client_hello (irisd->front);
  guint64 ids[N], items[N];
  for (guint i = 0; i < N; i++)
    {
      g_autofree char *text = g_strdup_printf ("%u", i);
      items[i] = persistent_submit_echo (client, text, IRIS_WIRE_CLASS_DURABLE, FALSE);
      ids[i] = message_get_id (client_receive_type (client, IRIS_WIRE_RESULT));
    }
  client_ack_ids (client, &ids[N - 1], 1);
  ck_assert_uint_eq (persistent_count (client), N - 1);
  assert_error (persistent_fetch (client, items[N - 1], 0), IRIS_WIRE_ERROR_NO_SUCH_ITEM);

  /* A client with a wrong count, one that names an unknown id, and one that names a completion
   * twice. */
  client_ack_until (client, ids[5], 5);
  assert_error (client_receive (client), IRIS_WIRE_ERROR_BAD_ARGUMENT);
  client_ack_ids (client, (const guint64[]){ ids[1], 1, ids[0] }, 3);
  assert_error (client_receive (client), IRIS_WIRE_ERROR_BAD_ARGUMENT);
  client_ack_ids (client, (const guint64[]){ ids[7], ids[7] }, 2);
  assert_error (client_receive (client), IRIS_WIRE_ERROR_BAD_ARGUMENT);
  g_autoptr (Client) other = client_hello (irisd->front);
  client_ack_ids (other, &ids[3], 1);
  assert_error (client_receive (other), IRIS_WIRE_ERROR_BAD_ARGUMENT);
  ck_assert_uint_eq (persistent_count (client), N - 1);

  client_ack_ids (client, (const guint64[]){ ids[9], ids[2], ids[0], ids[1] }, 4);
  ck_assert_uint_eq (persistent_count (client), N - 5);
  client_ack_until (client, ids[4], 2);
  ck_assert_uint_eq (persistent_count (client), N - 7);
  for (guint i = 5; i < N - 1; i++)
    {
      g_autofree char *text = g_strdup_printf ("%u", i);
      if (i != 9)
        persistent_assert_result (other, items[i], text);
    }
  irisd_stop (irisd);
  home_free (home);
}

TEST (what_was_accepted_survives_kill_9_and_runs)
{
  Home *home = home_new ();
  Irisd *irisd = home_start (home, NULL);
  g_autofree char *gate = gate_new (irisd, "gate");
  g_autofree char *second_gate = gate_new (irisd, "second");
  g_autoptr (Client) client = client_hello (irisd->front);
  guint64 running = persistent_submit_occupier (client, gate, 0);
  guint64 other = persistent_submit_occupier (client, second_gate, 1);
  guint64 queued[20];
  for (guint i = 0; i < G_N_ELEMENTS (queued); i++)
    {
      g_autofree char *text = g_strdup_printf ("item %u", i);
      queued[i] = persistent_submit_echo (client, text, IRIS_WIRE_CLASS_DURABLE, TRUE);
      ck_assert_uint_eq (persistent_get_state (client, queued[i], 0), IRIS_WIRE_STATE_QUEUED);
    }
  irisd_kill (irisd);

  irisd = home_start (home, NULL);
  g_autoptr (Client) again = client_hello (irisd->front);
  ck_assert_uint_eq (persistent_count (again), 2 + G_N_ELEMENTS (queued));
  const IrisWireMessage *pending = persistent_fetch (again, running, 0);
  ck_assert_str_eq (iris_wire_type_name (pending->type), "PENDING");
  gate_pass (gate);
  gate_pass (second_gate);
  for (guint i = 0; i < G_N_ELEMENTS (queued); i++)
    {
      g_autofree char *text = g_strdup_printf ("item %u", i);
      persistent_assert_result (again, queued[i], text);
    }
  persistent_assert_result (again, running, "");
  persistent_assert_result (again, other, "");
  client_ack (again, 2 + G_N_ELEMENTS (queued));
  ck_assert_uint_eq (persistent_count (again), 0);
  guint64 next = persistent_submit_echo (again, "new", IRIS_WIRE_CLASS_DURABLE, FALSE);
  ck_assert_uint_gt (next, queued[19]);
  client_receive_completion (again);
  irisd_stop (irisd);
  home_free (home);
}

TEST (a_second_item_with_the_same_key_is_the_first_one)
{
  Home *home = home_new ();
  Irisd *irisd = home_start (home, NULL);
  g_autofree char *file = g_build_filename (home->base, "ran", NULL);
  g_autofree char *script = g_strdup_printf ("echo x >> %s; cat %s", file, file);
  const char *const args[] = { "sh", "-c", script, NULL };
  guint64 first = 0;
  for (guint round = 0; round < 4; round++)
    {
      g_autoptr (Client) client = client_hello (irisd->front);
      IrisWireMessage item;
      persistent_fill (client, &item, "command", "", IRIS_WIRE_CLASS_DURABLE);
      iris_wire_message_set_args (&item, args);
      iris_wire_message_set_string (&item, IRIS_WIRE_KEY_KEY, "order-7", -1);
      guint64 number = persistent_submit (client, &item);
      if (round == 0)
        first = number;
      ck_assert_uint_eq (number, first);
      const IrisWireMessage *result = client_receive_completion (client);
      ck_assert (message_body_is (result, "x\n"));
      ck_assert_uint_eq (result->item, first);
      client_ack (client, 1);
      if (round == 1)
        {
          irisd_kill (irisd);
          irisd = home_start (home, NULL);
        }
    }
  irisd_stop (irisd);
  home_free (home);
}

TEST (an_item_goes_on_when_its_connection_has_gone)
{
  Home *home = home_new ();
  Irisd *irisd = home_start (home, NULL);
  g_autofree char *gate = gate_new (irisd, "gate");
  const char *const args[] = { "cat", gate, NULL };
  Client *client = client_hello (irisd->front);
  IrisWireMessage item;
  persistent_fill (client, &item, "command", "", IRIS_WIRE_CLASS_DURABLE);
  iris_wire_message_set_args (&item, args);
  guint64 number = persistent_submit (client, &item);
  client_init_message (client, &item, IRIS_WIRE_BYE);
  client_send (client, &item);
  client_free (client);

  g_autoptr (Client) other = client_hello (irisd->front);
  IrisWireMessage request;
  client_init_message (other, &request, IRIS_WIRE_FETCH);
  iris_wire_message_set_uint (&request, IRIS_WIRE_KEY_ITEM, number);
  iris_wire_message_set_uint (&request, IRIS_WIRE_KEY_WAIT_MS, GIVE_UP_MS);
  client_send (other, &request);
  gate_open (gate);
  ck_assert_uint_eq (client_receive_completion (other)->item, number);
  irisd_stop (irisd);
  home_free (home);
}

TEST (a_relaxed_item_is_on_the_disk_soon)
{
  Home *home = home_new ();
  Irisd *irisd = home_start (home, NULL);
  g_autofree char *gate = gate_new (irisd, "gate");
  g_autofree char *second_gate = gate_new (irisd, "second");
  g_autoptr (Client) client = client_hello (irisd->front);
  guint64 occupiers[] = { persistent_submit_occupier (client, gate, 0),
                          persistent_submit_occupier (client, second_gate, 1) };
  guint64 relaxed = persistent_submit_echo (client, "relaxed", IRIS_WIRE_CLASS_RELAXED, TRUE);
  /* A durable item accepted later brings it to the disk. */
  guint64 durable = persistent_submit_echo (client, "durable", IRIS_WIRE_CLASS_DURABLE, TRUE);
  irisd_kill (irisd);

  irisd = home_start (home, NULL);
  g_autoptr (Client) again = client_hello (irisd->front);
  gate_pass (gate);
  gate_pass (second_gate);
  persistent_assert_result (again, relaxed, "relaxed");
  persistent_assert_result (again, durable, "durable");
  for (guint i = 0; i < G_N_ELEMENTS (occupiers); i++)
    persistent_assert_result (again, occupiers[i], "");
  irisd_stop (irisd);
  home_free (home);
}

TEST (without_a_journal_persistent_items_are_refused)
{
  Irisd *irisd = irisd_start (NULL, ONE_WORKER, NULL);
  g_autoptr (Client) client = client_hello (irisd->front);
  IrisWireMessage item;
  persistent_fill (client, &item, "echo", "x", IRIS_WIRE_CLASS_DURABLE);
  client_send (client, &item);
  assert_error (client_receive (client), IRIS_WIRE_ERROR_NOT_DURABLE);
  assert_error (persistent_fetch (client, 1, 0), IRIS_WIRE_ERROR_NOT_DURABLE);
  persistent_fill (client, &item, "echo", "x", IRIS_WIRE_CLASS_VOLATILE);
  iris_wire_message_set_string (&item, IRIS_WIRE_KEY_KEY, "k", -1);
  client_send (client, &item);
  assert_error (client_receive (client), IRIS_WIRE_ERROR_BAD_ARGUMENT);
  irisd_finish (irisd);
}

TEST (a_cancelled_item_stays_cancelled)
{
  Home *home = home_new ();
  Irisd *irisd = home_start (home, NULL);
  g_autofree char *first = gate_new (irisd, "first"), *second = gate_new (irisd, "second");
  g_autoptr (Client) other = client_hello (irisd->front);
  g_autoptr (Client) client = client_hello (irisd->front);
  client_occupy (other, first, 0);
  client_occupy (other, second, 1);
  IrisWireMessage item;
  persistent_fill (client, &item, "echo", "never", IRIS_WIRE_CLASS_DURABLE);
  guint64 id = message_get_id (&item);
  guint64 number = persistent_submit (client, &item);
  client_cancel (client, id);
  client_receive_type (client, IRIS_WIRE_CANCELLING);
  gate_open (first);
  gate_open (second);
  const IrisWireMessage *completion = client_receive_completion (client);
  assert_error (completion, IRIS_WIRE_ERROR_CANCELLED);
  ck_assert_uint_eq (completion->item, number);
  irisd_kill (irisd);

  irisd = home_start (home, NULL);
  g_autoptr (Client) again = client_hello (irisd->front);
  ck_assert_uint_eq (persistent_get_state (again, number, 0), IRIS_WIRE_STATE_CANCELLED);
  assert_error (persistent_fetch (again, number, 0), IRIS_WIRE_ERROR_CANCELLED);
  irisd_stop (irisd);
  home_free (home);
}

TEST (the_numbers_of_a_batch_follow_each_other)
{
  Home *home = home_new ();
  Irisd *irisd = home_start (home, NULL);
  g_autoptr (Client) client = client_hello (irisd->front);
  g_auto (IrisWireBatchBuilder) builder;
  iris_wire_batch_builder_init (&builder, NULL);
  for (guint i = 0; i < 10; i++)
    {
      g_autofree char *text = g_strdup_printf ("%u", i);
      IrisWireMessage item;
      persistent_fill (client, &item, i == 4 ? "ecko" : "echo", text, IRIS_WIRE_CLASS_DURABLE);
      iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_DETACH, TRUE);
      ck_assert (iris_wire_batch_builder_add (&builder, &item, NULL));
    }
  IrisWireMessage batch;
  client_init_message (client, &batch, IRIS_WIRE_BATCH);
  batch.body = iris_wire_batch_builder_get_body (&builder);
  client_send (client, &batch);
  assert_error (client_receive (client), IRIS_WIRE_ERROR_UNKNOWN_SERVICE);
  const IrisWireMessage *accepted = client_receive_type (client, IRIS_WIRE_ACCEPTED);
  ck_assert_uint_eq (accepted->count, 9);
  guint64 first = accepted->item;
  for (guint i = 0; i < 9; i++)
    {
      g_autofree char *text = g_strdup_printf ("%u", i < 4 ? i : i + 1);
      persistent_assert_result (client, first + i, text);
    }
  irisd_stop (irisd);
  home_free (home);
}

/* Until irisd has learnt that echo is brief. */
static void
teach (Client *client)
{
  for (guint i = 0; i < 200; i++)
    {
      client_submit (client, "echo", "x", 1, IRIS_PLACE_ANY, FALSE);
      client_receive_completion (client);
      client_ack (client, 1);
    }
}

static void
send_mixed_batch (Client *client, guint n)
{
  static const guint classes[] = { IRIS_WIRE_CLASS_DURABLE, IRIS_WIRE_CLASS_RELAXED };
  g_auto (IrisWireBatchBuilder) builder;
  iris_wire_batch_builder_init (&builder, NULL);
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *text = g_strdup_printf ("%u", i);
      IrisWireMessage item;
      persistent_fill (client, &item, "echo", text, classes[i % 2]);
      ck_assert (iris_wire_batch_builder_add (&builder, &item, NULL));
    }
  IrisWireMessage batch;
  client_init_message (client, &batch, IRIS_WIRE_BATCH);
  batch.body = iris_wire_batch_builder_get_body (&builder);
  client_send (client, &batch);
}

TEST (a_persistent_item_that_ends_at_once_is_accepted_and_told_like_others)
{
  enum
  {
    N = 100,
    ACKED = 41
  };
  Home *home = home_new ();
  Irisd *irisd = home_start (home, NULL);
  g_autoptr (Client) client = client_hello (irisd->front);
  teach (client);
  send_mixed_batch (client, N);
  guint64 items[N] = { 0 }, first = 0;
  guint n = 0;
  while (n < N || first == 0)
    {
      const IrisWireMessage *message = client_receive (client);
      if (message->type == IRIS_WIRE_ACCEPTED)
        {
          ck_assert_uint_eq (message->count, N);
          first = message->item;
          continue;
        }
      ck_assert_int_eq (message->type, IRIS_WIRE_RESULT);
      items[n++] = message->item;
    }
  ck_assert_uint_eq (persistent_count (client), N);
  client_ack (client, ACKED);
  ck_assert_uint_eq (persistent_count (client), N - ACKED);
  /* A durable one brings the relaxed ones to the disk. */
  persistent_submit_echo (client, "last", IRIS_WIRE_CLASS_DURABLE, TRUE);
  irisd_kill (irisd);

  irisd = home_start (home, NULL);
  g_autoptr (Client) again = client_hello (irisd->front);
  for (guint i = 0; i < N; i++)
    {
      g_autofree char *text = g_strdup_printf ("%" G_GUINT64_FORMAT, items[i] - first);
      if (i >= ACKED)
        persistent_assert_result (again, items[i], text);
    }
  irisd_stop (irisd);
  home_free (home);
}

TEST (an_end_expires)
{
  Home *home = home_new ();
  Irisd *irisd = home_start (home, NULL);
  g_autoptr (Client) client = client_hello (irisd->front);
  IrisWireMessage item;
  persistent_fill (client, &item, "echo", "x", IRIS_WIRE_CLASS_DURABLE);
  iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_KEEP_MS, 0);
  guint64 number = persistent_submit (client, &item);
  client_receive_completion (client);
  assert_error (persistent_fetch (client, number, 0), IRIS_WIRE_ERROR_NO_SUCH_ITEM);
  persistent_fill (client, &item, "echo", "x", IRIS_WIRE_CLASS_DURABLE);
  iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_KEEP_MS, G_MAXUINT64);
  client_send (client, &item);
  assert_error (client_receive (client), IRIS_WIRE_ERROR_BAD_ARGUMENT);
  irisd_stop (irisd);
  home_free (home);
}

TEST (persistent_items_are_listed_in_pages)
{
  Home *home = home_new ();
  Irisd *irisd = home_start (home, NULL);
  g_autoptr (Client) client = client_hello (irisd->front);
  for (guint i = 0; i < 25; i++)
    persistent_get_state (
        client, persistent_submit_echo (client, "x", IRIS_WIRE_CLASS_RELAXED, TRUE), GIVE_UP_MS);
  guint64 after = 0;
  guint n = 0;
  for (;;)
    {
      g_autoptr (IrisWirePersistentList) page = persistent_list (client, after, 10);
      if (page->n_items == 0)
        break;
      for (guint i = 0; i < page->n_items; i++)
        {
          ck_assert_uint_gt (page->items[i].item, after);
          ck_assert_uint_eq (page->items[i].state, IRIS_WIRE_STATE_DONE);
          after = page->items[i].item;
        }
      n += page->n_items;
    }
  ck_assert_uint_eq (n, 25);
  irisd_stop (irisd);
  home_free (home);
}

TEST_MAIN ("irisd-durable", NULL, NULL)
