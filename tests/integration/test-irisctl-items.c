/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * irisctl with persistent items, and with items that wait.
 */
#include "irisctl-fixture.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <unistd.h>

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
  assert_status (1);
  g_autofree char *ended = g_strdup_printf ("%s done\n%s exit 3\n", two, item);
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
  ck_assert_ptr_nonnull (strstr (out, "state     exit 3"));
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

TEST (a_list_tells_how_commands_ended)
{
  restart_with_journal ();
  irisctl ("submit", "-D", "command", "true");
  irisctl ("submit", "-D", "command", "sh", "-c", "exit 255");
  irisctl ("submit", "-D", "command", "sh", "-c", "kill -KILL $$");
  irisctl ("submit", "-D", "echo", "a");
  assert_status (0);
  irisctl ("wait", "--all");
  irisctl ("list");
  assert_status (0);
  ck_assert_ptr_nonnull (strstr (out, "done "));
  ck_assert_ptr_nonnull (strstr (out, "exit 255 "));
  ck_assert_ptr_nonnull (strstr (out, "signal 9 "));
  irisctl ("list", "--json");
  g_autoptr (JsonNode) list = json ();
  const int wanted[][2] = { { 0, 0 }, { 255, 0 }, { -1, 9 }, { 0, 0 } };
  for (guint i = 0; i < G_N_ELEMENTS (wanted); i++)
    {
      JsonObject *one = element (list, i);
      ck_assert_str_eq (json_object_get_string_member (one, "state"), "done");
      ck_assert_str_eq (json_object_get_string_member (one, "error"), "");
      ck_assert_int_eq (json_object_get_int_member (one, "exit_status"), wanted[i][0]);
      ck_assert_int_eq (json_object_get_int_member (one, "signal"), wanted[i][1]);
    }
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

static char *
submit_later (const char *word)
{
  irisctl ("submit", "--detach", "--delay", "1h", "command", "echo", word);
  assert_status (0);
  return g_strdup (g_strchomp (out));
}

static void
assert_prints (const char *item, const char *text)
{
  irisctl ("wait", item);
  irisctl ("result", item);
  assert_status (0);
  ck_assert_str_eq (out, text);
}

TEST (an_item_that_waits_is_edited)
{
  restart_with_journal ();
  g_autofree char *item = submit_later ("old");
  irisctl ("pause", "--reason", "too early", item);
  irisctl ("show", item);
  ck_assert_ptr_nonnull (strstr (out, "paused    too early"));
  irisctl ("edit", "--delay", "0", "--priority", "9", item, "echo", "new");
  assert_status (0);
  irisctl ("resume", item);
  assert_prints (item, "new\n");
  irisctl ("edit", "--priority", "10", item);
  assert_status (2);
  irisctl ("edit", item, "--delay", "3");
  assert_status (2);
  ck_assert_ptr_nonnull (strstr (err, "stands after the item"));
  irisctl ("edit", "999999", "x");
  ck_assert_ptr_nonnull (strstr (err, "there is no persistent item"));
}

/* The editor is a script. Without a change nothing is sent. */
TEST (an_item_is_edited_in_an_editor)
{
  restart_with_journal ();
  g_autofree char *item = submit_later ("old");
  g_setenv ("VISUAL", "true", TRUE);
  irisctl ("edit", item);
  assert_status (0);
  ck_assert_ptr_nonnull (strstr (err, "nothing was changed"));
  g_setenv ("VISUAL", "false", TRUE);
  irisctl ("edit", item);
  assert_status (1);
  g_setenv ("VISUAL", "sed -i s/^priority:.*/prio:7/", TRUE);
  irisctl ("edit", item);
  assert_status (2);
  g_setenv (
      "VISUAL",
      "grep -q '^args: echo old$' \"$1\" && sed -i -e 's/^args:.*/args: echo \"two  words\"/' "
      "-e 's/^delay:.*/delay: 0/'",
      TRUE);
  irisctl ("edit", item);
  assert_status (0);
  g_unsetenv ("VISUAL");
  assert_prints (item, "two  words\n");
}

TEST (an_item_is_submitted_again)
{
  restart_with_journal ();
  irisctl ("submit", "--detach", "command", "echo", "twice");
  g_autofree char *item = g_strdup (g_strchomp (out));
  irisctl ("wait", item);
  irisctl ("again", item);
  assert_status (0);
  g_autofree char *second = g_strdup (g_strchomp (out));
  ck_assert_str_ne (second, item);
  assert_prints (second, "twice\n");
  irisctl ("again", "--json", "--delay", "1h", item);
  g_autoptr (JsonNode) node = json ();
  gint64 third = json_object_get_int_member (json_node_get_object (node), "item");
  ck_assert_int_eq (third, (gint64) g_ascii_strtoull (second, NULL, 10) + 1);
  irisctl ("again", "999999");
  ck_assert_ptr_nonnull (strstr (err, "there is no persistent item"));
}

TEST (follow_shows_what_a_command_writes_from_its_beginning)
{
  restart_with_journal ();
  g_autofree char *gate = gate_new (irisd, "gate");
  g_autofree char *script = g_strdup_printf ("echo one; cat %s; echo oops >&2; echo two", gate);
  irisctl ("submit", "--detach", "command", "sh", "-c", script);
  g_autofree char *item = submitted ();
  g_autoptr (GSubprocess) first = spawn (
      (const char *const[]){ g_getenv ("IRISCTL"), "--dir", irisd->dir, "follow", item, NULL });
  g_autoptr (GSubprocess) second = spawn (
      (const char *const[]){ g_getenv ("IRISCTL"), "--dir", irisd->dir, "follow", item, NULL });
  gate_open (gate);
  collect (first, NULL);
  assert_status (0);
  ck_assert_str_eq (out, "one\ntwo\n");
  ck_assert_str_eq (err, "oops\n");
  collect (second, NULL);
  assert_status (0);
  ck_assert_str_eq (out, "one\ntwo\n");
  irisctl ("follow", "--offset", "2", item);
  assert_status (0);
  ck_assert_str_eq (out, "e\ntwo\n");

  irisctl ("submit", "--detach", "--keep-output", "8K", "--keep-tail", "command", "seq", "20000");
  g_autofree char *many = submitted ();
  irisctl ("wait", many);
  irisctl ("follow", many);
  assert_status (0);
  ck_assert (g_str_has_suffix (out, "19999\n20000\n"));
  ck_assert_ptr_nonnull (strstr (err, "bytes are left out"));

  irisctl ("submit", "--detach", "--keep-output", "0", "command", "echo", "unkept");
  g_autofree char *unkept = submitted ();
  irisctl ("wait", unkept);
  irisctl ("follow", unkept);
  assert_status (0);
  ck_assert_str_eq (out, "");
  ck_assert_ptr_nonnull (strstr (err, " has 7 bytes"));

  irisctl ("submit", "--detach", "--bury", "command", "sh", "-c", "echo said; exit 1");
  g_autofree char *bad = submitted ();
  irisctl ("follow", bad);
  assert_status (1);
  ck_assert_str_eq (out, "said\n");
  ck_assert_ptr_nonnull (strstr (err, "is buried"));
}

TEST (a_follower_whose_irisd_has_gone_is_told_that_the_item_is_kept)
{
  char first[sizeof "one"] = "";
  restart_with_journal ();
  irisctl ("submit", "--detach", "command", "sh", "-c", "echo one; sleep 1000");
  g_autofree char *item = submitted ();
  g_autoptr (GSubprocess) follower = spawn (
      (const char *const[]){ g_getenv ("IRISCTL"), "--dir", irisd->dir, "follow", item, NULL });
  ck_assert (g_input_stream_read_all (g_subprocess_get_stdout_pipe (follower), first,
                                      strlen ("one"), NULL, NULL, NULL));
  ck_assert_str_eq (first, "one");
  restart_with_journal ();
  collect (follower, NULL);
  assert_status (3);
  ck_assert_ptr_nonnull (strstr (err, "the connection to irisd was lost; it keeps item "));
  irisctl ("cancel", item);
}

TEST (what_follow_cannot_do_is_said)
{
  restart_with_journal ();
  irisctl ("follow", "77");
  assert_status (2);
  ck_assert_ptr_nonnull (strstr (err, "there is no persistent item 77"));
  irisctl ("follow");
  assert_status (2);
  irisctl ("follow", "--offset", "-1", "1");
  assert_status (2);
  irisctl ("--json", "follow", "1");
  assert_status (2);
  irisctl ("submit", "--keep-output", "many", "command", "true");
  assert_status (2);
  irisctl ("submit", "--keep-tail", "echo", "x");
  assert_status (2);
  irisctl ("submit", "--class", "volatile", "--keep-output", "1K", "command", "true");
  assert_status (2);
}

TEST (backup_copies_the_journal)
{
  restart_with_journal ();
  g_autofree char *copy = g_strdup_printf ("%s.copy", irisd->dir);
  irisctl ("submit", "--detach", "echo", "kept");
  irisctl ("backup", copy);
  assert_status (0);
  ck_assert_ptr_nonnull (strstr (out, "copy: 1 item\n"));
  irisctl ("backup", copy);
  assert_status (2);
  ck_assert_ptr_nonnull (strstr (err, "a new directory"));
  irisctl ("--json", "backup", "/no/such/directory/copy");
  assert_status (2);
  irisctl ("backup");
  assert_status (2);
}

/* What a command has written to a pipe, to its end. */
static char *
read_pipe (const char *path)
{
  int fd = open (path, O_RDONLY | O_CLOEXEC);
  char buffer[1024];
  ssize_t n;
  GString *text = g_string_new (NULL);
  ck_assert_int_ge (fd, 0);
  while ((n = read (fd, buffer, sizeof buffer)) > 0)
    g_string_append_len (text, buffer, n);
  close (fd);
  return g_string_free (text, FALSE);
}

TEST (a_hook_is_told_how_an_item_ended)
{
  restart_with_journal ();
  g_autofree char *pipe = gate_new (irisd, "hook");
  g_autofree char *hook = g_strdup_printf (
      "sh -c 'echo $IRIS_ITEM $IRIS_SERVICE $IRIS_OUTCOME ${IRIS_EXIT_STATUS-none} >%s'", pipe);
  const struct
  {
    const char *const *words;
    const char *told;
  } cases[] = {
    { (const char *const[]){ "command", "sh", "-c", "exit 3", NULL }, "command done 3" },
    { (const char *const[]){ "echo", "x", NULL }, "echo done none" },
    { (const char *const[]){ "command", "/no/such/program", NULL }, "command failed none" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GPtrArray) words = g_ptr_array_new ();
      const char *const first[] = { g_getenv ("IRISCTL"), "--dir",  irisd->dir, "submit",
                                    "--detach",           "--hook", hook };
      for (guint k = 0; k < G_N_ELEMENTS (first); k++)
        g_ptr_array_add (words, (char *) first[k]);
      for (guint k = 0; k == 0 || cases[i].words[k - 1] != NULL; k++)
        g_ptr_array_add (words, (char *) cases[i].words[k]);
      g_autoptr (GSubprocess) process = spawn ((const char *const *) words->pdata);
      collect (process, NULL);
      g_autofree char *item = submitted ();
      g_autofree char *told = read_pipe (pipe);
      g_autofree char *wanted = g_strdup_printf ("%s %s\n", item, cases[i].told);
      ck_assert_str_eq (told, wanted);
    }

  /* One that waits keeps its hook over a restart, and in a file of items. */
  irisctl ("submit", "--detach", "--delay", "1h", "--hook", hook, "echo", "later");
  g_autofree char *later = submitted ();
  restart_with_journal ();
  g_autofree char *file = g_build_filename (files, "exported", NULL);
  g_autofree char *line = NULL;
  irisctl ("list", "--state", "delayed", "--export", file);
  assert_status (0);
  ck_assert (g_file_get_contents (file, &line, NULL, NULL));
  ck_assert_ptr_nonnull (strstr (line, "\"hook\":[\"sh\",\"-c\","));
  irisctl ("kick", later);
  g_autofree char *told = read_pipe (pipe);
  g_autofree char *wanted = g_strdup_printf ("%s echo done none\n", later);
  ck_assert_str_eq (told, wanted);

  irisctl ("submit", "--hook", "sh -c 'unfinished", "echo", "x");
  assert_status (2);
  irisctl ("submit", "--hook", "", "echo", "x");
  assert_status (2);
}

TEST (the_desktop_is_told_by_notify_send)
{
  restart_with_journal ();
  g_autofree char *told = g_build_filename (files, "told", NULL);
  g_autofree char *program = g_build_filename (files, "notify-send", NULL);
  g_autofree char *script = g_strdup_printf ("#!/bin/sh\necho \"$3: $4\" >>%s\n", told);
  g_autofree char *path = g_strdup_printf ("%s:%s", files, g_getenv ("PATH"));
  g_autofree char *before = g_strdup (g_getenv ("PATH"));
  g_autofree char *text = NULL;
  ck_assert (g_file_set_contents (program, script, -1, NULL));
  ck_assert_int_eq (g_chmod (program, 0700), 0);
  g_setenv ("PATH", path, TRUE);
  irisctl ("submit", "--notify", "echo", "x");
  assert_status (0);
  irisctl ("submit", "--detach", "echo", "y");
  g_autofree char *item = submitted ();
  irisctl ("wait", "--notify", item);
  assert_status (0);
  g_setenv ("PATH", "/nowhere", TRUE);
  irisctl ("submit", "--notify", "echo", "x");
  assert_status (0);
  ck_assert_ptr_nonnull (strstr (err, "there is no notify-send"));
  g_setenv ("PATH", before, TRUE);
  g_autofree char *wanted = g_strdup_printf ("irisd: echo: done\nirisd: %s (echo): done\n", item);
  ck_assert (g_file_get_contents (told, &text, NULL, NULL));
  ck_assert_str_eq (text, wanted);
  irisctl ("submit", "--notify", "--detach", "echo", "x");
  assert_status (2);
}

TEST_MAIN ("irisctl-items", set_up, tear_down)
