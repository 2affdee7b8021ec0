/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The main path: an item goes to a service at a place, and its result or error comes back.
 */
#include "irisd-fixture.h"

#include <signal.h>

static Irisd *irisd;
static Client *client;

static void
set_up (void)
{
  irisd = irisd_start ("[limits]\nmax-output = 1000\n", TWO_PLACES, NULL);
  client = client_hello (irisd->front);
}

static void
tear_down (void)
{
  client_free (client);
  irisd_finish (irisd);
}

#define run(service, payload) \
  client_submit (client, service, payload, strlen (payload), IRIS_PLACE_ANY, FALSE)
#define run_command(input, ...) \
  client_submit_command (client, input, (const char *const[]){ __VA_ARGS__, NULL })

static char *
make_file (const char *name, const char *text, gsize size)
{
  char *path = g_strdup_printf ("%s.%s", irisd->dir, name);
  ck_assert (g_file_set_contents (path, text, (gssize) size, NULL));
  return path;
}

START_TEST (echo_sends_the_payload_back_whatever_its_size)
{
  const gsize sizes[] = { 0, 1, 32, 33, 4095, 4096, 4097, 100000, 3000000 };
  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      g_autofree guint8 *payload = g_malloc (sizes[i] + 1);
      for (gsize k = 0; k < sizes[i]; k++)
        payload[k] = (guint8) (k * 7 + i);
      guint64 id = client_submit (client, "echo", payload, sizes[i], IRIS_PLACE_ANY, FALSE);
      const IrisWireMessage *result = client_receive_type (client, IRIS_WIRE_RESULT);
      ck_assert_uint_eq (message_get_id (result), id);
      ck_assert_uint_eq (result->body.size, sizes[i]);
      ck_assert_int_eq (memcmp (result->body.data, payload, sizes[i]), 0);
      ck_assert_uint_eq (result->bytes, sizes[i]);
    }
}
END_TEST

START_TEST (an_item_is_accepted_before_it_ends)
{
  IrisWireMessage item;
  client_init_message (client, &item, IRIS_WIRE_SUBMIT);
  iris_wire_message_set_string (&item, IRIS_WIRE_KEY_SERVICE, "echo", -1);
  client_send (client, &item);
  const IrisWireMessage *accepted = client_receive_type (client, IRIS_WIRE_ACCEPTED);
  ck_assert_uint_eq (message_get_id (accepted), client->next_id);
  ck_assert_uint_eq (accepted->count, 1);
  client_receive_type (client, IRIS_WIRE_RESULT);
}
END_TEST

START_TEST (a_result_says_where_it_was_made_and_how_long_it_took)
{
  run ("echo", "x");
  const IrisWireMessage *result = client_receive_type (client, IRIS_WIRE_RESULT);
  ck_assert (iris_wire_message_has (result, IRIS_WIRE_KEY_QUEUE_NS));
  ck_assert (iris_wire_message_has (result, IRIS_WIRE_KEY_RUN_NS));
  ck_assert_int_ge (result->home, 0);
  ck_assert_int_lt (result->home, 2);
  ck_assert_int_ge (result->place, 0);
  ck_assert_int_lt (result->place, 2);
  ck_assert_int_ge (result->worker, 0);
  ck_assert_int_lt (result->worker, 2);
}
END_TEST

START_TEST (sha256_digests_payload_and_file_alike)
{
  run ("sha256", "abc");
  ck_assert (message_body_is (client_receive_type (client, IRIS_WIRE_RESULT),
                              "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"));

  gsize size = 1234567;
  g_autofree char *text = g_malloc (size);
  for (gsize i = 0; i < size; i++)
    text[i] = (char) (i * 31);
  g_autofree char *path = make_file ("big", text, size);
  g_autofree char *digest = g_compute_checksum_for_data (G_CHECKSUM_SHA256, (const guchar *) text,
                                                         size);
  client_submit_path (client, "sha256", path);
  const IrisWireMessage *result = client_receive_type (client, IRIS_WIRE_RESULT);
  ck_assert (message_body_is (result, digest));
  ck_assert_uint_eq (result->bytes, size);
  client_submit (client, "sha256", text, size, IRIS_PLACE_ANY, FALSE);
  ck_assert (message_body_is (client_receive_type (client, IRIS_WIRE_RESULT), digest));
}
END_TEST

START_TEST (wordcount_counts_as_wc_does)
{
  const struct
  {
    const char *text;
    const char *counts;
  } cases[] = {
    { "", "0 0 0" },
    { "word", "0 1 4" },
    { "two words\n", "1 2 10" },
    { "  a\tb\vc\fd\re \n\n", "2 5 14" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      run ("wordcount", cases[i].text);
      ck_assert (message_body_is (client_receive_type (client, IRIS_WIRE_RESULT), cases[i].counts));
    }
}
END_TEST

START_TEST (wordcount_finds_words_that_lie_across_two_reads)
{
  gsize size = 700000;
  g_autofree char *text = g_malloc (size);
  memset (text, 'x', size);
  text[size - 1] = '\n';
  g_autofree char *path = make_file ("long", text, size);
  client_submit_path (client, "wordcount", path);
  ck_assert (message_body_is (client_receive_type (client, IRIS_WIRE_RESULT), "1 1 700000"));
}
END_TEST

START_TEST (a_command_gets_its_input_and_gives_its_output)
{
  run_command ("from the payload", "cat");
  const IrisWireMessage *result = client_receive_type (client, IRIS_WIRE_RESULT);
  ck_assert (message_body_is (result, "from the payload"));
  ck_assert_int_eq (result->exit_status, 0);
  ck_assert_uint_eq (result->stdout_length, strlen ("from the payload"));
  ck_assert (!iris_wire_message_has (result, IRIS_WIRE_KEY_SIGNAL));
}
END_TEST

START_TEST (a_commands_two_outputs_are_told_apart)
{
  run_command (NULL, "sh", "-c", "echo good; echo bad >&2; exit 3");
  const IrisWireMessage *result = client_receive_type (client, IRIS_WIRE_RESULT);
  ck_assert (message_body_is (result, "good\nbad\n"));
  ck_assert_uint_eq (result->stdout_length, 5);
  ck_assert_int_eq (result->exit_status, 3);
}
END_TEST

START_TEST (a_command_that_kills_itself_reports_the_signal)
{
  run_command (NULL, "sh", "-c", "kill -USR1 $$");
  const IrisWireMessage *result = client_receive_type (client, IRIS_WIRE_RESULT);
  ck_assert_int_eq (result->signal, SIGUSR1);
  ck_assert (!iris_wire_message_has (result, IRIS_WIRE_KEY_EXIT_STATUS));
}
END_TEST

START_TEST (arguments_are_not_read_by_a_shell)
{
  run_command (NULL, "printf", "%s", "$HOME; `id` *");
  ck_assert (message_body_is (client_receive_type (client, IRIS_WIRE_RESULT), "$HOME; `id` *"));
}
END_TEST

START_TEST (a_commands_output_is_cut_at_its_limit)
{
  run_command (NULL, "sh", "-c", "yes | head -c 300000; echo done >&2");
  const IrisWireMessage *result = client_receive_type (client, IRIS_WIRE_RESULT);
  ck_assert_uint_eq (result->body.size, 1000);
  ck_assert (result->truncated);
  ck_assert_int_eq (result->exit_status, 0);
}
END_TEST

START_TEST (a_command_may_leave_its_input_unread)
{
  gsize size = 1000000;
  g_autofree char *text = g_malloc0 (size + 1);
  memset (text, 'x', size);
  run_command (text, "true");
  ck_assert_int_eq (client_receive_type (client, IRIS_WIRE_RESULT)->exit_status, 0);
}
END_TEST

START_TEST (what_a_command_leaves_in_the_background_does_not_hold_the_worker)
{
  g_autofree char *gate = gate_new (irisd, "gate");
  run_command (NULL, "sh", "-c", "cat \"$0\" & echo left", gate);
  ck_assert (message_body_is (client_receive_type (client, IRIS_WIRE_RESULT), "left\n"));
  gate_open (gate);
}
END_TEST

START_TEST (a_command_starts_with_clean_signals)
{
  run_command (NULL, "sh", "-c", "grep -E '^Sig(Blk|Ign)' /proc/self/status");
  ck_assert (message_body_is (client_receive_type (client, IRIS_WIRE_RESULT),
                              "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n"));
}
END_TEST

START_TEST (an_unknown_service_is_an_error_of_its_own)
{
  guint64 id = run ("nonsense", "");
  const IrisWireMessage *error = client_receive (client);
  assert_error (error, IRIS_WIRE_ERROR_UNKNOWN_SERVICE);
  ck_assert_uint_eq (message_get_id (error), id);
  ck_assert (!error->ends);
}
END_TEST

START_TEST (a_place_that_does_not_exist_is_an_error_of_its_own)
{
  client_submit (client, "echo", "x", 1, 2, FALSE);
  assert_error (client_receive (client), IRIS_WIRE_ERROR_NO_SUCH_PLACE);
}
END_TEST

START_TEST (a_command_that_does_not_exist_is_an_error_of_its_own)
{
  run_command (NULL, "no-such-program-anywhere");
  const IrisWireMessage *error = client_receive (client);
  assert_error (error, IRIS_WIRE_ERROR_NO_SUCH_COMMAND);
  ck_assert (error->ends);
  run_command (NULL, "/etc/passwd");
  assert_error (client_receive (client), IRIS_WIRE_ERROR_NO_SUCH_COMMAND);
}
END_TEST

START_TEST (a_file_that_cannot_be_read_is_an_error_of_its_own)
{
  g_autofree char *fifo = gate_new (irisd, "fifo");
  const char *const paths[] = { "/no/such/file", "/tmp", "/dev/zero", fifo };
  for (guint i = 0; i < G_N_ELEMENTS (paths); i++)
    {
      client_submit_path (client, i % 2 == 0 ? "sha256" : "wordcount", paths[i]);
      const IrisWireMessage *error = client_receive (client);
      assert_error (error, IRIS_WIRE_ERROR_UNREADABLE_FILE);
      ck_assert (error->ends);
    }
}
END_TEST

START_TEST (arguments_that_make_no_sense_are_refused)
{
  client_submit_path (client, "sha256", "relative/path");
  assert_error (client_receive (client), IRIS_WIRE_ERROR_BAD_ARGUMENT);
  run ("command", "input without a program");
  assert_error (client_receive (client), IRIS_WIRE_ERROR_BAD_ARGUMENT);
  run_command (NULL, "");
  assert_error (client_receive (client), IRIS_WIRE_ERROR_BAD_ARGUMENT);
}
END_TEST

/* One item after the other, until a gateway has learnt how little they need. The first that it runs
 * itself only shows that its figure has just come below the limit: one run that is kept off its
 * processor would lift it again. So it has to run a row of them. */
static const IrisWireMessage *
learn_that_echo_is_brief (Client *self)
{
  const IrisWireMessage *result = NULL;
  for (guint i = 0, in_a_row = 0; i < 1000 && in_a_row < 30; i++)
    {
      client_submit (self, "echo", "x", 1, IRIS_PLACE_ANY, FALSE);
      result = client_receive_type (self, IRIS_WIRE_RESULT);
      in_a_row = result->worker < 0 ? in_a_row + 1 : 0;
      client_ack (self, 1);
    }
  return result;
}

START_TEST (what_is_brief_is_done_by_the_gateway_when_all_workers_are_busy)
{
  g_autofree char *gate = gate_new (irisd, "gate"), *far_gate = gate_new (irisd, "far-gate");
  g_autofree char *endpoint = irisd_place_endpoint (irisd, 1);
  g_autoptr (Client) other = client_hello (endpoint);
  const IrisWireMessage *result = learn_that_echo_is_brief (other);
  ck_assert_int_eq (result->worker, -1);
  ck_assert_int_eq (result->home, 1);
  ck_assert_int_eq (result->place, 1);
  client_occupy (client, far_gate, 0);
  client_occupy (client, gate, 1);

  g_autoptr (IrisWireStatus) before = client_get_status (other);
  guint64 id = client_submit (other, "echo", "brief", 5, IRIS_PLACE_ANY, FALSE);
  result = client_receive_type (other, IRIS_WIRE_RESULT);
  ck_assert_uint_eq (message_get_id (result), id);
  ck_assert (message_body_is (result, "brief"));
  client_ack (other, 1);
  g_autoptr (IrisWireStatus) after = client_get_status (other);
  ck_assert_uint_eq (after->places[1].executed, before->places[1].executed + 1);

  /* An item for another place is not run by this gateway, and waits for a worker. */
  id = client_submit (other, "echo", "far", 3, 0, TRUE);
  client_call (other, IRIS_WIRE_PING, IRIS_WIRE_PONG);
  gate_open (far_gate);
  result = client_receive_type (other, IRIS_WIRE_RESULT);
  ck_assert_uint_eq (message_get_id (result), id);
  ck_assert_int_eq (result->place, 0);
  ck_assert_int_ge (result->worker, 0);
  gate_open (gate);
}
END_TEST

START_TEST (a_brief_item_is_accepted_before_it_ends)
{
  learn_that_echo_is_brief (client);
  for (guint i = 0; i < 20; i++)
    {
      IrisWireMessage item;
      client_init_message (client, &item, IRIS_WIRE_SUBMIT);
      iris_wire_message_set_string (&item, IRIS_WIRE_KEY_SERVICE, "echo", -1);
      client_send (client, &item);
      client_receive_type (client, IRIS_WIRE_ACCEPTED);
      client_receive_type (client, IRIS_WIRE_RESULT);
    }
}
END_TEST

START_TEST (the_services_are_listed)
{
  const IrisWireMessage *reply = client_call (client, IRIS_WIRE_SERVICES, IRIS_WIRE_SERVICES_REPLY);
  g_autoptr (IrisWireServices) services = iris_wire_services_decode (reply->body, NULL, NULL);
  ck_assert_ptr_nonnull (services);
  const char *const names[] = { "command", "echo", "hold", "sha256", "wait", "wordcount" };
  ck_assert_uint_eq (services->n_services, G_N_ELEMENTS (names));
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      ck_assert_str_eq (services->services[i].name, names[i]);
      ck_assert_str_ne (services->services[i].summary, "");
    }
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("irisd-services");
  TCase *good = tcase_create ("work"), *bad = tcase_create ("errors");
  tcase_add_checked_fixture (good, set_up, tear_down);
  tcase_add_checked_fixture (bad, set_up, tear_down);
  tcase_add_test (good, echo_sends_the_payload_back_whatever_its_size);
  tcase_add_test (good, an_item_is_accepted_before_it_ends);
  tcase_add_test (good, a_result_says_where_it_was_made_and_how_long_it_took);
  tcase_add_test (good, sha256_digests_payload_and_file_alike);
  tcase_add_test (good, wordcount_counts_as_wc_does);
  tcase_add_test (good, wordcount_finds_words_that_lie_across_two_reads);
  tcase_add_test (good, a_command_gets_its_input_and_gives_its_output);
  tcase_add_test (good, a_commands_two_outputs_are_told_apart);
  tcase_add_test (good, a_command_that_kills_itself_reports_the_signal);
  tcase_add_test (good, arguments_are_not_read_by_a_shell);
  tcase_add_test (good, a_commands_output_is_cut_at_its_limit);
  tcase_add_test (good, a_command_may_leave_its_input_unread);
  tcase_add_test (good, what_a_command_leaves_in_the_background_does_not_hold_the_worker);
  tcase_add_test (good, a_command_starts_with_clean_signals);
  tcase_add_test (good, what_is_brief_is_done_by_the_gateway_when_all_workers_are_busy);
  tcase_add_test (good, a_brief_item_is_accepted_before_it_ends);
  tcase_add_test (good, the_services_are_listed);
  tcase_add_test (bad, an_unknown_service_is_an_error_of_its_own);
  tcase_add_test (bad, a_place_that_does_not_exist_is_an_error_of_its_own);
  tcase_add_test (bad, a_command_that_does_not_exist_is_an_error_of_its_own);
  tcase_add_test (bad, a_file_that_cannot_be_read_is_an_error_of_its_own);
  tcase_add_test (bad, arguments_that_make_no_sense_are_refused);
  suite_add_tcase (suite, good);
  suite_add_tcase (suite, bad);
  return core_test_run (suite);
}
