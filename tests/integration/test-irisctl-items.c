/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * irisctl with persistent items, and with items that wait.
 */
#include "irisctl-fixture.h"

#include <glib/gstdio.h>
#include <signal.h>

/* Another irisd, with that journal, in place of the fixture's. */
static void
restart_with (const char *name, int how)
{
  g_autofree char *dir = g_strdup (irisd->dir);
  g_autofree char *journal = g_strdup_printf ("--journal=%s.%s", dir, name);
  const char *const options[] = { TWO_PLACES, journal, NULL };

  irisd_signal (irisd, how);
  irisd_wait (irisd);
  irisd_release (irisd);
  irisd = irisd_start_in (dir, NULL, options);
}

static void
restart_with_journal (void)
{
  restart_with ("journal", SIGKILL);
}

static int
compare_strings (gconstpointer a, gconstpointer b)
{
  return g_strcmp0 (*(char *const *) a, *(char *const *) b);
}

/* The number that submit --detach prints. */
static char *
submitted (void)
{
  assert_status (0);
  ck_assert_uint_gt (g_ascii_strtoull (out, NULL, 10), 0);
  return g_strndup (out, strcspn (out, "\n"));
}

TEST (persistent_items_survive_and_can_be_watched)
{
  restart_with_journal ();
  irisctl ("submit", "echo", "hello");
  assert_status (0);
  ck_assert_str_eq (out, "hello");
  irisctl ("submit", "--class", "relaxed", "-D", "echo", "two");
  g_autofree char *two = submitted ();
  irisctl ("wait", two);
  assert_status (0);
  /* A durable one brings the relaxed one to the disk. */
  irisctl ("submit", "--detach", "--key", "k", "--keep", "1h", "command", "sh", "-c",
           "echo out; exit 3");
  g_autofree char *item = submitted ();
  irisctl ("wait", two, item);
  assert_status (0);
  g_autofree char *ended = g_strdup_printf ("%s done\n%s done\n", two, item);
  ck_assert_str_eq (out, ended);
  restart_with_journal ();

  /* Items whose result was printed are no longer listed; items that were only waited for are. */
  irisctl ("list", "--json");
  assert_status (0);
  g_autoptr (JsonNode) list = json ();
  ck_assert_uint_eq (json_array_get_length (json_node_get_array (list)), 2);
  ck_assert_str_eq (json_object_get_string_member (element (list, 1), "key"), "k");
  ck_assert_str_eq (json_object_get_string_member (element (list, 0), "class"), "relaxed");
  irisctl ("show", item);
  assert_status (0);
  ck_assert_ptr_nonnull (strstr (out, "state     done"));
  irisctl ("list", "--state", "queued");
  ck_assert_ptr_null (strstr (out, "done"));
  irisctl ("result", item);
  assert_status (3);
  ck_assert_str_eq (out, "out\n");
  irisctl ("result", two);
  assert_status (0);
  ck_assert_str_eq (out, "two");
  irisctl ("result", two);
  assert_status (2);
  irisctl ("status");
  ck_assert_ptr_nonnull (strstr (out, "journal ready; persistent items: 1"));
}

/* The first -- is dropped; what follows is not parsed, not even another --. */
TEST (two_dashes_end_the_options_and_are_no_argument)
{
  restart_with_journal ();
  irisctl ("submit", "command", "--", "echo", "-D", "--", "x");
  assert_status (0);
  ck_assert_str_eq (out, "-D -- x\n");
  irisctl ("submit", "--", "command", "--", "echo", "x");
  assert_status (0);
  ck_assert_str_eq (out, "x\n");
  irisctl ("submit", "echo", "--", "-5");
  assert_status (0);
  ck_assert_str_eq (out, "-5");
  irisctl ("submit", "command", "--");
  assert_status (2);
  irisctl_with_input ("a\n", "submit", "--lines", "-", "command", "--", "echo", "x");
  assert_status (0);
  ck_assert_ptr_nonnull (strstr (out, "done\tx a\n"));
  irisctl ("run", "--", "echo", "--", "x");
  assert_status (0);
  ck_assert_str_eq (out, "-- x\n");
  irisctl ("run", "--");
  assert_status (2);
  irisctl ("send", "echo", "--", "-5");
  assert_status (0);
  ck_assert_str_eq (out, "-5");
}

/* As list --export writes them: all that a persistent item can be submitted with. */
static const char *const exported[] = {
  "{\"service\":\"command\",\"args\":[\"cat\",\"-\",\"--x\",\"é\"],\"content-type\":\"a/b\","
  "\"place\":\"1\",\"strict\":true,\"footprint\":\"65536\",\"keep-apart\":true,"
  "\"class\":\"relaxed\",\"key\":\"ключ 1\",\"keep\":3600.001,"
  "\"bury\":true,\"delay\":86400.001,\"at\":\"2026-12-31T23:00:00.500Z\",\"priority\":0,"
  "\"retries\":3,\"backoff\":1.001,\"time-to-run\":60.007,\"directory\":\"/tmp\","
  "\"env\":[\"A=x=y\",\"B\"],\"clear-env\":true,\"nice\":5,"
  "\"limit\":[\"cpu=9\",\"memory=1000000000\"],\"timeout\":9.007,\"grace\":0.0,"
  "\"payload_base64\":\"AP/+gA==\"}",
  "{\"service\":\"sha256\",\"path\":\"/etc/os-release\",\"near\":\"/etc\",\"class\":\"durable\","
  "\"keep\":0.0,\"delay\":36000.0,\"priority\":9}",
  "{\"service\":\"echo\",\"near\":\"1\",\"class\":\"durable\",\"delay\":36000.0,"
  "\"payload\":\"a \\\"b\\\"\\n\\u0001 é\"}",
  "{\"service\":\"echo\",\"class\":\"durable\",\"delay\":36000.0}",
};

/* The lines of a file, sorted: lines of one connection may pass those of another. */
static char *
sorted_lines (const char *path)
{
  g_autofree char *text = NULL;
  ck_assert (g_file_get_contents (path, &text, NULL, NULL));
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  qsort (lines, g_strv_length (lines), sizeof *lines, compare_strings);
  return g_strjoinv ("\n", lines);
}

TEST (what_is_exported_can_be_submitted_again)
{
  g_autofree char *first = g_build_filename (files, "first", NULL);
  g_autofree char *second = g_build_filename (files, "second", NULL);
  g_autofree char *input = g_strjoin ("\n", exported[0], exported[1], exported[2], exported[3], "",
                                      NULL);
  ck_assert (g_file_set_contents (first, input, -1, NULL));
  g_autofree char *wanted = sorted_lines (first);
  for (guint i = 0; i < 3; i++)
    {
      g_autofree char *journal = g_strdup_printf ("journal-%u", i);
      restart_with (journal, SIGKILL);
      irisctl ("submit", "--items", first, "--detach");
      assert_status (0);
      /* Also for items read from the disk. */
      if (i == 1)
        restart_with (journal, SIGTERM);
      irisctl ("list", "--export", second);
      assert_status (0);
      g_autofree char *got = sorted_lines (second);
      ck_assert_msg (g_str_equal (got, wanted), "round %u: %s: %s", i, err, got);
      ck_assert_int_eq (g_rename (second, first), 0);
    }
}

TEST (an_item_that_cannot_be_persistent_is_refused_with_the_reason)
{
  irisctl ("submit", "echo", "x");
  assert_status (4);
  ck_assert_ptr_nonnull (strstr (err, "--journal"));
  irisctl ("submit", "--class", "volatile", "--key", "k", "echo", "x");
  assert_status (2);
  irisctl ("submit", "--class", "eternal", "echo", "x");
  assert_status (2);
  irisctl ("submit", "--keep", "soon", "echo", "x");
  assert_status (2);
  irisctl ("wait", "0");
  assert_status (2);
  irisctl ("list", "--state", "lost");
  assert_status (2);
}

static void
submit_strict_command (Client *client, const char *const *argv)
{
  IrisWireMessage item;
  client_init_message (client, &item, IRIS_WIRE_SUBMIT);
  iris_wire_message_set_string (&item, IRIS_WIRE_KEY_SERVICE, "command", -1);
  iris_wire_message_set_args (&item, argv);
  iris_wire_message_set_int (&item, IRIS_WIRE_KEY_HINT, 0);
  iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_STRICT, TRUE);
  iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_QUIET, TRUE);
  client_send (client, &item);
}

/* Sends commands that write into @log, strictly to the place 0, to which one item was sent before;
 * then another process sends one, and the gate opens. Returns how many of the flood ran before the
 * other one. */
static gssize
count_flood_before_other (Client *flood, const char *gate, const char *log)
{
  enum
  {
    FLOOD = 50
  };
  for (guint i = 0; i < FLOOD; i++)
    submit_strict_command (flood,
                           (const char *const[]){ "sh", "-c", "echo flood >> \"$0\"", log, NULL });
  g_autoptr (GSubprocess)
      quiet = spawn ((const char *const[]){ g_getenv ("IRISCTL"), "run", "--place", "0", "--strict",
                                            "--", "sh", "-c", "echo quiet >> \"$0\"", log, NULL });
  /* Until irisd has both. */
  for (;;)
    {
      g_autoptr (IrisWireStatus) counters = client_get_status (flood);
      if (counters->accepted == FLOOD + 2)
        break;
    }
  gate_open (gate);
  collect (quiet, NULL);
  assert_status (0);
  for (guint i = 0; i < FLOOD + 1; i++)
    client_receive_completion (flood);

  g_autofree char *text = NULL;
  ck_assert (g_file_get_contents (log, &text, NULL, NULL));
  const char *line = strstr (text, "quiet\n");
  ck_assert_ptr_nonnull (line);
  return (line - text) / (gssize) strlen ("flood\n");
}

/* Items of one process do not delay those of another. */
TEST (a_flood_of_one_client_does_not_hold_up_another)
{
  g_autofree char *gate = gate_new (irisd, "gate");
  g_autofree char *log = g_strdup_printf ("%s/log", files);
  g_autoptr (Client) flood = client_hello (irisd->front);
  client_occupy (flood, gate, 0);
  /* Only the flood's commands with a slot come before it, and the other's turn. */
  ck_assert_int_le (count_flood_before_other (flood, gate, log), 2);
}

TEST (clients_take_turns_at_the_slots_of_commands)
{
  g_autofree char *gate = gate_new (irisd, "gate");
  g_autofree char *log = g_strdup_printf ("%s/log", files);
  g_autoptr (Client) flood = client_hello (irisd->front);
  submit_strict_command (
      flood, (const char *const[]){ "sh", "-c", "echo > \"$0\"; exec cat \"$0\"", gate, NULL });
  close (gate_wait (gate));
  ck_assert_int_le (count_flood_before_other (flood, gate, log), 1);
}

TEST (items_wait_for_a_time_and_for_each_other)
{
  irisctl ("send", "echo", "tea", "--delay", "150ms", "--json");
  assert_status (0);
  ck_assert_ptr_nonnull (strstr (out, "\"attempts\" : 1"));
  ck_assert_ptr_nonnull (strstr (out, "\"item\" : 1"));
  irisctl ("send", "echo", "milk", "--after", "1", "--after-how", "success", "--at", "@0",
           "--priority", "9", "--verbose");
  assert_status (0);
  ck_assert_str_eq (out, "milk");
  ck_assert_ptr_nonnull (strstr (err, "accepted as 2"));
  irisctl ("send", "echo", "--after", "4711");
  assert_status (2);
  irisctl ("run", "--retries", "2", "--backoff", "1ms", "--json", "--", "false");
  assert_status (1);
  ck_assert_ptr_nonnull (strstr (out, "\"attempts\" : 3"));
  irisctl ("run", "--time-to-run", "20ms", "--", "sleep", "1000");
  assert_status (1);
  ck_assert_ptr_nonnull (strstr (err, "time to run"));
}

TEST (terms_that_cannot_be_read_are_refused)
{
  const char *const bad[][2] = { { "--delay", "soon" },      { "--delay", "-1s" },
                                 { "--delay", "1y" },        { "--at", "tomorrow" },
                                 { "--at", "@x" },           { "--priority", "10" },
                                 { "--priority", "-2" },     { "--after", "x" },
                                 { "--after-how", "none" },  { "--after-how", "all" },
                                 { "--retries", "-1" },      { "--backoff", "1s" },
                                 { "--time-to-run", "ages" } };
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      irisctl ("send", "echo", bad[i][0], bad[i][1]);
      assert_status (2);
      ck_assert_ptr_nonnull (strstr (err, bad[i][0]));
    }
}

TEST_MAIN ("irisctl-items", set_up, tear_down)
