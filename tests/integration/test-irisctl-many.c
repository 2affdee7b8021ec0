/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * irisctl with many items: from files, by a common property, and as an overview.
 */
#include "irisctl-fixture.h"

#include <glib/gstdio.h>
#include <signal.h>

#define N_LINES    TIMES (10000)
#define EACH_WRONG 1000 / (SANITIZED ? 20 : 1)

static char *journal;

static void
start_with (const char *config)
{
  const char *const options[] = { TWO_PLACES, journal, NULL };
  g_autofree char *dir = g_strdup (irisd->dir);

  irisd_release (irisd);
  irisd = irisd_start_in (dir, config, options);
}

static void
start (void)
{
  start_with (NULL);
}

static void
set_up_journal (void)
{
  set_up ();
  journal = g_strdup_printf ("--journal=%s.journal", irisd->dir);
  irisd_signal (irisd, SIGKILL);
  irisd_wait (irisd);
  start ();
}

static void
tear_down_journal (void)
{
  tear_down ();
  g_clear_pointer (&journal, g_free);
}

static char *
write_file (const char *name, const char *text)
{
  char *path = g_build_filename (files, name, NULL);

  ck_assert (g_file_set_contents (path, text, -1, NULL));
  return path;
}

static guint
count_lines (const char *text)
{
  guint n = 0;

  for (const char *c = strchr (text, '\n'); c != NULL; c = strchr (c + 1, '\n'))
    n++;
  return n;
}

static void
assert_has (const char *text, const char *part)
{
  ck_assert_msg (strstr (text, part) != NULL, "“%s” is not in: %s", part, text);
}

/* Asserts how many persistent items match the options. */
#define assert_listed(n, ...)                                                       \
  do                                                                                \
    {                                                                               \
      irisctl ("list", "--json", __VA_ARGS__);                                      \
      assert_status (0);                                                            \
      g_autoptr (JsonNode) list_ = json ();                                         \
      ck_assert_uint_eq (json_array_get_length (json_node_get_array (list_)), (n)); \
    }                                                                               \
  while (0)

/* Each N_th line is bad in one of several ways. */
static char *
write_items (guint n, guint each_wrong)
{
  static const char *const wrong[] = { "{\"service\":",
                                       "[]",
                                       "{\"payload\":\"x\"}",
                                       "{\"service\":\"echo\",\"colour\":\"red\"}",
                                       "{\"service\":\"echo\",\"priority\":11}",
                                       "{\"service\":\"echo\",\"delay\":\"soon\"}",
                                       "{\"service\":\"echo\",\"payload\":\"a\\u0000b\"}",
                                       "{\"service\":\"no-such\"}" };
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint i = 1; i <= n; i++)
    if (each_wrong > 0 && i % each_wrong == 0)
      g_string_append_printf (text, "%s\n", wrong[i / each_wrong % G_N_ELEMENTS (wrong)]);
    else
      g_string_append_printf (text, "{\"service\":\"echo\",\"payload\":\"p%u\"}\n", i);
  return write_file ("items", text->str);
}

TEST (a_file_with_bad_lines_is_submitted_without_them)
{
  g_autofree char *items = write_items (N_LINES, EACH_WRONG);
  guint n_wrong = N_LINES / (EACH_WRONG);

  irisctl ("submit", "--items", items, "--keep-going", "--class", "relaxed");
  assert_status (2);
  ck_assert_uint_eq (count_lines (out), N_LINES - n_wrong);
  assert_has (out, "done\tp1\n");
  for (guint i = 1; i <= n_wrong; i++)
    {
      g_autofree char *place = g_strdup_printf ("%s:%u: ", items, i * (EACH_WRONG));

      assert_has (err, place);
    }
  assert_has (err, "no “colour”");
  /* All was printed, so irisd was told to delete it. */
  assert_listed (0, "--limit", "10");

  irisctl ("submit", "--items", items, "--detach");
  assert_status (2);
  ck_assert_uint_lt (count_lines (out), N_LINES);
  assert_has (err, "stopped at line");
}

TEST (a_line_with_two_objects_is_refused_and_none_of_it_is_submitted)
{
  g_autofree char *items = write_file ("items", "{\"service\":\"echo\",\"payload\":\"first\"}"
                                                "{\"service\":\"echo\",\"payload\":\"second\"}\n"
                                                "{\"service\":\"echo\",\"payload\":\"third\"}\n");
  g_autofree char *place = g_strdup_printf ("%s:1: ", items);

  irisctl ("submit", "--items", items, "--keep-going", "--class", "relaxed");
  assert_status (2);
  assert_has (err, place);
  assert_has (err, "something follows the object");
  ck_assert_uint_eq (count_lines (out), 1);
  assert_has (out, "done\tthird\n");
  ck_assert_ptr_null (strstr (out, "first"));
  ck_assert_ptr_null (strstr (out, "second"));

  irisctl ("submit", "--items", items, "--detach", "--keep-going");
  assert_status (2);
  assert_listed (1, "--limit", "10");
}

TEST (members_of_an_object_are_as_the_options)
{
  g_autofree char *items = write_file (
      "items",
      "{\"service\":\"command\",\"args\":[\"sh\",\"-c\",\"echo $A$B; pwd\"],"
      "\"env\":{\"A\":\"x\",\"B\":null},\"clear_env\":true,\"directory\":\"/\","
      "\"limit\":[\"cpu=9\"],\"nice\":1,\"timeout\":9.5,\"grace\":1,\"key\":\"a\"}\n"
      "\n"
      "{\"service\":\"sha256\",\"payload-base64\":\"aGVsbG8=\",\"place\":\"1\",\"strict\":true,"
      "\"delay\":0.01,\"at\":\"@1\",\"priority\":9,\"retries\":1,\"backoff\":\"1ms\","
      "\"time-to-run\":60,\"keep\":\"1h\",\"class\":\"relaxed\"}\n"
      "{\"service\":\"command\",\"args\":[\"false\"]}\n");

  irisctl ("submit", "--items", items);
  assert_status (1);
  assert_has (out, "1\t");
  assert_has (out, "done\tx\\n/\n");
  assert_has (out, "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824");
  assert_has (out, "exit 1\t");
  assert_listed (1, "--key", "a");
  irisctl ("submit", "--items", items, "--json");
  assert_status (1);
  assert_has (out, "\"line\":3");
  assert_has (out, "\"stdout\":\"x\\n/\\n\"");
}

TEST (lines_are_payloads_arguments_or_paths)
{
  g_autofree char *file = write_file ("hello", "hello");
  g_autofree char *nul = g_strdup_printf ("%s", file);

  irisctl_with_input ("a\nb\n\nlast", "submit", "--lines", "-", "--class", "volatile", "echo");
  assert_status (0);
  assert_has (out, "1\t-\tdone\ta\n");
  assert_has (out, "3\t-\tdone\t\n");
  assert_has (out, "4\t-\tdone\tlast\n");
  irisctl_with_input ("a\nb\n", "submit", "-L", "-", "command", "echo", "<{}>");
  assert_status (0);
  assert_has (out, "done\t<a>\n");
  irisctl_with_input ("a\nb\n", "submit", "-L", "-", "command", "echo", "x");
  assert_has (out, "done\tx b\n");
  irisctl_with_input (nul, "submit", "-0L", "-", "--as", "path", "sha256");
  assert_status (0);
  assert_has (out, "done\t2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824\n");
}

/* The second run of an interrupted file submits the missing items, and none twice. */
TEST (what_was_killed_is_resumed)
{
  g_autofree char *items = write_items (N_LINES, 0);
  g_autofree char *first = NULL;
  guint n_first = 0;
  g_autoptr (GSubprocess)
      process = spawn ((const char *const[]){ g_getenv ("IRISCTL"), "submit", "--items", items,
                                              "--detach", "--resume", "--keep", "1h", NULL });
  GInputStream *numbers = g_subprocess_get_stdout_pipe (process);
  char buffer[64];

  ck_assert_int_gt (g_input_stream_read (numbers, buffer, sizeof buffer, NULL, NULL), 0);
  g_subprocess_force_exit (process);
  collect (process, NULL);
  assert_status (-SIGKILL);
  /* irisd dies too. */
  irisd_signal (irisd, SIGKILL);
  irisd_wait (irisd);
  start ();

  irisctl ("submit", "--items", items, "--detach", "--resume", "--keep", "1h");
  assert_status (0);
  ck_assert_uint_eq (count_lines (out), N_LINES);
  first = g_steal_pointer (&out);
  n_first = count_lines (first);
  assert_listed (n_first, "--limit", "1000000");
  irisctl ("submit", "--items", items, "--detach", "--resume", "--keep", "1h");
  assert_status (0);
  assert_listed (n_first, "--reverse");
  irisctl ("wait", "--all");
  assert_status (0);
  /* Other keys are other items. */
  irisctl_with_input ("x\n", "submit", "-L", "-", "--key-prefix", "other-", "-D", "echo");
  assert_status (0);
  irisctl_with_input ("x\n", "submit", "-L", "-", "--key-prefix", "other-", "-D", "echo");
  assert_status (0);
  assert_listed (1, "--key", "other-");
}

TEST (an_interrupt_says_how_to_go_on)
{
  g_autoptr (GSubprocess)
      process = spawn ((const char *const[]){ g_getenv ("IRISCTL"), "submit", "--lines", "-",
                                              "--key-prefix", "k-", "--detach", "echo", NULL });
  GOutputStream *input = g_subprocess_get_stdin_pipe (process);
  char buffer[64];

  ck_assert (g_output_stream_write_all (input, "a\nb\n", 4, NULL, NULL, NULL));
  ck_assert_int_gt (g_input_stream_read (g_subprocess_get_stdout_pipe (process), buffer,
                                         sizeof buffer, NULL, NULL),
                    0);
  g_subprocess_send_signal (process, SIGINT);
  /* Its input stays open until it has ended. */
  ck_assert (g_subprocess_wait (process, NULL, NULL));
  collect (process, NULL);
  assert_status (130);
  assert_has (err, "2 accepted");
  assert_has (err, "same command again");
}

/* Reads standard error of a process until it contains that. */
static void
read_until (GSubprocess *process, const char *part)
{
  g_autoptr (GString) text = g_string_new (NULL);

  while (strstr (text->str, part) == NULL)
    {
      char buffer[256];
      gssize n = g_input_stream_read (g_subprocess_get_stderr_pipe (process), buffer, sizeof buffer,
                                      NULL, NULL);

      ck_assert_msg (n > 0, "“%s” is not in: %s", part, text->str);
      g_string_append_len (text, buffer, n);
    }
}

LOOP_TEST (a_full_irisd_is_named_and_one_signal_ends_the_waiting, 0, 2)
{
  static const int signals[] = { SIGINT, SIGTERM };
  g_autofree char *path = write_file ("lines", "a\nb\nc\nd\ne\n");
  g_autoptr (GSubprocess) process = NULL;

  irisd_signal (irisd, SIGKILL);
  irisd_wait (irisd);
  start_with ("[limits]\npersistent-items = 2\n");
  process = spawn ((const char *const[]){ g_getenv ("IRISCTL"), "submit", "--lines", path,
                                          "--class", "relaxed", "--detach", "--delay", "1h", "echo",
                                          NULL });
  read_until (process, "limit persistent-items (2)");
  g_subprocess_send_signal (process, signals[_i]);
  ck_assert (g_subprocess_wait (process, NULL, NULL));
  collect (process, NULL);
  assert_status (130);
  assert_has (err, "2 items sent: 2 accepted");
  assert_has (err, "tail -n +3");

  /* Requests are answered, and cancelled items make room. */
  assert_listed (2, "--state", "delayed");
  irisctl ("cancel", "--state", "delayed", "--yes");
  assert_status (0);
  irisctl ("submit", "--class", "relaxed", "--detach", "--delay", "1h", "echo", "x");
  assert_status (0);
}

TEST (lists_waits_and_cancels_take_the_same_conditions)
{
  irisctl_with_input ("1\n2\n3\n", "submit", "-L", "-", "-D", "--key-prefix", "late-", "--delay",
                      "1h", "echo");
  assert_status (0);
  irisctl_with_input ("1\n2\n", "submit", "-L", "-", "-D", "--key-prefix", "now-", "--class",
                      "relaxed", "echo");
  assert_status (0);
  irisctl ("wait", "--key", "now-");
  assert_status (0);
  assert_listed (5, "--service", "echo");
  assert_listed (3, "--state", "delayed");
  assert_listed (2, "--state", "ended");
  assert_listed (5, "--state", "open,done");
  assert_listed (2, "--class", "relaxed");
  assert_listed (3, "--key", "late-", "--since", "1h");
  assert_listed (0, "--until", "1h");
  assert_listed (0, "--since", "@4000000000");
  assert_listed (2, "--limit", "2");
  irisctl ("list", "--reverse", "--limit", "1", "--key", "late-");
  assert_has (out, "late-3");
  irisctl ("wait", "--all", "--timeout", "0");
  assert_status (1);
  ck_assert_uint_eq (count_lines (out), 3);

  irisctl ("cancel", "--state", "queued,delayed", "--service", "echo");
  assert_status (2);
  assert_has (err, "--yes");
  irisctl ("cancel", "--state", "queued,delayed", "--service", "echo", "--yes");
  assert_status (0);
  assert_has (out, "3 will not run");
  irisctl ("wait", "--key", "late-"); /* until the journal has it */
  assert_listed (3, "--state", "cancelled");
  irisctl ("cancel", "--all", "--yes", "--json");
  assert_status (0);
  ck_assert_str_eq (out, "[]\n");
}

TEST (items_are_cancelled_by_number_in_each_state)
{
  g_autofree char *gate = gate_new (irisd, "gate");
  g_autofree char *number = NULL;

  irisctl ("submit", "-D", "echo", "x", "--delay", "1h");
  assert_status (2); /* options stand before the service */
  assert_has (err, "--delay");
  irisctl ("submit", "echo", "--detach");
  assert_status (2);
  irisctl ("submit", "-D", "--delay", "1h", "echo", "x");
  number = g_strstrip (g_steal_pointer (&out));
  irisctl ("cancel", number);
  assert_status (0);
  assert_has (out, "will not run");
  irisctl ("wait", number);
  assert_status (1);
  assert_has (out, "cancelled");
  irisctl ("cancel", number);
  assert_status (2);
  g_free (number);

  irisctl ("submit", "-D", "command", "cat", gate);
  number = g_strstrip (g_steal_pointer (&out));
  do
    irisctl ("show", number);
  while (strstr (out, "running") == NULL);
  irisctl ("cancel", number, "--json");
  assert_status (0);
  g_autoptr (JsonNode) array = json ();
  ck_assert (json_object_get_boolean_member (element (array, 0), "was_running"));
  irisctl ("wait", number);
  assert_has (out, "cancelled");
  irisctl ("cancel", "4711", number);
  assert_status (2);
  irisctl ("cancel", "seven");
  assert_status (2);
  irisctl ("cancel");
  assert_status (2);
}

TEST (watch_tells_in_json_what_irisd_does)
{
  irisctl ("watch", "--json", "--count", "2", "--interval", "0.05");
  assert_status (0);
  ck_assert_uint_eq (count_lines (out), 2);
  g_auto (GStrv) lines = g_strsplit (out, "\n", -1);
  g_autoptr (JsonNode) look = json_from_string (lines[1], NULL);
  ck_assert_ptr_nonnull (look);
  JsonObject *object = json_node_get_object (look);
  ck_assert (json_object_get_boolean_member (object, "ready"));
  ck_assert_uint_eq (json_array_get_length (json_object_get_array_member (object, "places")), 2);
  ck_assert (json_object_get_double_member (object, "interval_s") > 0);
  irisctl ("watch", "--count", "1", "--interval", "0.05");
  assert_status (0);
  assert_has (out, "not ended");
  irisctl ("watch", "--interval", "0");
  assert_status (2);
  irisctl ("watch", "--count", "-1");
  assert_status (2);
  irisctl ("watch", "it");
  assert_status (2);
}

/* Reads changes until the item is in that state; returns its earlier states. */
static char *
watch_until (GDataInputStream *lines, gint64 number, const char *state)
{
  for (;;)
    {
      g_autofree char *line = g_data_input_stream_read_line (lines, NULL, NULL, NULL);
      ck_assert_ptr_nonnull (line);
      g_autoptr (JsonNode) node = json_from_string (line, NULL);
      JsonObject *change = json_node_get_object (node);

      if (json_object_get_int_member (change, "item") == number
          && g_str_equal (json_object_get_string_member (change, "state"), state))
        return g_strdup (json_object_get_string_member (change, "before"));
    }
}

static gint64
submit_late (const char *key)
{
  irisctl ("submit", "--detach", "--key", key, "--delay", "1h", "echo", "x");
  assert_status (0);
  return g_ascii_strtoll (out, NULL, 10);
}

TEST (watch_tells_each_state_that_an_item_comes_into)
{
  gint64 first = submit_late ("seen-1");
  g_autofree char *number = g_strdup_printf ("%" G_GINT64_FORMAT, first);
  g_autoptr (GSubprocess)
      process = spawn ((const char *const[]){ g_getenv ("IRISCTL"), "watch", "--items", "--key",
                                              "seen-", "--json", "--interval", "0.05", NULL });
  g_autoptr (GDataInputStream)
      lines = g_data_input_stream_new (g_subprocess_get_stdout_pipe (process));
  g_autofree char *nothing = watch_until (lines, first, "delayed");
  ck_assert_str_eq (nothing, "");
  irisctl ("bury", number);
  g_autofree char *delayed = watch_until (lines, first, "buried");
  ck_assert_str_eq (delayed, "delayed");
  irisctl ("kick", number);
  g_free (watch_until (lines, first, "delayed"));
  irisctl ("cancel", number);
  delayed = (g_free (delayed), watch_until (lines, first, "cancelled"));
  ck_assert_str_eq (delayed, "delayed");

  /* An item that comes and ends between two polls is reported too, one that does not match is
   * not. */
  submit_late ("unseen");
  irisctl ("submit", "--detach", "--key", "seen-2", "echo", "x");
  g_free (watch_until (lines, g_ascii_strtoll (out, NULL, 10), "done"));
  g_subprocess_send_signal (process, SIGINT);
  collect (process, NULL);
  assert_status (0);
  ck_assert_ptr_null (strstr (out, "unseen"));

  irisctl ("watch", "--items", "--state", "buried,done", "--count", "1");
  assert_status (0);
  ck_assert_str_eq (out, "");
  irisctl ("watch", "--items", "--state", "delayed", "--count", "1");
  assert_status (0);
  assert_has (out, "- > delayed");
  assert_has (out, "unseen");
  irisctl ("watch", "--items", "--state", "lost");
  assert_status (2);
  irisctl ("watch", "--state", "done");
  assert_status (2);
}

TEST (options_that_do_not_go_together_are_refused)
{
  const char *const bad[][6] = {
    { "--items", "x", "--lines", "y", NULL },
    { "--items", "x", "--key", "k", NULL },
    { "--items", "x", "--file", "k", NULL },
    { "--items", "x", "--as", "path", NULL },
    { "--items", "-", "--resume", NULL },
    { "--items", "/no/such/file", NULL },
    { "--items", "/", NULL },
    { "--lines", "x", NULL },
    { "--lines", "x", "echo", "payload", NULL },
    { "--lines", "x", "--as", "song", "echo", NULL },
    { "--lines", "x", "--in-flight", "0", "echo", NULL },
    { "--keep-going", "echo", NULL },
    { "--class", "volatile", "--items", "x", "--resume", NULL },
  };
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      irisctl ("submit", bad[i][0], bad[i][1], bad[i][2], bad[i][3], bad[i][4], bad[i][5]);
      assert_status (2);
      assert_has (err, "submit");
    }
  irisctl ("list", "--state", "lost");
  assert_status (2);
  irisctl ("list", "--since", "yesterday");
  assert_status (2);
  irisctl ("list", "--class", "volatile");
  assert_status (2);
  irisctl ("wait");
  assert_status (2);
  irisctl ("wait", "--all", "7");
  assert_status (2);
}

TEST_MAIN ("irisctl-many", set_up_journal, tear_down_journal)
