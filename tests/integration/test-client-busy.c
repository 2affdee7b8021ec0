/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * libiris-client and a busy irisd: refused requests are sent again.
 */
#include "irisd-fixture.h"

#include <iris-client/iris-client.h>

#define N_ITEMS   TIMES (200)
#define N_CLIENTS 4
#define N_EACH    TIMES (100)

static Irisd *irisd;
static guint n_well, n_ended;
static GError *last_error;

static void
on_result (GObject *source, GAsyncResult *async, gpointer data)
{
  g_clear_error (&last_error);
  g_autoptr (IrisResult)
      result = iris_client_submit_finish (IRIS_CLIENT (source), async, &last_error);
  n_well += result != NULL;
  n_ended++;
}

static void
on_fetched (GObject *source, GAsyncResult *async, gpointer data)
{
  g_clear_error (&last_error);
  g_autoptr (IrisResult)
      result = iris_client_fetch_finish (IRIS_CLIENT (source), async, &last_error);
  n_well += result != NULL;
  n_ended++;
}

static void
on_shown (GObject *source, GAsyncResult *async, gpointer data)
{
  g_clear_error (&last_error);
  g_autoptr (IrisClientItem)
      item = iris_client_show_finish (IRIS_CLIENT (source), async, &last_error);
  n_well += item != NULL;
  n_ended++;
}

static void
on_connected (GObject *source, GAsyncResult *async, gpointer data)
{
  g_clear_error (&last_error);
  n_well += iris_client_connect_finish (IRIS_CLIENT (source), async, &last_error);
  n_ended++;
}

static void
wait_for (guint n)
{
  while (n_ended < n)
    g_main_context_iteration (NULL, TRUE);
}

static void
start (const char *config)
{
  irisd = irisd_start (config, ONE_WORKER, NULL);
  n_well = n_ended = 0;
}

static void
finish (void)
{
  g_clear_error (&last_error);
  irisd_finish (irisd);
}

static void
submit (IrisClient *client)
{
  g_autoptr (IrisRequest) request = iris_request_new ("echo");
  iris_client_submit_async (client, request, NULL, on_result, NULL);
}

static guint64
get_refused (void)
{
  g_autoptr (Client) raw = client_hello (irisd->front);
  g_autoptr (IrisWireStatus) status = client_get_status (raw);
  return status->refused;
}

/* Two clients share room for one item: each is refused now and then. */
TEST (items_are_sent_again_until_there_is_room)
{
  start ("[limits]\ntotal-items = 1\nin-flight-items = 1\n");
  IrisClient *clients[2] = { iris_client_new (irisd->dir), iris_client_new (irisd->dir) };
  for (guint i = 0; i < N_ITEMS; i++)
    submit (clients[i % 2]);
  wait_for (N_ITEMS);
  ck_assert_uint_eq (n_well, N_ITEMS);
  g_object_unref (clients[0]);
  g_object_unref (clients[1]);
  finish ();
}

/* The item in progress holds the room until the test lets it end. */
TEST (an_item_waits_as_long_as_it_may)
{
  start ("[limits]\ntotal-items = 1\nin-flight-items = 1\n");
  g_autoptr (Client) other = client_hello (irisd->front);
  g_autoptr (IrisClient) client = iris_client_new (irisd->dir);
  g_autofree char *gate = gate_new (irisd, "gate");
  client_submit_command (other, NULL,
                         (const char *const[]){ "sh", "-c", "echo >$0; cat $0", gate, NULL });
  close (gate_wait (gate));
  submit (client);
  for (guint64 refused = 0; refused < 3; refused = get_refused ())
    while (g_main_context_iteration (NULL, FALSE))
      ;
  ck_assert_uint_eq (n_ended, 0);
  gate_open (gate);
  wait_for (1);
  ck_assert_uint_eq (n_well, 1);
  g_clear_object (&client);
  /* 0: no waiting. */
  client_receive_completion (other);
  client_ack (other, 1);
  g_autofree char *again = gate_new (irisd, "again");
  client_submit_command (other, NULL,
                         (const char *const[]){ "sh", "-c", "echo >$0; cat $0", again, NULL });
  close (gate_wait (again));
  client = iris_client_new (irisd->dir);
  g_object_set (client, "busy-timeout", 0, NULL);
  submit (client);
  wait_for (2);
  ck_assert (g_error_matches (last_error, IRIS_CLIENT_ERROR, IRIS_CLIENT_ERROR_BUSY));
  gate_open (again);
  client_receive_completion (other);
  g_clear_object (&client);
  client_free (g_steal_pointer (&other));
  finish ();
}

/* Each FETCH holds a credit until it is answered, and there is one. */
TEST (a_fetch_is_sent_again_too)
{
  g_autofree char *journal = g_dir_make_tmp ("iris-test-XXXXXX", NULL);
  g_autofree char *option = g_strdup_printf ("--journal=%s", journal);
  irisd = irisd_start ("[limits]\nin-flight-items = 1\n", ONE_WORKER, option, NULL);
  n_well = n_ended = 0;
  g_autoptr (Client) other = client_hello (irisd->front);
  g_autofree char *gate = gate_new (irisd, "gate");
  IrisWireMessage item;
  client_init_message (other, &item, IRIS_WIRE_SUBMIT);
  iris_wire_message_set_string (&item, IRIS_WIRE_KEY_SERVICE, "command", -1);
  iris_wire_message_set_args (&item, (const char *const[]){ "cat", gate, NULL });
  iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_CLASS, IRIS_WIRE_CLASS_DURABLE);
  iris_wire_message_set_string (&item, IRIS_WIRE_KEY_KEY, "stays", -1);
  iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_DETACH, TRUE);
  client_send (other, &item);
  guint64 number = client_receive_type (other, IRIS_WIRE_ACCEPTED)->item;

  IrisClient *client = iris_client_new (irisd->dir);
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  for (guint i = 0; i < 2; i++)
    iris_client_fetch_async (client, number, GIVE_UP_MS, NULL, on_fetched, NULL);
  iris_client_fetch_async (client, number, GIVE_UP_MS, cancellable, on_fetched, NULL);
  for (guint64 refused = 0; refused < 2; refused = get_refused ())
    while (g_main_context_iteration (NULL, FALSE))
      ;
  ck_assert_uint_eq (n_ended, 0);
  /* A request that is not about an end needs none. */
  iris_client_show_async (client, number, 0, NULL, on_shown, NULL);
  wait_for (1);
  ck_assert_msg (n_well == 1, "%s", last_error != NULL ? last_error->message : "");
  g_cancellable_cancel (cancellable);
  wait_for (2);
  ck_assert (g_error_matches (last_error, G_IO_ERROR, G_IO_ERROR_CANCELLED));
  gate_open (gate);
  wait_for (4);
  ck_assert_uint_eq (n_well, 3);
  g_object_unref (client);
  client_free (g_steal_pointer (&other));
  finish ();
  irisd_remove_all (journal);
}

/* However many wait, one is refused for each pause, and pauses grow. */
TEST (a_full_irisd_is_not_asked_all_the_time)
{
  start ("[limits]\ntotal-items = 1\nin-flight-items = 1\n");
  g_autoptr (Client) other = client_hello (irisd->front);
  g_autofree char *gate = gate_new (irisd, "gate");
  client_submit_command (other, NULL,
                         (const char *const[]){ "sh", "-c", "echo >$0; cat $0", gate, NULL });
  close (gate_wait (gate));
  IrisClient *clients[N_CLIENTS];
  for (guint i = 0; i < N_CLIENTS; i++)
    {
      clients[i] = iris_client_new (irisd->dir);
      for (guint j = 0; j < N_EACH; j++)
        submit (clients[i]);
    }
  for (guint64 refused = 0; refused < 5 * N_CLIENTS; refused = get_refused ())
    while (g_main_context_iteration (NULL, FALSE))
      ;
  for (guint i = 0; i < N_CLIENTS; i++)
    {
      while (iris_client_get_busy_reason (clients[i]) == NULL)
        g_main_context_iteration (NULL, TRUE);
      ck_assert_ptr_nonnull (strstr (iris_client_get_busy_reason (clients[i]), "total-items (1)"));
    }
  ck_assert_uint_eq (n_ended, 0);

  /* Items that irisd does not have can be withdrawn. */
  guint withdrawn = iris_client_withdraw_unsent (clients[0]);
  ck_assert_uint_gt (withdrawn, 0);
  wait_for (withdrawn);
  ck_assert (g_error_matches (last_error, G_IO_ERROR, G_IO_ERROR_CANCELLED));
  gate_open (gate);
  wait_for (N_CLIENTS * N_EACH);
  ck_assert_uint_eq (n_well, N_CLIENTS * N_EACH - withdrawn);
  for (guint i = 0; i < N_CLIENTS; i++)
    g_object_unref (clients[i]);
  client_receive_completion (other);
  client_free (g_steal_pointer (&other));
  finish ();
}

/* An item that waits behind a refused item is not refused itself. */
TEST (what_waits_behind_a_refused_item_gives_up_with_it)
{
  start ("[limits]\ntotal-items = 1\nin-flight-items = 1\n");
  g_autoptr (Client) other = client_hello (irisd->front);
  g_autoptr (IrisClient) client = iris_client_new (irisd->dir);
  g_autofree char *gate = gate_new (irisd, "gate");
  client_submit_command (other, NULL,
                         (const char *const[]){ "sh", "-c", "echo >$0; cat $0", gate, NULL });
  close (gate_wait (gate));
  g_object_set (client, "busy-timeout", 100, NULL);
  for (guint i = 0; i < N_ITEMS; i++)
    submit (client);
  wait_for (N_ITEMS);
  ck_assert_uint_eq (n_well, 0);
  ck_assert (g_error_matches (last_error, IRIS_CLIENT_ERROR, IRIS_CLIENT_ERROR_BUSY));
  ck_assert_ptr_null (iris_client_get_busy_reason (client));
  gate_open (gate);
  client_receive_completion (other);
  g_clear_object (&client);
  client_free (g_steal_pointer (&other));
  finish ();
}

TEST (hello_is_sent_again_to_a_busy_irisd)
{
  start ("[limits]\nmax-peers = 1\n");
  g_autoptr (Client) other = client_hello (irisd->front);
  g_autoptr (IrisClient) client = iris_client_new (irisd->dir);
  iris_client_connect_async (client, NULL, on_connected, NULL);
  for (guint64 refused = 0; refused < 1;)
    {
      while (g_main_context_iteration (NULL, FALSE))
        ;
      g_autofree char *log = irisd_read_log (irisd);
      refused = strstr (log, "max-peers") != NULL;
    }
  ck_assert_uint_eq (n_ended, 0);
  IrisWireMessage bye;
  client_init_message (other, &bye, IRIS_WIRE_BYE);
  client_send (other, &bye);
  wait_for (1);
  ck_assert_msg (n_well == 1, "%s", last_error != NULL ? last_error->message : "");
  submit (client);
  wait_for (2);
  ck_assert_uint_eq (n_well, 2);

  g_autoptr (IrisClient) hasty = iris_client_new (irisd->dir);
  g_object_set (hasty, "busy-timeout", 0, NULL);
  iris_client_connect_async (hasty, NULL, on_connected, NULL);
  wait_for (3);
  ck_assert (g_error_matches (last_error, IRIS_CLIENT_ERROR, IRIS_CLIENT_ERROR_BUSY));
  g_clear_object (&hasty);
  g_clear_object (&client);
  client_free (g_steal_pointer (&other));
  finish ();
}

TEST_MAIN ("client-busy", NULL, NULL)
