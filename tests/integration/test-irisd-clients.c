/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Clients that die, do not read, or are too many; and the memory that they can cost.
 */
#include "irisd-fixture.h"

#include <signal.h>
#include <unistd.h>

#define N_ITEMS TIMES (10000)

static void
be_served (Client *client)
{
  client_submit (client, "echo", "good", 4, IRIS_PLACE_ANY, FALSE);
  ck_assert (message_body_is (client_receive_type (client, IRIS_WIRE_RESULT), "good"));
  client_ack (client, 1);
}

/* Says HELLO until there is room. */
static Client *
insist_on_hello (const char *endpoint)
{
  Client *client = client_new (endpoint);
  for (;;)
    {
      IrisWireMessage hello;
      client_init_message (client, &hello, IRIS_WIRE_HELLO);
      iris_wire_message_set_uint (&hello, IRIS_WIRE_KEY_VERSION_MIN, 1);
      iris_wire_message_set_uint (&hello, IRIS_WIRE_KEY_VERSION_MAX, 1);
      client_send (client, &hello);
      const IrisWireMessage *answer = client_receive (client);
      if (answer->type == IRIS_WIRE_WELCOME)
        return client;
      ck_assert_str_eq (iris_wire_type_name (answer->type), "BUSY");
      g_autofree char *limit = iris_wire_string_dup (&answer->limit);
      ck_assert_str_eq (limit, "max-peers");
    }
}

static const char *victim_endpoint;

/* The victim: keeps its credit used up, reports when it is half through, and goes on. */
START_TEST (flood)
{
  g_autoptr (Client) client = insist_on_hello (victim_endpoint);
  guint credits = client->message.credits;
  guint sent = 0;
  for (guint ended = 0; ended < N_ITEMS; ended++)
    {
      for (; sent < N_ITEMS && sent - ended < credits; sent++)
        client_submit (client, "wordcount", "a b c", 5, IRIS_PLACE_ANY, FALSE);
      client_receive_completion (client);
      client_ack (client, 1);
      if (ended == N_ITEMS / 2)
        ck_assert_int_eq (write (STDOUT_FILENO, "half\n", 5), 5);
    }
  pause ();
}
END_TEST

/* The victim is a process of its own, under Check, which the helpers need. */
static int
run_flood (const char *endpoint)
{
  victim_endpoint = endpoint;
  g_unsetenv ("CK_TAP_LOG_FILE_NAME");
  Suite *suite = suite_create ("victim");
  TCase *victim = tcase_create ("victim");
  tcase_add_test (victim, flood);
  suite_add_tcase (suite, victim);
  SRunner *runner = srunner_create (suite);
  srunner_set_fork_status (runner, CK_NOFORK);
  srunner_run_all (runner, CK_SILENT);
  int n_failed = srunner_ntests_failed (runner);
  srunner_free (runner);
  return n_failed;
}

static char *self_path;

static GSubprocess *
start_flood (const char *endpoint)
{
  g_autoptr (GSubprocessLauncher)
      launcher = g_subprocess_launcher_new (G_SUBPROCESS_FLAGS_STDOUT_PIPE);
  g_subprocess_launcher_set_child_setup (launcher, die_with_test, NULL, NULL);
  GSubprocess *victim = g_subprocess_launcher_spawn (launcher, NULL, self_path, "flood", endpoint,
                                                     NULL);
  ck_assert_ptr_nonnull (victim);
  char line[8];
  gsize n = 0;
  ck_assert (
      g_input_stream_read_all (g_subprocess_get_stdout_pipe (victim), line, 5, &n, NULL, NULL));
  ck_assert_uint_eq (n, 5);
  return victim;
}

START_TEST (a_client_that_is_killed_leaves_nothing_behind)
{
  Irisd *irisd = irisd_start ("[limits]\nmax-peers = 2\n", TWO_PLACES, NULL);
  g_autoptr (Client) good = client_hello (irisd->front);
  for (guint round = 0; round < 3; round++)
    {
      g_autoptr (GSubprocess) victim = start_flood (irisd->front);
      be_served (good);
      g_subprocess_send_signal (victim, SIGKILL);
      ck_assert (g_subprocess_wait (victim, NULL, NULL));
      be_served (good);
      for (;;)
        {
          g_autoptr (IrisWireStatus) status = client_get_status (good);
          if (status->in_flight == 0)
            break;
        }
      /* Its place among the two becomes free, at the latest when another connection needs it. */
      g_autoptr (Client) heir = insist_on_hello (irisd->front);
      be_served (heir);
    }
  g_autoptr (IrisWireStatus) status = client_get_status (good);
  ck_assert_uint_eq (status->accepted, status->ended);
  client_free (g_steal_pointer (&good));
  irisd_finish (irisd);
}
END_TEST

START_TEST (a_full_table_refuses_by_name_and_lets_the_living_stay)
{
  Irisd *irisd = irisd_start ("[limits]\nmax-peers = 1\n", TWO_PLACES, NULL);
  g_autoptr (Client) first = client_hello (irisd->front);
  g_autoptr (Client) second = client_new (irisd->front);
  IrisWireMessage hello;
  client_init_message (second, &hello, IRIS_WIRE_HELLO);
  iris_wire_message_set_uint (&hello, IRIS_WIRE_KEY_VERSION_MIN, 1);
  iris_wire_message_set_uint (&hello, IRIS_WIRE_KEY_VERSION_MAX, 1);
  client_send (second, &hello);
  client_receive_type (second, IRIS_WIRE_BUSY);
  const IrisWireMessage *probe = client_receive_any (first);
  ck_assert_uint_eq (probe->type, IRIS_WIRE_PONG);
  ck_assert_uint_eq (message_get_id (probe), 0);
  be_served (first);
  /* Each place has a socket and a table of its own. */
  g_autofree char *endpoint = irisd_place_endpoint (irisd, 0);
  g_autoptr (Client) elsewhere = client_hello (endpoint);
  be_served (elsewhere);
  client_free (g_steal_pointer (&first));
  client_free (g_steal_pointer (&second));
  client_free (g_steal_pointer (&elsewhere));
  irisd_finish (irisd);
}
END_TEST

#define SILENT_BODY    16384
#define SILENT_ITEMS   20000
#define SILENT_RSS_KIB (96 * 1024)

START_TEST (a_client_that_never_reads_costs_little_and_is_dropped)
{
  Irisd *irisd = irisd_start ("[limits]\nin-flight-bytes = 16M\n", TWO_PLACES, NULL);
  g_autoptr (Client) good = client_hello (irisd->front);
  g_autoptr (Client) silent = client_hello (irisd->front);
  int narrow = 100;
  zmq_setsockopt (silent->socket, ZMQ_RCVHWM, &narrow, sizeof narrow);
  g_autofree char *body = g_malloc0 (SILENT_BODY);
  guint64 peak = 0;
  for (guint i = 0; i < SILENT_ITEMS; i++)
    {
      client_submit (silent, "echo", body, SILENT_BODY, IRIS_PLACE_ANY, FALSE);
      if (i % 1000 == 0)
        {
          be_served (good);
          peak = MAX (peak, irisd_get_rss_kib (irisd));
        }
    }
  /* It sent 320 MB, and has read no answer. */
  for (guint64 refused = 0; refused < 1000;)
    {
      g_autoptr (IrisWireStatus) status = client_get_status (good);
      refused = status->refused;
    }
  for (gboolean dropped = FALSE; !dropped;)
    {
      be_served (good);
      peak = MAX (peak, irisd_get_rss_kib (irisd));
      g_autofree char *log = irisd_read_log (irisd);
      dropped = strstr (log, "dropped the client test") != NULL;
    }
#if !SANITIZED
  /* A sanitizer keeps freed memory for a while. */
  ck_assert_msg (peak < SILENT_RSS_KIB, "irisd used %" G_GUINT64_FORMAT " KiB", peak);
#endif
  client_free (g_steal_pointer (&silent));
  client_free (g_steal_pointer (&good));
  irisd_finish (irisd);
}
END_TEST

START_TEST (a_client_that_reads_late_gets_all_it_was_promised)
{
  Irisd *irisd = irisd_start (NULL, TWO_PLACES, NULL);
  g_autoptr (Client) late = client_hello (irisd->front);
  g_autoptr (Client) good = client_hello (irisd->front);
  guint credits = late->message.credits;
  g_autofree char *body = g_malloc0 (SILENT_BODY);
  for (guint i = 0; i < credits; i++)
    client_submit (late, "echo", body, SILENT_BODY, IRIS_PLACE_ANY, FALSE);
  /* More than pipe and socket hold, so that some waits in its outbox. */
  for (guint i = 0; i < 2 * credits; i++)
    {
      IrisWireMessage ping;
      client_init_message (late, &ping, IRIS_WIRE_PING);
      client_send (late, &ping);
    }
  for (;;)
    {
      g_autoptr (IrisWireStatus) status = client_get_status (good);
      if (status->ended == credits)
        break;
    }
  guint results = 0, pongs = 0;
  while (results < credits || pongs < 2 * credits)
    {
      const IrisWireMessage *answer = client_receive (late);
      results += answer->type == IRIS_WIRE_RESULT;
      pongs += answer->type == IRIS_WIRE_PONG;
    }
  ck_assert_uint_eq (results, credits);
  ck_assert_uint_eq (pongs, 2 * credits);
  client_free (g_steal_pointer (&late));
  client_free (g_steal_pointer (&good));
  irisd_finish (irisd);
}
END_TEST

#define N_COMMANDS TIMES (400)

START_TEST (no_command_loses_a_byte_of_its_output)
{
  Irisd *irisd = irisd_start (NULL, TWO_PLACES, NULL);
  g_autoptr (Client) client = client_hello (irisd->front);
  /* More than a pipe holds, then less; either may still be in the pipe when the program has
   * ended. */
  const char *const large[] = { "head", "-c", "200000", "/dev/zero", NULL };
  const char *const small[] = { "head", "-c", "40000", "/dev/zero", NULL };
  guint64 total = 0;
  for (guint i = 0; i < N_COMMANDS; i++)
    client_submit_command (client, NULL, i % 2 == 0 ? large : small);
  for (guint i = 0; i < N_COMMANDS; i++)
    {
      const IrisWireMessage *result = client_receive_type (client, IRIS_WIRE_RESULT);
      ck_assert_int_eq (result->exit_status, 0);
      ck_assert (result->body.size == 200000 || result->body.size == 40000);
      total += result->body.size;
    }
  ck_assert_uint_eq (total, N_COMMANDS / 2 * G_GUINT64_CONSTANT (240000));
  client_free (g_steal_pointer (&client));
  irisd_finish (irisd);
}
END_TEST

#define N_CLIENTS 6
#define N_EACH    TIMES (4000)
#define WINDOW    500

/* One of several clients, its items numbered by their request ids. */
typedef struct
{
  Client *client;
  guint64 first;
  guint sent;
  guint ended;
  gboolean seen[N_EACH];
} Sender;

static void
fill_window (Sender *self)
{
  for (; self->sent < N_EACH && self->sent - self->ended < WINDOW; self->sent++)
    ck_assert_uint_eq (
        client_submit (self->client, "echo", &self->sent, sizeof self->sent, IRIS_PLACE_ANY, FALSE),
        self->first + self->sent);
}

static void
take_completion (Sender *self)
{
  const IrisWireMessage *result = client_receive_type (self->client, IRIS_WIRE_RESULT);
  guint64 number = message_get_id (result) - self->first;
  ck_assert_uint_lt (number, N_EACH);
  ck_assert (!self->seen[number]);
  self->seen[number] = TRUE;
  guint payload;
  ck_assert_uint_eq (result->body.size, sizeof payload);
  memcpy (&payload, result->body.data, sizeof payload);
  ck_assert_uint_eq (payload, number);
  self->ended++;
}

START_TEST (many_clients_on_all_sockets_each_get_every_completion_once)
{
  Irisd *irisd = irisd_start (NULL, TWO_PLACES, NULL);
  Sender *senders = g_new0 (Sender, N_CLIENTS);
  for (guint c = 0; c < N_CLIENTS; c++)
    {
      g_autofree char *endpoint = irisd_place_endpoint (irisd, c % 3);
      senders[c].client = client_hello (c % 3 == 2 ? irisd->front : endpoint);
      senders[c].first = senders[c].client->next_id + 1;
    }
  for (guint done = 0; done < N_CLIENTS;)
    {
      done = 0;
      for (guint c = 0; c < N_CLIENTS; c++)
        {
          fill_window (&senders[c]);
          guint n = MIN (WINDOW / 2, senders[c].sent - senders[c].ended);
          for (guint i = 0; i < n; i++)
            take_completion (&senders[c]);
          client_ack (senders[c].client, n);
          /* Acknowledgements take no id of an item. */
          senders[c].client->next_id = senders[c].first + senders[c].sent - 1;
          done += senders[c].ended == N_EACH;
        }
    }
  g_autoptr (IrisWireStatus) status = client_get_status (senders[0].client);
  ck_assert_uint_eq (status->accepted, N_CLIENTS * N_EACH);
  ck_assert_uint_eq (status->places[0].executed + status->places[1].executed, N_CLIENTS * N_EACH);
  for (guint c = 0; c < N_CLIENTS; c++)
    client_free (senders[c].client);
  g_free (senders);
  irisd_finish (irisd);
}
END_TEST

int
main (int argc, char **argv)
{
  if (argc == 3 && strcmp (argv[1], "flood") == 0)
    return run_flood (argv[2]);
  self_path = argv[0];
  Suite *suite = suite_create ("irisd-clients");
  TCase *clients = tcase_create ("clients");
  tcase_add_test (clients, a_client_that_is_killed_leaves_nothing_behind);
  tcase_add_test (clients, a_full_table_refuses_by_name_and_lets_the_living_stay);
  tcase_add_test (clients, a_client_that_never_reads_costs_little_and_is_dropped);
  tcase_add_test (clients, a_client_that_reads_late_gets_all_it_was_promised);
  tcase_add_test (clients, no_command_loses_a_byte_of_its_output);
  tcase_add_test (clients, many_clients_on_all_sockets_each_get_every_completion_once);
  suite_add_tcase (suite, clients);
  return core_test_run (suite);
}
