/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Many completions in one message, for clients with the feature.
 */
#include "irisd-fixture.h"

#define ITEMS     48
#define LARGE     20000
#define MANY      200 /* rounds, one of which has to bring a message with several completions */
#define ALL_FEATS G_MAXUINT64

static Irisd *irisd;
static Client *client;

static void
set_up (void)
{
  irisd = irisd_start ("[limits]\nin-flight-items = 64\nmax-batch = 64\n", ONE_WORKER, NULL);
  client = client_new (irisd->front);
}

static void
tear_down (void)
{
  client_free (client);
  irisd_finish (irisd);
}

static const IrisWireMessage *
say_hello (guint64 features)
{
  IrisWireMessage hello;
  client_init_message (client, &hello, IRIS_WIRE_HELLO);
  iris_wire_message_set_uint (&hello, IRIS_WIRE_KEY_VERSION_MIN, 1);
  iris_wire_message_set_uint (&hello, IRIS_WIRE_KEY_VERSION_MAX, 1);
  iris_wire_message_set_uint (&hello, IRIS_WIRE_KEY_FEATURES, features);
  client_send (client, &hello);
  return client_receive_type (client, IRIS_WIRE_WELCOME);
}

/* The payload of an item: its index, and every fifth is too large to be copied. */
static gsize
fill (guint i, char *payload)
{
  memset (payload, 'x', LARGE);
  g_snprintf (payload, 16, "%u", i);
  return i % 5 == 4 ? LARGE : 16;
}

static guint64
send_batch (void)
{
  g_auto (IrisWireBatchBuilder) batch;
  IrisWireMessage message;
  char payload[LARGE];
  guint64 first = client->next_id + 1;
  iris_wire_batch_builder_init (&batch, NULL);
  for (guint i = 0; i < ITEMS; i++)
    {
      client_init_message (client, &message, IRIS_WIRE_SUBMIT);
      iris_wire_message_set_string (&message, IRIS_WIRE_KEY_SERVICE, "echo", -1);
      iris_wire_message_set_body (&message, payload, fill (i, payload));
      ck_assert (iris_wire_batch_builder_add (&batch, &message, NULL));
    }
  client_init_message (client, &message, IRIS_WIRE_BATCH);
  iris_wire_message_set_boolean (&message, IRIS_WIRE_KEY_QUIET, TRUE);
  message.body = iris_wire_batch_builder_get_body (&batch);
  client_send (client, &message);
  return first;
}

/* Notes the completion of an item, which must be its only one and correct. */
static void
note (const IrisWireMessage *completion, guint64 first, gboolean *seen, GArray *ids)
{
  char payload[LARGE];
  guint64 id = message_get_id (completion);
  ck_assert_uint_ge (id, first);
  ck_assert_uint_lt (id, first + ITEMS);
  guint i = (guint) (id - first);
  ck_assert (!seen[i]);
  seen[i] = TRUE;
  ck_assert_int_eq (completion->type, IRIS_WIRE_RESULT);
  ck_assert_uint_eq (completion->body.size, fill (i, payload));
  ck_assert_mem_eq (completion->body.data, payload, completion->body.size);
  g_array_append_val (ids, id);
}

/* Returns how many completions the longest message had. */
static guint
take_all (guint64 first, GArray *ids)
{
  gboolean seen[ITEMS] = { FALSE };
  guint most = 1;
  g_array_set_size (ids, 0);
  while (ids->len < ITEMS)
    {
      const IrisWireMessage *message = client_receive (client);
      if (message->type != IRIS_WIRE_COMPLETIONS)
        {
          note (message, first, seen, ids);
          continue;
        }
      g_autoptr (GError) error = NULL;
      IrisWireBatchIter iter;
      IrisWireMessage completion;
      ck_assert (iris_wire_batch_iter_init_completions (&iter, message->body, NULL, NULL));
      while (iris_wire_batch_iter_next (&iter, &completion, &error) == IRIS_WIRE_BATCH_ITEM)
        {
          ck_assert_uint_lt (completion.body.size, LARGE);
          note (&completion, first, seen, ids);
        }
      ck_assert_ptr_null (error);
      ck_assert_uint_ge (iter.n_items, 2);
      most = MAX (most, iter.n_items);
    }
  return most;
}

TEST (only_known_features_are_granted)
{
  ck_assert_uint_eq (say_hello (0)->features, 0);
  ck_assert_uint_eq (say_hello (ALL_FEATS)->features,
                     IRIS_WIRE_FEATURE_COMPLETIONS | IRIS_WIRE_FEATURE_ASKS_ONLY
                         | IRIS_WIRE_FEATURE_TWO_FRAMES | IRIS_WIRE_FEATURE_RESUME);
  ck_assert_uint_eq (say_hello (2)->features, 0);
}

TEST (completions_of_a_turn_come_in_one_message)
{
  g_autoptr (GArray) ids = g_array_new (FALSE, FALSE, sizeof (guint64));
  guint most = 1;
  say_hello (IRIS_WIRE_FEATURE_COMPLETIONS);
  for (guint round = 0; round < MANY && most == 1; round++)
    {
      most = take_all (send_batch (), ids);
      if (round % 2 == 0)
        client_ack_until (client, g_array_index (ids, guint64, ITEMS - 1), ITEMS);
      else
        client_ack_ids (client, (const guint64 *) (void *) ids->data, ITEMS);
    }
  ck_assert_uint_gt (most, 1);
  /* All were acknowledged. */
  ck_assert_uint_eq (say_hello (0)->credits, 64);
}

TEST (a_client_without_the_feature_gets_each_completion_by_itself)
{
  g_autoptr (GArray) ids = g_array_new (FALSE, FALSE, sizeof (guint64));
  say_hello (0);
  for (guint round = 0; round < 20; round++)
    {
      ck_assert_uint_eq (take_all (send_batch (), ids), 1);
      client_ack (client, ITEMS);
    }
}

/* Submits items that depend on one that is cancelled then. Returns the id of that. */
static guint64
send_doomed (const char *gate, guint n)
{
  const char *const args[] = { "cat", gate, NULL };
  IrisWireMessage item;
  client_init_message (client, &item, IRIS_WIRE_SUBMIT);
  iris_wire_message_set_string (&item, IRIS_WIRE_KEY_SERVICE, "command", -1);
  iris_wire_message_set_args (&item, args);
  client_send (client, &item);
  guint64 number = client_receive_type (client, IRIS_WIRE_ACCEPTED)->item;
  guint64 held = client->next_id;
  for (guint i = 0; i < n; i++)
    {
      client_init_message (client, &item, IRIS_WIRE_SUBMIT);
      iris_wire_message_set_string (&item, IRIS_WIRE_KEY_SERVICE, "echo", -1);
      iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_QUIET, TRUE);
      iris_wire_message_set_numbers (&item, IRIS_WIRE_KEY_AFTER, &number, 1);
      iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_AFTER_HOW, IRIS_WIRE_AFTER_SUCCESS);
      client_send (client, &item);
    }
  client_call (client, IRIS_WIRE_PING, IRIS_WIRE_PONG);
  return held;
}

static void
check_doomed (const IrisWireMessage *completion, guint64 held)
{
  ck_assert (completion->ends);
  assert_error (completion, message_get_id (completion) == held
                                ? IRIS_WIRE_ERROR_CANCELLED
                                : IRIS_WIRE_ERROR_DEPENDENCY_FAILED);
}

TEST (errors_are_bundled_too)
{
  enum
  {
    N = 40
  };
  g_autofree char *gate = gate_new (irisd, "gate");
  guint most = 1;
  for (guint round = 0; round < MANY && most == 1; round++)
    {
      say_hello (IRIS_WIRE_FEATURE_COMPLETIONS);
      guint64 held = send_doomed (gate, N);
      client_cancel (client, held);
      client_receive_type (client, IRIS_WIRE_CANCELLING);
      for (guint n = 0; n < N + 1;)
        {
          const IrisWireMessage *message = client_receive (client);
          if (message->type != IRIS_WIRE_COMPLETIONS)
            {
              check_doomed (message, held);
              client_ack (client, 1);
              n++;
              continue;
            }
          IrisWireBatchIter iter;
          IrisWireMessage completion;
          g_autoptr (GArray) ids = g_array_new (FALSE, FALSE, sizeof (guint64));
          ck_assert (iris_wire_batch_iter_init_completions (&iter, message->body, NULL, NULL));
          while (iris_wire_batch_iter_next (&iter, &completion, NULL) == IRIS_WIRE_BATCH_ITEM)
            {
              check_doomed (&completion, held);
              guint64 id = message_get_id (&completion);
              g_array_append_val (ids, id);
            }
          client_ack_ids (client, (const guint64 *) (void *) ids->data, ids->len);
          n += ids->len;
          most = MAX (most, ids->len);
        }
    }
  ck_assert_uint_gt (most, 1);
}

TEST_MAIN ("irisd-completions", set_up, tear_down)
