/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * IrisWorkerProcess, the worker of libiris-client, against a real irisd.
 */
#include "irisd-home.h"

#include <iris-client/iris-client.h>
#include <signal.h>

#define N_ITEMS TIMES (2000)

static Irisd *irisd;
static IrisWorkerProcess *worker;
static GCancellable *stop;
static gboolean ended;
static GError *end_error;
static GQueue held = G_QUEUE_INIT; /* of IrisLease */
static guint n_stopped;
static guint n_leased;

static void
on_ended (GObject *source, GAsyncResult *result, gpointer data)
{
  gboolean well = iris_worker_process_run_finish (IRIS_WORKER_PROCESS (source), result, &end_error);
  ck_assert_int_eq (well, end_error == NULL);
  ended = TRUE;
}

static void
wait_until (gboolean (*condition) (void))
{
  while (!condition ())
    g_main_context_iteration (NULL, TRUE);
}

static gboolean
is_serving (void)
{
  return ended || iris_worker_process_is_serving (worker);
}

static gboolean
is_away (void)
{
  return !iris_worker_process_is_serving (worker);
}

static gboolean
has_ended (void)
{
  return ended;
}

static gboolean
holds_one (void)
{
  return held.length > 0;
}

static gboolean
was_stopped (void)
{
  return n_stopped > 0;
}

static void
on_stopped (GCancellable *cancellable, gpointer data)
{
  n_stopped++;
}

static void
shout (IrisWorkerProcess *self, IrisLease *lease, gpointer data)
{
  gsize size = 0;
  const char *text = g_bytes_get_data (iris_lease_get_payload (lease), &size);
  char *loud = g_ascii_strup (text != NULL ? text : "", (gssize) size);
  g_autoptr (GBytes) body = g_bytes_new_take (loud, size);
  ck_assert_str_eq (data, "user data");
  n_leased++;
  iris_lease_report (lease, 0.5, "half of it");
  iris_lease_done (lease, body, "text/plain");
}

static void
hold (IrisWorkerProcess *self, IrisLease *lease, gpointer data)
{
  g_cancellable_connect (iris_lease_get_cancellable (lease), G_CALLBACK (on_stopped), NULL, NULL);
  g_queue_push_tail (&held, g_object_ref (lease));
}

static void
drop (IrisWorkerProcess *self, IrisLease *lease, gpointer data)
{
}

static void
describe (IrisWorkerProcess *self, IrisLease *lease, gpointer data)
{
  const char *const *args = iris_lease_get_args (lease);
  g_autofree char *text = g_strdup_printf (
      "%s|%s|%s|%s|%u|%d", iris_lease_get_service (lease), iris_lease_get_content_type (lease),
      iris_lease_get_path (lease), args[0], iris_lease_get_attempt (lease),
      iris_lease_wants_progress (lease));
  g_autoptr (GBytes) body = g_bytes_new (text, strlen (text));
  iris_lease_done (lease, body, NULL);
}

/* That many bytes in parts of 1000, which count up; then the number of bytes that wait for
 * credit. */
static void
in_parts (IrisWorkerProcess *self, IrisLease *lease, gpointer data)
{
  GBytes *payload = iris_lease_get_payload (lease);
  g_autofree char *number = g_strndup (g_bytes_get_data (payload, NULL),
                                       g_bytes_get_size (payload));
  guint n = (guint) g_ascii_strtoull (number, NULL, 10);
  n_leased++;
  iris_lease_report (lease, 0.25, "making parts");
  for (guint i = 0; i < n; i += 1000)
    {
      guint8 *part = g_malloc (1000);
      for (guint at = 0; at < 1000; at++)
        part[at] = (guint8) ((i + at) % 251);
      g_autoptr (GBytes) bytes = g_bytes_new_take (part, 1000);
      iris_lease_send_part (lease, bytes);
    }
  g_autofree char *text = g_strdup_printf ("%d %" G_GUINT64_FORMAT, iris_lease_wants_parts (lease),
                                           iris_lease_get_pending (lease));
  g_autoptr (GBytes) body = g_bytes_new (text, strlen (text));
  iris_lease_done (lease, body, NULL);
}

static void
try_again (IrisWorkerProcess *self, IrisLease *lease, gpointer data)
{
  if (iris_lease_get_attempt (lease) < 3)
    iris_lease_fail (lease, "not yet", TRUE);
  else
    iris_lease_done (lease, NULL, NULL);
}

static void
overdo (IrisWorkerProcess *self, IrisLease *lease, gpointer data)
{
  g_autoptr (GBytes) body = g_bytes_new_take (g_malloc0 (100 * 1024), 100 * 1024);
  iris_lease_done (lease, body, NULL);
}

static void
serve (guint capacity)
{
  worker = iris_worker_process_new (irisd->dir);
  g_object_set (worker, "capacity", capacity, "name", "tester", NULL);
  stop = g_cancellable_new ();
  ended = FALSE;
  n_stopped = n_leased = 0;
  iris_worker_process_add_service (worker, "shout", "capitals", shout, g_strdup ("user data"),
                                   g_free);
  iris_worker_process_add_service (worker, "keep", NULL, hold, NULL, NULL);
  iris_worker_process_add_service (worker, "drop", NULL, drop, NULL, NULL);
  iris_worker_process_add_service (worker, "describe", NULL, describe, NULL, NULL);
  iris_worker_process_add_service (worker, "in-parts", NULL, in_parts, NULL, NULL);
  iris_worker_process_add_service (worker, "try-again", NULL, try_again, NULL, NULL);
  iris_worker_process_add_service (worker, "overdo", NULL, overdo, NULL, NULL);
  iris_worker_process_run_async (worker, stop, on_ended, NULL);
  wait_until (is_serving);
  ck_assert (!ended);
}

static void
start (const char *config, guint capacity)
{
  irisd = irisd_start (config, TWO_PLACES, NULL);
  serve (capacity);
}

static void
finish (void)
{
  while (held.length > 0)
    g_object_unref (g_queue_pop_head (&held));
  g_cancellable_cancel (stop);
  wait_until (has_ended);
  ck_assert_ptr_null (end_error);
  g_clear_object (&worker);
  g_clear_object (&stop);
  irisd_finish (irisd);
}

static void
assert_result (const IrisWireMessage *completion)
{
  g_autofree char *text = iris_wire_message_to_string (completion);
  ck_assert_msg (completion->type == IRIS_WIRE_RESULT, "%s", text);
}

static gpointer
submit_many (gpointer data)
{
  g_autoptr (Client) client = client_hello (data);
  guint n_done = 0;
  for (guint i = 0; i < N_ITEMS; i++)
    {
      client_submit (client, "shout", "abc", 3, IRIS_PLACE_ANY, FALSE);
      if (i % 32 < 31 && i + 1 < N_ITEMS)
        continue;
      for (; n_done <= i; n_done++)
        {
          const IrisWireMessage *completion = client_receive_completion (client);
          assert_result (completion);
          ck_assert (message_body_is (completion, "ABC"));
          client_ack (client, 1);
        }
    }
  return NULL;
}

/* Another thread sends a request while this one serves. */
static const IrisWireMessage *
ask (Client *client, const char *service, const char *payload)
{
  client_submit (client, service, payload, strlen (payload), IRIS_PLACE_ANY, FALSE);
  for (;;)
    {
      while (g_main_context_iteration (NULL, FALSE))
        ;
      if (client_try_receive (client)
          && (client->message.type == IRIS_WIRE_RESULT
              || client->message.type == IRIS_WIRE_ERROR_REPLY))
        return &client->message;
    }
}

TEST (many_items_are_served)
{
  start (NULL, 8);
  GThread *thread = g_thread_new ("submitter", submit_many, irisd->front);
  while (n_leased < N_ITEMS)
    g_main_context_iteration (NULL, TRUE);
  g_thread_join (thread);
  finish ();
}

TEST (an_item_tells_all_that_the_client_sent)
{
  start (NULL, 1);
  g_autoptr (Client) client = client_hello (irisd->front);
  IrisWireMessage item;
  client_init_message (client, &item, IRIS_WIRE_SUBMIT);
  iris_wire_message_set_string (&item, IRIS_WIRE_KEY_SERVICE, "describe", -1);
  iris_wire_message_set_string (&item, IRIS_WIRE_KEY_CONTENT_TYPE, "x/y", -1);
  iris_wire_message_set_string (&item, IRIS_WIRE_KEY_PATH, "/tmp/caf\xe9", -1);
  iris_wire_message_set_args (&item, (const char *const[]){ "one", NULL });
  iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_PROGRESS, TRUE);
  iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_QUIET, TRUE);
  client_send (client, &item);
  while (!client_try_receive (client))
    g_main_context_iteration (NULL, FALSE);
  ck_assert (message_body_is (&client->message, "describe|x/y|/tmp/caf\xe9|one|1|1"));
  finish ();
}

static GByteArray *taken;
static guint n_progress, n_attempts;
static IrisResult *result;

static void
on_part (IrisRequest *request, guint attempt, GBytes *part, gpointer data)
{
  ck_assert_ptr_null (result); /* before the end */
  n_attempts = MAX (n_attempts, attempt);
  g_byte_array_append (taken, g_bytes_get_data (part, NULL), (guint) g_bytes_get_size (part));
}

static void
on_progress (IrisRequest *request, double fraction, const char *note, gpointer data)
{
  ck_assert (fraction == 0.25);
  ck_assert_str_eq (note, "making parts");
  n_progress++;
}

static void
on_result (GObject *source, GAsyncResult *async, gpointer data)
{
  g_autoptr (GError) error = NULL;
  result = iris_client_submit_finish (IRIS_CLIENT (source), async, &error);
  ck_assert_msg (result != NULL, "%s", error != NULL ? error->message : "");
}

static void
submit_in_parts (IrisClient *client, const char *n)
{
  g_autoptr (IrisRequest) request = iris_request_new ("in-parts");
  g_autoptr (GBytes) payload = g_bytes_new (n, strlen (n));
  g_clear_pointer (&result, iris_result_unref);
  iris_request_set_payload (request, payload);
  iris_request_set_part_func (request, on_part, NULL, NULL);
  iris_request_set_progress_func (request, on_progress, NULL, NULL);
  iris_client_submit_async (client, request, NULL, on_result, NULL);
  while (result == NULL)
    g_main_context_iteration (NULL, TRUE);
}

TEST (parts_come_as_the_client_takes_them)
{
  start (NULL, 1);
  g_autoptr (IrisClient) client = iris_client_new (irisd->dir);
  taken = g_byte_array_new ();
  n_progress = n_attempts = 0;
  submit_in_parts (client, "2000000");
  ck_assert_uint_eq (taken->len, 2000000);
  /* Each assertion costs a write: two million would take so long that irisd gives the worker up. */
  guint n_right = 0;
  for (guint i = 0; i < taken->len; i++)
    n_right += taken->data[i] == i % 251;
  ck_assert_uint_eq (n_right, taken->len);
  ck_assert_uint_eq (n_attempts, 1);
  ck_assert_uint_eq (n_progress, 1);
  g_autofree char *text = iris_result_dup_text (result);
  ck_assert_str_ne (text, "1 0"); /* some had to wait */
  ck_assert_int_eq (strncmp (text, "1 ", 2), 0);
  g_byte_array_set_size (taken, 0);
  submit_in_parts (client, "1000");
  ck_assert_uint_eq (taken->len, 1000);
  g_byte_array_unref (taken);
  g_clear_pointer (&result, iris_result_unref);
  g_clear_object (&client);
  /* A client that does not ask for parts gets none. */
  g_autoptr (Client) other = client_hello (irisd->front);
  assert_result (ask (other, "in-parts", "5000"));
  ck_assert (message_body_is (&other->message, "0 0"));
  finish ();
}

static gboolean
was_leased (void)
{
  return n_leased > 0;
}

LOOP_TEST (an_answer_that_waits_for_credit_is_stopped_with_its_item, 0, 2)
{
  start (NULL, 1);
  g_autoptr (Client) client = client_hello (irisd->front);
  IrisWireMessage item;
  client_init_message (client, &item, IRIS_WIRE_SUBMIT);
  iris_wire_message_set_string (&item, IRIS_WIRE_KEY_SERVICE, "in-parts", -1);
  iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_PARTS, 10);
  iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_QUIET, TRUE);
  iris_wire_message_set_body (&item, "5000", 4);
  client_send (client, &item);
  guint64 id = client->next_id;
  wait_until (was_leased);
  if (_i == 0)
    {
      ck_assert_uint_eq (client_receive_type (client, IRIS_WIRE_PART)->body.size, 10);
      client_cancel (client, id);
      client_receive_type (client, IRIS_WIRE_CANCELLING);
      assert_error (client_receive (client), IRIS_WIRE_ERROR_CANCELLED);
    }
  else
    {
      /* It disconnects. */
      client_free (client);
      client = client_hello (irisd->front);
    }
  assert_result (ask (client, "shout", "x"));
  finish ();
}

TEST (what_cannot_be_done_fails_and_may_be_tried_again)
{
  start ("[limits]\nmax-body=64K\nin-flight-bytes=64K\nmax-output=1K\n", 1);
  g_autoptr (Client) client = client_hello (irisd->front);
  assert_error (ask (client, "drop", ""), IRIS_WIRE_ERROR_SERVICE_FAILED);
  assert_result (ask (client, "try-again", ""));
  assert_error (ask (client, "overdo", ""), IRIS_WIRE_ERROR_SERVICE_FAILED);
  g_autofree char *reason = iris_wire_string_dup (&client->message.message);
  ck_assert_ptr_nonnull (strstr (reason, "max-body"));
  finish ();
}

/* Holds an item for two leases. Returns whether it was not stopped meanwhile. */
static gboolean
keeps_its_lease (guint lease_ms)
{
  g_autofree char *config = g_strdup_printf ("[limits]\nlease-ms=%u\nlease-attempts=1\n", lease_ms);
  start (config, 1);
  g_autoptr (Client) client = client_hello (irisd->front);
  client_submit (client, "keep", "", 0, IRIS_PLACE_ANY, FALSE);
  wait_until (holds_one);
  gint64 until = g_get_monotonic_time () + 2 * (gint64) lease_ms * 1000 + 100000;
  while (g_get_monotonic_time () < until)
    g_main_context_iteration (NULL, TRUE);
  gboolean kept = n_stopped == 0;
  iris_lease_done (held.head->data, NULL, NULL);
  if (client_receive_completion (client)->type != IRIS_WIRE_RESULT)
    {
      assert_error (&client->message, IRIS_WIRE_ERROR_WORKER_LOST);
      kept = FALSE;
    }
  finish ();
  return kept;
}

/* A busy machine may be late with a renewal; then the lease is twice as long. */
TEST (a_lease_is_renewed_until_it_is_answered)
{
  for (guint lease_ms = 600; !keeps_its_lease (lease_ms); lease_ms *= 2)
    ck_assert_uint_lt (lease_ms, GIVE_UP_MS / 10);
}

TEST (a_lease_that_is_not_renewed_is_stopped)
{
  start ("[limits]\nlease-ms=60\nlease-attempts=1\n", 1);
  g_object_set (worker, "renew-leases", FALSE, NULL);
  g_autoptr (Client) client = client_hello (irisd->front);
  client_submit (client, "keep", "", 0, IRIS_PLACE_ANY, FALSE);
  wait_until (was_stopped);
  assert_error (client_receive_completion (client), IRIS_WIRE_ERROR_WORKER_LOST);
  iris_lease_done (held.head->data, NULL, NULL); /* dropped */
  /* It is served as before. An answer may come late: the lease is that short. */
  while (ask (client, "shout", "x")->type != IRIS_WIRE_RESULT)
    assert_error (&client->message, IRIS_WIRE_ERROR_WORKER_LOST);
  finish ();
}

TEST (cancelling_an_item_stops_it)
{
  start (NULL, 1);
  g_autoptr (Client) client = client_hello (irisd->front);
  guint64 id = client_submit (client, "keep", "", 0, IRIS_PLACE_ANY, FALSE);
  wait_until (holds_one);
  client_cancel (client, id);
  wait_until (was_stopped);
  g_object_unref (g_queue_pop_head (&held)); /* which answers */
  client_receive_type (client, IRIS_WIRE_CANCELLING);
  assert_error (client_receive (client), IRIS_WIRE_ERROR_CANCELLED);
  assert_result (ask (client, "shout", "x"));
  finish ();
}

TEST (stopping_waits_for_what_was_begun)
{
  start (NULL, 2);
  g_autoptr (Client) client = client_hello (irisd->front);
  client_submit (client, "keep", "", 0, IRIS_PLACE_ANY, FALSE);
  wait_until (holds_one);
  g_cancellable_cancel (stop);
  while (iris_worker_process_is_serving (worker))
    g_main_context_iteration (NULL, TRUE);
  ck_assert (!ended);
  iris_lease_done (held.head->data, NULL, NULL);
  wait_until (has_ended);
  assert_result (client_receive_completion (client));
  finish ();
}

TEST (an_irisd_that_does_not_know_a_lease_stops_it_and_is_served)
{
  start (NULL, 1);
  g_autofree char *dir = g_strdup (irisd->dir);
  g_autoptr (Client) client = client_hello (irisd->front);
  client_submit (client, "keep", "", 0, IRIS_PLACE_ANY, FALSE);
  wait_until (holds_one);
  irisd_signal (irisd, SIGKILL);
  ck_assert_int_eq (irisd_wait (irisd), -SIGKILL);
  wait_until (is_away);
  ck_assert_uint_eq (n_stopped, 0);
  Irisd *again = irisd_start_in (dir, NULL, (const char *const[]){ TWO_PLACES, NULL });
  wait_until (is_serving);
  wait_until (was_stopped);                      /* a volatile item is gone with its irisd */
  iris_lease_done (held.head->data, NULL, NULL); /* which is refused */
  g_autoptr (Client) other = client_hello (again->front);
  assert_result (ask (other, "shout", "x"));
  while (held.length > 0)
    g_object_unref (g_queue_pop_head (&held));
  g_cancellable_cancel (stop);
  wait_until (has_ended);
  g_clear_object (&worker);
  g_clear_object (&stop);
  irisd_finish (again);
  irisd_free (irisd);
}

/* The time of the answer to a persistent item: so that irisd does not read it, while irisd is away,
 * or when it is back. */
enum
{
  ANSWER_UNREAD,
  ANSWER_MEANWHILE,
  ANSWER_THEN,
  N_ANSWERS
};

LOOP_TEST (a_persistent_item_outlives_a_killed_irisd_and_is_done_once, 0, N_ANSWERS)
{
  Home *home = home_new ();
  IrisWireMessage item;
  irisd = home_start (home, NULL);
  serve (1);
  Client *client = client_hello (irisd->front);
  persistent_fill (client, &item, "keep", "", IRIS_WIRE_CLASS_DURABLE);
  iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_DETACH, TRUE);
  guint64 number = persistent_submit (client, &item);
  wait_until (holds_one);
  client_free (client);
  g_autoptr (GBytes) body = g_bytes_new_static ("once", 4);
  if (_i == ANSWER_UNREAD)
    {
      irisd_pause (irisd);
      iris_lease_done (held.head->data, body, NULL);
    }
  irisd_kill (irisd);
  wait_until (is_away);
  if (_i == ANSWER_MEANWHILE)
    iris_lease_done (held.head->data, body, NULL);
  irisd = home_start (home, NULL);
  wait_until (is_serving);
  client = client_hello (irisd->front);
  if (_i == ANSWER_THEN)
    {
      ck_assert_uint_eq (persistent_get_state (client, number, 0), IRIS_WIRE_STATE_LEASED);
      iris_lease_done (held.head->data, body, NULL);
    }
  assert_result (ask (client, "shout", "x")); /* it has room again */
  persistent_assert_result (client, number, "once");
  ck_assert_uint_eq (held.length, 1);
  ck_assert_uint_eq (n_stopped, 0);
  while (held.length > 0)
    g_object_unref (g_queue_pop_head (&held));
  g_cancellable_cancel (stop);
  wait_until (has_ended);
  g_clear_object (&worker);
  g_clear_object (&stop);
  client_free (client);
  irisd_stop (irisd);
  home_free (home);
}

TEST (an_irisd_that_stays_away_stops_what_it_leased_when_its_time_is_over)
{
  start ("[limits]\nlease-ms=300\n", 1);
  g_autoptr (Client) client = client_hello (irisd->front);
  client_submit (client, "keep", "", 0, IRIS_PLACE_ANY, FALSE);
  wait_until (holds_one);
  irisd_signal (irisd, SIGKILL);
  ck_assert_int_eq (irisd_wait (irisd), -SIGKILL);
  wait_until (was_stopped);
  wait_until (is_away); /* on a busy machine the lease may have ended before */
  while (held.length > 0)
    g_object_unref (g_queue_pop_head (&held));
  g_cancellable_cancel (stop);
  wait_until (has_ended);
  g_clear_object (&worker);
  g_clear_object (&stop);
  irisd_free (irisd);
}

TEST (an_irisd_that_refuses_ends_the_run)
{
  irisd = irisd_start (NULL, TWO_PLACES, NULL);
  worker = iris_worker_process_new (irisd->dir);
  ended = FALSE;
  iris_worker_process_add_service (worker, "echo", NULL, shout, NULL, NULL);
  iris_worker_process_run_async (worker, NULL, on_ended, NULL);
  wait_until (has_ended);
  ck_assert (g_error_matches (end_error, IRIS_CLIENT_ERROR, IRIS_CLIENT_ERROR_BAD_ARGUMENT));
  ck_assert_ptr_nonnull (strstr (end_error->message, "echo"));
  g_clear_error (&end_error);
  g_clear_object (&worker);
  irisd_finish (irisd);
}

TEST_MAIN ("worker", NULL, NULL)
