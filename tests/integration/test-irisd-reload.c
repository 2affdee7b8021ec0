/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The configuration is read again while irisd runs: what changes, what stays, and what a mistake
 * does.
 */
#include "irisd-fixture.h"

#include "irisd-visitor.h"

#include <sys/stat.h>
#include <unistd.h>

#define FRIEND   65533
#define STRANGER 65534

/* Writes the configuration and has irisd read it. Returns the log from then on, which has the last
 * line of a reload. */
static char *
reload (Irisd *irisd, const char *config)
{
  g_autofree char *path = g_strdup_printf ("%s.conf", irisd->dir);
  g_autofree char *before = irisd_read_log (irisd);
  g_autoptr (Client) client = client_hello (irisd->front);
  ck_assert (g_file_set_contents (path, config, -1, NULL));
  irisd_signal (irisd, SIGHUP);
  for (;;)
    {
      g_autofree char *log = irisd_read_log (irisd);
      const char *since = log + strlen (before);
      if (strstr (since, "read the configuration again") != NULL
          || strstr (since, "the configuration stays as it was") != NULL)
        return g_strdup (since);
      client_call (client, IRIS_WIRE_PING, IRIS_WIRE_PONG);
    }
}

static void
assert_says (const char *log, const char *words)
{
  ck_assert_msg (strstr (log, words) != NULL, "no “%s” in: %s", words, log);
}

START_TEST (what_changes_holds_at_once_and_the_log_says_it)
{
  Irisd *irisd = irisd_start ("[limits]\nkeep-ms = 7000\n", TWO_PLACES, NULL);
  g_autoptr (Client) client = client_hello (irisd->front);
  client_submit_command (client, NULL, (const char *const[]){ "true", NULL });
  client_receive_completion (client);

  g_autofree char *log = reload (
      irisd, "[access]\ncommands = none\n[limits]\nkeep-ms = 7000\nmax-peers = 16\n[client]\n"
             "items = 2\n[irisd]\nplaces = machine\n[service thumbnail]\n");
  assert_says (log, "irisd: [access] commands is none now; it was its default");
  assert_says (log, "irisd: [limits] max-peers is 16 now; it was its default");
  assert_says (log, "irisd: [client] items is 2 now; it was its default");
  assert_says (log, "irisd: [service thumbnail] is known now");
  ck_assert_ptr_null (strstr (log, "keep-ms"));
  /* The option of the command line has precedence, so nothing differs here. */
  ck_assert_ptr_null (strstr (log, "[irisd] places"));
  assert_says (log, "4 settings changed, 0 did not");

  client_submit_command (client, NULL, (const char *const[]){ "true", NULL });
  assert_error (client_receive (client), IRIS_WIRE_ERROR_NOT_PERMITTED);
  g_autofree char *again = reload (irisd, "");
  assert_says (again, "[access] commands is its default now; it was none");
  client_submit_command (client, NULL, (const char *const[]){ "true", NULL });
  client_receive_completion (client);
  client_free (g_steal_pointer (&client));
  irisd_finish (irisd);
}
END_TEST

START_TEST (what_cannot_change_is_named_and_stays)
{
  Irisd *irisd = irisd_start (NULL, ONE_WORKER, NULL);
  const char *config = "[limits]\nmax-body = 1M\nmax-output = 1M\nmax-retries = 7\n[irisd]\n"
                       "tcp = 127.0.0.1:0\n";
  for (guint i = 0; i < 2; i++)
    {
      g_autofree char *log = reload (irisd, config);
      assert_says (log,
                   "warning: [limits] max-body stays its default and does not become 1M: start "
                   "irisd again to change it");
      assert_says (log, "warning: [irisd] tcp stays its default");
      assert_says (log, i == 0 ? "1 settings changed, 3 did not" : "0 settings changed, 3 did not");
    }
  irisd_finish (irisd);
}
END_TEST

START_TEST (after_a_mistake_everything_stays_and_the_log_says_where_it_is)
{
  static const struct
  {
    const char *config;
    const char *where;
    const char *why;
  } bad[] = {
    { "[access]\ncommands = none\n[limits]\nmax-peers = no\n",
      ".conf, line 4, [limits] max-peers: ", "is no value for the limit" },
    { "[access]\ncommands = none\n\nnonsense\n", ".conf, line 4: ", "Key file" },
    { "[access]\ncommands = none\nfiles = no-such-user-here\n",
      ".conf, line 3, [access] files: ", "there is no user" },
    { "[access]\ncommands = none\n[limits]\nin-flight-bytes = 32M\ntotal-bytes = 1M\n",
      ".conf, line 4: ", "more than total-bytes" },
    { "[access]\ncommands = none\noperators = 65533\n", ".conf, line 3: [access] operators",
      "not admitted" },
    { "[access]\ncommands = none\n[journal]\nno = 1\n",
      ".conf, line 4, [journal] no: ", "there is no key" },
  };
  Irisd *irisd = irisd_start (NULL, ONE_WORKER, NULL);
  g_autoptr (Client) client = client_hello (irisd->front);
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      g_autofree char *log = reload (irisd, bad[i].config);
      assert_says (log, "error: the configuration stays as it was: ");
      assert_says (log, bad[i].where);
      assert_says (log, bad[i].why);
      client_submit_command (client, NULL, (const char *const[]){ "true", NULL });
      client_receive_completion (client);
    }
  client_free (g_steal_pointer (&client));
  irisd_finish (irisd);
}
END_TEST

START_TEST (a_limit_that_grows_lets_waiting_items_run)
{
  Irisd *irisd = irisd_start ("[service command]\nconcurrency = 1\n", TWO_PLACES, NULL);
  g_autofree char *gate = gate_new (irisd, "gate");
  g_autoptr (Client) client = client_hello (irisd->front);
  client_submit_command (client, NULL,
                         (const char *const[]){ "sh", "-c", "read x < \"$0\"", gate, NULL });
  guint64 waits = client_submit_command (client, NULL, (const char *const[]){ "true", NULL });
  g_autofree char *log = reload (irisd, "[service command]\nconcurrency = 2\n");
  assert_says (log, "settings changed, 0 did not");
  ck_assert_uint_eq (message_get_id (client_receive_completion (client)), waits);
  gate_open (gate);
  client_receive_completion (client);
  client_free (g_steal_pointer (&client));
  irisd_finish (irisd);
}
END_TEST

START_TEST (a_user_that_is_not_admitted_any_more_is_cut_off)
{
  if (geteuid () != 0)
    return;
  Irisd *irisd = irisd_start ("[access]\nusers = 65533;65534\noperators = 65533\n", ONE_WORKER,
                              NULL);
  g_autofree char *base = g_path_get_dirname (irisd->dir);
  ck_assert_int_eq (chmod (base, 0711), 0);
  Visitor *operator= visitor_new (irisd, FRIEND, irisd->front);
  Visitor *user = visitor_new (irisd, STRANGER, irisd->front);
  client_say_hello (operator->client);
  client_say_hello (user->client);

  IrisWireMessage drain;
  client_init_message (operator->client, &drain, IRIS_WIRE_DRAIN);
  iris_wire_message_set_int (&drain, IRIS_WIRE_KEY_PLACE, 0);
  iris_wire_message_set_boolean (&drain, IRIS_WIRE_KEY_DRAINED, FALSE);
  client_send (operator->client, &drain);
  client_receive_type (operator->client, IRIS_WIRE_CHANGED);

  g_autofree char *log = reload (irisd, "[access]\nusers = 65533\n");
  assert_says (log, "[access] users is 65533 now");
  /* Its connection goes on, with the role of a user. */
  client_init_message (operator->client, &drain, IRIS_WIRE_DRAIN);
  iris_wire_message_set_int (&drain, IRIS_WIRE_KEY_PLACE, 0);
  iris_wire_message_set_boolean (&drain, IRIS_WIRE_KEY_DRAINED, FALSE);
  client_send (operator->client, &drain);
  assert_error (client_receive (operator->client), IRIS_WIRE_ERROR_NOT_PERMITTED);
  /* The other is gone; its next connection is refused. */
  for (gboolean gone = FALSE; !gone;)
    {
      g_autofree char *later = irisd_read_log (irisd);
      gone = strstr (later, "its user is not admitted any more") != NULL
             && strstr (later, "refused a connection of user 65534") != NULL;
      client_call (operator->client, IRIS_WIRE_PING, IRIS_WIRE_PONG);
    }
  visitor_free (user);
  visitor_free (operator);
  irisd_finish (irisd);
}
END_TEST

/* When the answer has come, each gateway acts by the new settings. */
START_TEST (a_request_reads_it_again_and_is_answered_with_what_changed)
{
  Irisd *irisd = irisd_start (NULL, TWO_PLACES, NULL);
  g_autofree char *path = g_strdup_printf ("%s.conf", irisd->dir);
  g_autofree char *endpoint = irisd_place_endpoint (irisd, 1);
  g_autoptr (Client) client = client_hello (irisd->front);
  g_autoptr (Client) other = client_hello (endpoint);
  ck_assert (
      g_file_set_contents (path, "[access]\ncommands = none\n[limits]\nmax-args = 5\n", -1, NULL));
  const IrisWireMessage *changed = client_call (client, IRIS_WIRE_RELOAD, IRIS_WIRE_CHANGED);
  g_autofree char *text = iris_wire_string_dup (&changed->message);
  ck_assert_uint_eq (changed->count, 1);
  ck_assert_str_eq (text, "[access] commands is none now; it was its default\n"
                          "[limits] max-args stays its default and does not become 5: start irisd "
                          "again to change it");
  client_submit_command (other, NULL, (const char *const[]){ "true", NULL });
  assert_error (client_receive (other), IRIS_WIRE_ERROR_NOT_PERMITTED);

  ck_assert (
      g_file_set_contents (path, "[access]\ncommands = none\n[limits]\nmax-peers = 0\n", -1, NULL));
  client_call (client, IRIS_WIRE_RELOAD, IRIS_WIRE_ERROR_REPLY);
  assert_error (&client->message, IRIS_WIRE_ERROR_BAD_ARGUMENT);
  g_autofree char *reason = iris_wire_string_dup (&client->message.message);
  assert_says (reason, ".conf, line 4, [limits] max-peers: ");
  client_free (g_steal_pointer (&client));
  client_free (g_steal_pointer (&other));
  irisd_finish (irisd);
}
END_TEST

/* Under load, and with readers that hold what they read. */
START_TEST (items_are_run_while_the_settings_change)
{
  Irisd *irisd = irisd_start (NULL, TWO_PLACES, NULL);
  g_autoptr (Client) client = client_hello (irisd->front);
  for (guint round = 0; round < TIMES (100) + 2; round++)
    {
      g_autofree char *config = g_strdup_printf ("[client]\nrate = %u\nconcurrency = %u\n[limits]\n"
                                                 "max-peers = %u\n",
                                                 100000 + round, 1 + round % 3, 100 + round);
      for (guint i = 0; i < 20; i++)
        client_submit (client, "echo", "x", 1, IRIS_PLACE_ANY, FALSE);
      g_autofree char *log = reload (irisd, config);
      assert_says (log, "settings changed, 0 did not");
      for (guint i = 0; i < 20; i++)
        client_receive_completion (client);
      client_ack (client, 20);
    }
  client_free (g_steal_pointer (&client));
  irisd_finish (irisd);
}
END_TEST

int
main (int argc, char **argv)
{
  if (argc > 1)
    return visitor_main (argv + 1);
  Suite *suite = suite_create ("irisd-reload");
  TCase *reloads = tcase_create ("reload");
  tcase_add_test (reloads, what_changes_holds_at_once_and_the_log_says_it);
  tcase_add_test (reloads, what_cannot_change_is_named_and_stays);
  tcase_add_test (reloads, after_a_mistake_everything_stays_and_the_log_says_where_it_is);
  tcase_add_test (reloads, a_limit_that_grows_lets_waiting_items_run);
  tcase_add_test (reloads, a_user_that_is_not_admitted_any_more_is_cut_off);
  tcase_add_test (reloads, a_request_reads_it_again_and_is_answered_with_what_changed);
  tcase_add_test (reloads, items_are_run_while_the_settings_change);
  suite_add_tcase (suite, reloads);
  return core_test_run (suite);
}
